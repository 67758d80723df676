"""Choice of links: which addresses of an answer may be looked up, and how much that tells.

The addresses come from a search of the web or a page of it, so they are no secret to those who serve
them. But which of them an answer names was chosen by a model that has read private text, and whoever
wrote the page may serve a thousand addresses and see which of them are looked up. So it is the choice
that is counted, in the same bits as what a tool call tells: how many addresses, then which of all.
"""

from collections.abc import Collection, Sequence
from math import comb, log2

from shared.domain.chats.chat import LinkChoice

MAX_CHECKED = 10
"""Maximum of addresses of one answer that are looked up."""


def choose_links(shown: Sequence[str], found: Collection[str], limit: float) -> LinkChoice | None:
    """Return as many of the `shown` addresses, from the first on, as tell at most `limit` bits.

    Each of them is one of those that were `found`. None where there are none.
    """
    for count in range(min(len(shown), MAX_CHECKED), 0, -1):
        bits = _measure_choice(count, len(found))
        if bits <= limit:
            return LinkChoice(urls=tuple(shown[:count]), bits=bits)
    return None


def _measure_choice(count: int, of: int) -> float:
    return log2(MAX_CHECKED + 1) + log2(comb(of, count))
