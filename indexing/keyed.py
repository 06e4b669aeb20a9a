"""Keyed digests: what stands for an id after the id itself is forgotten. `Keyed`.

A digest is an HMAC-SHA256 under the deployment's own secret: equal only for equal parts, and
without the secret nobody can try names against it. Whoever holds the whole catalog holds the
secret too; a receipt or an audit log that leaves it tells nothing.
"""

import hmac

from sqlalchemy import Connection, select

from indexing.catalog_database import Database
from indexing.catalog_schema import DIGEST_KEY, deployment
from indexing.errors import StoreError
from indexing.types import Scope


class Keyed:
    """Makes the digests of one deployment; the secret is read once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._secret = b""

    def digest(self, *parts: str, connection: Connection | None = None) -> str:
        """Return the digest of framed parts, 64 hex: ``("a", "bc")`` and ``("ab", "c")`` differ.

        The secret is read through ``connection`` where a transaction is open.
        """
        if not self._secret:
            self._secret = self._read(connection)
        framed = b"".join(len(p.encode()).to_bytes(8, "big") + p.encode() for p in parts)
        return hmac.digest(self._secret, framed, "sha256").hex()

    def scope(self, scope: Scope, connection: Connection | None = None) -> str:
        """Return the digest that stands for a scope."""
        parts = (scope.collection, scope.user_id, scope.session_id)
        return self.digest("scope", *parts, connection=connection)

    def memory(self, memory_id: str, connection: Connection | None = None) -> str:
        """Return the digest that stands for a memory."""
        return self.digest("memory", memory_id, connection=connection)

    def _read(self, connection: Connection | None) -> bytes:
        query = select(deployment.c.value).where(deployment.c.name == DIGEST_KEY)
        if connection is None:
            with self._database.read() as reading:
                found = reading.execute(query).scalar()
        else:
            found = connection.execute(query).scalar()
        if not found:
            raise StoreError("the catalog has lost the key of its digests")
        return bytes.fromhex(found)
