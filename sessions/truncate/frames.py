"""The lines of stack traces: Python, Java and Kotlin, JavaScript, Go, Rust, C#, Ruby, PHP.

`marked` says of each line whether it is a frame, whose frame, or what the error is. A frame of a
library is one whose file lies where packages are installed, or whose class is of a runtime or a
known framework; every other frame is the user's own.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

from sessions.truncate.patterns import any_of

Mark = Literal["error", "own", "library", "more", "other"]
"""``more`` continues the frame or the error before it; ``other`` is no part of a trace."""

LONGEST = 1_000
"""Characters of a line that are looked at."""

_PLACES = any_of(
    r"site-packages|dist-packages|lib/python\d|python\d+\.zip|<frozen |\\lib\\",
    r"node_modules|node:|\(internal/|\binternal/(?:process|modules|timers)|<anonymous>|webpack/",
    r"/usr/lib|/usr/local/lib|/usr/share|/Library/Frameworks|\.asar",
    r"/usr/local/go/|/pkg/mod/|/go/src/runtime",
    r"\.cargo/registry|/rustc/",
    r"/gems/|/vendor/|\.m2/",
)
_CLASSES = any_of(
    r"java|javax|jdk|sun|jakarta|kotlin|kotlinx|scala|groovy|akka|reactor|rx|okhttp3|retrofit2",
    r"io\.(?:netty|reactivex|micrometer)|com\.(?:sun|zaxxer|mysql|fasterxml|android)",
    r"com\.google\.common|android|androidx|dalvik|System|Microsoft",
    r"org\.(?:springframework|apache|hibernate|junit|gradle|eclipse|jboss|postgresql|slf4j)",
    r"org\.(?:mockito|codehaus|h2|aspectj)",
    before=r"\s*at (?:[\w.-]+//?|app//)?",
)
_GO_PACKAGES = any_of(
    r"(?:runtime|net|reflect|testing|sync|syscall|database/sql|encoding/\w+|io|os|fmt)[./(]",
    r"panic\(",
)

PYTHON = re.compile(r"\s*File \"([^\"]+)\", line \d+")
_AT = any_of(
    r"\S.*\(.*\)",
    r"\S+:\d+(?::\d+)?",
    r"async \S.*",
    r".* in .*:line \d+",
    before=r"\s*at ",
)
_GO = re.compile(r"\t\S+\.(?:go|s):\d+")
_GO_CALL = re.compile(
    r"(?:created by )?[\w./*()\[\]-]+\(.*\)(?: in goroutine \d+)?\Z|created by \S+"
)
_RUST = re.compile(r"\s+\d+: +(?:0x[0-9a-f]+ - )?\S+")
_RUST_PLACE = re.compile(r"\s+at \S+\.rs:\d+")
_RUBY = re.compile(r"\s*from \S+\.rb:\d+")
_PHP = re.compile(r"#\d+ (?:\S+\.php\(\d+\)|\[internal function\]|\{main\})")

_ERROR = any_of(
    r"Traceback \(most recent call last\)",
    r"(?:Exception in thread \S+ )?(?:[\w$]+[.:]{1,2})*[\w$]*"
    r"(?:Error|Exception|Throwable|Interrupt|Exit|Warning|Failure|Panic|Fault)\b"
    r"(?:\s*\[\w+\])?(?::|\Z| \()",
    r"(?:[\w$]+\.)+[A-Z][\w$]*: ",
    r"Uncaught |Unhandled ?|--->? |E   \S|Fatal error: |fatal error: |PHP Fatal error",
    r"Caused by\b|Suppressed: |Wrapped by: |Вызвано|\[cause\]:",
    r"panic: |goroutine \d+ \[|thread '.*' panicked",
    r"During handling of the above|The above exception was the direct cause",
    r"\S+\.rb:\d+:in .*\(\w+\)\Z",
    before=r"\s*",
)
_MORE = any_of(
    r"\.\.\. \d+ (?:more|common frames)",
    r"\[Previous line repeated",
    r"[~^]+[~^ ]*\Z",
    before=r"\s*",
)


def marked(lines: Iterable[str]) -> list[Mark]:
    """Return what each line is; see `Mark`."""
    marks: list[Mark] = []
    frame = ""
    for line, following in pairwise([*lines, ""]):
        mark, frame = _mark(line, following, frame)
        marks.append(mark)
    return marks


def _mark(line: str, following: str, frame: str) -> tuple[Mark, str]:
    """Return what a line is and the kind of frame that its next line may go on with."""
    line, following = line[:LONGEST], following[:LONGEST]
    if PYTHON.match(line):
        return _whose(_PLACES.search(line)), "python"
    if _MORE.match(line):
        return "more", frame
    if _GO.match(line) or _RUST_PLACE.match(line):
        return "more", ""
    if _GO.match(following) and _GO_CALL.match(line):
        called = _GO_PACKAGES.match(line.removeprefix("created by "))
        return _whose(called or _PLACES.search(following)), ""
    if _RUST.match(line) and _RUST_PLACE.match(following):
        return _whose(_PLACES.search(following)), ""
    if _AT.match(line):
        return _whose(_CLASSES.match(line) or _PLACES.search(line)), ""
    if _PHP.match(line) or _RUBY.match(line):
        return _whose(_PLACES.search(line)), ""
    if frame and line.startswith((" ", "\t")):  # the source of a Python frame
        return "more", frame
    return ("error" if _ERROR.match(line) else "other"), ""


def _whose(library: object) -> Mark:
    return "library" if library else "own"
