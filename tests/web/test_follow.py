"""Broken streams: the page's handling of every way in which an answer's stream can break (X36)."""

from typing import Any

import pytest
from playwright.sync_api import Page

# Plays one step a request: a status that refuses, or the numbers of the events that are told, "x"
# where the stream breaks and "end" for the last event. Returns what was asked and what was told.
PLAY_CODE = """
async ([steps, run]) => {
  const { follow } = await import(moduleAt("/run.js"));
  const asked = [];
  async function* told(step) {
    for (const seq of step) {
      if (seq === "x") throw { status: 0 };
      yield seq === "end" ? { seq: 99, chunks: [{ type: "finish" }] } : { seq, chunks: [{ type: `t${seq}` }] };
    }
  }
  const next = () => {
    const step = steps.shift();
    if (typeof step === "number") throw { status: step };
    return told(step);
  };
  const question = { run, key: "k" };
  const api = {
    ask: async (given) => {
      asked.push("ask");
      const stream = next();
      given.run = "r";
      return stream;
    },
    resume: async (_, after) => {
      asked.push(after);
      return next();
    },
  };
  const types = [];
  const tellLate = ({ type }) => types.push(`late ${type}`);
  try {
    for await (const { type } of follow(api, question, new AbortController().signal, tellLate)) {
      types.push(type);
      if (type === "waiting") setTimeout(() => dispatchEvent(new Event("online")));
    }
  } catch ({ status }) {
    types.push(status);
  }
  await new Promise((resolve) => setTimeout(resolve));
  return [asked, types];
}
"""


@pytest.mark.parametrize(
    ("run", "steps", "asked", "told"),
    [
        (None, [[1, 2, "end"]], ["ask"], ["t1", "t2", "finish"]),
        (None, [[1, "x"], [2, "end"]], ["ask", 1], ["t1", "waiting", "t2", "finish"]),
        (None, [[1, 2], [3, "end"]], ["ask", 2], ["t1", "t2", "waiting", "t3", "finish"]),
        (None, [0, 503, ["end"]], ["ask"] * 3, ["waiting", "waiting", "finish"]),
        (None, [["x"], 0, ["end"]], ["ask", 0, 0], ["waiting", "waiting", "finish"]),
        (None, [422], ["ask"], [422]),
        (None, [[1, 5, "x"], [], [1, "end"]], ["ask", 5, 0], ["t1", "t5", "waiting", "restart", "t1", "finish"]),
        ("r", [[1, "end"]], [0], ["t1", "finish"]),
        (None, [[1, "end", 2]], ["ask"], ["t1", "finish", "late t2"]),
        (None, [[1, "end", "x"]], ["ask"], ["t1", "finish"]),
        ("r", [[]], [0], ["gone"]),
        ("r", [404], [0], ["gone"]),
        ("r", [500], [0], [500]),
    ],
)  # fmt: skip
def test_a_broken_stream_resumes_or_restarts_x36(
    module_page: Page,
    run: str | None,
    steps: list[Any],
    asked: list[Any],
    told: list[Any],
) -> None:
    assert module_page.evaluate(PLAY_CODE, [steps, run]) == [asked, told]
