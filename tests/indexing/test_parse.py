"""Untrusted files -> text, documents and turns: what is read exactly, and what is refused."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunking.types import Document, Turn
from indexing.chat import parse_turns
from indexing.decode import decode
from indexing.errors import ConfigError, SourceError
from indexing.formats.html import parse_html
from indexing.formats.markdown import parse_markdown
from indexing.formats.text import parse_text
from indexing.turns import own_hash

RU = (
    "Датчик проверяют раз в год. Если показания расходятся больше чем на два процента, "
    "его снимают и отправляют в поверку. Акт подписывает начальник смены."
)
EN = (
    "The sensor is checked once a year. If the readings differ by more than two per cent, "
    "it is taken down and sent back; the shift lead signs the form."
)


# bytes -> text


@pytest.mark.parametrize("text", [RU, EN, f"{RU}\n\n{EN}\n", f"# {RU}\r\n- «{EN}»\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_encodings_are_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_utf_32_bom_is_read() -> None:
    assert decode(RU.encode("utf-32")) == RU


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866"])
@pytest.mark.parametrize("text", [RU, f"{RU}\n\n{EN}\n", RU[:60], RU.upper()])
def test_russian_encodings_are_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_western_letters_are_read() -> None:
    text = f"{EN} Café “naïve” — déjà vu; the price is £5."
    assert decode(text.encode("cp1252")) == text


SENTENCES = st.lists(
    st.sampled_from(
        (
            *("Заказ отгрузили вчера вечером.", "Кто отвечает за калибровку датчиков?"),
            *("Мы договорились о встрече в понедельник, в десять утра.", "Счёт ещё не оплачен!"),
            *("Где лежит инструкция по настройке шлюза?", "Проверьте, пожалуйста, отчёт."),
            *("The order was shipped last night.", "Who calibrates the sensors?"),
            *("BX-4471-A, v2.18.3 и --dry-run.", "Возврат принимают четырнадцать дней."),
        )
    ),
    min_size=3,
    max_size=12,
)


@given(SENTENCES, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]))
def test_unicode_round_trip(sentences: list[str], encoding: str) -> None:
    text = "\n".join(sentences)
    assert decode(text.encode(encoding)) == text


@given(SENTENCES, st.sampled_from(["cp1251", "koi8-r", "cp866"]))
@settings(max_examples=60)
def test_russian_round_trip(sentences: list[str], encoding: str) -> None:
    text = " ".join([*sentences, RU[:60]])
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "data", [b"", b"  \n\t\r\n", b"\xef\xbb\xbf", b"\xff\xfe", "\u2003".encode()]
)
def test_an_empty_file_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"^empty file$"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 20,
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + bytes(range(256)) * 10,
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(0, 256, 3)) * 30,
        b"PK\x03\x04" + b"\x00" * 400,
        b"\x00" * 5000,
        b"\x1b\x00\x02",
        b"text \x00\x01\x02\x03\x04 more",
    ],
)
def test_what_is_not_text_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"binary content|broken utf-8"):
        decode(data)


def test_a_pdf_that_looks_like_text_is_still_read_as_bytes() -> None:
    packed = b"%PDF-1.4\n1 0 obj << /Length 300 >> stream\n" + bytes(range(255, 0, -1)) * 4
    with pytest.raises(SourceError):
        decode(packed)


def test_a_stray_nul_does_not_spoil_a_text() -> None:
    text = f"{RU}\x00{EN}"
    assert decode(text.encode()) == text


@pytest.mark.parametrize("cut", [RU.encode()[:-2], b"\x80" + RU.encode(), (RU * 9).encode()[1:]])
def test_damaged_utf_8_is_refused_not_turned_into_garbage(cut: bytes) -> None:
    with pytest.raises(SourceError, match="broken utf-8 at byte"):
        decode(cut)


@pytest.mark.parametrize("data", [b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\xef\xbb\xbf\xff"])
def test_a_bom_with_broken_bytes_is_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match="broken utf"):
        decode(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except SourceError:
        return  # any other error fails the test
    assert text.strip()


# documents


def test_plain_text_states_no_title() -> None:
    assert parse_text("Текст\n") == Document("", "Текст\n")


def heads(document: Document) -> list[tuple[int, str, str]]:
    """Return level, text and the line that each heading points at."""
    lines = [document.text[h.start :].splitlines()[0] for h in document.headings]
    return [(h.level, h.text, line) for h, line in zip(document.headings, lines, strict=True)]


MARKDOWN = """Intro.

