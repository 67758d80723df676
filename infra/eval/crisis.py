"""Evaluation of what people in danger get: people to call, the plan, one question; and who gets them without need.

Without a model rules and examples decide, as in a chat. With the model of this installation, where it is one that
writes, a second table says what its readings come to. Caught is who gets people to call or the plan, of the levels 2 and 3.
"""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence

from infra.eval.crisis_gold import GoldMessage, load_messages
from shared import model_wiring
from shared.data.search.question_meaning import QuestionMeanings
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import Models
from shared.reading.crisis_rules import CrisisFinding, find_crisis
from shared.reading.crisis_verdict import add_danger, judge_alone
from shared.reading.read_question import judge_text

READER = UserId("eval")
READING_S = 60.0
Verdicts = Mapping[str, CrisisVerdict]
"""By the id of a message."""


@value
class ReaderDeps:
    """What a reading needs."""

    model: Models


@value
class Counts:
    """Of messages: those of the levels 2 and 3 and what they get, those of level 1 with anything, and of level 0."""

    grave: int
    called: int
    planned: int
    mild: int
    mild_told: int
    others: int
    false: int

    @property
    def caught(self) -> int:
        return self.called + self.planned


async def find_all(
    messages: Sequence[GoldMessage], meanings: QuestionMeanings
) -> Mapping[str, CrisisFinding]:
    """Return what rules and examples find in each message."""
    found = {}
    for message in messages:
        meaning = await meanings.read(READER, message.text)
        found[message.id] = add_danger(find_crisis(message.text), meaning)
    return found


async def read_all(
    messages: Sequence[GoldMessage], findings: Mapping[str, CrisisFinding], model: Models
) -> Verdicts:
    """Return what a model's readings come to."""
    deps = ReaderDeps(model=model)
    return {
        message.id: await judge_text(
            deps, READER, message.text, findings[message.id], wait_s=READING_S
        )
        for message in messages
    }


def count(messages: Sequence[GoldMessage], verdicts: Verdicts) -> Counts:
    by_level = {
        level: [verdicts[m.id] for m in messages if m.level in level]
        for level in ((2, 3), (1,), (0,))
    }
    grave, mild, others = by_level[2, 3], by_level[(1,)], by_level[(0,)]
    return Counts(
        grave=len(grave),
        called=sum(verdict.adds_contacts for verdict in grave),
        planned=sum(verdict.route == "crisis" for verdict in grave),
        mild=len(mild),
        mild_told=sum(not verdict.is_clear for verdict in mild),
        others=len(others),
        false=sum(not verdict.is_clear for verdict in others),
    )


def render_table(messages: Sequence[GoldMessage], verdicts: Verdicts) -> Iterator[str]:
    """Yield a line for each set, language and kind."""
    yield (
        f"{'':16}{'levels 2-3':>11}{'to call':>9}{'plan':>6}{'caught':>8}"
        f"{'level 1':>9}{'told':>6}{'level 0':>9}{'false':>7}"
    )
    for key in ("half", "language", "kind"):
        groups = dict.fromkeys(getattr(message, key) for message in messages)
        for group in groups:
            chosen = [message for message in messages if getattr(message, key) == group]
            yield _render_line(str(group), count(chosen, verdicts))
    yield _render_line("all", count(messages, verdicts))


def list_misses(messages: Sequence[GoldMessage], verdicts: Verdicts) -> Iterator[str]:
    """Name what was missed and false, without its words: nobody tunes to them."""
    for message in messages:
        is_told = not verdicts[message.id].is_clear
        if message.level >= 2 and not is_told:
            yield f"missed: {message.id}, {message.kind}, level {message.level}"
        elif not message.level and is_told:
            yield f"false: {message.id}, {message.kind}"


def _render_line(name: str, counts: Counts) -> str:
    share = f"{counts.caught / counts.grave:.0%}" if counts.grave else ""
    return (
        f"{name:16}{counts.grave:11}{counts.called:9}{counts.planned:6}{share:>8}"
        f"{counts.mild:9}{counts.mild_told:6}{counts.others:9}{counts.false:7}"
    )


async def measure() -> None:
    messages, model = load_messages(), model_wiring.model()
    findings = await find_all(messages, model_wiring.meanings())
    alone = {name: judge_alone(finding) for name, finding in findings.items()}
    print("without a model", *render_table(messages, alone), sep="\n")
    print(*list_misses(messages, alone), sep="\n")
    if not model.describe("fast").is_extractive:
        read = await read_all(messages, findings, model)
        print(f"\nwith {model.name('fast')}", *render_table(messages, read), sep="\n")
        print(*list_misses(messages, read), sep="\n")


def main() -> None:
    argparse.ArgumentParser(prog="make eval-crisis").parse_args()
    asyncio.run(measure())


if __name__ == "__main__":
    main()
