"""The words of the cues: what is said in both languages, apart from any schema. Data only.

The lists are short on purpose: a word that is not here and not declared is not understood, and
then there is no answer. Words between bars; some of them are phrases.
"""

from collections.abc import Mapping
from typing import Literal

from retrieval.sql.intent import Unit

Cue = Literal[
    "count", "sum", "avg", "max", "min", "share", "distinct", "top", "super", "least_super",
    "most", "least", "by", "each", "rate", "unit", "which", "not", "except", "and", "or",
    "own", "everybody", "more", "less", "at_least", "at_most", "exactly", "than", "from", "to",
    "between", "compare", "among", "be", "light", "trend", "price", "difference", "times", "refuse",
    "filler",
]  # fmt: skip
"""What a word does in a question; "filler" does nothing."""

EXACT: Mapping[Cue, str] = {
    "count": "сколько|скольких|скольким|how many|how much|кол-во|count|count of|number of|"
    "the number of",
    "sum": "total|in sum|sum|sum of|overall|суммарно|в общей сложности|combined",
    "avg": "в среднем|on average|average|avg|mean|average of|среднее значение|средняя величина",
    "max": "max|maximum|highest|largest|biggest|greatest|peak",
    "min": "min|minimum|lowest|smallest",
    "share": "%|percent|percentage|share|proportion|fraction|какая часть|какую часть|per cent|"
    "what part",
    "distinct": "different|distinct|unique",
    "top": "топ|top",
    "super": "самый|самая|самое|самые|самых|самым|самого|самую|самой|самом|наиболее",
    "most": "больше всего|чаще всего|most often|most frequently|the most|most|"
    "наибольшее количество|самый частый|самая частая|самое частое|самые частые|"
    "самых частых|самый распространенный|most common|most frequent|largest number of|"
    "highest number of|biggest number of|больше всех|чаще всех|"
    "самое большое количество|максимальное количество|наибольшее число|"
    "самое большое число|максимальное число|the highest number of|the largest number of",
    "least": "меньше всего|реже всего|least often|the least|least|the fewest|fewest|"
    "наименьшее количество|самый редкий|самая редкая|самое редкое|least common|"
    "least frequent|lowest number of|smallest number of|меньше всех|"
    "минимальное количество|наименьшее число",
    "by": "по|by|в разрезе|в разбивке по|с разбивкой по|с разбивкой|с группировкой по|"
    "разбивка по|разбивку по|grouped by|group by|broken down by|break down by|"
    "breakdown by|split by|распределение|распределение по|distribution of|distribution",
    "each": "каждый|каждая|каждое|каждого|каждой|каждому|каждом|каждую|для каждого|для каждой|"
    "по каждому|по каждой|у каждого|у каждой|за каждый|за каждую|на каждый|в каждом|"
    "в каждой|с каждого|each|every|for each|for every|in each|in every|of each|per|"
    "per each",
    "rate": "в день|в неделю|в месяц|в квартал|в год|в сутки|в час|a day|a week|a month|a year|"
    "an hour|за день|за час|в минуту",
    "which": "какой|какая|какое|какие|каких|каком|какую|какого|каким|какому|какими|which|what|"
    "what's|каков|какова|каково|каковы",
    "not": "не|not|isn't|wasn't|aren't|weren't|didn't|don't|doesn't|haven't|hasn't|non|never|"
    "ни",
    "except": "кроме|исключая|за исключением|не считая|без учета|except|excluding|other than|"
    "apart from|except for|not counting",
    "and": "и|and|а также|as well as|плюс|&",
    "or": "или|or|либо",
    "own": "я|мой|моя|мое|мои|моих|моего|моей|моем|моим|моими|мою|моему|мне|меня|мной|у меня|"
    "i|my|me|mine|i've|i'd|свой|своих|свои|своего",
    "everybody": "у всех|для всех|на всех|за всех|у всех нас|у нас всех|всех вместе",
    "more": "больше|более|свыше|выше|over|above|more than|greater than|exceeding|exceeded|"
    "exceeds|exceed|превышает|превышала|превысила|превышающие|превышающей|превысил|"
    "больше чем|более чем|>|higher than|more|longer than|larger than|bigger than",
    "less": "меньше|менее|ниже|under|below|less than|fewer than|меньше чем|менее чем|<|"
    "lower than|fewer|less|shorter than|smaller than",
    "at_least": "at least|as a minimum|no less than|not less than|no fewer than|как минимум|"
    "минимум|не меньше|не менее|не ниже|>=|≥|or more than",
    "at_most": "at most|up to|no more than|not more than|не больше|не более|не выше|не превышает|"
    "<=|≤|не дороже чем",
    "exactly": "ровно|exactly|equal to|equals|равна|равен|равно|=|в точности",
    "than": "чем|than",
    "from": "от",
    "to": "до",
    "between": "between|между",
    "compare": "сравни|сравнить|сравните|сравнение|compare|comparison|comparing|против|vs|versus|"
    "по сравнению с|по сравнению со|compared to|compared with|в сравнении с|"
    "по сравнению|сопоставь|отдельно|respectively|separately",
    "among": "среди|among|out of|amongst|от числа|из числа",
    "be": "был|была|было|были|is|are|was|were|been|be|оказался|оказалась|оказались|оказалось|"
    "ended up|стал|стали|являются",
    "light": "потратил|потратила|потратили|потрачено|потрачен|тратил|тратит|трачу|израсходовал|"
    "израсходовано|расход|расходы|деньги|денег|money|spent|spend|spends|spending|used|"
    "use|uses|using|consumed|consume|ушло",
    "price": "стоит|стоил|стоила|стоили|стоило|стоят|costs",
    "trend": "динамика|динамику|trend|trend of|over time|break down|broken down|разбей|разбейте|"
    "разбить|сгруппируй|сгруппируйте|сгруппировать|group|split",
    "difference": "на сколько|насколько|how much more|how many more|how much less|how many fewer|"
    "how much higher|how much lower",
    "times": "раз|times|time|раза",
    "refuse": "почему|зачем|отчего|why|прогноз|forecast|predict|expected|если|if|стоит ли|should|"
    "будет|будут|will|would",
    "filler": "в|во|на|за|из|у|с|со|о|об|обо|к|ко|для|при|через|про|насчет|относительно|внутри|"
    "ли|же|то|а|ну|вот|ка|всего|только|лишь|именно|уже|все|всех|весь|всю|всей|всем|"
    "общем|который|которая|которое|которые|которых|которым|которой|где|есть|сделал|"
    "сделала|сделали|сделано|сделаны|делал|делала|делаю|оформил|оформила|оформлено|"
    "оформлял|оформлены|совершил|совершила|совершено|совершал|разместил|разместила|"
    "пришлось|пришлась|пришелся|приходится|пришлись|составил|составила|составило|"
    "составляет|составляют|случилось|случался|случалось|произошло|происходило|возникло|"
    "возникало|зафиксировано|поступило|поступал|пришло|принес|принесла|принесло|"
    "принесли|приносит|дал|дала|дали|дало|имел|имею|набралось|вышло|получилось|"
    "выполнил|выполнено|выполнялось|провел|купил|купила|купили|куплено|покупал|"
    "покупала|покупаю|продано|продали|использовал|использовался|использовалось|"
    "использовали|сработало|срабатывало|подал|подавал|подано|еще|до сих пор|still|gave|"
    "покажи|показать|покажите|скажи|скажите|подскажи|подскажите|посчитай|посчитайте|"
    "посчитать|подсчитай|выведи|дай|дайте|назови|назовите|напомни|хочу|знать|узнать|"
    "увидеть|посмотреть|интересно|пожалуйста|можешь|можно|сейчас|вообще|итого|итог|"
    "суммой|не подскажешь|не подскажете|можешь сказать|за все время|за весь период|"
    "за всю историю|за все это время|в целом|на данный момент|на текущий момент|the|a|"
    "an|of|in|on|at|for|to|from|with|via|through|into|within|during|about|so|did|do|"
    "does|have|has|had|having|there|there's|that|where|show|show me|tell|tell me|give|"
    "give me|please|can you|could you|can you tell me|could you tell me|let me know|"
    "i want to know|i would like to know|i'd like to know|would you|do you know|"
    "let's see|want|know|see|find out|calculate|compute|display|report|made|make|place|"
    "placed|came|come|comes|happen|happened|happening|occur|occurred|occurring|bring|"
    "brought|brings|buy|bought|sold|account for|accounted for|take|took|taken|all|"
    "altogether|in all|in total|overall total|ever|only|just|so far|of all time|"
    "all time|currently|now|right now|were there|hey|hi|hello|привет|здравствуйте|ok|"
    "okay|well|also|generate|generated|performed|perform|trigger|triggered|fired|fire",
}  # fmt: skip
"""Cues by their very words."""

