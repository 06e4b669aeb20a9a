from configs.build import Parts
from letopis import LongTermMemory
from sessions.cache import ContextCache
from sessions.types import Cut, Entry
from tests.sessions.turns import words


def make(text: str, made: list[str]) -> Cut:
    made.append(text)
    return Cut(text, "text")


def test_a_cut_is_made_once_and_the_least_used_leaves() -> None:
    cache, made = ContextCache(cuts=2), list[str]()
    lease = cache.begin()
    for name in ("a", "b", "a", "c", "a", "b"):
        assert lease.cut((name,), lambda name=name: make(name, made)).text == name
    assert made == ["a", "b", "c", "b"]
    assert cache.texts == 2


def test_parts_are_not_run_together() -> None:
    lease, made = ContextCache().begin(), list[str]()
    lease.cut(("ab", "c"), lambda: make("one", made))
    assert lease.cut(("a", "bc"), lambda: make("two", made)).text == "two"


def test_a_text_is_counted_once() -> None:
    counted = list[str]()

    def count(text: str) -> int:
        counted.append(text)
        return words(text)

    cache = ContextCache(counts=2)
    for _ in range(2):
        assert cache.begin().counting(count)("one two") == 2
    assert counted == ["one two"]


def test_what_a_rule_says_of_a_text_is_never_taken_for_the_tokens_of_another() -> None:
    def is_short(text: str) -> bool:
        return len(text) < 3

    lease = ContextCache().begin()
    assert not lease.judged("one two", is_short)
    count = lease.counting(words)
    assert count("is_short\none two") == 3
    assert count("one two") == 2
    assert not lease.judged("one two", is_short)


def test_what_was_begun_before_a_clearing_puts_nothing_back() -> None:
    cache, made = ContextCache(), list[str]()
    early = cache.begin()
    early.cut(("a",), lambda: make("a", made))
    cache.clear()
    assert cache.texts == 0
    assert early.cut(("a",), lambda: make("a", made)).text == "a"
    assert cache.texts == 0
    cache.begin().cut(("a",), lambda: make("a", made))
    assert cache.texts == 1


def long_session(memory: LongTermMemory) -> None:
    """Make a context of a session whose texts have to be cut."""
    session = memory.session("ann", "trip")
    session.append([Entry("user", "Read this."), Entry("tool", "A gull flies.\n" * 900, tool="x")])
    assert "tool" in [message["role"] for message in session.context("And?", 600).messages]


def test_no_text_is_kept_once_something_was_forgotten(parts: Parts) -> None:
    memory = LongTermMemory(parts)
    long_session(memory)
    assert parts.desk.cache.texts == 1
    memory.forget("ann")
    assert parts.desk.cache.texts == 0


def test_no_text_is_kept_of_a_session_that_was_cleared(parts: Parts) -> None:
    memory = LongTermMemory(parts)
    long_session(memory)
    memory.session("ann", "trip").close("clear")
    assert parts.desk.cache.texts == 0
