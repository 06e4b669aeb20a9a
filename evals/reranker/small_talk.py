"""What people say around what they tell: greetings, reactions, times, in both languages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bank:
    """Phrases by their use; ``{m}`` is the other one's name."""

    hellos: list[str]
    goodbyes: list[str]
    reactions: list[str]
    openings: list[str]
    closings: list[str]
    past: list[str]
    future: list[str]
    durations: list[str]


def _split(text: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in text.split("|")]


BANKS = {
    "en": Bank(
        _split("""
Hey {m}! How have you been?|Hi {m}, long time no see! What's new?|Good to hear from you,
{m}!|{m}! I was just thinking of you. How is everything?|Hello {m}, how was your week?|Hi there!
Hope your day is going well.|Hey {m}, got a minute to chat?
"""),
        _split("""
Talk soon, {m}! Take care.|I should run, but this was nice.|Bye {m}, say hi to everyone!|Let's
catch up again next week.|Okay, off to bed. Good night!|See you, {m}!
"""),
        _split("""
Wow, that's great!|Oh no, I'm sorry to hear that.|That sounds amazing!|Really? Tell me more.|I'm
so happy for you!|Ha, that's so like you.|That must have been something.|Sounds like a
lot.|Nice!|I can imagine.|Good for you!|You always surprise me.|I get that.|How exciting!|That's
rough.|I love that.|Impressive, honestly.
"""),
        _split("""
Thanks!|Yeah,|Honestly,|You know what?|Oh, by the way,|Funny you ask.|Well,|Thanks for
asking!|So,|Good question!|Oh man,|To be honest,|I have to tell you something.|Haha, yes!|It's
been a crazy month.|Not bad at all!|I meant to tell you:|Absolutely!
"""),
        _split("""
What about you?|It means a lot to me.|I'm still smiling.|Can you believe it?|I'll tell you more
when we meet.|It's been quite a ride.|You should try it too!|I couldn't have done it without my
friends.|Anyway, how are things with you?|Life is strange sometimes.|I feel good about it.|We'll
see what happens.|It was worth it.|Fingers crossed!
"""),
        _split("""
yesterday|last week|last Friday|two weeks ago|last month|a few days ago|on Sunday|this
weekend|last night|on Tuesday|three days ago|last summer|in March|this morning|over the
holidays|the day before yesterday|a month ago
"""),
        _split("""
next week|tomorrow|next month|in two weeks|on Monday|this fall|in June|next Friday
"""),
        _split("""
three months|a year|six weeks|two years|five years|half a year|seven years
"""),
    ),
    "ru": Bank(
        _split("""
Привет, {m}! Как дела?|{m}, сто лет не виделись! Что нового?|Рада тебя слышать, {m}!|Здравствуй,
{m}! Как прошла неделя?|Привет! Надеюсь, день удался.|{m}, есть минутка поболтать?|О, {m}! Как
раз думаю о тебе.
"""),
        _split("""
Ладно, до связи, {m}!|Мне пора, было приятно поговорить.|Пока, {m}, всем привет!|Давай на той
неделе ещё созвонимся.|Всё, спать. Спокойной ночи!|Увидимся, {m}!
"""),
        _split("""
Ого, здорово!|Ой, сочувствую.|Звучит потрясающе!|Правда? Расскажи.|Очень за тебя рада!|Ха, узнаю
тебя.|Вот это да.|Непросто тебе.|Класс!|Представляю.|Молодец!|Ты всегда удивляешь.|Понимаю
тебя.|Как интересно!|Обидно.|Мне нравится.|Впечатляет.
"""),
        _split("""
Спасибо!|Да,|Честно говоря,|Знаешь что?|Кстати,|Смешно, что ты спросила.|Ну,|Спасибо, что
спрашиваешь!|В общем,|Хороший вопрос!|Ох,|Хочу рассказать.|Ага!|Месяц был безумный.|Неплохо!|Всё
забываю сказать:|Конечно!
"""),
        _split("""
А у тебя как?|Для меня это важно.|До сих пор улыбаюсь.|Представляешь?|Расскажу подробнее при
встрече.|Такие дела.|Тебе тоже стоит попробовать!|Без друзей бы не вышло.|А у тебя что
нового?|Жизнь странная штука.|Я довольна.|Посмотрим, что будет.|Оно того стоило.|Держу кулаки!
"""),
        _split("""
вчера|на прошлой неделе|в прошлую пятницу|две недели назад|в прошлом месяце|пару дней назад|в
воскресенье|на выходных|вчера вечером|во вторник|три дня назад|прошлым летом|в марте|сегодня
утром|на каникулах|позавчера|месяц назад
"""),
        _split("""
на следующей неделе|завтра|в следующем месяце|через две недели|в понедельник|осенью|в июне|в
пятницу
"""),
        _split("""
три месяца|год|полтора месяца|два года|пять лет|полгода|семь лет
"""),
    ),
}
