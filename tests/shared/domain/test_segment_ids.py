"""Segment ids: those that were sent stay, and every segment has one."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.segment_ids import complete_ids

SENT_IDS = st.lists(st.sampled_from(["", "a", "b", "segment-0", "segment-1", "segment-1_"]))


def test_an_id_that_was_sent_stays_and_another_is_decided_by_the_position():
    assert complete_ids(["a", "", "b", "a"]) == ["a", "segment-1", "b", "segment-3"]


@given(SENT_IDS)
def test_every_segment_has_an_id_of_its_own(sent_ids: list[str]):
    ids = complete_ids(sent_ids)

    assert len(set(ids)) == len(ids) == len(sent_ids)
    assert all(ids)


@given(SENT_IDS)
def test_every_first_use_of_an_id_keeps_it(sent_ids: list[str]):
    ids = complete_ids(sent_ids)

    assert all(ids[sent_ids.index(sent)] == sent for sent in sent_ids if sent)


@given(SENT_IDS)
def test_every_completed_transcript_stays_as_it_is(sent_ids: list[str]):
    ids = complete_ids(sent_ids)

    assert complete_ids(ids) == ids
