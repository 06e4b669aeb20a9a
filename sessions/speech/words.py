"""Words that say nothing of a topic: function words and the usual verbs of both languages."""

from indexing.sparse import terms

_LISTED = """
a an the this that these those i you he she it we they me him her us them my your his its our their
mine yours and or but so if then than as of in on at by for with from to into about over under after
before between during without within up down out off again is are was were be been being am do does
did done have has had having will would shall should can could may might must not no nor only just
also too very more most less least much many some any all each every both few other another same own
such what which who whom whose when where why how there here now still yet already ever never always
usually ok okay yes please thanks thank hello hi let lets go get make take give use know think want
need like see look say said tell find come work way thing things one two first last new next really
well good great sure maybe even because since until while though however instead quite don doesn
didn won isn aren wasn ll ve re d s t m decide decided agree clear wait yet later kind bit lot today
tomorrow yesterday day time week month year back keep put set try help ask right problem question
и а но или да нет не ни же ли бы то что чтобы как так если когда где куда откуда кто чей какой какая
какое какие какого сколько почему зачем это этот эта эти этого этом тот та те того том такой такая
такие весь вся все всё всего всех сам самый свой свои свою мой моя моё мои моего твой ваш наш наша
наши я ты он она оно мы вы они меня мне мной тебя тебе его ему её ей нас нам вас вам их им них ним
в во на с со у к ко о об от до из за по под над при про для без через между перед после около
быть был была было были будет будем есть стать можно нужно надо нельзя может могу могут можем
хочу хочет хотим должен должна должны уже ещё еще пока только тоже также очень более менее больше
меньше самое там тут здесь сейчас теперь тогда потом всегда обычно никогда раз вот ну ладно хорошо
давай давайте спасибо пожалуйста привет здравствуйте конечно наверное просто даже лишь именно почти
сделать сделай делать дать взять решить решили решил уточнить знать знаю ясно неясно понятно
непонятно вопрос открыт сегодня завтра вчера день время неделя месяц год раньше позже один два
первый последний новый который которая которые которое кажется лучше потому поэтому значит
"""

STOP = frozenset(terms(_LISTED))
"""Their terms, as `indexing.sparse` makes them."""


def content(text: str) -> frozenset[str]:
    """Return the terms of a text that say what it is about."""
    return frozenset(term for term in terms(text) if len(term) > 1 and term not in STOP)
