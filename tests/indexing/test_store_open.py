"""From a spec to a store."""

from pathlib import Path

import pytest

from indexing.edge import EdgeStore
from indexing.errors import ConfigError, StoreUnavailable
from indexing.open import open_store
from indexing.server import ServerStore
from indexing.server_options import ServerOptions
from indexing.types import Filter, user_scope

ANN = Filter(user_scope("ann"))


def test_specs(tmp_path: Path) -> None:
    edge = open_store(f"edge:{tmp_path}/data")
    assert isinstance(edge, EdgeStore)
    assert edge.folder == tmp_path / "data"
    assert not edge.folder.exists()
    server = open_store("https://example.org:6333", server=ServerOptions(api_key="key"))
    assert isinstance(server, ServerStore)
    server.close()


@pytest.mark.parametrize(
    "spec", ["", "data", "./data", "ftp://host", "edge:", "http://", "C:/data"]
)
def test_an_unknown_spec_lists_the_schemes(spec: str) -> None:
    with pytest.raises(ConfigError, match="edge:, http:, https:"):
        open_store(spec)


def test_no_server_is_unavailable() -> None:
    store = open_store("http://127.0.0.1:9", server=ServerOptions(retries=1, backoff=0))
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9"):
        store.count("user", ANN)
    store.close()
