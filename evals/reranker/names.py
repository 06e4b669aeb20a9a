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
Андрей Антон Артём Богдан Борис Вадим Василий Витя Георгий Глеб Гриша Денис Дима Егор Захар Игорь
Илья Кирилл Коля Костя Максим Марк Матвей Миша Никита Олег Паша Роман Руслан Семён Сергей Стас
Степан Тарас Тимур Фёдор Юра
"""
_WOMEN = """
Аня Вера Даша Зоя Катя Маша Оля Рита Света Ульяна Юля Яна Галина Ева Инна Лида Надя Полина Соня
Таня Вика Лена Ксения Лариса Наташа Регина Тоня Варя Диана Ира Люба Нина Алиса Дарья Марина Настя
Эмма Арина Кира Милана
"""
EN = tuple(_ENGLISH.split())
MEN = frozenset(_MEN.split())
RU = (*_MEN.split(), *_WOMEN.split())


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
