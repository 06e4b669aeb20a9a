"""The layer of the digest: whole, or cut to a number of tokens. `DigestLayer`, `Folded`. Pure."""

from dataclasses import dataclass

from sessions.cache import Lease
from sessions.costs import MESSAGE
from sessions.digest_text import as_text
from sessions.layers import digest_text
from sessions.types import CountTokens, Cut, Digest


@dataclass(frozen=True, slots=True)
class DigestLayer:
    """The text of the layer, empty for none, what it takes, and the tokens that are left out."""

    text: str = ""
    tokens: int = 0
    dropped: int = 0


class Folded:
    """A digest that gives way; each of its cuts is made only once."""

    def __init__(self, digest: Digest | None, count: CountTokens, lease: Lease) -> None:
        self._digest, self._count, self._lease = digest, count, lease
        self._text = as_text(digest).text if digest else ""

    def whole(self) -> DigestLayer:
        """Return all of it."""
        return self._layer(Cut(self._text, "digest"))

    def fit(self, limit: int) -> DigestLayer:
        """Return what is left of it in so many tokens, its frame included."""
        digest = self._digest
        if digest is None:
            return DigestLayer()
        left = limit - MESSAGE - self._count(digest_text("", digest.through))
        while left > 0:
            layer = self._layer(self._cut(digest, left))
            if not layer.text or layer.tokens <= limit:
                return layer
            left -= layer.tokens - limit
        return self._layer(Cut("", "digest", self._count(self._text)))

    def _cut(self, digest: Digest, limit: int) -> Cut:
        return self._lease.cut(
            ("digest", self._text, str(limit)), lambda: as_text(digest, self._count, limit)
        )

    def _layer(self, cut: Cut) -> DigestLayer:
        if self._digest is None or not cut.text:
            return DigestLayer(dropped=cut.dropped)
        text = digest_text(cut.text, self._digest.through)
        return DigestLayer(text, MESSAGE + self._count(text), cut.dropped)
