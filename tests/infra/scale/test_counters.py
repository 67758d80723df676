"""Counters of the product: they are those of the committed file, within a quarter (D10)."""

from dataclasses import fields

from infra.scale.measure import measure
from infra.scale.work import Work, load_counters

DRIFT = 0.25
COUNTED = [each.name for each in fields(Work) if each.name not in ("cpu_s", "tokens")]
"""Not the CPU time, which is the machine's."""


async def test_the_product_asks_of_its_parts_what_the_model_of_growth_assumes_d10() -> None:
    known, now = load_counters(), await measure()

    drifted = [
        f"{kind}.{name}: {_list_amounts(getattr(known, kind)).get(name, 0.0):g} in counters.json, now {amount:g}"
        for kind in ("turn", "conversation", "notification", "library", "live")
        for name, amount in _list_amounts(getattr(now, kind)).items()
        if not _is_close(amount, _list_amounts(getattr(known, kind)).get(name, 0.0))
    ]
    assert drifted == [], "run `make scale`, and read what docs/scale.md says now"


def _list_amounts(work: Work) -> dict[str, float]:
    tokens = {
        f"{model} {name}": getattr(used, name)
        for model, used in work.tokens.items()
        for name in ("input", "cached", "cache_write", "output")
    }
    return {name: getattr(work, name) for name in COUNTED} | tokens


def _is_close(amount: float, known: float) -> bool:
    return abs(amount - known) <= DRIFT * max(known, 1.0)
