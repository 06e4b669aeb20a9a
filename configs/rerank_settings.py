"""What the settings file says of the reranker; see `configs.rerankers`."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field, model_validator

from configs.section import Section

BEST: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "built-in": MappingProxyType(
            {"candidates": 30, "characters": 12_000, "weight": 1.0, "talk": 2.0, "longest": 600}
        ),
        "late": MappingProxyType({"candidates": 30, "weight": 0.6, "before": True}),
    }
)
"""What is best where a kind is chosen and a setting is not; measured in docs/reranker.md."""

ADDED = ("weight", "talk")
"""Settings that add scores: not put in where ranks are blended."""


def _by_kind(name: str, text: str, other: str) -> str:
    """Say what a setting means, its defaults by kind, and what the ``other`` kinds have."""
    own = ", ".join(f"`{kind}` {_shown(best[name])}" for kind, best in BEST.items() if name in best)
    return f"{text}; where nothing is said: {own}, others {other}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


class RerankSettings(Section):
    """Which reranker, and how much it may take: ``model`` is a name or a folder, by ``kind``."""

    kind: Literal[
        "none", "built-in", "late", "onnx", "fastembed", "sentence-transformers", "endpoint"
    ] = Field(
        "built-in",
        description="where the reranker comes from; `built-in`: the one that ships; `none`: the "
        "fused order stays",
    )
    model: str = Field("", description="the reranker's name by `kind`; empty: the folder's name")
    folder: Path | None = Field(None, description="its files, for `onnx` or offline use")
    url: str = Field("", description="an endpoint whose `/rerank` is asked, as `https://host/v2`")
    style: Literal["cohere", "jina", "tei"] = Field(
        "cohere", description="how the endpoint is spoken to"
    )
    api_key: str = Field("", repr=False, description="the endpoint's key")
    logits: bool = Field(False, description="the endpoint answers logits, not 0..1")
    retries: int = Field(
        2, ge=0, description="tries after the first, where another may pass (429, 5xx, no answer)"
    )
    before: bool = Field(
        False, description=_by_kind("before", "a turn is read with the turn before it", "false")
    )
    candidates: int = Field(
        50,
        ge=1,
        le=1000,
        description=_by_kind("candidates", "how many of the fused are reranked", "50"),
    )
    characters: int = Field(
        0,
        ge=0,
        description=_by_kind(
            "characters", "most characters that are read of a question's candidates, 0: any", "0"
        ),
    )
    budget_ms: float | None = Field(
        None,
        gt=0,
        description="milliseconds of one rerank: candidates past it keep the fused order; "
        "none: `timeout`",
    )
    timeout: float = Field(
        5.0, gt=0, description="seconds of one call of the reranker; past it the fused order stays"
    )
    max_length: int = Field(
        512, ge=64, description="tokens that the reranker reads, where its own limit is not less"
    )
    window: int = Field(
        0, ge=0, description="most tokens of a passage read at once; 0: all that fits"
    )
    overlap: int = Field(
        64, ge=0, description="tokens that the windows of a long passage share, at most half of one"
    )
    cache: int = Field(10_000, ge=0, description="scores kept in memory, as numbers under digests")
    blend: float = Field(
        0.0, ge=0, le=1, description="how much the fused rank counts; 0: the reranker alone"
    )
    weight: float = Field(
        0.0,
        ge=0,
        description=_by_kind(
            "weight",
            "how much the reranker's score counts beside the fused one, both levelled within the "
            "candidates; 0: ranks are blended",
            "0, as all with a `blend`",
        ),
    )
    talk: float = Field(
        0.0,
        ge=0,
        description=_by_kind(
            "talk",
            "how much the reranker's probability counts where the best of the fused order is a "
            "turn of talk, in standard deviations of the fused score; 0: as `weight` says",
            "0",
        ),
    )
    longest: int = Field(
        0,
        ge=0,
        description=_by_kind(
            "longest",
            "a memory of more characters is not read and keeps its place, 0: any",
            "0",
        ),
    )
    least: float = Field(
        0.0,
        ge=0,
        le=1,
        description="least score of the reranker, a probability; what has less is no answer",
    )
    threads: int = Field(0, ge=0, description="0: all cores this process may use")
    batch_tokens: int = Field(1024, ge=512, description="padded tokens of one model call")

    @model_validator(mode="before")
    @classmethod
    def _best_of_kind(cls, values: Any) -> Any:
        """Put in what the chosen kind is best with, where nothing is said."""
        if not isinstance(values, Mapping):
            return values
        kind = values.get("kind", cls.model_fields["kind"].default)
        best = BEST.get(kind, {}) if isinstance(kind, str) else {}
        blended = "blend" in values
        return {k: v for k, v in best.items() if not (blended and k in ADDED)} | dict(values)
