"""Graceful shutdown: an action on SIGTERM, before the platform ends the process."""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType


def on_sigterm(action: Callable[[], None]) -> None:
    """Call `action` in this event loop on SIGTERM, then the handler that was installed before.

    Call it with the first request: the servers install their handlers when they start, and the
    framework offers no shutdown hook. Outside the main thread it does nothing.
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
