"""Own names: which speakers are the owner, and what the owner said themselves stays."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.conversation import Conversation, Segment, Speaker
from shared.domain.conversations.own_names import deduplicate_names
from shared.domain.conversations.owner_marking import mark_owner
from shared.domain.ids import AppId, PersonId
from tests.fixtures.processing import build_test_conversation

ANN = Speaker(name="Ann", person_id=PersonId("p1"))


def build_talk(*names: str, **changes: Any) -> Conversation:
    segments = tuple(Segment(text=f"Words of {name}", speaker=name) for name in names)
    return replace(build_test_conversation(), transcript_segments=segments, **changes)


def list_owners(conversation: Conversation) -> list[str]:
    return [s.text for s in conversation.named_segments if s.is_user]


@pytest.mark.parametrize(
    ("spoken", "own", "is_owner"),
    [
        ("Ann Lee", "Ann Lee", True),
        ("ann  lee", "Ann Lee", True),
        ("ANN LEE", "ann lee ", True),
        ("Ann", "Ann Lee", False),
        ("SPEAKER_00", "SPEAKER_00", False),
        ("Straße", "STRASSE", True),
        ("Ines Weber", "Inês Weber", True),
        ("Weber, Inês", "INES WEBER", True),
        ("Андрей", "андреи\u0306", True),
        ("Ann,", "Ann", True),
        ("Lee, Tom", "Ann Lee", False),
        ("ハハ", "ババ", False),
    ],
)
def test_a_speaker_with_an_own_name_is_the_owner(spoken, own, is_owner) -> None:
    marked = mark_owner(build_talk(spoken, "Tom"), [own])

    assert list_owners(marked) == ([f"Words of {spoken}"] if is_owner else [])


@pytest.mark.parametrize(
    "chosen",
    [
        Speaker(name="Eve", person_id=PersonId("p2")),
        Speaker(),
        Speaker(is_user=True),
        Speaker(name="Ann", is_user=True),
    ],
)
def test_whoever_the_owner_named_stays(chosen: Speaker) -> None:
    talk = build_talk("Ann", speakers={"Ann": chosen})

    assert mark_owner(talk, ["Ann"]).speakers == mark_owner(talk, []).speakers == {"Ann": chosen}


def test_an_own_name_wins_over_a_person_of_that_name_who_comes_back_after_it() -> None:
    talk = build_talk("Ann", "Tom", speakers={"Ann": ANN}, person_ids=("p1",))

    marked = mark_owner(talk, ["Ann"])
    unmarked = mark_owner(marked, [], {"Ann": ANN})

    assert (list_owners(marked), marked.person_ids) == (["Words of Ann"], ())
    assert unmarked == talk


def test_a_name_that_a_merge_keeps_beside_a_label_is_an_own_name_too() -> None:
    talk = build_talk("SPEAKER_03", speakers={"SPEAKER_03": Speaker(name="Ann")})

    marked = mark_owner(talk, ["Ann"])

    assert len(list_owners(marked)) == 1
    assert mark_owner(marked, ["Tom"]) == talk


def test_what_an_app_wrote_has_no_owner() -> None:
    talk = build_talk("Ann", app_id=AppId("diary"))

    assert mark_owner(talk, ["Ann"]) == talk


@given(
    speakers=st.lists(st.sampled_from(["Ann", "Tom", "ann", "SPEAKER_01", ""]), min_size=1),
    own_names=st.lists(st.sampled_from(["Ann", "Tom", "Eve"])),
)
def test_marking_again_changes_nothing_and_no_names_undo_it(speakers, own_names) -> None:
    talk = build_talk(*speakers)

    marked = mark_owner(talk, own_names)

    assert mark_owner(marked, own_names) == marked
    assert mark_owner(marked, []) == talk


def test_each_name_is_kept_once_as_it_was_spelled_first() -> None:
    assert deduplicate_names(["Ann  Lee", "Tom", "ann lee", " "]) == ("Ann Lee", "Tom")
