"""Segment ids: each segment of a transcript has one, its own or one by its position."""

from collections.abc import Sequence


def complete_ids(sent_ids: Sequence[str]) -> list[str]:
    """Return an id for each segment, unique in the transcript.

    An id that was sent stays; one that is missing or repeated is replaced by one that its position
    decides, so that it is the same at every reading.
    """
    taken = set(sent_ids)
    if taken == {""}:
        return [_name_position(position) for position in range(len(sent_ids))]
    seen: set[str] = set()
    ids = []
    for position, sent_id in enumerate(sent_ids):
        is_new = bool(sent_id) and sent_id not in seen
        segment_id = sent_id if is_new else _build_id(position, taken)
        seen.add(segment_id)
        ids.append(segment_id)
    return ids


def _build_id(position: int, taken: set[str]) -> str:
    segment_id = _name_position(position)
    while segment_id in taken:
        segment_id += "_"
    return segment_id


def _name_position(position: int) -> str:
    return f"segment-{position}"
