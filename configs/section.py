"""What every table of the settings file is."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the settings file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
