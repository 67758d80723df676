"""Limits and prices of vendors, each with the page where it was read, or marked as an assumption.

Pages were read as stored copies, which tell no date of their own but where a comment gives it. The copies of the vendors'
own pages lack the prices of Firestore and Pinecone: those stand on other pages that copied them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

READ_ON = "2026-11-29"
ASSUMED = "assumption"
HOUR_S = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A number of a vendor, and the page that states it."""

    name: str
    amount: float
    unit: str
    source: str = ASSUMED


LIMITS: Mapping[str, Fact] = {
    "namespaces": Fact(
        name="Pinecone: namespaces in an index",
        amount=100_000,
        unit="users",
        source="https://docs.pinecone.io/reference/api/database-limits/object-limits",
    ),
    "fetches": Fact(
        name="Pinecone: fetches from an index",
        amount=100,
        unit="a second",
        source="https://docs.pinecone.io/legacy/limits",
    ),
    "query_units": Fact(
        name="Pinecone: read units of queries to an index",
        amount=2_000,
        unit="a second",
        source="https://docs.pinecone.io/legacy/limits",
    ),
    "dispatches": Fact(
        name="Cloud Tasks: dispatches of a queue",
        amount=500,
        unit="a second",
        source="https://cloud.google.com/php/docs/reference/cloud-tasks/1.14.4/V2.RateLimits",
    ),
    "vcpus": Fact(
        name="Cloud Run: vCPUs in a region",
        amount=1_000,
        unit="vCPU",
        source="https://cloud.google.com/run/docs/configuring/max-instances-limits",
    ),
    "gpt-6-sol": Fact(
        name="OpenAI: tokens of gpt-6-sol, tier 5", amount=40_000_000, unit="a minute"
    ),
    "gpt-6-luna": Fact(
        name="OpenAI: tokens of gpt-6-luna, tier 5", amount=40_000_000, unit="a minute"
    ),
    "embeddings": Fact(
        name="OpenAI: tokens of text-embedding-3-large, tier 5", amount=10_000_000, unit="a minute"
    ),
    "firestore_writes": Fact(
        name="Firestore: writes to a database", amount=10_000, unit="a second"
    ),
    "app_calls": Fact(
        name="Firestore: calls logged of one app",
        amount=500,
        unit="a second",
        source="https://firebase.google.com/docs/firestore/solutions/shard-timestamp",
    ),
    "due_writes": Fact(
        name="Firestore: writes to a range of what is due",
        amount=500,
        unit="a second",
        source="https://firebase.google.com/docs/firestore/solutions/shard-timestamp",
    ),
    "addresses": Fact(
        name="Addresses of the subnet", amount=1, unit="of those that Terraform reserves"
    ),
    "vpc_instances": Fact(
        name="Cloud Run: instances of a revision in a network",
        amount=100,
        unit="instances",
        source="https://docs.cloud.google.com/run/quotas",
    ),
    "live_minutes": Fact(
        name="OpenAI: minutes heard live, plan Launch",
        amount=1_000,
        unit="a minute",
        # The copy is of 2026-11-19; that of OpenAI's own page ends before its limits.
        source="https://www.w3cschool.cn/openai_api/openai_api-models-gpt-realtime-whisper.html",
    ),
    "search": Fact(
        name="Hourly search for lost events",
        amount=HOUR_S,
        unit="seconds that pages of users may take",
    ),
}
CONTRACTS: Mapping[str, tuple[float, str]] = {
    "namespaces": (
        10_000_000,
        "PINECONE_SPARSE_HOSTS, PINECONE_DENSE_HOSTS: an index pair for each 100,000 users",
    ),
    "fetches": (2_000, "Pinecone support: higher rate limits"),
    "query_units": (20_000, "Pinecone support: higher rate limits"),
    "vcpus": (20_000, "Google Cloud: a higher quota"),
    "gpt-6-sol": (2_000_000_000, "OpenAI: a contract for throughput"),
    "gpt-6-luna": (2_000_000_000, "OpenAI: a contract for throughput"),
    "embeddings": (500_000_000, "OpenAI: a contract for throughput"),
    "vpc_instances": (1_000, "Google Cloud: a higher quota"),
    "live_minutes": (1_000_000, "OpenAI: a contract for throughput"),
    "firestore_writes": (
        1_000_000,
        "Google Cloud support, ramped by 50 % in 5 minutes",
    ),
}
"""What has to be agreed with a vendor for 10 million users; the amounts are what would be asked for."""

