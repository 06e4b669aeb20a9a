"""What a closed session leaves in its user's memory, and how episodes are found again."""

from datetime import timedelta

import pytest

from chunking.tokens import tiktoken_spans
from configs.build import Parts
from indexing.corrections import edit
from indexing.erasing import Places
from indexing.forget import forget
from indexing.index import Index
from indexing.left_behind import digest_name
from indexing.remember import history, remember
from indexing.traces import Target
from indexing.types import Filter, Memory, user_scope
from sessions.digest import DigestPolicy, fold
from sessions.digest_text import as_text
from sessions.episodes import cut, episodes, write_episode
from sessions.notebook import entries_of, session_tag, write_notebook
from sessions.speech import read_lines
from sessions.types import Digest, Line, Note
from tests.conftest import FixedClock
from tests.sessions.spoken import START, line, talk, words

ANN = user_scope("ann")
LINES = [
    line("fact", "I work at Northwest.", 1),
    line("preference", "I prefer short answers.", 3),
    line("decision", "We decided on Postgres instead of Mongo.", 5),
    line("fact", "The invoice of March is INV-7.", 6),
    line("other", "It rained all day.", 7),
    line("fact", "My size is XL.", 9, role="assistant"),
]


@pytest.fixture(autouse=True)
def _a_day_later(clock: FixedClock) -> None:
    clock.now = START + timedelta(hours=3)


def _held(index: Index, *kinds: str) -> list[Memory]:
    where = Filter(ANN, now=index.clock(), kinds=kinds or ("fact",))  # type: ignore[arg-type]
    return sorted(index.store.scroll("user", where), key=lambda memory: memory.text)


def test_facts_preferences_and_decisions_go_to_the_user_word_for_word(index: Index) -> None:
    report = write_notebook(index, "ann", "s", LINES)
    assert (report.new, report.known, report.left_out) == (3, 0, 0)
    held = _held(index)
    assert [(memory.text, memory.subject) for memory in held] == [
        ("I prefer short answers.", ""),
        ("I work at Northwest.", "user.employer"),
        ("We decided on Postgres instead of Mongo.", "decision.mongo"),
    ]
    assert held[1].at == START + timedelta(minutes=1)
    assert held[1].tags == ("session:s", "turn:1")


def test_closing_twice_adds_nothing(index: Index) -> None:
    write_notebook(index, "ann", "s", LINES)
    before = _held(index)
    report = write_notebook(index, "ann", "s", [*LINES, line("fact", "My size is L.", 12)])
    assert (report.new, report.known) == (1, 3)
    assert [memory for memory in _held(index) if "size" not in memory.text] == before


def test_a_later_session_supersedes(index: Index) -> None:
    write_notebook(index, "ann", "s", LINES)
    later = [
        line("fact", "I work at National now.", 20),
        line("fact", "My employer is National.", 21),
    ]
    write_notebook(index, "ann", "t", later)
    told = [memory.text for memory in _held(index) if memory.subject == "user.employer"]
    assert told == ["My employer is National."]
    assert next(m.text for m in history(index, ANN, "user.employer")) == "I work at Northwest."


def test_what_the_user_deletes_or_corrects_stays_so(index: Index) -> None:
    write_notebook(index, "ann", "s", LINES)
    _, work, choice = _held(index)
    forget(index, Target("memory", ANN, (work.id,)), "ann", Places())
    edit(index, ANN, choice.id, "We decided on SQLite instead of Mongo.", "ann")
    write_notebook(index, "ann", "s", LINES)
    assert [memory.text for memory in _held(index)] == [
        "I prefer short answers.",
        "We decided on SQLite instead of Mongo.",
    ]


def test_live_data_is_a_dated_result_that_expires_and_no_fact(
    index: Index, clock: FixedClock
) -> None:
    live = line("outside", "The team has 8 people.", 2)
    write_notebook(index, "ann", "s", [live])
    assert _held(index) == []
    (memory,) = _held(index, "tool_result")
    assert (memory.text, memory.at) == (live.text, live.at)
    assert memory.expires_at == START + timedelta(minutes=2, days=1)
    clock.now += timedelta(days=1)
    assert _held(index, "tool_result") == []
    late = write_notebook(index, "ann", "t", [live])
    assert (late.new, late.left_out) == (0, 1)


