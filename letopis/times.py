"""Times as people type them: `read_time`. Without a zone they are of a setting, or refused."""

from datetime import datetime

from indexing.chat import zone_of
from indexing.errors import InvalidInput
from indexing.types import check_time

EXAMPLE = "2027-01-31T18:00+03:00"


def read_time(text: str | None, option: str, timezone: str) -> datetime | None:
    """Return the time that an option gives, None where it is not given; a date is its midnight.

    Where clocks are put back an hour comes twice: without an offset it is the first one. Raises
    `InvalidInput` naming the option, `ConfigError` for a ``timezone`` that names none.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(f"{option} {text!r} is no time; write one as {EXAMPLE}") from error
    if moment.tzinfo is None:
        zone = zone_of(timezone)
        if zone is None:
            raise InvalidInput(
                f"{option} {text!r} has no zone; write one, as {EXAMPLE}, or set ingest.timezone"
            )
        moment = moment.replace(tzinfo=zone)
    check_time(moment, option)
    return moment
