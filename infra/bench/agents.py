"""Agent loops compared: what ours, LangGraph's and the OpenAI Agents SDK's add to their model calls.

Each runs in a process of its own, against one scripted model, in turn, so that a disturbance of the
machine hits all of them. Each is compared with the SDK's bare streams; ours may be faster, because our
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
from infra.bench.frameworks import install_frameworks
from infra.bench.processes import (
    ROOT,
    ServerProcess,
    build_environment,
    build_model_environment,
    run_scripted_model,
)
from infra.progress import create_progress_bar

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
"""Wall milliseconds and the process's own CPU milliseconds."""


def build_question(cycles: int) -> str:
    """A scripted answer after so many tool calls."""
    calls = [
        {"tool_calls": [{"id": f"call_{n}", "name": "lookup", "arguments": f'{{"query": "{n}"}}'}]}
        for n in range(cycles)
    ]
    return f"Tell me. [[script {json.dumps([*calls, {'tokens': TOKENS}])}]]"


PLAIN, WITH_TOOLS = build_question(0), build_question(CYCLES)


def measure_agent_loops() -> list[Figure]:
    with run_scripted_model() as model, ExitStack() as stack:
        loops = {
            name: stack.enter_context(_start_loop(module, python, model))
            for name, module, python in _list_loops()
        }
        costs = _measure_loops(loops)
    return [*_build_figures(costs), *_build_missing_figures(costs)]


def _list_loops() -> Iterator[tuple[str, str, Path]]:
    yield RAW, "raw", Path(sys.executable)
    yield ADAPTER, "adapter", Path(sys.executable)
    yield OURS, "ours", Path(sys.executable)
    if python := install_frameworks():
        for name, module in FRAMEWORKS.items():
            yield name, module, python


@contextmanager
def _start_loop(
    module: str, python: Path, model: ServerProcess
) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [str(python), "-W", "ignore", "-m", f"infra.bench.loops.{module}", model.openai_url],
        cwd=ROOT,
        env=build_environment(**build_model_environment(model)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process


def _measure_loops(loops: Mapping[str, "subprocess.Popen[str]"]) -> dict[tuple[str, str], Cost]:
    """Return the median cost of each loop's turn."""
    turn_costs: dict[tuple[str, str], list[Cost]] = {}
    tick = create_progress_bar("agent loops", WARM_UP + ROUNDS)
    for _ in range(WARM_UP + ROUNDS):
        for name, process in loops.items():
            for prompt in (PLAIN, WITH_TOOLS):
                turn_costs.setdefault((name, prompt), []).append(
                    _measure_turn(name, process, prompt)
                )
        tick()
    return {key: _compute_median(costs[WARM_UP:]) for key, costs in turn_costs.items()}


def _measure_turn(name: str, process: "subprocess.Popen[str]", prompt: str) -> Cost:
    """Raise RuntimeError when the answer is not what the model said."""
    assert process.stdin is not None  # both are pipes
    assert process.stdout is not None
    process.stdin.write(json.dumps(prompt) + "\n")
    process.stdin.flush()
    cost: dict[str, Any] = json.loads(process.stdout.readline() or '{"text": "nothing"}')
    if len(cost["text"].split()) != TOKENS:
        raise RuntimeError(f"{name} answered {cost['text']!r}")
    return cost["ms"], cost["cpu_ms"]


def _compute_median(costs: Sequence[Cost]) -> Cost:
    wall, cpu = zip(*costs, strict=True)
    return median(wall), median(cpu)


def _build_figures(costs: Mapping[tuple[str, str], Cost]) -> Iterator[Figure]:
    for prompt, kind in ((PLAIN, "plain answer"), (WITH_TOOLS, f"{CYCLES} tool cycles")):
        raw = costs[RAW, prompt]
        yield Figure(f"{kind}, {RAW}", raw[0], "ms")
        yield Figure(f"{kind}, {RAW}: CPU", raw[1], "ms")
        for name in _list_measured(costs):
            ms, cpu_ms = subtract_costs(costs[name, prompt], raw)
            yield Figure(f"{kind}, {name}: over it", ms, "ms")
            yield Figure(f"{kind}, {name}: CPU over it", cpu_ms, "ms")
    for name in _list_measured(costs):
        ms, _ = compute_cycle_cost(costs, name, baseline=RAW)
        target = 3 if name == OURS else None
        yield Figure(f"a tool cycle, {name}: over it", ms, "ms", target=target)
    ms, _ = compute_cycle_cost(costs, OURS, baseline=ADAPTER)
    yield Figure(f"a tool cycle, {OURS}: over {ADAPTER}", ms, "ms", target=3)


def subtract_costs(cost: Cost, baseline: Cost) -> Cost:
    return cost[0] - baseline[0], cost[1] - baseline[1]


def compute_cycle_cost(costs: Mapping[tuple[str, str], Cost], name: str, *, baseline: str) -> Cost:
    """Return the cost of a tool cycle in a loop, minus its cost in the baseline."""
    loop, other = (
        subtract_costs(costs[loop_name, WITH_TOOLS], costs[loop_name, PLAIN])
        for loop_name in (name, baseline)
    )
    wall, cpu = subtract_costs(loop, other)
    return wall / CYCLES, cpu / CYCLES


def _list_measured(costs: Mapping[tuple[str, str], Cost]) -> Iterator[str]:
    return (name for name in (ADAPTER, OURS, *FRAMEWORKS) if (name, PLAIN) in costs)


def _build_missing_figures(costs: Mapping[tuple[str, str], Cost]) -> Iterator[Figure]:
    for name in FRAMEWORKS:
        if (name, PLAIN) not in costs:
            yield Figure(f"{name} (cannot be installed here)", None)
