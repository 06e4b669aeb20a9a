"""A classifier that asks a chat model.

Off unless it is chosen: a call costs what the rules do not, and its answer is no better founded.
What goes wrong (no answer, no label) leaves the decision to the rules, and the reason says so.
"""

import json
from dataclasses import replace

from indexing.errors import ModelError
from retrieval.completions import ChatModel
from retrieval.route import LABELS, Label, Route, Vocabulary, route

PROMPT = (
    "Label the user's question for a memory that has a database and a text search. Answer with "
    'JSON only: {"label": "analytical" | "lookup" | "factual", "reason": "a few words"}. '
    "analytical: a number, an order, an extreme or groups must be computed over many records. "
    "lookup: a name, a date, a value of one thing or a list is asked for as it is stored. "
    "factual: what was said, how or why. The question may be Russian or English; do not answer it."
)

CONFIDENCE = 0.9
"""A chat model does not say how sure it is; this is what its word counts for."""


class ChatClassifier:
    """Labels by the word of a `ChatModel`; by the rules where that fails. Thread-safe."""

    def __init__(self, url: str, model: str, api_key: str = "", timeout: float = 2.0) -> None:
        """``timeout`` is in seconds. Raises `ConfigError`."""
        self._model = ChatModel(url, model, api_key, timeout, section="router")

    def close(self) -> None:
        """Close the connections."""
        self._model.close()

    def classify(self, question: str, vocabulary: Vocabulary | None = None) -> Route:
        """Ask the model; the cues are those of the rules, whoever decides."""
        ruled = route(question, vocabulary)
        try:
            label, reason = _labelled(self._model.answer(PROMPT, question, max_tokens=60) or "")
        except ModelError as error:
            return _by_rules(ruled, str(error))
        except (KeyError, TypeError, ValueError):
            return _by_rules(ruled, "no label in its answer")
        return Route(label, CONFIDENCE, f"{self._model.model}: {reason}", ruled.cues)


def _labelled(said: str) -> tuple[Label, str]:
    """Return the label and the reason in an answer. Raises what one of another shape raises."""
    given = json.loads(said[said.index("{") : said.rindex("}") + 1])
    return LABELS[given["label"]], str(given.get("reason", ""))[:200]


def _by_rules(ruled: Route, why: str) -> Route:
    return replace(ruled, reason=f"{ruled.reason}; by the rules: the classifier gave {why}")
