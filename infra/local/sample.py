"""Sample library on the command line: `make sample`, which loads it or takes it away."""

import argparse
import sys
from collections.abc import Sequence

import anyio
import httpx

from infra.local.sign_in import describe_refusal, sign_in
from shared.settings import SettingsError


def main(arguments: Sequence[str] | None = None) -> int:
    options = _build_parser().parse_args(arguments)
    try:
        print(f"keepsake: {anyio.run(_remove if options.remove else _load, options)}")
    except httpx.TransportError:
        print(f"keepsake: nothing answers at {options.origin}: start it with make run")
    except httpx.HTTPStatusError as error:
        print(f"keepsake: {describe_refusal(options.origin, error)}")
    except SettingsError as error:
        print(f"keepsake: {error}")
    else:
        return 0
    return 1


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make sample", description=__doc__)
    parser.add_argument("--origin", default="http://127.0.0.1:8080")
    parser.add_argument("--uid", required=True, help="whose library it is added to")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--years", type=int, choices=(0, 1), default=0, help="a year besides")
    change.add_argument("--remove", action="store_true", help="take it away")
    return parser


async def _load(options: argparse.Namespace) -> str:
    async with sign_in(options.origin, options.uid) as client:
        query = {"years": options.years}
        answer = await client.post("/v1/sample-library", params=query, timeout=300)
        count = answer.raise_for_status().json()["conversations"]
    return f"{count} invented conversations are in the library of {options.uid}, and are being read"


async def _remove(options: argparse.Namespace) -> str:
    async with sign_in(options.origin, options.uid) as client:
        (await client.delete("/v1/sample-library", timeout=300)).raise_for_status()
    return f"the invented conversations of {options.uid} are gone"


if __name__ == "__main__":
    sys.exit(main())
