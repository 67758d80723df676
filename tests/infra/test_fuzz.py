"""The fuzzer tells what it did not try: routes that let nobody in."""

import json

from infra.fuzz.__main__ import FEWEST_ASKED, list_untried


def test_a_route_that_let_nobody_in_was_not_tried() -> None:
    statuses = {
        "GET /v1/closed": [401] * FEWEST_ASKED,
        "GET /v1/others": [403, 401] * FEWEST_ASKED,
        "GET /v1/open": [401] * FEWEST_ASKED + [404],
        "GET /v1/seldom": [401] * (FEWEST_ASKED - 1),
    }
    log = [
        json.dumps({"severity": "INFO", "route": route, "status": status})
        for route, answered in statuses.items()
        for status in answered
    ]

    assert list_untried(["keepsake: serving", *log]) == ["GET /v1/closed", "GET /v1/others"]
