"""Values that a later turn replaced, and what becomes of the turns that say them. Pure.

A turn that says nothing else is not shown again; one that says more is, with the new value beside
it. Known are the values of notes only: which sentence gives a name a value is `sessions.notes`'.
What a tool returned is replaced by what the same call returned last (`sessions.beside`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from indexing.sparse import terms
from indexing.subjects import fold
from retrieval.coverage import function_words
from sessions.beside import Tail
from sessions.layers import plain, word_for_word
from sessions.types import Digest, Line, Note


@dataclass(frozen=True, slots=True)
class Replaced:
    """A value of a name that turn ``seq`` gave, and the note that holds in its place."""

    name: str
    value: str
    seq: int
    by: Note

    @property
    def mark(self) -> str:
        """What stands beside the old value: the turn of the new one, and that."""
        turn = f"turn {self.by.seq}: " if self.by.seq else ""
        return f"{turn}{self.name}: {self.by.value}"

    def said_in(self, text: str) -> bool:
        """Tell whether a text has the old value."""
        return word_for_word(plain(self.value), plain(text))

    def is_all_of(self, text: str) -> bool:
        """Tell whether a text says nothing but the old value, by its content words.

        >>> old = Replaced("size", "M", 3, Note("size", "L", seq=9))
        >>> old.is_all_of("My size is M."), old.is_all_of("Size M, and no wool for me.")
        (True, False)
        """
        told = frozenset(terms(f"{self.name} {self.value}"))
        return self.said_in(text) and not frozenset(terms(text)) - told - function_words()


NO_TAIL = Tail()

Replacements = Mapping[int, tuple[Replaced, ...]]
"""What was replaced, by the turn that said it."""


def replacements(ended: Iterable[Note], held: Iterable[Note]) -> Replacements:
    """Return the notes that ended because another value of their name holds."""
    now = {note.name: note for note in held}
    found: dict[int, tuple[Replaced, ...]] = {}
    for note in ended:
        by = now.get(note.name)
        if by is not None and note.seq and note.seq != by.seq and not _same(note, by):
            old = Replaced(note.name, note.value, note.seq, by)
            found[note.seq] = (*found.get(note.seq, ()), old)
    return found


def marks(text: str, said: Sequence[Replaced]) -> str | None:
    """Return what to put beside a text of a turn, empty for nothing; None: it is not shown."""
    old = [one for one in said if one.said_in(text)]
    if any(one.is_all_of(text) for one in old):
        return None
    return "; ".join(one.mark for one in old)


def up_to_date(
    digest: Digest | None, replaced: Replacements, tail: Tail = NO_TAIL
) -> Digest | None:
    """Return a digest without the lines that say a replaced value only, the others marked.

    Live data is left out too where its calls have returned anew since, by the ``tail``.
    """
    if digest is None:
        return None
    held = (one for one in digest.lines if one.kind != "outside" or not tail.is_outdated(one.seq))
    marked = (_marked(one, replaced.get(one.seq, ())) for one in held)
    lines = tuple(one for one in marked if one)
    return digest if lines == digest.lines else replace(digest, lines=lines)


def _marked(line: Line, said: Sequence[Replaced]) -> Line | None:
    if not said:
        return line
    mark = marks(line.text, said)
    if mark is None:
        return None
    return replace(line, text=f"{line.text} [replaced by {mark}]") if mark else line


def _same(one: Note, two: Note) -> bool:
    return fold(one.value) == fold(two.value)
