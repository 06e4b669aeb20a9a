"""How an answer came about: a tree for a reader, a record with stable names for a machine."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from rich.tree import Tree

from indexing.types import Scored
from retrieval.trace import Hidden, ScopeTrace, Trace

FIRST = 3
"""Candidates of a list that the tree shows; the record has all."""


def trace_record(trace: Trace) -> dict[str, Any]:
    """Return a trace as a record: docs/retrieval.md describes its fields."""
    return {
        "route": trace.route,
        "reason": trace.reason,
        "parts": [
            {
                "text": part.text,
                "went": part.went,
                "label": part.label,
                "confidence": part.confidence,
                "reason": part.reason,
            }
            for part in trace.parts
        ],
        "filters": dict(trace.filters),
        "scopes": [_scope_record(scope) for scope in trace.scopes],
        "stages": [
            {"name": s.name, "before": s.before, "after": s.after, "note": s.note}
            for s in trace.stages
        ],
        "evidence": dict(trace.evidence),
        "dropped": [
            {"id": d.id, "scope": d.scope, "why": d.why, "detail": d.detail} for d in trace.dropped
        ],
        "models": dict(trace.models),
        "fingerprints": dict(trace.fingerprints),
        "milliseconds": dict(trace.milliseconds),
        "notes": list(trace.notes),
    }


def _scope_record(scope: ScopeTrace) -> dict[str, Any]:
    hidden = scope.hidden
    return {
        "scope": scope.scope,
        "candidates": scope.candidates,
        "lists": {name: _list_record(found) for name, found in scope.lists.items()},
        "hidden": hidden
        and {
            "expired": hidden.expired,
            "superseded": hidden.superseded,
            "below": dict(hidden.below),
        },
        "milliseconds": scope.milliseconds,
        "error": scope.error,
    }


def _list_record(found: Sequence[Scored]) -> list[dict[str, Any]]:
    """Return a branch's list, best first; the languages of a dense one are put together."""
    best = sorted(found, key=lambda hit: -hit.score)
    return [{"rank": rank, "id": hit.id, "score": hit.score} for rank, hit in enumerate(best, 1)]


def trace_tree(trace: Trace, confidence: float | None = None) -> Tree:
    """Return a trace as a tree: route, filters, scopes with their lists, stages, times."""
    tree = Tree(Text(f"route {trace.route}: {trace.reason}"))
    for part in trace.parts:
        label = f"{part.label} {part.confidence:.2f}"
        tree.add(Text(f"{part.went}: {part.text} ({label}: {part.reason})"))
    for name, value in trace.filters.items():
        tree.add(Text(f"filter {name}: {value}"))
    for scope in trace.scopes:
        _add_scope(tree, scope)
    for stage in trace.stages:
        note = f" ({stage.note})" if stage.note else ""
        tree.add(Text(f"{stage.name}: {stage.before} → {stage.after}{note}"))
    if confidence is not None:
        tree.add(Text(f"confidence: {confidence:.2f}"))
    if trace.evidence:
        tree.add(Text(f"evidence: {_evidence(trace)}"))
    if trace.dropped:
        dropped = tree.add(Text(f"dropped: {len(trace.dropped)}"))
        for one in trace.dropped:
            detail = f": {one.detail}" if one.detail else ""
            dropped.add(Text(f"{one.why} {one.id} of {one.scope}{detail}"))
    spent = ", ".join(f"{name} {ms:.1f}" for name, ms in trace.milliseconds.items())
    tree.add(Text(f"milliseconds: {spent}"))
    for name, value in (*trace.models.items(), *trace.fingerprints.items()):
        tree.add(Text(f"{name}: {value}"))
    for note in trace.notes:
        tree.add(Text(f"note: {note}"))
    return tree


def _add_scope(tree: Tree, scope: ScopeTrace) -> None:
    if scope.error:
        tree.add(Text(f"{scope.scope}: {scope.error}"))
        return
    branch = tree.add(Text(f"{scope.scope}: {scope.milliseconds:.1f} ms{_hidden(scope.hidden)}"))
    for name, found in scope.lists.items():
        best = sorted(found, key=lambda hit: -hit.score)[:FIRST]
        first = ", ".join(f"{hit.id[:8]} {hit.score:.3f}" for hit in best)
        branch.add(Text(f"{name} {len(found)}{': ' if best else ''}{first}"))


def _evidence(trace: Trace) -> str:
    told = (
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in trace.evidence.items()
        if value not in (None, "", False)
    )
    return ", ".join(told)


def _hidden(hidden: Hidden | None) -> str:
    if hidden is None:
        return ""
    counts = {"expired": hidden.expired, "superseded or later": hidden.superseded}
    counts |= {f"below the {name} threshold": count for name, count in hidden.below.items()}
    told = [f"{count} {name}" for name, count in counts.items() if count]
    return f"; hidden: {', '.join(told)}" if told else ""
