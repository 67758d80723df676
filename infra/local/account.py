"""Export and erasure on the command line: `make export` and `make erase`."""

import argparse
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import anyio
import httpx

from infra.local.sign_in import describe_refusal, sign_in
from shared.settings import SettingsError

POLL_S = 0.3


def main(arguments: Sequence[str] | None = None) -> int:
    options = _build_parser().parse_args(arguments)
    if options.command == "erase" and not options.yes and not _is_confirmed(options.uid):
        print("keepsake: nothing was erased")
        return 1
    try:
        return anyio.run(_export if options.command == "export" else _erase, options)
    except httpx.TransportError:
        print(f"keepsake: nothing answers at {options.origin}: start it with make run")
    except httpx.HTTPStatusError as error:
        print(f"keepsake: {describe_refusal(options.origin, error)}")
    except SettingsError as error:
        print(f"keepsake: {error}")
    except OSError as error:
        print(f"keepsake: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        print("\nkeepsake: stopped; run it again")
    return 1


def _is_confirmed(uid: str) -> bool:
    try:
        return input(f"Type {uid} to erase everything of {uid}: ") == uid
    except (EOFError, KeyboardInterrupt):
        print()
        return False


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make export | make erase", description=__doc__)
    parser.add_argument("command", choices=("export", "erase"))
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", required=True, help="whose account it is")
    parser.add_argument("--out", type=Path, help="the zip to write")
    parser.add_argument("--yes", action="store_true", help="erase without asking")
    return parser


async def _export(options: argparse.Namespace) -> int:
    """Write a `.part` first: an incomplete zip would look like a complete export."""
    out: Path = options.out or Path(f"keepsake-{options.uid}.zip")
    part = out.with_name(f"{out.name}.part")
    async with sign_in(options.origin, options.uid) as client:
        with _create_private(part) as file:
            await _download(client, file)
    part.replace(out)
    print(f"keepsake: {out} holds everything of {options.uid}")
    if _is_empty(out):
        print(f"keepsake: {options.uid} has nothing here yet; UID=… names another user")
    return 0


def _is_empty(out: Path) -> bool:
    """Tell whether a zip has no records: everybody who signs in has a profile, and a wrong name signs in, too."""
    with zipfile.ZipFile(out) as archive:
        records = [info for info in archive.infolist() if info.filename != "profile.json"]
    return all(info.file_size <= len("[]") for info in records)


def _create_private(path: Path) -> BinaryIO:
    """Create a file that only this account can read, in place of an older one."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


async def _download(client: httpx.AsyncClient, file: BinaryIO) -> None:
    async with client.stream("GET", "/v1/users/export", params={"format": "zip"}) as answer:
        answer.raise_for_status()
        async for piece in answer.aiter_bytes():
            file.write(piece)
            _show_progress(f"{file.tell() / 1_048_576:.1f} MB")
    _show_progress("")


async def _erase(options: argparse.Namespace) -> int:
    async with sign_in(options.origin, options.uid) as client:
        erasure = (await client.delete("/v1/users/delete-account")).raise_for_status().json()
        while erasure["status"] == "running":
            _show_progress(f"erasing: {erasure['documents']} documents")
            await anyio.sleep(POLL_S)
            erasure = (await client.get("/v1/users/delete-account")).raise_for_status().json()
    _show_progress("")
    print(
        f"keepsake: {erasure['documents']} documents of {options.uid} and their vectors are erased. "
        f"{erasure['note']}"
    )
    return 0


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:40}", end="" if text else "\r", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
