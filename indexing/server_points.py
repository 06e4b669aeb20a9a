"""What `ServerStore` and `qdrant_client` say to each other: schema, filters, points, errors."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from indexing.errors import SchemaMismatch, StoreError, StoreUnavailable
from indexing.store import check_call, from_payload, to_payload
from indexing.types import (
    Branch,
    Collection,
    Filter,
    Memory,
    Point,
    Scored,
    SparseVector,
    Vector,
    VectorNames,
)

OLDEST = (1, 19)

KEYWORD = models.KeywordIndexType.KEYWORD
INDEXES: dict[str, models.PayloadSchemaType | models.KeywordIndexParams] = {
    "tenant": models.KeywordIndexParams(type=KEYWORD, is_tenant=True),
    "kind": models.PayloadSchemaType.KEYWORD,
    "lang": models.PayloadSchemaType.KEYWORD,
    "source_id": models.PayloadSchemaType.KEYWORD,
    "expires_at": models.PayloadSchemaType.FLOAT,
}

UNAVAILABLE = {401, 403, 408, 429}
MISMATCH = (
    r"[Vv]ector dimension|[Dd]imension of|vector name|not found in the collection|not aligned"
)


def check_version(version: str) -> None:
    """Raise `StoreError` for a server that cannot count IDF per tenant."""
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST:
        raise StoreError(f"the Qdrant server is {version}; 1.19 or newer is needed")


def create_collection(client: QdrantClient, name: str, names: VectorNames) -> None:
    """Create the collection and its payload indexes."""
    cosine, idf = models.Distance.COSINE, models.Modifier.IDF
    client.create_collection(
        name,
        {n: models.VectorParams(size=size, distance=cosine) for n, size in names.dense.items()},
        {n: models.SparseVectorParams(modifier=idf) for n in names.sparse},
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Payload indexes have no effect in the local Qdrant")
        for key, schema in INDEXES.items():
            client.create_payload_index(name, key, schema, wait=True)


def check_schema(name: str, found: models.CollectionParams, names: VectorNames) -> None:
    """Raise `SchemaMismatch` unless the collection has exactly these vectors."""
    dense = found.vectors if isinstance(found.vectors, dict) else {}
    sizes = {n: params.size for n, params in dense.items()}
    sparse = set(found.sparse_vectors or {})
    if sizes != dict(names.dense) or sparse != set(names.sparse):
        raise SchemaMismatch(
            f"collection {name!r} has the vectors {sizes} and {sorted(sparse)}, "
            f"not {dict(names.dense)} and {sorted(names.sparse)}"
        )


def build_filter(
    collection: Collection, where: Filter, branches: Sequence[Branch] = ()
) -> models.Filter:
    """Return the client's filter: the tenant always, then expiry, kinds, sources and ids."""
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchAny(any=values))
        for key, values in check_call(collection, where, branches).items()
    ]
    if where.ids is not None:
        must.append(models.HasIdCondition(has_id=list(where.ids)))
    if where.now is None:
        return models.Filter(must=must)
    expired = models.Range(lte=where.now.timestamp())
    return models.Filter(
        must=must, must_not=[models.FieldCondition(key="expires_at", range=expired)]
    )


def to_vector(vector: Vector | SparseVector) -> list[float] | models.SparseVector:
    """Return the client's form of a vector."""
    if isinstance(vector, SparseVector):
        return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    return [float(x) for x in vector]


def to_point(point: Point) -> models.PointStruct:
    """Return the client's form of a point; an empty sparse vector is left out."""
    vectors: dict[str, models.Vector] = {n: to_vector(v) for n, v in point.dense.items()}
    vectors.update({n: to_vector(v) for n, v in point.sparse.items() if v.indices})
    return models.PointStruct(id=point.memory.id, vector=vectors, payload=to_payload(point.memory))


def to_query(
    branch: Branch, condition: models.Filter, corpus: models.Filter
) -> models.QueryRequest:
    """Return one branch as a query; ``corpus`` is what sparse IDF is counted over."""
    sparse = isinstance(branch.vector, SparseVector)
    params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus)) if sparse else None
    return models.QueryRequest(
        query=to_vector(branch.vector),
        using=branch.name,
        filter=condition,
        limit=branch.limit,
        score_threshold=branch.threshold,
        params=params,
        with_payload=["terms"] if sparse else False,
    )


def to_memory(collection: Collection, found: models.Record | models.ScoredPoint) -> Memory:
    """Return the memory of a found point."""
    return from_payload(collection, str(found.id), found.payload or {})


def to_scored(branch: Branch, found: models.QueryResponse) -> list[Scored]:
    """Return one ranked list."""
    lang = branch.lang or ""
    return [
        Scored(str(p.id), p.score, lang, (p.payload or {}).get("terms", "")) for p in found.points
    ]


def to_dense(record: models.Record) -> dict[str, Vector]:
    """Return the dense vectors of a record by name."""
    vectors = record.vector if isinstance(record.vector, dict) else {}
    return {
        name: np.asarray(vector, dtype=np.float32)
        for name, vector in vectors.items()
        if isinstance(vector, list)
    }


@contextmanager
def mapped(name: str) -> Iterator[None]:
    """Name the client's errors; its in-memory mode raises `ValueError` and `RuntimeError`."""
    try:
        yield
    except (ResponseHandlingException, QdrantException) as error:
        raise StoreUnavailable(f"collection {name!r}: {error or 'no answer'}") from error
    except UnexpectedResponse as error:
        status = error.status_code or 500
        if status in UNAVAILABLE or status >= 500:
            raise StoreUnavailable(f"collection {name!r}: {error}") from error
        raise _named(name, str(error)) from error
    except (ValueError, RuntimeError) as error:
        raise _named(name, str(error)) from error


def _named(name: str, text: str) -> StoreError:
    kind = SchemaMismatch if re.search(MISMATCH, text) else StoreError
    return kind(f"collection {name!r}: {text}")
