"""Any export -> memories of a user: whose it is tells the file itself. `import_file`."""

from collections.abc import Sequence
from pathlib import Path

from indexing.errors import InvalidInput
from indexing.feeds.types import Progress
from indexing.index import Index
from indexing.portable import sniff_file
from indexing.transfer.adopt import adopt
from indexing.transfer.restore import restore
from indexing.transfer.types import ImportReport
from indexing.types import Scope


def import_file(
    index: Index,
    path: Path,
    scope: Scope,
    progress: Progress | None = None,
    *,
    timezone: str = "",
    namespaces: Sequence[str] = (),
    by_run: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Import a file of ours with `restore`, of mem0 or LangGraph Store with `adopt`.

    ``scope`` is a user's own or, of another system's file, one session. Raises `InvalidInput` for
    what is no export, and for a choice that this one does not leave.
    """
    if sniff_file(path) == "letopis":
        if scope.collection == "session" or namespaces or by_run:
            raise InvalidInput("an export of ours names its sessions itself: name only the user")
        return restore(index, path, scope.user_id, progress, dry_run=dry_run)
    if scope.collection == "session" and by_run:
        raise InvalidInput("either one session, or one for each run")
    return adopt(
        index,
        path,
        scope,
        progress,
        timezone=timezone,
        namespaces=namespaces,
        by_run=by_run,
        dry_run=dry_run,
    )
