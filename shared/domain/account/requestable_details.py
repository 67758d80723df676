"""Requestable details: what an assistant that is not given them may ask its owner for; pure."""

from collections.abc import Sequence

from shared.domain.account.profile import Profile
from shared.domain.chats.details_request import DetailKey, DetailsRequest, list_asked


def list_requestable(profile: Profile, requests: Sequence[DetailsRequest]) -> list[DetailKey]:
    """Return what a turn is not given, that there is, and that was not asked for in its chat yet."""
    keys: list[DetailKey] = []
    if not profile.recalls_memories:
        keys += ["memories:manual", "memories:system", "memories:interesting"]
    if profile.own_names:
        keys.append("settings:own_names")
    if profile.place is not None:
        keys.append("settings:place")
    asked = list_asked(requests)
    return [key for key in keys if key not in asked]
