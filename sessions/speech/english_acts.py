"""English rules for failures, refusals, open matters, promises and decisions, in this order."""

from sessions.speech.rules import Rule, phrases, rule

_WILL = r"(?:'ll| will|'m going to| am going to|'re going to| are going to| shall)"
_HAVE = r"(?:'ve| have|'d| had)?"
_ADV = r"(?: (?:also|then|definitely|probably|all|just|now|gladly|really|certainly|first))?"
_SOON = (
    r"""(?:tomorrow|tonight|today|by|in (?:an?|\d+|five|ten|two|three|the)|on \w+day|next \w+
    |this \w+|later|soon|after \w+"""
    r"|first thing|until|at \d|before|within|on my way|here|as soon as|for you|you)\b"
)
_DECIDE = phrases(
    """decide agree figure clarify confirm choose settle discuss resolve determine establish
    pick find_out check_with ask work_out"""
)
_DO = phrases(
    """send write call e-?mail mail share prepare draft fix push check get_back come_back let
    update deliver finish bring pay upload add review look post renew forward submit test deploy
    schedule ping message show give find ask tell report remind follow_up set_up make create
    print talk do bake pick_up transfer return refund reply answer clean sign document"""
)
_CHOOSE = (
    phrases(
        """go_with go_for go_ahead go_by take use stick stay choose ship launch switch move buy
        adopt start drop order book release leave postpone hire cancel rent meet hold have"""
    )
    + r"|pick(?! up)|keep(?! (?:you|going|working|my|in|an|on|it up|at|pushing|trying)\b)"
)
_GONE = r"(?:decided|agreed|chosen?|chose|picked|settled on|opted|resolved|selected|approved)"
_FAIL = r"""(?:fail(?:s|ed|ing)?|failures? (?:of|due|in|to)|crash(?:es|ed|ing)?|times? out
    |timed out|timing out)"""

