"""A chat model behind an OpenAI-compatible ``POST {url}/chat/completions``: `ChatModel`."""

import httpx

from indexing.endpoint import client_of
from indexing.errors import ConfigError, ModelError


class ChatModel:
    """Answers one message at a time, at temperature 0, and is asked once. Thread-safe."""

    def __init__(
        self, url: str, model: str, api_key: str = "", timeout: float = 10.0, *, section: str
    ) -> None:
        """``timeout`` is in seconds, for connecting and for each read.

        Raises `ConfigError` naming the settings of the ``section``.
        """
        if not model:
            raise ConfigError(f"{section} needs a model name ({section}.model)")
        self.url, self.model = url, model
        self._client = client_of(url, f"{section}.url", api_key, timeout)

    def answer(self, instructions: str, message: str, max_tokens: int | None = None) -> str | None:
        """Return the model's text, None where its answer has none.

        Raises `ModelError` where there is no answer.
        """
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": message},
        ]
        body = {"model": self.model, "messages": messages, "temperature": 0}
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        try:
            found = self._client.post("/chat/completions", json=body)
            found.raise_for_status()
            text = found.json()["choices"][0]["message"]["content"]
        except httpx.HTTPError as error:
            raise ModelError(f"no answer ({type(error).__name__})") from error
        except (KeyError, IndexError, TypeError, ValueError):
            return None
        return text if isinstance(text, str) else None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
