"""Numbers in a question: digits, small number words and thousands of both languages."""

from collections.abc import Sequence

from retrieval.sql.words import Token, key

_SAID = """
1 one один одного одной одна
2 two два две двух
3 three три трех
4 four четыре четырех
5 five пять пяти
6 six шесть шести
7 seven семь семи
8 eight восемь восьми
9 nine девять девяти
10 ten десять десяти
11 eleven одиннадцать
12 twelve двенадцать
20 twenty двадцать двадцати
30 thirty тридцать тридцати
100 hundred сто ста
"""
_WORDS = {
    said: int(number)
    for number, *words in (line.split() for line in _SAID.split("\n") if line)
    for said in words
}

_SCALES = {
    key(word): scale
    for scale, words in (
        (1e3, "тысяча тысяч тыс т k к thousand"),
        (1e6, "миллион миллионов млн m million"),
    )
    for word in words.split()
}


def word(text: str) -> int | None:
    """Return what a number word stands for.

    >>> word("трех"), word("five"), word("много")
    (3, 5, None)
    """
    return _WORDS.get(text)


def read(words: Sequence[Token], at: int) -> tuple[float, int, float] | None:
    """Return the number that begins at a token, the index after it and its scale; None: no number.

    "5 тысяч", "5k" and "пять тысяч" are 5000; "1,000" and "1 000" are 1000, "2,5" is 2.5.
    """
    if at >= len(words):
        return None
    number = digits(words[at].text) if words[at].text[0].isdigit() else word(words[at].text)
    if number is None:
        return None
    scale = _SCALES.get(words[at + 1].key) if at + 1 < len(words) else None
    if scale and len(words[at + 1].text) == 1 and words[at + 1].start > words[at].end:
        scale = None  # a letter of its own is no "k"
    return (number * scale, at + 2, scale) if scale else (float(number), at + 1, 1)


def digits(text: str) -> float:
    """Return the value of a run of digits with its separators."""
    text = text.replace(" ", "")
    whole, comma, rest = text.partition(",")
    if comma and len(rest) == 3 and whole != "0" and "." not in text:
        return float(whole + rest)
    if text.count(",") + text.count(".") > 1:
        return float(text.replace(",", ""))
    return float(text.replace(",", "."))
