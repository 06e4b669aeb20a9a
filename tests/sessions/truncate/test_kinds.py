"""What each kind keeps and drops."""

import json

import pytest

from chunking.tokens import tiktoken_count
from sessions.truncate import cut

count = tiktoken_count()


def orders(number: int) -> list[dict[str, object]]:
    return [
        {
            "id": n,
            "sku": f"BX-{4000 + n}",
            "unitPrice": 10.5 + n,
            "customer": {"name": f"Анна {n}", "city": "Тверь"},
            "notes": "long text of no interest " * 20,
        }
        for n in range(number)
    ]


class TestJson:
    def test_short_scalars_come_before_long_strings_and_arrays_are_counted(self) -> None:
        made = json.loads(cut(json.dumps({"orders": orders(50), "total": 50}), 250, count).text)
        first = made["orders"][0]
        assert (first["id"], first["sku"], first["unitPrice"]) == (0, "BX-4000", 10.5)
        assert first["customer"] == {"name": "Анна 0", "city": "Тверь"}
        assert "notes" not in first
        kept = [order for order in made["orders"] if isinstance(order, dict)]
        assert made["orders"][-1] == f"… {50 - len(kept)} more"
        assert made["total"] == 50
        assert made["_cut"].endswith("; without notes")

    def test_the_fields_of_settings_are_kept_in_as_many_items_as_fit(self) -> None:
        text = json.dumps(orders(50))
        made = json.loads(cut(text, 250, count, fields=["customer.name"]).text)
        names = [item["customer"]["name"] for item in made if "customer" in item]
        assert len(names) > 8
        assert names == [f"Анна {n}" for n in range(len(names))]
        assert all("city" not in item.get("customer", {}) for item in made[:-2])

    def test_the_query_names_a_field_and_an_item(self) -> None:
        text = json.dumps({"orders": orders(50)})
        made = json.loads(cut(text, 250, count, query="unit price of BX-4037?").text)
        items = {item["id"]: item for item in made["orders"] if isinstance(item, dict)}
        assert items[37]["sku"] == "BX-4037"
        assert items[37]["unitPrice"] == 47.5
        assert items[0]["unitPrice"] == 10.5

    def test_a_huge_string_is_cut_inside(self) -> None:
        made = json.loads(cut(json.dumps({"body": "слово " * 5000, "id": 7}), 120, count).text)
        assert made["id"] == 7
        assert made["body"].startswith("слово слово слово")
        assert made["body"].endswith("characters more")

    def test_a_value_that_is_one_string_stays_one(self) -> None:
        made = json.loads(cut(json.dumps("слово " * 5000), 60, count, kind="json").text)
        assert made.startswith("слово слово")
        assert "[cut: " in made

    def test_numbers_stay_as_they_are_spelled(self) -> None:
        text = f'{{"a": 1.50, "b": 12345678901234567890123, "c": 1E5, "d": "{"x " * 900}"}}'
        made = cut(text, 100, count).text
        assert made.startswith('{"a":1.50,"b":12345678901234567890123,"c":1E5,')

    def test_lines_of_json_stay_lines(self) -> None:
        text = "\n".join(json.dumps(order) for order in orders(40))
        lines = [json.loads(line) for line in cut(text, 200, count).text.splitlines()]
        assert lines[0]["sku"] == "BX-4000"
        assert lines[-1]["_lines"] == f"… {40 - len(lines) + 1} more"

    def test_half_a_surrogate_pair_is_written_as_it_came(self) -> None:
        made = cut(f'{{"a": "\\ud800", "b": "{"x " * 900}"}}', 60, count).text
        assert json.loads(made)["a"] == "\ud800"
        made.encode()


PYTHON = (
    'Traceback (most recent call last):\n  File "/srv/shop/views.py", line 88, in create\n'
    "    order = build(data)\n"
    + '  File "/usr/lib/python3.11/site-packages/x.py", line 9, in call\n    f()\n    ^^^\n'
    * 30
    + '  File "/srv/shop/build.py", line 31, in build\n    total = sum(prices)\n'
    "TypeError: unsupported operand\n\n"
    "The above exception was the direct cause of the following exception:\n\n"
    'Traceback (most recent call last):\n  File "/srv/shop/main.py", line 3, in <module>\n'
    "    run()\n"
    "shop.errors.OrderError: заказ BX-4471 не собран\n"
)

