"""Labelled texts: the kind and the text. Own texts, Russian and English.

`WRONG` are those that `detect` takes for something else, with what it takes them for.
"""

import json
from pathlib import Path

_LINES = Path(__file__).with_name("kinds.jsonl").read_text().splitlines()
_ALL = [json.loads(line) for line in _LINES]

SAMPLES: list[tuple[str, str]] = [(x["kind"], x["text"]) for x in _ALL if "taken_for" not in x]
WRONG: list[tuple[str, str, str]] = [
    (x["kind"], x["text"], x["taken_for"]) for x in _ALL if "taken_for" in x
]
