"""What is kept of each format: title, headings, pages, tables; and each format's own oddities."""

import io
from collections.abc import Callable
from datetime import UTC, date, datetime
from email.message import EmailMessage
from typing import Any

import docx
import openpyxl
import pytest
import xlwt
from docx.oxml import parse_xml
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from chunking.fixed import fixed
from chunking.tokens import tiktoken_spans
from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.readers import read
from tests.indexing.samples import MAKERS, STORIES, fonts, make_zip, sample

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

PAGED = {".pdf", ".docx", ".pptx", ".xlsx"}
WITH_HEADINGS = {".pdf", ".docx", ".pptx", ".xlsx", ".html", ".md", ".epub", ".odt"}
TITLED = set(MAKERS) - {".csv", ".txt"}
WITH_TABLE = set(MAKERS) - {".txt"}


@pytest.fixture(scope="module")
def documents() -> dict[tuple[str, str], Document]:
    return {(s, lang): read(sample(s, lang), s) for s in MAKERS for lang in STORIES}


Documents = dict[tuple[str, str], Document]
every = pytest.mark.parametrize(
    ("suffix", "language"), [(suffix, language) for suffix in MAKERS for language in STORIES]
)


def flat(text: str) -> str:
    return " ".join(text.split())


@every
def test_a_title_is_the_stated_one(suffix: str, language: str, documents: Documents) -> None:
    title = STORIES[language].title if suffix in TITLED else ""
    assert documents[suffix, language].title == title


@every
def test_text_and_tables_are_kept(suffix: str, language: str, documents: Documents) -> None:
    story, document = STORIES[language], documents[suffix, language]
    if suffix != ".csv":
        for _, paragraph in story.chapters:
            assert paragraph in flat(document.text)
    if suffix in WITH_TABLE:
        lines = [line.strip() for line in document.text.split("\n\n")]
        assert [line for line in lines if line in story.lines] == list(story.lines)


@every
def test_headings_are_found(suffix: str, language: str, documents: Documents) -> None:
    document = documents[suffix, language]
    heads = [head for head, _ in STORIES[language].chapters] if suffix in WITH_HEADINGS else []
    if suffix == ".eml":
        heads = ["prices.csv"]
    assert [(h.level, h.text) for h in document.headings] == [(1, head) for head in heads]
    for heading in document.headings:
        assert document.text[heading.start :].lstrip("# ").startswith(heading.text)


@every
def test_pages_start_where_their_text_does(
    suffix: str, language: str, documents: Documents
) -> None:
    document = documents[suffix, language]
    if suffix not in PAGED:
        assert document.pages == ()
        return
    second = document.headings[1].start
    assert document.pages == (0, second)
    last = fixed(document, tiktoken_spans(), 24, 0)[-1]
    assert (last.page, last.headings) == (2, (document.headings[1].text,))


def test_a_mail_has_a_date_and_says_who_wrote_it(documents: Documents) -> None:
    document = documents[".eml", "ru"]
    assert document.at == datetime(2026, 5, 8, 7, tzinfo=UTC)
    assert document.text.startswith("From: Anna <anna@example.org>\nTo: boris@example.org\nDate: ")
    assert "> quoted" in document.text


# PDF


def pdf(draw: Callable[[Canvas], None]) -> Document:
    fonts()
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    canvas.setFont("PT", 10)
    draw(canvas)
    canvas.save()
    return read(out.getvalue(), ".pdf")


def test_bookmarks_are_the_headings_of_a_pdf() -> None:
    def draw(canvas: Canvas) -> None:
        for level, name in enumerate(["Глава 1", "Раздел 1.1", "Пункт"]):
            canvas.bookmarkPage(name)
            canvas.addOutlineEntry(name.upper(), name, level)
            canvas.drawString(72, 700, name)
            canvas.drawString(72, 680, "Текст под ней, того же размера.")
            canvas.showPage()
            canvas.setFont("PT", 10)

    document = pdf(draw)
    found = [(h.level, h.text) for h in document.headings]
    assert found == [(1, "Глава 1"), (2, "Раздел 1.1"), (3, "Пункт")]
    assert len(document.pages) == 3


