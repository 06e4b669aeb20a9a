"""Bytes of names in files: whether a file has one, and how a log loses them."""

import json
import mmap
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def holds(files: Iterable[Path], names: Iterable[str]) -> bool:
    """Tell whether one of the files has the bytes of a name, alone or as a part of more."""
    forms = _forms(names)
    return any(_present(file, forms) for file in files)


def mask(file: Path, names: Iterable[str]) -> int:
    """Write over each name in a file that others may be appending to; return how many there were.

    Only where it stands alone: ``ann`` is no part of ``annual``.
    """
    present = sorted(_present(file, _forms(names)), key=len, reverse=True)
    if not present:
        return 0
    names_in = b"|".join(map(re.escape, present))
    pattern = re.compile(rb"(?<![\w\x80-\xff-])(?:%s)(?![\w\x80-\xff-])" % names_in)
    with _mapped(file, writing=True) as view:
        spans = [match.span() for match in pattern.finditer(view)]
        for start, end in spans:
            view[start:end] = b"x" * (end - start)
        view.flush()
    return len(spans)


def _forms(names: Iterable[str]) -> set[bytes]:
    """Return the names as they are, and as JSON and ``repr`` write them."""
    texts = set()
    for name in filter(None, names):
        texts |= {name, json.dumps(name)[1:-1], json.dumps(name, ensure_ascii=False)[1:-1]}
        texts.add(repr(name)[1:-1])
    return {text.encode(errors="backslashreplace") for text in texts}


def _present(file: Path, forms: Iterable[bytes]) -> set[bytes]:
    try:
        with _mapped(file) as view:
            return {form for form in forms if view.find(form) >= 0}
    except (FileNotFoundError, ValueError):  # no such file, or an empty one
        return set()


@contextmanager
def _mapped(file: Path, *, writing: bool = False) -> Iterator[mmap.mmap]:
    access = mmap.ACCESS_WRITE if writing else mmap.ACCESS_READ
    with (
        file.open("r+b" if writing else "rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=access) as view,
    ):
        yield view
