"""Rewrite what two people tell each other as questions about one of them, by rules. English only.

``you asked`` -> ``Did Ann ask``: a question of one speaker becomes one about the other, whose next
turn answers it; a statement in the past becomes a question when, where or whether. Pure functions;
None where no rule fits, which is most of the time.
"""

import re
from random import Random

SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_TWO = {
    "are": "is",
    "were": "was",
    "do": "does",
    "have": "has",
}
_ASKING = re.compile(
    r"^(?:so|and|but|oh|well|ok|okay|wow|haha|lol|yeah|cool|nice|awesome|that'?s \w+|hey|hi|hello)"
    r"[, ]+",
    re.I,
)
_FIRST = re.compile(
    r"\b(i|i'm|im|me|my|mine|i've|i'd|we|us|our|he|she|him|her|it|that|this)\b", re.I
)
_VERBS = """
went:go got:get had:have made:make took:take saw:see met:meet bought:buy found:find moved:move
started:start began:begin came:come left:leave told:tell ate:eat gave:give wrote:write read:read
won:win lost:lose broke:break ran:run drove:drive flew:fly taught:teach caught:catch built:build
spent:spend sold:sell sent:send slept:sleep grew:grow became:become chose:choose did:do felt:feel
fell:fall heard:hear held:hold kept:keep knew:know learned:learn learnt:learn paid:pay played:play
sang:sing sat:sit spoke:speak stood:stand swam:swim thought:think tried:try wore:wear quit:quit
hit:hit cut:cut lived:live served:serve studied:study married:marry drew:draw rode:ride
threw:throw understood:understand woke:wake forgot:forget brought:bring
"""
_IRREGULAR = dict(pair.split(":") for pair in _VERBS.split())
_PAST = re.compile(
    r"^(?:so |and |well |yeah |yes |actually |oh |but )*(?P<who>i|we)"
    r"(?: just| finally| also| actually| recently| once| only)*"
    r" (?P<verb>[a-z]+) (?P<rest>.+)$",
    re.I,
)
_WHEN = re.compile(
    r"\s*\b(yesterday|today|tonight|recently|last (?:night|week|month|year|summer|winter|spring|"
    r"fall|semester|\w+day|january|february|march|april|june|july|august|september|october|november|"
    r"december)|(?:a|an|one|two|three|four|five|six|a few|a couple(?: of)?|\d+) "
    r"(?:days?|weeks?|months?|years?|hours?) ago|this (?:morning|week|month|year|summer|weekend|"
    r"semester)|in (?:january|february|march|april|may|june|july|august|september|october|november|"
    r"december|\d{4})|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.I,
)
_WITH = re.compile(r"\bwith (my [a-z]+(?: [a-z]+)?|some friends|friends)\b", re.I)
_BECAUSE = re.compile(r"\s*[, ]\s*(?:because|cuz|cause|since)\b.*$", re.I)


def about(question: str, name: str, other: str) -> str | None:
    """Return what one speaker asks as a question about the one who is asked.

    >>> about("so what do you do for your birthday?", "Ann", "Tom")
    "What does Ann do for Ann's birthday?"
    >>> about("did you see it?", "Ann", "Tom") is None
    True
    """
    text = question.strip()
    while (shorter := _ASKING.sub("", text)) != text:
        text = shorter
    text = text.rstrip("?!. ").strip()
    words = text.split()
    if (
        not 3 <= len(words) <= 16
        or _FIRST.search(text)
        or not re.search(r"\byou\b|\byour\b", text, re.I)
    ):
        return None
    if not re.match(
        r"(what|where|when|who|why|how|which|do|did|are|have|were|can|would|will)\b", text, re.I
    ):
        return None
    named = False
    made: list[str] = []
    for at, word in enumerate(words):
        low = word.lower().strip(",")
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        if low in _TWO and following in ("you", "u"):
            made.append(_TWO[low])
        elif low in ("you", "u"):
            made.append("they" if named else name)
            named = True
        elif low in ("your", "ur"):
            made.append(f"{name}'s")
            named = True
        elif low in ("you're", "youre"):
            made.append(f"{name} is")
            named = True
        elif low == "you've":
            made.append(f"{name} has")
            named = True
        elif low == "yourself":
            made.append("themselves")
        else:
            made.append(word)
    if not named:
        return None
    said = " ".join(made)
    return said[0].upper() + said[1:] + "?"


