"""Dead letters on the command line: list them, show one, send it again (REPLAY=id or all)."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict

from shared import wiring
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.data.store.dead_letters import DeadLetters
from shared.domain.errors import Unavailable
from shared.domain.store.dead_letter import DeadLetter
from shared.settings import SettingsError

REPLAY_ALL = "all"


class UsageError(Exception):
    """An error whose message says in one line what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make dead-letters", description=__doc__)
    parser.add_argument("--show", metavar="ID", default="")
    parser.add_argument("--replay", metavar="ID", default="", help=f"one, or {REPLAY_ALL!r}")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_run(options.show, options.replay))
    except (DatabaseUnusable, SettingsError, Unavailable, UsageError) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    except PermissionError as error:
        print(f"keepsake: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


async def _run(show: str, replay: str) -> None:
    check_data_exists()
    letters = DeadLetters(wiring.documents())
    dead_letters = await letters.list_newest()
    if show:
        _print_letter(_find_letter(dead_letters, show))
    elif replay:
        for letter in (
            dead_letters if replay == REPLAY_ALL else [_find_letter(dead_letters, replay)]
        ):
            await _replay_letter(letter)
            await letters.remove(letter)
            print(f"keepsake: sent again: {letter.name} to {letter.target}")
    else:
        _print_list(dead_letters)


def check_data_exists() -> None:
    settings = wiring.settings()
    if settings.world == "embedded" and not (settings.data_dir / "keepsake.db").exists():
        raise UsageError(
            f"there is no data in {settings.data_dir}: say where it is with DATA_DIR=…, "
            "or set KEEPSAKE_WORLD=cloud"
        )


def _find_letter(letters: Sequence[DeadLetter], letter_id: str) -> DeadLetter:
    for letter in letters:
        if letter.id == letter_id:
            return letter
    raise UsageError(f"there is no dead letter {letter_id!r}: make dead-letters lists them")


async def _replay_letter(letter: DeadLetter) -> None:
    """Send the same ids again in the same way; another failure leads to the same letter."""
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


def _print_list(letters: Sequence[DeadLetter]) -> None:
    for letter in letters:
        print(
            f"{letter.id}  {letter.last_at:%Y-%m-%d %H:%M}Z  {letter.attempts:>2} attempts  "
            f"{letter.target}  {letter.name}  {letter.reason}"
        )
    if letters:
        print("keepsake: SHOW=id shows one, REPLAY=id sends it again, REPLAY=all sends all")
    else:
        print("keepsake: no dead letters")


def _print_letter(letter: DeadLetter) -> None:
    for name, value in asdict(letter).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    sys.exit(main())
