"""A smaller run of `evals.sql_hostile`; and it would see a leak."""

import pytest

from evals import sql_hostile
from retrieval.sql import tenants


def test_no_statement_shows_or_changes_what_is_anothers(empty_urls: list[str]) -> None:
    outcome = sql_hostile.run(*empty_urls, generated=40, seed=5, timeout=0.2)
    assert (outcome.leaks, outcome.writes) == ([], 0)
    assert outcome.asked > 400
    assert outcome.compared > 60
    assert outcome.verdicts["SqlRefused"] > 250
    assert outcome.verdicts["SqlTimeout"] >= len(sql_hostile.SLOW)


def test_a_leak_is_seen(empty_urls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_hostile, "attacks", lambda: iter(["SELECT COUNT(*) FROM orders"]))
    monkeypatch.setattr(sql_hostile, "SLOW", ())
    monkeypatch.setattr(tenants, "owned", lambda source, table: False)
    outcome = sql_hostile.run(*empty_urls, generated=5, seed=5, timeout=20)
    assert "SELECT COUNT(*) FROM orders" in outcome.leaks[0]
