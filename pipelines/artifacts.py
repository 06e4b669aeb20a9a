"""What a run shows in Prefect's UI: a progress bar while it works, then its page."""

from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)

from pipelines.page import Page


def publish(page: Page, key: str) -> None:
    """Show the page, as the newest version of its key."""
    create_markdown_artifact(page.markdown(), key, description=page.title)


class Bar:
    """A progress bar in the UI that is drawn again at each whole percent, at most."""

    def __init__(self, key: str, description: str) -> None:
        self._shown = 0
        made = create_progress_artifact(0.0, f"{key}-progress", description)
        assert isinstance(made, UUID)  # a coroutine only where a loop runs
        self._id = made

    def __call__(self, done: int, total: int) -> None:
        """Show that so many of so many are done."""
        percent = 100 * done // max(total, 1)
        if percent > self._shown:
            self._shown = percent
            update_progress_artifact(self._id, float(percent))
