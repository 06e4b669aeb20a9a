"""What messages cost in tokens, by OpenAI's rule. Pure.

A message is 3 tokens and its role one, besides what its content, name and calls are; the answer is
primed with 3 more, once. It is the rule of the OpenAI cookbook ("How to count tokens with
tiktoken"), which counts no calls: of those the id, the tool's name and the arguments are counted,
as of an answer the id of its call. Other vendors' frames differ by a token or two a message.
"""

from collections.abc import Iterable

from sessions.types import CountTokens, LoggedTurn, Message

MESSAGE = 4
"""The frame of a message and its role."""

REPLY = 3
"""What primes the answer."""


def message_tokens(message: Message, count: CountTokens) -> int:
    """Return the tokens of one message."""
    tokens = MESSAGE + count(message.get("content") or "")
    if name := message.get("name"):
        tokens += 1 + count(name)
    if answered := message.get("tool_call_id"):
        tokens += count(answered)
    for call in message.get("tool_calls") or ():
        tool = call["function"]
        tokens += count(call["id"]) + count(tool["name"]) + count(tool["arguments"])
    return tokens


def remembering(count: CountTokens, turns: Iterable[LoggedTurn]) -> CountTokens:
    """Return a counter that asks once for a text, and never for one that the log has counted."""
    known: dict[str, int] = {"": 0}
    for turn in turns:
        if turn.tokens >= MESSAGE and not turn.entry.calls:
            known[turn.entry.text] = turn.tokens - MESSAGE

    def counted(text: str) -> int:
        found = known.get(text)
        if found is None:
            found = known[text] = count(text)
        return found

    return counted