JAVA = (
    "java.lang.IllegalStateException: Склад не найден: 17\n"
    "\tat com.acme.stock.StockService.find(StockService.java:52)\n"
    + "\tat org.springframework.web.Handler.invoke(Handler.java:255)\n"
    * 40
    + "Caused by: java.sql.SQLException: connection refused\n"
    "\tat org.postgresql.Driver.connect(Driver.java:300)\n"
    "\tat com.acme.stock.Pool.open(Pool.java:12)\n"
    "\t... 12 more\n"
)

NODE = (
    "TypeError: Cannot read properties of undefined (reading 'map')\n"
    "    at renderList (/app/src/List.jsx:14:22)\n"
    + "    at run (/app/node_modules/react-dom/index.js:14985:18)\n"
    * 40
    + "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n"
    "    at main (/app/src/main.js:3:1)\n"
)

GO = (
    "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n"
    "main.total(...)\n\t/home/ann/shop/main.go:17\n"
    + "net/http.(*conn).serve(0xc0)\n\t/usr/local/go/src/net/http/server.go:19\n" * 20
    + "main.main()\n\t/home/ann/shop/main.go:9 +0x1d\nexit status 2\n"
)


class TestTrace:
    @pytest.mark.parametrize(
        ("text", "kept", "gone", "frames"),
        [
            (
                PYTHON,
                [
                    "shop.errors.OrderError: заказ BX-4471 не собран",
                    "TypeError: unsupported operand",
                    "    total = sum(prices)",
                    "The above exception was the direct cause of the following exception:",
                    '  File "/srv/shop/views.py", line 88, in create',
                ],
                "site-packages",
                30,
            ),
            (
                JAVA,
                [
                    "java.lang.IllegalStateException: Склад не найден: 17",
                    "Caused by: java.sql.SQLException: connection refused",
                    "\tat com.acme.stock.StockService.find(StockService.java:52)",
                    "\tat com.acme.stock.Pool.open(Pool.java:12)",
                ],
                "springframework",
                40,
            ),
            (
                NODE,
                [
                    "TypeError: Cannot read properties of undefined (reading 'map')",
                    "    at renderList (/app/src/List.jsx:14:22)",
                    "    at main (/app/src/main.js:3:1)",
                ],
                "node_modules",
                41,
            ),
            (
                GO,
                [
                    "panic: runtime error: index out of range [3] with length 3",
                    "\t/home/ann/shop/main.go:17",
                    "\t/home/ann/shop/main.go:9 +0x1d",
                ],
                "net/http",
                20,
            ),
        ],
    )
    def test_errors_and_own_frames_stay_and_library_frames_are_counted(
        self, text: str, kept: list[str], gone: str, frames: int
    ) -> None:
        made = cut(text, 250, count)
        assert made.kind == "trace"
        assert set(kept) <= set(made.text.splitlines())
        assert gone not in made.text
        assert f"… {frames} library frames" in made.text

    def test_with_little_room_the_errors_stay(self) -> None:
        made = cut(PYTHON, 60, count).text
        assert "shop.errors.OrderError: заказ BX-4471 не собран" in made
        assert "TypeError: unsupported operand" in made

    def test_where_all_frames_are_a_library_the_outer_and_the_inner_one_stay(self) -> None:
        frame = '  File "/usr/lib/python3/site-packages/lib/f{}.py", line 1, in f\n    f()\n'
        frames = "".join(frame.format(n) for n in range(40))
        made = cut(f"Traceback (most recent call last):\n{frames}ValueError: x\n", 120, count).text
        assert "f0.py" in made
        assert "f39.py" in made
        assert "… 38 library frames" in made


