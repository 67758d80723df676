"""Request and response bodies of integrations, as released apps know the connections."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from shared.domain.apps.apple_health import AppleHealth, HealthRecord
from shared.edge.declare.schemas import Wire

_Number = Annotated[float, Field(ge=-1e12, le=1e12)]
_Name = Annotated[str, StringConstraints(max_length=60)]
_Text = Annotated[str, StringConstraints(max_length=200)]
_Record = Annotated[dict[_Name, _Number | bool | _Text | None], Field(max_length=20)]
_Records = Annotated[list[_Record], Field(max_length=400)]


class IntegrationIn(Wire):
    """What a released app says of an integration; only an authorization connects one."""

    connected: bool | None = None


class IntegrationOut(Wire):
    """Whether the account of a service is connected, under the key by which it was asked."""

    connected: bool
    app_key: str


class AuthUrlOut(Wire):
    """The page to open in a browser, within ten minutes."""

    auth_url: str


class AppleHealthIn(Wire):
    """Figures of some days; each may be missing. Lists hold flat records."""

    period_days: Annotated[int, Field(ge=0, le=3_660)] | None = None
    total_steps: _Number | None = None
    average_steps_per_day: _Number | None = None
    daily_steps: _Records | None = None
    total_sleep_hours: _Number | None = None
    total_in_bed_hours: _Number | None = None
    sleep_sessions_count: _Number | None = None
    sleep_sessions: _Records | None = None
    daily_sleep: _Records | None = None
    heart_rate_average: _Number | None = None
    heart_rate_min: _Number | None = None
    heart_rate_max: _Number | None = None
    total_active_energy: _Number | None = None
    average_active_energy_per_day: _Number | None = None
    daily_active_energy: _Records | None = None
    workouts: _Records | None = None

    def to_figures(self) -> AppleHealth:
        """Return what was sent, numbers and records apart."""
        fields: dict[str, Any] = self.model_dump(exclude_none=True)
        return AppleHealth(
            numbers={name: field for name, field in fields.items() if not isinstance(field, list)},
            records={
                name: _freeze(field) for name, field in fields.items() if isinstance(field, list)
            },
        )


def _freeze(records: list[HealthRecord]) -> tuple[HealthRecord, ...]:
    return tuple(records)