ACTS: tuple[Rule, ...] = (
    rule("promise", r"\bpromised (?:to|me|us|him|her|them)\b", "user", claimed=False),
    rule("error", r"\b\w*(?:error|exception)\b ?[:\"]|\btraceback\b|\b(?:panic|fatal):"),
    rule(
        "error",
        rf"""\b(?<!may )(?<!can )(?<!could )(?<!might )(?<!would )(?<!will )(?<!never )
        (?<!without ){_FAIL}\b""",
    ),
    rule(
        "error",
        r"""\b(?:is|are|was|were|got|been) (?:\w+ )?(?:broken|rejected|refused|denied
        |corrupted)\b|\b(?:breaks?|broke) (?:when|if|on|after|in production|the (?:build|page
        |layout|export|login|app))\b|\bstopped working\b|\b(?:doesn't|does not|don't|didn't
        |isn't|is not|not|won't) (?:work|working|start(?! (?:at|with|until|from|over|before
        |on)\b)|build|compile|load|open|respond|connect|boot)\b|\b(?:can't|cannot|unable to
        |could not|couldn't)(?: \w+)? ?(?:log in|login|connect|build|compile|install|import
        |reach|save|upload)\b""",
    ),
    rule(
        "error",
        r"""\b(?:hangs|freezes|(?:app|page|screen|process|build|job) (?:\w+ )?(?:hung|froze
        |is stuck|got stuck)|(?:keeps?|kept) (?:jamming|crashing|failing|freezing|hanging
        |dropping|restarting|disconnecting|looping)|(?:deploy|process|server|service|pod
        |container|disk|build|job|laptop|battery|worker) (?:\w+ )?died|unreachable|glitch(?:es
        |y)?|misbehaves|memory leak|leaks memory|disk (?:is )?full|quota exceeded|corrupts?
        |garbled|blank (?:screen|page|labels?|output)|culprit|declined|goes blank
        |wouldn't (?:start|open|load|boot))|\b(?:throws?|throwing|threw|spits? out
        |complains? about) (?:an? )?(?:\w+error|\w*exception|error)|\bfound (?:an? )?bug\b
        |\bhit (?:an? )?bug\b""",
    ),
    rule(
        "error",
        r"""\bcaused by\b|\broot cause\b|\b(?:returns?|returned|throws?|threw|raises?
        |raised)[ ](?:an? )?(?:\w+ )?(?:error|exception|[45]\d\d)\b|\b[45]\d\d (?:bad gateway
        |not found|internal|forbidden|unauthorized|service|gateway)|\bpermission denied\b
        |\bconnection[ ](?:refused|reset)\b|\bno such file\b|\bsegfaults?\b|\bout of memory\b
        |\bdeadlocks?\b|\bcould not find a version\b""",
    ),
    rule(
        "rejected",
        r"""\b(?:decided|voted|advised|agreed) (?:against|not to)\b|\bout of the question\b
        |\boff the table\b|\bruled out\b|\bno longer an option\b|\bscrap (?:that|it|the)\b
        |\b(?:drop|forget|scrap|ditch|abandon) (?:that|this|the|about the) (?:\w+ )?idea\b
        |\bturned (?:\w+ ){0,2}down\b|\bnot an option\b|\b(?:is|are) out[.!]?$""",
    ),
    rule(
        "rejected",
        r"""^(?:let's|let us) (?:not|skip|drop|forget)\b|\b(?:we|i)(?: won't| will not
        |'m not going to| am not going to|'re not going to| are not going to|'ll not
        | shall not) (?!(?:be able|quit|stop|give up|forget|let|stress|lie|give in|say)\b)\w+
        |\b(?:i|we) (?:really )?(?:don't|do not) (?:want|need) (?:an?|any|the|it|that|this|them
        |to (?:use|do|go|pay|include|buy|switch|add|keep|change))\b|^(?:definitely|absolutely
        |certainly) (?:no|not)\b|^not \w+[.!]?$|^no \w+(?: \w+){0,2} (?:for now|this time)\b
        |\b(?:is|are) (?:a|an absolute|a hard|a clear) no\b|\b(?:is
        |are) not (?:happening|going to happen|an option|for (?:me|us))\b|\b(?:isn't
        |aren't) (?:happening|an option|for (?:me|us))\b|^(?:scratch|scrap|ditch|kill|lose|nix
        |veto) (?:that|this|it|the|them)\b|^drop (?:the|that|this|it|them)\b|\bi'll pass\b
        |\b(?:i|we)'d (?:never|not) (?:use|buy|pay|go|do|pick)\b|\bwouldn't (?:touch|go near
        |bother)\b|\bcount me out\b|\bi'm (?:done|through) with\b|\bmore than i'd\b|\b(?:we
        |i)(?: have|'ve)? (?:dropped (?!off)|rejected|abandoned|scrapped|cancelled|canceled)\b""",
        "user",
    ),
    rule(
        "unresolved",
        rf"""\b(?:need|needs|have|has|had|must|remains|want|yet
        |left) to (?:still |first )?(?:{_DECIDE})\b|\bstill (?:need|have) to\b
        |\bstill (?:deciding|undecided|open|unclear|unknown|pending)\b|\bundecided\b
        |\bopen question\b|\b(?:haven't|have not|hasn't|has not)(?: yet)? (?:decided|agreed
        |settled|chosen|confirmed|figured|heard|picked)\b|\bup in the air\b|\bquestion of (?:who
        |what|whether|when|where|how|which)\b|\b(?:was|were|is|are) left open\b|\bno (?:decision
        |agreement|answer|word|verdict|consensus)(?: yet)? (?:on|about|from|so)\b|\b(?:should
        |need to|must|have to|want to|got to|gotta) (?:still )?(?:find out|figure out|check with
        |look into)\b|\b(?:remains|remain) (?:open|unclear|to be seen|unknown)\b
        |\b(?:still wonder|wonder (?:if|whether) we|wondering (?:if|whether) we)\b
        |\bon the fence\b|\bcan't decide\b|\btorn between\b|\bundecided\b|\btbd\b
        |\bto be (?:decided|confirmed|discussed|determined|agreed)\b""",
        claimed=False,
    ),
    rule(
        "unresolved",
        r"""\b(?:not|isn't|is not) (?:\w+ )?(?:sure|clear|certain|decided|known
        |settled)(?: yet)?\b(?! (?:that|i|you|anyone|about your)\b)|\bunclear\b|\b(?:i
        |we) (?:still )?(?:don't|do not) (?:yet )?know\b(?! (?:why|how to|what (?:i|to)|him|her
        |them|you|where i|about you)\b)|\bno idea (?:yet|whether|if|who|when)\b|\bwaiting (?:for
        |on) (?:an? |the |his |her |their )?(?:answer|reply|confirmation|approval)|\b(?:decide
        |discuss|come back to|return to) (?:it |this |that )?later\b""",
    ),
    rule(
        "promise",
        r"\bi(?: can| do)? promise\b|\byou(?:'ll| will) (?:have|get|receive) (?:it|the)\b",
    ),
    rule(
        "promise",
        rf"\bi{_WILL}{_ADV} (?:{_DO})\b(?! (?:you know if|me|(?:it|them|that|this) out|after)\b)",
    ),
    rule(
        "promise",
        rf"""\bi{_WILL}{_ADV} (?!be\b|have\b|need\b|never\b|not\b|love\b|like\b|see\b|miss\b
        |pass\b|wait\b|think\b|admit\b|say\b|probably\b
        |go\b)(?!(?:{_CHOOSE})\b)\w+.{{0,80}}\b{_SOON}|(?:^|, |\band )will (?:update|let you
        |send|report|call|write|post|ping|share|check|push|open|do it)\b|^will (?!(?:be|it|that
        |you|this|we|they)\b)\w+|\bi(?:'m| am) (?:\w+ly )?\w{{2,}}ing\b.{{0,60}}\b(?:tomorrow
        |tonight|later today|first thing|by \w+day|on \w+day|this (?:afternoon|evening|week)
        |next week)\b(?<!fly)(?<!going)|\bleave it (?:to|with) me\b|\bexpect it (?:by|on|in)\b
        |\bi(?:'ve| have) promised\b""",
        "user",
    ),
    rule(
        "promise",
        r"""^(?!we\b|i\b|you\b|it\b|that\b|this\b|there\b|who\b|what\b)\w+ (?:\w+ )?(?:will
        |is going to) (?!be\b)\w+\b.{0,60}\b(?:by|before|until|till|on|within) (?:\w+day
        |tomorrow|noon|tonight|the end|next|\d)""",
    ),
    rule("promise", rf"\bwe{_WILL}{_ADV} (?:{_DO}|have (?:it|them|that|this))\b"),
    rule(
        "decision",
        rf"""\b(?:i|we|the team){_HAVE}{_ADV} {_GONE}\b(?! yet)(?! with you)|\bit's decided\b
        |\b(?:is|that's|it's|are|was|all) (?:now )?(?:settled|decided|final|agreed
        |approved)[.!]?$|^(?:agreed|settled|decided)[,:]? \w+|, (?:final|period|full stop
        |end of story|no discussion|that's final)[.!]?$|\bit was (?:agreed|decided|settled)\b
        |^(?:the|our|my) (?:decision|plan|choice) is\b|\b(?:we've|we have|i've|i have) (?:made up
        |landed on|gone with|signed off|committed to|locked)\b""",
    ),
    rule("decision", rf"\b(?:i|we){_WILL}{_ADV} (?:{_CHOOSE})\b", "user"),
    rule(
        "decision",
        r"""\b(?:we|i)(?:'re| are|'m| am) (?:now )?(?:staying|sticking|going with|going for
        |keeping|moving to|switching to|dropping|not waiting)\b|\bi'm (?:taking|buying|ordering
        |choosing|picking|switching|signing|cancel+ing|replacing|renaming|moving to|hiring
        |booking) (?:the|a|an|it|that|both|to|my|our|[a-z]+[.!]?$)\b(?! (?:class|course|break
        |nap|few|lot|day|trip)\b)(?!.*\b(?:some|class|course|trip)\b)|\bthe \w+ (?:goes out
        |stays|goes|ships|moves|launches) \w+|^(?:going|sticking) with\b|\bit is[.!]?$
        |^go (?:with|for)\b(?! it\b)|^(?:book|order|buy|pick|choose|take) (?:the|two|three|one
        |both|it|that|those|me)\b|\bcan be (?:cancel+ed|dropped|removed|deleted|closed)\b
        |\bi (?:pick|choose|vote for)\b|\b(?:that's|it's) (?:our|my|the) (?:\w+ )?(?:name|choice
        |pick|one|winner|plan)\b|^that works[,:] \w+|^(?:moving|switching|keeping|dropping
        |taking|going|sticking|signing|booking|buying|splitting|replacing|staying)\b(?!.*\b(?:is
        |are|was|makes?|can|has|seems?)\b)|\bwe (?:no longer|now) use\b""",
        "user",
    ),
    rule(
        "decision",
        r"""\bwe(?:'re| are) (?!not\b|thinking\b|looking\b|having\b|trying\b|getting\b
        |seeing\b|working\b|waiting\b|considering\b|wondering\b|struggling\b|talking\b
        |planning\b|using\b|running\b|living\b|expecting\b|hoping\b|putting\b|organi[sz]ing\b
        |a\b|all\b|both\b|flying\b|going\b|doing\b|missing\b|losing\b|building\b
        |writing\b)\w+ing\b|\bwe(?:'ll| will) (?!see\b|need\b|have\b|be\b|never\b|not\b
        |probably\b|know\b|think\b|find\b|find out\b|figure\b|decide\b|discuss\b)\w+""",
        "user",
    ),
    rule(
        "decision",
        r"""^(?:let's|let us) (?!see\b|not\b|know\b|say\b|check\b|discuss\b|decide\b|talk\b
        |hope\b|think\b|come back\b|assume\b|imagine\b|suppose\b|face\b|look\b|try to\b
        |go into\b|continue\b(?! with)|go on\b|move on\b|get started\b|get going\b|begin\b
        |keep in touch\b|catch up\b|live it up\b)\w+""",
        "user",
    ),
)
