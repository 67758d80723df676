"""What agent loops add to the calls they make: ours, LangGraph's and the OpenAI Agents SDK's.

Each runs in a process of its own, against one scripted model, and in turn: what disturbs the machine
disturbs all of them. Each is compared with the SDK's bare streams; ours may be below them, as our
adapter does not build the SDK's objects. So our loop is compared with that adapter alone as well.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from infra.bench.figures import Figure
from infra.bench.frameworks import frameworks_python
from infra.bench.processes import ROOT, Served, at_model, environment, scripted_model
from infra.progress import bar

WARM_UP = 10
ROUNDS = 60
TOKENS = 50
CYCLES = 2
RAW, ADAPTER, OURS = "raw client", "our model adapter", "ours"
FRAMEWORKS: Mapping[str, str] = {
    "LangGraph": "langgraph_agent",
    "OpenAI Agents SDK": "openai_agent",
}

Cost = tuple[float, float]
"""Milliseconds of the wall and of the process's own CPU."""


def question(cycles: int) -> str:
    """Ask for an answer after so many calls of a tool."""
    calls = [
        {"tool_calls": [{"id": f"call_{n}", "name": "lookup", "arguments": f'{{"query": "{n}"}}'}]}
        for n in range(cycles)
    ]
    return f"Tell me. [[script {json.dumps([*calls, {'tokens': TOKENS}])}]]"


PLAIN, WITH_TOOLS = question(0), question(CYCLES)


def agent_loops() -> list[Figure]:
    with scripted_model() as model, ExitStack() as stack:
        loops = {
            name: stack.enter_context(_loop(module, python, model))
            for name, module, python in _contestants()
        }
        costs = _play(loops)
    return [*_costs(costs), *_missing(costs)]


def _contestants() -> Iterator[tuple[str, str, Path]]:
    yield RAW, "raw", Path(sys.executable)
    yield ADAPTER, "adapter", Path(sys.executable)
    yield OURS, "ours", Path(sys.executable)
    if python := frameworks_python():
        for name, module in FRAMEWORKS.items():
            yield name, module, python


@contextmanager
def _loop(module: str, python: Path, model: Served) -> Iterator["subprocess.Popen[str]"]:
    url = f"http://127.0.0.1:{model.port}/v1"
    process = subprocess.Popen(
        [str(python), "-W", "ignore", "-m", f"infra.bench.loops.{module}", url],
        cwd=ROOT,
        env=environment(**at_model(model)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process


def _play(loops: Mapping[str, "subprocess.Popen[str]"]) -> dict[tuple[str, str], Cost]:
    """Return the median cost of each loop's turn."""
    told: dict[tuple[str, str], list[Cost]] = {}
    tick = bar("agent loops", WARM_UP + ROUNDS)
    for _ in range(WARM_UP + ROUNDS):
        for name, process in loops.items():
            for asked in (PLAIN, WITH_TOOLS):
                told.setdefault((name, asked), []).append(_turn(name, process, asked))
        tick()
    return {key: _median(costs[WARM_UP:]) for key, costs in told.items()}


def _turn(name: str, process: "subprocess.Popen[str]", asked: str) -> Cost:
    """Raise RuntimeError when the answer is not what the model said."""
    assert process.stdin is not None  # both are pipes
    assert process.stdout is not None
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    cost: dict[str, Any] = json.loads(process.stdout.readline() or '{"text": "nothing"}')
    if len(cost["text"].split()) != TOKENS:
        raise RuntimeError(f"{name} answered {cost['text']!r}")
    return cost["ms"], cost["cpu_ms"]


def _median(costs: Sequence[Cost]) -> Cost:
    wall, cpu = zip(*costs, strict=True)
    return median(wall), median(cpu)


def _costs(costs: Mapping[tuple[str, str], Cost]) -> Iterator[Figure]:
    for asked, kind in ((PLAIN, "plain answer"), (WITH_TOOLS, f"{CYCLES} tool cycles")):
        raw = costs[RAW, asked]
        yield Figure(name=f"{kind}, {RAW}", value=raw[0], unit="ms")
        yield Figure(name=f"{kind}, {RAW}: CPU", value=raw[1], unit="ms")
        for name in _measured(costs):
            ms, cpu_ms = over(costs[name, asked], raw)
            yield Figure(name=f"{kind}, {name}: over it", value=ms, unit="ms")
            yield Figure(name=f"{kind}, {name}: CPU over it", value=cpu_ms, unit="ms")
    for name in _measured(costs):
        ms, _ = a_cycle(costs, name, beside=RAW)
        wanted = 3 if name == OURS else None
        yield Figure(name=f"a tool cycle, {name}: over it", value=ms, unit="ms", wanted=wanted)
    ms, _ = a_cycle(costs, OURS, beside=ADAPTER)
    yield Figure(name=f"a tool cycle, {OURS}: over {ADAPTER}", value=ms, unit="ms", wanted=3)


def over(one: Cost, other: Cost) -> Cost:
    return one[0] - other[0], one[1] - other[1]


def a_cycle(costs: Mapping[tuple[str, str], Cost], name: str, *, beside: str) -> Cost:
    """Return what a tool cycle adds to a loop's turn, over what it adds to the one beside it."""
    loop, other = (over(costs[each, WITH_TOOLS], costs[each, PLAIN]) for each in (name, beside))
    wall, cpu = over(loop, other)
    return wall / CYCLES, cpu / CYCLES


def _measured(costs: Mapping[tuple[str, str], Cost]) -> Iterator[str]:
    return (name for name in (ADAPTER, OURS, *FRAMEWORKS) if (name, PLAIN) in costs)


def _missing(costs: Mapping[tuple[str, str], Cost]) -> Iterator[Figure]:
    for name in FRAMEWORKS:
        if (name, PLAIN) not in costs:
            yield Figure(name=f"{name} (cannot be installed here)", value=None)
