"""Model of growth: what any number of users ask of each part, when a limit is met, and what it costs."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from functions.process_conversation.upkeep.missed_events import RECENT, USERS_A_TASK
from infra.scale.deployment import Deployment, Size
from infra.scale.usage import DAY_S, MONTH_DAYS, USAGE, Usage
from infra.scale.vendors import CONTRACTS, LIMITS, PRICES, SIGN_IN_TIERS
from infra.scale.work import Counters, Work
from shared.adapters.firestore_indexes import DUE_SHARDS
from shared.domain.models.token_prices import DEFAULT_TOKEN_PRICES
from shared.domain.models.usage_cost import compute_cost
from shared.environment.model_readers import SHORTENED_DIMENSIONS

DENSE_ROW_BYTES = 4 * SHORTENED_DIMENSIONS
TURNS_PER_WINDOW = 4
"""In the measured conversation, whose turns have some 150 characters."""
FETCHED_IDS = 50
"""Ids of one request of the adapter."""
ADDRESSES_AN_INSTANCE = 4
"""Two, and two of the instance that replaces it: https://docs.cloud.google.com/run/docs/configuring/vpc-direct-vpc."""
MINUTE_S = 60
LIVE_MODEL = "gpt-realtime-whisper"
STREAMING = frozenset({"chat", "listen"})
"""Functions whose instances are paid for as long as they are there."""
NOTHING = "nothing yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A limit: how many users meet it at their peak, and the setting or contract that moves it."""

    name: str
    users: float
    moved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The model; `has_contracts` says whether the vendors have agreed to what CONTRACTS lists."""

    counters: Counters
    deployment: Deployment
    has_contracts: bool = False
    usage: Usage = USAGE

    def compute_peak_rates(self, users: float) -> dict[str, float]:
        """Return what comes in a second of the peak, by name."""
        usage = self.usage
        works = [(users * self._to_peak(a_day), work) for work, a_day in self._works]

        def add(counter: str) -> float:
            return sum(rate * float(getattr(work, counter)) for rate, work in works)

        return {
            "turns": users * self._to_peak(usage.turns_a_day),
            "conversations": users * self._to_peak(usage.conversations_a_day),
            "notifications": users * self._to_peak(usage.notifications_a_day),
            "requests of the library": users * self._to_peak(usage.library_requests_a_day),
            "documents read": add("reads"),
            "documents written": add("writes"),
            "tasks": add("tasks"),
            "events and triggers": add("deliveries"),
            "rows written to an index": add("vector_rows"),
        }

    def list_breaks(self) -> list[Break]:
        """Return every limit, the first one first."""
        breaks = [*self._list_vendor_breaks(), *self._list_function_breaks()]
        return sorted(breaks, key=lambda each: each.users)

    def compute_instances(self, users: float) -> dict[str, float]:
        """Return how many instances each function needs at the peak."""
        return {
            function: users * load / (self.usage.instance_load * size.concurrency)
            for function, load, size in self._list_function_loads()
        }

    def compute_model_cost(self, users: float) -> dict[str, float]:
        """Return US dollars a month, by model."""
        costs: dict[str, float] = {}
        for work, a_day in self._works:
            for model, cost in compute_token_costs(work).items():
                costs[model] = costs.get(model, 0.0) + users * a_day * MONTH_DAYS * cost
        live_minutes = users * self.usage.live_minutes_a_day * MONTH_DAYS
        return {**costs, LIVE_MODEL: live_minutes * _price("live_minute")}

    def compute_anew(self, users: float) -> tuple[float, float]:
        """Return what it costs to embed all libraries anew, in US dollars, and the days that the limit of tokens asks."""
        conversations = self.usage.conversations_a_day * MONTH_DAYS * self.usage.months_stored
        tokens = users * conversations * self.counters.conversation.embedded_tokens
        minutes = tokens / self._get_limit("embeddings")
        return tokens / 1e6 * _price("embeddings"), minutes * MINUTE_S / DAY_S

    def compute_cost(self, users: float) -> dict[str, float]:
        """Return US dollars a month by part, beside the models; embeddings are a part."""
        return {
            "Firestore": users * self._firestore_cost,
            "Pinecone": max(users * self._pinecone_cost, PRICES["pinecone_minimum"].amount),
            "Cloud Run": users * self._run_cost + self._warm_cost,
            "Cloud Tasks and Pub/Sub": users * self._messaging_cost,
            "embeddings": users * self._sum_month("embedded_tokens") / 1e6 * _price("embeddings"),
            "traffic and logs": users * self._traffic_cost,
            "Identity Platform": _compute_sign_in_cost(users),
            "kept sound": users * self._sound_gb * _price("sound_gb"),
            "waiting sound": users * self._sum_month("blobs") / 1e6 * _price("written_blobs"),
        }

    @property
    def _works(self) -> list[tuple[Work, float]]:
        return [
            (self.counters.turn, self.usage.turns_a_day),
            (self.counters.conversation, self.usage.conversations_a_day),
            (self.counters.notification, self.usage.notifications_a_day),
            (self.counters.library, self.usage.library_requests_a_day),
            (self.counters.live, self.usage.live_minutes_a_day),
        ]

    def _sum_month(self, counter: str) -> float:
        """Return what a user causes in a month."""
        return MONTH_DAYS * sum(
            float(getattr(work, counter)) * a_day for work, a_day in self._works
        )

    def _to_peak(self, a_day: float) -> float:
        return a_day * self.usage.peak_factor / DAY_S

    def _get_limit(self, name: str) -> float:
        return (
            CONTRACTS[name][0] if self.has_contracts and name in CONTRACTS else LIMITS[name].amount
        )

    def _list_vendor_breaks(self) -> Iterator[Break]:
        for name, load in self._vendor_loads.items():
            queues = self.deployment.task_queues if name == "dispatches" else 1
            yield Break(
                name=LIMITS[name].name,
                users=queues * self._get_limit(name) / load,
                moved_by=CONTRACTS[name][1] if name in CONTRACTS else _MOVED_BY_SETTING[name],
            )

    @property
    def _vendor_loads(self) -> Mapping[str, float]:
        """What one user asks at the peak, by limit."""
        one, usage = self.compute_peak_rates(1), self.usage
        conversation = self.counters.conversation
        instances = self.compute_instances(1)
        callers = [instances[name] for name in self.deployment.direct_callers & instances.keys()]
        return {
            "namespaces": 1,
            "fetches": one["conversations"] * -(-_count_dense_rows(conversation) // FETCHED_IDS),
            "query_units": one["turns"] * self._query_units,
            "dispatches": one["tasks"],
            "vcpus": sum(instances.values()),
            "vpc_instances": max(callers),
            "addresses": ADDRESSES_AN_INSTANCE * sum(callers) / self.deployment.addresses,
            "firestore_writes": one["documents written"],
            "app_calls": one["turns"] / usage.turns_a_tool_call,
            "due_writes": self._due_writes / DUE_SHARDS,
            "search": usage.search_page_s / USERS_A_TASK,
            "live_minutes": MINUTE_S * self._to_peak(usage.live_minutes_a_day),
            "embeddings": MINUTE_S * one["conversations"] * conversation.embedded_tokens,
            **self._model_loads,
        }

    @property
    def _due_writes(self) -> float:
        """What changes in a second when a user's work is due, in the busier of two indexes."""
        usage = self.usage
        return max(
            self._to_peak(usage.turns_a_day) * usage.due_writes_a_turn,
            self._to_peak(usage.conversations_a_day) * usage.due_writes_a_conversation,
        )

    @property
    def _model_loads(self) -> dict[str, float]:
        loads: dict[str, float] = {}
        for work, a_day in self._works:
            for model, tokens in work.tokens.items():
                load = MINUTE_S * self._to_peak(a_day) * (tokens.input + tokens.output)
                loads[model] = loads.get(model, 0.0) + load
        return loads

    def _list_function_breaks(self) -> Iterator[Break]:
        for function, load, size in self._list_function_loads():
            capacity = size.max_instances * size.concurrency * self.usage.instance_load
            yield Break(
                name=f"Cloud Run: instances of {function}",
                users=capacity / load,
                moved_by="its `max_instances`",
            )

    def _list_function_loads(self) -> Iterator[tuple[str, float, Size]]:
        """Yield how many requests one user has open at the peak, by function.

        Where the CPU of a request fills more of an instance than its place does, that counts.
        """
        usage = self.usage
        turns, conversations, notifications, requests = map(
            self._to_peak,
            (
                usage.turns_a_day,
                usage.conversations_a_day,
                usage.notifications_a_day,
                usage.library_requests_a_day,
            ),
        )
        held: list[tuple[str, float, float, float]] = [
            ("chat", turns, usage.turn_s, self.counters.turn.cpu_s),
            ("after_turn", turns, usage.after_turn_s, 0),
            ("close_run", turns, usage.request_s, 0),
            ("tool_proxy", turns / usage.turns_a_tool_call, usage.tool_call_s, 0),
            ("library", requests, usage.request_s, self.counters.library.cpu_s),
            ("listen", self._to_peak(usage.live_minutes_a_day), MINUTE_S, 0),
            ("on_conversation_written", 2 * conversations, usage.request_s, 0),
            (
                "process_conversation",
                conversations,
                usage.processing_s,
                self.counters.conversation.cpu_s,
            ),
            ("on_conversation_processed", conversations, usage.request_s, 0),
            ("notifications", notifications, usage.request_s, self.counters.notification.cpu_s),
            ("deliver_notification", notifications, usage.delivery_s, 0),
        ]
        for function, rate, seconds, cpu_s in held:
            size = self.deployment.get_size(function)
            yield function, rate * max(seconds, cpu_s * size.concurrency), size

    @property
    def _namespace_gb(self) -> float:
        """How large the two indexes of a user are in all."""
        conversation = self.counters.conversation
        conversations = self.usage.conversations_a_day * MONTH_DAYS * self.usage.months_stored
        return conversations * _count_vector_bytes(conversation) / 1e9

    @property
    def _query_units(self) -> float:
        """Read units of one query of one index."""
        size = self._namespace_gb / PRICES["query_unit_gb"].amount
        return max(size, PRICES["query_minimum"].amount)

    @property
    def _pinecone_cost(self) -> float:
        usage, conversation = self.usage, self.counters.conversation
        queries = 2 * usage.turns_a_day * MONTH_DAYS * self._query_units
        fetched = self._sum_month("vector_rows") / PRICES["fetched_rows"].amount
        written_kb = (
            usage.conversations_a_day * MONTH_DAYS * _count_vector_bytes(conversation) / 1e3
        )
        return (
            (queries + 2 * fetched) / 1e6 * _price("read_units")
            + written_kb / PRICES["write_unit_kb"].amount / 1e6 * _price("write_units")
            + self._namespace_gb * _price("vector_gb")
        )

    @property
    def _firestore_cost(self) -> float:
        """As if every document that is written were deleted some day, and none were rewritten."""
        stored = self._sum_month("stored_bytes") * self.usage.months_stored
        return (
            (self._sum_month("reads") + self._searched_documents) / 1e5 * _price("reads")
            + self._sum_month("writes") / 1e5 * (_price("writes") + _price("deletes"))
            + stored * PRICES["index_overhead"].amount / 2**30 * _price("stored_gib")
        )

    @property
    def _searched_documents(self) -> float:
        """What the search of each hour reads in a month: a user, what began lately, and an empty answer for what was written."""
        recent = self.usage.conversations_a_day * RECENT.total_seconds() / DAY_S
        return MONTH_DAYS * 24 * (2 + max(1, recent))

    @property
    def _sound_gb(self) -> float:
        usage = self.usage
        minutes = usage.live_minutes_a_day * MONTH_DAYS * usage.months_stored
        return usage.sound_kept * minutes * usage.sound_kb_a_minute / 1e6

    @property
    def _run_cost(self) -> float:
        """What instances cost in a month of average load: STREAMING ones always, others while busy."""
        seconds = MONTH_DAYS * DAY_S / self.usage.peak_factor
        cost = self._sum_month("requests") / 1e6 * _price("requests")
        for function, load, size in self._list_function_loads():
            busy_s = seconds * load / (size.concurrency * self.usage.instance_load)
            billing = (
                ("vcpu_s", "gib_s") if function in STREAMING else ("busy_vcpu_s", "busy_gib_s")
            )
            cost += busy_s * (_price(billing[0]) + size.memory_gib * _price(billing[1]))
        return cost

    @property
    def _warm_cost(self) -> float:
        """What the instances cost that wait for the first request."""
        return sum(
            size.min_instances
            * (MONTH_DAYS * DAY_S)
            * (_price("vcpu_s") + size.memory_gib * _price("gib_s"))
            for size in self.deployment.sizes.values()
        )

    @property
    def _messaging_cost(self) -> float:
        operations = 2 * self._sum_month("tasks")
        message_bytes = 2 * 1_000 * self._sum_month("deliveries")
        return operations / 1e6 * _price("operations") + message_bytes / 2**40 * _price(
            "messages_tib"
        )

    @property
    def _traffic_cost(self) -> float:
        traffic_gb = self.usage.turns_a_day * MONTH_DAYS * self.usage.turn_traffic_kb / 1e6
        logged_gib = self._sum_month("requests") * self.usage.log_line_kb * 1_000 / 2**30
        return traffic_gb * _price("egress_gb") + logged_gib * _price("logs_gib")


