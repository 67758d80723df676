"""What happens when the platform takes the process away."""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType


def on_sigterm(action: Callable[[], None]) -> None:
    """Call `action` in this event loop on SIGTERM, and then whatever was called before.

    The servers install their handlers when they start, so this is for the first request: the
    framework passes no shutdown hook on. Outside the main thread nobody can be told.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    previous_handler = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(action)
        if callable(previous_handler):
            previous_handler(number, frame)

    signal.signal(signal.SIGTERM, handle)
