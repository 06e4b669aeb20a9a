"""The word lists of the decision by text: what is dropped, what binds, what changes the meaning.

Every list is short on purpose: a word too many among the dropped ones merges two facts.
"""


def _words(text: str) -> list[str]:
    return text.split()


DROPPED = frozenset(
    # articles, the present copula, politeness, and "now" of a fact that holds now
    _words(
        "a an the is am are be do does and please kindly currently now presently also actually "
        "basically "
        "и а является являются что пожалуйста кстати сейчас ныне также тоже ну вот вообще "
        "собственно"
    )
)
DETERMINERS = frozenset(_words("a an the my our your his her its their this these those"))
"""What may follow "to" where it is no infinitive."""

COPULAS = frozenset(_words("is are am является являются"))
CONJUNCTIONS = frozenset(_words("and и"))
LIKING = frozenset(_words("like love hate enjoy begin start continue likes loves hates enjoys"))
"""Verbs after which "to swim" and "swimming" are the same."""

PREPOSITIONS: dict[str, str] = {
    **dict.fromkeys(_words("about around approximately circa"), "about"),
    **{
        word: word
        for word in _words(
            "in at on into onto within to from of for with by before after since until till "
            "between under over above below through during against towards across near behind "
            "beside beyond per via than as up down off out в на с к о из от до за под над перед "
            "после через при про между у по против возле ради вместо среди сквозь из-за из-под "
            "чем как"
        )
    },
    "till": "until",
    "во": "в",
    "со": "с",
    "ко": "к",
    "об": "о",
    "обо": "о",
    "около": "около",
    "примерно": "около",
    "приблизительно": "около",
}
"""A preposition -> the one that stands for it; it binds what follows."""

NEGATION = frozenset(
    _words(
        "not no never none nobody nothing without no~longer neither nor nowhere не ни нет "
        "без никогда никто никого ничего ничто нельзя больше~не никакой никакие"
    )
)
FOCUS = frozenset(
    _words(
        "only just even almost nearly hardly barely except excluding including besides "
        "still yet already merely только лишь почти едва кроме включая даже еще уже "
        "исключительно хотя"
    )
)
MODALITY = frozenset(
    _words(
        "must should may might can could will would shall need ought perhaps maybe probably "
        "possibly может могут могу можем можешь можете можно должен обязан нужно возможно "
        "вероятно наверное должна должны обязана обязаны надо необходимо бы хочу буду будет "
        "будем будут будешь будете"
    )
)
TENSE = frozenset(_words("was were been did had have has был была было были"))
CONDITION = frozenset(_words("if unless or because when while though but если или либо когда но"))
CLAUSES = frozenset(
    _words(
        "that which who whom whose said says say told tells think thinks thought know knows "
        "knew believe believes heard hope hopes promised promises wrote asked asks wants "
        "want need что чтобы который которая которое которые сказал сказала говорит думаю "
        "думает считаю считает"
    )
)
"""Words with another clause behind them: what stands at its end may belong to either."""
COMPARISON = frozenset(
    _words(
        "more less fewer most least better worse higher lower faster slower bigger smaller "
        "earlier later больше меньше более менее лучше хуже выше ниже раньше позже дороже "
        "дешевле быстрее медленнее"
    )
)

OPERATORS: dict[str, str] = {
    **dict.fromkeys(NEGATION, "negation"),
    **dict.fromkeys(FOCUS, "focus"),
    **dict.fromkeys(MODALITY, "modality"),
    **dict.fromkeys(TENSE, "tense"),
    **dict.fromkeys(CONDITION, "condition"),
    **dict.fromkeys(COMPARISON, "comparison"),
}

PERSONS: dict[str, str] = {
    **{
        word: word
        for word in _words(
            "i me my mine we us our ours you your yours he him his she her hers they them their "
            "theirs it its myself himself herself я меня мне мной мы нас нам нами ты тебя тебе "
            "тобой вы вас вам вами он она оно они его ее их ему ей им него нее них нему ней "
            "ними себя себе"
        )
    },
    **dict.fromkeys(
        _words("мой моя мое мои моего моей моему моим моих моими мою моем"),
        "мой",
    ),
    **dict.fromkeys(
        _words("наш наша наше наши нашего нашей нашему нашим наших нашу нашем"),
        "наш",
    ),
    **dict.fromkeys(
        _words("твой твоя твое твои твоего твоей твоему твоим твоих твою"),
        "твой",
    ),
    **dict.fromkeys(
        _words("ваш ваша ваше ваши вашего вашей вашему вашим ваших вашу"),
        "ваш",
    ),
}

OWNING = frozenset(_words("my our his her their your of мой наш его ее их твой ваш"))
"""A phrase with one of these names one thing, so "A is my B" and "My B is A" say the same."""

SUBJECTS = frozenset(_words("я мы ты вы он она они i we he she they"))
"""Nominative pronouns: they begin a phrase, and show who acts whatever the order of Russian."""

TIMES = frozenset(
    _words(
        "yesterday today tomorrow tonight monday tuesday wednesday thursday friday saturday "
        "sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends "
        "january february march april may june july august september october november "
        "december summer winter spring autumn morning evening night noon midnight weekend "
        "daily weekly monthly last~week last~month last~year next~week next~month next~year "
        "this~week this~month this~year every~day every~week every~month every~year "
        "last~night every~morning every~evening вчера сегодня завтра послезавтра позавчера "
        "понедельник вторник среду четверг пятницу субботу воскресенье понедельникам "
        "вторникам средам четвергам пятницам субботам воскресеньям выходным выходные январе "
        "феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре утром "
        "вечером днем ночью летом зимой весной осенью вечерам утрам ночам ежедневно"
    )
)
"""Words of time that may stand anywhere in a sentence."""

ADVERBS = frozenset(
    _words(
        "yesterday today tomorrow tonight last~week last~month last~year next~week "
        "next~month next~year last~night вчера сегодня завтра послезавтра позавчера утром "
        "вечером ночью летом зимой весной осенью"
    )
)
"""Words of time that need no preposition."""

LISTING = frozenset(
    _words(
        "like love prefer speak eat drink use want need buy know hate visit play read have "
        "invite call люблю пью ем знаю говорю использую играю читаю"
    )
)
"""Verbs after which "X and Y" are two things of their own, and "Y and X" the same."""
