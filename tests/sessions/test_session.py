"""A session from its first turn to its close, and the sessions that nobody closed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from pydantic import BaseModel

from configs.build import Parts
from configs.forgetting import places
from indexing.errors import BudgetExceeded, InvalidId, InvalidInput
from indexing.forget import forget
from indexing.traces import session_target, source_target
from indexing.types import Filter, session_scope, user_scope
from sessions.calls import ModelCall
from sessions.handoff import Handoff
from sessions.idle import IdleReport, close_idle
from sessions.log_write import source_of
from sessions.model_digest import Told
from sessions.session import Session, resized
from sessions.types import Digest, Entry, LoggedTurn
from tests.conftest import FixedClock


@pytest.fixture
def session(parts: Parts) -> Session:
    return Session(parts.desk, "ann", "monday")


def test_messages_of_any_form_are_one_session(session: Session) -> None:
    session.append({"role": "user", "content": "My size is L."})
    session.append(
        [Entry("assistant", "Noted."), {"role": "user", "content": "And the budget is 900 euro."}]
    )
    assert [turn.seq for turn in session.turns()] == [1, 2, 3]
    assert session.count() == 3
    assert [turn.entry.text for turn in session.turns(last=1)] == ["And the budget is 900 euro."]


def test_a_list_handed_over_again_adds_what_is_new(session: Session) -> None:
    talk = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}]
    session.append(talk, whole=True)
    done = session.append([*talk, {"role": "user", "content": "hello"}], whole=True)
    assert (done.new, done.known) == (1, 2)


class Human(BaseModel):
    content: str
    type: str = "human"


def test_one_message_that_is_iterable_is_one_message(session: Session) -> None:
    assert list(Human(content="hello"))
    session.append(Human(content="My size is L."))
    assert [turn.entry.text for turn in session.turns()] == ["My size is L."]


def test_a_list_with_one_bad_message_adds_nothing(session: Session) -> None:
    with pytest.raises(InvalidInput, match="message 2"):
        session.append([{"role": "user", "content": "a"}, {"role": "nobody", "content": "b"}])
    assert session.count() == 0


def test_facts_are_there_as_soon_as_they_are_said(session: Session) -> None:
    session.append({"role": "user", "content": "My size is L."})
    assert session.facts["size"] == "L"
    session.append({"role": "user", "content": "My size is XL now."})
    assert session.facts["size"] == "XL"
    session.facts["budget"] = "900 euro"
    del session.facts["size"]
    assert dict(session.facts) == {"budget": "900 euro"}


def test_what_is_due_is_folded_while_appending(session: Session) -> None:
    session.append([Entry("user", f"We ordered {n} lamps from Brno.") for n in range(1, 31)])
    assert session.kept_digest() is None
    session.append(Entry("user", "We decided to take Postgres."))
    digest = session.kept_digest()
    assert digest is not None
    assert (digest.number, digest.through) == (1, 16)
    assert session.digest(now=True).turns == 0


def test_the_question_comes_last_and_the_role_first(session: Session) -> None:
    session.configure(role="You sell lamps.")
    session.append(Entry("user", "My size is L."))
    context = session.context("What is my size?", budget=1000)
    assert context.messages[0] == {"role": "system", "content": "You sell lamps."}
    assert context.messages[-1] == {"role": "user", "content": "What is my size?"}
    assert context.tokens <= context.budget == 750
    other = session.context("What is my size?", role="You buy lamps.")
    assert other.messages[0]["content"] == "You buy lamps."


def test_configuring_keeps_what_is_known_beside_it(session: Session) -> None:
    session.append(Entry("user", "My size is L."))
    del session.facts["size"]
    session.configure(details={"colour": "red"}, task="Sell.")
    session.append(Entry("user", "We decided to take Postgres."))
    assert "size" not in session.facts
    assert (session.state.details["colour"], session.state.task) == ("red", "Sell.")
    with pytest.raises(InvalidInput, match="a session has no colour"):
        session.configure(colour="red")


def test_the_reserve_shrinks_with_a_small_budget(session: Session, parts: Parts) -> None:
    policy = parts.desk.policy.context
    assert resized(policy, None, None) == policy
    assert resized(policy, 8000, None).reserve == policy.reserve
    assert resized(policy, 400, None).reserve == 100
    with pytest.raises(InvalidInput, match="no room beside a reserve"):
        resized(policy, 400, 400)


def test_closing_leaves_facts_and_one_episode_with_the_user(session: Session, parts: Parts) -> None:
    session.append(Entry("user", "I live in Brno."))
    session.append(Entry("user", "We decided to take Postgres, not Mongo."))
    done = session.close()
    assert done.episode
    assert done.notebook.new == 2
    assert done.closed.archived == 2
    found = parts.retriever.retrieve("Where does she live? In Brno?", "ann", "monday")
    scopes = {hit.memory.scope for hit in found}
    assert scopes == {user_scope("ann")}
    shown = Session(parts.desk, "ann", "tuesday").context("Where does she live? In Brno?")
    assert 'source="session:monday"' in json.dumps(shown.messages).replace('\\"', '"')
    again = session.close()
    assert (again.episode, again.notebook.new, again.closed.archived) == (False, 0, 0)


def test_a_turn_that_arrives_while_it_closes_is_taken_in(session: Session, parts: Parts) -> None:
    session.append(Entry("user", "I live in Brno."))

    def late(made: Digest, turns: Sequence[LoggedTurn], before: Digest | None) -> Told:
        if before is None:
            session.append(Entry("user", "We decided to take Postgres, not Mongo."))
        return Told(made)

    closing = Session(replace(parts.desk, wording=cast("Any", late)), "ann", "monday")
    done = closing.close("clear")
    assert done.digest is not None
    assert [line.seq for line in done.digest.lines] == [1, 2]
    assert (done.notebook.new, done.closed.sessions, session.count()) == (2, 1, 0)


def test_clearing_deletes_the_log_too(session: Session) -> None:
    session.append(Entry("user", "I live in Brno."))
    assert session.close("clear").closed.cleared == 1
    assert session.count() == 0
    assert session.kept_digest() is None


def test_a_rejected_idea_does_not_travel(session: Session, parts: Parts) -> None:
    session.append(
        [
            Entry("user", "I need a report on the budgets of active projects, as a CSV file."),
            Entry("assistant", "What if we include archived projects too?"),
            Entry("user", "No, leave archived projects out."),
        ]
    )
    packet = session.handoff("Make the report on project budgets.")
    other = Session(parts.desk, "reporter", "job")
    taken = other.accept(json.dumps(packet.as_json()))
    assert taken.packet == packet
    assert "include archived" not in json.dumps(packet.as_json())
    assert other.state.task == "Make the report on project budgets."
    first = other.context("What is to be done?").messages[0]["content"]
    assert "CSV" in first
    assert "include archived" not in first


def test_a_packet_that_is_accepted_again_changes_nothing(session: Session) -> None:
    packet = Handoff("Make the report.", facts={"size": "L"})
    session.accept(packet)
    session.facts["size"] = "XL"
    begun = session.state
    session.accept(packet.as_json())
    assert session.state == begun
    assert session.facts["size"] == "XL"


def test_a_ceiling_stops_the_next_call(session: Session) -> None:
    session.configure(token_ceiling=1000)
    session.check(tokens=900)
    spent = session.record(ModelCall("small", tokens_in=700, tokens_out=200, cost=0.01))
    assert (spent.tokens, spent.calls) == (900, 1)
    with pytest.raises(BudgetExceeded):
        session.check(tokens=101)


def test_the_same_call_is_found_with_its_date(session: Session, clock: FixedClock) -> None:
    call = {"id": "c1", "function": {"name": "search", "arguments": '{"q": "tent", "n": 3}'}}
    session.append(
        [
            {"role": "user", "content": "Find a tent."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "3 tents from 90 euro"},
        ]
    )
    asked = clock.now
    clock.now += timedelta(hours=1)
    found = session.find_tool_result("search", {"n": 3, "q": "tent"})
    assert found is not None
    assert (found.turn.entry.text, found.at, found.age) == (
        "3 tents from 90 euro",
        asked,
        timedelta(hours=1),
    )
    assert session.find_tool_result("search", {"q": "stove"}) is None


def test_ids_that_are_none_are_refused(parts: Parts) -> None:
    for user_id, session_id in (("", "s"), ("*", "s"), ("ann", " ")):
        with pytest.raises(InvalidId):
            Session(parts.desk, user_id, session_id)


def test_sessions_that_went_quiet_are_closed(parts: Parts, clock: FixedClock) -> None:
    for name in ("monday", "tuesday"):
        Session(parts.desk, "ann", name).append(Entry("user", f"I live in Brno since {name}."))
    clock.now += timedelta(minutes=20)
    Session(parts.desk, "ann", "tuesday").append(Entry("user", "We decided to take Postgres."))
    clock.now += timedelta(minutes=15)
    assert close_idle(parts.desk) == IdleReport(closed=1, episodes=1, facts=1)
    assert close_idle(parts.desk) == IdleReport()
    open_ones = [one.session_id for one in parts.desk.log.sessions("ann") if not one.closed_at]
    assert open_ones == ["tuesday"]


def test_automatic_digests_can_be_off(parts: Parts) -> None:
    desk = replace(parts.desk, policy=replace(parts.desk.policy, automatic=False))
    session = Session(desk, "ann", "long")
    session.append([Entry("user", f"We ordered {n} lamps from Brno.") for n in range(40)])
    assert session.kept_digest() is None
    assert session.digest().turns == 25


def kept_with(parts: Parts, user_id: str = "ann") -> list[str]:
    """Return all that the user's own scope holds, superseded or not."""
    scope = user_scope(user_id)
    where = Filter(scope, superseded=True)
    return sorted(m.text for m in parts.index.store.scroll(scope.collection, where))


