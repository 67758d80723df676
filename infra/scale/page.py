"""Page of growth: docs/scale.md and its plot, written from the model alone."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields

from infra.scale.deployment import load_deployment
from infra.scale.model import Break, Scale
from infra.scale.usage import USAGE
from infra.scale.vendors import LIMITS, READ_ON
from infra.scale.work import Counters, Work
from shared.adapters.firestore_indexes import DUE_SHARDS
from shared.domain.models.rate_budget import POOL_SHARDS

SIZES = (1, 10_000, 100_000, 1_000_000, 10_000_000)
TARGET_USERS = 10_000_000
SCALE_FILE = "scale.tfvars"
_WIDTH, _LEFT, _ROW = 760, 300, 18
_DECADES = 9


def build_scales(counters: Counters) -> tuple[Scale, Scale]:
    """Return the model as it is deployed, and with everything that scale.tfvars and CONTRACTS move."""
    return (
        Scale(counters=counters, deployment=load_deployment()),
        Scale(counters=counters, deployment=load_deployment(SCALE_FILE), has_contracts=True),
    )


def render_page(counters: Counters) -> str:
    today, scaled = build_scales(counters)
    sections = (
        _render_usage(counters),
        _render_money(today, scaled),
        _render_breaks(today, scaled),
        _render_rates(scaled),
        _render_work(counters),
    )
    return "\n".join(sections)


def _render_usage(counters: Counters) -> str:
    minutes = USAGE.conversations_a_day * counters.words / USAGE.words_a_minute
    return f"""# Growth

Written by `make scale` from `infra/scale/`: counters of the embedded product, assumptions about users (`infra/scale/usage.py`),
limits and list prices of vendors as read on {READ_ON} or before, with their sources (`infra/scale/vendors.py`). Nothing of it was measured in a cloud.

A user asks {USAGE.turns_a_day:g} questions a day, records {USAGE.conversations_a_day:g} conversations, which is {minutes:.0f} minutes of speech, is heard live for {USAGE.live_minutes_a_day:g}, each fourth turn long, gets {USAGE.notifications_a_day:g}
notifications and asks {USAGE.library_requests_a_day:g} times for lists. One in {1 / USAGE.sound_kept:g} keeps sound. At the peak everything comes {USAGE.peak_factor:g} times as often. A library
holds {USAGE.months_stored:g} months. Of ten questions {USAGE.searching_of_ten_turns} search, the others are answered by what is known; the provider's cache still holds beginnings of prompts for half an hour; both indexes of Pinecone are in use.
"""


def _render_money(today: Scale, scaled: Scale) -> str:
    return f"""## Money

US dollars a month by list prices, without discounts and free tiers but that of sign-in. Left out are transcription of files, speech
with a model, stored files, backups, and the load balancer.

{_table(("users", *(f"{size:,}" for size in SIZES)), _list_cost_rows(scaled))}

