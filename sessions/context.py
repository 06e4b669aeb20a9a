"""`assemble`: the layers of a session -> the messages of one call, under a hard budget. Pure.

role, facts, digest, retrieved, pinned, recent, question: what changes least comes first, so that a
prompt cache can keep the longest prefix. The first four are a system message each. What was done
for a question since it was asked (calls and results) stands behind it.
"""

from collections.abc import Sequence
from typing import Any

from indexing.errors import InvalidInput
from sessions.cache import ContextCache, Lease
from sessions.costs import remembering
from sessions.draft import Draft
from sessions.material import Material
from sessions.policies import LAYERS, ContextPolicy
from sessions.shrink import Shown
from sessions.types import Context, CountTokens, Layer, LayerName, Message


def assemble(material: Material, policy: ContextPolicy, count: CountTokens) -> Context:
    """Return the messages of a call, no more than ``budget - reserve`` tokens, and how they came.

    Tokens are counted by `costs`. Raises `InvalidInput` for an empty question, `BudgetTooSmall`
    where role, facts and question alone do not fit.
    """
    return finished(drafted(material, policy, count))


def drafted(
    material: Material, policy: ContextPolicy, count: CountTokens, lease: Lease | None = None
) -> Draft:
    """Return a draft of a context, in which nothing is cut yet. Raises what `assemble` does.

    ``lease`` is of the cache that it shares with others.
    """
    if not material.question.strip():
        raise InvalidInput("the question is empty")
    lease = lease or ContextCache().begin()
    known = remembering(lease.counting(count), (*material.first, *material.last))
    return Draft(material, policy, known, lease)


def finished(draft: Draft) -> Context:
    """Cut a draft to its budget and return the context."""
    draft.make_room()
    layers = tuple(_layer(draft, name) for name in LAYERS)
    return Context(
        messages=tuple(_messages(draft)),
        layers=layers,
        tokens=sum(layer.tokens for layer in layers),
        budget=draft.limit,
        left_out=draft.left_out,
        shown=draft.shown,
        details=_details(draft),
    )


def _messages(draft: Draft) -> list[Message]:
    texts = (draft.role, draft.known.text, draft.digest.text, draft.recalled.text)
    found = [_system(text) for text in texts if text]
    found += _said(draft.pinned)
    found += [_system(draft.marker)] if draft.marker else []
    asked = draft.asked.seq if draft.asked else None
    before = [shown for shown in draft.recent if asked is None or shown.group[0].seq < asked]
    return [*found, *_said(before), draft.question, *_said(draft.recent[len(before) :])]


def _system(text: str) -> Message:
    return {"role": "system", "content": text}


def _said(shown: Sequence[Shown]) -> list[Message]:
    return [message for one in shown for message in one.messages]


def _layer(draft: Draft, name: LayerName) -> Layer:
    items, cut = 1, list[str]()
    match name:
        case "role":
            items = int(bool(draft.role))
        case "facts":
            items = draft.known.text.count("\n- ")
            if more := draft.material.more_facts:
                cut.append(f"{more} more facts of the user are not listed; they can be searched")
            if live := draft.known.dropped:
                cut.append(f"{live} notes of live data are not listed")
        case "digest":
            items = draft.digest.text.count("\n- ")
            if draft.digest.dropped:
                cut.append(f"{draft.digest.dropped} tokens of it are left out")
        case "retrieved":
            found = draft.recalled
            items = len(found.ids) + found.answers + len(found.brought)
            if found.over:
                cut.append(f"{found.over} of {found.over + items} do not fit")
            if found.twice:
                cut.append(f"{found.twice} are in the context already")
        case "pinned":
            items, cut = _turns(draft.pinned)
            if dropped := draft.dropped_pinned:
                cut.append(f"{dropped} pinned turns are left out")
        case "recent":
            items, cut = _turns(draft.recent)
            if dropped := draft.dropped_recent:
                cut.append(f"{dropped} older turns of the window are left out")
            if draft.left_out and not draft.marked:
                cut.append("that turns are left out is not said")
    return Layer(name, draft.tokens(name), items, tuple(cut))


def _turns(groups: Sequence[Shown]) -> tuple[int, list[str]]:
    """Return how many turns are shown, and which of them were cut."""
    cuts = [
        f"turn {seq}: {dropped} tokens of {shown.kinds[seq]} are left out"
        for shown in groups
        for seq, dropped in sorted(shown.cuts.items())
    ]
    return sum(len(shown.group) for shown in groups), cuts


def _details(draft: Draft) -> dict[str, Any]:
    found, material = draft.recalled, draft.material
    shown = (*draft.pinned, *draft.recent)
    return {
        "budget": draft.policy.budget,
        "reserve": draft.policy.reserve,
        "turns": draft.total,
        "gap": [draft.gap[0], draft.gap[-1]] if draft.left_out and draft.gap else None,
        "cut": {seq: tokens for one in shown for seq, tokens in one.cuts.items()},
        "digest": {
            "through": material.digest.through if material.digest else 0,
            "number": material.digest.number if material.digest else 0,
            "dropped": draft.digest.dropped,
        },
        "memories": {
            "found": draft.found,
            "ids": list(found.ids),
            "answers": found.answers,
            "brought": list(found.brought),
            "shown_already": found.twice,
            "left_out": found.over,
        },
        "facts": {"more": material.more_facts, "live_data": draft.known.dropped},
    }
