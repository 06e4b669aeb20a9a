"""Rows of tables as lines: whichever lines a chunk holds, each names its columns."""

import pytest

from chunking.fixed import fixed
from chunking.tokens import tiktoken_spans
from indexing.errors import SourceError
from indexing.formats.delimited import find_separator, parse_csv
from indexing.formats.table import row_lines
from indexing.limits import DEFAULTS

HEAD = ("Код", "Цена", "Срок")


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([], []),
        ([("", " ")], []),
        ([HEAD], ["Код | Цена | Срок"]),
        ([HEAD, ("BX-1", "10", "")], ["Код: BX-1; Цена: 10"]),
        ([HEAD, ("BX-1", "", "3 дня")], ["Код: BX-1; Срок: 3 дня"]),
        # A title above, and a column of row names without a name of its own.
        ([("Прайс",), HEAD, ("BX-1", "10", "2")], ["Прайс", "Код: BX-1; Цена: 10; Срок: 2"]),
        ([("Прайс", "", ""), HEAD, ("A", "1", "2")], ["Прайс", "Код: A; Цена: 1; Срок: 2"]),
        ([("", "2024", "2025"), ("Москва", "10", "12")], ["Москва; 2024: 10; 2025: 12"]),
        # No header: numbers in the first row, or two columns of words.
        ([("BX-1", "10", "3"), ("BX-2", "20", "4")], ["BX-1 | 10 | 3", "BX-2 | 20 | 4"]),
        ([("Заказчик", "ООО «Вега»"), ("Дата", "в мае")], ["Заказчик: ООО «Вега»", "Дата: в мае"]),
        (
            [("Код", "Цена"), ("BX-1", "1 250,50 ₽"), ("BX-2", "5 %")],
            ["Код: BX-1; Цена: 1 250,50 ₽", "Код: BX-2; Цена: 5 %"],
        ),
        (
            [("Заказчик", "ООО «Вега»"), ("Договор", "17/2")],
            ["Заказчик: ООО «Вега»", "Договор: 17/2"],
        ),
        ([("слово",), ("другое",)], ["слово", "другое"]),
        # Longer rows than the header keep what they have.
        ([HEAD, ("A", "1", "2", "и ещё")], ["A | 1 | 2 | и ещё"]),
        ([("a\n b", "c\td")], ["a b: c d"]),
    ],
)
def test_rows_become_lines(rows: list[tuple[str, ...]], lines: list[str]) -> None:
    if rows and rows[0] == HEAD and any(len(row) > 3 for row in rows):
        lines = ["Код | Цена | Срок", *lines]
    assert list(row_lines(rows)) == lines


def test_a_stated_header_is_believed() -> None:
    rows = [("Год 1", "10"), ("a", "b", "c")]
    assert list(row_lines(rows, header=True)) == ["Год 1: a; 10: b; c"]
    assert list(row_lines(rows, header=False)) == ["Год 1: 10", "a | b | c"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(separator: str) -> None:
    rows = ["код", "цена, руб.", "срок"], ["BX-1", "10,50", "3 дня; склад"], ["BX-2", "7,0", "-"]
    text = "\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
    assert find_separator(text) == separator
    assert parse_csv(text, DEFAULTS).text == (
        "код: BX-1; цена, руб.: 10,50; срок: 3 дня; склад\n\nкод: BX-2; цена, руб.: 7,0; срок: -"
    )


def test_a_csv_without_names_keeps_its_rows() -> None:
    assert parse_csv("BX-1;10\nBX-2;20\n", DEFAULTS).text == "BX-1: 10\n\nBX-2: 20"


def test_lines_without_a_separator_are_plain_text() -> None:
    for text in ("слово\nдругое, слово\nи ещё\n", "имя\nАнна\nБорис\n"):
        assert parse_csv(text, DEFAULTS).text == text


def test_quotes_that_never_end_are_refused_with_the_line() -> None:
    with pytest.raises(SourceError, match=r"^not a table, line \d+: field larger"):
        parse_csv('a;b\n1;"' + "x\n" * 1_000_000, DEFAULTS)


def test_every_chunk_of_a_long_table_names_its_columns() -> None:
    rows = "\n".join(f"BX-{i};Датчик. Тип {i}, новый;{i * 10}" for i in range(400))
    document = parse_csv(f"Код;Описание;Цена\n{rows}\n", DEFAULTS)
    chunks = fixed(document, tiktoken_spans(), 256, 64)
    assert len(chunks) > 20
    for chunk in chunks:
        # What the overlap repeats may start inside a row that the chunk before holds whole.
        for line in chunk.text.split("\n\n")[1:]:
            assert line.startswith("Код: BX-")
            assert "; Описание: Датчик. Тип " in line
            assert "; Цена: " in line
