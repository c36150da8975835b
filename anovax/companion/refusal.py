"""How the server says no: a status, a code the page can translate, and one sentence."""

from __future__ import annotations

from anovax.errors import CompanionError


class Refused(CompanionError):
    """A request that is not carried out. ``code`` is a stable word for the page's table of strings."""

    def __init__(self, status: int, code: str, problem: str, fix: str = "", retry_s: float = 0.0) -> None:
        super().__init__(problem, fix)
        self.status = status
        self.code = code
        self.retry_s = retry_s


def not_paired() -> Refused:
    return Refused(401, "not_paired", "This phone is not paired", "run `anovax pair` on the computer")
