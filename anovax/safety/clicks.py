"""Clicks on buttons that decide something."""

from __future__ import annotations

import re

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import simple, words

_DECIDING = words(
    """yes ok okay allow accept agree confirm proceed delete remove erase format uninstall install pay buy purchase
    order checkout subscribe send transfer submit grant authorize authorise approve trust enable disable discard
    overwrite replace reset wipe publish post share upload donate bid withdraw unlock run execute restart reboot
    shutdown shut empty destroy terminate revoke unsubscribe deactivate merge deploy reject decline kill force
    logout signout clear permit understand anyway always permanently"""
)
# The same in other languages of a desktop, as they are folded
_FOREIGN = frozenset(simple(word) for word in words(
    """löschen entfernen formatieren kaufen bezahlen bestellen bestätigen zulassen erlauben akzeptieren senden
    installieren deinstallieren verwerfen zurücksetzen überweisen abmelden herunterfahren neustarten
    supprimer effacer formater acheter payer commander confirmer autoriser accepter envoyer installer désinstaller
    réinitialiser vider déconnexion redémarrer éteindre
    eliminar borrar formatear comprar pagar pedir confirmar permitir aceptar enviar instalar desinstalar restablecer
    vaciar apagar reiniciar
    elimina cancella formatta acquista paga conferma consenti accetta invia installa disinstalla svuota ripristina
    spegni riavvia
    excluir apagar comprar aceitar verwijderen wissen kopen betalen bevestigen toestaan accepteren verzenden usuń kup
    zapłać potwierdź zezwól wyślij zainstaluj odinstaluj radera köp betala bekräfta tillåt
    удалить стереть форматировать купить оплатить заказать подтвердить разрешить принять отправить установить
    очистить сбросить выключить
    删除 購入 购买 支付 确认 允许 发送 格式化 安装 卸载 削除 支払う 許可 送信 삭제 구매 결제 확인 허용"""
))  # fmt: skip
_GRAVE = words("""delete remove erase format uninstall pay buy purchase order checkout transfer wipe destroy empty reset
    overwrite donate withdraw terminate deactivate install permanently discard""")
_SIGNS = {"🗑": "delete", "❌": "remove", "✅": "confirm", "✔": "confirm", "💳": "pay", "🛒": "buy"}
_PHRASES = re.compile(
    r"don'?t save|turn off|log ?out|sign ?out|move to trash|shut ?down|run anyway|open anyway|i agree|place "
    r"order|factory|sign in as|continue$|^next$|^finish$|^y$|^да$|^ja$|^oui$|^si$|^sí$"
)
# What people say for a button, beside the word on it
_SAID = {"yes": "confirm accept agree", "ok": "okay confirm accept", "okay": "ok", "delete": "remove erase",
"send": "submit", "submit": "send", "buy": "purchase order pay", "allow": "accept permit grant",
         "accept": "allow agree", "post": "publish send", "discard": "close without", "install": "set up",
         "run": "start", "remove": "delete", "confirm": "yes ok"}  # fmt: skip


def judge_click(target: str, heard: str) -> Finding | None:
    """A click on ``target``; ``heard`` is the user's own request. None when the button decides nothing."""
    label, said = _label(target), _label(heard)
    deciding = [word for word in re.findall(r"[\w']+", label) if word in _DECIDING or word in _FOREIGN]
    if not deciding and not _PHRASES.search(label):
        return None
    if len(label.split()) > 6 and not _PHRASES.search(label):
        return None
    asked = bool(said) and (
        _names(said, label)
        or all(
            _names(said, word) or any(_names(said, other) for other in _SAID.get(word, "").split())
            for word in deciding or ["-"]
        )
    )
    if not asked:
        return ask("click", f"nobody has asked to click “{target}”")
    return notice("click", f"“{target}” cannot be taken back") if set(deciding) & _GRAVE else None


def _label(target: str) -> str:
    """Folded; letters that stand apart from each other are a word, and a sign is what it shows."""
    label = simple(target)
    for sign, word in _SIGNS.items():
        label = label.replace(sign, word)
    return re.sub(r"(?<!\S)\w(?: \w)+(?!\S)", lambda match: match[0].replace(" ", ""), label)


def _names(said: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) is not None