PRICES: Mapping[str, Fact] = {
    "reads": Fact(
        name="Firestore, multi-region: 100,000 reads",
        amount=0.06,
        unit="$",
        source="https://github.com/ccckmit/misavo/wiki/Firebase",
    ),
    "writes": Fact(
        name="Firestore, multi-region: 100,000 writes",
        amount=0.18,
        unit="$",
        source="https://github.com/ccckmit/misavo/wiki/Firebase",
    ),
    "deletes": Fact(
        name="Firestore, multi-region: 100,000 deletes",
        amount=0.02,
        unit="$",
        source="https://github.com/ccckmit/misavo/wiki/Firebase",
    ),
    "stored_gib": Fact(
        name="Firestore, multi-region: a GiB and month",
        amount=0.18,
        unit="$",
        source="https://github.com/ccckmit/misavo/wiki/Firebase",
    ),
    "index_overhead": Fact(
        name="Firestore: stored bytes with indexes, to those of fields", amount=2, unit="×"
    ),
    "read_units": Fact(
        name="Pinecone Standard: a million read units",
        amount=16,
        unit="$",
        source="https://docs.flexprice.io/cookbooks/pricing-teardowns/pinecone-pricing",
    ),
    "write_units": Fact(
        name="Pinecone Standard: a million write units",
        amount=4,
        unit="$",
        source="https://docs.flexprice.io/cookbooks/pricing-teardowns/pinecone-pricing",
    ),
    "vector_gb": Fact(
        name="Pinecone Standard: a GB and month",
        amount=0.33,
        unit="$",
        source="https://docs.flexprice.io/cookbooks/pricing-teardowns/pinecone-pricing",
    ),
    "pinecone_minimum": Fact(
        name="Pinecone Standard: a month at least",
        amount=50,
        unit="$",
        source="https://docs.pinecone.io/guides/manage-cost",
    ),
    "write_unit_kb": Fact(name="Pinecone: KB written by a write unit", amount=1, unit="KB"),
    "query_unit_gb": Fact(
        name="Pinecone: GB of a namespace that a read unit queries", amount=1, unit="GB"
    ),
    "query_minimum": Fact(
        name="Pinecone: read units of a query, at least", amount=0.25, unit="units"
    ),
    "fetched_rows": Fact(
        name="Pinecone: rows that a read unit fetches",
        amount=10,
        unit="rows",
        source="https://pinecone.io/learn/read-units/",
    ),
    "vcpu_s": Fact(
        name="Cloud Run, by instance: a vCPU and second",
        amount=0.000018,
        unit="$",
        source="https://cloud.google.com/run/pricing",
    ),
    "gib_s": Fact(name="Cloud Run, by instance: a GiB and second", amount=0.000002, unit="$"),
    "busy_vcpu_s": Fact(
        name="Cloud Run, by request: a vCPU and second",
        amount=0.000024,
        unit="$",
        source="https://cloud.google.com/run/pricing",
    ),
    "busy_gib_s": Fact(
        name="Cloud Run, by request: a GiB and second",
        amount=0.0000025,
        unit="$",
        source="https://cloudwebschool.com/tools/cloud-run-cost-calculator/",
    ),
    "requests": Fact(
        name="Cloud Run, by request: a million requests",
        amount=0.40,
        unit="$",
        source="https://cloudwebschool.com/tools/cloud-run-cost-calculator/",
    ),
    "operations": Fact(
        name="Cloud Tasks: a million operations, two a task",
        amount=0.40,
        unit="$",
        source="https://cloud.google.com/tasks/pricing",
    ),
    "messages_tib": Fact(
        name="Pub/Sub: a TiB, at least 1 KB a message published and delivered",
        amount=40,
        unit="$",
        source="https://cloud.google.com/pubsub/pricing",
    ),
    "egress_gb": Fact(
        name="Traffic to the internet: a GB",
        amount=0.12,
        unit="$",
        source="https://cloud.google.com/storage/pricing-examples",
    ),
    "logs_gib": Fact(
        name="Cloud Logging: a GiB",
        amount=0.50,
        unit="$",
        source="https://cloud.google.com/stackdriver/pricing",
    ),
    "live_minute": Fact(
        name="gpt-realtime-whisper: a minute heard live",
        amount=0.017,
        unit="$",
        source="https://developers.openai.com/api/docs/models/gpt-realtime-whisper",
    ),
    "sound_gb": Fact(
        name="Cloud Storage, standard: a GB and month",
        amount=0.020,
        unit="$",
        source="https://cloud.google.com/storage/pricing-examples",
    ),
    "written_blobs": Fact(
        name="Cloud Storage: a million operations of class A",
        amount=5.0,
        unit="$",
        source="https://cloud.google.com/storage/pricing-examples",
    ),
    "embeddings": Fact(
        name="text-embedding-3-large: a million tokens",
        amount=0.13,
        unit="$",
        source="https://developers.openai.com/api/docs/models/text-embedding-3-large",
    ),
}

SIGN_IN_TIERS: Sequence[tuple[int, float]] = (
    (50_000, 0.0055),
    (100_000, 0.0046),
    (1_000_000, 0.0032),
    (10_000_000, 0.0025),
)
"""Identity Platform by e-mail or Google: US dollars a month of each user beyond so many, until the next row begins.

https://cloud.google.com/identity-platform/pricing
"""
