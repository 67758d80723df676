"""Delegations: a signed statement holds for one user, one call, one purpose and one minute (S8)."""

from itertools import pairwise

import pytest

from shared.domain.errors import NotAllowed
from shared.domain.ids import UserId
from shared.security.delegations import LIFETIME_S, SKEW_S, Delegations
from tests.fakes import FixedClock

ADA = UserId("ada")
OLD, NEW = "an old key of thirty-two characters", "a new key of thirty-two characters"


def build(*keys: str, clock: FixedClock | None = None) -> Delegations:
    return Delegations({"tool_call": keys}, clock or FixedClock())


def test_a_delegation_names_the_user_of_a_call_s8() -> None:
    token = build(OLD).sign("tool_call", ADA, "c1")

    assert build(OLD).verify(token, "tool_call", "c1") == ADA


def test_a_delegation_holds_for_its_own_call_only_s8() -> None:
    token = build(OLD).sign("tool_call", ADA, "c1")

    with pytest.raises(NotAllowed):
        build(OLD).verify(token, "tool_call", "c2")


def test_a_delegation_expires_s8() -> None:
    clock = FixedClock()
    delegations = build(OLD, clock=clock)
    token = delegations.sign("tool_call", ADA, "c1")

    clock.advance(seconds=LIFETIME_S + SKEW_S - 1)
    assert delegations.verify(token, "tool_call", "c1") == ADA
    clock.advance(seconds=1)
    with pytest.raises(NotAllowed):
        delegations.verify(token, "tool_call", "c1")


def test_a_key_of_another_purpose_or_owner_signs_nothing_s8() -> None:
    both = Delegations({"tool_call": (OLD,), "disconnect": (OLD,)}, FixedClock())
    token = both.sign("disconnect", ADA, "c1")

    with pytest.raises(NotAllowed):
        both.verify(token, "tool_call", "c1")
    with pytest.raises(NotAllowed):
        both.verify(build(NEW).sign("tool_call", ADA, "c1"), "tool_call", "c1")


@pytest.mark.parametrize(
    "token", ["", "x", "é", "a.b", "WyJhZGEiLCJjMSIsOTk5OTk5OTk5OV0.", "x" * 10_000]
)
def test_a_malformed_delegation_is_refused_s8(token: str) -> None:
    with pytest.raises(NotAllowed):
        build(OLD).verify(token, "tool_call", "c1")


def test_every_changed_character_makes_a_delegation_invalid_s8() -> None:
    token = build(OLD).sign("tool_call", ADA, "c1")

    for place in range(len(token) - 1):  # the last one holds bits that stand for nothing
        letter = "A" if token[place] != "A" else "B"
        with pytest.raises(NotAllowed):
            build(OLD).verify(token[:place] + letter + token[place + 1 :], "tool_call", "c1")


def test_a_function_without_keys_accepts_nothing_s8() -> None:
    with pytest.raises(NotAllowed):
        build().verify(build(OLD).sign("tool_call", ADA, "c1"), "tool_call", "c1")


def test_keys_are_rotated_without_a_refused_call_s8() -> None:
    """The new key is accepted first, signs next, and stays alone at last."""
    steps = [build(OLD), build(NEW, OLD), build(OLD, NEW), build(NEW)]

    for before, after in pairwise(steps):
        for signer, verifier in [(before, before), (before, after), (after, before)]:
            assert verifier.verify(signer.sign("tool_call", ADA, "c"), "tool_call", "c") == ADA
