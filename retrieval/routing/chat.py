"""A classifier that asks a chat model behind an OpenAI-compatible endpoint.

Off unless it is chosen: a call costs what the rules do not, and its answer is no better founded.
What goes wrong (no answer, no label) leaves the decision to the rules, and the reason says so.
"""

import json
from dataclasses import replace

import httpx

from indexing.errors import ConfigError
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
    """Labels by ``POST {url}/chat/completions``; the rules where that fails. Thread-safe."""

    def __init__(self, url: str, model: str, api_key: str = "", timeout: float = 2.0) -> None:
        """``timeout`` is in seconds, for connecting and for each read. Raises `ConfigError`."""
        if not model:
            raise ConfigError("a chat classifier needs a model name")
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        try:
            address = httpx.URL(url.rstrip("/"))
        except httpx.InvalidURL as error:
            raise ConfigError(f"the classifier's url {url!r}: {error}") from error
        if address.scheme not in ("http", "https") or not address.host:
            raise ConfigError(f"the classifier's url {url!r} is no http address")
        self._client = httpx.Client(base_url=address, headers=headers, timeout=timeout)
        self._model = model

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def classify(self, question: str, vocabulary: Vocabulary | None = None) -> Route:
        """Ask the model; the cues are those of the rules, whoever decides."""
        ruled = route(question, vocabulary)
        try:
            label, reason = self._ask(question)
        except httpx.HTTPError as error:
            return _by_rules(ruled, f"no answer ({type(error).__name__})")
        except (KeyError, IndexError, TypeError, ValueError):
            return _by_rules(ruled, "no label in its answer")
        return Route(label, CONFIDENCE, f"{self._model}: {reason}", ruled.cues)

    def _ask(self, question: str) -> tuple[Label, str]:
        """Return the model's label and reason. Raises what an answer of another shape raises."""
        answer = self._client.post(
            "/chat/completions",
            json={
                "model": self._model,
                "temperature": 0,
                "max_tokens": 60,
                "messages": [
                    {"role": "system", "content": PROMPT},
                    {"role": "user", "content": question},
                ],
            },
        )
        answer.raise_for_status()
        said = str(answer.json()["choices"][0]["message"]["content"])
        given = json.loads(said[said.index("{") : said.rindex("}") + 1])
        return LABELS[given["label"]], str(given.get("reason", ""))[:200]


def _by_rules(ruled: Route, why: str) -> Route:
    return replace(ruled, reason=f"{ruled.reason}; by the rules: the classifier gave {why}")
