"""Usage of language models: the numbers of RoleUsage for each role, in the document of the day's quotas."""

from datetime import date, datetime
from typing import get_args

from shared.data.account.quotas import Quotas
from shared.domain.ids import UserId
from shared.domain.models.model import ModelRole
from shared.domain.models.model_usage import FIELDS, DayUsage, ModelUsage, RoleUsage
from shared.domain.store.documents import Document


async def record_models(
    quotas: Quotas, uid: UserId, used: ModelUsage, *, tokens: int = 0, now: datetime
) -> None:
    """Count what models used; `tokens` of it belong to the quota of that name."""
    numbers = {
        _name_field(role, each.name): getattr(usage, each.name)
        for role, usage in used.items()
        for each in FIELDS
    }
    await quotas.record_numbers(uid, "tokens", {"tokens": tokens, **numbers}, now=now)


async def list_days(quotas: Quotas, uid: UserId, now: datetime, *, days: int) -> list[DayUsage]:
    """Return the last days, the newest first, those of which something is known."""
    return [
        _load_day(day, document) for day, document in await quotas.load_days(uid, now, days=days)
    ]


def _name_field(role: ModelRole, figure: str) -> str:
    return f"{role}_{figure}"


def _load_day(day: date, document: Document) -> DayUsage:
    models = {role: _load_role(role, document) for role in get_args(ModelRole)}
    return DayUsage(
        day=day,
        turns=int(document.fields.get("turns", 0)),
        models={role: usage for role, usage in models.items() if usage.calls},
    )


def _load_role(role: ModelRole, document: Document) -> RoleUsage:
    return RoleUsage(
        **{each.name: document.fields.get(_name_field(role, each.name), 0) for each in FIELDS}
    )
