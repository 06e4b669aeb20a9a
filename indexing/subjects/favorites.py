"""Favourite things: "my favourite colour", "мой любимый цвет" -> one slot in both languages."""

from indexing.subjects import values
from indexing.subjects.types import Shape
from indexing.subjects.words import fold, folded

THINGS: dict[str, str] = {
    fold(word): thing
    for thing, words in {
        "color": "color|colour|цвет",
        "food": "food|еда",
        "dish": "dish|meal|блюдо",
        "drink": "drink|beverage|напиток",
        "cuisine": "cuisine|кухня",
        "fruit": "fruit|фрукт",
        "season": "season|время года",
        "number": "number|число",
        "animal": "animal|животное",
        "sport": "sport|вид спорта",
        "movie": "movie|film|фильм",
        "book": "book|книга",
        "song": "song|песня",
        "band": "band|группа",
        "singer": "singer|певец|певица",
        "actor": "actor|actress|актер|актриса",
        "writer": "writer|author|писатель",
        "series": "series|tv series|tv show|show|сериал",
        "game": "game|игра",
        "team": "team|команда",
        "city": "city|город",
        "restaurant": "restaurant|ресторан",
        "cafe": "cafe|coffee shop|кафе|кофейня",
        "holiday": "holiday|праздник",
        "language": "programming language|язык программирования",
    }.items()
    for word in words.split("|")
}
_PLAIN = frozenset(("color", "food", "dish", "drink", "cuisine", "fruit", "season", "sport"))
"""Things named by common nouns; the others need a capital: "my favourite cafe is closed"."""

_VAGUE = folded(
    "thing,part,bit,way,moment,memory,one,quote,line,person,student,child,kid,friend,sister,brother",
    "reason,feature,вещь,часть,момент,человек,друг,подруга,сестра,брат,ребенок,внук,тема",
)
"""Folded nouns of which one has many favourites, or none."""


def favorite(thing: str) -> tuple[str, Shape] | None:
    """Return the slot of a folded favourite thing and the shape of its value."""
    if not thing or thing in _VAGUE or (" " in thing and thing not in THINGS):
        return None
    name = THINGS.get(thing, thing)
    return f"favorite.{name}", values.phrase if name in _PLAIN else values.distinct