def test_a_blank_page_counts() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Первая страница.")
        canvas.showPage()
        canvas.showPage()
        canvas.setFont("PT", 10)
        canvas.drawString(72, 700, "Третья страница.")

    document = pdf(draw)
    third = document.text.index("Третья")
    assert document.pages == (0, third, third)
    assert fixed(document, tiktoken_spans(), 6, 0)[-1].page == 3


def test_words_cut_at_the_end_of_a_line_are_joined() -> None:
    def draw(canvas: Canvas) -> None:
        for y, line in ((700, "Проверяют обору-"), (688, "дование завода Юж-"), (676, "Урал.")):
            canvas.drawString(72, y, line)

    assert flat(pdf(draw).text) == "Проверяют оборудование завода Юж-Урал."


def test_a_pdf_table_with_a_merged_cell_keeps_every_word() -> None:
    fonts()
    rows = [
        ["Код", "Цена", "Срок поставки"],
        ["Датчики давления всех исполнений", "", ""],
        ["BX-1", "10", "3 дня"],
        ["BX-2", "20", "неделя"],
    ]
    style = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("FONTNAME", (0, 0), (-1, -1), "PT"),
        ("SPAN", (0, 1), (-1, 1)),
    ]
    text = ParagraphStyle("body", fontName="PT")
    out = io.BytesIO()
    SimpleDocTemplate(out).build(
        [Paragraph("До таблицы.", text), Table(rows, style=style), Paragraph("После.", text)]
    )
    assert read(out.getvalue(), ".pdf").text.split("\n\n") == [
        "До таблицы.",
        "Код: Датчики давления всех исполнений",
        "Код: BX-1; Цена: 10; Срок поставки: 3 дня",
        "Код: BX-2; Цена: 20; Срок поставки: неделя",
        "После.",
    ]


def test_a_pdf_without_any_text_says_so() -> None:
    with pytest.raises(SourceError, match=r"^no text in it$"):
        pdf(lambda canvas: canvas.line(0, 0, 100, 100))


@pytest.mark.parametrize("title", ["untitled", "Microsoft Word - отчёт.docx", "report_v2.doc"])
def test_a_title_that_a_program_made_up_is_none(title: str) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setTitle(title)
        canvas.drawString(72, 700, "Текст без заголовков.")

    assert pdf(draw).title == ""


# DOCX


def word(change: Callable[[Any], None]) -> Document:
    made = docx.Document()
    change(made)
    out = io.BytesIO()
    made.save(out)
    return read(out.getvalue(), ".docx")


def test_tracked_changes_are_accepted_and_forms_and_frames_are_read() -> None:
    def change(made: Any) -> None:
        line = made.add_paragraph("Срок поставки ")._p
        line.append(parse_xml(f"<w:del {W}><w:r><w:delText>неделя</w:delText></w:r></w:del>"))
        line.append(parse_xml(f"<w:ins {W}><w:r><w:t>месяц</w:t></w:r></w:ins>"))
        line.append(
            parse_xml(
                f"<w:r {W}><w:pict><w:txbxContent><w:p><w:r><w:t>Текст в рамке.</w:t></w:r></w:p>"
                "</w:txbxContent></w:pict></w:r>"
            )
        )
        form = "<w:sdtPr/><w:sdtContent><w:p><w:r><w:t>Поле формы.</w:t></w:r></w:p></w:sdtContent>"
        made.element.body.insert(0, parse_xml(f"<w:sdt {W}>{form}</w:sdt>"))

    text = word(change).text
    assert text.split("\n\n") == ["Поле формы.", "Срок поставки месяц", "Текст в рамке."]


