"""Compatibility page: it agrees with the tests."""

from tests.contracts.omi_client.calls import CALLS
from tests.contracts.omi_client.compatibility import PAGE, find_tests, render


def test_each_call_is_shown_by_a_test():
    assert find_tests().keys() == {call for calls in CALLS.values() for call in calls}


def test_the_committed_page_agrees_with_the_tests():
    assert render(find_tests()) == PAGE.read_text(), (
        "run `python -m tests.contracts.omi_client.compatibility` and commit what it writes"
    )
