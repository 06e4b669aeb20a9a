"""Documents of every format, made here, in Russian and English: what the parsers are tested on."""

import csv
import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from functools import cache
from pathlib import Path

import docx
import fontpkg_pt_sans
import openpyxl
import pptx
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement
from pptx.util import Inches
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

Rows = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Story:
    """What a sample says: two chapters, one on each page, and a table in the second."""

    title: str
    chapters: tuple[tuple[str, str], ...]
    table: Rows
    lines: tuple[str, ...]


RU = Story(
    "Регламент поверки",
    (
        (
            "Общие положения",
            "Датчик проверяют раз в год. Если показания расходятся больше чем на два процента, "
            "его снимают и отправляют в поверку. Акт подписывает начальник смены.",
        ),
        ("Цены и сроки", "Цены указаны без налога и действуют до конца квартала."),
    ),
    (
        ("Код", "Цена", "Срок поставки"),
        ("BX-4471-A", "1 250", "3 дня"),
        ("BX-4472-B", "980", "две недели"),
        ("Щуп №7", "", "месяц"),
    ),
    (
        "Код: BX-4471-A; Цена: 1 250; Срок поставки: 3 дня",
        "Код: BX-4472-B; Цена: 980; Срок поставки: две недели",
        "Код: Щуп №7; Срок поставки: месяц",
    ),
)
EN = Story(
    "Calibration rules",
    (
        (
            "General",
            "The sensor is checked once a year. If the readings differ by more than two per cent, "
            "it is taken down and sent back. The shift lead signs the form.",
        ),
        ("Prices and terms", "Prices are net and hold until the end of the quarter."),
    ),
    (
        ("Code", "Price", "Delivery"),
        ("BX-4471-A", "1250", "3 days"),
        ("BX-4472-B", "980", "two weeks"),
        ("Probe 7", "", "a month"),
    ),
    (
        "Code: BX-4471-A; Price: 1250; Delivery: 3 days",
        "Code: BX-4472-B; Price: 980; Delivery: two weeks",
        "Code: Probe 7; Delivery: a month",
    ),
)
STORIES = {"ru": RU, "en": EN}


def make_pdf(story: Story, password: str = "", text: bool = True) -> bytes:
    """A page a chapter; without text, a picture of one."""
    fonts()
    from reportlab.lib.pdfencrypt import StandardEncryption

    body = ParagraphStyle("body", fontName="PT", fontSize=10, leading=13)
    head = ParagraphStyle("head", fontName="PT", fontSize=18, leading=24)
    flow: list[object] = []
    for heading, paragraph in story.chapters:
        flow += [Paragraph(heading, head), Paragraph(paragraph, body), PageBreak()]
    flow[-1] = Table(
        list(story.table),
        style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONTNAME", (0, 0), (-1, -1), "PT")],
    )
    if not text:
        flow = [_picture()]
    out = io.BytesIO()
    lock = StandardEncryption(password) if password else None
    SimpleDocTemplate(out, pagesize=A4, title=story.title, encrypt=lock, invariant=1).build(flow)
    return out.getvalue()


def _picture() -> object:
    from PIL import Image as Pixels
    from reportlab.platypus import Image

    raw = io.BytesIO()
    Pixels.new("RGB", (64, 64), "gray").save(raw, "PNG")
    return Image(io.BytesIO(raw.getvalue()), 300, 300)


@cache
def fonts() -> None:
    file = Path(fontpkg_pt_sans.__file__).parent / "files" / "PT_Sans-Web-Regular.ttf"
    pdfmetrics.registerFont(TTFont("PT", str(file)))