class TestLog:
    def log(self) -> str:
        lines = [f"2026-03-01 12:{n // 60:02}:{n % 60:02} INFO web GET /cart" for n in range(300)]
        lines[150] = "2026-03-01 12:02:30 ERROR pay gateway timeout order=BX-4471"
        lines[151:151] = [
            "Traceback (most recent call last):",
            '  File "/srv/pay.py", line 9, in run',
            "    job()",
            '  File "/usr/lib/python3.11/site-packages/requests/api.py", line 9, in get',
            "    send()",
            "RuntimeError: queue closed",
        ]
        lines[200:200] = [f"2026-03-01 12:03:{n:02} WARNING db slow query" for n in range(20)]
        return "\n".join(lines)

    def test_errors_stay_with_their_trace_and_repetition_is_counted(self) -> None:
        made = cut(self.log(), 200, count)
        assert made.kind == "log"
        assert "ERROR pay gateway timeout order=BX-4471" in made.text
        assert 'File "/srv/pay.py", line 9, in run' in made.text
        assert "RuntimeError: queue closed" in made.text
        assert "site-packages" not in made.text
        assert "WARNING db slow query  [×20]" in made.text
        assert "INFO web GET /cart  [×299]" in made.text

    def test_the_first_and_the_last_lines_stay(self) -> None:
        lines = [f"2026-03-01 12:00:{n % 60:02} INFO step {n}" for n in range(300)]
        made = cut("\n".join(lines), 120, count).text
        assert lines[0] in made
        assert lines[-1] in made

    @pytest.mark.parametrize(
        "line",
        [
            "[E] нет связи с сервером",
            "E0301 12:00:03.000001       1 store.go:88] watch closed",
            '{"level":"error","ts":1772366405,"msg":"payment declined"}',
            'time="2026-03-01T12:00:04Z" level=error msg="no space left"',
            "[12:00:03] ОШИБКА файл не открыт",
            '10.0.0.2 - - [01/Mar/2026:12:00:02 +0300] "GET /pay HTTP/1.1" 502 91',
            "npm ERR! code ERESOLVE",
        ],
    )
    def test_errors_of_many_formats_stay(self, line: str) -> None:
        lines = [f"2026-03-01 12:00:{n % 60:02} INFO step {n} of the plan" for n in range(200)]
        lines[100] = line
        assert line in cut("\n".join(lines), 100, count, kind="log").text


class TestTable:
    def test_header_both_ends_rows_and_bounds_stay(self) -> None:
        rows = [f"BX-{n};Тверь;{n},50" for n in range(500)]
        made = cut("code;city;price\n" + "\n".join(rows), 120, count).text.splitlines()
        assert made[0] == "code;city;price"
        assert made[1] == rows[0]
        assert rows[-1] in made
        assert made[-2] == "[500 rows; price 0,50 to 499,50]"

    def test_the_row_that_is_asked_for_stays(self) -> None:
        rows = [f"BX-{n}\tТверь\t{n}" for n in range(500)]
        text = "code\tcity\tprice\n" + "\n".join(rows)
        made = cut(text, 100, count, query="сколько стоит BX-317").text.splitlines()
        assert {rows[0], rows[317], rows[-1]} <= set(made)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (["| n | name |", "|---|---|"], []),
            ([" n | name ", "---+------"], ["(300 rows)"]),
            (["+---+------+", "| n | name |", "+---+------+"], ["+---+------+"]),
        ],
    )
    def test_drawn_tables_keep_their_frame(self, before: list[str], after: list[str]) -> None:
        rows = [
            f"| {n} | item {n} |" if before[0][0] != " " else f" {n} | item {n}" for n in range(300)
        ]
        made = cut("\n".join([*before, *rows, *after]), 120, count)
        assert made.kind == "table"
        assert made.text.splitlines()[: len(before)] == before
        assert "[300 rows; n 0 to 299]" in made.text
        assert all(line in made.text for line in after)


