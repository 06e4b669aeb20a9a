"""How often something runs, as settings write it: an interval (``15m``) or a cron line.

>>> when("15m")
datetime.timedelta(seconds=900)
>>> when("0 3 * * *")
'0 3 * * *'
>>> when("") is None
True
"""

import re
from datetime import timedelta

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=366)

_INTERVAL = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_FIELD = re.compile(r"[\w*/,?#-]+")


def when(text: str) -> timedelta | str | None:
    """Return the interval, the cron line with single spaces, or None for never (empty).

    Raises `ValueError` for anything else. A cron line's numbers are checked by who runs it.
    """
    written = " ".join(text.split())
    if not written:
        return None
    if found := _INTERVAL.fullmatch(written):
        amount, unit = found.groups()
        interval = timedelta(**{UNITS[unit]: min(float(amount), 1e6)})
        if not SHORTEST <= interval <= LONGEST:
            raise ValueError(f"{text!r}: an interval is between a second and a year")
        return interval
    fields = written.split()
    if len(fields) == 5 and all(_FIELD.fullmatch(field) for field in fields):
        return written
    raise ValueError(
        f"{text!r} is neither an interval, as 15m or 1h, nor a cron line, as 0 3 * * 1-5"
    )
