"""What a sync would do, without doing it: the same decisions, nothing written. `plan`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chunking.types import Session
from indexing.catalog import Catalog
from indexing.errors import SourceError
from indexing.feeds.access import Access
from indexing.feeds.types import Export, Failure, Feed, Offer, Progress
from indexing.judge import Class
from indexing.removal import MAX_REMOVED, is_too_much
from indexing.sync import Sync
from indexing.turns import HALF, in_order, own_hash, read_export, turn_source
from indexing.types import Scope

CLASSES = ("new", "changed", "renamed", "unchanged", "duplicate", "dead", "gone")


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one document, or to ``count`` turns of one export.

    ``twin`` is its former id or what it repeats, ``reason`` why it is dead.
    """

    change: Class | Literal["dead", "gone"]
    source_id: str
    scope: Scope
    twin: str = ""
    reason: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a sync; with ``refused`` those that are gone would stay: too many."""

    steps: tuple[Step, ...]
    refused: bool

    @property
    def counts(self) -> dict[str, int]:
        """Return how many documents and turns each class has; `seen` is all but the gone."""
        found: Counter[str] = Counter()
        for step in self.steps:
            found[step.change] += step.count
        return {name: found[name] for name in CLASSES}

    @property
    def seen(self) -> int:
        """Return how many documents and turns the feed offers."""
        return sum(step.count for step in self.steps if step.change != "gone")


def plan(
    catalog: Catalog,
    feed: Feed,
    access: Access | None = None,
    progress: Progress | None = None,
    max_removed: float = MAX_REMOVED,
) -> Plan:
    """Return what `sync` would do now; needs no model and no vector store.

    A turn counts by what it says itself: one whose turn before changes counts as unchanged here.
    Raises what `sync` raises.
    """
    run = Sync(catalog, feed, access, progress)
    steps = [step for offer in run.offers() for step in _steps(catalog, run, offer)]
    lost = [m for m in run.gone() if run.judge.row(m) and run.judge.is_free(m)]
    steps += [Step("gone", member.source_id, member.scope) for member in lost]
    return Plan(tuple(steps), is_too_much(len(lost), len(run.judge.members), max_removed))


def _steps(catalog: Catalog, run: Sync, offer: Offer) -> Iterator[Step]:
    member = offer.member
    name, scope = member.source_id, member.scope
    try:
        if isinstance(offer, Failure):
            where = f"{name} {offer.place}".rstrip()
            yield Step("dead", where, scope, reason=offer.reason)
        elif isinstance(offer, Export):
            yield from _turn_steps(catalog, run, offer)
        else:
            verdict = run.judge.judge(offer)
            if verdict.change not in ("unchanged", "duplicate"):
                try:
                    offer.read()
                except SourceError:
                    run.judge.withdraw(offer, verdict)
                    raise
            yield Step(verdict.change, name, scope, verdict.twin)
    except SourceError as error:
        yield Step("dead", name, scope, reason=str(error))


def _turn_steps(catalog: Catalog, run: Sync, export: Export) -> Iterator[Step]:
    member = export.member
    name, scope = member.source_id, member.scope
    old = run.judge.members.get(member.place)
    if run.is_unchanged(export) and old:
        yield Step("unchanged", name, scope, count=old.turns)
        return
    text, timezone = export.read(), run.access.timezone
    feed = run.feed
    chats, letters = read_export(text, name, member.uri, feed.scope, timezone, feed.tags)
    for letter in letters:
        yield Step("dead", f"{name} {letter.place}", letter.scope, reason=letter.reason)
    for owner, held in chats.items():
        found: Counter[Class] = Counter()
        for session in in_order(held, member.uri):
            found += _turn_classes(catalog, owner, session)
        for change, count in found.items():
            yield Step(change, name, owner, count=count)


def _turn_classes(catalog: Catalog, scope: Scope, session: Session) -> "Counter[Class]":
    last = {turn_source(session, turn): turn for turn in session.turns}
    known = catalog.sources(scope, list(last))
    found: Counter[Class] = Counter()
    found["unchanged"] = len(session.turns) - len(last)
    for name, turn in last.items():
        row = known.get(name)
        same = row and row.content_hash[:HALF] == own_hash(turn)
        found["unchanged" if same else "changed" if row else "new"] += 1
    return found
