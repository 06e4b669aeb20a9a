"""Files that would hang, crash or flood a parser, and what keeps one from doing harm."""

import io
import os
import signal
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from indexing.errors import SourceError
from indexing.limits import MB, Limits
from indexing.parse import Parser, read_bytes
from indexing.sandbox import Worker
from indexing.worker import refuse
from tests.indexing.samples import MAKERS, STORIES, make_pdf, make_zip, sample

SLOW = b"[" * MB
"""Markdown whose links take hours to look for."""


@pytest.fixture
def parser() -> Iterator[Parser]:
    with Parser() as opened:
        yield opened


# files that are none


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe, loop, folder = tmp_path / "pipe.txt", tmp_path / "loop.txt", tmp_path / "folder"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    folder.mkdir()
    closed = tmp_path / "closed.txt"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    reasons = {
        tmp_path / "none.md": "no such file",
        pipe: "not a file: a named pipe",
        loop: "a link that leads to itself",
        folder: "a folder that cannot be opened",
        tmp_path / "socket": "not a file: a socket",
        Path("/dev/zero"): "not a file: a device",
        closed / "below": "no such file",
    }
    for path, reason in reasons.items():
        with pytest.raises(SourceError, match=f"^{reason}"):
            read_bytes(path)


def test_a_csv_of_200_mb_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "big.csv"
    with file.open("wb") as opened:
        opened.truncate(200 * MB)
    with pytest.raises(SourceError, match=r"^larger than 100 MB$"):
        read_bytes(file)
    with pytest.raises(SourceError, match=r"^larger than 0.5 MB$"):
        Parser(Limits(bytes=MB // 2)).parse_bytes(b"x" * MB, "", "a.txt")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text("first line\n")

    @dataclass(frozen=True, slots=True)
    class Writing(Limits):
        """Writes to the file between the look at it and the reading of it."""

        def check_bytes(self, size: int) -> None:
            file.write_text("first line\nsecond line\n")

    with pytest.raises(SourceError, match=r"^changed while it was read"):
        read_bytes(file, Writing())


# limits


def test_a_parse_that_takes_too_long_is_stopped_and_the_next_file_is_read() -> None:
    with Parser(Limits(seconds=2)) as parser:
        with pytest.raises(SourceError, match=r"^takes longer than 2 seconds$"):
            parser.parse_bytes(SLOW, "", "a.md")
        assert parser.parse_bytes(sample(".pdf"), "", "a.pdf").pages


def test_memory_is_bounded() -> None:
    data = b"code;price;note\n" + b"BX-1;10;a note\n" * 2_000_000
    with (
        Parser(Limits(memory=64 * MB)) as parser,
        pytest.raises(SourceError, match=r"^needs more than 64 MB of memory$"),
    ):
        parser.parse_bytes(data, "", "a.csv")


def test_a_crash_is_the_file_s_own_and_the_next_gets_a_new_worker(parser: Parser) -> None:
    worker = Worker()
    threading.Timer(1, os.kill, (worker.pid, signal.SIGSEGV)).start()
    with pytest.raises(SourceError, match=r"^crashes its parser \(SIGSEGV\)$"):
        worker.parse(SLOW, ".md", "", Limits())
    assert not worker.alive


def test_a_worker_that_dies_while_idle_is_replaced(parser: Parser) -> None:
    first = parser.parse_bytes(sample(".pdf"), "", "a.pdf")
    (worker,) = parser._idle
    os.kill(worker.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
    assert parser.parse_bytes(sample(".pdf"), "", "a.pdf") == first


def test_pages_are_bounded() -> None:
    limits = Limits(pages=1)
    names = {".pdf": "pages", ".pptx": "slides", ".xlsx": "sheets", ".epub": "chapters"}
    with Parser(limits) as parser:
        for suffix, name in names.items():
            with pytest.raises(SourceError, match=rf"^2 {name}, the limit is 1$"):
                parser.parse_bytes(sample(suffix), "", f"a{suffix}")


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx", ".epub", ".odt"])
def test_a_bomb_is_not_unpacked(suffix: str, parser: Parser) -> None:
    out = io.BytesIO(sample(suffix))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("padding.bin", bytes(20 * MB))
    small = Parser(Limits(unpacked=10 * MB))
    with small, pytest.raises(SourceError, match=r"^unpacks to more than 10 MB$"):
        small.parse_bytes(out.getvalue(), "", f"a{suffix}")
    assert parser.parse_bytes(out.getvalue(), "", f"a{suffix}").text


def test_a_bomb_that_lies_about_its_size_is_refused(parser: Parser) -> None:
    page = f"<html><body>{'a' * 5 * MB}</body></html>"
    files = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": page}
    honest = make_zip(files)
    size = len(page).to_bytes(4, "little")
    assert honest.count(size) == 2
    with pytest.raises(SourceError, match=r"^damaged container"):
        parser.parse_bytes(honest.replace(size, (64).to_bytes(4, "little")), "", "a.odt")


def test_an_xml_bomb_is_refused(parser: Parser) -> None:
    lines = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "boom">{lines}]><a>&e11;</a>'
    files = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": bomb}
    with pytest.raises(SourceError, match=r"^damaged container: EntitiesForbidden"):
        parser.parse_bytes(make_zip(files), "", "a.odt")


# what asks for a person


def test_an_encrypted_pdf_says_so(parser: Parser) -> None:
    locked = make_pdf(STORIES["ru"], password="secret")
    with pytest.raises(SourceError, match=r"^encrypted: it asks for a password"):
        parser.parse_bytes(locked, "", "a.pdf")


def test_a_scanned_pdf_says_so(parser: Parser) -> None:
    with pytest.raises(SourceError, match=r"^no text: scanned pages, it needs OCR first$"):
        parser.parse_bytes(make_pdf(STORIES["ru"], text=False), "", "a.pdf")


@pytest.mark.parametrize(
    ("suffix", "module", "kind"),
    [
        (".pdf", "pypdfium2", "PDF"),
        (".docx", "unstructured.partition.docx", "DOCX"),
        (".pptx", "unstructured.partition.pptx", "PPTX"),
        (".xlsx", "python_calamine", "XLSX"),
        (".rtf", "striprtf.striprtf", "RTF"),
    ],
)
def test_a_missing_extra_says_what_to_install(
    suffix: str, module: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from indexing.formats.readers import read

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SourceError, match=rf"^{kind} needs: pip install 'letopis\[documents\]'$"):
        read(sample(suffix), suffix)


# the worker


def test_the_worker_gets_no_secrets(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETOPIS_STORE_API_KEY", "canary")
    parser.parse_bytes(sample(".pdf"), "", "a.pdf")
    environment = Path(f"/proc/{parser._idle[0].pid}/environ").read_bytes()
    assert b"PATH=" in environment
    assert b"canary" not in environment


@pytest.mark.parametrize("event", ["socket.connect", "subprocess.Popen", "os.system"])
def test_the_worker_reaches_no_network_and_starts_nothing(event: str) -> None:
    with pytest.raises(PermissionError):
        refuse(event, ())
    refuse("open", ())


def test_threads_share_a_parser(parser: Parser) -> None:
    suffixes = [suffix for suffix in MAKERS if suffix != ".csv"] * 3
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda s: parser.parse_bytes(sample(s), s, f"a{s}"), suffixes))
    assert [document.source_id for document in found] == suffixes
    assert [document.uri for document in found] == [f"a{suffix}" for suffix in suffixes]
    assert found[: len(suffixes) // 3] == found[-len(suffixes) // 3 :]
    assert len(parser._idle) <= 3


def test_small_texts_need_no_worker(parser: Parser) -> None:
    for suffix in (".md", ".txt", ".html", ".csv"):
        parser.parse_bytes(sample(suffix), "", f"a{suffix}")
    assert not parser._idle


def test_closing_ends_the_workers() -> None:
    with Parser() as parser:
        parser.parse_bytes(sample(".pdf"), "", "a.pdf")
        (worker,) = parser._idle
    assert not worker.alive


def test_the_ending_of_an_address_counts(parser: Parser) -> None:
    document = parser.parse_bytes(b"a;b\n1;2\n", "id", "https://example.org/a.csv?v=7")
    assert (document.source_id, document.uri) == ("id", "https://example.org/a.csv?v=7")
    assert document.text == "a: 1; b: 2"


def test_a_file_is_read_and_parsed(tmp_path: Path, parser: Parser) -> None:
    file = tmp_path / "отчёт.PDF"
    file.write_bytes(sample(".pdf"))
    document = parser.parse(file, "id", file.name)
    assert document.title == STORIES["ru"].title
    with pytest.raises(SourceError, match=r"^no such file$"):
        parser.parse(tmp_path / "none.pdf", "id", "none.pdf")


def test_an_interrupted_parse_leaves_no_answer_for_the_next_file(parser: Parser) -> None:
    parser.parse_bytes(sample(".pdf"), "", "a.pdf")
    (worker,) = parser._idle
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        parser.parse_bytes(SLOW, "", "slow.md")
    assert not worker.alive
    assert parser.parse_bytes(sample(".pdf"), "", "a.pdf").title == STORIES["ru"].title
