"""App limiters of one instance."""

from functions.tool_proxy.app_limiter import MAX_LIMITERS, AppLimiters
from shared.domain.ids import AppId


def test_only_limiters_of_the_most_recently_called_apps_are_kept_t9() -> None:
    app_limiters = AppLimiters()
    first, second = (
        app_limiters.get_limiter(AppId("first")),
        app_limiters.get_limiter(AppId("second")),
    )

    for n in range(MAX_LIMITERS - 1):
        assert app_limiters.get_limiter(AppId("first")) is first
        app_limiters.get_limiter(AppId(f"A{n}"))

    assert app_limiters.get_limiter(AppId("first")) is first
    assert app_limiters.get_limiter(AppId("second")) is not second