def past(sentence: str, name: str, chance: Random) -> str | None:
    """Return a question about a statement in the past, whose answer is in it or in its date.

    >>> past("I went to Oslo with my sister last week.", "Ann", Random(0))
    'When did Ann go to Oslo with their sister?'
    """
    found = _PAST.match(sentence.strip().rstrip(".!?, "))
    if not found:
        return None
    base = _base(found["verb"].lower())
    rest = found["rest"]
    if base is None or not 2 <= len(rest.split()) <= 18 or re.search(r"\b(you|your)\b", rest, re.I):
        return None
    timed = _WHEN.search(rest)
    reason = _BECAUSE.search(rest)
    rest = _BECAUSE.sub("", _WHEN.sub("", rest)).strip(" ,")
    rest = re.split(r",| and (?:i|it|then|we|he|she)\b| but | so ", rest)[0].strip()
    if len(rest.split()) < 2:
        return None
    company = _WITH.search(rest)
    if reason and chance.random() < 0.8:
        asked = f"Why did {name} {base} {rest}"
    elif company and chance.random() < 0.5:
        bare = _WITH.sub("", rest).strip()
        asked = f"Who did {name} {base} {bare} with" if bare else f"Who did {name} {base} with"
    elif (
        base == "go"
        and rest.startswith("to ")
        and (tail := rest.split()[2:])
        and chance.random() < 0.5
    ):
        tail = re.sub(r"^[\w']+ (?=(for|with|on|after|before|when)\b)", "", " ".join(tail))
        asked = f"Where did {name} go {tail}"
    else:
        draw = chance.random()
        if timed or draw < 0.4:
            asked = f"When did {name} {base} {rest}"
        elif draw < 0.6:
            asked = f"Did {name} {base} {rest}"
        elif draw < 0.8:
            asked = f"What did {name} say about {rest}"
        else:
            asked = f"What happened when {name} {found['verb'].lower()} {rest}"
    return _third(asked) + "?"


_KIN = (
    "mom|dad|brother|sister|wife|husband|roommate|family|boyfriend|girlfriend|grandma|grandpa|"
    "uncle|aunt|cousin|parents|kids|son|daughter"
)
_FORMS = {
    r"my (?:favou?rite|fav) ([a-z ]{3,25}?) (?:is|are|was)\b (?=\w)": (
        "What is {name}'s favorite {0}?"
    ),
    r"i(?:'ve| have) never ([a-z]+ .{4,50})$": "Has {name} ever {0}?",
    r"i used to ([a-z]+ .{3,50})$": "What did {name} use to do, {0}?",
    r"i(?:'m| am|m) (?:studying|majoring in) ([a-z].{2,40})$": "What is {name} studying?",
    r"i(?:'m| am|m) from ([a-z].{2,40})$": "Where is {name} from?",
    r"i work (?:at|for|as|in) ([a-z].{2,40})$": "Where does {name} work?",
    r"i grew up (?:in|on) ([a-z].{2,40})$": "Where did {name} grow up?",
    rf"my ({_KIN}) (.{{8,60}})$": "What does {name} say about their {0}?",
    r"i(?:'m| am|m) (?:planning|hoping|going) to ([a-z]+ .{5,60})$": "Is {name} planning to {0}?",
    r"i want to ([a-z]+ .{5,60})$": "Does {name} want to {0}?",
    r"i (?:really |just |absolutely )?(?:love|like|enjoy) ([a-z]+ ?.{3,50})$": (
        "How does {name} feel about {0}?"
    ),
    r"i (?:hate|can't stand|dislike) ([a-z]+ ?.{3,50})$": "What does {name} dislike?",
}
_PERSONS = {
    "my": "their",
    "me": "them",
    "myself": "themselves",
    "i'?m": "they are",
    "i": "they",
    "our": "their",
    "us": "them",
    "we": "they",
    "mine": "theirs",
}
_SIMPLE = [(re.compile(rf"\b{said}", re.I), asked) for said, asked in _FORMS.items()]


def simple(sentence: str, name: str) -> str | None:
    """Return a question about a statement in the present.

    >>> simple("I am from a small town in Peru", "Ann"), simple("Nice!", "Ann")
    ('Where is Ann from?', None)
    """
    text = sentence.strip().rstrip(".!?, ")
    for pattern, form in _SIMPLE:
        if found := pattern.search(text):
            groups = [_cut(part) for part in found.groups()]
            if any(
                re.search(r"\b(you|your|this|that|those|these|it)\b", part, re.I) for part in groups
            ):
                return None
            return _third(form.format(*groups, name=name))
    return None


def _cut(part: str) -> str:
    """Return the first clause of what was said, without the particles that end it."""
    first = re.split(r",| because | but | so | and (?:you|i|then|it) ", part)[0]
    return re.sub(
        r"\s+(?:too|though|haha|lol|also|a lot|so much|and you)+$", "", first.strip(), flags=re.I
    )


def _base(verb: str) -> str | None:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if not verb.endswith("ed") or len(verb) < 5:
        return None
    if verb.endswith("ied"):
        return verb[:-3] + "y"
    stem = verb[:-2]
    if stem[-1] == stem[-2] and stem[-1] not in "ls":
        return stem[:-1]
    if stem[-1] in "cgsvuz" or (
        re.search(r"[^aeiou][aeiou](?:t|k|d|r|m|n|p|b)$", stem) and len(stem) < 5
    ):
        return stem + "e"
    return stem


def _third(text: str) -> str:
    """Put what the speaker says of themselves into the third person."""
    for one, other in _PERSONS.items():
        text = re.sub(rf"\b{one}\b", other, text, flags=re.I)
    return text
