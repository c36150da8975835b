"""What is too private to be shown, logged or given to a planner."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"\b(pass(word|code|phrase)|pin|cvv|cvc|ssn|social security|api key|secret|token|iban|(credit|debit|bank) card|"
    r"card number|"
    r"account number|routing number|combination|security code|seed phrase|private key)\b|\b(?:\d[ -]?){13,19}\b",
    re.I,
)
# One word with small and capital letters, digits and signs, that is no web address
_PASSWORD = re.compile(
    r"(?<!\S)(?!\S*(?:://|\.\w+/))(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)(?=\S*[^\w\s.@:/-])\S{8,64}(?!\S)"
)


def is_private(text: str) -> bool:
    """True for what looks like a secret: passwords, PINs, card and account numbers."""
    return bool(_SECRET.search(text) or _PASSWORD.search(text))


def is_password(text: str) -> bool:
    """True for a text that is nothing but what looks like a password."""
    return bool(_PASSWORD.fullmatch(text.strip()))


def redacted(text: str) -> str:
    """A private fact without what makes it one: "my wifi password is [private]"."""
    head = re.match(r"(.{1,80}?\b(?:is|are|was|=|:))\s", text)
    return f"{head[1]} [private]" if head and not re.search(r"\d{4}", head[1]) else "[a private fact]"
