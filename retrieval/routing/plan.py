"""A question and the registered sources -> which parts SQL answers and which the vectors, and why.

Rules, in this order, for each part:

1. No source is registered, or the part asks what was said, how or why: vectors.
2. No full intent, or a word that means something was not understood: vectors, nothing is guessed.
3. The cues say analytical: SQL. But an intent that only counts rows answers an extreme or an order
   ("which order was the latest") only where the cues ask for a number as well.
4. The cues do not, and the intent is of more than plain rows and at least `SURE`: SQL ("revenue in
   April?"). A lookup ("what is my last order") would become a count of rows: vectors.

A question that SQL cannot answer whole is cut into clauses if their answers come from different
places, or if all are numbers and each names a period. A clause without a period of its own does not
inherit one: its number is of all time, and its reason says so. But a clause that names a measure
and nothing else ("…, and for what amount?") asks it of the rows of the number before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

from retrieval.clauses import clauses
from retrieval.route import Classifier, Route, Vocabulary, route
from retrieval.routing.cues import COMPUTED
from retrieval.sql.intent import Intent, Understanding

Destination = Literal["sql", "vector"]
Understand = Callable[[str], Understanding]
FollowUp = Callable[[str, Intent], Intent | None]
"""A clause and the intent before it -> its intent over the same rows; see `sql.understand`."""

SURE = 0.8
"""The confidence from which an intent is believed without cues of a computation."""

NO_SOURCE = "no analytical source is registered"


@dataclass(frozen=True, slots=True)
class Part:
    """A question of its own, where its answer comes from, and why.

    ``understanding`` is set for SQL, and for vectors where an intent was looked for. ``follows``:
    its rows are those of the part before it.
    """

    text: str
    destination: Destination
    route: Route
    reason: str
    understanding: Understanding | None = None
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a question in its order; one part: it was not cut."""

    parts: tuple[Part, ...]

    def to(self, destination: Destination) -> tuple[Part, ...]:
        """Return the parts that go there."""
        return tuple(part for part in self.parts if part.destination == destination)


def plan(
    question: str,
    known: Vocabulary | None,
    understand: Understand,
    classifier: Classifier | None = None,
    follow_up: FollowUp | None = None,
) -> Plan:
    """Return where the answers come from; ``known`` is `route.vocabulary` of the sources.

    ``understand`` knows the sources, the time and the zone; it is not called where ``known`` is
    None: no source is registered. ``classifier`` labels in the rules' place; without ``follow_up``
    no clause asks of the rows of another.
    """
    label = partial(classifier.classify if classifier else route, vocabulary=known)
    if known is None:
        return Plan((Part(question, "vector", label(question), NO_SOURCE),))
    whole = _part(question, label(question), understand)
    pieces = clauses(question)
    if whole.destination == "sql" or len(pieces) == 1:
        return Plan((whole,))
    parts = tuple(_part(piece, label(piece), understand) for piece in pieces)
    if follow_up:
        parts = _followed(parts, follow_up)
    going = {part.destination for part in parts}
    heads = [part for part in parts if not part.follows]
    if going == {"sql"} and (len(heads) == 1 or all(map(_dated, heads))):
        return Plan(parts)
    if len(going) == 1:
        return Plan((whole,))
    return Plan(_joined(question, tuple(map(_said, parts))))


def _part(text: str, labelled: Route, understand: Understand) -> Part:
    """Decide for one part. Rules 1 to 4 above."""
    if labelled.label == "factual" and "content" in labelled.kinds():
        return Part(text, "vector", labelled, labelled.reason)
    understood = understand(text)
    if understood.intent is None or understood.missing:
        why = understood.reason
        if understood.missing:
            why = f"not understood: {', '.join(f'«{word}»' for word in understood.missing)}"
        return Part(text, "vector", labelled, f"{labelled.reason}; {why}", understood)
    refusal = _refusal(labelled, understood.intent, understood.confidence)
    if refusal:
        return Part(text, "vector", labelled, f"{labelled.reason}; {refusal}", understood)
    return Part(text, "sql", labelled, f"{labelled.reason}; a full intent", understood)


def _refusal(labelled: Route, intent: Intent, confidence: float) -> str:
    """Return why a full intent is not asked of SQL, empty where it is."""
    if labelled.label == "analytical":
        chosen = labelled.kinds() & COMPUTED
        if _plain(intent) and chosen and chosen <= {"extreme", "order"}:
            return "a number of rows is not what is asked"
        return ""
    if _plain(intent):
        return "no number is asked"
    return "" if confidence >= SURE else f"the intent is not sure enough ({confidence:.2f})"


def _plain(intent: Intent) -> bool:
    """Whether an intent does nothing but count rows."""
    return not (
        intent.measure
        or intent.distinct
        or intent.share
        or intent.group_by
        or intent.per
        or intent.top
        or len(intent.periods) > 1
    )


def _followed(parts: Sequence[Part], follow_up: FollowUp) -> tuple[Part, ...]:
    """Send clauses that ask one more number of the rows of the part before them to SQL."""
    found: list[Part] = []
    for part in parts:
        before = _intent(found[-1]) if found and found[-1].destination == "sql" else None
        intent = follow_up(part.text, before) if before and part.understanding else None
        if intent:
            why = f"{part.route.reason}; of the rows of «{found[-1].text}»"
            known = Understanding(intent, why, (), SURE)
            part = replace(part, destination="sql", reason=why, understanding=known, follows=True)
        found.append(part)
    return tuple(found)


def _dated(part: Part) -> bool:
    """Whether a part for SQL names a period."""
    intent = _intent(part)
    return intent is not None and bool(intent.periods)


def _intent(part: Part) -> Intent | None:
    return part.understanding.intent if part.understanding else None


def _said(part: Part) -> Part:
    """Say of a number that it is of all time because its clause names no period."""
    if part.destination != "sql" or part.follows or _dated(part):
        return part
    return replace(part, reason=f"{part.reason}; no period of its own, so all time")


def _joined(question: str, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Put neighbours that go to the vectors together again, as they stand in the question."""
    found: list[Part] = []
    end = 0
    for destination, group in groupby(parts, key=lambda part: part.destination):
        held = list(group)
        starts = []
        for part in held:
            starts.append(question.index(part.text, end))
            end = starts[-1] + len(part.text)
        if destination == "sql" or len(held) == 1:
            found += held
            continue
        reason = "; ".join(dict.fromkeys(part.reason for part in held))
        found.append(Part(question[starts[0] : end], "vector", held[0].route, reason))
    return tuple(found)
