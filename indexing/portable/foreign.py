"""Another system's export -> facts of a user, and a reason for every item that is none."""

from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from indexing.chat import reasons, zone_of
from indexing.errors import InvalidInput, LetopisError
from indexing.portable import langgraph, mem0
from indexing.portable.sniff import Values, answers_of, format_of, items_of, values_of
from indexing.portable.strict import check_value
from indexing.portable.types import Foreign, ForeignExport, Refused, System
from indexing.types import check_id

ReadItem = Callable[[str, object, str, ZoneInfo | None], Foreign]

READERS: dict[System, ReadItem] = {"mem0": mem0.read_item, "langgraph": langgraph.read_item}

OTHER_NAMESPACES = "items of other namespaces"


def read_foreign(
    text: str, user_id: str = "", timezone: str = "", namespaces: Sequence[str] = ()
) -> ForeignExport:
    """Read a JSON document or JSONL of mem0 or LangGraph Store, whichever it is.

    What is read becomes ``user_id``'s; empty: of the user that each item names (mem0). A mem0 item
    of another user is refused. A time without a zone is in ``timezone``, and is refused where that
    is empty. ``namespaces`` (dotted; with all below them) are the user's own; items of others are
    left out. They may be left empty where all items are of one.

    Raises `InvalidInput` for what is neither system's export, and for LangGraph items without a
    ``user_id`` or of several namespaces of which none is named; `InvalidId`; `ConfigError` for an
    unknown ``timezone``.
    """
    values = values_of(text)
    system = format_of(values)
    if system == "letopis":
        raise InvalidInput("an export of this system, not of another one")
    if user_id:
        check_id(user_id, "user id")
    zone = zone_of(timezone)
    export = ForeignExport(system)
    items = _items(export, values)
    if system == "langgraph":
        items = _of_namespaces(export, items, user_id, namespaces)
    _read(export, items, user_id, zone)
    return export


def _items(export: ForeignExport, values: Values) -> Values:
    """Take answers apart; note what they say about themselves."""
    items: Values = []
    for place, value in values:
        if isinstance(value, InvalidInput):
            export.refused.append(Refused(place, str(value)))
            continue
        found = list(items_of(value, place))
        items += found
        for answer in answers_of(value) if export.system == "mem0" else ():
            export.notes += mem0.notes_on(answer, len(found))
            _leave_out(export, "relations", mem0.relations_of(answer))
    return items


def _of_namespaces(
    export: ForeignExport, items: Values, user_id: str, namespaces: Sequence[str]
) -> Values:
    if not user_id:
        raise InvalidInput("items of a LangGraph Store name no user: say whose they are")
    places = [(langgraph.labels_in(item), place, item) for place, item in items]
    found = {labels for labels, _, _ in places if labels is not None}
    chosen = [langgraph.labels(name) for name in namespaces]
    if not chosen:
        langgraph.check_one(found)
    own = {one for one in found if not chosen or langgraph.within(one, chosen)}
    export.namespaces = tuple(sorted(".".join(one) for one in own))
    kept = [(place, item) for labels, place, item in places if labels is None or labels in own]
    _leave_out(export, OTHER_NAMESPACES, len(items) - len(kept))
    return kept


def _read(export: ForeignExport, items: Values, user_id: str, zone: ZoneInfo | None) -> None:
    read = READERS[export.system]
    seen: set[tuple[str, str]] = set()
    for place, fields in items:
        try:
            check_value(fields)
            item = read(place, fields, user_id, zone)
            if (item.user_id, item.source_id) in seen:
                raise InvalidInput("id: there is an earlier item with this id")
            check_id(item.source_id, "id")
        except (ValidationError, LetopisError, RecursionError) as error:
            export.refused.append(Refused(place, _why(error)))
            continue
        seen.add((item.user_id, item.source_id))
        export.items.append(item)
        export.left_out.update(item.left_out)
        if isinstance(fields, dict):
            _leave_out(export, "relations", mem0.relations_of(fields))


def _why(error: ValidationError | LetopisError | RecursionError) -> str:
    if isinstance(error, ValidationError):
        return reasons(error)
    return "nested too deep" if isinstance(error, RecursionError) else str(error)


def _leave_out(export: ForeignExport, name: str, count: int) -> None:
    if count:
        export.left_out[name] += count
