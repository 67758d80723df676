"""Clock of the store: the machine's, corrected by the times that the store's answers carry.

Also called: clock skew correction.
"""

from datetime import datetime, timedelta

from shared.ports import Clock


class StoreClock:
    """The time that all processes share, whatever the clocks of their machines say.

    The store's time lies between question and answer. This clock moves only as far as the last answer
    needs, so that it never leaves the clock of a machine that is right, and differs from the store's
    by no more than the answer took.
    """

    def __init__(self, machine_clock: Clock) -> None:
        self._machine_clock = machine_clock
        self._offset = timedelta()

    def now(self) -> datetime:
        return self.read_machine() + self._offset

    async def sleep(self, seconds: float) -> None:
        await self._machine_clock.sleep(seconds)

    def read_machine(self) -> datetime:
        """Return the machine's time, as observe() takes it."""
        return self._machine_clock.now()

    def observe(self, store_time: datetime, *, asked_at: datetime) -> None:
        """Learn from an answer that has just come to a question asked at `asked_at` of the machine."""
        least, most = store_time - self.read_machine(), store_time - asked_at
        self._offset = min(max(self._offset, least), most)
