"""English cues: plain regular expressions in the reading order of `cues.Kind`.

Superlatives and comparatives are spelled out from adjectives: a stem keeps neither.
"""

from retrieval.routing.cues import Rule, compiled, rule, words

_ADJECTIVES = words(
    """high low larg small bigg long short old young tall cheap heavi light fast slow earli lat
    new near clos rich poor wid deep hott cold great strong weak few hard easi busi quick
    thick thin warm cool strict simpl fresh loud quiet saf dens narrow broad brief mild steep"""
)
_COMPARATIVES = words(
    """higher lower larger smaller bigger longer shorter older younger taller cheaper heavier
    lighter faster slower earlier later newer nearer closer richer poorer wider deeper hotter
    colder greater stronger weaker fewer more less"""
)
_SMALL = r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|a dozen"
_UNIT = compiled(
    r"""(?:year|day|week|month|hour|minute|second|dollar|euro|rouble|ruble
    |percent|degree|meter|metre|mile|kilo\w*|pound|inch|foot|feet|km|kg|g
    |cm|mm|usd|rub|eur|gb|mb|ms|point|star)s?|percent
    |(?:and|or|in|by|from|to|of|for|at|on|is|are|was|were|who|that|which|than|but|with|as)"""
)
_SPAN = words(
    "years? months? weeks? days? hours? minutes? seconds? miles? kilomet\\w+ met(?:er|re)s?"
)
_PERIOD = words("day week month quarter year hour weekday")

COMPUTING: tuple[Rule, ...] = (
    rule("count", 0.9, rf"\bhow many [“” ]{{0,3}}(?!(?:{_SPAN})\b)\w+"),
    rule("count", 0.9, r"\bhow (?:often|frequently|many times)\b"),
    rule(
        "count",
        0.9,
        r"""\b(?=numbers? of\b)(?<!phone )(?<!version )(?<!flight )(?<!serial )(?<!room )
        (?<!house )(?<!order )(?<!account )(?<!ticket )(?<!page )(?<!fax )(?<!registration )
        (?<!card )(?<!cell )numbers? of|\bquantity of\b""",
    ),
    rule("count", 0.9, r"^(?:please )?count (?!on\b)\w+|\bcounts? (?:the|all|up|how)\b"),
    rule("count", 0.8, r"\bcount of (?:\w+ ){0,2}\w{2,}(?<!s)s\b|\b(?:by|of) count\b"),
    rule("count", 0.8, r"(?:^|\b(?:the|total) )amount of (?:\w+ ){0,2}\w{2,}(?<!s)s\b"),
    rule("sum", 0.8, r"\b(?:grand |in |sub)?total(?:s| of)?\b(?! (?:war|eclipse)\b)"),
    rule("sum", 0.8, r"\bsum (?:of|up)\b|\b(?:the|a) sum\b|\baltogether\b|\bin all\b"),
    rule("sum", 0.6, r"\b(?:combined|together|overall) ?(?:$|[?.])"),
    rule(
        "sum",
        0.8,
        r"""\bhow much (?:\w+ ){0,3}?(?:did|do|does|have|has|had|was|is|were) (?:\w+ ){1,4}?
        (?:spend|spent|pay|paid|earn(?:ed)?|make|made|sell|sold|saved?|used?|buy|bought|consumed?
        |lose|lost)\b""",
    ),
    rule("average", 0.9, r"\baverag(?:e|es|ed|ing)\b|\bavg\b|\bmedians?\b"),
    rule(
        "average",
        0.8,
        r"(?:\b(?:the|a|and|or|show|give|find|return|compute|calculate) |, )mean "
        r"(?!that|to|by|it|you|when)\w+",
    ),
    rule("extreme", 0.9, r"\b(?:maxim|minim)(?:um|al)s?\b|\b(?:max|min)\b"),
    rule("extreme", 0.85, rf"\b(?:{_ADJECTIVES})est\b"),
    rule("extreme", 0.7, r"\bthe (?:\w+ )?(?:best|worst)\b(?! (?:way|practice))"),
    rule(
        "extreme",
        0.85,
        r"\b(?:most|least|fewest)\b(?<!\bat most)(?<!\bat least)(?! (?:of|likely|important)\b)",
    ),
    rule(
        "extreme",
        0.85,
        rf"\b(?:top|bottom|first|last|latest)[ -](?P<number>{_SMALL}) (?P<noun>[a-z]+)",
        _UNIT,
    ),
    rule("extreme", 0.85, rf"\btop[ -](?:{_SMALL})\b"),
    rule(
        "extreme",
        0.6,
        rf"""\b(?:first|last)\b(?! (?:name|middle|and|or|lady|half|class|hand|aid|world|war|of
        |night|year|month|week|quarter|weekend|summer|winter|spring|autumn|fall|minister|language
        |place|line|word|century|grade|floor|{_SMALL})s?\b)(?!,)""",
    ),
    rule(
        "order",
        0.9,
        r"""\b(?:sort(?:ed|ing)?|rank(?:ed)? by|order(?:ed|ing)? (?:them )?by
        |(?:ascending|descending|alphabetic(?:al)?|chronological|increasing|decreasing|reverse)[ ]
        (?:\w+ )?order|alphabetically|lexicographic\w*|(?:a|de)scending
        |in (?:the )?order of|(?:listed|arranged|by (?:in|de)creasing) by)\b
        (?<!was ordered by)(?<!were ordered by)""",
    ),
    rule(
        "having",
        0.8,
        rf"""\b(?:(?:more|fewer|less|greater) than|at (?:least|most)|over|under|only
        |exactly|between (?:{_SMALL}) and) (?P<number>{_SMALL}) (?P<noun>[a-z]+)""",
        _UNIT,
    ),
    rule(
        "having",
        0.8,
        rf"\b(?P<number>{_SMALL}) or (?:more|fewer|less) (?P<noun>[a-z]+)",
        _UNIT,
    ),
    rule("having", 0.8, r"\b(?:more than|at least|over) (?:once|twice)\b"),
    rule(
        "compare",
        0.8,
        rf"""\b(?:{_COMPARATIVES}) (?:[\w'-]+ ){{0,6}}?than (?:that of )?
        (?:any|all|every|each|average|the (?:average|mean|median|last|previous)|last|in)\b""",
    ),
    rule("compare", 0.8, r"\b(?:above|below|under|over) (?:the )?(?:average|mean|median)\b"),
    rule(
        "compare",
        0.6,
        rf"\b(?:who|which|what) (?:\w+ )?(?:is|are|was|were|has|had|have) (?:{_COMPARATIVES})\b"
        r"[^?]{0,80}\bor\b",
    ),
    rule("compare", 0.4, r"\bcompar(?:e|ed|ing|ison)\b|\bversus\b|\bvs\b"),
    rule("share", 0.8, r"\b(?:percentage|proportion|fraction)\b|\b(?:per ?cent|share) of\b"),
    rule(
        "group",
        0.6,
        rf"\b(?:group(?:ed)?|broken down) by\b|\b(?:by|per) (?:{_PERIOD})\b"
        rf"|\b(?:in|for) (?:each|every) (?:{_PERIOD})\b",
    ),
    rule("group", 0.3, r"\b(?:for|of|in|from|to|by) (?:each|every)\b|\beach ?[?]"),
)

