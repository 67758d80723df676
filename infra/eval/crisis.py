"""Evaluation of the crisis gate: which crises of the gold set it catches, and its false alarms.

Of the rules alone: caught is what they call certain or unsure; a false alarm is what they call certain
without a crisis. With the moderation and the model of this installation, or else the offline one, as a chat
asks them: then caught is what is answered with the crisis plan, of the levels 2 and 3, and a false alarm is such
an answer without a crisis; read are the clear messages that a rating leaves in doubt.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence

from functions.chat.deps import Limits
from functions.chat.safety.crisis_verdict import DOUBTED, DOUBTFUL_SELF_HARM, judge_alone
from functions.chat.safety.judge_text import judge_text
from functions.chat.safety.moderate_text import moderate_text
from functions.chat.safety.rate_question import rate_question
from infra.eval.crisis_gold import GoldMessage, load_messages
from shared import model_wiring
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.ports import Models, Moderator
from shared.safety.crisis_rules import find_crisis

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
    moderator: Moderator
    limits: Limits


@value
class Judged:
    """The verdict on a text; `is_doubted` where a rating led to it that contradicts the rules."""

    verdict: CrisisVerdict
    is_doubted: bool = False


async def judge(deps: GateDeps, text: str) -> Judged:
    """Judge a text as the gate of a chat and the watch do, where no crisis came before it."""
    finding = find_crisis(text)
    is_doubted = finding.certainty == "clear" and await _is_doubted(deps, text)
    if is_doubted:
        finding = DOUBTED
    if finding.certainty != "unsure":
        return Judged(verdict=judge_alone(finding))
    verdict = await judge_text(deps, READER, text, finding, earlier=())
    return Judged(verdict=verdict, is_doubted=is_doubted)


async def _is_doubted(deps: GateDeps, text: str) -> bool:
    moderation = await moderate_text(deps, text)
    if moderation is None:
        moderation = (await rate_question(deps, READER, text, ())).to_moderation()
    return moderation.self_harm >= DOUBTFUL_SELF_HARM


async def render_judged(
    model: Models, moderator: Moderator, messages: Sequence[GoldMessage]
) -> list[str]:
    """Return a line for each half: the crises that are answered as such, and the false alarms."""
    limits = Limits(crisis_timeout_s=30.0, moderation_timeout_s=30.0)
    deps = GateDeps(model=model, moderator=moderator, limits=limits)
    lines = [
        f"{'with ' + model.name('fast'):27}{'crises':>9}{'caught':>8}{'others':>9}{'alarms':>8}{'read':>6}"
    ]
    for half in HALVES:
        of_half = [message for message in messages if message.half == half]
        judged = [(message, await judge(deps, message.text)) for message in of_half]
        crises = [j.verdict.route == "crisis" for message, j in judged if message.level >= 2]
        others = [j.verdict.route == "crisis" for message, j in judged if message.level < 2]
        read = sum(j.is_doubted for _, j in judged)
        figures = f"{len(crises):9}{sum(crises):8}{len(others):9}{sum(others):8}{read:6}"
        lines.append(f"{half:27}{figures}")
    return lines


def main() -> None:
    argparse.ArgumentParser(prog="make eval-crisis").parse_args()
    messages = load_messages()
    print(*render_table(messages), *list_misses(messages), *list_false_alarms(messages), sep="\n")
    judged = asyncio.run(render_judged(model_wiring.model(), model_wiring.moderator(), messages))
    print("", *judged, sep="\n")


if __name__ == "__main__":
    main()
