from collections.abc import Callable
from pathlib import Path

import pytest

from evals import datasets
from evals.datasets import VARIABLE, data_folder, load, names
from evals.errors import DataMalformed, DataMissing

WriteSet = Callable[..., Path]


def test_reads_ids_texts_titles_other_fields_and_judgements(library: Path) -> None:
    found = load("library", library)
    assert (found.name, found.corpus, len(found.documents)) == ("library", "library", 6)
    garden = found.documents["en-garden"]
    assert (garden.title, garden.text) == ("Garden", "Roses were planted along the wall.")
    assert found.qrels == {"q1": {"ru-orders": 1}, "q2": {"en-invoice": 1}, "q3": {"en-garden": 1}}
    assert list(found.queries) == ["q1", "q2", "q3"], "q4 has no judgements"


def test_keeps_fields_that_beir_does_not_know(chats: Path) -> None:
    found = load("chats", chats)
    assert found.documents["a3"].extra["blip_caption"] == "a red bicycle"
    assert found.documents["a3"].conv == "a"
    assert found.queries["qa"].extra == {"conv": "a", "category": "single_hop"}


def test_a_cross_lingual_set_asks_one_folder_of_the_other(write_set: WriteSet) -> None:
    judged = {"1": {"en-1": 1}, "2": {"en-2": 1}}
    data = write_set(
        "xquad-en", {"en-1": "one", "en-2": "two"}, {"1": "a", "2": "b"}, judged
    ).parent
    write_set("xquad-ru", {"ru-1": "раз"}, {"1": "вопрос"}, {"1": {"ru-1": 1}})
    found = load("xquad-ru-en", data)
    assert found.corpus == "xquad-en"
    assert {key: query.text for key, query in found.queries.items()} == {"1": "вопрос"}
    assert found.qrels == {"1": {"en-1": 1}}, "query 2 has no Russian form"


def test_qrels_may_lie_where_beir_puts_them(library: Path) -> None:
    folder = library / "library"
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    assert len(load("library", library).qrels) == 3


def test_names_known_sets_first_and_only_those_that_are_there(
    library: Path, write_set: WriteSet
) -> None:
    for name in ("xquad-ru", "xquad-en", "aaa"):
        write_set(name, {"d": "text"}, {"q": "text"}, {"q": {"d": 1}})
    (library / "no-set").mkdir()
    assert names(library) == [
        "xquad-ru",
        "xquad-en",
        "xquad-ru-en",
        "xquad-en-ru",
        "aaa",
        "library",
    ]


BAD = {
    "corpus.jsonl": [
        ('{"_id": "1", "text": "a"}\n\n{"_id": "2", "text"', "corpus.jsonl:3: not JSON"),
        ('["a"]', "corpus.jsonl:1: not a JSON object"),
        ('{"text": "a"}', "corpus.jsonl:1: _id is missing"),
        ('{"_id": true, "text": "a"}', "corpus.jsonl:1: _id is missing"),
        ('{"_id": "1", "text": null}', "corpus.jsonl:1: text or title"),
        ('{"_id": "1", "text": "a"}\n{"_id": 1, "text": "b"}', "corpus.jsonl:2: _id 1 is there"),
        ("\n", "corpus.jsonl: is empty"),
    ],
    "queries.jsonl": [('{"_id": "q1", "text": "a"}', "lacks 2 judged queries, such as 'q2'")],
    "qrels.tsv": [
        ("q1\tru-orders\t1", "qrels.tsv:1: a judgement; the first line is the header"),
        ("a\tb\tc\nq1\tru-orders", "qrels.tsv:2: 2 columns"),
        ("a\tb\tc\nq1\tru-orders\tyes", "qrels.tsv:2: the score 'yes'"),
        ("a\tb\tc\n", "qrels.tsv: has no judgements"),
    ],
}


@pytest.mark.parametrize(
    ("file", "text", "said"), [(file, *case) for file, cases in BAD.items() for case in cases]
)
def test_a_bad_line_is_named(library: Path, file: str, text: str, said: str) -> None:
    (library / "library" / file).write_text(text, encoding="utf-8")
    with pytest.raises(DataMalformed) as raised:
        load("library", library)
    assert said in str(raised.value)


def test_a_file_that_is_not_utf_8_is_named(library: Path) -> None:
    (library / "library" / "corpus.jsonl").write_bytes(
        '{"_id": "1", "text": "да"}'.encode("cp1251")
    )
    with pytest.raises(DataMalformed, match=r"corpus\.jsonl: not UTF-8"):
        load("library", library)


def test_a_missing_file_is_named(library: Path) -> None:
    (library / "library" / "qrels.tsv").unlink()
    with pytest.raises(DataMissing, match=r"cannot read .*test\.tsv"):
        load("library", library)


def test_a_known_set_that_is_absent_says_where_to_get_it(library: Path) -> None:
    with pytest.raises(DataMissing, match=r"github\.com/snap-research/LoCoMo"):
        load("locomo", library)


@pytest.mark.parametrize("name", ["nowhere", "..", "../data", ""])
def test_an_unknown_set_lists_what_is_there(library: Path, name: str) -> None:
    with pytest.raises(DataMissing, match="known: library"):
        load(name, library)


def test_the_folder_given_goes_before_the_variable_and_that_before_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("given", "named", "here", "shared/datasets/eval"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv(VARIABLE, raising=False)
    assert data_folder() == datasets.DEFAULT
    monkeypatch.setenv(VARIABLE, str(tmp_path / "named"))
    assert data_folder() == tmp_path / "named"
    assert data_folder(tmp_path / "given") == tmp_path / "given"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=f"no data folder {tmp_path / 'gone'}") as raised:
        names(tmp_path / "gone")
    assert "snap-research" in str(raised.value), "and where the sets come from"


def test_a_part_of_conversations_has_their_documents_and_queries(chats: Path) -> None:
    part = datasets.conversations(load("chats", chats), 1)
    assert list(part.documents) == ["a1", "a2", "a3"]
    assert list(part.queries) == list(part.qrels) == ["qa", "qc"]


def test_a_head_asks_only_what_its_documents_can_answer(library: Path) -> None:
    part = datasets.head(load("library", library), 4)
    assert list(part.documents) == ["ru-orders", "ru-tea", "ru-ship", "en-invoice"]
    assert list(part.queries) == ["q1", "q2"]
