"""What the settings file says of the read side: scopes, fusion, relevance, neighbours."""

from typing import Annotated

from pydantic import Field

from configs.confidence_settings import ConfidenceSettings
from configs.fusion_settings import FusionSettings
from configs.neighbour_settings import NeighbourSettings
from configs.section import Section

Limit = Annotated[int, Field(ge=1, le=1000, description="length of each branch's list")]
DenseWeight = Annotated[float, Field(ge=0, description="weight of the dense branch; 0: off")]
SparseWeight = Annotated[float, Field(ge=0, description="weight of the sparse branch; 0: off")]
Cosine = Annotated[float | None, Field(description="least cosine of a dense hit; none: any")]
Bm25 = Annotated[float | None, Field(description="least BM25 score of a sparse hit; none: any")]

ScopeWeight = Annotated[float, Field(ge=0, description="weight beside the other scopes; 0: off")]


class ScopeSettings(Section):
    """How one scope is searched; see `retrieval.types.ScopePolicy`."""

    limit: Limit = 50
    dense: DenseWeight = 1.0
    sparse: SparseWeight = 1.0
    dense_threshold: Cosine = None
    sparse_threshold: Bm25 = None
    weight: ScopeWeight = 1.0


class GlobalSettings(ScopeSettings):
    """Documents for everybody: both branches count alike, and the threshold is stricter."""

    limit: Limit = 30
    dense_threshold: Cosine = 0.70


class UserSettings(ScopeSettings):
    """A user's own memories: softer, and a longer list."""

    dense_threshold: Cosine = 0.65


class SessionSettings(UserSettings):
    """One session's memories: few, so a shorter list."""

    limit: Limit = 30


class RetrievalSettings(Section):
    """The read side. Defaults are tuned on locomo and xquad (docs/decisions/0012)."""

    fusion: FusionSettings = FusionSettings()
    lexical_coverage: bool = Field(
        True, description="a lexical hit counts by its share of the question's content words"
    )
    language_balance: float = Field(
        0.85, ge=0, le=1, description="share of the gap between languages that is levelled"
    )
    telling: float = Field(
        1.0,
        ge=0,
        le=2,
        description="how much it counts that a turn of talk tells rather than asks, by whom the "
        "question names, with the time it asks for; 0: not at all",
    )
    scope_seconds: float = Field(
        5.0, ge=0, description="how long the scopes of a question may take; 0: no limit"
    )
    query_cache: int = Field(1024, ge=0, description="vectors of questions that are kept")
    least_confidence: float = Field(
        0.05, ge=0, le=1, description="an answer less probable than that is none; 0: show it"
    )
    confidence: ConfidenceSettings = ConfidenceSettings()
    neighbours: NeighbourSettings = NeighbourSettings()
    global_: GlobalSettings = Field(GlobalSettings(), alias="global")
    user: UserSettings = UserSettings()
    session: SessionSettings = SessionSettings()
