"""The candidates of one question on their way: which have a score, which are to be scored next."""

from collections.abc import Callable, Iterator, Sequence

from retrieval.rerank.windows import Window


class Candidates:
    """Passages in the fused order with their scores; ``cut`` makes a passage's windows at need.

    >>> found = Candidates(["a b", "c"], [None, 0.5], lambda text: [Window(text, len(text))])
    >>> found.leading, found.next(affordable=10, call=10, count=4)
    (0, {0: [Window(text='a b', tokens=3)]})
    """

    def __init__(
        self,
        passages: Sequence[str],
        scores: Sequence[float | None],
        cut: Callable[[str], list[Window]],
    ) -> None:
        self.scores = list(scores)
        self._passages = passages
        self._cut = cut
        self._windows: dict[int, list[Window]] = {}

    @property
    def leading(self) -> int:
        """How many have a score before the first that has none."""
        return next(self._unscored(), len(self.scores))

    def next(self, affordable: float, call: float, count: float) -> dict[int, list[Window]]:
        """Return the next to be scored together, place -> windows; none where there is no time.

        All in all at most ``affordable`` tokens, unless it is the very first candidate; and at most
        ``call`` tokens and ``count`` windows, unless it is a single candidate.
        """
        found: dict[int, list[Window]] = {}
        tokens = windows = 0
        for place in self._unscored():
            read = self._read(place)
            tokens += sum(window.tokens for window in read)
            windows += len(read)
            late = tokens > affordable and (found or place)
            full = found and (tokens > call or windows > count)
            if late or full:
                break
            found[place] = read
        return found

    def _unscored(self) -> Iterator[int]:
        return (place for place, score in enumerate(self.scores) if score is None)

    def _read(self, place: int) -> list[Window]:
        if place not in self._windows:
            self._windows[place] = self._cut(self._passages[place])
        return self._windows[place]
