"""How much one file may cost: its bytes, pages, seconds, memory, and what it unpacks to.

Does not: enforce them. `worker` does for time and memory, each reader for what it counts.
"""

from dataclasses import dataclass

from indexing.errors import SourceError

MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one file. A file past one becomes a `SourceError` that names the limit.

    ``bytes`` is the file's size. ``pages`` counts pages, slides, sheets or chapters. ``seconds`` is
    wall-clock time of one parse, ``memory`` what it may allocate on top of the libraries (bytes).
    ``unpacked`` bounds what a container unpacks to (bytes) and the text that is made (characters).
    """

    bytes: int = 100 * MB
    pages: int = 5_000
    seconds: float = 60.0
    memory: int = 2_048 * MB
    unpacked: int = 512 * MB

    def check_bytes(self, size: int) -> None:
        """Raise `SourceError` for a larger file."""
        if size > self.bytes:
            raise SourceError(f"larger than {in_mb(self.bytes)}")

    def check_pages(self, count: int, what: str = "pages") -> None:
        """Raise `SourceError` for more pages; ``what`` is their name in the plural."""
        if count > self.pages:
            raise SourceError(f"{count:,} {what}, the limit is {self.pages:,}")

    def check_unpacked(self, size: int) -> None:
        """Raise `SourceError` for contents that unpack to more."""
        if size > self.unpacked:
            raise SourceError(f"unpacks to more than {in_mb(self.unpacked)}")


DEFAULTS = Limits()


def in_mb(size: int) -> str:
    """Write a size for a person.

    >>> in_mb(100 * MB), in_mb(MB // 2)
    ('100 MB', '0.5 MB')
    """
    return f"{size / MB:,.4g} MB"