# Первый **жирный** `code`

Setext two
----------

Three [link](http://x) ###
==========================

```
# not a heading
```

    # nor this

### Third ###

> ## Quoted

- # In a list

####

#hashtag
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_markdown_headings_and_their_offsets(newline: str) -> None:
    text = MARKDOWN.replace("\n", newline)
    document = parse_markdown(text)
    assert document.text == text
    assert heads(document) == [
        (1, "Первый жирный code", "# Первый **жирный** `code`"),
        (2, "Setext two", "Setext two"),
        (1, "Three link ###", "Three [link](http://x) ###"),
        (3, "Third", "### Third ###"),
        (2, "Quoted", "> ## Quoted"),
        (1, "In a list", "- # In a list"),
    ]
    assert document.title == "Первый жирный code"


def test_markdown_lines_are_not_cut_at_other_separators() -> None:
    document = parse_markdown("a\u2028b\x0bc\x85d\n# Head\n")
    assert heads(document) == [(1, "Head", "# Head")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_metadata_at_the_front_is_no_heading(newline: str) -> None:
    text = '---\ntitle: "Отпуска 2026"\ntags: hr\n---\n# Отпуска\n\nТекст.\n'.replace("\n", newline)
    document = parse_markdown(text)
    assert document.text == text
    assert document.title == "Отпуска 2026"
    assert heads(document) == [(1, "Отпуска", "# Отпуска")]


def test_a_rule_at_the_front_is_no_metadata() -> None:
    document = parse_markdown("---\n\n# One\n\nText\n\n---\n")
    assert [h.text for h in document.headings] == ["One"]
    assert document.title == "One"


def test_markdown_without_headings_states_no_title() -> None:
    assert parse_markdown("Just text.").title == ""


@given(st.text(st.sampled_from("#=-> \n\r`ab*[]()_~|\t\\<\x00й"), max_size=60))
def test_any_markdown_is_read_as_it_is(text: str) -> None:
    document = parse_markdown(text)
    assert document.text == text
    starts = [h.start for h in document.headings]
    assert starts == sorted(starts)
    for heading in document.headings:
        assert 1 <= heading.level <= 6
        assert heading.start == 0 or text[heading.start - 1] in "\r\n"


HTML = """<!doctype html><html><head><title> Гид &amp;
 помощь </title><style>p{}</style></head><body>
<nav>Menu</nav>
<h1>Гид <em>по</em>
  шлюзу</h1>
<p>Первый   абзац&nbsp;с <b>жирным</b> <i>и</i> &lt;тегом&gt;.<br>Вторая строка.</p>
<script>evil()</script><!-- hidden -->
<h2>Цены<br>2026<svg><title>icon</title></svg></h2>
<table><tr><th>Код</th>
 <th>Цена</th></tr><tr><td>BX-1</td><td>10</td></tr></table>
<ul><li>раз</li><li>два <ul><li>три</li></ul></li></ul>
<pre>  if x:
    <span>y</span>
<span>z</span></pre>
<h3></h3><h3> <img src=x> </h3>
</body></html>"""

HTML_TEXT = """Menu

Гид по шлюзу

Первый абзац с жирным и <тегом>.
Вторая строка.

Цены 2026

Код: BX-1; Цена: 10

раз
два\x20

три

  if x:
    y
z"""


def test_html_is_read_as_it_looks() -> None:
    document = parse_html(HTML)
    assert document.text == HTML_TEXT
    assert document.title == "Гид & помощь"
    assert [(h.level, h.text) for h in document.headings] == [(1, "Гид по шлюзу"), (2, "Цены 2026")]


PIECES = st.recursive(
    st.sampled_from(
        ["a", " b ", "\n", "&nbsp;", "й<br>", "<!-- c -->", "<script>x</script>", "</p>"]
    ),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(
            [*("h1", "h2", "div", "p", "pre", "b", "table", "td", "svg", "li", "span")]
        ),
        st.lists(inner, max_size=3).map("".join),
    ),
    max_leaves=12,
)


@given(st.lists(PIECES, max_size=4).map("".join))
def test_html_headings_point_at_their_own_text(page: str) -> None:
    document = parse_html(f"<p>start</p>{page}")
    for heading in document.headings:
        assert heading.text == " ".join(heading.text.split()) != ""
        assert document.text[heading.start :].startswith(heading.text)
        assert heading.start == 0 or document.text[heading.start - 1] == "\n"


@given(st.text(max_size=100))
def test_any_html_is_read_or_refused(text: str) -> None:
    try:
        document = parse_html(text)
    except SourceError:
        return  # any other error fails the test
    assert document.text.strip()


@pytest.mark.parametrize(
    "page", ["<script>x()</script>", "<title>only</title>", "<p> </p>", "<!-- c -->", "<img src=x>"]
)
def test_a_page_that_shows_nothing_is_refused(page: str) -> None:
    with pytest.raises(SourceError, match="without visible text"):
        parse_html(page)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>one<p>two", "one\n\ntwo"),
        ("one</div><b>two", "onetwo"),
        ("<table><td>a<td>b<tr><td>c", "a | b\nc"),
        ("<ul><li>a<li>b", "a\nb"),
        ("<p>a &unknown; &#1078; &copy", "a &unknown; ж ©"),
        ("<p>a <b> b </b> c", "a b c"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("<p>cut <b", "cut "),
    ],
)
def test_malformed_html(page: str, text: str) -> None:
    assert parse_html(page).text == text


