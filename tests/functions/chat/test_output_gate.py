"""Output gate: what may go out goes at once, and what waits goes when the gate opens."""

import anyio

from functions.chat.safety.output_gate import OutputGate


def test_an_open_gate_lets_a_burst_of_words_through_without_a_turn_of_the_loop() -> None:
    passing = OutputGate().wait_released()

    try:
        passing.send(None)
    except StopIteration:
        return
    passing.close()
    raise AssertionError("each word waited for the event loop")


async def test_a_gate_that_is_held_again_while_somebody_waits_keeps_them_waiting() -> None:
    gate, passed = OutputGate(is_stored=False, is_open=False), anyio.Event()

    async def wait() -> None:
        await gate.wait_released()
        passed.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        for change in (gate.mark_stored, gate.hold):
            change()
            await anyio.wait_all_tasks_blocked()
            assert not passed.is_set()
        gate.open()
    assert passed.is_set()
