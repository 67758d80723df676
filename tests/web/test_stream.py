"""Stream reader of the console: complete events, however the network splits the bytes."""

import json
from typing import Any

from playwright.sync_api import Page

Chunk = dict[str, Any]


def build_event(seq: int, *chunks: Chunk | str) -> str:
    payloads = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks]
    return "\n\n".join(f"data: {chunk}" for chunk in payloads) + f"\nid: {seq}\n\n"


START: Chunk = {"type": "start", "messageId": "m1"}
DELTA: Chunk = {"type": "text-delta", "delta": "Grüße 👋\n\n  data: id: 7"}
FINISH: Chunk = {"type": "finish"}
STREAM = (
    ": ping\n\n"
    + build_event(1, START, DELTA)
    + ": ping\n\n"
    + build_event(3, DELTA)
    + build_event(4, FINISH, "[DONE]")
)
EVENTS = [
    {"seq": 1, "chunks": [START, DELTA]},
    {"seq": 3, "chunks": [DELTA]},
    {"seq": 4, "chunks": [FINISH]},
]

# Splits the stream in three at every pair of positions, and once after every byte; returns each
# distinct outcome.
EVERY_SPLIT_CODE = """
async (stream) => {
  const { EventParser } = await import(moduleAt("/stream.js"));
  const bytes = new TextEncoder().encode(stream);
  const outcomes = new Set();
  const parse = (pieces) => {
    const parser = new EventParser();
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


def test_events_are_whole_for_every_byte_split(module_page: Page) -> None:
    assert module_page.evaluate(EVERY_SPLIT_CODE, STREAM) == [EVENTS]


def test_an_incomplete_event_is_never_parsed(module_page: Page) -> None:
    """Even if some of its chunks arrived: resuming sends the whole event again."""
    cut = build_event(1, START) + build_event(2, DELTA, DELTA).rpartition("data")[0]

    assert module_page.evaluate(EVERY_SPLIT_CODE, cut) == [[{"seq": 1, "chunks": [START]}]]