_MOVED_BY_SETTING = {
    "dispatches": "`task_queues`",
    "app_calls": NOTHING,
    "due_writes": "`DUE_SHARDS`, in the code",
    "addresses": "`subnet`",
    "search": NOTHING,
}


def compute_token_costs(work: Work) -> dict[str, float]:
    """Return US dollars of one piece of work, by model."""
    return {
        model: compute_cost(DEFAULT_TOKEN_PRICES[model], tokens.to_usage()) / 1e6
        for model, tokens in work.tokens.items()
    }


def _compute_sign_in_cost(users: float) -> float:
    """Return US dollars a month, as if everybody signed in each month."""
    firsts = [first for first, _ in SIGN_IN_TIERS]
    nexts = [*firsts[1:], math.inf]
    return sum(
        max(0.0, min(users, following) - first) * price
        for (first, price), following in zip(SIGN_IN_TIERS, nexts, strict=True)
    )


def _price(name: str) -> float:
    return PRICES[name].amount


def _count_vector_bytes(work: Work) -> float:
    """Count the sparse rows with their metadata, and the dense rows with theirs."""
    dense_rows = _count_dense_rows(work)
    return work.vector_bytes * (1 + dense_rows / work.vector_rows) + dense_rows * DENSE_ROW_BYTES


def _count_dense_rows(conversation: Work) -> float:
    """Count the summary, and one for each window of turns."""
    return 1 + (conversation.vector_rows - 1) / TURNS_PER_WINDOW