def make_docx(story: Story) -> bytes:
    """Headings by style, a page break between chapters."""
    made = docx.Document()
    made.core_properties.title = story.title
    for number, (heading, paragraph) in enumerate(story.chapters):
        if number:
            run = made.add_paragraph().add_run()
            run.add_break(WD_BREAK.PAGE)
            run._r.append(OxmlElement("w:lastRenderedPageBreak"))  # as Word notes it
        made.add_heading(heading, 1)
        made.add_paragraph(paragraph)
    table = made.add_table(len(story.table), len(story.table[0]))
    for row, values in zip(table.rows, story.table, strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    return _saved(made.save)


def make_pptx(story: Story) -> bytes:
    """A slide a chapter, the table on the second, notes on the first."""
    made = pptx.Presentation()
    made.core_properties.title = story.title
    for heading, paragraph in story.chapters:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = heading
        slide.placeholders[1].text = paragraph
    made.slides[0].notes_slide.notes_text_frame.text = story.title + "!"
    size = (len(story.table), len(story.table[0]))
    place = (Inches(1), Inches(3), Inches(6), Inches(1))
    table = slide.shapes.add_table(*size, *place).table
    for i, values in enumerate(story.table):
        for j, value in enumerate(values):
            table.cell(i, j).text = value
    return _saved(made.save)


def make_xlsx(story: Story) -> bytes:
    """A sheet a chapter, the table on the second."""
    book = openpyxl.Workbook()
    book.properties.title = story.title
    for number, (heading, paragraph) in enumerate(story.chapters):
        sheet = book.create_sheet(heading, number)
        sheet.append([paragraph])
    for values in story.table:
        sheet.append(list(values))
    book.remove(book.worksheets[-1])
    return _saved(book.save)


def make_html(story: Story) -> bytes:
    """A page that names its columns."""
    chapters = "".join(f"<h1>{head}</h1><p>{text}</p>" for head, text in story.chapters)
    names = "".join(f"<th>{name}</th>" for name in story.table[0])
    rows = "".join(
        "<tr>" + "".join(f"<td>{value}</td>" for value in row) + "</tr>" for row in story.table[1:]
    )
    page = f"<table><tr>{names}</tr>{rows}</table>"
    head = f'<head><meta charset="utf-8"><title>{story.title}</title></head>'
    return f"<!doctype html><html>{head}<body>{chapters}{page}</body></html>".encode()


def make_markdown(story: Story) -> bytes:
    """A file with metadata at its front."""
    chapters = "".join(f"# {head}\n\n{text}\n\n" for head, text in story.chapters)
    rows = ["| " + " | ".join(row) + " |" for row in story.table]
    rows.insert(1, "|---" * len(story.table[0]) + "|")
    return f"---\ntitle: {story.title}\n---\n\n{chapters}".encode() + "\n".join(rows).encode()


def make_csv(story: Story) -> bytes:
    """The table alone."""
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows(story.table)
    return out.getvalue().encode("cp1251")


def make_text(story: Story) -> bytes:
    """Paragraphs in an old encoding."""
    text = "\n\n".join(f"{head}\n\n{text}" for head, text in story.chapters)
    return f"{story.title}\n\n{text}\n".encode("cp1251")


def make_mail(story: Story) -> bytes:
    """A reply with the table as a PDF."""
    mail = EmailMessage()
    mail["Subject"], mail["From"] = story.title, "Anna <anna@example.org>"
    mail["To"], mail["Date"] = "boris@example.org", "Fri, 08 May 2026 10:00:00 +0300"
    mail.set_content("\n\n".join(text for _, text in story.chapters) + "\n\n> quoted\n")
    mail.add_attachment(
        make_csv(story), maintype="text", subtype="csv", filename="prices.csv", cte="base64"
    )
    mail.set_boundary("part-of-the-sample")
    return mail.as_bytes()


def make_rtf(story: Story) -> bytes:
    """Escaped in code page 1251, as Word writes it."""

    def escaped(text: str) -> str:
        return "".join(c if c < "\x7f" else f"\\u{ord(c)}?" for c in text)

    old = "".join(f"\\'{b:02x}" if b > 127 else chr(b) for b in story.title.encode("cp1251"))
    blocks = "\\par\\par ".join(escaped(part) for pair in story.chapters for part in pair)
    rows = "".join(
        "\\trowd " + "".join(f"{escaped(cell)}\\cell " for cell in row) + "\\row "
        for row in story.table
    )
    head = "{\\rtf1\\ansi\\ansicpg1251{\\info{\\title " + old + "}}"
    return f"{head}{{\\fonttbl{{\\f0\\fcharset204 Arial;}}}}{blocks}\\par {rows}}}".encode("ascii")


def make_epub(story: Story) -> bytes:
    """A chapter a file."""
    files = {"mimetype": "application/epub+zip"}
    files["META-INF/container.xml"] = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    items = "".join(
        f'<item id="c{i}" href="c%20{i}.xhtml" media-type="application/xhtml+xml"/>'
        for i in range(len(story.chapters))
    )
    order = "".join(f'<itemref idref="c{i}"/>' for i in range(len(story.chapters)))
    files["OEBPS/book.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{story.title}</dc:title></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    table = make_html(story).decode().partition("<table>")[2].partition("</table>")[0]
    for i, (head, text) in enumerate(story.chapters):
        page = f"<h1>{head}</h1><p>{text}</p>" + (f"<table>{table}</table>" if i else "")
        files[f"OEBPS/c {i}.xhtml"] = f"<html><body>{page}</body></html>"
    return make_zip(files)


def make_odt(story: Story) -> bytes:
    """What LibreOffice writes, in short."""
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{v}</text:p></table:table-cell>" for v in row)
        + "</table:table-row>"
        for row in story.table
    )
    blocks = "".join(
        f'<text:h text:outline-level="1">{head}</text:h><text:p>{text}</text:p>'
        for head, text in story.chapters
    )
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return make_zip(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {names}><office:body><office:text>{blocks}"
            f"<table:table>{rows}</table:table></office:text></office:body>"
            "</office:document-content>",
            "meta.xml": f"<office:document-meta {names} {dc}><office:meta>"
            f"<dc:title>{story.title}</dc:title></office:meta></office:document-meta>",
        }
    )


def make_zip(files: dict[str, str]) -> bytes:
    """A container with these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text.encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


MAKERS: dict[str, Callable[[Story], bytes]] = {
    ".pdf": make_pdf,
    ".docx": make_docx,
    ".pptx": make_pptx,
    ".xlsx": make_xlsx,
    ".html": make_html,
    ".md": make_markdown,
    ".csv": make_csv,
    ".txt": make_text,
    ".eml": make_mail,
    ".rtf": make_rtf,
    ".epub": make_epub,
    ".odt": make_odt,
}


@cache
def sample(suffix: str, language: str = "ru") -> bytes:
    """The file of a format in a language; made once."""
    return MAKERS[suffix](STORIES[language])
