"""What is too private to be shown, logged or given to a planner."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"\b(pass(word|code|phrase)|pin|cvv|cvc|ssn|social security|api key|secret|token|iban|(credit|debit|bank) card|"
    r"card number|"
    r"account number|routing number|combination|security code|seed phrase|private key)\b|\b(?:\d[ -]?){13,19}\b",
    re.I,
)


def is_private(text: str) -> bool:
    """True for what looks like a secret: passwords, PINs, card and account numbers."""
    return bool(_SECRET.search(text))


def redacted(text: str) -> str:
    """A private fact without what makes it one: "my wifi password is [private]"."""
    head = re.match(r"(.{1,80}?\b(?:is|are|was|=|:))\s", text)
    return f"{head[1]} [private]" if head and not re.search(r"\d{4}", head[1]) else "[a private fact]"
