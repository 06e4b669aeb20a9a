"""Views of the catalog that questions are answered from: messages, sessions, tool calls, facts.

They show what is counted and whose it is (`catalog_schema.owner_key`), no id and no text but the
names of tools. What was begun and never finished, and what is in no memory any more, is in none.
``state`` is the same in all rows of a view: words such as "stored" need a column. A result that is
no turn of a tool, but was put down as live data, is no call. The databases that ask the views know
no functions but those of answers: a view may call none.
Made by a migration: to change one, drop it and make it anew in a later one.
"""

from collections.abc import Mapping

SHARED = ""
"""The owner of what is global."""

_ROWS = """
    SELECT scopes.owner AS owner, {columns}
    FROM sources JOIN scopes ON scopes.tenant = sources.tenant
    WHERE {where}"""

_MESSAGE = "sources.said_at AS said_at, sources.role AS role"


def _rows(columns: str, where: str) -> str:
    return _ROWS.format(columns=columns, where=where)


def _added(kind: str) -> str:
    """Return the rows of a kind that has no conversation."""
    columns = "sources.added_at AS added_at, 'kept' AS state"
    return _rows(columns, f"sources.kind = '{kind}' AND sources.chunks > 0")


VIEWS: Mapping[str, str] = {
    "letopis_messages": _rows(
        _MESSAGE, "sources.kind = 'turn' AND sources.role IN ('user', 'assistant')"
    ),
    "letopis_own_messages": _rows(_MESSAGE, "sources.kind = 'turn' AND sources.role = 'user'"),
    "letopis_replies": _rows(_MESSAGE, "sources.kind = 'turn' AND sources.role = 'assistant'"),
    "letopis_sessions": """
    SELECT scopes.owner AS owner, MIN(sources.said_at) AS started_at
    FROM sources JOIN scopes ON scopes.tenant = sources.tenant
    WHERE sources.conversation_id <> '' AND (sources.kind IN ('turn', 'tool_result')
        OR (sources.kind = '' AND sources.chunks > 0))
    GROUP BY scopes.owner, sources.conversation_id""",
    "letopis_tool_calls": _rows(
        "sources.said_at AS called_at, 'made' AS state, NULLIF(sources.tool, '') AS tool, "
        "CASE sources.failed WHEN 1 THEN 'failed' WHEN 0 THEN 'succeeded' END AS outcome, "
        "CASE sources.failed WHEN 1 THEN 'tool_error' END AS failure",
        "sources.kind = 'tool_result' AND sources.role = 'tool'",
    ),
    "letopis_facts": _added("fact"),
    "letopis_digests": _added("digest"),
    "letopis_documents": _added("document"),
    "letopis_own_documents": f"{_added('document')} AND scopes.collection <> 'global'",
}
"""Name of a view -> its SELECT, the same on SQLite and on PostgreSQL."""

CALL_VIEWS: Mapping[str, str] = {
    "letopis_model_calls": """
    SELECT scopes.owner AS owner, session_calls.called_at AS called_at, 'made' AS state,
        NULLIF(session_calls.model, '') AS model, session_calls.tokens_in AS tokens_in,
        session_calls.tokens_out AS tokens_out,
        session_calls.tokens_in + session_calls.tokens_out AS tokens, session_calls.cost AS cost,
        CASE session_calls.cache WHEN '' THEN 'missed' ELSE 'hit' END AS cached,
        NULLIF(session_calls.cache, '') AS cache
    FROM session_calls JOIN scopes ON scopes.tenant = session_calls.tenant""",
}
"""The views over the tables of conversations, which came later."""
