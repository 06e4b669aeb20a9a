"""English rules for preferences, live data, requirements, facts, in the order of trying."""

from sessions.speech.rules import Rule, phrases, rule, words

_ORDER = words(
    """keep use make format write put add include avoid give limit remove leave translate answer
    reply respond return start end sort round show mention skip call address exclude stick round
    list group cite quote name cut shorten stay begin convert send design render produce"""
)
_NUM = (
    r"""(?:[$€£]?\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty
    |thirty|fifty"""
    r"|a hundred|a dozen|half)\b)"
)
FORMAT = phrases(
    """csv json pdf xml markdown html xlsx excel word docx yaml toml png svg plain_text
    bullets? bullet_points table tables euros? dollars? pounds usd eur roubles rubles
    english french german russian spanish italian chinese uppercase lowercase alphabetical
    present past"""
)
_LIMIT = r"""(?:no (?:more|less|fewer|longer|later|earlier|larger|bigger) than|not more than|at most
|at least|max(?:imum)?|minimum|up to|under|below|less than|fewer than|within|over|not exceed
|exceed|before|by|between|nothing (?:longer|over|above|more|bigger|heavier)(?: than)?|down to)"""
_LIKES = r"(?:prefer|love|like|hate|dislike|enjoy|adore|detest|can't stand|cannot stand|favou?r)"
_CARE = r"(?:(?:really|always|usually|also|much|generally|still|just|absolutely|do|don't|do not) )?"
_WE = r"(?:i|we|my|our|me|us|mine|ours|myself)"