def test_html_without_a_title_is_called_by_its_first_heading() -> None:
    assert parse_html("<h2>Head</h2>x").title == "Head"
    assert parse_html("x").title == ""


@pytest.mark.parametrize("tag", ["div", "b", "h1", "table", "ul"])
def test_deeply_nested_html_is_read(tag: str) -> None:
    page = f"<{tag}>" * 4000 + "глубоко" + f"</{tag}>" * 4000
    assert parse_html(page).text.strip() == "глубоко"


@pytest.mark.parametrize("piece", ["> ", "[", "*a ", "- ", "`", "<", "![", "_a_ ", "|", "\\"])
def test_repetitive_markdown_does_not_hang(piece: str) -> None:
    text = piece * 3000
    assert parse_markdown(text).text == text


# chat turns


def line(**fields: Any) -> str:
    return json.dumps({"text": "hi", "role": "user", "at": "2026-05-08T10:00:00Z"} | fields)


def test_a_line_becomes_a_turn() -> None:
    raw = line(turn_id="t1", session_id="s1", user_id="ann", speaker="Аня", text="Где заказ?")
    (found,) = parse_turns(raw, "chats/a.jsonl")
    assert (found.number, found.user_id, found.session_id, found.error) == (1, "ann", "s1", "")
    at = datetime(2026, 5, 8, 10, tzinfo=UTC)
    assert found.turn == Turn("t1", "user", "Где заказ?", "Аня", at)


@pytest.mark.parametrize(
    "names",
    [
        {"content": "text", "timestamp": "at", "id": "turn_id", "session": "session_id"},
        {"message": "text", "time": "at", "message_id": "turn_id", "conversation_id": "session_id"},
        {"text": "text", "created_at": "at", "name": "speaker"},
        {"text": "text", "date": "at"},
    ],
)
def test_names_that_exports_use(names: dict[str, str]) -> None:
    values = {"text": "hi", "at": "2026-05-08T10:00:00Z", "turn_id": "7", "session_id": "s"}
    values["speaker"] = "Ann"
    record = {alias: values[name] for alias, name in names.items()}
    (found,) = parse_turns(json.dumps(record | {"role": "user", "extra": 1}), "a.jsonl")
    assert found.turn is not None
    assert found.turn.text == "hi"
    assert found.turn.at == datetime(2026, 5, 8, 10, tzinfo=UTC)
    if "session_id" in names.values():
        assert (found.turn.turn_id, found.session_id) == ("7", "s")
    if "speaker" in names.values():
        assert found.turn.speaker == "Ann"


