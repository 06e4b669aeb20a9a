"""What reading feeds needs, whatever their kind: `Access`; how far fetching goes: `WebLimits`."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from chunking.types import Document
from indexing.parse import Parser


@dataclass(frozen=True, slots=True)
class WebLimits:
    """How far fetching goes. Times are seconds; ``tries`` counts the first."""

    timeout: float = 20.0
    total: float = 120.0
    bytes: int = 100 * 1024 * 1024
    redirects: int = 5
    tries: int = 3
    backoff: float = 1.0
    longest_wait: float = 30.0
    private_hosts: bool = True


@dataclass(frozen=True, slots=True)
class Access:
    """What reading feeds needs: a parser, a zone for times without one, what is not to be read.

    ``own`` are the folders of the memory itself, ``now`` the clock of file times (ns).
    Close the ``parser`` afterwards.
    """

    parser: Parser = field(default_factory=Parser)
    timezone: str = ""
    own: tuple[Path, ...] = ()
    web: WebLimits = field(default_factory=WebLimits)
    now: Callable[[], int] = time.time_ns

    def parse(self, data: bytes, source_id: str, uri: str, media_type: str = "") -> Document:
        """Parse a document. Raises `SourceError`."""
        return self.parser.parse_bytes(data, source_id, uri, media_type)