def test_a_footnote_follows_its_paragraph() -> None:
    def change(made: Any) -> None:
        line = made.add_paragraph("Сначала это.")._p
        line.append(parse_xml(f'<w:r {W}><w:footnoteReference w:id="2"/></w:r>'))
        made.add_paragraph("Потом то.")

    made = docx.Document()
    change(made)
    out = io.BytesIO()
    made.save(out)
    note = (
        f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>Сноска.</w:t></w:r></w:p>'
        "</w:footnote></w:footnotes>"
    )
    import zipfile

    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("word/footnotes.xml", note)
    assert read(out.getvalue(), ".docx").text.split("\n\n") == [
        "Сначала это.",
        "Сноска.",
        "Потом то.",
    ]


def test_heading_levels_make_a_path() -> None:
    def change(made: Any) -> None:
        made.add_heading("Глава", 1)
        made.add_heading("Раздел", 2)
        made.add_paragraph("Текст.", style="List Bullet")

    document = word(change)
    assert [(h.level, h.text) for h in document.headings] == [(1, "Глава"), (2, "Раздел")]
    (chunk,) = fixed(document, tiktoken_spans(), 64, 0)
    assert document.title == "Глава"
    assert chunk.page == 0


# spreadsheets


def workbook(change: Callable[[Any], None]) -> Document:
    book = openpyxl.Workbook()
    change(book.active)
    out = io.BytesIO()
    book.save(out)
    return read(out.getvalue(), ".xlsx")


def test_cells_are_written_as_a_person_would() -> None:
    def change(sheet: Any) -> None:
        sheet.title = "Склад"
        sheet["C3"], sheet["D3"], sheet["E3"] = "Товар", "Дата", "Есть"
        sheet["C4"], sheet["D4"], sheet["E4"] = "Щуп", date(2026, 5, 8), True
        sheet["C5"], sheet["D5"], sheet["E5"] = 10.0, datetime(2026, 5, 8, 12, 30), 0.1

    assert workbook(change).text.split("\n\n") == [
        "Склад",
        "Товар: Щуп; Дата: 2026-05-08; Есть: yes",
        "Товар: 10; Дата: 2026-05-08 12:30:00; Есть: 0.1",
    ]


def test_a_row_name_merged_over_rows_is_in_each() -> None:
    def change(sheet: Any) -> None:
        for row in (["Город", "Год", "Итог"], ["Москва", 2024, 10], [None, 2025, 12]):
            sheet.append(row)
        sheet.merge_cells("A2:A3")

    assert workbook(change).text.split("\n\n")[1:] == [
        "Город: Москва; Год: 2024; Итог: 10",
        "Город: Москва; Год: 2025; Итог: 12",
    ]


def test_an_old_workbook_is_read() -> None:
    book = xlwt.Workbook(encoding="utf-8")
    sheet = book.add_sheet("Лист")
    for i, row in enumerate([("Код", "Цена", "Срок"), ("BX-1", 10, "день")]):
        for j, value in enumerate(row):
            sheet.write(i, j, value)
    out = io.BytesIO()
    book.save(out)
    document = read(out.getvalue(), ".xls")
    assert document.text == "Лист\n\nКод: BX-1; Цена: 10; Срок: день"


def test_an_empty_workbook_says_so() -> None:
    with pytest.raises(SourceError, match=r"^no text in it$"):
        workbook(lambda sheet: None)


# mail


def mail(**fields: str) -> EmailMessage:
    made = EmailMessage()
    for name, value in ({"Subject": "Счёт", "From": "a@b.example"} | fields).items():
        made[name] = value
    return made


