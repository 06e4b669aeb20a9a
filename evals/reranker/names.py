"""First names that speakers of training dialogues get, and their Russian cases."""

_ENGLISH = """
Ava Ben Clara Dylan Edith Felix Greta Hugo Iris Jonah Kira Liam Mabel Nolan Olive Peter Quinn Rosa
Simon Tessa Umar Vera Wesley Xenia Yusuf Zoe Alan Beth Carl Dora Ethan Faye Grant Hazel Ivan Jane
Kurt Lena Mark Nina Oscar Paula Ralph Sara Todd Ursula Victor Wanda Amir Bianca Chloe Derek Elena
Frank Gina Harry Isla Jack Karen Louis Megan Neil Paige Rita Scott Tara Vincent Willa Andre Brooke
Colin Diana Emma Finn Grace Henry Ingrid Julia Keith Laura Martin Nadia Owen Priya Rachel Stella
Tom Violet Walter Yara Ann Sofia Leo Kofi Mei Raj Lucia
"""
_MEN = """
Андрей Andrey Антон Anton Артём Artyom Богдан Bogdan Борис Boris Вадим Vadim Василий Vasily
Витя Vitya Георгий Georgy Глеб Gleb Гриша Grisha Денис Denis Дима Dima Егор Yegor Захар Zakhar
Игорь Igor Илья Ilya Кирилл Kirill Коля Kolya Костя Kostya Максим Maxim Марк Mark Матвей Matvey
Миша Misha Никита Nikita Олег Oleg Паша Pasha Роман Roman Руслан Ruslan Семён Semyon Сергей Sergey
Стас Stas Степан Stepan Тарас Taras Тимур Timur Фёдор Fyodor Юра Yura
"""
_WOMEN = """
Аня Anya Вера Vera Даша Dasha Зоя Zoya Катя Katya Маша Masha Оля Olya Рита Rita Света Sveta
Ульяна Ulyana Юля Yulia Яна Yana Галина Galina Ева Eva Инна Inna Лида Lida Надя Nadya
Полина Polina Соня Sonya Таня Tanya Вика Vika Лена Lena Ксения Ksenia Лариса Larisa
Наташа Natasha Регина Regina Тоня Tonya Варя Varya Диана Diana Ира Ira Люба Lyuba Нина Nina
Алиса Alisa Дарья Darya Марина Marina Настя Nastya Эмма Emma Арина Arina Кира Kira Милана Milana
"""
EN = tuple(_ENGLISH.split())
MEN = frozenset(_MEN.split()[::2])
RU = tuple(f"{_MEN} {_WOMEN}".split()[::2])
LATIN = dict(zip(RU, f"{_MEN} {_WOMEN}".split()[1::2], strict=True))
"""How the Russian names are written in English."""


def is_woman(name: str) -> bool:
    """Whether a Russian name of this list is a woman's."""
    return name not in MEN


def cases(name: str) -> dict[str, str]:
    """Return genitive, dative, accusative and instrumental of a Russian name of this list.

    >>> cases("Ира"), cases("Игорь")["g"]
    ({'g': 'Иры', 'd': 'Ире', 'c': 'Иру', 'i': 'Ирой'}, 'Игоря')
    """
    stem, last = name[:-1], name[-1]
    if last == "а":
        hard = "и" if stem[-1] in "гкхжшчщ" else "ы"
        ends = (hard, "е", "у", "ей" if stem[-1] in "жшчщ" else "ой")
    elif last == "я":
        ends = ("и", "и" if stem[-1] == "и" else "е", "ю", "ей")
    elif last in "йь":
        ends = ("я", "ю", "я", "ем")
    else:
        stem, ends = name, ("а", "у", "а", "ом")
    return dict(zip("gdci", (stem + end for end in ends), strict=True))
