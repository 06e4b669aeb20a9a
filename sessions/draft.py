"""A context in the making: its layers, what they take, and how they give way. `Draft`.

Turns give up their tools' results first. Then digest, memories, older recent turns and pinned ones
give way in this order, each down to its share; what a layer does not use the others have, memories
before the digest. Role, facts and question never do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from indexing.errors import BudgetTooSmall
from retrieval.sql.types import Answer
from retrieval.types import Hit
from sessions.beside import Beside
from sessions.cache import Lease
from sessions.costs import MESSAGE, REPLY, message_tokens
from sessions.digest_layer import Folded
from sessions.groups import Group, asked, in_order
from sessions.known import known
from sessions.layers import marker_text, plain
from sessions.material import Material
from sessions.messages import as_message
from sessions.policies import CUT_ORDER, LAYERS, ContextPolicy
from sessions.purpose import said_before
from sessions.recall import Recalled, recall
from sessions.replaced import up_to_date
from sessions.shrink import Shown, Shrink
from sessions.types import CountTokens, LayerName, LoggedTurn, Message
from sessions.visible import Visible
from sessions.window import window

ROUNDS = 3
"""How often turns and memories make room for each other."""

USUAL, MANY = 64, 8
"""Tokens of a memory, and how many there is room for, as a rule."""

STEP = 128
"""Tokens by which a digest is cut."""


class Draft:
    """The layers of one context, whole at first; `make_room` cuts them to the budget."""

    def __init__(
        self, material: Material, policy: ContextPolicy, count: CountTokens, lease: Lease
    ) -> None:
        """Raise `BudgetTooSmall` where what is never cut does not fit."""
        self.material, self.policy, self.count, self._lease = material, policy, count, lease
        self.limit = policy.budget - policy.reserve
        self.role = material.role.strip()
        read = in_order([*material.first, *material.last])
        self.asked = asked(read, material.question)
        self.question = _question(self.asked, material.question)
        room = self.limit - self.tokens("role") - self.tokens("question") - MESSAGE
        self.known = known(material, policy.outside, self.limit, room, count)
        self._check()
        said = said_before(material.first) | said_before(in_order(material.last), material.said)
        self._shrink = Shrink(count, as_message, lease, said, policy.fields)
        view = window(material.first, policy.window, material.last)
        self.pinned = self._shown(view.pinned)
        self.recent = self._shown(view.recent)
        self._elsewhere = {turn.seq for turn in view.turns if self._is_elsewhere(turn)}
        self._elsewhere |= {self.asked.seq} if self.asked else set()
        self.total = max(material.total, len(read))
        self._last = read[-1].seq if read else 0
        self._window = (_size(self.pinned), _size(self.recent))
        self.marked = True
        digest = up_to_date(material.digest, material.replaced, material.tail)
        self._folded = Folded(digest, count, lease)
        self.digest = self._folded.whole()
        self._plain: dict[str, str] = {}
        self._compressed: tuple[list[Shown], list[Shown]] | None = None
        self.find(material.hits, material.answers, material.beside)

    def find(self, hits: Sequence[Hit], answers: Sequence[Answer], beside: Beside) -> None:
        """Take what was found on the question, in place of what was found before."""
        self.found = len(hits)
        most, count = self.policy.hits, self.count
        self._recall = recall(self.material, hits, answers, beside, most, count, self._lease)
        self.recalled = Recalled()

    @property
    def turns(self) -> list[LoggedTurn]:
        """The turns of the window that are shown, in order."""
        return [turn for shown in (*self.pinned, *self.recent) for turn in shown.group]

    @property
    def shown(self) -> tuple[int, ...]:
        """The numbers of all turns that are shown, the question's and the role's too."""
        return tuple(sorted({turn.seq for turn in self.turns} | self._elsewhere))

    @property
    def gap(self) -> range:
        """The numbers of the turns between the pinned ones and what follows."""
        start = self.pinned[-1].group[-1].seq + 1 if self.pinned else 1
        ends = [shown.group[0].seq for shown in self.recent[:1]]
        ends += [self.asked.seq] if self.asked else []
        return range(start, max(start, min(ends, default=self._last + 1)))

    @property
    def left_out(self) -> int:
        """The number of turns that are not shown."""
        return self.total - _size(self.pinned) - _size(self.recent) - len(self._elsewhere)

    @property
    def dropped_pinned(self) -> int:
        """The number of pinned turns that did not fit."""
        return self._window[0] - _size(self.pinned)

    @property
    def dropped_recent(self) -> int:
        """The number of the window's last turns that did not fit."""
        return self._window[1] - _size(self.recent)

    @property
    def marker(self) -> str:
        """What stands for the turns that are left out."""
        if not (self.marked and (left_out := self.left_out)):
            return ""
        digest = self.material.digest if self.digest.text else None
        return marker_text(left_out, self.gap, digest.through if digest else 0)

    def tokens(self, name: LayerName) -> int:
        """Return what a layer takes now; what primes the answer is the question's."""
        match name:
            case "role":
                return self._cost(self.role)
            case "facts":
                return self._cost(self.known.text)
            case "digest":
                return self.digest.tokens
            case "retrieved":
                return self.recalled.tokens
            case "pinned":
                return sum(shown.tokens for shown in self.pinned)
            case "recent":
                return self._cost(self.marker) + sum(shown.tokens for shown in self.recent)
            case "question":
                return REPLY + message_tokens(self.question, self.count)

    def rehearse(self) -> None:
        """Make the cuts that will probably be needed, so that `make_room` finds them made."""
        whole = self.pinned, self.recent, self.digest, self.recalled
        tokens = max(self.recalled.tokens, self.policy.hits * USUAL)
        self.recalled = replace(self.recalled, tokens=tokens)
        if self._over() > 0:
            self._compress()
            self._cut(self._floors())
        self._visible()
        self.pinned, self.recent, self.digest, self.recalled = whole

    def make_room(self) -> None:
        """Choose memories, and cut until all fits; nothing else is cut where all does."""
        if self._over() <= 0:
            self._recall_again(0)
            if not self.recalled.over:
                return
        self._compress()
        self.recalled = replace(self.recalled, tokens=self._recall.wanted(self._visible()))
        floors = self._floors()
        for _ in range(ROUNDS):
            self._cut(floors)
            self._recall_again(floors["retrieved"])
            if self._over() <= 0:
                return
        self._cut(dict.fromkeys(CUT_ORDER, 0))
        self.marked = self._over() <= 0
        self._recall_again(0)

    def _cut(self, floors: Mapping[LayerName, int]) -> None:
        """Let one layer after the other give way, until all fits or all are at their floors."""
        for name in CUT_ORDER:
            if (over := self._over()) > 0:
                self._give_way(name, floors[name], over)

    def _recall_again(self, floor: int) -> None:
        """Choose memories anew: turns that had to go from the window may be among them."""
        others = sum(self.tokens(name) for name in LAYERS if name != "retrieved")
        self.recalled = self._recall.fill(max(floor, self.limit - others), self._visible())

    def _compress(self) -> None:
        """Cut results of tools to the first limit that makes enough room, or to the last.

        It is chosen for a usual question with usual memories: the same from one to the next.
        """
        if self._compressed is None:
            limit = self._limit_of_results()
            self._compressed = (
                [self._shrink.compress(shown, limit) for shown in self.pinned],
                [self._shrink.compress(shown, limit) for shown in self.recent],
            )
        self.pinned, self.recent = self._compressed

    def _limit_of_results(self) -> int:
        fixed = sum(self.tokens(name) for name in LAYERS if name not in ("retrieved", "question"))
        over = fixed + self._usual() - self.limit
        groups = (*self.pinned, *self.recent)
        most = sum(shown.tokens for shown in groups)
        limits = self.policy.tool_tokens if over > 0 else ()
        enough = (
            limit
            for limit in limits
            if over <= most - sum(self._shrink.most(shown, limit) for shown in groups)
        )
        return next(enough, limits[-1] if limits else most)

    def _usual(self) -> int:
        """Return what memories and a question take as a rule, of a longer question what it does."""
        base, shares, hits = self._base(), self.policy.shares, min(self.policy.hits, MANY)
        memories = min(int(shares.get("retrieved", 0) * base), hits * USUAL)
        return memories + max(int(shares.get("question", 0) * base), self.tokens("question"))

    def _base(self) -> int:
        """Return what role and facts leave."""
        return self.limit - self.tokens("role") - self.tokens("facts")

    def _check(self) -> None:
        needed = sum(self.tokens(name) for name in ("role", "facts", "question"))
        if needed > self.limit:
            raise BudgetTooSmall(needed + self.policy.reserve, self.policy.budget)

    def _over(self) -> int:
        return sum(self.tokens(name) for name in LAYERS) - self.limit

    def _floors(self) -> dict[LayerName, int]:
        """Return what each layer may keep: its share, less where the question is long."""
        base = self._base()
        floors = {name: self.policy.shares.get(name, 0) * base for name in CUT_ORDER}
        left = base - self.tokens("question")
        scale = min(1.0, left / max(sum(floors.values()), 1))
        return {name: int(floor * scale) for name, floor in floors.items()}

    def _give_way(self, name: LayerName, floor: int, over: int) -> None:
        """Cut a layer by what is too much, but not below a floor.

        The digest is cut in steps, so that its bytes do not change with every question.
        """
        needed = self.tokens(name)
        allowed = max(needed - over, floor)
        if allowed >= needed:
            return
        match name:
            case "retrieved":
                self.recalled = replace(self.recalled, tokens=allowed)  # chosen anew by then
            case "digest":
                self.digest = self._folded.fit(max(allowed // STEP * STEP, floor))
            case "recent":
                left = allowed - self._widest_marker()
                self.recent = self._shrink.keep(self.recent, left, newest=True)
            case "pinned":
                left = allowed - self._widest_marker() + self._cost(self.marker)
                self.pinned = self._shrink.keep(self.pinned, left, newest=False)

    def _widest_marker(self) -> int:
        """Return what the marker takes at most, whatever is left out yet."""
        if not self.marked:
            return 0
        last = max(self._last, self.total)
        through = self.material.digest.through if self.material.digest else 0
        marker = marker_text(last, range(last, last + 1), through)
        return self._cost(marker)

    def _visible(self) -> Visible:
        turns = {}
        for shown in (*self.pinned, *self.recent):
            for turn in shown.group:
                turns[turn.entry.turn_id] = self._as_plain(shown.texts[turn.seq])
        if self.asked:
            turns[self.asked.entry.turn_id] = self._as_plain(self.asked.entry.text)
        layers = (self._as_plain(text) for text in (self.known.text, self.digest.text))
        ids = frozenset(fact.id for fact in self.material.facts)
        text = "\n".join((*layers, *turns.values()))
        return Visible(self.material.session_id, text, turns, ids)

    def _as_plain(self, text: str) -> str:
        """Return a text as `plain` does, the same only once."""
        if text not in self._plain:
            self._plain[text] = plain(text)
        return self._plain[text]

    def _shown(self, found: Iterable[Group]) -> list[Shown]:
        """Return groups as they are, without what the context shows elsewhere."""
        left = (tuple(turn for turn in group if not self._is_elsewhere(turn)) for group in found)
        return [self._shrink.show(group) for group in left if group]

    def _is_elsewhere(self, turn: LoggedTurn) -> bool:
        """Tell whether a turn is the question, or says the role."""
        if self.asked and turn.seq == self.asked.seq:
            return True
        return turn.entry.role == "system" and turn.entry.text.strip() == self.role

    def _cost(self, text: str) -> int:
        return MESSAGE + self.count(text) if text else 0


def _size(groups: Sequence[Shown]) -> int:
    return sum(len(shown.group) for shown in groups)


def _question(turn: LoggedTurn | None, question: str) -> Message:
    return as_message(turn.entry) if turn else {"role": "user", "content": question}
