"""Details requests: the assistant asks its owner for memories or settings that it is not given.

A request waits without end and stops nothing: what is allowed is given in the later turns of its chat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.value import value

DetailKey = Literal[
    "memories:manual",
    "memories:system",
    "memories:interesting",
    "settings:own_names",
    "settings:place",
]
"""A category of memories, or a setting."""
RequestState = Literal["pending", "accepted", "rejected"]
Decision = Literal["accepted", "rejected"]


@value
class DetailsRequest:
    """What was asked for at once, and what the owner decided on each."""

    id: str
    created_at: datetime
    states: Mapping[DetailKey, RequestState]


Requests = tuple[DetailsRequest, ...]


def add_request(requests: Requests, request: DetailsRequest) -> Requests:
    """Add what was not asked for yet: nothing is asked twice, whatever was decided."""
    asked = list_asked(requests)
    new = {key: state for key, state in request.states.items() if key not in asked}
    return (*requests, replace(request, states=new)) if new else requests


def decide(
    requests: Requests, request_id: str, decisions: Mapping[DetailKey, Decision]
) -> Requests:
    """Decide on keys of a request; what was accepted may be taken back, what was rejected stays so.

    Raises NotFound, Invalid for a key that was not asked for, and Conflict.
    """
    request = next((each for each in requests if each.id == request_id), None)
    if request is None:
        raise NotFound("There is no such request in this chat.")
    for key, decision in decisions.items():
        if key not in request.states:
            raise Invalid(f"This request does not ask for {key!r}.")
        if request.states[key] == "rejected" != decision:
            raise Conflict(f"You refused {key!r} already, and that stands for this chat.")
    decided = replace(request, states={**request.states, **decisions})
    return tuple(decided if each is request else each for each in requests)


def list_accepted(requests: Sequence[DetailsRequest]) -> list[DetailKey]:
    states = {key: state for request in requests for key, state in request.states.items()}
    return [key for key, state in states.items() if state == "accepted"]


def list_asked(requests: Sequence[DetailsRequest]) -> list[DetailKey]:
    """Return the keys that were asked for, whatever was decided."""
    return [key for request in requests for key in request.states]
