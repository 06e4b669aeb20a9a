"""Bad input at the command line: a named one-line message, exit code 1, nothing on stdout."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.letopis.conftest import ROOT, Cli

ARGUMENTS = {
    ("ingest", "no/such/path"): "SourceError: no/such/path: no such file or folder",
    ("ingest", ""): "InvalidInput: the path is empty",
    ("ingest", ".", "--session", "s1"): "InvalidInput: a session belongs to a user",
    ("ingest", ".", "--user", "*"): "InvalidId: user id '*' is a wildcard",
    ("retrieve", "\udcff"): "InvalidInput: the query is not valid Unicode",
    ("retrieve", "budget", "-k", "0"): "InvalidInput: k is 0",
    ("retrieve", "budget", "--session", "s1"): "InvalidInput: a session belongs to a user",
    ("retrieve", "budget", "--user", ""): "InvalidId: user id is empty",
    ("retrieve", "budget", "--user", "*"): "InvalidId: user id '*' is a wildcard",
    ("remember", "x", "--user", "x" * 10_000): "InvalidId: user id has 10000 characters",
    ("remember", "x", "--user", "\udcff"): "InvalidId: user id is not valid Unicode",
    ("remember", "x", "--user", "ann", "--session", "%"): "InvalidId: session id '%' is a wildcard",
    ("remember", "", "--user", "ann"): "InvalidInput: there is nothing to remember",
    ("remember", "слово " * 600, "--user", "ann"): "InvalidInput: a fact of ",
    ("remember", "x", "--user", "ann", "--expires", "0001-01-01"): "InvalidInput: --expires '0001",
    ("eval", "run", "no-such-set", "--data", "."): "DataMissing: ",
}

SETTINGS = {
    ("status", "LETOPIS_DATADIR", "x"): "ConfigError: LETOPIS_DATADIR names no setting",
    ("status", "LETOPIS_BUSY_TIMEOUT__X", "1"): "ConfigError: LETOPIS_BUSY_TIMEOUT__X names no",
    ("status", "LETOPIS_BUSY_TIMEOUT", "0"): "ConfigError: settings: busy_timeout: Input should be",
    ("status", "LETOPIS_CONFIG", "none.toml"): "ConfigError: LETOPIS_CONFIG names none.toml",
    ("status", "LETOPIS_STORE", "redis://x"): "ConfigError: 'redis://x' is no store",
    ("status", "LETOPIS_STORE", "http://host:port"): "ConfigError: the store's address is no URL",
    ("status", "LETOPIS_CATALOG", "nonsense"): "StoreError: the catalog URL cannot be used",
    ("status", "LETOPIS_DATA_DIR", "file"): "StoreUnavailable: data folder file: File exists",
    ("retrieve x", "LETOPIS_STORE", "http://127.0.0.1:1"): "StoreUnavailable: ",
    ("retrieve x", "LETOPIS_CHUNKING__OVERLAP", "256"): "ConfigError: chunking.overlap 256 is not",
    ("retrieve x", "LETOPIS_CHUNKING__SIZE", "1000"): "ConfigError: chunking.size 1000 or before",
    ("retrieve x", "LETOPIS_EMBEDDER__MODEL", "big"): "ModelError: unknown model variant 'big'",
    ("retrieve x", "LETOPIS_EMBEDDER__KIND", "endpoint"): "ConfigError: embedder.kind = endpoint",
    ("retrieve x", "LETOPIS_CHUNKING__SIZE", "128"): "SchemaMismatch: collection 'global' was "
    "built otherwise: chunking.size was '256' and is '128'. Set it back, or make the "
    "vectors anew: letopis reindex",
}


def test_every_bad_argument_is_refused_by_name(cli: Cli) -> None:
    answers = cli.many(*ARGUMENTS)
    for done, (args, expected) in zip(answers, ARGUMENTS.items(), strict=True):
        assert done.refused().startswith(expected), args


def test_every_bad_setting_is_refused_by_name(cli: Cli) -> None:
    (cli.folder / "file").touch()
    built, *answers = cli.many(
        ("remember", "a first fact", "--user", "ann"),
        *((*command.split(), {name: value}) for command, name, value in SETTINGS),
    )
    assert built.code == 0, built.err
    for done, (setting, expected) in zip(answers, SETTINGS.items(), strict=True):
        assert done.refused().startswith(expected), setting


FILES = {
    "datadir = 'x'": "ConfigError: settings: datadir: no such setting",
    "[chunking]\nsise = 3": "ConfigError: settings: chunking.sise: no such setting",
    "[chunking": "ConfigError: settings file 2.toml: Expected ']'",
}


def test_every_bad_settings_file_is_refused(cli: Cli) -> None:
    for number, text in enumerate(FILES):
        (cli.folder / f"{number}.toml").write_text(text)
    answers = cli.many(
        *(("status", {"LETOPIS_CONFIG": f"{number}.toml"}) for number, _ in enumerate(FILES))
    )
    for done, expected in zip(answers, FILES.values(), strict=True):
        assert done.refused().startswith(expected)


HOLD = """
import sys, time
from pathlib import Path
from indexing.lease import Lease
with Lease(Path(sys.argv[1]), lambda: None).hold():
    print("held", flush=True)
    time.sleep(600)
"""


@contextmanager
def stopped_holder(store: Path) -> Iterator[int]:
    """Hold the store in a process that is stopped, so it cannot hand it over."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        try:
            yield holder.pid
        finally:
            holder.kill()


def test_a_locked_store_names_its_holder(cli: Cli) -> None:
    with stopped_holder(cli.folder / "memory" / "store") as pid:
        refused, status = cli.many(
            ("retrieve", "x", {"LETOPIS_BUSY_TIMEOUT": "0.3"}), ("status", "--json")
        )
    assert refused.refused().startswith("StoreLocked: the store in ")
    assert f"is held by process {pid} " in refused.err
    assert status.json["dead_letters"] == 0
