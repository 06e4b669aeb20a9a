"""What a cut is asked for: the text, what the reader looks for in it, and how much of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from indexing.sparse import terms

HEAD = 800
"""Characters of an article that are kept."""

LONGEST_ASKED = 2_000
"""Characters of a piece that are looked at for the words of the query."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text to be cut. ``words`` are the content terms of the query, ``fields`` names to keep.

    ``head`` is the characters of an article that are kept.
    """

    text: str
    words: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()
    head: int = HEAD

    def worth(self, text: str) -> int:
        """Return how many of the query's words a piece has, 0 where they are under a third."""
        shared = self.shared(text) if self.words else 0
        return shared if shared * 3 >= len(self.words) else 0

    def shared(self, text: str) -> int:
        """Return how many of the query's words a piece has."""
        return len(self.words.intersection(terms(text[:LONGEST_ASKED])))

    def names(self, keys: Iterable[str]) -> bool:
        """Tell whether the path of a field is one that is wanted, by its full name or its end.

        >>> Wanted("", fields=("user.name",)).names(("items", "user", "name"))
        True
        """
        path = [key.casefold() for key in keys]
        for field in self.fields:
            wanted = field.casefold().split(".")
            if path[-len(wanted) :] == wanted:
                return True
        return False