@pytest.mark.parametrize(
    ("fields", "tool", "failed"),
    [
        ({"name": "search"}, "search", False),
        ({"tool": "search"}, "search", False),
        ({"tool_name": "search", "name": "Web"}, "search", False),
        ({}, "", False),
        ({"tool": {"name": "search"}}, "", False),
        ({"is_error": True}, "", True),
        ({"is_error": False}, "", False),
        ({"is_error": "true"}, "", True),
        ({"is_error": "false"}, "", False),
        ({"error": "no network"}, "", True),
        ({"error": {"code": 500}}, "", True),
        ({"error": None}, "", False),
        ({"error": ""}, "", False),
        ({"failed": 1}, "", True),
        ({"failed": 0}, "", False),
        ({"ok": False}, "", True),
        ({"ok": True}, "", False),
        ({"ok": "no"}, "", True),
        ({"ok": None}, "", False),
        ({"success": False}, "", True),
        ({"status": "error"}, "", True),
        ({"status": "FAILED"}, "", True),
        ({"status": "timeout"}, "", True),
        ({"status": "success"}, "", False),
        ({"status": 200}, "", False),
        ({"status": None, "ok": True, "error": None}, "", False),
    ],
)
def test_a_result_says_of_which_tool_it_is_and_whether_it_failed(
    fields: dict[str, Any], tool: str, failed: bool
) -> None:
    (found,) = parse_turns(line(role="tool", turn_id="1", **fields), "a.jsonl")
    assert found.turn is not None
    assert (found.turn.tool, found.turn.failed) == (tool, failed)
    assert found.turn.speaker == fields.get("name", "")
    (other,) = parse_turns(line(role="assistant", turn_id="1", **fields), "a.jsonl")
    assert other.turn is not None
    assert (other.turn.tool, other.turn.failed) == ("", None)


def test_what_a_call_was_changes_no_name_and_no_hash() -> None:
    (plain,) = parse_turns(line(role="tool", text="42", name="search"), "a.jsonl")
    (marked,) = parse_turns(
        line(role="tool", text="42", name="search", tool="search", is_error=True), "a.jsonl"
    )
    assert plain.turn is not None
    assert marked.turn is not None
    assert marked.turn.turn_id == plain.turn.turn_id
    assert own_hash(marked.turn) == own_hash(plain.turn)


def test_ids_may_be_numbers_or_null() -> None:
    raw = line(id=7, session=12, user_id=3, name=None)
    (found,) = parse_turns(raw, "a.jsonl")
    assert found.turn is not None
    assert (found.turn.turn_id, found.session_id, found.user_id) == ("7", "12", "3")
    (bare,) = parse_turns(line(id=None, session=None, user_id=None), "chats/mine.jsonl")
    assert (bare.session_id, bare.user_id) == ("mine", "")


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ('{"text": "hi", "role": ', "not JSON: "),
        ("nonsense", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ('{"id": ' + "9" * 5000 + "}", "not JSON: "),
        ("[1, 2]", "line: "),
        ('"text"', "line: "),
        ("null", "line: "),
        ("7", "line: "),
        ('{"role": "user", "at": "2026-05-08T10:00:00Z"}', "text: missing"),
        ('{"text": "hi", "at": "2026-05-08T10:00:00Z"}', "role: missing"),
        ('{"text": "hi", "role": "user"}', "at: missing"),
        ("{}", "text: missing; role: missing; at: missing"),
        (line(text=None), "text: "),
        (line(text=["hi"]), "text: "),
        (line(role="human"), "role: "),
        (line(role=None), "role: "),
        (line(at="yesterday"), "at: "),
        (line(at="2026-05-08T10:00:00"), "at: a time without a zone"),
        (line(at="2026-05-08"), "at: a time without a zone"),
        (line(at="0001-01-01T00:00:00+05:00"), "at is out of range"),
        (line(at="9999-12-31T23:59:59.999999Z"), "at is out of range"),
        (line(session_id="*"), "session id '*' is a wildcard"),
        (line(session_id="x" * 2000), "session id has 2000 characters"),
        (line(user_id="  "), "user id is empty"),
        (line(text="\ud800"), "not valid Unicode"),
        (line(turn_id="\udfff"), "not valid Unicode"),
        (line(speaker="\ud83d"), "speaker: "),
        (line(session_id="\ud83d"), "session id is not valid Unicode"),
        (line(speaker="x" * 201), "speaker: "),
    ],
)
def test_a_bad_line_says_why_without_its_text(raw: str, error: str) -> None:
    good = line(text="fine")
    secret = raw.replace('"hi"', '"canary"')
    found = list(parse_turns("\n".join([good, good, secret, good, good]), "a.jsonl"))
    assert [bool(item.turn) for item in found] == [True, True, False, True, True]
    assert [item.number for item in found] == [1, 2, 3, 4, 5]
    assert found[2].error.startswith(error)
    assert "canary" not in found[2].error


