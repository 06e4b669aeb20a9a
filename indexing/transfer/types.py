"""What an import did, memory by memory: `ImportReport`."""

from collections import Counter
from dataclasses import dataclass, field

from indexing.portable.types import Format, Refused


@dataclass(slots=True)
class TalkReport:
    """Counts of what a file held of sessions' logs: ``seen`` is the sum of all others.

    ``new`` records were added, ``unchanged`` were there or gave way to what is there, ``expired``
    are of sessions whose life is over, ``forgotten`` may not be stored again.
    """

    seen: int = 0
    new: int = 0
    unchanged: int = 0
    expired: int = 0
    forgotten: int = 0


@dataclass(slots=True)
class ImportReport:
    """Counts of what a file held: ``seen`` is the sum of all others but ``embedded``.

    ``new`` became memories, ``joined`` said what one says already (its places grew), ``unchanged``
    were there with all their places. ``expired`` had expired by now, ``forgotten`` may not be
    stored again, ``refused`` have a place and a reason. Of another system's file ``left_out``
    counts what has no counterpart here, ``notes`` say what a person should know about it.
    ``embedded`` texts were read by the model. ``talk`` counts the records of sessions, apart.
    """

    format: Format
    seen: int = 0
    new: int = 0
    joined: int = 0
    unchanged: int = 0
    expired: int = 0
    forgotten: int = 0
    embedded: int = 0
    refused: list[Refused] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    talk: TalkReport = field(default_factory=TalkReport)
