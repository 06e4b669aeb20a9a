"""A collection on a Qdrant server: how it is created, and what it says it was built with.

Tenants share a collection, and every query names one. So there is no graph over all of them
(``m = 0``): each tenant that is large enough gets its own links (``payload_m``), a small one is
scanned. The fingerprint is in the collection's metadata, written by the request that creates it.
"""

import re
import warnings

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from indexing.errors import SchemaMismatch, StoreError
from indexing.server_options import ServerOptions
from indexing.types import VectorNames

OLDEST = (1, 19)
FINGERPRINT = "letopis_fingerprint"
LINKS = 16

KEYWORD = models.KeywordIndexType.KEYWORD
INDEXES: dict[str, models.KeywordIndexParams | models.FloatIndexParams] = {
    "tenant": models.KeywordIndexParams(type=KEYWORD, is_tenant=True),
    "kind": models.KeywordIndexParams(type=KEYWORD, enable_hnsw=False),
    "lang": models.KeywordIndexParams(type=KEYWORD, enable_hnsw=False),
    "source_id": models.KeywordIndexParams(type=KEYWORD, enable_hnsw=False),
    **{
        key: models.KeywordIndexParams(type=KEYWORD, enable_hnsw=False)
        for key in ("key", "subject", "value", "superseded_by", "filed", "conversation_id")
    },
    **{
        key: models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False)
        for key in ("expires_at", "lapses_at", "since", "valid_to", "at", "also[].at")
    },
}

QUANTIZATIONS: dict[str, models.QuantizationConfig | None] = {
    "none": None,
    "int8": models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(
            type=models.ScalarType.INT8, quantile=0.99, always_ram=True
        )
    ),
    "binary": models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True)),
}


def check_version(version: str) -> None:
    """Raise `StoreError` for a server that cannot count IDF per tenant."""
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST:
        raise StoreError(f"the Qdrant server is {version}; 1.19 or newer is needed")


def ensure_collection(
    client: QdrantClient, name: str, names: VectorNames, options: ServerOptions, fingerprint: str
) -> str:
    """Create the collection if it is not there; return the fingerprint that is in force.

    Creating is one request, so of two processes one wins, and both learn whose it is. Indexes that
    a crash or an older release left out are made up for. Raises `SchemaMismatch` for other vectors.
    """
    if not client.collection_exists(name):
        try:
            _create(client, name, names, options, fingerprint)
        except (UnexpectedResponse, ValueError):
            if not client.collection_exists(name):
                raise
    found = client.get_collection(name)
    check_vectors(name, found.config.params, names)
    _create_indexes(client, name, set(found.payload_schema))
    stored = (found.config.metadata or {}).get(FINGERPRINT)
    if stored is None and fingerprint:  # made by hand, or by an older release
        client.update_collection(name, metadata={FINGERPRINT: fingerprint})
        stored = (client.get_collection(name).config.metadata or {}).get(FINGERPRINT)
    return str(stored or "")


def _create(
    client: QdrantClient, name: str, names: VectorNames, options: ServerOptions, fingerprint: str
) -> None:
    dense = {
        n: models.VectorParams(
            size=size, distance=models.Distance.COSINE, on_disk=options.on_disk_vectors
        )
        for n, size in names.dense.items()
    }
    sparse = models.SparseVectorParams(
        modifier=models.Modifier.IDF,
        index=models.SparseIndexParams(on_disk=options.on_disk_vectors),
    )
    client.create_collection(
        name,
        dense,
        dict.fromkeys(names.sparse, sparse),
        shard_number=options.shard_number,
        replication_factor=options.replication_factor,
        write_consistency_factor=options.write_consistency_factor,
        on_disk_payload=options.on_disk_payload,
        hnsw_config=models.HnswConfigDiff(m=0, payload_m=LINKS, on_disk=options.on_disk_hnsw),
        quantization_config=QUANTIZATIONS[options.quantization],
        metadata={FINGERPRINT: fingerprint} if fingerprint else None,
    )


def _create_indexes(client: QdrantClient, name: str, present: set[str]) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Payload indexes have no effect in the local Qdrant")
        for key, schema in INDEXES.items():
            if key not in present:
                client.create_payload_index(name, key, schema, wait=True)


def check_vectors(name: str, found: models.CollectionParams, names: VectorNames) -> None:
    """Raise `SchemaMismatch` unless the collection has exactly these vectors."""
    dense = found.vectors if isinstance(found.vectors, dict) else {}
    sizes = {n: params.size for n, params in dense.items()}
    sparse = set(found.sparse_vectors or {})
    if sizes != dict(names.dense) or sparse != set(names.sparse):
        raise SchemaMismatch(
            f"collection {name!r} has the vectors {sizes} and {sorted(sparse)}, "
            f"not {dict(names.dense)} and {sorted(names.sparse)}"
        )
