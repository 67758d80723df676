"""API page at /docs/: every route, to read and to try, from this server alone."""

import json

from playwright.sync_api import expect

from infra.openapi import OPENAPI_FILE
from tests.web.console import Console


def test_the_page_shows_every_route(console: Console) -> None:
    document = json.loads(OPENAPI_FILE.read_text())
    subjects = {route["tags"][0] for path in document["paths"].values() for route in path.values()}
    shown_subjects = console.page.locator(".opblock-tag")

    console.page.goto(f"{console.origin}/docs/")

    expect(shown_subjects).to_have_count(len(subjects))
    assert {
        request for request in console.requests if not request.startswith(console.origin)
    } == set()


def test_a_route_is_tried_as_whoever_is_signed_in(console: Console) -> None:
    """The page of this one route: Swagger UI takes seconds to resolve the references of all."""
    document = json.loads(OPENAPI_FILE.read_text())
    path = "/v1/users/profile"
    shown = {**document, "paths": {path: document["paths"][path]}}
    console.page.route("**/openapi.json", lambda route: route.fulfill(json=shown))
    console.sign_in("alice")
    console.page.goto(f"{console.origin}/docs/#/users/get_v1_users_profile")

    console.page.get_by_role("button", name="Try it out").click()
    console.page.get_by_role("button", name="Execute").click()

    expect(
        console.page.locator(".live-responses-table .response .response-col_status")
    ).to_contain_text("200")
