"""Import on the command line, `make import`: sends files to the running product, or has it ask a wearable's API."""

import argparse
import getpass
import glob
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import httpx

from infra.local.import_client import ImportClient
from infra.local.import_report import ImportReport
from infra.local.sign_in import describe_refusal, sign_in
from shared.environment.readers import WEARABLE_ADDRESSES
from shared.settings import SettingsError

HOW_TO = """keepsake: which files? Name them, for example:
  make import FILES="chat.txt"
  make import FILES="~/Downloads/WhatsApp Chat with Ann.zip"
  make import FILES="calls/ notes.md"
  make import FILES="calls/" ME="Ann"    (the name by which the files call you)
  make import FROM=limitless             (or omi, or bee: what it recorded, by your key of its API)"""
NO_KEY = (
    "keepsake: the server does not know this command. Start it with the same DATA_DIR (or LOCAL_KEY) "
    "as the server, for example DATA_DIR=/path/to/data make import FILES=…"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 when something was not imported."""
    options = _build_parser().parse_args(arguments)
    if not options.files and not options.wearable:
        print(HOW_TO)
        return 1
    paths, hidden = _list_paths(options.files)
    try:
        key = _read_key(options.wearable) if options.wearable else ""
        return anyio.run(_import, options, paths, hidden, key)
    except httpx.TransportError:
        print(f"keepsake: nothing answers at {options.origin}: start it with make run")
    except httpx.HTTPStatusError as error:
        is_unknown = error.response.status_code == httpx.codes.UNAUTHORIZED
        print(NO_KEY if is_unknown else f"keepsake: {describe_refusal(options.origin, error)}")
    except SettingsError as error:
        print(f"keepsake: {error}")
    except EOFError:
        print("\nkeepsake: no key was given")
    except KeyboardInterrupt:
        print("\nkeepsake: stopped; run it again to go on, nothing is doubled")
    return 1


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make import", description=__doc__)
    parser.add_argument("files", nargs="*", help="files, folders and patterns")
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", default="alice", help="whose conversations these are")
    parser.add_argument("--me", help="the name by which the files call this user")
    parser.add_argument("--from", dest="wearable", choices=[*WEARABLE_ADDRESSES])
    parser.add_argument("--text", action="store_true", help="keep text in no known form as it is")
    parser.add_argument("--wait", action="store_true", help="until all are processed")
    return parser


def _read_key(wearable: str) -> str:
    """Return the key of a wearable's API, from the environment or as it is typed: arguments are seen by others."""
    name = f"{wearable.upper()}_API_KEY"
    given = os.environ.get(name)  # noqa: TID251  a key of this command, which no function reads
    return given or getpass.getpass(f"keepsake: key of {wearable} (or set {name}): ")


def _list_paths(names: Sequence[str]) -> tuple[list[Path], int]:
    """List each file once, and count the hidden ones that are passed over."""
    found = [path for name in names for path in _expand_name(name)]
    shown = [path for path, is_hidden in found if not is_hidden]
    return list(dict.fromkeys(shown)), len(found) - len(shown)


def _expand_name(name: str) -> Iterator[tuple[Path, bool]]:
    """Expand one argument, which make may have made of several names, or of one with spaces."""
    if _exists(name):
        yield from _expand_path(name)
        return
    for part in _split(name):
        yield from _expand_path(part)


def _split(name: str) -> list[str]:
    try:
        return shlex.split(name)
    except ValueError:  # an apostrophe
        return name.split()


def _exists(name: str) -> bool:
    return Path(name).expanduser().exists() or bool(_match(name))


def _match(name: str) -> list[str]:
    return sorted(glob.glob(str(Path(name).expanduser()), recursive=True))  # noqa: PTH207 - patterns may be absolute


def _expand_path(name: str) -> Iterator[tuple[Path, bool]]:
    """Yield files, and whether they are hidden; what matches nothing stays, to be reported."""
    path = Path(name).expanduser()
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            yield file, any(part.startswith(".") for part in file.relative_to(path).parts)
    elif path.exists():
        yield path, False
    else:
        yield from ((Path(found), False) for found in _match(name) or [str(path)])


async def _import(options: argparse.Namespace, paths: Sequence[Path], hidden: int, key: str) -> int:
    start_s, report = time.perf_counter(), ImportReport(file_count=len(paths), hidden=hidden)
    async with sign_in(options.origin, options.uid) as http:
        client = ImportClient(http, report, me=options.me, keeps_text=options.text)
        if options.wearable:
            await client.import_wearable(options.wearable, key.strip())
        await client.send_all(paths)
        report.print_summary()
        if options.wait:
            failed_ids = await client.wait_for_processing()
            report.failures += failed_ids
            report.print_processing(failed_ids, time.perf_counter() - start_s)
    return 1 if report.failures or not (paths or options.wearable) else 0


if __name__ == "__main__":
    sys.exit(main())