CODE = {
    "python": (
        '"""Orders."""\n\nimport json\n\n\nclass Order:\n    """One order."""\n\n'
        + "".join(
            f"    def step_{n}(\n        self,\n        price: float = {n},\n    ) -> float:\n"
            f'        """Do step {n}."""\n'
            + f"        value = price * {n}\n" * 12
            + "        return value\n\n"
            for n in range(4)
        ),
        ["class Order:", '    """One order."""', "    def step_3(", '        """Do step 3."""'],
        "        # … 13 lines",
    ),
    "java": (
        "package com.acme;\n\npublic class Cart {\n"
        + "".join(
            f"    /** Adds {n}. */\n    public int add{n}(int x) {{\n"
            + f'        String s = "}}{n}"; // {{\n' * 12
            + "        return x;\n    }\n\n"
            for n in range(4)
        )
        + "}\n",
        ["public class Cart {", "    public int add3(int x) {", "    /** Adds 3. */"],
        "        // … 13 lines",
    ),
    "go": (
        "package main\n\n"
        + "".join(
            f"// step{n} does it.\nfunc step{n}(x int) int {{\n"
            + "\tx++\n" * 15
            + "\treturn x\n}\n\n"
            for n in range(5)
        ),
        ["func step4(x int) int {"],
        "\t// … 16 lines",
    ),
    "ruby": (
        "class Order\n"
        + "".join(
            f"  def step_{n}(price)\n" + "    price += 1\n" * 15 + "    price\n  end\n\n"
            for n in range(5)
        )
        + "end\n",
        ["  def step_4(price)"],
        "    # … 16 lines",
    ),
}


class TestCode:
    @pytest.mark.parametrize("language", CODE)
    def test_signatures_stay_and_bodies_go(self, language: str) -> None:
        text, kept, gap = CODE[language]
        made = cut(text, count(text) // 2, count)
        assert made.kind == "code"
        assert set(kept) <= set(made.text.splitlines())
        assert gap in made.text.splitlines()

    def test_the_body_that_is_asked_for_stays(self) -> None:
        text, _, _ = CODE["python"]
        made = cut(text, count(text) // 2, count, query="what does step_2 do?").text
        assert "        value = price * 2\n" in made
        assert "        value = price * 1\n" not in made

    def test_broken_python_is_cut_by_its_indents(self) -> None:
        text, _, _ = CODE["python"]
        made = cut(text + "\n    def (:\n", count(text) // 2, count, kind="code").text
        assert "class Order:" in made
        assert "… 1" in made


class TestProse:
    ARTICLE = "Индексы ускоряют чтение и замедляют запись в базу. " * 60

    def test_an_article_keeps_eight_hundred_characters_to_the_end_of_a_sentence(self) -> None:
        made = cut(self.ARTICLE, 900, count)
        head = made.text.split(" …")[0]
        assert made.kind == "article"
        assert 700 < len(head) <= 800
        assert head.endswith("в базу.")
        assert self.ARTICLE.startswith(head)

    def test_an_article_also_keeps_the_sentence_that_is_asked_for(self) -> None:
        wanted = "Частичный индекс хранит только строки, подходящие под условие."
        text = f"{self.ARTICLE}{wanted} {self.ARTICLE}"
        assert wanted in cut(text, 400, count, query="что хранит частичный индекс").text

    def test_news_keep_title_dateline_and_the_first_paragraph(self) -> None:
        lead = "РЯЗАНЬ, 3 марта. /ТАСС/. Движение по новому мосту через Оку откроют в апреле."
        rest = "Подрядчик уже укладывает асфальт на подъездах. " * 40
        made = cut(f"Мост откроют весной\n\n{lead}\n\n{rest}", 300, count)
        assert made.kind == "news"
        assert made.text.startswith(f"Мост откроют весной\n\n{lead}")
        assert "асфальт" not in made.text

    def test_a_page_is_cut_as_its_text(self) -> None:
        page = f"<!doctype html><body><script>x()</script><p>{self.ARTICLE}</p></body>"
        made = cut(page, 400, count)
        assert made.kind == "html"
        assert made.text.startswith("Индексы ускоряют чтение")
        assert "<p>" not in made.text

    def test_a_page_that_shows_nothing_is_cut_as_it_is(self) -> None:
        page = f"<html><body><script>{'run(); ' * 900}</script></body></html>"
        assert cut(page, 60, count).text.startswith("<html>")

    def test_plain_text_keeps_both_ends(self) -> None:
        lines = [f"file number {n}" for n in range(400)]
        made = cut("\n".join(lines), 100, count).text.splitlines()
        assert made[0] == lines[0]
        assert made[-2] == lines[-1]


def test_the_item_of_a_number_that_is_asked_for_is_kept() -> None:
    rows = json.dumps([{"order": 1000 + n, "state": f"state {n}"} for n in range(80)])
    kept = json.loads(cut(rows, 60, count, query="What about order 1047?").text)
    assert {"order": 1047, "state": "state 47"} in kept
