"""Model calls: what a session has spent, and the ceiling that no call may pass."""

from datetime import datetime

import pytest

from indexing.errors import BudgetExceeded, InvalidInput
from indexing.index import Index
from sessions.calls import CallLog, Ceilings, ModelCall, Spent
from sessions.state import SessionState, write_state


def test_what_a_session_has_spent(index: Index) -> None:
    log = CallLog(index)
    assert log.spent("ann", "s") == Spent()
    log.record("ann", "s", ModelCall("big", 1000, 200, 0.5, tool_calls=2))
    log.record("ann", "s", ModelCall("big", 100, 20, 0.25, "prompt", 80))
    log.record("ann", "other", ModelCall("big", 7, 7, 7.0))
    log.record("bob", "s", ModelCall("big", 7, 7, 7.0))
    spent = log.spent("ann", "s")
    assert spent == Spent(1100, 220, 0.75, calls=2, tool_calls=2, cache_hits=1)
    assert spent.tokens == 1320


def test_a_call_with_an_id_is_counted_once(index: Index) -> None:
    log = CallLog(index)
    for _ in range(3):
        log.record("ann", "s", ModelCall("big", 10, call_id="r-1"))
        log.record("ann", "s", ModelCall("big", 1))
    assert (log.spent("ann", "s").calls, log.spent("ann", "s").tokens) == (4, 13)


def test_the_call_that_would_exceed_the_ceiling_is_refused(index: Index) -> None:
    log = CallLog(index, Ceilings(tokens=100, cost=1.0))
    assert log.check("ann", "s", 100, 1.0) == Spent()
    log.record("ann", "s", ModelCall("big", 50, 20, 0.5))
    assert log.check("ann", "s", 30, 0.5).tokens == 70
    with pytest.raises(BudgetExceeded, match="100 tokens: 70 are spent, and the call takes 31"):
        log.check("ann", "s", 31)
    with pytest.raises(BudgetExceeded, match=r"1 of cost: 0\.5 are spent"):
        log.check("ann", "s", 0, 0.51)
    log.record("ann", "s", ModelCall("big", 30))
    with pytest.raises(BudgetExceeded):  # nothing is left, whatever it would take
        log.check("ann", "s")
    log.check("ann", "other", 100)


def test_the_ceiling_of_a_session_goes_before_the_usual_one(index: Index) -> None:
    log = CallLog(index, Ceilings(tokens=100))
    write_state(index, "ann", "s", SessionState(token_ceiling=500, cost_ceiling=0.1))
    log.check("ann", "s", 500)
    with pytest.raises(BudgetExceeded):
        log.check("ann", "s", 10, 0.2)
    write_state(index, "ann", "s", SessionState())
    with pytest.raises(BudgetExceeded):
        log.check("ann", "s", 101)
    CallLog(index).check("ann", "s", 10**9)


@pytest.mark.parametrize(
    "call",
    [
        ModelCall("m", -1),
        ModelCall("m", tokens_out=2**31),
        ModelCall("m", cost=float("nan")),
        ModelCall("m", cost=-0.1),
        ModelCall("m", cache="x" * 33),
        ModelCall("m", at=datetime(2026, 1, 1)),
    ],
)
def test_a_bad_call_is_refused(index: Index, call: ModelCall) -> None:
    with pytest.raises(InvalidInput):
        CallLog(index).record("ann", "s", call)
    assert CallLog(index).spent("ann", "s") == Spent()
