"""What people call a tool by its name: "web_search" is "the search tool" and "инструмент поиска".

A word of a name stands for the tool where no other tool of the same caller has it. Nothing is
matched by likeness: a Russian word is known because it is in the table below.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

MOST = 200
"""Tools of one caller that are known by name."""

RUSSIAN: Mapping[str, str] = {
    "browser": "браузер",
    "calculator": "калькулятор",
    "calendar": "календарь",
    "database": "база данных",
    "db": "база данных",
    "sql": "база данных",
    "email": "почта",
    "mail": "почта",
    "file": "файл",
    "files": "файлы",
    "image": "картинка",
    "map": "карта",
    "maps": "карты",
    "memory": "память",
    "python": "питон",
    "reminder": "напоминание",
    "search": "поиск",
    "translate": "перевод",
    "translator": "переводчик",
    "weather": "погода",
}
"""Words that names of tools are made of, in Russian."""

_TOOL_OF = ("инструмент", "вызов инструмента", "обращение к инструменту")

_PARTS = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-zа-яё])(?=[A-ZА-ЯЁ])")


def tool_words(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what each tool is called beside its name; of more than `MOST` tools the first.

    >>> tool_words(["web_search", "mail"])["web_search"][:2]
    ('web search', 'web search tool')
    """
    parts = {name: _parts(name) for name in names[:MOST]}
    owners = Counter(word for words in parts.values() for word in set(words))
    found: dict[str, tuple[str, ...]] = {}
    for name, words in parts.items():
        whole = " ".join(words)
        alone = [word for word in words if owners[word] == 1]
        called = [whole, f"{whole} tool", f"tool {whole}", f"инструмент {whole}"]
        for word in alone:
            called += [f"{word} tool", f"tool {word}", f"инструмент {word}"]
            if word in RUSSIAN:
                called += [f"{said} {RUSSIAN[word]}" for said in _TOOL_OF]
        if len(words) == 1 and words[0] in RUSSIAN and owners[words[0]] == 1:
            called.append(RUSSIAN[words[0]])
        found[name] = tuple(dict.fromkeys(filter(str.strip, called)))
    return found


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(_HUMP.sub(" ", name))]
