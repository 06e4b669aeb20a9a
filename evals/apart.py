"""Small memories: each session of a conversation as a user of its own, of some twenty turns.

What is tuned on users of six hundred turns is checked on these: with few memories words are common
to many of them, so BM25 scores are low, and lists hold all there is.
"""

from dataclasses import replace

from evals.datasets import Dataset, Entry


def apart(chat: Dataset) -> Dataset:
    """Return a set of chats with a user for each session; queries that one session answers stay."""
    documents = {key: _moved(entry, _session(entry)) for key, entry in chat.documents.items()}
    queries, qrels = {}, {}
    for key, held in chat.qrels.items():
        homes = {documents[name].conv for name in held if name in documents}
        if len(homes) == 1:
            queries[key] = _moved(chat.queries[key], homes.pop())
            qrels[key] = held
    return Dataset(f"{chat.name}-apart", f"{chat.corpus}-apart", documents, queries, qrels)


def _session(entry: Entry) -> str:
    return f"{entry.conv} {entry.extra.get('session_date_time', '')}"


def _moved(entry: Entry, conv: str) -> Entry:
    return replace(entry, extra={**entry.extra, "conv": conv})
