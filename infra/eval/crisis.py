"""Evaluation of the crisis rules: which crises of the gold set they catch, and their false alarms.

Caught is what they call certain or unsure; a false alarm is what they call certain without a crisis.
"""

import argparse
from collections.abc import Iterator, Sequence

from infra.eval.crisis_gold import GoldMessage, load_messages
from shared.domain.value import value
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


def main() -> None:
    argparse.ArgumentParser(prog="make eval-crisis").parse_args()
    messages = load_messages()
    print(*render_table(messages), *list_misses(messages), *list_false_alarms(messages), sep="\n")


if __name__ == "__main__":
    main()
