"""The folder of one embedded shard: made, opened, checked, measured.

Plain functions on files; the caller holds the lease. Beside the engine's files a folder has two of
ours: ``points.count``, since the engine opens a segment that lost its ids as if it were empty, so
the store notes how many points are durable; and ``fingerprint.json``, what it was built with.
"""

import json
import os
import shutil
from pathlib import Path

import qdrant_edge as engine

from indexing.edge_shard import INDEXES, config, mapped
from indexing.errors import SchemaMismatch, StoreDamaged, StoreError, StoreUnavailable
from indexing.types import VectorNames

SPARE_BYTES = 64 << 20  # a shard grows by mapped 32 MiB files; a full disk would kill the process
CONFIG = "edge_config.json"
COUNT = "points.count"

BLANK = "00000000-0000-0000-0000-000000000000"
"""The id of a point without a payload, there for a moment in `loosen`; no memory has it."""
FINGERPRINT = "fingerprint.json"
SEGMENTS = "segments"
ASIDE = "segments.aside"
DRAFTS = "temp_segments"
"""Where the optimizer builds a segment; what a killed one left there holds texts and is no use."""


def shard_exists(path: Path) -> bool:
    """Whether a shard is there; a folder with anything else in it is not ours to fill."""
    if (path / CONFIG).is_file():
        return True
    if path.exists():
        raise StoreError(f"{path} exists and is no collection of this store; move it away")
    return False


def create_shard(path: Path, names: VectorNames, fingerprint: str) -> None:
    """Make the shard beside its place and rename it, so a crash leaves no half of one."""
    draft = path.with_name(f"{path.name}.new")
    if draft.exists():
        shutil.rmtree(draft)
    shard = engine.EdgeShard.create(str(draft), config(names))
    add_indexes(shard)
    shard.close()
    claim_shard(draft, fingerprint)
    draft.rename(path)


def claim_shard(path: Path, fingerprint: str) -> str:
    """Return what the shard was built with; one that does not say takes the given fingerprint."""
    file = path / FINGERPRINT
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        if fingerprint:
            draft = path / f"{FINGERPRINT}.new"
            with draft.open("w", encoding="utf-8") as out:
                out.write(fingerprint)
                out.flush()
                os.fsync(out.fileno())
            draft.replace(file)
        return fingerprint
    except UnicodeDecodeError as error:
        raise StoreDamaged(f"{file} cannot be read: {error}. {_rescue(path)}") from error


def tidy(path: Path) -> None:
    """Undo what a killed process had begun in the folder of a shard that nobody has open."""
    for segment in (path / ASIDE).glob("*"):
        segment.rename(path / SEGMENTS / segment.name)
    shutil.rmtree(path / DRAFTS, ignore_errors=True)


def load_shard(path: Path) -> engine.EdgeShard:
    """Open a shard and remove what a kill left in it.

    Raises `StoreDamaged` when it cannot be opened or holds fewer points than were flushed.
    """
    tidy(path)
    shard = _open(path)
    if shard.info().points_count > count_points(shard):
        shard = _without_twins(path, shard)
    kept = read_count(path)
    found = shard.count(_with_vectors(path)) if kept else 0
    if found < kept:
        shard.close()
        raise StoreDamaged(
            f"collection {path.name!r} holds {found} of the {kept} memories that were written: "
            f"files of it are gone or cut short. {_rescue(path)}. "
            f"To go on with the {found} that are left, delete {path / COUNT}"
        )
    add_indexes(shard)
    return shard


def add_indexes(shard: engine.EdgeShard) -> None:
    """Make the payload indexes that a shard lacks: one of an older release, or a new one.

    Takes about 0.1 s for each over 20,000 memories, once.
    """
    missing = INDEXES.keys() - shard.info().payload_schema.keys()
    for key in sorted(missing):
        shard.update(engine.UpdateOperation.create_field_index(key, INDEXES[key]))
    if missing:
        shard.flush()


def _open(path: Path) -> engine.EdgeShard:
    try:
        with mapped(path.name, StoreDamaged):
            return engine.EdgeShard.load(str(path), _today(path))
    except StoreDamaged as error:
        raise StoreDamaged(f"{error}. {_rescue(path)}") from error


