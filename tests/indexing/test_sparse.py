"""Terms of both languages, BM25F weights, and the same through the engine."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.build import Parts
from indexing.remember import remember
from indexing.sparse import (
    K1,
    B,
    language,
    lexicon,
    normalize,
    term_id,
    terms,
    weigh,
    weigh_query,
)
from indexing.store import SPARSE
from indexing.types import Branch, Filter, user_scope

LETTERS = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВЁЩЪЫЬЭЮЯabcdefghijklmnopqrstuvwxyzABCXYZ0123456789"
WORDS = st.text(st.sampled_from(LETTERS + "-_.'’+#/@: \u0301"), max_size=40)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("какие заказы", "список заказов"),
        ("заказ", "заказами"),
        ("договор", "договоров"),
        ("встреча", "на встрече"),
        ("книга", "книгами"),
        ("настройка", "настройками"),
        ("красивый", "красивая красивыми"),
        ("работал", "работала"),
        ("обсудили", "обсудила"),
        ("получил", "получили"),
        ("отгружать", "отгружали"),
        ("возврат", "возвратом"),
        ("ёлка", "елки"),
        ("приём", "прием"),
        ("ЗАКАЗ", "заказа"),
        ("orders", "the order"),
        ("returned", "returning"),
        ("Ann", "Ann's"),
        ("Ann’s", "ann"),
        ("customer", "customers'"),
        ("замок", "за\u0301мок"),
        ("замок", "за\u0300мок"),
        ("Ёжик", "е\u0308жик"),
        ("йогурт", "и\u0306огурты"),
        ("договор", "до\u00adго\u00adвор"),
        ("ﬁle", "files"),
        ("деплой API", "новый api готов"),
    ],
)
def test_forms_of_one_word_share_a_term(asked: str, said: str) -> None:
    assert set(terms(asked)) & set(terms(said))


@pytest.mark.parametrize("form", ["Жмыхова", "Жмыховым", "Жмыхову", "Жмыхове", "Жмыховой"])
def test_a_rare_surname_is_one_term_in_every_case(form: str) -> None:
    assert terms(form) == terms("Жмыхов")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BX-4471-A", ["bx-4471-a", "bx", "4471", "a"]),
        ("v2.18.3", ["v2.18.3", "v", "2.18.3"]),
        ("--dry-run", ["--dry-run", "dry-run", "dri", "run"]),
        ("-5", ["-5", "5"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        ("ops@mail.example", ["ops@mail.example", "op", "mail", "exampl"]),
        ("gw_210", ["gw_210", "gw", "210"]),
        ("3,14", ["3", "14"]),
        ("Склады BX-1", ["склад", "bx-1", "bx", "1"]),
        ("… — !", []),
        ("", []),
    ],
)
def test_identifiers_are_kept_whole_and_split(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("hyphen", ["\u2010", "\u2011"])
def test_a_typographic_hyphen_is_a_hyphen(hyphen: str) -> None:
    assert terms(f"BX{hyphen}4471{hyphen}A") == terms("BX-4471-A")


@pytest.mark.parametrize(("query", "text"), [("dry-run", "--dry-run"), ("4471", "BX-4471-A")])
def test_a_part_of_an_identifier_finds_it(query: str, text: str) -> None:
    assert set(terms(query)) <= set(terms(text))


def test_cyrillic_is_never_folded_to_latin() -> None:
    assert terms("сор") != terms("cop")  # the first is Cyrillic, the second is Latin
    assert [t for t in terms("Ночь и день") if t.isascii()] == []


@given(WORDS)
def test_terms_do_not_depend_on_case_or_unicode_form(text: str) -> None:
    assert terms(text.upper().lower()) == terms(text)
    assert terms(unicodedata.normalize("NFD", text)) == terms(text)


@given(st.text(max_size=60))
def test_any_text_has_terms_without_spaces(text: str) -> None:
    found = terms(text)
    assert all(found) or not found
    assert not [term for term in found if re.search(r"\s", term)]
    assert bool(found) == bool(re.search(r"\w", normalize(text)))


@given(st.text(st.sampled_from("аоуыиеийюянстшвлмхгь"), min_size=1, max_size=30))
def test_stemming_ends_at_a_fixed_point(word: str) -> None:
    (stem,) = terms(word)
    assert terms(stem) == [stem]
    assert len(stem) <= len(word)


def test_a_long_run_of_joiners_is_read_in_one_pass() -> None:
    assert len(terms("a" + "_" * 50_000 + "-" * 50_000)) == 2
    assert len(terms("a-" * 20_000 + "a")) == 20_002


def test_term_ids_are_stable_and_fit_32_bits() -> None:
    assert term_id("заказ") == 2_421_595_116
    assert term_id("bx-4471-a") == 1_711_140_509
    assert 0 <= term_id("") < 2**32


def test_weights_are_bm25f() -> None:
    vector = weigh([("alpha beta", 1.0), ("beta beta gamma", 0.5)], mean_length=10.0)
    length = 1.0 * 2 + 0.5 * 3
    norm = K1 * (1 - B + B * length / 10.0)
    expected = {
        "alpha": 1.0 * (K1 + 1) / (1.0 + norm),
        "beta": 2.0 * (K1 + 1) / (2.0 + norm),  # 1 * 1.0 + 2 * 0.5
        "gamma": 0.5 * (K1 + 1) / (0.5 + norm),
    }
    found = dict(zip(vector.indices, vector.values, strict=True))
    assert found == pytest.approx(
        {term_id(terms(word)[0]): weight for word, weight in expected.items()}
    )


@given(st.lists(st.tuples(WORDS, st.sampled_from([0.5, 1.0])), max_size=3))
def test_weights_are_positive_and_bounded(fields: list[tuple[str, float]]) -> None:
    vector = weigh(fields, 40.0)
    assert len(set(vector.indices)) == len(vector.indices) == len(vector.values)
    assert all(0 < value < K1 + 1 for value in vector.values)
    assert set(vector.indices) == {term_id(t) for text, _ in fields for t in terms(text)}


def test_query_weights_are_counts() -> None:
    vector = weigh_query("заказ заказы BX")
    assert dict(zip(vector.indices, vector.values, strict=True)) == {
        term_id("заказ"): 2.0,
        term_id("bx"): 1.0,
    }


def test_lexicon_tells_own_terms_from_those_of_the_turn_before() -> None:
    own, before = lexicon("Заказы по BX-1", "Где заказ?").split("\t")
    assert own.split() == ["1", "bx", "bx-1", "заказ", "по"]
    assert before.split() == ["где"]
    assert lexicon("", "") == "  \t  "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Где заказ?", "ru"),
        ("where is it", "en"),
        ("обнови API v2", "ru"),
        ("see Жмыхов's note", "en"),
        ("4471", "en"),
        ("", "en"),
        ("ёж", "ru"),
    ],
)
def test_language_is_that_of_most_letters(text: str, expected: str) -> None:
    assert language(text) == expected


FACTS = [
    "Список заказов за март утверждён",
    "Датчик BX-4471-A калибруют раз в год",
    "Датчик BX-4471-B калибруют раз в два года",
    "Release v2.18.3 fixes the leak",
    "Release v2.18.4 adds a flag",
    "Run it with --dry-run first",
    "The driver is written in C++",
    "Отчёт сдал Жмыхов",
    "Отчёт сдал Иванов",
    "У гипервизора новый API",
]


BEST = {
    "какие заказы": FACTS[0],
    "BX-4471-A": FACTS[1],
    "BX-4471-B": FACTS[2],
    "bx‑4471‑a": FACTS[1],
    "v2.18.3": FACTS[3],
    "v2.18.4": FACTS[4],
    "--dry-run": FACTS[5],
    "C++": FACTS[6],
    "отчёт Жмыхова": FACTS[7],
    "отчет Ивановым": FACTS[8],
    "API гипервизоров": FACTS[9],
    "release для датчика BX-4471-B": FACTS[2],
}


def test_the_engine_ranks_the_right_memory_first(parts: Parts) -> None:
    scope = user_scope("ann")
    texts = {remember(parts.index, scope, fact).id: fact for fact in FACTS}
    branches = [Branch(SPARSE, weigh_query(query), limit=5) for query in BEST]
    found = parts.index.store.search("user", branches, Filter(scope))
    assert {q: texts[hits[0].id] for q, hits in zip(BEST, found, strict=True)} == BEST
    for hits in found:
        assert hits[0].score > max((hit.score for hit in hits[1:]), default=0.0)


def test_a_query_in_two_languages_finds_both(parts: Parts) -> None:
    remember(parts.index, user_scope("ann"), FACTS[3])
    remember(parts.index, user_scope("ann"), FACTS[7])
    remember(parts.index, user_scope("ann"), FACTS[5])
    found = parts.retriever.retrieve("Жмыхов about the leak in v2.18.3", "ann")
    ranked = [hit.memory.text for hit in found if SPARSE in hit.stages]
    assert set(ranked) >= {FACTS[3], FACTS[7]}
    assert found.hits[0].memory.text == FACTS[3]
