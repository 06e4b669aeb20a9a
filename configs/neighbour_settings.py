"""What the settings file says of `retrieval.neighbours`: what a hit brings along."""

from datetime import timedelta

from pydantic import Field

from configs.section import Section
from retrieval.passages import NeighbourPolicy


class NeighbourSettings(Section):
    """How much stands around a hit, where it is asked for."""

    always: bool = Field(False, description="also where a call does not ask for neighbours")
    turns_before: int = Field(1, ge=0, description="turns of the conversation before a turn")
    turns_after: int = Field(1, ge=0, description="turns after it")
    chunks_before: int = Field(1, ge=0, description="chunks of the document before a chunk")
    chunks_after: int = Field(1, ge=0, description="chunks after it")
    section: bool = Field(True, description="only chunks under the same headings")
    tokens: int = Field(512, ge=1, description="most tokens of what one hit brings, with itself")
    within_hours: float = Field(24.0, gt=0, description="turns further away are no neighbours")

    def policy(self) -> NeighbourPolicy:
        """Return them as the read side takes them."""
        return NeighbourPolicy(
            self.turns_before,
            self.turns_after,
            self.chunks_before,
            self.chunks_after,
            self.section,
            self.tokens,
            timedelta(hours=self.within_hours),
        )
