"""The normal form of a text: two texts with one normal form are exact duplicates.

NFKC, casefold, ё = е, one space between words, and without the punctuation that carries nothing.
What changes the meaning stays: ``-5``, ``3.14``, ``50%``, ``v2.18.3``, ``--dry-run``, ``C++``,
``10²``, a question mark, an emoji; the case of ``-v`` and of links; commas beside a negation
("казнить, нельзя помиловать"). Letters are never folded to ASCII. No stems: that is for `near`.
"""

import hashlib
import re
import unicodedata

_SUPERSCRIPT = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
_QUOTES = dict.fromkeys(map(ord, "«»“”„‟"), '"') | dict.fromkeys(map(ord, "‘’‚‛`´"), "'")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff\ufe0e\ufe0f\u0300\u0301"), "")
_FOLDED = str.maketrans(_DASHES | _QUOTES | _INVISIBLE)
_CASED = re.compile(r"\S*://\S+|-[A-Za-z]")
_NEGATION = re.compile(
    r"(?<!\w)(?:не|ни|нет|нельзя|без|кроме|no|not|never|none|without|except|cannot|\w+n't)(?!\w)"
)
_ALONE = re.compile(r"-+|\.{3,}|[•·,;:!\"']+")
_PAIRS = {")": "(", "]": "[", "}": "{", '"': '"', "'": "'"}


def normal(text: str) -> str:
    """Return the normal form, "" where nothing but punctuation was said; idempotent.

    >>> normal("  «Ёлка»  куплена, —  всё! ")
    'елка куплена все'
    >>> normal("Ты дома?"), normal("-5 °C"), normal("?!")
    ('ты дома?', '-5 °c', '')
    """
    while (once := _once(text)) != text:
        text = once
        if text.replace(" ", "").isalnum():  # words alone stay as they are
            break
    return text


def exact_key(text: str) -> str | None:
    """Return the key that exact duplicates share; None where the normal form is empty.

    A text without a key is a duplicate of nothing, not even of itself.
    """
    form = normal(text)
    return hashlib.blake2b(form.encode(), digest_size=16).hexdigest() if form else None


def _once(text: str) -> str:
    text = fold(text)
    commas = _NEGATION.search(text.casefold()) is not None
    words = [_plain(word, commas) for word in text.split()]
    kept = [word for i, word in enumerate(words) if word and not _idle(words, i)]
    return " ".join(kept) if any(not _punctuation(word) for word in kept) else ""


def _plain(word: str, commas: bool) -> str:
    """Return a word in lower case without what stands around it; most words are letters only."""
    return word.casefold() if word.isalnum() else _bare(_lower(word), commas)


def fold(text: str) -> str:
    """Return NFKC text with one kind of dash and quote, е for ё and without stress marks.

    A power keeps its sign (``10²`` is ``10^2``), or it would read as another number.
    """
    text = _SUPERSCRIPT.sub(lambda found: "^" + unicodedata.normalize("NFKC", found.group()), text)
    text = unicodedata.normalize("NFKC", text).translate(_FOLDED)
    return unicodedata.normalize("NFC", text.replace("ё", "е").replace("Ё", "Е"))


def _lower(word: str) -> str:
    """Return the word casefolded, but for links and one-letter flags."""
    return word if _CASED.fullmatch(word) else word.casefold()


def _bare(word: str, commas: bool) -> str:
    """Return the word without the quotes, brackets and stops around it."""
    if re.search(r"[?]", word) and not word.strip("?!."):
        return "?"
    if _ALONE.fullmatch(word):
        return word
    while word:
        last, rest = word[-1], word[:-1]
        if word[0] in "([{\"'" and len(word) > 2 and not _emoticon(word):
            word = word[1:]
        elif last in _PAIRS and _PAIRS[last] not in rest and not _digit(rest, last):
            if _emoticon(word):
                break
            word = rest
        elif ((last in ".;:…" or (last == "," and not commas)) and rest.strip(".")) or (
            last == "!" and not rest[-1:].isdigit()
        ):
            word = rest
        elif re.search(r"[?!]{2,}$", word) and "?" in word:
            word = word.rstrip("?!") + "?"
        else:
            break
    return word


def _digit(rest: str, last: str) -> bool:
    """Return whether a closing quote is the sign of an inch or a minute: ``5"``."""
    return last in "\"'" and rest[-1:].isdigit()


def _emoticon(word: str) -> bool:
    return len(word) > 1 and not any(letter.isalnum() for letter in word)


def _idle(words: list[str], i: int) -> bool:
    """Return whether a word of punctuation alone says nothing where it stands."""
    if words[i].isalnum() or not _ALONE.fullmatch(words[i]):
        return False
    sides = "".join(words[max(i - 1, 0) : i])[-1:] + "".join(words[i + 1 : i + 2])[:1]
    return not (words[i] == "-" and len(sides) == 2 and sides.isdigit())


def _punctuation(word: str) -> bool:
    """Return whether a word is punctuation only: no letter, digit, emoji or sign of reckoning."""
    return all(unicodedata.category(letter)[0] in "PZC" for letter in word)
