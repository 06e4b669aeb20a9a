"""2,000 damaged files over all formats: each ends as a document or as a `SourceError`."""

import io
import random
import re
import zipfile
from collections import Counter
from collections.abc import Iterator

import pytest

from indexing.errors import SourceError
from indexing.limits import MB, Limits
from indexing.parse import Parser
from tests.indexing.samples import MAKERS, STORIES, sample

FILES = 2_000
SIGNED = {".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".odt", ".rtf"}
"""Formats whose bytes say what they are."""


@pytest.fixture(scope="module")
def parser() -> Iterator[Parser]:
    with Parser(Limits(seconds=30, memory=1024 * MB, pages=500)) as opened:
        yield opened


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def flipped(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.choice((1, 4, 32, 256))):
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def holed(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    width = chance.randrange(1, 2_000)
    return data[:start] + bytes(min(width, len(data) - start)) + data[start + width :]


def spliced(data: bytes, chance: random.Random) -> bytes:
    other = sample(chance.choice(list(MAKERS)), chance.choice(list(STORIES)))
    return cut(data, chance) + other[chance.randrange(len(other)) :]


def inside(data: bytes, chance: random.Random) -> bytes:
    """Damage one file of a container and pack it again; the file itself where it is none."""
    how = chance.choice((cut, flipped, holed))
    if not data.startswith(b"PK"):
        return how(data, chance)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        hit = chance.choice([file.filename for file in old.infolist() if file.file_size])
        for name in old.namelist():
            held = old.read(name)
            new.writestr(zipfile.ZipInfo(name), how(held, chance) if name == hit else held)
    return out.getvalue()


DAMAGE = {"cut": cut, "flipped": flipped, "holed": holed, "spliced": spliced, "inside": inside}


def outcome(parser: Parser, data: bytes, suffix: str) -> str:
    """Return how a file ended; anything but a document with text or a reason is an error here."""
    try:
        document = parser.parse_bytes(data, "source", f"file{suffix}")
    except SourceError as error:
        reason = str(error)
        assert reason
        assert "crashes its parser" not in reason
        assert "takes longer" not in reason
        return "refused"
    assert document.text.strip()
    assert document.source_id == "source"
    starts = [heading.start for heading in document.headings]
    assert starts == sorted(starts)
    assert list(document.pages) == sorted(document.pages)
    for heading in document.headings:
        line = document.text[heading.start : heading.start + 2_000]
        assert "".join(heading.text.split())[:20] in "".join(line.split())
    document.text.encode()
    return "read"


@pytest.mark.parametrize("suffix", MAKERS)
def test_a_damaged_file_is_read_or_refused(suffix: str, parser: Parser) -> None:
    chance = random.Random(f"damage of {suffix}")
    counts: Counter[str] = Counter()
    for number in range(FILES // len(MAKERS) + 1):
        data = sample(suffix, chance.choice(list(STORIES)))
        name = chance.choice(list(DAMAGE))
        ending = chance.choice(list(MAKERS)) if number % 4 == 0 else suffix
        counts[f"{name} {outcome(parser, DAMAGE[name](data, chance), ending)}"] += 1
    print(suffix, counts.total(), dict(sorted(counts.items())))  # noqa: T201 - shown by `-s`
    assert counts.total() * len(MAKERS) >= FILES


@pytest.mark.parametrize("suffix", MAKERS)
@pytest.mark.parametrize("language", STORIES)
def test_a_renamed_file_is_read_as_what_it_is(suffix: str, language: str, parser: Parser) -> None:
    data = sample(suffix, language)
    right = parser.parse_bytes(data, "", f"file{suffix}")
    for ending in [*MAKERS, ".bin", ""]:
        if suffix in SIGNED:
            assert parser.parse_bytes(data, "", f"file{ending}").text == right.text
        elif ending == ".bin" and suffix not in {".html", ".eml"}:
            with pytest.raises(SourceError, match="not supported"):
                parser.parse_bytes(data, "", f"file{ending}")
        else:
            words = set(re.findall(r"\w+", right.text))
            found = parser.parse_bytes(data, "", f"file{ending}").text
            assert words <= set(re.findall(r"\w+", found))
