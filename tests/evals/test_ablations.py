"""The ablations' own logic; their numbers come from real sets."""

from pathlib import Path

from configs.settings import Settings
from evals.ablations import BALANCE, FUSION, TEMPLATE, merge
from evals.datasets import Dataset, Entry
from evals.mixed import OTHER, SAME, mix


def half(lang: str) -> Dataset:
    """Two paragraphs, a question about each; ids of questions are parallel."""
    documents = {f"{lang}{i}": Entry(f"{lang}{i}", f"{lang} text {i}") for i in range(2)}
    queries = {f"q{i}": Entry(f"q{i}", f"{lang} question {i}") for i in range(2)}
    qrels = {f"q{i}": {f"{lang}{i}": 1} for i in range(2)}
    return Dataset(f"xquad-{lang}", f"xquad-{lang}", documents, queries, qrels)


def test_each_paragraph_is_there_once_and_asked_about_in_both_languages() -> None:
    mixed = mix(half("ru"), half("en"))
    assert list(mixed.documents) == ["ru-ru0", "en-en1"]
    assert mixed.qrels == {
        "ru-q0": {"ru-ru0": 1},
        "ru-q1": {"en-en1": 1},
        "en-q0": {"ru-ru0": 1},
        "en-q1": {"en-en1": 1},
    }
    labels = {key: query.extra["category"] for key, query in mixed.queries.items()}
    assert labels == {"ru-q0": SAME, "ru-q1": OTHER, "en-q0": OTHER, "en-q1": SAME}


def test_a_change_reaches_only_what_it_names() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": 3}
    assert merge(base, {"a": {"b": 9}}) == {"a": {"b": 9, "c": 2}, "d": 3}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


def test_every_change_is_a_valid_setting_and_one_row_is_the_default(tmp_path: Path) -> None:
    plain = Settings(data_dir=tmp_path)
    for table in (TEMPLATE, FUSION, BALANCE):
        made = [Settings(**merge(plain.model_dump(by_alias=True), c)) for c in table.values()]
        assert made.count(plain) == 1
        assert len({settings.model_dump_json() for settings in made}) == len(made)
