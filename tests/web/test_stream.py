"""The console's frame parser is whole, however the network splits the bytes."""

import base64
import json

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

MESSAGE = {"id": "m1", "text": "Grüße 👋", "memories": []}
DONE = base64.b64encode(json.dumps(MESSAGE).encode()).decode()
STREAM = (
    "think: Searching conversations\n\n"
    "think: Asking the shop|app_id:shop\n\n"
    "data: First line__CRLF____CRLF__  – zweite: Zürich 👩‍🌾 \n\n"
    "data: data: think: [1]\n\n"
    "data: \n\n"
    "later: not known yet\n\n"
    f"done: {DONE}\n\n"
)
FRAMES = [
    {"kind": "think", "status": "Searching conversations", "app": None},
    {"kind": "think", "status": "Asking the shop", "app": "shop"},
    {"kind": "data", "text": "First line\n\n  – zweite: Zürich 👩‍🌾 "},
    {"kind": "data", "text": "data: think: [1]"},
    {"kind": "data", "text": ""},
    {"kind": "done", "message": MESSAGE},
]

# Splits the stream in three at every pair of positions, and once after every byte; returns each
# distinct outcome.
EVERY_SPLIT = """
async (stream) => {
  const { FrameParser } = await import("/stream.js");
  const bytes = new TextEncoder().encode(stream);
  const outcomes = new Set();
  const parse = (pieces) => {
    const parser = new FrameParser();
    outcomes.add(JSON.stringify(pieces.flatMap((piece) => parser.push(piece))));
  };
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      parse([bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)]);
    }
  }
  parse([...bytes].map((byte) => Uint8Array.of(byte)));
  return [...outcomes].map((outcome) => JSON.parse(outcome));
}
"""


def test_p20_frames_are_whole_for_every_byte_split(module_page: Page) -> None:
    assert module_page.evaluate(EVERY_SPLIT, STREAM) == [FRAMES]


def test_a_frame_cut_short_is_never_taken_for_a_whole_one(module_page: Page) -> None:
    cut = "data: whole\n\ndata: cut sho"

    assert module_page.evaluate(EVERY_SPLIT, cut) == [[{"kind": "data", "text": "whole"}]]
