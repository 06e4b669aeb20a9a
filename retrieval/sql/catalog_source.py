"""The memory's own catalog as a source: messages, sessions, calls of tools and models, facts …

What it declares are the views of `indexing.catalog_views`. Its users are spelt by `owner_key`.
The tools are not declared, since every deployment has others: `tool_words` says what one is called.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from indexing.catalog_views import SHARED
from retrieval.sql.schema import Dimension, Measure, Source, Table
from retrieval.sql.tool_words import tool_words

NAME = "memory"
CALLS = "letopis_tool_calls"
TOOL = "tool"


def said(text: str) -> tuple[str, ...]:
    """Return phrases that are written with commas."""
    return tuple(phrase.strip() for phrase in text.split(","))


def _pairs(who: str, verbs: str, *, both: bool = False) -> tuple[str, ...]:
    """Return "who verb" for all of them, with ``both`` "verb who" too."""
    pairs = [(one, verb) for one in said(who) for verb in said(verbs)]
    turned = [f"{verb} {one}" for one, verb in pairs] if both else []
    return (*(f"{one} {verb}" for one, verb in pairs), *turned)


def _state(value: str, *words: str) -> Dimension:
    """Return the dimension of words that are true of all rows of a table, and name no table."""
    return Dimension("row_state", "state", (), {value: said(", ".join(words))}, tells=False)


_RU_VERBS = "отправил, отправила, прислал, прислала, написал, написала, писал, писала, послал"
_EN_VERBS = "send, sent, write, wrote"

_KEPT = _state(
    "kept",
    "запомнено, запомнил, помнишь, ты помнишь, помнит, хранится, хранишь, ты хранишь, сохранено, "
    "известно, ты знаешь, записано, remembered, stored, known, saved, recorded, kept, "
    "you remember, you know, you have, you keep, you store, you have stored, you have saved, "
    "have you stored, have you saved, have you remembered, have you kept",
)
_LOADED = _state(
    "kept",
    *_KEPT.values["kept"],
    "загружено, загрузил, загрузила, загружал, добавлено, добавил, добавила, проиндексировано, "
    "upload, uploaded, loaded, added, add, indexed, ingested, ingest",
)

_ELSEWHERE = said(
    "buy, bought, brought, bring, brings, sold, gave, place, placed, take, took, taken, spent, "
    "spend, spends, spending, money, consumed, fired, fire, came, come, comes, купил, купила, "
    "купили, куплено, покупал, покупала, покупаю, продано, продали, подал, подавал, подано, "
    "оформил, оформила, оформлено, оформлял, оформлены, разместил, разместила, провел, провела, "
    "принес, принесла, принесло, принесли, приносит, дал, дала, дали, дало, пришло, поступило, "
    "поступал, потратил, потратила, потратили, потрачено, потрачен, тратил, тратит, трачу, "
    "израсходовал, израсходовано, расход, расходы, деньги, денег, ушло"
)
"""Words that mean nothing in a question about orders, and other things than rows in one here."""

_MADE = said(
    "make, made, used, use, uses, using, generate, generated, performed, perform, trigger, "
    "triggered, сделал, сделала, сделали, сделано, сделаны, делал, делала, делаю, использовал, "
    "использовался, использовалось, использовали, совершил, совершила, совершено, совершал, "
    "выполнил, выполнено, выполнялось, составил, составила"
)
"""The same for everything but calls, which are made."""

_ROLE = Dimension(
    "said_by",
    "role",
    (),
    {
        "user": (
            *_pairs("я", _RU_VERBS, both=True),
            *_pairs("i, i have, have i, i've", f"{_EN_VERBS}, written"),
            *said("отправил, отправила, sent by me, written by me, отправлено мной, написано мной"),
        ),
        "assistant": (
            *_pairs("ты", _RU_VERBS, both=True),
            *_pairs("you, you have, have you, the assistant", f"{_EN_VERBS}, written"),
        ),
    },
    tells=False,
)
_OUTCOME = Dimension(
    "outcome",
    "outcome",
    (),
    {
        "failed": said(
            "ошибка, с ошибкой, ошибался, завершился ошибкой, сбой, падал, упал, упавший, "
            "падение, сломался, ломался, неудачный, неуспешный, failed, fail, failure, error, "
            "with an error, crashed, crash, broke, unsuccessful"
        ),
        "succeeded": said(
            "успешный, успешно, удачный, без ошибки, без ошибок, сработал, succeeded, succeed, "
            "successful, successfully, without an error, without errors"
        ),
    },
    tells=False,
)
_FAILURE = Dimension(
    "how_it_ended",
    "failure",
    (),
    {
        "tool_error": (
            *_pairs("tool, tool call", "error, failure, crash"),
            *_pairs("ошибка, сбой, падение", "инструмента, вызова, вызова инструмента"),
            *said("errors of tools, failures of tools, errors in tools, errors in tool calls"),
        )
    },
)


_MADE_CALLS = _state(
    "made",
    "вызов, вызывал, вызывался, called, ran, run",
    "tool do i have, tool i have, tool have i, tool are there, tool were there, инструмент у меня, "
    "инструмент есть",  # those of a workshop may be meant
)
_CALLED = (_OUTCOME, _FAILURE, _MADE_CALLS)


def _table(name: str, synonyms: tuple[str, ...], time: str, *dimensions: Dimension) -> Table:
    return Table(
        name,
        synonyms,
        key="",
        tenant_column="owner",
        time_column=time,
        time_format="epoch",
        dimensions=dimensions,
        unlike=(*_ELSEWHERE, *_MADE),
        called=name.removeprefix("letopis_").replace("_", " "),
    )


_MESSAGE = said("message, сообщение, реплика, chat message")
_DOCUMENT = said("document, документ")
_CALLS = replace(
    _table(
        CALLS,
        said(
            "tool call, call of a tool, calls to tools, tool use, tool run, tool invocation, "
            "вызов инструмента, обращение к инструменту, запуск инструмента"
        ),
        "called_at",
        Dimension(TOOL, "tool", said("tool, инструмент")),
        *_CALLED,
    ),
    unlike=_ELSEWHERE,
)
_SPENDING = said(
    "spent, spend, spends, spending, consumed, потратил, потратила, потратили, потрачено, "
    "потрачен, тратил, тратит, трачу, израсходовал, израсходовано, ушло"
)
"""What is said of the tokens of calls, and of nothing else here."""

_SPENT_ON = (
    *_pairs(
        "потратил на, потратила на, потратили на, потрачено на, ушло на, денег ушло на, "
        "денег потрачено на, денег потратил на, денег я потратил на, израсходовано на",
        "вызовы модели, вызов модели, модель, запросы к модели, вызовы llm, llm",
    ),
    *_pairs(
        "spent on, spend on, money spent on, money did i spend on, money was spent on",
        "model calls, the model, llm calls, calls to the model, calls of the model",
    ),
    *_pairs("model calls, model call, llm calls, llm call, the model", "cost, costs, costed"),
)
"""What asks for the cost of calls, where their name alone would count them."""

_MODEL_CALLS = replace(
    _table(
        "letopis_model_calls",
        said(
            "model call, call of the model, call to the model, call of a model, call to a model, "
            "llm call, call to the llm, model request, llm request, request to the model, "
            "вызов модели, обращение к модели, запрос к модели, вызов llm, запрос к llm, "
            "вызов языковой модели, запрос к языковой модели"
        ),
        "called_at",
        Dimension("model", "model", said("model, llm, модель, языковая модель")),
        Dimension(
            "cached",
            "cached",
            (),
            {
                "hit": said("from the cache, cached, cache hit, из кэша, из кеша, кэшированный"),
                "missed": said("cache miss, not from the cache, мимо кэша, мимо кеша"),
            },
            tells=False,
        ),
    ),
    measures=(
        Measure("tokens", "tokens", said("token, токен")),
        Measure(
            "tokens_in",
            "tokens_in",
            said(
                "input token, prompt token, incoming token, token in, входной токен, "
                "входящий токен, токен на входе, токен запроса, токен промпта"
            ),
        ),
        Measure(
            "tokens_out",
            "tokens_out",
            said(
                "output token, completion token, generated token, token out, выходной токен, "
                "исходящий токен, токен на выходе, токен ответа"
            ),
        ),
        Measure(
            "cost",
            "cost",
            said(
                "cost of model calls, cost of the model, cost of llm calls, cost of calls, "
                "стоимость вызовов модели, стоимость модели, стоимость вызовов, "
                "стоили вызовы модели, стоили вызовы, стоил вызов модели, стоила модель, "
                "стоимость запросов к модели, стоили запросы к модели"
            )
            + _SPENT_ON,
        ),
    ),
    unlike=tuple(word for word in _ELSEWHERE if word not in _SPENDING),
)
_TABLES = (
    _table("letopis_messages", _MESSAGE, "said_at", _ROLE),
    _table(
        "letopis_own_messages",
        _pairs("my, own, мои, свои", "message, сообщение, реплика"),
        "said_at",
    ),
    _table(
        "letopis_replies",
        (
            *_pairs("you, your, the assistant", "reply, answer, response, replied, answered"),
            *_pairs("ты, твои", "ответ, ответил, отвечал", both=True),
        ),
        "said_at",
    ),
    _table(
        "letopis_sessions",
        said("session, conversation, chat, сессия, разговор, беседа, диалог, чат"),
        "started_at",
    ),
    _CALLS,
    _MODEL_CALLS,
    _table("letopis_facts", said("fact, факт"), "added_at", _KEPT),
    _table(
        "letopis_digests", said("digest, summary, дайджест, сводка, саммари"), "added_at", _KEPT
    ),
    replace(_table("letopis_documents", _DOCUMENT, "added_at", _LOADED), shared=SHARED),
    _table("letopis_own_documents", _DOCUMENT, "added_at", _LOADED),
)


def catalog_source(url: str, timezone: str = "UTC") -> Source:
    """Return the source over the catalog at a URL; its days and months are those of the zone."""
    return Source(NAME, url, _TABLES, timezone)


def with_tools(source: Source, tools: Sequence[str]) -> Source:
    """Return the catalog's source as it is asked by somebody who has these tools.

    The same object for the same tools, so that its vocabulary is made once.
    """
    return _with_tools(source.url, source.timezone, tuple(sorted(set(tools))))


@lru_cache(maxsize=32)
def _with_tools(url: str, timezone: str, tools: tuple[str, ...]) -> Source:
    named = Dimension(TOOL, "tool", said("tool, инструмент"), tool_words(tools))
    calls = replace(_CALLS, dimensions=(named, *_CALLED))
    tables = tuple(calls if table.name == CALLS else table for table in _TABLES)
    return Source(NAME, url, tables, timezone)
