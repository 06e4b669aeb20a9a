"""Made dialogues: the same by the same seed, every answer told by whom it is asked about."""

import re
from random import Random

import pytest

from evals.reranker import made, names, small_talk
from evals.reranker.texts import Pool

GIVEN = {"n", "m", "when", "when2", "dur", "g", "d", "c", "i", "rel3", "occasion3"}
LANGUAGES = ("ru", "en")


@pytest.fixture(scope="module", params=LANGUAGES)
def pool(request: pytest.FixtureRequest) -> Pool:
    return next(made.pools(request.param, 1, seed=3))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_banks_use_only_what_they_define(lang: str) -> None:
    topics = made.topics(lang)
    assert len(topics) >= 25
    for topic in topics:
        assert len(topic.beats) >= 3, topic.name
        assert not topic.beats[0].reactions, topic.name
        for beat in topic.beats:
            assert beat.told, topic.name
            assert beat.asked, topic.name
            phrases = [*beat.told, *beat.asked, *beat.reactions, beat.picture]
            used = {name for phrase in phrases for name in re.findall(r"\{(\w+)\}", phrase)}
            assert used <= GIVEN | topic.slots.keys(), topic.name


def test_the_seed_decides_everything(pool: Pool) -> None:
    again = next(made.pools(pool.lang, 1, seed=3))
    other = next(made.pools(pool.lang, 1, seed=4))
    assert again == pool
    assert other.passages != pool.passages


def test_nothing_is_left_to_fill_in(pool: Pool) -> None:
    texts = [passage.text for passage in pool.passages] + [ask.query for ask in pool.asks]
    assert not [text for text in texts if re.search(r"[{}]|\[[^\]]*/[^\]]*\]", text)]


def test_an_answer_is_told_by_the_one_who_is_asked_about(pool: Pool) -> None:
    people = {passage.speaker for passage in pool.passages}
    assert len(people) == 2
    assert len(pool.asks) > 50
    for ask in pool.asks:
        teller = pool.passages[ask.answer].speaker
        forms = [teller, *(names.cases(teller).values() if pool.lang == "ru" else ())]
        named = any(form in ask.query for form in forms)
        assert named or not any(other in ask.query for other in people - {teller})
        assert ask.answer not in ask.also
        assert all(pool.passages[place].speaker == teller for place in ask.also)


def test_turns_follow_each_other_and_know_what_came_before(pool: Pool) -> None:
    for one, two in zip(pool.passages, pool.passages[1:], strict=False):
        assert one.at is not None
        assert two.at is not None
        assert one.at <= two.at
        if one.at == two.at:
            assert two.before == f"{one.speaker}: {one.text}"[:200]
        else:
            assert not two.before


def test_russian_names_have_their_cases() -> None:
    assert names.cases("Катя") == {"g": "Кати", "d": "Кате", "c": "Катю", "i": "Катей"}
    assert names.cases("Ксения")["d"] == "Ксении"
    assert names.cases("Олег") == {"g": "Олега", "d": "Олегу", "c": "Олега", "i": "Олегом"}
    assert names.cases("Андрей")["i"] == "Андреем"
    assert names.cases("Маша")["g"] == "Маши"


def test_every_bank_of_small_talk_has_every_phrase() -> None:
    chance = Random(1)
    for bank in small_talk.BANKS.values():
        assert all(chance.choice(getattr(bank, name)) for name in bank.__slots__)


def test_names_have_one_form_a_language() -> None:
    assert list(names.LATIN) == list(names.RU)
    assert len(set(names.LATIN.values())) == len(names.RU)
    assert all(name.isascii() for name in names.LATIN.values())


def test_topics_of_both_banks_tell_the_same_details() -> None:
    russian, english = ({topic.name: topic for topic in made.topics(lang)} for lang in LANGUAGES)
    assert made.TWINS.keys() == russian.keys()
    assert set(made.TWINS.values()) <= english.keys()
    for name, twin in made.TWINS.items():
        assert russian[name].slots.keys() & english[twin].slots.keys(), name


def test_a_mixed_memory_is_asked_in_the_other_language_about_the_same_person() -> None:
    pool = next(made.crossed(1, seed=3))
    assert next(made.crossed(1, seed=3)) == pool
    english = {latin: russian for russian, latin in names.LATIN.items()}
    across = 0
    for ask in pool.asks:
        answer = pool.passages[ask.answer]
        russian = english.get(answer.speaker, answer.speaker)
        forms = [names.LATIN[russian], russian, *names.cases(russian).values()]
        others = {english.get(p.speaker, p.speaker) for p in pool.passages} - {russian}
        wrong = [f for name in others for f in (names.LATIN[name], name)]
        asked = set(re.findall(r"\w+", ask.query))
        assert asked & set(forms) or not asked & set(wrong), ask.query
        across += (re.search("[а-я]", ask.query) is None) != (answer.speaker in english)
    assert across > len(pool.asks) / 2
    assert not [t for t in (a.query for a in pool.asks) if re.search(r"[{}\[\]]", t)]
    assert any(
        pool.passages[place].speaker != pool.passages[ask.answer].speaker
        for ask in pool.asks
        for place in ask.also
    )  # the same detail, told in the other language, is no wrong answer
