"""Accounts of a self-hosted server on the command line: `make users`."""

import argparse
import getpass
import sys
from collections.abc import Sequence

from infra.local.passwords import generate_password, hash_password
from shared.adapters.embedded.password_file import PasswordFile
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import Invalid
from shared.domain.ids import is_id
from shared.settings import Settings, SettingsError


def main(arguments: Sequence[str] | None = None) -> int:
    options = _build_parser().parse_args(arguments)
    try:
        file = PasswordFile(Settings.from_env().data_dir)
        if options.set:
            _set(file, options.set)
        elif options.remove:
            _remove(file, options.remove)
        else:
            print("\n".join(file.list_names()) or "keepsake: nobody has a password yet")
    except (SettingsError, Invalid, OSError) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    return 0


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make users", description=__doc__)
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--set", metavar="NAME", help="add an account, or change its password")
    change.add_argument("--remove", metavar="NAME", help="let nobody sign in as NAME any more")
    return parser


def _set(file: PasswordFile, name: str) -> None:
    """Set a password, and end the sessions that began with an older one. Raises Invalid."""
    if not is_id(name):
        raise Invalid(f"{name!r} is no name: use 1 to 64 letters, digits, _ or -")
    typed = _read_password(name)
    password = typed or generate_password()
    is_known = file.find_hash(name) is not None
    file.store(name, hash_password(password), now=SystemClock().now())
    print(f"keepsake: {name} can sign in now" if typed else f"keepsake: {name} · {password}")
    if is_known:
        print(
            f"keepsake: the keys of {name}'s programs go on: Your account → Sign out everywhere ends them too"
        )


def _read_password(name: str) -> str:
    """Read a password twice from a terminal, or once from a pipe. Raises Invalid."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass(f"Password of {name} (leave it empty to have one made): ")
    if password and getpass.getpass("Once more: ") != password:
        raise Invalid("These were two different passwords; nothing was changed.")
    return password


def _remove(file: PasswordFile, name: str) -> None:
    """Take a password away; the library stays until it is erased. Raises Invalid."""
    if file.find_hash(name) is None:
        raise Invalid(f"{name} has no password here.")
    file.store(name, "", now=SystemClock().now())
    print(f"keepsake: {name} can no longer sign in; make erase UID={name} erases the library")


if __name__ == "__main__":
    sys.exit(main())
