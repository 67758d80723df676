"""What a client wrote into the store is read within bounds, whatever it is."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.data.codec import MAX_ITEMS, Malformed, load
from shared.data.transcripts import digest, read_part
from shared.domain.conversation import Conversation, Segment
from shared.domain.documents import Document

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def written(**fields: Any) -> Document:
    times = dict.fromkeys(("created_at", "started_at", "finished_at"), NOW)
    return Document(path="users/u/conversations/c", fields={**times, **fields}, version="")


@pytest.mark.parametrize("number", [MAX_ITEMS, 50 * MAX_ITEMS])
def test_a_million_malformed_segments_are_refused_in_a_few_words(number: int):
    """A document of 1 MiB holds a million empty maps; each would be an error of its own."""
    document = written(transcript_segments=[{}] * number)

    with pytest.raises(Malformed) as refused:
        load(Conversation, document)

    assert len(str(refused.value)) < 500


def test_a_transcript_has_no_more_segments_than_can_be_handed_in():
    most = [{"text": ""}] * MAX_ITEMS

    assert load(Conversation, written(transcript_segments=most)).transcript_segments
    with pytest.raises(Malformed):
        load(Conversation, written(transcript_segments=[*most, {"text": ""}]))


def test_a_part_with_more_is_not_the_part_that_was_meant():
    part = (Segment(text=""),) * (MAX_ITEMS + 1)
    document = written(segments=[{"text": ""}] * len(part))

    assert read_part(document, digest(part)) is None
