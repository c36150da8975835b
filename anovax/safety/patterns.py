"""Regular expressions that stay linear on any text."""

from __future__ import annotations


def then(first: str, second: str) -> str:
    """A pattern for ``first`` with ``second`` behind it in the same line. The atomic group keeps the first place where
    ``first`` stands: what is behind a later one is behind this one too, and trying them all would be quadratic."""
    return rf"(?m:^)(?>.*?(?:{first})).*(?:{second})"