ASKING: tuple[Rule, ...] = (
    rule("content", 0.9, r"\bwhy\b|\b(?:explain|describe|summari[sz]e|elaborate)\b"),
    rule("content", 0.7, r"\b(?:remind|tell) me\b"),
    rule("content", 0.9, r"\bwhat\b[^?]{0,80}\babout ?(?:$|[?.!])|\babout what\b"),
    rule(
        "content",
        0.9,
        r"""\bwhat (?:\w+ )?(?:did|do|does|have|has|had) (?:[\w'-]+ ){1,3}?
        (?:sa(?:y|id)|writ(?:e|ten)|tell|told|complain(?:ed)?|ask(?:ed)?|think
        |mention(?:ed)?|discuss(?:ed)?|decide(?:d)?|talk(?:ed)?|mean|promised?)\b""",
    ),
    rule("content", 0.9, r"\bhow (?:do|can|could|should) (?:i|we|you) \w+|\bhow to \w+"),
    rule("content", 0.7, r"\bhow (?:do|does|did|can|could|should|is|are|was|were|to)\b"),
    rule(
        "attribute",
        0.8,
        r"""\bhow (?:old|tall|deep|far|long|big|high|heavy|wide|large|fast
        |hot|cold|expensive|thick|broad|short|small)\b""",
    ),
    rule("attribute", 0.8, rf"\bhow much\b|\bhow many (?:{_SPAN})\b"),
    rule(
        "attribute",
        0.6,
        r"\bwhat(?:'s| (?:is|are|was|were)) (?:the |my |his |her |our |their |[\w-]+'s )",
    ),
    rule("name", 0.6, r"\b(?:who|whom|whose|which|when|where)\b"),
    rule("name", 0.7, r"^(?:please |can you )?(?:list|show|give|find|name|return|get)\b"),
    rule("name", 0.6, r"\bwhat (?!did|do|does|is|are|was|were|has|have|had|will|would|can)\w+"),
    rule("name", 0.6, r"\b(?:ids?|codes?|e-?mails?|phone|addresses|names?)\b"),
)

STORED_COUNT = compiled(
    r"""\bhow many (?P<noun>(?:seat|student|pupil|employee|worker|inhabitant|resident
    |citizen|people|page|floor|stor(?:ey|ie|y)|episode|season|speaker|passenger
    |room|pixel|calorie)s?)\b(?=[^?]{0,80}\b(?:have|has|had|live|lives|lived
    |work|works|study|there|employ|in|on|at)\b)"""
)
"""How many of a crowd or of parts without names of their own: a figure that is stored with the one
thing it belongs to (the seats of a stadium). It is asked for when that thing is named."""
