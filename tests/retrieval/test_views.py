"""A question asked of both views of a turn: with the turn before, and its own alone."""

import pytest

from chunking.types import Session, Turn
from configs.fusion_settings import FusionSettings
from configs.retrieval_settings import RetrievalSettings, UserSettings
from configs.text_settings import TemplateSettings
from indexing.ingest import ingest_chats
from indexing.types import user_scope
from tests.conftest import PartsMaker

TALK = Session(
    "s", (Turn("1", "user", "Куда поедем в августе?"), Turn("2", "assistant", "На Байкал."))
)


@pytest.mark.parametrize("method", ["rrf", "dbsf", "convex"])
def test_every_view_has_its_share(make_parts: PartsMaker, method: str) -> None:
    fusion = FusionSettings(method=method)  # type: ignore[arg-type]
    user = UserSettings(dense_threshold=None)
    parts = make_parts(
        template=TemplateSettings(views=True),
        retrieval=RetrievalSettings(fusion=fusion, user=user, least_confidence=0),
    )
    ingest_chats(parts.index, user_scope("ann"), [TALK])
    hits = {hit.memory.turn_id: hit for hit in parts.retriever.retrieve("в августе", "ann")}
    assert set(hits["1"].stages) == {"dense", "dense.own", "sparse", "sparse.own"}
    assert set(hits["2"].stages) == {"dense", "dense.own", "sparse"}  # the word was said before
    for hit in hits.values():
        assert hit.fused == pytest.approx(sum(stage.share for stage in hit.stages.values()))


def test_one_view_is_asked_where_one_is_stored(make_parts: PartsMaker) -> None:
    user = UserSettings(dense_threshold=None)
    parts = make_parts(retrieval=RetrievalSettings(user=user))
    ingest_chats(parts.index, user_scope("ann"), [TALK])
    for hit in parts.retriever.retrieve("в августе", "ann"):
        assert set(hit.stages) == {"dense", "sparse"}
