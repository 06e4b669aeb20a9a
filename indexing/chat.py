"""A chat export, JSONL -> turns: each line is good or has its own reason why not."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    field_validator,
)

from chunking.types import Turn
from indexing.errors import ConfigError, LetopisError, SourceError
from indexing.hashing import digest
from indexing.tags import tags_of
from indexing.types import check_id, check_time

MAX_SPEAKER_CHARS = 200

SUFFIXES = (".jsonl", ".ndjson")

SAMPLE = 20
"""Lines that are looked at to tell what a file holds."""

FAILED = frozenset(("error", "failed", "failure", "timeout", "timed_out", "aborted"))
"""What a ``status`` says of a call that failed."""

TURN_FIELDS = {"role", "turn_id", "message_id", "session_id", "session", "conversation_id"}


def _tags(value: Any) -> Any:
    """Read tags as exports write them: a list, or one text with commas."""
    given = value.split(",") if isinstance(value, str) else value or ()
    if not isinstance(given, list | tuple):
        raise ValueError("not a list of texts")
    try:
        return tags_of([tag for tag in given if not isinstance(tag, str) or tag.strip()])
    except LetopisError as error:
        raise ValueError(str(error)) from error


Tags = Annotated[tuple[str, ...], BeforeValidator(_tags)]


def _failure(value: Any) -> bool:
    """Read a mark of failure: true, a message or an object of an error."""
    return bool(value) and not _is_no(value)


def _success(value: Any) -> bool:
    """Read a mark of success: whatever does not say no."""
    return value is not False and not _is_no(value)


def _is_no(value: Any) -> bool:
    return str(value).strip().lower() in ("false", "no", "none", "null", "0") and value is not None


Failure = Annotated[bool, BeforeValidator(_failure)]
Success = Annotated[bool, BeforeValidator(_success)]
Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]


class TurnRecord(BaseModel, extra="ignore"):
    """One line of a chat export, under the names that exports use.

    What is a tool's result says which ``tool`` and whether the call ``failed``.
    """

    text: str = Field(validation_alias=AliasChoices("text", "content", "message"))
    role: str
    at: datetime = Field(
        validation_alias=AliasChoices("at", "time", "timestamp", "created_at", "date")
    )
    turn_id: str = Field("", validation_alias=AliasChoices("turn_id", "id", "message_id"))
    session_id: str = Field(
        "", validation_alias=AliasChoices("session_id", "session", "conversation_id")
    )
    user_id: str = ""
    speaker: str = Field(
        "", max_length=MAX_SPEAKER_CHARS, validation_alias=AliasChoices("speaker", "name")
    )
    tags: Tags = ()
    tool: Text = Field("", validation_alias=AliasChoices("tool", "tool_name"))
    is_error: Failure = False
    error: Failure = False
    failed: Failure = False
    ok: Success = True
    success: Success = True
    status: Text = ""

    @property
    def has_failed(self) -> bool:
        """Whether any field says that the call failed."""
        bad = self.status.strip().lower() in FAILED
        return self.is_error or self.error or self.failed or bad or not (self.ok and self.success)

    @field_validator("role")
    @classmethod
    def _known_role(cls, role: str) -> str:
        if role not in ("user", "assistant", "system", "tool"):
            raise ValueError("must be user, assistant, system or tool")
        return role

    @field_validator("turn_id", "session_id", "user_id", "speaker", mode="before")
    @classmethod
    def _number_to_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else ("" if value is None else value)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chat export: its number and its turn, or why there is none."""

    number: int
    user_id: str = ""
    session_id: str = ""
    turn: Turn | None = None
    error: str = ""


def parse_turns(
    text: str, uri: str, timezone: str = "", tags: Sequence[str] = ()
) -> Iterator[Line]:
    """Yield one `Line` per non-blank line of JSONL, good or bad; turns get these tags too.

    A line without a session id belongs to a session named after the file. A time without a zone
    is read in ``timezone``, and is an error where that is empty. Raises `ConfigError` for a
    ``timezone`` that names none.
    """
    zone = zone_of(timezone)
    seen: dict[tuple[str, str, str], int] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.strip():
            continue
        try:
            record = TurnRecord.model_validate(json.loads(raw))
            session_id = record.session_id or Path(uri).stem
            check_id(session_id, "session id")
            if record.user_id:
                check_id(record.user_id, "user id")
            at = aware(record.at, zone)
            "".join((record.text, record.turn_id, record.speaker, record.tool)).encode()
            filed = tags_of(record.tags, tags)
        except ValidationError as error:
            yield Line(number, error=reasons(error))
            continue
        except UnicodeEncodeError:
            yield Line(number, error="not valid Unicode (a lone surrogate)")
            continue
        except (ValueError, RecursionError) as error:
            yield Line(number, error=f"not JSON: {error}")
            continue
        except LetopisError as error:
            yield Line(number, error=str(error))
            continue
        turn_id = record.turn_id or _derived_id(record, seen)
        turn = Turn(turn_id, record.role, record.text, record.speaker, at, filed, *_called(record))
        yield Line(number, record.user_id, session_id, turn)


def _called(record: TurnRecord) -> tuple[str, bool | None]:
    """Return the tool of a result and whether the call failed; of another turn neither."""
    if record.role != "tool":
        return "", None
    return (record.tool or record.speaker)[:MAX_SPEAKER_CHARS], record.has_failed


def is_chat(text: str) -> bool:
    """Tell a chat export from documents in JSONL: a line of its start has a field of turns."""
    documents = False
    for raw in islice(filter(str.strip, text.split("\n")), SAMPLE):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict):
            if line.keys() & TURN_FIELDS:
                return True
            documents |= "id" in line
    return not documents


def zone_of(name: str) -> ZoneInfo | None:
    """Return the zone, None for an empty name. Raises `ConfigError` where it names none."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ConfigError(f"ingest.timezone {name!r} names no time zone") from error


def aware(moment: datetime, zone: ZoneInfo | None) -> datetime:
    """Return the time with its zone, else in ``zone``. Raises `SourceError` without either."""
    if moment.tzinfo is None:
        if zone is None:
            raise SourceError(
                "at: a time without a zone; write one (+03:00) or set ingest.timezone"
            )
        moment = moment.replace(tzinfo=zone)
    check_time(moment, "at")
    return moment


def _derived_id(record: TurnRecord, seen: dict[tuple[str, str, str], int]) -> str:
    """Name a turn that has no id by its time and text, so overlapping exports agree."""
    name = digest(record.role, record.at.isoformat(), record.text)[:16]
    key = (record.user_id, record.session_id, name)
    seen[key] = seen.get(key, 0) + 1
    return name if seen[key] == 1 else f"{name}-{seen[key]}"


def reasons(error: ValidationError) -> str:
    """Say what is wrong with a record, naming fields, without repeating its text."""
    found = []
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"]) or "line"
        known = {"missing": "missing", "model_type": "not a JSON object"}
        reason = known.get(problem["type"], problem["msg"].removeprefix("Value error, "))
        found.append(f"{where}: {reason}")
    return "; ".join(found)
