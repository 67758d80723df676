"""Baseline of the search: BM25 over windows of three turns."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from infra.eval.locomo import Turn
from infra.eval.metrics import BUDGETS, Ranking

K1, B = 1.2, 0.75
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an the is are was were be been to of in on at for and or did do does has have had with"
        " about what when where who which how why that this it its i you he she they we her his"
        " their my your me him them from by as",
    )
)


class Baseline:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        documents = [Counter(tokenize(self._text(n))) for n in range(len(turns))]
        lengths = [document.total() for document in documents]
        average = sum(lengths) / len(lengths)
        document_frequency = Counter(word for document in documents for word in document)
        self._weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for n, document in enumerate(documents):
            damp = K1 * (1 - B + B * lengths[n] / average)
            for word, count in document.items():
                rare = math.log(
                    1
                    + (len(turns) - document_frequency[word] + 0.5)
                    / (document_frequency[word] + 0.5)
                )
                self._weights[word].append((n, rare * count * (K1 + 1) / (count + damp)))

    def rank(self, question: str) -> Ranking:
        scores = [0.0] * len(self._turns)
        for word in tokenize(question):
            for n, weight in self._weights.get(word, ()):
                scores[n] += weight
        order = sorted(range(len(scores)), key=lambda n: -scores[n])
        talks = list(dict.fromkeys(self._turns[n].talk for n in order))
        windows = [self._window(n) for n in order]
        return talks, {budget: pack_windows(windows, self._turns, budget) for budget in BUDGETS}

    def _window(self, n: int) -> list[int]:
        near = range(max(n - 1, 0), min(n + 2, len(self._turns)))
        return [m for m in near if self._turns[m].talk == self._turns[n].talk]

    def _text(self, n: int) -> str:
        return " ".join([self._turns[n].date, *(self._turns[m].line for m in self._window(n))])


def pack_windows(windows: Iterable[Sequence[int]], turns: Sequence[Turn], budget: int) -> set[int]:
    """Select windows in order, each turn once, up to the first that does not fit."""
    packed: set[int] = set()
    used = 0.0
    for window in windows:
        new = [n for n in window if n not in packed]
        cost = sum(turns[n].cost for n in new)
        if used + cost > budget:
            break
        used += cost
        packed.update(new)
    return packed


def tokenize(text: str) -> list[str]:
    return [
        _stem(word) for word in re.findall(r"[a-z0-9']+", text.lower()) if word not in STOP_WORDS
    ]


def _stem(word: str) -> str:
    for end in ("ing", "edly", "ed", "ies", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)] + ("y" if end == "ies" else "")
    return word
