"""Support of a conversation: how well its best places fit, not the best one alone.

Also called: document aggregation, passage aggregation.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from shared.domain.store.vectors import Hit

PLACES = 3
PLACE_TURNS = 20
"""Turns so close are one place: short conversations have one or two, so this ranks the long ones."""
SUPPORT_WEIGHT = 0.3

K = TypeVar("K")


def add_support(rows: Mapping[K, Sequence[Hit]]) -> dict[K, list[Hit]]:
    """Add a share of the mean of a conversation's best places to each of its rows; best conversation first.

    Rows come best first. A place that a conversation lacks counts as much as the lowest row of all.
    """
    lowest = min((hits[-1].score for hits in rows.values()), default=0.0)
    supported = {}
    for name, hits in rows.items():
        support = SUPPORT_WEIGHT * _rate_places(hits, lowest)
        supported[name] = [hit.with_score(hit.score + support) for hit in hits]
    return dict(sorted(supported.items(), key=lambda item: -item[1][0].score))


def _rate_places(hits: Sequence[Hit], lowest: float) -> float:
    places: list[int] = []
    total = PLACES * lowest
    for hit in hits:
        segment = hit.metadata.get("segment")
        if segment is None:  # of a summary, which has no place
            continue
        turn = int(str(segment))
        if all(abs(turn - place) > PLACE_TURNS for place in places):
            places.append(turn)
            total += hit.score - lowest
        if len(places) == PLACES:
            break
    return total / PLACES
