"""Texts to type: seeded, from every script and kind of character that a user may dictate or paste into a request."""

from __future__ import annotations

import random

ASCII = "".join(map(chr, range(0x20, 0x7F)))
KINDS = {
    "ascii": ASCII,
    "latin": "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœŒžŽšŠčČćĆđĐłŁąĄęĘńŃśŚźŹżŻőŐűŰğĞıİşŞţŢ",
    "greek": "αβγδεζηθικλμνξοπρστυφχψωςΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩάέήίόύώ",
    "cyrillic": "абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯіїєґ",
    "hebrew": "אבגדהוזחטיכלמנסעפצקרשתםןףץך",
    "cjk": "".join(map(chr, range(0x4E00, 0x4E00 + 400))) + "あいうえおアイウエオ한국어글",
    "emoji": "😀🎉🚀❤👍🏽🐍☕",
    "quotes": "“”‘’„‚«»‹›—–…€£¥§°±×÷½¼³²",
}
COMBINED = ("e\u0301", "n\u0303", "a\u0308", "o\u0302\u0301", "q\u0307")


def texts(count: int, seed: int = 5) -> list[str]:
    """``count`` different texts; each kind comes up alike often, and some are mixtures."""
    chance = random.Random(seed)
    names = list(KINDS)
    made = [ASCII, "Tab\there", "two\nlines", "ctrl-like ^C \\n %s $HOME `x`", "Żółw pije herbatę — „tak”"]
    while len(made) < count:
        letters = KINDS[names[len(made) % len(names)]]
        length = chance.randint(1, 40)
        text = "".join(chance.choice(letters + " ") for _ in range(length)).strip() or "x"
        if len(made) % 7 == 0:
            text += chance.choice(COMBINED) + chance.choice(KINDS[chance.choice(names)])
        if len(made) % 11 == 0:
            text = text[: length // 2] + "\n" + text[length // 2 :]
        made.append(text)
    return made[:count]
