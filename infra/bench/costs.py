"""Costs: what the models of turns and conversations cost by list prices."""

from infra.bench.figures import Figure
from infra.scale.measure import measure
from infra.scale.model import compute_token_costs


async def measure_costs() -> list[Figure]:
    """Count tokens as docs/scale.md does; real answers and conversations differ in length."""
    counters = await measure()
    return [
        Figure(f"models of 1,000 {name}", 1_000 * sum(compute_token_costs(work).values()), "$")
        for name, work in (
            ("turns that search once", counters.turn),
            (f"conversations of {counters.words:.0f} words", counters.conversation),
        )
    ]
