"""What opening an address would be."""

from __future__ import annotations

import re

from anovax.safety.finding import APPROVED, Finding, refuse


def judge_url(text: str) -> Finding:
    if re.fullmatch(r"(https?://)?[a-z0-9.-]+\.[a-z]{2,}(/[\w./?=&%+#-]*)?", text.strip().casefold()):
        return APPROVED
    if re.fullmatch(r"[\w ]+", text.strip()):
        return APPROVED
    return refuse("url", "only plain http and https addresses are opened")
