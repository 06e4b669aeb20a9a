"""One digest for ids, keys and hashes: SHA-256 over framed parts."""

import hashlib


def digest(*parts: str) -> str:
    """Return the SHA-256 of framed parts, hex: ``("a", "bc")`` and ``("ab", "c")`` differ."""
    framed = b"".join(len(p.encode()).to_bytes(8, "big") + p.encode() for p in parts)
    return hashlib.sha256(framed).hexdigest()
