"""Service calls: which of our functions calls which, by what way, and as which service account.

The rows stand in infra/routes.json; Terraform grants exactly them, and each function checks them.

Also called: service-to-service calls.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from shared.domain.errors import NotAllowed
from shared.domain.value import value

Via = Literal["request", "task", "event", "trigger", "schedule"]


@value
class ServiceCall:
    """One function calls another.

    `caller` of an event is its topic, of a trigger the pattern of its documents, of a schedule its time
    as cron writes it. `account` is the
    service account in the token; no other row has it.
    """

    caller: str
    function: str
    via: Via
    account: str


@value
class ServiceCalls:
    """All calls between our functions."""

    rows: Sequence[ServiceCall]

    def list_accounts(self, function: str, *, is_carried: bool = False) -> frozenset[str]:
        """List the accounts that may call `function`; with `is_carried` only the platform's."""
        return frozenset(
            row.account
            for row in self.rows
            if row.function == function and not (is_carried and row.via == "request")
        )

    def get_account(self, caller: str, function: str) -> str:
        """Raises NotAllowed for a call that has no row."""
        for row in self.rows:
            if (row.caller, row.function) == (caller, function):
                return row.account
        raise NotAllowed(f"{caller} does not call {function}")

    def find_caller(self, function: str, via: Via) -> str:
        """Return the first caller by this way. Raises NotAllowed if there is none."""
        for row in self.rows:
            if (row.function, row.via) == (function, via):
                return row.caller
        raise NotAllowed(f"nothing calls {function} by {via}")


def parse_service_calls(rows: Sequence[Mapping[str, str]]) -> ServiceCalls:
    """Read the rows of infra/routes.json."""
    return ServiceCalls(rows=tuple(ServiceCall(**row) for row in rows))  # type: ignore[arg-type]  # a test checks the ways
