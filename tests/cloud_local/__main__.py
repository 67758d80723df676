"""`make cloud-local`: start the cloud on this machine, and say where it is; Ctrl-C stops it."""

import argparse
import shutil
import signal
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event

from infra.emulators.process import CannotRunError
from tests.cloud_local.cloud import run_cloud

DEFAULT_PORT = 8090


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Run every function in the cloud world, on this machine."
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument(
        "--churn", action="store_true", help="end and replace instances all the time"
    )
    options = parser.parse_args()
    if shutil.which("terraform") is None:
        sys.exit("keepsake: terraform is missing: it evaluates the settings of the functions.")
    churn = Random(1) if options.churn else None  # noqa: S311 - no secret
    started = time.monotonic()
    # A shell lets what it starts behind it ignore SIGINT, and SIGTERM would leave the functions running.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with TemporaryDirectory(prefix="keepsake-cloud-") as folder:
        try:
            with run_cloud(Path(folder), port=options.port, churn=churn) as cloud:
                token = cloud.sign_up("ann@example.com")
                sys.stdout.write(
                    f"{len(cloud.urls)} functions after {time.monotonic() - started:.0f} s, at {cloud.origin}; logs in {folder}\n"
                    f'curl -H "Authorization: Bearer {token}" {cloud.origin}/v1/conversations\n'
                )
                Event().wait()
        except KeyboardInterrupt:
            sys.stdout.write("stopped\n")
        except CannotRunError as error:
            sys.exit(f"keepsake: {error}")


if __name__ == "__main__":
    main()