Another embedder reads all again: ${scaled.compute_anew(1)[0]:.2f} a user; a million users take {today.compute_anew(1_000_000)[1]:.0f} days within today's limit of tokens. The
cloud runs no [encoder](retrieval.md#what-the-encoder-costs).
"""


def _render_breaks(today: Scale, scaled: Scale) -> str:
    return f"""## What breaks first

How many users meet a limit at their peak as the repository deploys it, and with both
[scale.tfvars](../infra/terraform/services/scale.tfvars) and the contracts that `infra/scale/vendors.py` lists:

{_table(("limit", "users", "with both", "moved by"), _list_break_rows(today, scaled))}

![Users that meet each limit, on a logarithmic scale: grey as deployed, blue with scale.tfvars and contracts](scale.svg)

{_describe_left(scaled)}
"""


def _render_rates(scaled: Scale) -> str:
    return f"""## Rates at the peak, a second

Of a million users; they grow in proportion.

{_list(_list_rates(scaled))}

Firestore sustains about one write a second on a document. What is written often belongs to one user: the day of usage, whose
quota a burst reserves for many turns at once, the chat and the run. Users share:

- the log of calls of an app: 500 a second, if all called one
- the index of what is due, in {DUE_SHARDS} ranges of 500 a second
- {POOL_SHARDS} documents that lease tokens: however many instances ask, each is written once a second, after a burst of 24
- the search for lost events, page after page: {_find(scaled, "search").users:,.0f} users an hour; with more it takes longer
"""


def _render_work(counters: Counters) -> str:
    return f"""## What work costs the parts

Measured on the embedded product by `make scale`; a test measures again and fails where a counter has moved by a quarter.

{_table(("", "turn", "conversation", "notification", "request", "live minute"), _list_work_rows(counters))}
"""


def render_plot(counters: Counters) -> str:
    """Draw the users that meet each limit, from 10 to ten billion."""
    today, scaled = build_scales(counters)
    later = {each.name: each.users for each in scaled.list_breaks()}
    rows = [_draw_row(n, each, later[each.name]) for n, each in enumerate(today.list_breaks())]
    height = _ROW * len(rows) + 40
    target = _place(TARGET_USERS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="sans-serif" font-size="10">{"".join(rows)}'
        f'<line x1="{target:.0f}" x2="{target:.0f}" y1="0" y2="{height - 24}" stroke="#c53030"/>'
        f'<text x="{target:.0f}" y="{height - 10}" text-anchor="middle">10 million users</text></svg>\n'
    )


def _draw_row(number: int, now: Break, later: float) -> str:
    y = number * _ROW
    bars = "".join(
        f'<rect x="{_LEFT}" y="{y + top}" width="{_place(users) - _LEFT:.0f}" height="6" fill="{colour}"/>'
        for users, top, colour in ((now.users, 2, "#b0b0b0"), (later, 8, "#2b6cb0"))
    )
    return f'<text x="{_LEFT - 6}" y="{y + 12}" text-anchor="end">{now.name}</text>{bars}'


def _place(users: float) -> float:
    return _LEFT + (math.log10(users) - 1) / _DECADES * (_WIDTH - _LEFT)


def _list_cost_rows(scale: Scale) -> Iterable[Sequence[str]]:
    parts = [scale.compute_cost(size) for size in SIZES]
    models = [scale.compute_model_cost(size) for size in SIZES]
    sums = [sum(each.values()) for each in parts]
    for part in parts[0]:
        yield (part, *(_dollars(each[part]) for each in parts))
    yield ("**outside the model**", *map(_dollars, sums))
    per_user = (amount / size for amount, size in zip(sums, SIZES, strict=True))
    yield ("… a user", *(f"${amount:,.3f}" for amount in per_user))
    for model in models[0]:
        yield (f"`{model}`", *(_dollars(each[model]) for each in models))
    yield ("**the models**", *(_dollars(sum(each.values())) for each in models))
    yield (
        "… a user",
        *(f"${sum(m.values()) / n:,.3f}" for m, n in zip(models, SIZES, strict=True)),
    )


def _list_break_rows(today: Scale, scaled: Scale) -> Iterable[Sequence[str]]:
    later = {each.name: each.users for each in scaled.list_breaks()}
    for each in today.list_breaks():
        if each.users < TARGET_USERS:
            yield each.name, f"{each.users:,.0f}", f"{later[each.name]:,.0f}", each.moved_by


def _describe_left(scaled: Scale) -> str:
    left = [each for each in scaled.list_breaks() if each.users < TARGET_USERS]
    if not left:
        return "With both, none is left below ten million users."
    names = "; ".join(f"{each.name} ({each.users:,.0f} users)" for each in left)
    return f"**Left below ten million users, and moved by nobody:** {names}."


def _list_rates(scale: Scale) -> Iterable[str]:
    for name, rate in scale.compute_peak_rates(1_000_000).items():
        yield f"{name}: {rate:,.4g}"


def _list_work_rows(counters: Counters) -> Iterable[Sequence[str]]:
    works = (
        counters.turn,
        counters.conversation,
        counters.notification,
        counters.library,
        counters.live,
    )
    for each in fields(Work):
        if each.name != "tokens":
            yield (f"`{each.name}`", *(_describe_count(work, each.name) for work in works))
    for model in sorted({model for work in works for model in work.tokens}):
        yield (
            f"tokens read, of them from the cache, and written: `{model}`",
            *(_describe_tokens(work, model) for work in works),
        )


def _describe_count(work: Work, name: str) -> str:
    count = getattr(work, name)
    return f"{count:,.4g}" if count else ""


def _describe_tokens(work: Work, model: str) -> str:
    tokens = work.tokens.get(model)
    return f"{tokens.input:,.0f}, {tokens.cached:,.0f}, {tokens.output:,.0f}" if tokens else ""


def _find(scale: Scale, limit: str) -> Break:
    return next(each for each in scale.list_breaks() if each.name == LIMITS[limit].name)


def _dollars(amount: float) -> str:
    return f"${amount:,.0f}" if amount >= 10 else f"${amount:,.2f}"


def _list(entries: Iterable[str]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
