"""The late table's own logic; its numbers come from real sets."""

from pathlib import Path

import pytest

from configs.settings import Settings
from evals import command, late, report
from evals.ablations import changed
from evals.datasets import Dataset, Entry
from evals.errors import EvalError
from evals.passages import articles, paragraphs
from tests.readers import ReadingEmbedder

SENTENCES = ["Anna sold her boat", "The boat was red", "Boris bakes bread", "It is rye bread"]


def sentences() -> Dataset:
    documents = {
        f"0_{i // 2}_{i % 2}": Entry(f"0_{i // 2}_{i % 2}", t) for i, t in enumerate(SENTENCES)
    }
    queries = {"q": Entry("q", "rye")}
    return Dataset("xquad-r-en", "xquad-r-en", documents, queries, {"q": {"0_1_1": 1}})


def test_sentences_are_joined_to_their_paragraphs() -> None:
    first, second = paragraphs(sentences())
    assert first.text == "Anna sold her boat The boat was red"
    assert second.starts == {"0_1_0": 0, "0_1_1": len(SENTENCES[2]) + 1}


def test_other_sets_have_no_paragraphs() -> None:
    entries = {"a": Entry("a", "text")}
    assert paragraphs(Dataset("scifact", "scifact", entries, {}, {})) == []


def test_a_span_belongs_to_the_paragraph_that_most_of_it_is_in() -> None:
    documents = {str(i): Entry(str(i), f"paragraph {i}") for i in range(7)}
    made, wholes = articles(Dataset("xquad-en", "xquad-en", documents, {}, {}))
    assert list(made.documents) == list(wholes) == ["article 0", "article 1"]
    text = made.documents["article 0"].text
    assert text == "\n\n".join(f"paragraph {i}" for i in range(5))
    assert list(wholes["article 1"].starts) == ["5", "6"]
    at = text.index("paragraph 3")
    assert wholes["article 0"].part(at - 5, at + 8) == "3"
    assert wholes["article 0"].part(at - 9, at + 2) == "2"


def test_a_row_is_measured_and_its_tokens_counted(settings: Settings) -> None:
    changes = {
        name: late.SENTENCES[name] for name in ("own", "late alone", "average of own and late")
    }
    embedder = ReadingEmbedder()
    lines = late.table(sentences(), changes, settings, embedder).splitlines()
    assert lines[0] == "| xquad-r-en, nDCG@10 / R@10 | dense | hybrid | tokens |"
    cells = [line.split(" | ") for line in lines[2:]]
    assert [row[0] for row in cells] == [f"| {name}" for name in changes]
    assert [row[-1] for row in cells] == ["1.00 |", "1.00 |", "2.00 |"]
    assert [row[2] for row in cells] == ["100.0 / 100.0"] * 3
    assert all(row[1].endswith(" / 100.0") for row in cells), "four sentences are all in the top 10"
    assert set(embedder.windows) >= {whole.text for whole in paragraphs(sentences())}


def test_chunks_of_articles_are_judged_as_paragraphs(settings: Settings) -> None:
    documents = {str(i): Entry(str(i), f"this paragraph is about topic{i}") for i in range(5)}
    queries = {"q": Entry("q", "topic3")}
    dataset = Dataset("xquad-en", "xquad-en", documents, queries, {"q": {"3": 1}})
    small = changed(settings, {"chunking": {"size": 16, "overlap": 0}})
    means, tokens = late.measure(dataset, small, ReadingEmbedder(), whole=True)
    assert tokens > 0
    assert [mean["R@10"] for mean in means] == [1.0, 1.0]


def test_turns_are_not_weighed_by_what_they_tell(settings: Settings) -> None:
    said = {
        "1": "Did the red kayak cost much?",
        "2": "The red kayak cost four hundred, it was a gift to myself.",
        "3": "A red kayak?",
    }
    documents = {
        key: Entry(key, text, extra={"conv": "a", "speaker": "Tom" if key != "2" else "Ann"})
        for key, text in said.items()
    }
    queries = {"q": Entry("q", "Did the red kayak cost much, Ann?", extra={"conv": "a"})}
    talk = Dataset("chat", "chat", documents, queries, {"q": {"1": 1}})
    change = {"own": late.TURNS["own"]}
    weighed, _ = late.measure(talk, changed(settings, change["own"]), ReadingEmbedder())
    assert all(means["nDCG@10"] < 1 for means in weighed), "the answer comes before the question"
    line = late.table(talk, change, settings, ReadingEmbedder()).splitlines()[-1]
    assert line == "| own | 100.0 / 100.0 | 100.0 / 100.0 | 1.00 |"


def test_every_change_is_a_valid_setting_and_no_two_are_alike(tmp_path: Path) -> None:
    plain = Settings(data_dir=tmp_path)
    for table in (late.SENTENCES, late.TURNS, late.CHUNKS):
        made = [changed(plain, change).model_dump_json() for change in table.values()]
        assert len(set(made)) == len(made)


def test_a_section_is_replaced_as_a_whole(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    report.replace(page, "late", "old")
    page.write_text(page.read_text() + "\nmine\n")
    report.replace(page, "late", "new")
    text = page.read_text()
    assert "<!-- eval:late:begin -->\nnew\n<!-- eval:late:end -->" in text
    assert "old" not in text
    assert "mine" in text
    page.write_text(text.replace("<!-- eval:late:end -->", ""))
    with pytest.raises(EvalError, match="put it back"):
        report.replace(page, "late", "newer")


def test_data_that_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "build_embedder", lambda settings: ReadingEmbedder())
    monkeypatch.setenv("LETOPIS_CACHE_DIR", str(tmp_path))
    assert late.main(["--data", str(tmp_path / "none")]) == 1
    assert "there is no data folder" in capsys.readouterr().err
