"""Patterns of many alternatives, one a line."""

import re


def any_of(*alternatives: str, before: str = "", flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that matches any of these behind what has to be ``before``."""
    return re.compile(f"{before}(?:{'|'.join(alternatives)})", flags)
