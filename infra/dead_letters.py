"""`make dead-letters`: list what was given up, show one, and send it again (REPLAY=id or all)."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict

from shared import wiring
from shared.adapters.sqlite_database import OtherLayout
from shared.data.dead_letters import DeadLetters
from shared.domain.dead_letter import DeadLetter
from shared.domain.errors import Unavailable
from shared.settings import SettingsError

ALL = "all"


class Wrong(Exception):
    """Says in one line what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 when nothing could be done; says in one line why."""
    parser = argparse.ArgumentParser(prog="make dead-letters", description=__doc__)
    parser.add_argument("--show", metavar="ID", default="")
    parser.add_argument("--replay", metavar="ID", default="", help=f"one, or {ALL!r}")
    asked = parser.parse_args(arguments)
    try:
        asyncio.run(_run(asked.show, asked.replay))
    except (OtherLayout, SettingsError, Unavailable, Wrong) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    return 0


async def _run(show: str, replay: str) -> None:
    _check()
    letters = DeadLetters(wiring.documents())
    found = await letters.newest()
    if show:
        _show(_named(found, show))
    elif replay:
        for letter in found if replay == ALL else [_named(found, replay)]:
            await _send(letter)
            await letters.remove(letter)
            print(f"keepsake: sent again: {letter.name} to {letter.target}")
    else:
        _list(found)


def _check() -> None:
    settings = wiring.settings()
    if settings.world == "embedded" and not (settings.data_dir / "keepsake.db").exists():
        raise Wrong(
            f"there is no data in {settings.data_dir}: say where it is with DATA_DIR=…, "
            "or set KEEPSAKE_WORLD=cloud"
        )


def _named(letters: Sequence[DeadLetter], wanted: str) -> DeadLetter:
    for letter in letters:
        if letter.id == wanted:
            return letter
    raise Wrong(f"there is no dead letter {wanted!r}: make dead-letters lists them")


async def _send(letter: DeadLetter) -> None:
    """Send the same ids the same way; who dies of it again has the same letter again."""
    match letter.kind:
        case "event":
            await wiring.events().publish(letter.name, letter.ids)
        case "task":  # its old name is taken for an hour
            name = f"{letter.name}-{letter.last_at:%Y%m%d%H%M%S}"
            await wiring.tasks().create(letter.target, name, letter.ids)
        case "trigger":  # only our own queue tells of them
            document = await wiring.documents().get(letter.name)
            change = {"old": None, "new": document.fields if document else None}
            queue = wiring.queue()
            await queue.database.write(
                lambda connection: queue.put(
                    connection, "trigger", letter.target, letter.name, change
                )
            )


def _list(letters: Sequence[DeadLetter]) -> None:
    for letter in letters:
        print(
            f"{letter.id}  {letter.last_at:%Y-%m-%d %H:%M}Z  {letter.attempts:>2} attempts  "
            f"{letter.target}  {letter.name}  {letter.reason}"
        )
    if letters:
        print("keepsake: SHOW=id shows one, REPLAY=id sends it again, REPLAY=all sends all")
    else:
        print("keepsake: no dead letters")


def _show(letter: DeadLetter) -> None:
    for name, found in asdict(letter).items():
        print(f"{name}: {found}")


if __name__ == "__main__":
    sys.exit(main())