def _today(path: Path) -> engine.EdgeConfig | None:
    """Return the config for a shard of an older release, None for one that has today's.

    It takes effect when the shard is optimized next; until then it is searched as it was.
    """
    try:
        found = json.loads((path / CONFIG).read_bytes())
        sizes = {name: params["size"] for name, params in found["vectors"].items()}
        names = VectorNames(sizes, tuple(found["sparse_vectors"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # the engine says what is wrong with it
    return None if found.get("quantization_config") else config(names)


def _without_twins(path: Path, shard: engine.EdgeShard) -> engine.EdgeShard:
    """Remove segments all of whose points another one has too.

    The optimizer writes a new segment and then removes the old ones; a kill in between leaves both.
    A segment is set aside, and comes back when points are missed without it.
    """
    whole = count_points(shard)
    (path / ASIDE).mkdir(exist_ok=True)
    (path / DRAFTS).mkdir(exist_ok=True)
    for segment in sorted((path / SEGMENTS).iterdir()):
        if shard.info().points_count == whole:
            break
        shard.close()
        aside = path / ASIDE / segment.name
        segment.rename(aside)
        shard = _open(path)
        if count_points(shard) == whole:
            aside.rename(path / DRAFTS / segment.name)
        else:
            shard.close()
            aside.rename(segment)
            shard = _open(path)
    shutil.rmtree(path / DRAFTS)
    return shard


def count_points(shard: engine.EdgeShard) -> int:
    """Return how many different points there are: 2 ms for 20,000."""
    return shard.count(engine.CountRequest(exact=True))


def loosen(path: Path, shard: engine.EdgeShard) -> None:
    """Put a point into the segment that is written to and delete it, so `optimize` rewrites that.

    What a memory held before it was changed stays in the segment's pages, and the engine, which
    rewrites for deleted points, does not count it as one.
    """
    sizes = json.loads((path / CONFIG).read_bytes())["vectors"]
    vectors: dict[str, engine.NamedVector] = {n: [1.0] * v["size"] for n, v in sizes.items()}
    shard.update(engine.UpdateOperation.upsert_points([engine.Point(BLANK, vectors, {})]))
    shard.update(engine.UpdateOperation.delete_points([BLANK]))


def _with_vectors(path: Path) -> engine.CountRequest:
    """Ask how many points have all their dense vectors; a file of them can be lost alone."""
    names = json.loads((path / CONFIG).read_bytes())["vectors"]
    whole = engine.Filter(must=[engine.HasVectorCondition(name) for name in names])
    return engine.CountRequest(exact=True, filter=whole)


def read_count(path: Path) -> int:
    """Return how many points are durable at least; 0 where nothing was noted."""
    try:
        return int((path / COUNT).read_bytes())
    except (FileNotFoundError, ValueError):
        return 0


def note_count(path: Path, points: int) -> None:
    """Note that at least so many points are durable: after a flush, and before a delete."""
    fd = os.open(path / COUNT, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.write(fd, b"%020d\n" % points)  # in place, one length: needs no room on a full disk
    finally:
        os.close(fd)


def check_schema(path: Path, names: VectorNames) -> None:
    """Raise `SchemaMismatch` unless the shard has exactly these vectors."""
    try:
        found = json.loads((path / CONFIG).read_bytes())
        sizes = {name: params["size"] for name, params in found["vectors"].items()}
        sparse = sorted(found["sparse_vectors"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(f"{path / CONFIG} cannot be read: {error}. {_rescue(path)}") from error
    if sizes != dict(names.dense) or sparse != sorted(names.sparse):
        raise SchemaMismatch(
            f"collection {path.name!r} has the vectors {sizes} and {sparse}, "
            f"not {dict(names.dense)} and {sorted(names.sparse)}"
        )


def check_space(folder: Path, needed: int = SPARE_BYTES) -> None:
    """Raise `StoreUnavailable` unless that many bytes are free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreUnavailable(
            f"the disk of {folder} is full: {free >> 20} MiB free, {needed >> 20} MiB needed"
        )


def allocated(folder: Path) -> int:
    """Return the bytes on disk of all files; most are sparse, so their length says little."""
    stats = [file.stat() for file in folder.rglob("*") if file.is_file()]
    return sum(getattr(stat, "st_blocks", stat.st_size // 512 + 1) * 512 for stat in stats)


def _rescue(path: Path) -> str:
    return (
        f"Restore {path.parent} from a backup, or index into a new place: "
        "letopis --data-dir NEW_FOLDER ingest PATH"
    )
