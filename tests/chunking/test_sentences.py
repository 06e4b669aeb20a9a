"""Worked examples: `|` marks where a sentence ends."""

import time

import pytest

from chunking.sentences import sentences

RUSSIAN = [
    "Он родился в Москве.| Потом уехал.",
    "Это верно, т. е. Москва и т. д. тоже.| Дальше.",
    "Столы, стулья и т. д.| Затем пришли гости.",
    "Пишут т.е. Пушкин и др.| Затем — Лермонтов.",
    "А. С. Пушкин родился в 1799 г.| Умер А.С. Пушкин в 1837 г.| Конец.",
    "Адрес: г. Москва, ул. Ленина, д. 5, корп. 2, кв. 17.| Звоните!",
    "В XIX в.| Пушкин писал.",
    "Это было в XIX в. до реформы.",
    "См. рис. 3 и табл. 12.| Там всё видно.",
    "Цена 5 тыс. руб. 20 коп. за штуку.| Дорого.",
    "Число 3.14 и версия v2.18.3.| Адрес 192.168.0.1.| Готово.",
    "Ну… не знаю.| Ладно…| Пойдём.",
    "Подождите... я сейчас.| Иду...| Пришёл.",
    "«Куда ты?» — спросил он.| «Домой».| Она ушла.",
    "Он сказал: «Иди!»| И ушёл.",
    "— Куда? — спросил он.| — Туда!| — Он показал рукой.",
    "Правда?!| Да.",
    "Проф. Иванов и акад. П. Л. Капица.| Оба физики.",
    "Идём к ст. м. Пушкинская.| Рядом.",
    "Длина 5 м.| Ширина 3 см.| Всё.",
    "Встреча 12 янв. 2024 года.| Ждём.",
    "Первая строка\nтой же фразы.| Вторая",
    "Заголовок|\n\nтекст без точки|\n\nещё текст",
    "Список:|\n- первый пункт|\n- второй пункт|\n1. Третий|\n2) четвёртый",
    "Список:|\r\n- первый|\r\n- второй\r\nпродолжение",
    "1. Открыть файл.| 2. Закрыть файл.",
]
ENGLISH = [
    "It works.| It really does.",
    "Use a cache, e.g. Redis, i.e. memory.| Done.",
    "Dr. Smith met Mr. J. R. Tolkien.| They talked.",
    "See fig. 3, p. 12 and No. 5.| Is it ready?| No.| We wait.",
    "Version v2.18.3 costs $3.50.| Upgrade to 3.0.| Now!",
    "Apples, pears, etc.| Then plums, etc. and more.",
    "He works at Acme Inc.| She left at 5 p.m.| Bye.",
    "She left at 5 p.m. on Monday.",
    "He lives in the U.S. Army base.| It was I.| Then we left.",
    'She said "Stop."| Then she left.| (He stayed.)| End.',
    "Wait... what?| Well…| Fine.",
    "Jones et al. 2019 and Sept. 5 agree.| Good.",
    "Yahoo! announced it.| Really?! yes.",
    "Plain text without an end",
    "Visit example.com/a.b?c=d or run ./x.sh --dry-run.| Done.",
]
MIXED = [
    "Установите Docker.| Then run it.| Потом, e.g. через час, проверьте.",
    "今天很好。|明天呢？|好。",
    "Привет!| 😀 да.| Пока 👋.| 🎉 Ура!",
    "",
    " \n\t ",
]


@pytest.mark.parametrize("marked", [*RUSSIAN, *ENGLISH, *MIXED])
def test_worked_examples(marked: str) -> None:
    text = marked.replace("|", "")
    expected = [piece.strip() for piece in marked.split("|") if piece.strip()]
    assert [text[start:end] for start, end in sentences(text)] == expected


@pytest.mark.parametrize(
    "unit", [".", ". ", ".)", "а. ", "\n", "\r\n \n", "т. е. ", "! Да", "x", "'"]
)
def test_time_is_linear(unit: str) -> None:
    text = unit * (300_000 // len(unit)) + "z"
    start = time.perf_counter()
    sentences(text)
    assert time.perf_counter() - start < 3
