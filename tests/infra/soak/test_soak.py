"""Soak: what people ask and record while processes die is kept once (D9)."""

from infra.soak.play import Plan, play_soak

PLAN = Plan(seconds=15, people=5, processes=2, kill_every_s=5, seed=9)


async def test_nothing_is_lost_or_doubled_while_processes_die_and_links_break_d9() -> None:
    outcome = await play_soak(PLAN)

    assert outcome.findings.lost == []
    assert outcome.findings.doubled == []
    assert outcome.findings.left_over == []
    assert outcome.waiting_count == 0
    assert outcome.errors == []
    assert outcome.changes.total() > 0
    assert outcome.kill_count > 0
    assert outcome.faults["messages that came again"] > 0
