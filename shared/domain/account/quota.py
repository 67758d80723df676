"""Quotas: how much a user may use in a day of UTC, and what counts as used.

Also called: daily limit.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, get_args

from shared.domain.amounts import describe_bytes, describe_seconds
from shared.domain.errors import QuotaExceeded
from shared.domain.quota_day import find_day_end

DailyQuota = Literal[
    "turns",
    "tokens",
    "reading_tokens",
    "ingested_bytes",
    "sound_bytes",
    "recorded_seconds",
    "file_seconds",
    "outbound_calls",
    "live_calls",
    "followers",
    "renewals",
]
"""`tokens` are those of the models that answer, `reading_tokens` what models read of conversations; `followers`
are connections that follow an answer, `renewals` conversations that are read again after somebody got another name, `recorded_seconds` those of
sound that devices send, live or in files, `live_calls` send live words or sound to apps or an owner's server, `file_seconds` those of a processor that parses files."""
QuotaName = DailyQuota | Literal["stored_bytes", "quota_answers"]
"""`quota_answers` are refusals that are stored in a chat: they cost writes as well."""
DAILY_QUOTAS: tuple[DailyQuota, ...] = get_args(DailyQuota)

EMBEDDED_LIMITS: Mapping[QuotaName, int] = {
    "turns": 20_000,
    "tokens": 2_000_000_000,
    "reading_tokens": 2_000_000_000,
    "ingested_bytes": 2_147_483_648,
    "sound_bytes": 21_474_836_480,
    "recorded_seconds": 345_600,
    "file_seconds": 86_400,
    "outbound_calls": 50_000,
    "live_calls": 200_000,
    "followers": 50_000,
    "renewals": 2_000,
    "stored_bytes": 107_374_182_400,
}
CLOUD_LIMITS: Mapping[QuotaName, int] = {
    "turns": 500,
    "tokens": 10_000_000,
    "reading_tokens": 10_000_000,
    "ingested_bytes": 209_715_200,
    "sound_bytes": 1_073_741_824,
    "recorded_seconds": 57_600,
    "file_seconds": 1_200,
    "outbound_calls": 1_000,
    "live_calls": 20_000,
    "followers": 2_000,
    "renewals": 200,
    "stored_bytes": 5_368_709_120,
}

MAX_QUOTA_ANSWERS = 100
"""Stored a day and user, whatever the settings; further ones are only shown."""
STORAGE_RETRY_AFTER_S = 3_600
NOUNS: Mapping[QuotaName, str] = {
    "quota_answers": "answers about quotas",
    "turns": "questions",
    "tokens": "tokens of the language model",
    "reading_tokens": "tokens of recordings to be read",
    "ingested_bytes": "of new recordings",
    "sound_bytes": "of sound to be transcribed",
    "recorded_seconds": "of sound recorded by devices",
    "file_seconds": "of reading files",
    "outbound_calls": "calls to apps and services",
    "live_calls": "calls that send live words or sound",
    "followers": "connections that follow answers",
    "renewals": "conversations to be read again",
}
"""What follows a limit."""


def describe_limit(quota: QuotaName, limit: int) -> str:
    if quota.endswith("_bytes"):
        return describe_bytes(limit)
    return describe_seconds(limit) if quota.endswith("_seconds") else f"{limit:,}"


def build_refusal(quota: QuotaName, limit: int, now: datetime) -> QuotaExceeded:
    """Say which quota is used up and when it begins anew."""
    if quota == "stored_bytes":
        return QuotaExceeded(
            f"Your recordings take up all of their {describe_limit(quota, limit)}. "
            "It continues once you delete some, or let old transcripts be deleted.",
            policy="stored-bytes",
            limit=limit,
            retry_after_s=STORAGE_RETRY_AFTER_S,
        )
    resets_at = find_day_end(now)
    return QuotaExceeded(
        f"You used up today's {describe_limit(quota, limit)} {NOUNS[quota]}. It continues at {resets_at:%H:%M} UTC.",
        policy=quota.replace("_", "-"),
        limit=limit,
        resets_at=resets_at,
        retry_after_s=-((now - resets_at) // timedelta(seconds=1)),
    )
