"""Conversation memory in the settings file: `[session]` and its tables; see `configs.sessions`."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from configs.section import Section
from indexing.errors import InvalidInput
from sessions.policies import ContextPolicy, WindowPolicy
from sessions.types import LayerName


class WindowSettings(Section):
    """The turns that a context has word for word."""

    last: int = Field(20, ge=0, description="turns at the end of a session")
    pinned: int = Field(3, ge=0, description="turns at its start")
    tokens: int | None = Field(None, ge=1, description="tokens of the last ones; none: any")

    def policy(self) -> WindowPolicy:
        """Return the policy of these settings."""
        return WindowPolicy(self.last, self.pinned, self.tokens)


class ContextSettings(Section):
    """What `context` puts together, and who gives way where it does not fit (docs/context.md)."""

    budget: int = Field(4000, ge=1, description="tokens of a context with its answer")
    reserve: int = Field(1000, ge=0, description="of them, tokens that are kept for the answer")
    shares: Mapping[LayerName, float] = Field(
        ContextPolicy().shares, description="share below which a layer is not cut"
    )
    hits: int = Field(24, ge=0, description="memories that are shown at most")
    facts: int = Field(50, ge=0, description="facts of the user that are listed at most")
    outside: int = Field(8, ge=0, description="notes of live data that are listed at most")
    tool_tokens: tuple[int, ...] = Field(
        (400, 200, 100), description="what a tool's result is cut to, step by step"
    )
    fields: tuple[str, ...] = Field((), description="fields that are kept of JSON results")

    def policy(self, window: WindowPolicy) -> ContextPolicy:
        """Return the policy of these settings. Raises `InvalidInput` where they contradict."""
        return ContextPolicy(
            self.budget,
            self.reserve,
            dict(self.shares),
            window,
            self.hits,
            self.facts,
            self.tool_tokens,
            self.fields,
            self.outside,
        )


class DigestModelSettings(Section):
    """A language model that words the summary of a digest; without one rules choose sentences."""

    url: str = Field("", description="an OpenAI-compatible endpoint, as `http://host:11434/v1`")
    model: str = Field("", description="the model's name there")
    api_key: str = Field("", repr=False, description="the endpoint's key")
    timeout: float = Field(30.0, gt=0, description="seconds that it may take; then rules do it")
    instruction: str = Field(
        "", description="what your domain wants kept; empty: decisions, names, numbers, dates …"
    )


class DigestSettings(Section):
    """When the turns before the last ones are folded into the digest (docs/digests.md)."""

    automatic: bool = Field(True, description="as soon as appending makes it due")
    messages: int = Field(30, ge=1, description="due past so many turns that no digest has")
    keep: int = Field(15, ge=0, description="turns that stay outside")
    tokens: int = Field(8000, ge=1, description="due past so many tokens of such turns")
    cap_tokens: int = Field(1500, ge=1, description="tokens of a digest; what must last stays")
    aged_tokens: int = Field(
        1500, ge=1, description="tokens of the digest of all sessions of a user"
    )
    model: DigestModelSettings = DigestModelSettings()

    @model_validator(mode="after")
    def _room(self) -> Self:
        if self.keep > self.messages:
            raise ValueError("keep is at most messages")
        return self


class SessionSettings(Section):
    """What is kept of a session from turn to turn, and what of it stays."""

    window: WindowSettings = WindowSettings()
    context: ContextSettings = ContextSettings()
    digest: DigestSettings = DigestSettings()
    on_close: Literal["archive", "clear"] = Field(
        "archive", description="what `session close` does to a session's own memories and log"
    )
    result_chars: int = Field(
        500, ge=1, description="characters of a tool's result that can be searched; the log has all"
    )
    outside_hours: float = Field(
        24.0, gt=0, description="hours for which a price or a status that was mentioned counts"
    )
    token_ceiling: int | None = Field(
        None, ge=1, description="tokens that the model calls of a session may take; none: any"
    )
    cost_ceiling: float | None = Field(None, gt=0, description="the same in your currency")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        try:
            self.context.policy(self.window.policy())
        except InvalidInput as error:
            raise ValueError(str(error)) from error
        return self
