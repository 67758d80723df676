"""Speaker labels: every speaker has a number of its own, and a name where the recorder gave one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.speaker_labels import build_label, is_name, number_speakers

RECORDED_NAMES = st.lists(
    st.sampled_from(["SPEAKER_00", "SPEAKER_01", "Speaker 7", "SPEAKER_12", "Ann", "Bo", "", "me"])
    | st.text(max_size=6)
)


@pytest.mark.parametrize(
    ("recorded_names", "labels"),
    [
        (["SPEAKER_01", "SPEAKER_00", "SPEAKER_01"], ["SPEAKER_01", "SPEAKER_00", "SPEAKER_01"]),
        (["Ann", "Bo", "Ann"], ["SPEAKER_00", "SPEAKER_01", "SPEAKER_00"]),
        (["Ann", "SPEAKER_00", "Bo"], ["SPEAKER_01", "SPEAKER_00", "SPEAKER_02"]),
        (["Speaker 3", "speaker_3"], ["SPEAKER_03", "SPEAKER_03"]),
        (["SPEAKER_123456789"], ["SPEAKER_00"]),
    ],
)
def test_names_get_numbers_in_the_order_of_their_first_words(
    recorded_names: list[str], labels: list[str]
):
    numbers = number_speakers(recorded_names)

    assert [build_label(numbers[name]) for name in recorded_names] == labels


@given(RECORDED_NAMES)
def test_every_speaker_has_a_label_that_apps_can_parse(recorded_names: list[str]):
    labels = [build_label(number) for number in number_speakers(recorded_names).values()]

    assert all(re.fullmatch(r"SPEAKER_[0-9]{2,4}", label) for label in labels)


@given(RECORDED_NAMES)
def test_every_two_names_are_two_speakers(recorded_names: list[str]):
    names = [name for name in recorded_names if is_name(name)]
    numbers = number_speakers(recorded_names)

    assert len({numbers[name] for name in names}) == len(set(names))


@given(RECORDED_NAMES)
def test_more_of_the_same_speakers_change_no_number(recorded_names: list[str]):
    assert number_speakers(recorded_names * 2) == number_speakers(recorded_names)


@pytest.mark.parametrize("label", ["", "SPEAKER_00", "Speaker 2", "speaker", "unknown"])
def test_a_label_is_no_name(label: str):
    assert not is_name(label)
