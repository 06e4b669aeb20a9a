"""How many cores this process may use: those of its affinity, where the system has one."""

import os


def cores() -> int:
    """Return the number, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
