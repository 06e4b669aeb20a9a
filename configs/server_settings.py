"""What the settings file says of a Qdrant server; see `indexing.server_options`."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from configs.section import Section
from indexing.server_options import Quantization

Count = Annotated[int | None, Field(ge=1)]


class ServerSettings(Section):
    """A Qdrant server (`indexing.server_options`); the layout counts for new collections."""

    api_key: str = Field("", repr=False, description="the server's key; send it over `https` only")
    verify: bool = Field(True, description="whether the server must prove who it is (TLS)")
    ca_file: Path | None = Field(None, description="certificates to trust, instead of the usual")
    timeout: int = Field(10, ge=1, description="seconds that one request may take")
    retries: int = Field(
        4, ge=0, description="tries after the first, where another may pass (429, 5xx, no answer)"
    )
    backoff: float = Field(
        0.25, ge=0, description="most seconds before the first of them; doubles each time"
    )
    prefix: str = Field("letopis_", description="start of the collections' names")
    batch: int = Field(256, ge=1, description="memories of one upsert request")
    shard_number: Count = Field(None, description="shards of a collection; none: the server's")
    replication_factor: Count = Field(None, description="copies of a shard; none: the server's")
    write_consistency_factor: Count = Field(
        None, description="copies that acknowledge a write; none: the server's"
    )
    quantization: Quantization = Field(
        "none", description="small copies of the vectors in RAM, searched first"
    )
    oversampling: float = Field(
        2.0, ge=1, description="how many times more are found by them, then re-scored"
    )
    on_disk_vectors: bool = Field(False, description="vectors and term lists are read from disk")
    on_disk_payload: bool = Field(True, description="texts are read from disk")
    on_disk_hnsw: bool = Field(False, description="the graph is read from disk")
