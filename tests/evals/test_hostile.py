"""Ids that differ by a hair never meet; and the search for leaks would see one."""

import random
from dataclasses import replace
from typing import Any

import pytest

from configs.settings import Settings
from evals import hostile
from indexing.types import user_scope


def test_no_question_shows_what_somebody_else_said() -> None:
    result = hostile.run(Settings.model_construct(busy_timeout=5.0), 400, seed=3)
    assert result.leaks == []
    assert result.shown > 400
    assert set(result.asked) == {"retrieve", "by id", "by source", "history"}


def test_a_leak_is_seen(make_parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "NAMES", ("u1", "u2", "u3"))
    parts = make_parts(embedder=hostile.Plain())
    scopes = hostile.fill(parts, random.Random(1))
    scroll = parts.index.store.scroll
    monkeypatch.setattr(
        parts.index.store,
        "scroll",
        lambda name, where: scroll("user", replace(where, scope=user_scope("u1"))),
    )
    dice = random.Random(2)
    assert any(hostile.ask(parts, scopes, dice)[1] for _ in range(100))


def test_all_ids_differ() -> None:
    assert len(set(hostile.NAMES)) == len(hostile.NAMES)