FACTS: tuple[Rule, ...] = (
    rule(
        "constraint",
        r"""^if\b.{3,80}, (?:then )?(?:please )?(?:send|use|call|ask|tell|give|put|take|skip
        |leave|show|write|stop|book|deliver|pay|do not|don't|just)\b
        |(?:, |; |- )(?:please )?(?:never|don't ever|do not|don't) (?:put|use|add|show|send
        |offer|include|suggest|mention|give|call|book|mix|serve)\b""",
        "user",
        claimed=False,
    ),
    rule(
        "preference",
        rf"""\bi\b(?<!why i)(?<!what i)(?<!how i)(?:'d| would)? {_CARE}{_LIKES}\b(?! (?:this
        |that|it|these|those|your|how|seeing|hearing|to (?:hear|see|know
        |think))\b)(?<!i'd like)(?<!would like)(?<!really like to)|\bi(?:'d
        | would) (?:much )?rather\b|\bi(?:'m
        | am) (?:not )?(?:a |an? )?(?:big |huge |great )?(?:fan of|into|fond of|keen on
        |partial to)\b|\bmy favou?rite\b|\bi (?:can't|cannot) stand\b|\b(?:suits?
        |works?) (?:me )?(?:better|best)(?: for (?:me|us))?\b|\bi(?:'m
        | am) more[ ](?:comfortable|at home)\b|\bmy preference\b|\btastes? like \w+ to me\b
        |\bto my taste\b|\b(?:more )?my (?:thing|style|jam|cup of tea|go-to)\b
        |\blean(?:ing)? towards?\b|\b(?:do|does) megood\b|\b(?:can
        |could) (?:easily |happily )?do without\b|\bwe (?:really |all |both )?(?:like|love|enjoy
        |hate)\b|\bi(?:'m| am) (?:not |more )?(?:of )?(?:an? )?\w+ person\b|\bi(?:'d
        | would) sooner\b|\b(?:crazy|mad|nuts|passionate|picky) about\b|\b(?:can't
        |cannot) get enough of\b|\b(?:is|are) my weakness\b|\b(?:the )?best for me\b|\bi(?:'m
        | am) not (?:one|much) for\b|\bi don't mind\b|\bi'm happiest\b|\bi can't resist\b
        |\bdrives me (?:mad|crazy|nuts|up)\b|\bi find \w+(?: \w+){0, 3} (?:easier|better|nicer
        |more|too|annoying|boring|relaxing)\b|\bi (?:try to )?avoid\b|\bgive me \w+ (?:any day
        |over)\b|\bi swear by\b|\b(?:is|are) (?:easier|better|nicer|best) for me\b
        |\bi have a (?:soft spot|weakness)\b|\b(?:we|i)'d prefer\b|\bwe prefer\b""",
        "user",
    ),
    rule("preference", r"^no \w+(?: \w+){0,2},? for (?:me|us)\b", "user"),
    rule("preference", r"^i (?:always|usually|never|typically|generally|mostly) \w+", "user"),
    rule("preference", r"\bi (?:work|sleep|think|learn|focus|read) best\b", "user"),
    rule(
        "outside",
        r"""\b(?:in|out of) stock\b|\bsold out\b|\b(?:pairs?|items?|seats?|rooms?|tickets?
        |units?|copies) (?:are )?(?:left|available)\b|\b(?:is|are|been|was) (?:\w+ )?(?:delayed
        |on track|behind schedule|ahead of schedule|degraded|down|operational|in transit
        |out for delivery)\b|\bin transit\b|\b(?:snowing|raining|sunny|cloudy|overcast|windy)\b
        |\bdegrees\b|\bstatus page\b|\b(?:exchange )?rate is\b|\bas of (?:today|now|this|\w+day
        |\d)""",
    ),
    rule(
        "outside",
        r"""^(?!.*\b(?:my|our|i|we)\b).*\b(?:costs?|priced?|prices?|sells|selling|trading
        |fares?|fee) (?:\w+ ){0,3}[$€£₽]? ?\d|\b(?:team|company|department|project|office
        |firm) (?:now )?(?:has|employs|counts) (?:\w+ )?\d|\b(?:project|release|flight|train
        |delivery|shipment|order|launch) (?:\w+ ){0,2}(?:late|delayed|cancelled|canceled
        |postponed|arrives?)\b""",
    ),
    rule(
        "outside",
        r"""^(?!.*\b(?:i|i'm|i've|we|we're|me|my|you|your|us|our)\b).*(?:\b(?:currently
        |right now|at the moment|as of)\b|\b(?:now|today|this morning|latest|tomorrow
        |so far)\b(?=.*\d)|\d.*\b(?:now|today|tomorrow)\b)|\byour (?:order|parcel|package
        |delivery|flight|request|ticket) (?:is|was|has|will|should)\b|^it is (?:\w+ )?(?:open
        |closed)\b|\b(?:is|are) closed\b""",
        "assistant",
    ),
    rule(
        "outside",
        r"^there (?:are|is) (?:\w+ )?\d|\bshould arrive\b|\barriv(?:es?|ing) (?:on|at)",
        "assistant",
    ),
    rule(
        "fact",
        r"""\b(?:he|she|they|my \w+|our \w+) (?:can't|cannot|mustn't) (?:eat|drink|have|stand
        |use|see|hear|walk)\b|\bi (?:can't|cannot) (?:eat|drink|have|walk|drive|see|hear)\b""",
        "user",
    ),
    rule(
        "constraint",
        r"""\b(?=[mhnsco])(?<!\bi )(?<!we )(?<!you )(?<!he )(?<!they )(?:must|has to|needs? to
        |should|may not|cannot|can't|have to|ought to)[ ](?!be (?:so|such|a|an|really|very|nice
        |great|hard|tough|fun|tired|happy|proud|exciting|awesome|amazing|able|good|fine|okay
        |incredible|(?:hav|go|feel|look|be)ing)\b)(?!have (?:been|taken|had|\w+ed
        |unreal)\b)(?:not |never |only |all |also )?(?:be|fit|contain|have|include|work|run
        |support|use|exceed|stay|cost|start|end|look|sound|weigh|finish|hold|mention|last|take
        |match|follow|keep|arrive|come|cover|pass|handle|store|comply|go)\b""",
        "user",
    ),
    rule(
        "constraint",
        r"""^(?:the|each|every|all|our|any|its) (?:[\w'-]+ ){1,5}must (?:not
        |never |only |also |always )?(?!(?:be|have) (?:so|such|really|very|nice|great|hard|tough
        |fun|tired|happy|proud|exciting|awesome|amazing|been|left|gone|\w+ing|\w+ed)\b)\w+""",
        "user",
    ),
    rule("constraint", rf"^(?:please )?(?:{_ORDER})\b.{{0,80}}\b{_LIMIT} (?:\w+ )?{_NUM}", "user"),
    rule(
        "constraint",
        rf"""^(?:please )?(?:{_ORDER})\b.{{0,80}}(?:\b(?:in|into|as|to|with|using
        |by) (?:\w+ ){{0,2}}(?:{FORMAT})\b|\b(?:tone|style|format|decimals?|font|voice
        |spelling)\b|\b(?:without|only)\b|, no \w+|\bfrom now on\b|\b(?:friendlier|shorter
        |longer|simpler|formal|informal|casual|softer|lighter|warmer|darker|bigger|smaller
        |louder|shorter)\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+)[ ](?:pages?
        |words?|lines?|sentences?|paragraphs?|bullets?|rows?|slides?|characters?|columns?))""",
        "user",
    ),
    rule(
        "constraint",
        rf"""^(?:please )?(?:(?:make it|make them|avoid|exclude) \w+|(?:always|never|only
        |don't ever) (?!give up)(?:{_ORDER})\b|(?:don't|do not) (?!give up|limit yourself
        |stop)(?:{_ORDER}|change|touch|delete|repeat|ask|contact|offer|suggest|share|mix|quote
        |reveal|split|exceed|print|copy|rename|invent|guess|assume|spend|book|buy|schedule)\b
        |only (?!(?:if|when|then|because|he|she|they|i|you|we|just|yesterday|today|time)\b)\w+
        |no (?:emojis?|links|images|screens|jargon|tables|markdown|abbreviations|meat|fish|dairy
        |sugar|nuts|gluten|\w+ (?:in it|please|allowed)))""",
        "user",
    ),
    rule(
        "constraint",
        r"""\bi (?:want|need|would like)(?: to have)? (?:it|the \w+|them|this|everything
        |all of it|your \w+) (?:in|as|to be|without|with|by|under)\b|\b(?:nobody|nothing|no one
        |everything|everyone|each \w+|every \w+) (?:\w+ )?(?:should|must|with|has to|may
        |needs)\b|\b(?:capped|limited) (?:at|to)\b|\b(?:limit|cap|cut-?off) is\b
        |\b(?:not |un)?(?:allowed|forbidden|banned)\b|^(?:less|more|fewer) (?!(?:than|or
        |and)\b)\w+(?: \w+){0,3}[.!]?$|^(?:please )?(?:mention|include|leave out|keep|stick to
        |highlight|emphasi[sz]e|omit|exclude|bold|number|capitali[sz]e|credit|address
        |call) (?!(?:up|it up|in mind|going|me posted|me|your)\b)(?:\w+ )?\w+|\b(?:cannot|can't
        |must) (?:take|cost|last) (?:more|longer)\b|\b(?:is|are) a must\b|\bmust-have\b
        |\bas long as (?:it|they)\b|\bthe (?:only )?condition\b|\bone condition\b
        |\bwe need (?:it|them) (?:in|by|to)\b""",
        "user",
    ),
    rule(
        "constraint",
        rf"""\b(?:i|we)(?:'d| would)? (?:need|want|like|require) (?:an?|the|my|our|some|one)
        .{{3,120}}\b(?:as|in) (?:an? |one )?(?:{FORMAT})\b
        |^(?:please )?(?:always )?use (?:\w+-?\w* )
        {{0,3}}(?:units?|times?|dates?|names?|spelling|numbers?|digits|letters|quotes|words
        |notation|currency)\b|^(?:please )?(?:always )?(?:answer|reply|respond|write|speak|explain
        |talk)(?: to me| it| them)? (?!(?:family|supply|early|july)\b)(?:\w{{3,}}ly|short
        |in (?:\w+ )?\w+)\b|^(?:please )?(?:be
        |keep (?:it
        |them|things|answers|replies|your \w+)) (?:very )?(?:brief|short|concise|simple|formal
        |informal|polite|precise|friendly|casual|honest)\b""",
        "user",
    ),
    rule(
        "constraint",
        r"""\bfrom now on\b|^(?:\w+ ){0,4}tone\b|\bmake (?:it|them) (?:\w+er|more|less|sound
        |look)\b|\bshould read\b|\b(?:no|without) (?:emojis?|links|images|screens|jargon
        |screenshots|markdown|tables|abbreviations)\b""",
        "user",
    ),
    rule(
        "constraint",
        rf"""^(?!.*\b(?:is|are|was|were|took|has|had|costs?)\b)(?!.*\b(?:i
        |we)\b).*\b{_LIMIT} (?:an? |\w+ )?{_NUM}|\b(?:in|as) (?:an? )?(?:{FORMAT}) (?:format
        |only)\b""",
        "user",
    ),
    rule(
        "fact",
        r"""\bi(?:'m| am) (?:(?:also|a|an|both|now|severely|strictly) )*(?:allergic|vegetarian
        |vegan|diabetic|pregnant|married|divorced|single|retired|left-handed|colou?r-?blind
        |intolerant|lactose intolerant|celiac|coeliac|based|responsible|an? \w+(?:er|or|ist|ian
        |ant|ent)\b)|\b(?:i|we) (?:live|work|study|own|come|grew up|was born|speak|have (?:type
        |an? allerg|diabetes|asthma|kids|children|twins|celiac|epilepsy|migraines?|a (?:dog|cat
        |son|daughter)))\b|\bmy (?:\w+ ){0,2}(?:name|address|birthday|job|diagnosis|blood type
        |hometown) (?:is|was)\b|\bi(?:'ve| have)? (?:was|been|got|were)? ?diagnosed with\b
        |\b(?:i|we) (?:moved|relocated) (?:to|from)\b|\b(?:i|we) have (?:\w+ ){0,2}(?:kids
        |children|sons?|daughters?|dogs?|cats?|employees|cars?)\b|\bi graduated\b
        |\bi get (?:\w*sick|migraines|hives|dizzy|heartburn)\b|\b(?:my
        |our) (?:\w+ ){0,2}(?:doesn't|does not|can't|won't|never) (?:\w+ )?(?:eat|drink|wear|fly
        |drive|like|stand|smoke)s?\b|\b(?:i|we)(?:'m| am|'re| are) (?:from|on the)\b""",
        "user",
    ),
    rule("fact", rf"\b{_WE}\b", "user", valued=True),
    rule(
        "fact",
        r"""^(?!(?:please|compare|write|tell|find|check|give|show|explain|list|draft|translate
        |calculate"""
        r"|what|how|why|make|create|try|look|add|see|remember|there (?:is|are))\b)(?=.*\d)",
        "user",
        valued=True,
    ),
    rule("fact", r"\byour (?:\w+ ){1,3}(?:is|are|was)\b", "assistant", valued=True),
    rule(
        "fact",
        r"""^(?!let\b)(?:he|she|they|it|there|(?:\w+ ){0,3}\w+)(?:'s|'re| is| are| has| have
        | was| were
        | turns?| weighs?| starts?| begins?| ends?| runs?| called)\b""",
        "user",
        valued=True,
    ),
)
