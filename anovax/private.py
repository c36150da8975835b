"""What is too private to be shown, logged or given to a planner."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"\b(pass(word|code|phrase)|passwort|kennwort|mot de passe|contraseña|pin|cvv|cvc|ssn|social security|secret|token|"
    r"(api|wi-?fi|wlan|network|encryption|recovery|licen[sc]e) (key|code)|iban|(credit|debit|bank) card|"
    r"card number|"
    r"account number|routing number|combination|security code|seed phrase|private key)\b|\b(?:\d[ -]?){13,19}\b",
    re.I,
)
# One word with small and capital letters, digits and signs, that is no web address
_PASSWORD = re.compile(
    r"(?<!\S)(?!\S*(?:://|\.\w+/))(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)(?=\S*[^\w\s.@:/-])\S{8,64}(?!\S)"
)
# What services give out as keys, by their beginnings
_KEY = re.compile(
    r"\b(?:[spr]k[-_][\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|hf_\w{20,}|"
    r"AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,})|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def is_private(text: str) -> bool:
    """True for what looks like a secret: passwords, PINs, card and account numbers."""
    return bool(_SECRET.search(text) or _PASSWORD.search(text) or _KEY.search(text))


def is_password(text: str) -> bool:
    """True for a text that is nothing but what looks like a password."""
    return bool(_PASSWORD.fullmatch(text.strip()) or _KEY.fullmatch(text.strip()))


def redacted(text: str) -> str:
    """A private fact without what makes it one: "my wifi password is [private]"."""
    head = re.match(r"(.{1,80}?\b(?:is|are|was|=|:))\s", text)
    return f"{head[1]} [private]" if head and not re.search(r"\d{4}", head[1]) else "[a private fact]"
