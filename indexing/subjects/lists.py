"""The word lists behind the rules, folded: what is no place, no name, no firm, no value."""

from indexing.subjects.words import folded

TOOLS = folded(
    "slack,jira,notion,excel,word,teams,zoom,discord,telegram,whatsapp,signal,outlook,gmail,figma",
    "trello,asana,linear,confluence,obsidian,evernote,vim,neovim,emacs,cursor,vscode,linux,ubuntu",
    "windows,macos,android,ios,kubernetes,docker,python,java,rust,go,kotlin,swift,postgres,mysql",
    "terminal,docs,sheets,photoshop,chrome,firefox,safari,twitter,facebook,instagram,reddit,youtube",
    "tiktok,vr,minecraft,roblox,cloud,git,github,gitlab,bitrix,wordpress,shopify,spreadsheets",
    "телеграм,телеграмм,телега,дискорд,слак,ноушен,нотион,джира,эксель,ворд,зум,скайп,ватсап,вотсап",
    "линукс,виндоус,интернет,инстаграм,ютуб,майнкрафт,битрикс,фигма,телемост,хром,матрица,сеть",
    "обсидиан,гитхаб,гитлаб,конфлюенс,курсор,вим,контакт,вконтакте,одноклассники,тик-ток,тикток,озон",
    "авито,авто,маркет,браузер",
)
"""Folded programs that people "live in": never a place, in Russian never an employer."""

NOT_NAMES = folded(
    "monday,tuesday,wednesday,thursday,friday,saturday,sunday,january,february,march,april,may",
    "june,july,august,september,october,november,december,christmas,easter,english,russian,german",
    "french,italian,spanish,american,british,canadian,chinese,japanese,korean,indian,polish,dutch",
    "turkish,ukrainian,greek,swiss,swedish,danish,finnish,norwegian,portuguese,brazilian,mexican",
    "australian,european,asian,african,christian,muslim,jewish,buddhist,catholic,orthodox,hindu",
    "irish,scottish,israeli,iranian,arab,georgian,armenian,kazakh,belarusian,czech,austrian",
    "important,i,sorry,sick,home,late,yes,no,back,later,anytime,please,tomorrow,today,tonight",
    "mondays,tuesdays,wednesdays,thursdays,fridays,saturdays,sundays,weekends,holidays",
    "завтра,потом,позже,русский,английский,немецкий",
)
"""Folded words with a capital that name no person, firm or place."""

GENERIC = folded(
    "i,he,she,it,we,they,you,who,what,this,that,these,those,there,here,everyone,everybody,someone",
    "somebody,anyone,anybody,nobody,people,one,none,all,some,many,most,mom,mum,dad,mother,father",
    "brother,sister,son,daughter,wife,husband,friend,boss,manager,client,customer,user,admin,guest",
    "team,company,office,project,product,landlord,tenant,neighbor,neighbour,colleague,coworker",
    "doctor,teacher,student,driver,plumber,courier,supplier,vendor,partner,employee,director,owner",
    "developer,designer,lawyer,accountant,nurse,patient,school,university,hospital,hotel,shop,store",
    "bank,today,tomorrow,yesterday,tonight,let,his,her,their,its,our,my,your,the,and,but,also,maybe",
    "когда,где,кто,что,это,все,он,она,они,мы,вы,ты,я,мама,папа,мать,отец,брат,сестра,сын,дочь,жена",
    "муж,друг,подруга,начальник,начальница,клиент,заказчик,пользователь,люди,каждый,никто,кто-то",
    "сосед,соседка,коллега,врач,учитель,студент,водитель,бабушка,дедушка,тетя,дядя,команда,компания",
    "проект,директор,партнер,бухгалтер,юрист,мой,моя,мое,наш,наша,наше,их,его,ее,кот,кошка,собака",
    "меня,тебя,него,нее,нас,них,вас,всех,кого,мне,ему,ей,им,нам,вам,кому,нашему,поддержка,фирма",
    "город,дети,ребенок,внук,племянник,отдел,офис,магазин,банк,школа,дом,институт,моему,моей",
    "monday,tuesday,wednesday,thursday,friday,saturday,sunday,grandma,grandpa,granny,grandmother",
    "grandfather,aunt,uncle,cousin,both,half,management,support,sales,marketing,hr,police,kids",
)
"""Folded words that begin a sentence with a capital and are nobody's name."""

EMPLOYERS = folded(
    "яндекс,сбер,сбербанк,тинькофф,т-банк,тбанк,газпром,газпромбанк,роснефт,лукойл,озон,авит,мегафон",
    "билайн,касперск,ростелеком,росатом,альфа-банк,магнит,пятерочк,вайлдберриз,северстал,норникел",
    "сибур,аэрофлот,роснан,ростех,нетолог,скайэнг,райффайзен,втб,мтс,ржд,нлмк,ммк,мгу,вшэ,мфти,спбгу",
    "google,meta,microsoft,apple,amazon,netflix,nvidia,intel,ibm,oracle,sap,vk,ozon,avito,yandex",
    "kaspersky,jetbrains,epam,luxoft,wildberries,sber,tinkoff,huawei,samsung,sony,siemens,bosch,bmw",
    "tesla,spacex,openai,anthropic,uber,airbnb,booking,spotify,stripe,shopify,cisco,dell,accenture",
    "deloitte,kpmg,pwc,mckinsey,nokia,ericsson,lg,hp,amd,toyota,volkswagen,airbus,boeing,ikea,zalando",
)
"""Folded names after which "работаю в" means a firm, not a city or a program."""

CITIES = folded(
    "москва,питер,петербург,казань,самара,омск,томск,уфа,пермь,тула,тверь,сочи,краснодар,воронеж",
    "новосибирск,екатеринбург,челябинск,ростов,волгоград,саратов,тюмень,ижевск,барнаул,иркутск",
    "хабаровск,владивосток,ярославль,красноярск,рязань,пенза,киров,липецк,калуга,курск,сургут",
    "минск,киев,алматы,астана,ташкент,тбилиси,ереван,баку,бишкек,рига,вильнюс,таллин,варшава",
    "берлин,лондон,париж,прага,вена,мюнхен,белград,стамбул,дубай,лиссабон,россия,германия,сша",
    "франция,испания,италия,китай,турция,сербия,грузия,армения,казахстан,беларусь,польша,израиль",
)
"""Folded places after which "устроилась в" tells where, not in which firm."""

FIRM_WORDS = folded("inc,ltd,llc,gmbh,labs,bank,group,software,systems,technologies,robotics,банк")


STATES = folded(
    "broken,dead,closed,open,down,gone,back,here,there,late,ready,nice,good,great,bad",
    "terrible,awful,fine,ok,okay,expensive,cheap,important,wrong,right,full,empty,limited",
    "tight,changing,different,hard,easy,boring,fun,unknown,secret,private,unclear,up,over,out",
    "on,in,at,to,from,with,very,too,so,really,still,always,never,not,no,being,working,winning",
    "losing,similar,same,что,как,чтобы,не,нет,где,когда,если,очень,слишком,совсем,в,на,у,с,к",
    "о,по,из,от,для,уже,еще,сломан,разрядился,важен,важна,важно,закрыто,закрыт,закрыта",
    "ограничен,ужасна,неверно,прежний,такой,такая,такое,тот,та,то,лучше,хуже,хороший,плохой",
    "злой,японская,никакой,одно,одна,один,так,это,прошло,прошел,прошла,следующего,next,what",
    "nobody,nothing,something,everything,anything,ever,taken,lost,slow,public,joke,mess",
    "mystery",
)
"""Folded words that say how a thing is: after "is" they are no value."""
