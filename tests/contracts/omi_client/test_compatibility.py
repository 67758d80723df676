"""Compatibility page: it agrees with the tests."""

from tests.contracts.omi_client.calls import CALLS, NOT_SERVED
from tests.contracts.omi_client.compatibility import PAGE, find_tests, render

ALL_CALLS = {call for calls in CALLS.values() for call in calls}


def test_each_call_is_shown_by_a_test_or_said_not_to_be_served():
    assert {*find_tests(), *NOT_SERVED} == ALL_CALLS


def test_no_call_is_both_shown_and_not_served():
    assert not find_tests().keys() & NOT_SERVED.keys()


def test_the_committed_page_agrees_with_the_tests():
    assert render(find_tests()) == PAGE.read_text(), (
        "run `python -m tests.contracts.omi_client.compatibility` and commit what it writes"
    )
