"""Words that may stand for one another in any statement about a person, a decision or a system.

Short on purpose: a group that is missing keeps two texts apart, a group too many merges two facts.
So "rent" and "lease" are no group, nor are "meeting" and "call". Forms are listed as they are
written, because an ending changes the tense, the number or the role.
"""

_GROUPS = """
client customer; doctor physician; begin start launch; began started launched; buy purchase;
bought purchased; delete remove erase; deleted removed erased; live reside; lives resides; lived
resided; phone call; phoned called; fix repair; fixed repaired; developer programmer; kids
children; kid child; mum mom mother; dad father; email e-mail; postponed rescheduled; broken
failing; bug defect; photo picture image; movie film; flat apartment; holiday vacation; big
large; quick fast; finish complete; finished completed done; help assist; show display; shows
displays; choose select pick; chose selected picked; many numerous; job work; car automobile;
mobile cellphone; like enjoy; likes enjoys; reply answer respond; replied answered responded;
get receive; got received; forbidden prohibited; colour color; favourite favorite; licence
license; centre center; ok okay; app application; docs documentation; config configuration; repo
repository; db database; prod production; use utilize utilise; uses utilizes utilises; require
need; requires needs; allow permit; allows permits; allowed permitted; ill sick; everyone
everybody; someone somebody; anyone anybody; perhaps maybe possibly; immediately instantly;
yearly annually; sofa couch; tv television; fridge refrigerator; bike bicycle; plane airplane
aeroplane; lawyer attorney; hire recruit; hired recruited; increase raise; reduce lower
decrease; reduced lowered decreased; kg kilogram kilograms kilo kilos; km kilometre kilometres
kilometer kilometers; cm centimetre centimetres centimeter centimeters; gb gigabyte gigabytes;
mb megabyte megabytes; min mins minute minutes; sec secs second seconds; hr hrs hour hours;
клиент заказчик покупатель; клиента заказчика покупателя; клиенту заказчику покупателю; купить
приобрести; купил приобрел; купила приобрела; купили приобрели; машину автомобиль; новую новый;
ошибка баг; исправлена исправлен; воспроизводится повторяется; нужно надо необходимо; должен
обязан; должна обязана; должны обязаны; начать запустить; начали запустили; дочь дочка; отец
папа; мать мама; бабушка бабуля; врач доктор; врача доктора; врачу доктору; врачом доктором;
приложение программа; цена стоимость; проживаю живу; проживает живет; тружусь работаю; удалить
стереть; удалили стерли; отправить послать выслать; отправил послал выслал; отправили послали
выслали; сообщить уведомить; кушаю ем; фильм кино; компьютер пк; ноутбук лэптоп; завершить
закончить; завершил закончил; завершили закончили; доступно доступен; большой крупный; большая
крупная; большую крупную; сотрудник работник; сотрудника работника; сотрудники работники; фирма
компания; фирме компании; фирму компанию; супруга жена; супруг муж; супругу жену; документация
доки; документацию доки; используем применяем; использую применяю; работает функционирует;
нельзя запрещено; жду ожидаю; ждет ожидает; ждем ожидаем; учусь обучаюсь; учится обучается;
начинается стартует; заканчивается завершается кончается; находится расположен расположена
расположено; вернуть возвратить; увеличить повысить; увеличили повысили; уменьшить снизить
понизить; уменьшили снизили понизили; вместе совместно; иногда временами порой; часто нередко;
сразу немедленно; велосипед велик; телевизор телик; кг килограмм килограмма килограммов; км
километр километра километров километры; гб гигабайт гигабайта гигабайтов; мб мегабайт мегабайта
мегабайтов; мин минут минуты минута минуту; сек секунд секунды секунда секунду; ч час часа
часов; шт штука штук штуки
"""

SYNONYMS: dict[str, str] = {}
"""A word -> the first word of its group."""
for _group in _GROUPS.split(";"):
    _first, *_others = _group.split()
    SYNONYMS.setdefault(_first, _first)
    SYNONYMS.update(dict.fromkeys(_others, SYNONYMS[_first]))
