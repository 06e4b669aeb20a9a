"""What the items of other systems have in common: their times, and fields that no one reads."""

from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict

from indexing.chat import aware
from indexing.errors import InvalidInput


def _name(value: object) -> object:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_name)]
"""An id or a label: null is "none given", a number is its digits."""


class ForeignItem(BaseModel):
    """One item; fields that are not declared are kept, to be reported."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    def unread(self, known: frozenset[str]) -> tuple[str, ...]:
        """Return the names of fields with something in them that are neither read nor ``known``."""
        others = self.model_extra or {}
        return tuple(
            sorted(
                n
                for n, v in others.items()
                if v not in (None, "", [], {}, False) and n not in known
            )
        )


def moment(value: str, name: str, zone: ZoneInfo | None) -> datetime | None:
    """Return an item's time, None for an empty one; without a zone it is in ``zone``.

    Raises `InvalidInput` for what is no time, `SourceError` for one without a zone where ``zone``
    is None.
    """
    if not value:
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError as error:
        raise InvalidInput(f"{name}: not a time such as 2024-05-17T09:30:00+03:00") from error
    return aware(read, zone)