def test_a_rejected_idea_does_not_come_back_as_a_decision() -> None:
    lines = [
        line("decision", "Archived projects are included.", 1),
        line("rejected", "No.", 2, of="What if we include archived projects?"),
        line("preference", "I like the archived projects included.", 4),
        line("fact", "My size is L.", 5),
        line("rejected", "No.", 6, of="Use Mongo?"),
        line("fact", "My old service runs on Mongo 4.", 7),
    ]
    assert [entry.text for entry in entries_of(lines)] == [lines[3].text, lines[5].text]


def test_of_facts_without_a_subject_only_those_about_the_user_last() -> None:
    said = [
        "I have type 2 diabetes.",
        "У меня аллергия на арахис, 2 степень.",
        "The invoice of March is INV-7.",
        "I want a soup for 4 people.",
        "Мне нужен отчёт за 3 квартал.",
    ]
    lines = [line("fact", text, number) for number, text in enumerate(said, 1)]
    assert [entry.text for entry in entries_of(lines)] == said[:2]


def test_what_code_has_set_goes_too(index: Index) -> None:
    write_notebook(index, "ann", "s", [], [Note("size", "L", at=START), Note("budget", "3", seq=4)])
    (memory,) = _held(index)
    assert (memory.text, memory.subject) == ("size: L", "user.size")
    remember(index, ANN, "My size is XL.", at=START + timedelta(hours=1))
    assert [memory.text for memory in _held(index)] == ["My size is XL."]


def test_a_value_that_was_revised_without_its_name_goes_in_place_of_the_old(index: Index) -> None:
    said = [line("fact", "My budget is 2,500 euros.", 1), line("decision", "Make it 3,100.", 3)]
    earlier = Note("budget", "900", seq=1, at=START)
    write_notebook(index, "ann", "s", said[:1], [earlier])
    revised = Note("budget", "3,100", "decision", 3, START + timedelta(minutes=3))
    write_notebook(index, "ann", "s", said, [revised])
    held = {memory.text: memory for memory in _held(index)}
    assert held["budget: 3,100"].subject == "user.budget"
    assert "turn:3" in held["budget: 3,100"].tags
    assert "My budget is 2,500 euros." not in held


def test_a_sentence_too_long_for_a_fact_is_counted(index: Index) -> None:
    long = line("preference", f"I prefer {'very ' * 400}short answers.", 1)
    report = write_notebook(index, "ann", "s", [long])
    assert (report.new, report.left_out) == (0, 1)


def test_the_notebook_of_a_long_session_is_about_forty_tokens() -> None:
    said = ["Hello!", "Hi, how can I help you today?"]
    for number in range(40):
        said += [
            f"Can you explain step {number} of the recipe in more detail?",
            f"Step {number} takes about {number + 2} minutes, stir it and keep the lid closed.",
        ]
    said[10] = "I'm vegetarian."
    said[24] = "My budget is 300 000 rubles."
    said[36] = "My size is L."
    said[52] = "I work at Northwest."
    said[66] = "We decided on Postgres instead of Mongo."
    said[70] = "I work at National Geographic."
    said[76] = "I prefer short answers."
    turns = talk(*said)
    found = entries_of(read_lines(turns))
    whole = {turn.seq: turn.entry.text for turn in turns}
    assert all(entry.text in whole[entry.seq] for entry in found)
    count = tiktoken_spans("cl100k_base")
    tokens = sum(len(count(entry.text)) for entry in found)
    assert 25 <= tokens <= 55
    assert "I work at National Geographic." in [entry.text for entry in found]
    assert "I work at Northwest." not in [entry.text for entry in found]


def _digest(session: str, *said: str, number: int = 1, lines: tuple[Line, ...] = ()) -> Digest:
    turns = talk(*said)
    made = fold(
        None, turns, DigestPolicy(), words, session_id=session, user_id="ann", lines=lines or None
    )
    return Digest(
        session,
        "ann",
        number,
        made.through,
        made.started_at,
        made.ended_at,
        ("databases", "orders"),
        made.lines,
    )


def test_a_digest_is_stored_whole_and_dated_with_its_topics(parts: Parts) -> None:
    digest = _digest("s", "We decided to use Postgres for the orders service.", "Fine.")
    assert write_episode(parts.index, digest)
    (episode,) = episodes(parts.retriever, "Which database for orders?", "ann")
    assert episode.text == as_text(digest).text
    assert episode.at == digest.ended_at
    assert {"databases", "orders", "session:s"} <= {*episode.tags}