def test_a_time_without_a_zone_is_read_in_the_zone_of_the_settings() -> None:
    (found,) = parse_turns(line(at="2026-07-08T10:00:00"), "a.jsonl", "Europe/Belgrade")
    assert found.turn is not None
    assert found.turn.at == datetime(2026, 7, 8, 8, tzinfo=UTC)
    assert found.turn.at.utcoffset() == timedelta(hours=2)
    (stated,) = parse_turns(line(at="2026-07-08T10:00:00+03:00"), "a.jsonl", "Europe/Belgrade")
    assert stated.turn is not None
    assert stated.turn.at == datetime(2026, 7, 8, 7, tzinfo=UTC)


@pytest.mark.parametrize("at", [1_778_234_400, 1_778_234_400_000, "1778234400"])
def test_a_time_may_be_seconds_or_milliseconds(at: object) -> None:
    (found,) = parse_turns(line(at=at), "a.jsonl")
    assert found.turn is not None
    assert found.turn.at == datetime(2026, 5, 8, 10, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "Europe", "\x00"])
def test_a_zone_that_is_none_is_a_config_error(zone: str) -> None:
    with pytest.raises(ConfigError, match="timezone"):
        list(parse_turns(line(), "a.jsonl", zone))


def test_lines_end_only_at_newlines() -> None:
    text = "a\u2028b\u2029c\x85d\x0be"
    raw = json.dumps(json.loads(line()) | {"text": text}, ensure_ascii=False)
    found = list(parse_turns(f"\r\n{raw}\r\n\n  \n{raw}\r\n", "a.jsonl"))
    assert [(item.number, item.turn and item.turn.text) for item in found] == [
        (2, text),
        (5, text),
    ]


def test_a_bom_is_no_part_of_the_first_line() -> None:
    (found,) = parse_turns(decode(line().encode("utf-8-sig")), "a.jsonl")
    assert found.error == ""


def ids(*raw: str) -> list[str]:
    return [item.turn.turn_id for item in parse_turns("\n".join(raw), "a.jsonl") if item.turn]


def test_a_turn_without_an_id_is_named_by_what_it_says() -> None:
    one, two = line(text="one"), line(text="two")
    first, second = ids(one, two)
    assert first != second
    assert ids(two) == [second]  # an overlapping export names it the same
    assert ids(one, one, one) == [first, f"{first}-2", f"{first}-3"]
    assert ids(line(text="one", role="tool")) != [first]
    assert ids(line(text="one", at="2026-05-08T10:00:01Z")) != [first]


def test_repeats_are_counted_per_user_and_session() -> None:
    ann, bob = line(user_id="ann"), line(user_id="bob")
    other = line(user_id="ann", session_id="other")
    assert len(set(ids(ann, bob, other))) == 1