def test_what_a_session_left_goes_with_it(session: Session, parts: Parts) -> None:
    other = Session(parts.desk, "ann", "Monday")  # its tags are the same
    other.append(Entry("user", "My shoe size is 39."))
    other.close()
    before = kept_with(parts)
    session.append(
        [Entry("user", "I live in Brno."), Entry("user", "We decided to take Postgres.")]
    )
    session.close()
    assert len(kept_with(parts)) == len(before) + 3
    with places(parts.settings, parts.index.catalog, parts.index.store) as known:
        receipt = forget(parts.index, session_target("ann", "monday"), "test", known)
    assert receipt.clean
    assert kept_with(parts) == before


def test_what_a_turn_left_goes_with_it(session: Session, parts: Parts) -> None:
    session.append(
        [Entry("user", "I live in Brno."), Entry("user", "We decided to take Postgres.")]
    )
    session.close()
    turn = source_of(session_scope("ann", "monday"), session.turns()[0].entry.turn_id)
    target = source_target(session_scope("ann", "monday"), [turn])
    with places(parts.settings, parts.index.catalog, parts.index.store) as known:
        receipt = forget(parts.index, target, "test", known)
    assert receipt.clean
    assert kept_with(parts) == ["We decided to take Postgres."]
    assert session.close().episode
    assert not any("Brno" in text for text in kept_with(parts))


def test_live_data_that_a_session_left_is_no_call_of_a_tool(parts: Parts) -> None:
    session = Session(parts.desk, "ann", "prices")
    session.append(Entry("user", "The team has 8 people and the project is delayed."))
    session.close()
    kinds = {m.kind for m in parts.index.store.scroll("user", Filter(user_scope("ann")))}
    assert "tool_result" in kinds
    with parts.index.catalog.database.read() as connection:
        made = connection.exec_driver_sql("SELECT COUNT(*) FROM letopis_tool_calls").scalar_one()
    assert made == 0
