"""Guard of the model server: a process that ends it with whoever started it, however that ended.

Its standard input is a pipe which the starter holds open, and which the system closes even after a kill.
"""

import os
import signal
import subprocess
import sys
import threading

STOP_TIMEOUT_S = 5


def main(command: list[str]) -> int:
    """Run a command until it or the input ends. Returns its exit code; 128 and more: a signal ended it."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    threading.Thread(target=_end_with_input, args=(process,), daemon=True).start()
    code = process.wait()
    return code if code >= 0 else 128 - code


def _end_with_input(process: "subprocess.Popen[bytes]") -> None:
    while os.read(sys.stdin.fileno(), 1):  # a buffered read would abort this process as it ends
        pass
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
