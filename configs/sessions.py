"""Settings -> `Desk`: what the sessions of a deployment share."""

from datetime import timedelta
from functools import partial

from configs.session_settings import DigestModelSettings, SessionSettings
from configs.settings import Settings
from indexing.index import Index
from retrieval.completions import ChatModel
from retrieval.retriever import Retriever
from sessions.ageing import AgeingPolicy
from sessions.calls import CallLog, Ceilings
from sessions.digest import DigestPolicy
from sessions.log import Indexing, TurnLog
from sessions.model_digest import INSTRUCTION, ModelDigest
from sessions.session import Desk, SessionPolicy
from sessions.truncate import shorten
from sessions.types import CountTokens


def build_desk(settings: Settings, index: Index, retriever: Retriever, count: CountTokens) -> Desk:
    """Put conversation memory together over an open index. Raises `ConfigError`."""
    chosen = settings.session
    indexing = Indexing(chosen.result_chars, partial(shorten, limit=chosen.result_chars))
    return Desk(
        TurnLog(index, count, indexing),
        CallLog(index, Ceilings(chosen.token_ceiling, chosen.cost_ceiling)),
        retriever,
        session_policy(chosen, timedelta(minutes=settings.schedule.idle_minutes)),
        _wording(chosen.digest.model, count),
    )


def session_policy(chosen: SessionSettings, idle: timedelta) -> SessionPolicy:
    """Return the policy of these settings; ``idle`` is how long a session is left to itself."""
    digest = chosen.digest
    return SessionPolicy(
        digest=DigestPolicy(digest.messages, digest.keep, digest.tokens, idle, digest.cap_tokens),
        context=chosen.context.policy(chosen.window.policy()),
        ageing=AgeingPolicy(cap_tokens=digest.aged_tokens),
        ending=chosen.on_close,
        automatic=digest.automatic,
        outside_ttl=timedelta(hours=chosen.outside_hours),
    )


def _wording(chosen: DigestModelSettings, count: CountTokens) -> ModelDigest | None:
    if not chosen.url:
        return None
    chat = ChatModel(
        chosen.url, chosen.model, chosen.api_key, chosen.timeout, section="session.digest.model"
    )
    return ModelDigest(chat, count, chosen.instruction or INSTRUCTION)
