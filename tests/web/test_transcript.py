"""Pasted transcripts: the segments that people meant."""

import json

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

READ_CODE = """
async (text) => {
  const { conversationFrom } = await import("/transcript.js");
  return conversationFrom(text, { name: "alice", now: new Date("2026-03-02T12:00:00Z") });
}
"""


def build_segment(
    text: str, speaker: str, *, is_user: bool, start: int, end: int
) -> dict[str, object]:
    return {"text": text, "speaker": speaker, "is_user": is_user, "start": start, "end": end}


@pytest.mark.parametrize("me", ["Me", "you", "Alice"])
def test_a_line_with_a_name_is_a_turn(module_page: Page, me: str) -> None:
    pasted = f"{me}: Where is the key?\n\nUncle Bo Ek: At the bakery:\nnext door, since 9:30\n"

    conversation = module_page.evaluate(READ_CODE, pasted)

    assert conversation["transcript_segments"] == [
        build_segment("Where is the key?", me, is_user=True, start=0, end=2),
        build_segment(
            "At the bakery:\nnext door, since 9:30", "Uncle Bo Ek", is_user=False, start=2, end=5
        ),
    ]
    assert conversation["started_at"] == "2026-03-02T11:59:55.000Z"
    assert conversation["finished_at"] == "2026-03-02T12:00:00.000Z"


@pytest.mark.parametrize(
    "first", ["A plain beginning", "https://a.example is a page", "So what I told him was: no"]
)
def test_each_paragraph_of_other_text_is_a_segment(module_page: Page, first: str) -> None:
    conversation = module_page.evaluate(READ_CODE, f"{first}\nstill the first.\r\n\r\nThe second.")

    texts = [piece["text"] for piece in conversation["transcript_segments"]]
    assert texts == [f"{first}\nstill the first.", "The second."]


def test_an_exported_conversation_keeps_its_times(module_page: Page) -> None:
    exported = {
        "started_at": "2026-01-01T10:00:00+01:00",
        "finished_at": "2026-01-01T10:05:00+01:00",
        "source": "phone",
        "language": "de",
        "transcript_segments": [
            build_segment("Hallo", "SPEAKER_00", is_user=False, start=1, end=2)
        ],
    }

    assert module_page.evaluate(READ_CODE, json.dumps(exported)) == exported


def test_broken_json_is_text(module_page: Page) -> None:
    conversation = module_page.evaluate(READ_CODE, '{"transcript_segments": [')

    assert [piece["text"] for piece in conversation["transcript_segments"]] == [
        '{"transcript_segments": ['
    ]
