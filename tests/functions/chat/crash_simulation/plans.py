"""Plans of the simulation: the model's script and the faults, drawn at random."""

from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

Action = Literal["stop here", "stop there", "terminate", "kill", "send again", "follow"]
Fault = Literal["refused", "lost"]
Turn = tuple[str | float | None, ...]
"""Words, pauses in seconds, and None where the model breaks off."""

WORDS = ("Lisbon ", "is ", "where ", "the ", "offsite ", "happens. ")
PAUSES = (0.25, 0.5, 1.0, 4.0, 12.0)
LAST_TICK = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`script` holds the model's turns. `faults` holds, by number, writes of the first process that
    are refused or whose reply is lost. `outage` lasts from tick to tick; an action has its tick.

    `cuts` holds after how many events each connection of the client breaks off.
    """

    script: tuple[Turn, ...]
    faults: dict[int, Fault]
    outage: tuple[int, int]
    actions: tuple[tuple[int, Action], ...]
    cuts: tuple[int, ...]

    @property
    def is_survivable(self) -> bool:
        """Tell whether the answer has to be complete: a single fault does not prevent it."""
        is_whole = all(word is not None for turn in self.script for word in turn)
        is_undisturbed = {action for _, action in self.actions} <= {"send again", "follow"}
        return is_whole and is_undisturbed and not self.has_outage and len(self.faults) <= 1

    @property
    def is_store_reliable(self) -> bool:
        """Tell whether every write succeeds and is confirmed."""
        return not self.has_outage and not self.faults and not self.has_kill

    @property
    def has_outage(self) -> bool:
        return self.outage[0] < self.outage[1]

    @property
    def has_kill(self) -> bool:
        return any(action == "kill" for _, action in self.actions)

    @property
    def text(self) -> str:
        """Return the whole text of the model."""
        return "\n\n".join(
            "".join(word for word in turn if isinstance(word, str)) for turn in self.script
        )


def draw_plan(random: Random) -> Plan:
    """Draw a plan; in a third of them the answer has to be complete."""
    turns = random.choice((1, 1, 2))
    if random.random() < 0.3:
        return Plan(
            script=tuple(_draw_turn(random) for _ in range(turns)),
            faults=_draw_faults(random, random.choice((0, 1))),
            outage=(0, 0),
            actions=_draw_actions(random, ("send again", "follow"), random.randrange(3)),
            cuts=_draw_cuts(random),
        )
    start = random.randrange(LAST_TICK)
    return Plan(
        script=tuple(_draw_turn(random, breaks=random.random() < 0.2) for _ in range(turns)),
        faults=_draw_faults(random, random.choice((0, 0, 1, 2, 3))),
        outage=(start, start + random.choice((0, 0, 2, 45, 60))),
        actions=_draw_actions(random, get_args(Action), random.choice((0, 1, 1, 2, 3))),
        cuts=_draw_cuts(random),
    )


def _draw_turn(random: Random, *, breaks: bool = False) -> Turn:
    words: list[str | float | None] = [random.choice(WORDS) for _ in range(random.randrange(1, 9))]
    for _ in range(random.randrange(4)):
        words.insert(random.randrange(len(words) + 1), random.choice(PAUSES))
    if breaks:
        words.insert(random.randrange(len(words) + 1), None)
    return tuple(words)


def _draw_faults(random: Random, count: int) -> dict[int, Fault]:
    return {random.randrange(9): random.choice(get_args(Fault)) for _ in range(count)}


def _draw_actions(
    random: Random, choices: tuple[Action, ...], count: int
) -> tuple[tuple[int, Action], ...]:
    return tuple((random.randrange(LAST_TICK), random.choice(choices)) for _ in range(count))


def _draw_cuts(random: Random) -> tuple[int, ...]:
    return tuple(random.randrange(1, 9) for _ in range(random.randrange(4)))