def test_a_long_digest_comes_back_whole_by_any_of_its_parts(parts: Parts) -> None:
    lines = tuple(
        line("fact", f"The code of the {place} depot number {n} is D-{n}-{place[:2]}.", n)
        for n, place in enumerate(["Tver", "Kazan", "Omsk", "Perm"] * 20, 1)
    )
    digest = _digest("s", "Hello.", lines=lines)
    write_episode(parts.index, digest)
    held = _held(parts.index, "digest")
    assert len(held) > 2
    limit = parts.index.recipe.fact_tokens
    assert all(len(parts.index.recipe.spans(memory.text)) <= limit for memory in held)
    for query in ("code of depot number 1 Tver", "code of the depot number 80 D-80-Pe"):
        (episode,) = episodes(parts.retriever, query, "ann")
        assert episode.text == as_text(digest).text


def test_a_line_that_is_longer_than_a_part_comes_back_as_it_was(parts: Parts) -> None:
    digest = _digest("s", "Hello.", lines=(line("fact", f"The code is {'A1 ' * 400}today.", 1),))
    write_episode(parts.index, digest)
    (episode,) = episodes(parts.retriever, "code A1", "ann")
    assert episode.text == as_text(digest).text


def test_what_was_forgotten_of_a_digest_leaves_the_user_s_memory_at_the_next_close(
    parts: Parts,
) -> None:
    said = (line("fact", "My size is L.", 1), line("fact", "My budget is 300.", 2))
    write_episode(parts.index, _digest("s", "Hello.", lines=said))
    assert write_episode(parts.index, _digest("s", "Hello.", lines=said[:1]))
    (episode,) = episodes(parts.retriever, "size and budget", "ann")
    assert "300" not in episode.text


def test_a_session_closed_again_replaces_its_digest(parts: Parts) -> None:
    first = _digest("s", "We decided to use Postgres for the orders service.")
    assert write_episode(parts.index, first)
    assert not write_episode(parts.index, first)
    later = _digest("s", "We decided to use CockroachDB for the orders service.", "Fine.", number=2)
    assert write_episode(parts.index, later)
    (episode,) = episodes(parts.retriever, "orders service", "ann")
    assert episode.text == as_text(later).text
    where = Filter(ANN, source_ids=(digest_name("s"),), superseded=True)
    assert "Postgres" not in "".join(m.text for m in parts.index.store.scroll("user", where))


def test_a_corrected_digest_is_not_written_over_by_the_same_one(parts: Parts) -> None:
    digest = _digest("s", "We decided to use Postgres for the orders service.")
    write_episode(parts.index, digest)
    (memory,) = _held(parts.index, "digest")
    edit(parts.index, ANN, memory.id, "We use SQLite for the orders service.", "ann")
    assert not write_episode(parts.index, digest)
    (episode,) = episodes(parts.retriever, "orders service", "ann")
    assert episode.text == "We use SQLite for the orders service."


def test_a_returning_user_gets_the_sessions_the_question_is_about(parts: Parts) -> None:
    told = {
        "db": "We decided to use Postgres as the database of the orders service.",
        "trip": "The flight to Kazan on 12 May costs 14 500 rubles.",
        "soup": "The recipe of the soup needs 300 grams of lentils.",
        "flat": "The landlord of the flat is Boris Karpov.",
        "car": "The insurance of the car ends on 3 June.",
    }
    for name, text in told.items():
        write_episode(parts.index, _digest(name, text))
    found = episodes(parts.retriever, "What does the soup recipe with lentils need?", "ann")
    assert 1 <= len(found) <= 3
    assert found[0].source_id == digest_name("soup")
    assert episodes(parts.retriever, "soup with lentils", "bob") == ()


def test_parts_are_whole_lines_within_the_limit() -> None:
    spans = tiktoken_spans("cl100k_base")
    text = "one two\nthree four\n\n" + "word " * 30 + "\nlast"
    found = [text[start:end] for start, end in cut(text, spans, 8)]
    assert found[0] == "one two\nthree four"
    assert found[-1].endswith("last")
    assert all(len(spans(part)) <= 8 for part in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_session_is_named_in_a_tag_whatever_its_id_is() -> None:
    assert session_tag("s-1") == "session:s-1"
    assert len(session_tag("x" * 1024)) <= 64
    assert session_tag("x" * 1024) != session_tag("x" * 1023)
