"""What an instance remembers of the apps that it calls."""

from functions.tool_proxy.calls.traffic import MOST_KEPT, Traffic
from shared.domain.ids import AppId


def test_t9_of_many_apps_those_called_last_are_remembered_and_no_others() -> None:
    traffic = Traffic()
    first, second = traffic.lane(AppId("first")), traffic.lane(AppId("second"))

    for n in range(MOST_KEPT - 1):
        assert traffic.lane(AppId("first")) is first
        traffic.lane(AppId(f"A{n}"))

    assert traffic.lane(AppId("first")) is first
    assert traffic.lane(AppId("second")) is not second