def test_headers_in_raw_bytes_of_an_old_encoding_are_read() -> None:
    body = "Счёт оплачен вчера вечером, акт подписан.".encode("koi8-r")
    subject = "Оплата счёта за поставку датчиков".encode("koi8-r")
    raw = b"From: a@b.example\r\nSubject: " + subject + b"\r\nDate: no date\r\n"
    raw += b"Content-Type: text/plain; charset=koi8-r\r\n\r\n" + body
    document = read(raw, ".eml")
    assert document.title == "Оплата счёта за поставку датчиков"
    assert document.text.endswith("\n\nСчёт оплачен вчера вечером, акт подписан.")
    assert document.at is None


def test_of_two_forms_of_a_body_one_is_read() -> None:
    made = mail()
    made.set_content("Простой текст.\n")
    made.add_alternative("<p>Простой текст.</p>", subtype="html")
    assert read(made.as_bytes(), ".eml").text == "From: a@b.example\n\nПростой текст."


def test_a_body_in_html_is_read_with_its_headings() -> None:
    made = mail()
    made.set_content("<h2>Итоги</h2><p>Всё готово.</p>", subtype="html")
    document = read(made.as_bytes(), ".eml")
    assert [h.text for h in document.headings] == ["Итоги"]
    assert document.text[document.headings[0].start :] == "Итоги\n\nВсё готово."


def test_attachments_are_read_or_named_with_the_reason() -> None:
    inner = mail(Subject="Внутри")
    inner.set_content("Письмо в письме.\n")
    made = mail()
    made.set_content("См. вложения.\n")
    made.add_attachment(sample(".pdf"), maintype="application", subtype="pdf", filename="акт.pdf")
    made.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="a.png")
    made.add_attachment(inner)
    document = read(made.as_bytes(), ".eml")
    heads = [(h.level, h.text) for h in document.headings]
    chapters = [head for head, _ in STORIES["ru"].chapters]
    assert heads == [(1, "акт.pdf"), *((2, head) for head in chapters), (1, "message.eml")]
    assert STORIES["ru"].lines[0] in document.text
    assert "Attachment: a.png (not read: format not supported: a PNG image)" in document.text
    assert document.text.endswith("Письмо в письме.")
    assert document.title == "Счёт"


def test_mails_in_mails_end() -> None:
    made = mail()
    made.set_content("Самое глубокое.\n")
    for _ in range(6):
        outer = mail()
        outer.set_content("Обёртка.\n")
        outer.add_attachment(made)
        made = outer
    assert "not read: more than 3 mails inside each other" in read(made.as_bytes(), ".eml").text


def test_a_mail_without_text_says_so() -> None:
    with pytest.raises(SourceError, match=r"^a mail without text$"):
        read(b"From: a@b.example\nTo: c@d.example\nSubject: x\n\n", ".eml")


# HTML, Markdown, EPUB, ODT, RTF


def test_cells_over_rows_and_columns_are_in_each() -> None:
    page = (
        "<table><tr><th>Город</th><th>Год</th><th>План</th><th>Факт</th></tr>"
        "<tr><td rowspan=2>Москва</td><td>2024</td><td colspan=2>10</td></tr>"
        "<tr><td>2025</td><td>12</td><td>13</td></tr></table>"
    )
    assert read(page.encode(), ".html").text.split("\n\n") == [
        "Город: Москва; Год: 2024; План: 10; Факт: 10",
        "Город: Москва; Год: 2025; План: 12; Факт: 13",
    ]


def test_a_table_of_a_page_that_names_no_columns_stays_as_it_looks() -> None:
    page = "<p>x</p><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    assert read(page.encode(), ".html").text == "x\n\na | b\nc | d"


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "iso-8859-5", "utf-8"])
def test_a_page_is_read_in_the_encoding_that_it_states(encoding: str) -> None:
    page = f'<meta charset="{encoding}"><title>Ёж</title><p>щи'.encode(encoding)
    document = read(page, ".html")
    assert (document.title, document.text) == ("Ёж", "щи")


