"""Evaluation of extraction: tasks, owners, dates, events, memories and discards of the gold talks."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.process import process
from functions.process_conversation.wiring import build_deps
from infra.eval.talks import Extracted, Talk, Tally, build_conversation, load_talks, score
from infra.eval.tape import Tape, TapedModels, load_tape
from infra.progress import create_progress_bar
from shared.adapters.embedded.offline.offline_model import MODEL_NAME as OFFLINE_MODEL
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId

Result = tuple[Talk, Tally]
OFFLINE_NOTE = "The offline model reads facts and events in English, tasks in six languages."
_HEADINGS = (
    f"{'':24}{'talks':>6}{'tasks F1':>9}{'owners':>8}{'due':>8}{'events':>7}"
    f"{'kept':>7}{'wrong':>6}{'lost':>5}{'scraps':>7}{'tokens':>7}{'calls':>6}"
)


async def evaluate(
    deps: ProcessDeps,
    talks: Sequence[Talk],
    tape: Tape,
    on_result: Callable[[Talk, Extracted], None],
) -> list[Result]:
    """Process each talk as that of an owner of its own, or of the same one where it was recorded twice."""
    deps = replace(deps, model=TapedModels(deps.model, tape))
    results = []
    owner = UserId("")
    for talk in talks:
        owner = owner if talk.again else UserId(f"owner-{talk.id}")
        await deps.stores.profiles.change(owner, time_zone=talk.zone, own_names=talk.owner_names)
        stored = await deps.stores.conversations.add(owner, build_conversation(talk))
        tape.subject = talk.id
        await process(deps, owner, stored.id)
        extracted = Extracted(
            conversation=await deps.stores.conversations.get(owner, stored.id),
            tasks=await deps.stores.action_items.list_for_conversation(owner, stored.id),
            memories=await deps.stores.memories.list_for_conversation(owner, stored.id),
            input_tokens=tape.input_tokens[talk.id],
            calls=tape.calls[talk.id],
        )
        results.append((talk, score(talk, extracted)))
        on_result(talk, extracted)
    return results


def render_table(results: Sequence[Result]) -> Iterator[str]:
    """Yield a row for all talks, for each half, language, zone and trap: counts, but for the F-measure and tokens a call."""
    yield _HEADINGS
    yield _format_row("all", results)
    for field in ("half", "language", "zone", "trap"):
        for name in dict.fromkeys(getattr(talk, field) for talk, _ in results):
            yield _format_row(name, [r for r in results if getattr(r[0], field) == name])


def _format_row(name: str, results: Sequence[Result]) -> str:
    tally = sum((each for _, each in results), Tally())
    found = f"/{tally.found_tasks}"
    return (
        f"{name:24}{len(results):6}{tally.task_f1:9.2f}"
        f"{tally.right_owners:>{8 - len(found)}}{found}{tally.right_dues:>{8 - len(found)}}{found}"
        f"{f'{tally.found_events}/{tally.expected_events}':>7}"
        f"{f'{tally.kept_memories}/{tally.expected_memories}':>7}{tally.wrong_memories:6}"
        f"{tally.lost:5}{tally.kept_scraps:7}"
        f"{round(tally.input_tokens / tally.calls) if tally.calls else 0:7}{tally.calls:6}"
    )


def _describe(talk: Talk, extracted: Extracted) -> str:
    structured = extracted.conversation.structured
    tasks = [
        (task.owner_name or task.owner, task.description, task.due_at) for task in extracted.tasks
    ]
    memories = [memory.content for memory in extracted.memories]
    events = [(event.title, event.start) for event in structured.events]
    discarded = " discarded" if extracted.conversation.discarded else ""
    return f"{talk.id} {talk.trap}{discarded}: {tasks} {events} {memories}"


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-extraction")
    parser.add_argument("--show", action="store_true", help="print what came of the tuned half")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the model's answers")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="read them instead of asking")
    parser.add_argument("--first", type=int, help="so many talks of each language")
    arguments = parser.parse_args()
    talks = [t for t in load_talks() if int(t.id[3:]) < (arguments.first or sys.maxsize)]
    tick, lines = create_progress_bar("talks", len(talks)), []

    def report_talk(talk: Talk, extracted: Extracted) -> None:
        tick()
        if arguments.show and talk.half == "tuned":
            lines.append(_describe(talk, extracted))

    deps = build_deps(ProcessDeps)
    tape = load_tape(arguments.replay) if arguments.replay else Tape()
    tape.model_name = tape.model_name or deps.model.name("reader")
    try:
        results = await evaluate(deps, talks, tape, report_talk)
    except Unavailable as error:
        sys.exit(
            f"\nkeepsake: {error}; check OPENAI_API_KEY and OPENAI_BASE_URL, then run it again"
        )
    if arguments.record:
        tape.write(arguments.record)
    notes = [OFFLINE_NOTE] if tape.model_name == OFFLINE_MODEL else []
    print("\n".join([*lines, f"model: {tape.model_name}", *render_table(results), *notes]))


if __name__ == "__main__":
    asyncio.run(main())
