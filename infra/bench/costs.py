"""Costs: what the models of turns and conversations cost by list prices."""

from infra.bench.figures import Figure
from infra.scale.measure import measure
from infra.scale.model import compute_token_costs
from infra.scale.usage import USAGE
from shared.domain.models.usage_cost import FLEX_SHARE


async def measure_costs() -> list[Figure]:
    """Count tokens as docs/scale.md does; real answers and conversations differ in length."""
    counters = await measure()
    length = f"of {counters.words:.0f} words"
    return [
        Figure(
            f"models of 1,000 {name}", 1_000 * sum(compute_token_costs(work).values()) * share, "$"
        )
        for name, work, share in (
            (f"turns, of which {USAGE.searching_of_ten_turns} in ten search", counters.turn, 1),
            (f"conversations {length}", counters.conversation, 1),
            (f"conversations {length}, imported", counters.conversation, FLEX_SHARE),
        )
    ]