def test_rows_of_a_markdown_table_name_their_columns() -> None:
    text = "# A\n\n| К | Ц |\n|---|---|\n| BX | 1 |\n| `CX` | 2 |\n\n## B\n\nEnd.\n"
    document = read(text.encode(), ".md")
    assert document.text == "# A\n\nК: BX; Ц: 1\n\nК: `CX`; Ц: 2\n\n## B\n\nEnd.\n"
    assert [document.text[h.start :].split("\n")[0] for h in document.headings] == ["# A", "## B"]


def test_a_book_with_a_missing_chapter_is_refused() -> None:
    import zipfile

    kept = {}
    with zipfile.ZipFile(io.BytesIO(sample(".epub"))) as book:
        for name in book.namelist():
            kept[name] = book.read(name).decode()
    del kept["OEBPS/c 1.xhtml"]
    with pytest.raises(SourceError, match=r"^damaged container: OEBPS/c 1.xhtml is missing$"):
        read(make_zip(kept), ".epub")


def test_rtf_cut_short_is_refused() -> None:
    with pytest.raises(SourceError, match=r"^damaged RTF: it is cut short$"):
        read(sample(".rtf")[:-200], ".rtf")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_text_of_any_unicode_encoding_is_read(encoding: str) -> None:
    text = "Датчик проверяют раз в год. The sensor is checked.\n"
    assert read(text.encode(encoding), ".txt").text == text


# what a file is


@pytest.mark.parametrize(
    ("data", "suffix", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00", ".md", "format not supported: a PNG image"),
        (b"\xff\xd8\xff\xe0\x00", ".pdf", "format not supported: a JPEG image"),
        (b"\x1f\x8b\x08\x00", ".txt", "format not supported: a gzip archive"),
        (b"SQLite format 3\x00\x10", ".csv", "format not supported: a database"),
        (b"\x00\x00\x00\x18ftypmp42", ".docx", "format not supported: a video or a photo"),
        (make_zip({"a.txt": "x"}), ".docx", "format not supported: a ZIP archive"),
        (b"print('hi')\n", ".py", "format not supported: .py"),
        (b"", ".docx", "empty file"),
        (b" \n", ".pdf", "empty file"),
        (b"PK\x03\x04" + bytes(50), ".docx", "damaged container (BadZipFile): cut short?"),
    ],
)
def test_what_is_no_document_is_refused_by_name(data: bytes, suffix: str, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(data, suffix)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        ("WordDocument", "format not supported: Word 97; save it as .docx"),
        ("PowerPoint Document", "format not supported: PowerPoint 97; save it as .pptx"),
        ("EncryptedPackage", "encrypted: it asks for a password"),
    ],
)
def test_old_and_locked_office_files_say_what_to_do(stream: str, reason: str) -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + stream.encode("utf-16-le")
    with pytest.raises(SourceError, match=f"^{reason}"):
        read(data, ".doc")


@pytest.mark.parametrize(
    ("text", "suffix", "media_type", "found"),
    [
        ("<!DOCTYPE html><p>Тело</p>", ".txt", "", "Тело"),
        ("<p>Тело</p>", ".php", "text/html; charset=utf-8", "Тело"),
        ("Без тегов: 2 < 3, и всё.", ".html", "", "Без тегов: 2 < 3, и всё."),
        ("Не письмо вовсе.", ".eml", "", "Не письмо вовсе."),
        ("BM пишет заметки каждый день.", ".txt", "", "BM пишет заметки каждый день."),
        ("MZ — инициалы.", "", "", "MZ — инициалы."),
        (
            "From: A\nTo: B\nDate: today\n\nNotes.",
            ".md",
            "",
            "From: A\nTo: B\nDate: today\n\nNotes.",
        ),
        ("a,b\n1,2\n", ".bin", "text/csv", "a: 1; b: 2"),
    ],
)
def test_bytes_decide_then_the_name(text: str, suffix: str, media_type: str, found: str) -> None:
    assert read(text.encode(), suffix, media_type).text == found
