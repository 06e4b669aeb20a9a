"""English turns of phrase: openers, small talk, and what ties a sentence to those before it."""

from sessions.speech.english_acts import ACTS
from sessions.speech.english_facts import FACTS, FORMAT
from sessions.speech.rules import Language, compiled

ENGLISH = Language(
    rules=ACTS + FACTS,
    opener=compiled(
        r"""^(?:(?:ok(?:ay)?|well|so|also|and|but|then|now|great|fine|good|alright|all right
        |right|sure|hmm+|ah|oh|perfect|yes|yep|yeah|yup|no|nope|nah|agreed|actually|by the way
        |btw|anyway|in that case|you're right|thanks|cool|awesome|please note(?: that)?
        |note that|fyi|hi|hello|hey)(?: then)?(?:[,.:!;-]+ ?
        |(?<=ok) |(?<=so) |(?<=also) |(?<=and) |(?<=but) |(?<=then)[ ]|(?<=now) ))+"""
    ),
    small=compiled(
        r"""(?:(?:ok|okay|kk)(?: cool| great| thanks)?|wow|amazing|lovely|excellent|wonderful
        |super|fine|sure(?: thing)?|yes|yep|yeah
        |no|nope|nah|got it|noted|understood|makes sense|sounds (?:good|great|amazing)
        |that sounds (?:\w+)|of course|certainly|absolutely|all right|alright|right|done|exactly
        |(?:ha)+h?|phew|whew|splendid|brilliant|that's all|nice \w+|fair (?:point|enough)
        |good (?:luck|to know)[\w ]{0,15}|trying|ok trying|on it|you're an? \w+|what a relief
        |congrats|congratulations|happy \w+|enjoy|welcome back|lol|hm+|brr+|oh|ah|oops
        |thanks?(?: you)? for [\w' ]{1,40}|no (?:worries|rush)|you're (?:funny|right|kidding)
        |take your time|have a (?:nice|great|good) \w+|see you(?: \w+)?
        |not really|maybe|i see|i understand|too bad|good (?:choice|idea
        |point|question|job)|(?:great|nice|good|excellent|lovely) (?:question|choice|taste|idea
        |point|job)|looks (?:good|great)(?: to me)?|(?:very )?nice to meet you(?:,? \w+)?
        |happy to help|just (?:let me know|kidding)|well done|that's (?:great|fine|ok|good|nice
        |funny|it|all)|how are you(?: doing)?(?: today)?|what's up|sorry|anything else
        |how's it going|how have you been|how about you|what about you|(?:oh|aw+) no|no prob
        |appreciate (?:it|that|\w+ [\w ]{1,20})|i appreciate it|anything new|long time no see
        |no way|you too|same here|me too|definitely|totally)"""
    ),
    filler=compiled(
        r"""^(?:(?:please |just |sure, |and )*(?:let me know|feel free|don't hesitate)\b
        |i hope (?:this|that|it) helps|hope (?:this|that) helps
        |i'?m (?:so |very |really )?(?:sorry|glad|happy|here|excited|thrilled)\b|happy to\b
        |glad (?:to|you)\b|(?:is there )?anything else\b|how (?:can|may) i help|what can i (?:do
        |help)|would you like (?:me to )?(?:help|know more)|thank(?:s| you)\b|i'?d be (?:happy
        |glad)|as an ai\b|i don't have (?:feelings|opinions|personal)|i(?:'ll
        | will)[ ](?:do my best|be happy|be glad|be here|help|note|keep that in mind|remember)\b
        |let me (?:check|see|think|look|know)\b|one moment|(?:sure, |so, |ok, )?where were we
        |(?:here(?:'s| is| are)|this is|look at|check out) (?:\w+ ){0,3}(?:pics?|pictures?|photos?
        |snaps?|selfies?|screenshots?)(?: of [\w' ]{1,30})?[.!]*$
        |(?:here you go|here it is|coming right up)|never mind\b|no,? i don't think so
        |you can always ask|that(?:'s| is) (?:a )?(?:great|good|excellent) )"""
    ),
    supposed=compiled(r"(?:if|when|whenever|suppose|in case|usually|often|sometimes)\b"),
    others=compiled(
        r"""^(?:if|suppose|supposing|imagine|assuming|assume|unless|let's say|say)\b
        |\bwhat if\b|\bwould have\b|\b(?:if|had|should) (?:we|i|you|they) (?:had|were|was|chose
        |took|used|went)\b|\b(?:he|she|they|\w+) (?:also |always |never )?(?:says|said
        |told (?:me|us)|thinks|thought|claims|claimed|argued|argues|suggests|insists|insisted
        |believes|prefers|hates|loves|enjoys|wants|wanted|preferred|promised|swears|likes
        |quotes)\b(?<!\bi said)(?<!\bwe said)(?<!\bi thought)
        (?<!\bi wanted)(?<!\bwe wanted)(?<!\bi promised)(?<!\bi preferred)
        |\baccording to\b|\b(?:they|he|she|his|her|their)\b (?:team )?(?:decided|chose|agreed
        |picked|like|love|hate|prefer)\b"""
    ),
    proposal=compiled(
        r"""\bwhat if\b|\b(?:should|shall|could|can) (?:we|i)\b(?! help)|\b(?:how
        |what) about\b|\bwould it make sense\b|\bis it worth\b|\bdoes it make sense\b
        |\bmaybe (?:we|i|you)\b|\bwhy (?:don't|not)\b|\bwould (?:it|you) (?:help|like|be better
        |make|want|prefer)\b|\bdo you want\b|\bwant me to\b|^let's\b|\bi(?:'d
        | would)? (?:suggest|recommend|propose)\b|\b(?:we|i|you) (?:could|might want
        |can also)\b(?!n't)|\bmy (?:suggestion|proposal|advice)\b|\b(?:natural|best|good|another
        |one|other) (?:option|choice|idea)\b|\bmight be worth\b|\bhow does .{1,30} sound\b
        |\bwould you rather\b|\binstead\?|^alternatively\b|\bone (?:way|option
        |idea) (?:would|is|could)\b|\bhas a nice ring\b|^or:? \w+|\bperhaps (?:we|you|i)\b
        |\byou may (?:want|also)\b"""
    ),
    check=compiled(
        r"""^(?:(?:does|would|will|is|are) (?:that|this|it|you)\b.{0,30}(?:work|ok(?:ay)?|fine
        |good|suit|sense|right|agree|sound)|(?:sounds?|looks?) (?:good|ok|fun|right)|ok(?:ay)?
        |agreed?|deal|shall i|any[ ](?:objections|thoughts)|what do you (?:think|say)
        |how does that sound)\b.{0,20}\?$"""
    ),
    choice=compiled(
        r"""^(?:(?:ok(?:ay)?|right|so|well|fine|alright|good|great),? )?(?:then )?(?!(?:see
        |talk|until|till|that|why|what|how|back|just|not|no)\b)\w+(?: \w+){0,3} (?:then|it is
        |wins|sold)[.!]?$"""
    ),
    yes=compiled(
        r"""^(?:(?:oh|ok(?:ay)?|great|good|well|hm+),? )?(?:yes|yep|yeah|yup|sure|ok(?:ay)?
        |agreed?|correct|exactly|right|fine|deal|perfect|sounds (?:good|great|like a plan)
        |absolutely|of course|definitely|great|go ahead|go for it|do it|please do|that works
        |works for me|confirmed|approved|i agree|why not|(?:i )?love it|i like (?:it|that)|works
        |let's do (?:it|that)|good idea|that's (?:right|correct|fine))\b"""
    ),
    no=compiled(
        r"""^(?:(?:hm+|ok(?:ay)?|well|then|in that case|actually|you're right),? ){0,2}(?:no
        |nope|nah|not (?:now|yet|really|needed|necessary)|no need|rather not|please don't
        |don't)\b(?! (?:idea|problem|worry|worries|doubt|matter|rush|way|wonder|words|one|forget
        |give|quit|hesitate|stop|know)\b)"""
    ),
    refusal=compiled(
        r"""^(?:scratch|scrap|ditch|nix) (?:that|it|this)\b|^too \w+|\b(?:is|are) a no\b
        |\bmore than i'd\b|\bno thanks\b|\bnot for (?:me|us)\b|\bi'll pass\b|\b(?:leave
        |keep) (?:it|them|that|those|this) out\b|\bskip (?:it|that|this|them)\b
        |\btoo (?:expensive|much|risky|complicated|slow|late|long|costly|early)\b
        |(?<!don't )(?<!ever )(?<!never )\bforget (?:it|that|about)\b|^(?:let's|we'dbetter
        |better) not\b|\blet's not\b|\bi'd rather not\b|\b(?:i|we) (?:don't|do not) (?:want|like
        |need)[ ](?:it|that|this|them|an?|the|any)\b|\b(?:is|are|that's) out\b|\bnot worth\b
        |\bdrop (?:it|that)\b|^(?:please )?(?:don't|do not) (?!forget|worry|hesitate)\w+
        |\bwe (?:won't|don't need)\b|\bnot a good idea\b|\bi'm against\b|\bdoesn't (?:suit
        |work for) (?:me|us)\b|\bbad idea\b"""
    ),
    assent=compiled(r"^(?:let's|do (?:it|that)|please do|go|works|make it so)\b"),
    negative=compiled(
        r"""^(?:(?:please |we |i |let's |that's |it's |they're )*(?:not\b|don't|do not|won't
        |leave|skip|drop|forget|no need|never|too |can't|without|out of)|\w+ is out
        |i'd rather not|i'd rather|rather|scratch|(?:that|it|this|people|they|users)(?:'d| would
        |'s too| is too)\b)"""
    ),
    deferral=compiled(
        r"""\b(?:couldn't|could not|can't|cannot|didn't|does not|doesn't|was not able to
        |wasn't able to|unable to) (?:find|tell|say|mention|list|locate|answer|confirm
        |determine)\b|\b(?:i|we) (?:don't|do not) (?:yet )?know\b|\bno (?:idea|information|data
        |mention)\b|\bnot sure\b|\bi(?:'ll| will) (?:have to |need to )?(?:think about|get back
        |ask|check)\b|\bneed to (?:check|ask|think)\b|^later\b|\b(?:tell|check|come back|decide
        |discuss) (?:\w+ ){0,3}later\b|\bnot (?:clear|known|decided)\b|\b(?:is|are)n't (?:clear
        |known|decided)\b|\bhaven't decided\b"""
    ),
    open=compiled(
        r"""^(?:\w+,? )?(?:what|which|who|whom|where|when|how (?:old|many|much|long|far|big
        |often))\b|\bor\b"""
    ),
    demand=compiled(
        rf"""\b(?:format|length|limits?|currency|tone)\b|\b(?:should|must|has to
        |needs? to) .{{0,60}}\b(?:be|have|contain|fit|in|as)\b|\b(?:in|as) (?:{FORMAT})\b"""
    ),
    inner=compiled(
        r"""[,;.-] (?:and |so |but |then )?(?:what|which|who|whom|where|when|why|how|can|could
        |do|does|did|is|are|will|would|should|shall|may|any)\b"""
    ),
    order=compiled(r"^(?:please,? )?(?:can|could|would|will) you (?:please |also |just )*"),
    number=compiled(
        r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty"
        r"|fifty|sixty|seventy|eighty|ninety|\w{3,5}teen|hundred|thousand|million|dozen|half"
        r"|twice)\b"
    ),
    onward=compiled(
        r"""(?:(?:let's|let us|we can|shall we|please|just) )*(?:continue|go on|move on|keep going
        |proceed|carry on|get started|get going|start|begin)(?: then| now| from here| to the next
        (?:\w+ )?\w+| with the (?:next|rest)(?: \w+)?)?"""
    ),
    vague=compiled(
        r"""^(?:\w+,? )?let's (?:\w+ ){1,4}?(?:something|somewhere|sometime|someday|together
        |soon)\b"""
    ),
    advice=compiled(
        r"""\b(?:should|could(?!n't| not)|might|may|would|can(?!'t)|try|consider|make sure|avoid
        |usually|often
        |typically|tends?|in case|if|unless|whenever|otherwise|better|so that)\b"""
    ),
    inquiry=compiled(r"^(?:(?:and|but|so|also|then|ok(?:ay)?),? )?(?:can|could|may) i\b"),
    named=compiled(
        r"""^(?:(?:and|but|also|please|ok(?:ay)?),? )?no (?!(?:need|idea|problem|worry|worries
        |doubt|matter|rush|way|wonder|words|one|thanks?|more|longer|not|i|we|it|that|this|he|she
        |they|you|the|a|an|my|please|leave|skip|don't|keep|let|just|never)\b)\w+"""
    ),
)
