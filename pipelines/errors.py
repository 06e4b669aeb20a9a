"""What can go wrong with the flow engine itself."""

from chunking.errors import LetopisError


class FlowUnavailable(LetopisError):
    """Prefect is not installed, its API does not answer, or its private server does not start."""
