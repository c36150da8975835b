"""The filter: Plan -> ApprovedPlan | NeedsConsent | Refusal. Start reading in filter.py."""

from anovax.safety.filter import Safety
from anovax.safety.judgement import ApprovedPlan, NeedsConsent, Refusal

__all__ = ["ApprovedPlan", "NeedsConsent", "Refusal", "Safety"]
