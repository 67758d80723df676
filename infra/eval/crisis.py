"""Evaluation of the crisis gate: which crises of the gold set it catches, and its false alarms.

Of the rules alone: caught is what they call certain or unsure; a false alarm is what they call certain
without a crisis. The model of this installation, or else the offline one, judges what they are unsure about: then caught is what is answered with
the crisis plan, of the levels 2 and 3, and a false alarm is such an answer without a crisis.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence

from functions.chat.deps import Limits
from functions.chat.turn.judge_text import judge_text
from infra.eval.crisis_gold import GoldMessage, load_messages
from shared import wiring
from shared.domain.crisis import CrisisVerdict
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import Models
from shared.safety.crisis_rules import find_crisis
from shared.safety.crisis_verdict import judge_alone

HALVES = ("tuned", "held out", "second", "late")


@value
class Counts:
    """Of messages: all, those that are not clear, and those that are certain."""

    total: int
    caught: int
    certain: int


def count_findings(messages: Sequence[GoldMessage]) -> Counts:
    certainties = [find_crisis(message.text).certainty for message in messages]
    return Counts(
        total=len(messages),
        caught=sum(certainty != "clear" for certainty in certainties),
        certain=certainties.count("certain"),
    )


def render_table(messages: Sequence[GoldMessage]) -> Iterator[str]:
    yield f"{'':27}{'messages':>9}{'caught':>8}{'certain':>9}"
    groups = dict.fromkeys((message.kind, message.level) for message in messages)
    for half in HALVES:
        for kind, level in sorted(groups, key=lambda group: (-group[1], group[0])):
            group = [m for m in messages if (m.half, m.kind, m.level) == (half, kind, level)]
            if not group:
                continue
            counts = count_findings(group)
            name = f"{half:10}{kind} {level or ''}"
            yield f"{name:27}{counts.total:9}{counts.caught:8}{counts.certain:9}"


def list_misses(messages: Sequence[GoldMessage]) -> Iterator[str]:
    """Name each missed crisis of level 2 or 3, with its words only in the half for tuning."""
    for message in messages:
        if message.level >= 2 and find_crisis(message.text).certainty == "clear":
            words = f": {message.text}" if message.half in {"tuned", "second"} else ""
            yield f"missed, {message.half}, level {message.level}: {message.id}{words}"


def list_false_alarms(messages: Sequence[GoldMessage]) -> Iterator[str]:
    for message in messages:
        if not message.level and find_crisis(message.text).certainty == "certain":
            words = f": {message.text}" if message.half in {"tuned", "second"} else ""
            yield f"false alarm, {message.half}, {message.kind}: {message.id}{words}"


READER = UserId("eval")


@value
class GateDeps:
    """What a judgement needs."""

    model: Models
    limits: Limits


async def judge(deps: GateDeps, text: str) -> CrisisVerdict:
    """Judge a text as the gate of a chat does that has no crisis before it."""
    finding = find_crisis(text)
    if finding.certainty == "unsure":
        return await judge_text(deps, READER, text, finding, earlier=())
    return judge_alone(finding)


async def render_judged(model: Models, messages: Sequence[GoldMessage]) -> list[str]:
    """Return a line for each half: the crises that are answered as such, and the false alarms."""
    deps = GateDeps(model=model, limits=Limits(crisis_timeout_s=30.0))
    lines = [
        f"{'with ' + model.name('fast'):27}{'crises':>9}{'caught':>8}{'others':>9}{'alarms':>8}"
    ]
    for half in HALVES:
        routes: dict[bool, list[bool]] = {True: [], False: []}
        for message in messages:
            if message.half == half:
                verdict = await judge(deps, message.text)
                routes[message.level >= 2].append(verdict.route == "crisis")
        crises, others = routes[True], routes[False]
        lines.append(f"{half:27}{len(crises):9}{sum(crises):8}{len(others):9}{sum(others):8}")
    return lines


def main() -> None:
    argparse.ArgumentParser(prog="make eval-crisis").parse_args()
    messages = load_messages()
    print(*render_table(messages), *list_misses(messages), *list_false_alarms(messages), sep="\n")
    print("", *asyncio.run(render_judged(wiring.model(), messages)), sep="\n")


if __name__ == "__main__":
    main()
