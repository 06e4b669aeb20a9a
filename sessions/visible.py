"""What a context shows beside memories, and whether it has one of them: `Visible`. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexing.types import Memory, Mention
from retrieval.types import Hit
from sessions.layers import plain, word_for_word

SHORT = 2000
"""Characters of a result that is looked for word for word."""


@dataclass(frozen=True, slots=True)
class Visible:
    """All the text of a context beside memories, and its turns by their ids; `plain`.

    In ``text`` a line feed is between one text and the next. ``facts`` are ids of memories.
    """

    session_id: str
    text: str
    turns: Mapping[str, str]
    facts: frozenset[str] = frozenset()

    def has(self, hit: Hit) -> bool:
        """Tell whether what a hit says is there: its turn, or its text word for word."""
        memory = hit.memory
        if memory.id in self.facts or any(map(self.shows, (memory, *hit.also))):
            return True
        return self.says(memory.text)

    def says(self, text: str) -> bool:
        """Tell whether a text is there word for word."""
        return word_for_word(plain(text), self.text)

    def has_result(self, turn_id: str, text: str) -> bool:
        """Tell whether a tool's turn is there, or its text word for word where it is short."""
        if turn_id in self.turns:
            return True
        return len(text) <= SHORT and self.says(text)

    def shows(self, memory: Memory) -> bool:
        """Tell whether a turn of this session that says it is shown, with the part that says it."""
        places: Iterable[Mention] = (memory, *memory.also)
        here = (place for place in places if place.conversation_id == self.session_id)
        return any(
            word_for_word(plain(place.text), self.turns[place.turn_id])
            for place in here
            if place.turn_id in self.turns
        )
