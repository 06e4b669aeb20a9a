"""Made-up text of realistic lengths, half Russian-looking and half English-looking.

Does: words of syllables with Zipf frequencies, sentences, documents, chats; the same for a seed.
Does not: mean anything; quality is not measured on it.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random

VOCABULARY = 8_000
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_SYLLABLES = {
    "en": "ba con de er fi gra ho in ja ka lo men nor or pla qua re sta ti un ver wi yo zen",
    "ru": "ба вер го ду жи за ин ка лу ми но об при ру ста то ум фор хо це чи ша эк ют яр",
}


class Speaker:
    """Says sentences in one language. A seed changes what is said, not the vocabulary."""

    def __init__(self, language: str, seed: int) -> None:
        self._random = Random(f"{language}{seed}")  # noqa: S311
        parts = _SYLLABLES[language].split()
        maker = Random(language)  # noqa: S311
        self._words = ["".join(maker.choices(parts, k=1 + i % 3)) for i in range(VOCABULARY)]
        self._upto = list(accumulate(1 / (rank + 2) for rank in range(VOCABULARY)))

    def sentence(self, low: int = 5, high: int = 18) -> str:
        """Return a sentence of some words and, at times, a number."""
        count = self._random.randint(low, high)
        words = self._random.choices(self._words, cum_weights=self._upto, k=count)
        if self._random.random() < 0.2:
            words[-1] = str(self._random.randint(1, 9999))
        return f"{' '.join(words).capitalize()}."

    def paragraph(self, low: int = 3, high: int = 7) -> str:
        """Return some sentences."""
        return " ".join(self.sentence() for _ in range(self._random.randint(low, high)))


def speakers(seed: int) -> Iterator[Speaker]:
    """Yield the two speakers in turn, for ever."""
    pair = [Speaker(language, seed) for language in _SYLLABLES]
    while True:
        yield from pair


def write_world(folder: Path, documents: int, turns: int, seed: int = 1) -> None:
    """Write Markdown files and one chat export of a user, ready for ``ingest``."""
    folder.mkdir(parents=True)
    voices = speakers(seed)
    for number in range(documents):
        voice = next(voices)
        sections = (
            f"## {voice.sentence(2, 5)}\n\n{voice.paragraph()}\n\n{voice.paragraph()}"
            for _ in range(1 + number % 4)
        )
        text = f"# {voice.sentence(2, 5)}\n\n" + "\n\n".join(sections) + "\n"
        (folder / f"document-{number:04}.md").write_text(text, encoding="utf-8")
    lines = []
    for number in range(turns):
        voice = next(voices)
        lines.append(
            {
                "session_id": f"s{seed}-{number // 25}",
                "turn_id": str(number),
                "user_id": "u1",
                "role": "user" if number % 2 else "assistant",
                "at": (_START + timedelta(minutes=number)).isoformat(),
                "text": " ".join(voice.sentence() for _ in range(1 + number % 3)),
            }
        )
    export = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "chat.jsonl").write_text(export, encoding="utf-8")