KEYED: Mapping[Cue, str] = {
    "count": "количество|число",
    "sum": "сумма|суммарный|общий|совокупный|итоговый",
    "avg": "средний",
    "max": "максимальный|максимум|наибольший|наивысший|рекордный|самый большой|самый высокий",
    "min": "минимальный|минимум|наименьший|самый маленький|самый низкий",
    "share": "доля|процент",
    "distinct": "разный|различный|уникальный",
}  # fmt: skip
"""Cues in any form of their words."""

UNITS: Mapping[Unit, str] = {
    "day": "день|дня|дни|дней|дням|днях|day|days|сутки|суткам",
    "week": "неделя|недели|неделе|неделю|недель|неделям|неделях|week|weeks",
    "month": "месяц|месяца|месяце|месяцы|месяцев|месяцам|месяцах|month|months",
    "quarter": "квартал|квартала|квартале|кварталы|кварталов|кварталам|quarter|quarters",
    "year": "год|года|году|годы|годам|лет|year|years",
}  # fmt: skip
"""Units of time, in all forms."""

ADVERBS: Mapping[Unit, str] = {
    "day": "ежедневно|подневно|daily|day by day|по дням",
    "week": "еженедельно|понедельно|weekly|week by week",
    "month": "ежемесячно|помесячно|monthly|month by month",
    "quarter": "поквартально|ежеквартально|quarterly",
    "year": "ежегодно|yearly|annually|year by year|погодно",
}  # fmt: skip
"""Adverbs that part a number by a unit of time."""

_EVENTS = "opened opening открыл открыли открыто открывал открывали closing created создано"
OPENED = frozenset(_EVENTS.split())
"""Forms that name an event where their stem names a state: no declared word unless declared so."""
