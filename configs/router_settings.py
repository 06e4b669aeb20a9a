"""What the settings file says of the router; see `configs.analyst`."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from configs.section import Section


class RouterSettings(Section):
    """Who says what a question asks for. Whoever it is, only what is understood goes to SQL."""

    kind: Literal["rules", "linear", "chat"] = Field(
        "rules", description="`linear`: a classifier from `folder`; `chat`: a language model"
    )
    folder: Path | None = Field(
        None, description="what `python -m evals.fit_router FOLDER` wrote, for `linear`"
    )
    url: str = Field("", description="an OpenAI-compatible endpoint, as `http://host/v1`")
    model: str = Field("", description="the model's name there")
    api_key: str = Field("", repr=False, description="the endpoint's key")
    timeout: float = Field(
        2.0, gt=0, description="seconds that the endpoint may take; past it the rules decide"
    )
