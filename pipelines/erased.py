"""What an erasing of Prefect's records took out of one place, and what it had to leave there."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Erased:
    """Records taken by kind, how many that name it are left, and what else is to be known.

    ``notes`` name nothing, so they may be stored; ``kept`` are names for people to see.
    """

    counts: Counter[str] = field(default_factory=Counter)
    left: int = 0
    notes: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def add(self, other: "Erased") -> None:
        """Take in what was done in another place."""
        self.counts.update(other.counts)
        self.left += other.left
        self.notes += other.notes
        self.kept += other.kept

    def leave_working(self, runs: int) -> None:
        """Count runs that have not ended."""
        if runs:
            self.left += runs
            self.notes.append(f"{runs} flow runs of it have not ended: forget again when they have")

    def leave_deployments(self, names: Iterable[str]) -> None:
        """Count deployments whose parameters name it: they are not ours to delete."""
        if found := sorted(names):
            self.left += len(found)
            self.kept += [f"deployment {name}" for name in found]
            self.notes.append(
                f"{len(found)} deployments of Prefect still name it; what they run writes nothing "
                "of it; take them away with `prefect deployment delete`"
            )

    def leave_bytes(self, *, is_clean: bool) -> None:
        """Count a database that could not be rewritten."""
        if not is_clean:
            self.left += 1
            self.notes.append("a Prefect database was busy all the time: bytes may be left in it")

    def tell_sources(self, names: Iterable[str]) -> None:
        """Tell of sources of the settings that are for whom is forgotten."""
        if found := sorted(names):
            self.kept += [f"source {name or 'without a name'}" for name in found]
            self.notes.append(
                f"{len(found)} sources of the settings are still for it: remove them there"
            )
