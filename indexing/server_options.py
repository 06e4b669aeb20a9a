"""How a Qdrant server is reached and how its collections are laid out: `ServerOptions`.

Plain values: the client is not imported here, so reading settings stays quick.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from indexing.errors import ConfigError

Quantization = Literal["none", "int8", "binary"]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The layout fields only count when a collection is created; None leaves it to the server.

    ``timeout`` is in seconds, per request; a request that may pass later is sent again up to
    ``retries`` times, after ``backoff`` seconds that double each time, with full jitter.
    ``batch`` is points per upsert request. Raises `ConfigError` for values that contradict.
    """

    api_key: str = field(default="", repr=False)
    verify: bool = True
    ca_file: Path | None = None
    timeout: int = 10
    retries: int = 4
    backoff: float = 0.25
    prefix: str = "letopis_"
    batch: int = 256
    shard_number: int | None = None
    replication_factor: int | None = None
    write_consistency_factor: int | None = None
    quantization: Quantization = "none"
    oversampling: float = 2.0
    on_disk_vectors: bool = False
    on_disk_payload: bool = True
    on_disk_hnsw: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.prefix):
            raise ConfigError(
                f"server.prefix {self.prefix!r} starts the names of collections: give 1 to 64 "
                "letters, digits, - or _"
            )
        replicas, acknowledged = self.replication_factor or 1, self.write_consistency_factor or 1
        if acknowledged > replicas:
            raise ConfigError(
                f"server.write_consistency_factor {acknowledged} is over "
                f"server.replication_factor {replicas}: no write could succeed"
            )
        if self.ca_file is not None and not self.verify:
            raise ConfigError("server.ca_file is given but server.verify is off: choose one")


USUAL = ServerOptions()
