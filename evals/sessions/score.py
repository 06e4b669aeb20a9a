"""From contexts to numbers: which probes can be answered, and at how many tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from evals.sessions.script import Probe, Script
from evals.sessions.words import plain, says, says_all

LANGUAGES = ("all", "ru", "en")


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a model would be given: the text of all messages, and what they cost."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a probe in one arm.

    ``missing`` are the needed words that are not there; ``unwanted`` says whether words of an
    outdated value are, None where the probe has none. ``whole`` is the transcript's tokens.
    """

    arm: str
    script: str
    language: str
    question: str
    missing: tuple[str, ...]
    unwanted: bool | None
    tokens: int
    whole: int

    @property
    def found(self) -> bool:
        """Whether all needed words are in the context."""
        return not self.missing

    @property
    def share(self) -> float:
        """Return the tokens in parts of the transcript's."""
        return self.tokens / self.whole


def judged(arm: str, script: Script, probe: Probe, given: Assembled, whole: int) -> Outcome:
    """Compare a context with what a probe needs."""
    words = plain(given.text)
    missing = tuple(" / ".join(one) for one in probe.needed if not says_all(words, [one]))
    unwanted = any(says(words, one) for one in probe.unwanted) if probe.unwanted else None
    return Outcome(
        arm,
        script.name,
        script.language,
        probe.question,
        missing,
        unwanted,
        given.tokens,
        whole,
    )


@dataclass(frozen=True, slots=True)
class Row:
    """An arm in one language: parts of one, and the mean tokens of its contexts.

    ``unwanted`` is the part of the probes that have an outdated value; ``share`` is the mean over
    probes of the context's tokens in parts of the transcript's.
    """

    arm: str
    language: str
    probes: int
    found: float
    unwanted: float
    tokens: float
    share: float


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """Return a row an arm and language, in the order of the arms."""
    return [
        row
        for arm in dict.fromkeys(one.arm for one in outcomes)
        for language in LANGUAGES
        for row in _row(arm, language, outcomes)
    ]


def _row(arm: str, language: str, outcomes: Iterable[Outcome]) -> list[Row]:
    mine = [o for o in outcomes if o.arm == arm and language in ("all", o.language)]
    if not mine:
        return []
    outdated = [one.unwanted for one in mine if one.unwanted is not None]
    return [
        Row(
            arm,
            language,
            len(mine),
            fmean(one.found for one in mine),
            fmean(outdated) if outdated else 0.0,
            fmean(one.tokens for one in mine),
            fmean(one.share for one in mine),
        )
    ]
