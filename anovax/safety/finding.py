"""What a rule found: a decision with its reason. The strictest finding of a step is the step's verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anovax.plan import Decision, Verdict

_SEVERITY = {Decision.APPROVE: 0, Decision.NOTICE: 1, Decision.ASK: 2, Decision.REFUSE: 3}


def severity(decision: Decision) -> int:
    """0 (approve) to 3 (refuse)."""
    return _SEVERITY[decision]


@dataclass(frozen=True, slots=True)
class Finding:
    """``rule`` is a short stable name, ``reason`` one sentence for the user, ``exact`` what would really happen."""

    decision: Decision
    rule: str = ""
    reason: str = ""
    exact: str = ""

    def verdict(self, step: int | None) -> Verdict:
        return Verdict(decision=self.decision, rule=self.rule, reason=self.reason, step=step, exact=self.exact)


APPROVED = Finding(Decision.APPROVE)


def notice(rule: str, reason: str) -> Finding:
    return Finding(Decision.NOTICE, rule, reason)


def ask(rule: str, reason: str) -> Finding:
    return Finding(Decision.ASK, rule, reason)


def refuse(rule: str, reason: str) -> Finding:
    return Finding(Decision.REFUSE, rule, reason)


def strictest(findings: Iterable[Finding | None]) -> Finding:
    """The first of the strictest findings; APPROVED when there are none."""
    worst = APPROVED
    for finding in findings:
        if finding is not None and severity(finding.decision) > severity(worst.decision):
            worst = finding
    return worst


def strictest_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    worst = Verdict(decision=Decision.APPROVE)
    for verdict in verdicts:
        if severity(verdict.decision) > severity(worst.decision):
            worst = verdict
    return worst
