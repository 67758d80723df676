"""App calls of the released app: its store, its form for new apps, and their pages (R1)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.omi_client.objects import APP, APP_KEY, MESSAGE, REVIEW
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import (
    anything,
    each,
    flag,
    integer,
    optional,
    shape,
    some,
    text,
)
from tests.fixtures.notes_app import NotesServer, build_tool
from tests.fixtures.pictures import build_picture
from tests.servers import run_server
from tests.servers.mcp_server import NotesMcp

TITLED = shape(id=text, title=text)
HEADING = shape(id=optional(text), title=optional(text))
SECTIONS = shape(
    groups=some(
        shape(capability=HEADING, category=optional(HEADING), data=some(APP), pagination=anything)
    )
)
PAGE = shape(data=some(APP), pagination=anything, category=anything, filters=anything)
CATEGORIES = shape(
    groups=some(shape(category=HEADING, data=some(APP), count=integer)),
    capability=HEADING,
    meta=shape(totalApps=integer),
)
CHOICE = shape(id=text, title=text, doc_url=optional(text), description=optional(text))
CAPABILITY = shape(
    id=text, title=text, triggers=some(CHOICE), scopes=some(CHOICE), actions=some(CHOICE)
)
ADDED_SERVER = shape(app_id=text, requires_oauth=flag, auth_url=optional(text), tools_count=integer)
TEMPLATE = {"capabilities": ["memories"], "memory_prompt": "List what was decided."}


@pytest.fixture
def notes() -> NotesServer:
    return NotesServer()


@pytest.fixture
def notes_url(notes: NotesServer, developer_port: int) -> Iterator[str]:
    with run_server(notes.app(), port=developer_port) as url:
        yield url


def build_form(phone: Phone, **changes: Any) -> dict[str, Any]:
    """Return what the app's form sends: no author, and empty strings for what was left empty."""
    return {
        "name": "Notes",
        "description": "Keeps notes.",
        "capabilities": ["chat"],
        "deleted": False,
        "uid": phone.uid,
        "category": "productivity-and-organization",
        "private": True,
        "is_paid": False,
        "price": 0.0,
        "payment_plan": None,
        "thumbnails": [],
        "source_code_url": None,
        "chat_prompt": "You keep notes.",
        **changes,
    }


def build_integration_form(phone: Phone, url: str) -> dict[str, Any]:
    integration = {
        "triggers_on": None,
        "webhook_url": "",
        "setup_completed_url": "",
        "setup_instructions_file_path": "",
        "app_home_url": url,
        "chat_tools_manifest_url": f"{url}/.well-known/omi-tools.json",
        "auth_steps": [],
        "actions": [{"action": "read_tasks"}],
    }
    capabilities = ["external_integration", "chat"]
    return build_form(phone, capabilities=capabilities, external_integration=integration)


def build_parts(form: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the request: the file's type stands in its name alone."""
    logo = ("logo.png", build_picture(), "application/octet-stream")
    return {"data": {"app_data": json.dumps(form)}, "files": {"file": logo}}


def submit(phone: Phone, **changes: Any) -> str:
    parts = build_parts(build_form(phone, **changes))
    app_id: str = phone.send("POST", "/v1/apps", shape(app_id=text), **parts)["app_id"]
    return app_id


def read_app(phone: Phone, app_id: str) -> dict[str, Any]:
    app: dict[str, Any] = phone.get(f"/v1/apps/{app_id}", APP)
    return app


def search(phone: Phone, **filters: Any) -> dict[str, dict[str, Any]]:
    page = phone.get("/v2/apps/search", PAGE, offset=0, limit=100, **filters)
    return {app["id"]: app for app in page["data"]}


@pytest.mark.client_call("getAppDetailsServer")
def test_a_submitted_app_is_shown_with_its_logo_and_tools_r1(phone, notes_url):
    parts = build_parts(build_integration_form(phone, notes_url))

    app_id = phone.send("POST", "/v1/apps", shape(app_id=text), **parts)["app_id"]

    app = read_app(phone, app_id)
    integration = app["external_integration"]
    assert (app["uid"], app["private"], app["category"]) == (
        phone.uid,
        True,
        "productivity-and-organization",
    )
    assert app["author"]
    assert app["chat_prompt"] == "You keep notes."
    assert [tool["name"] for tool in app["chat_tools"]] == ["find"]
    assert (integration["app_home_url"], integration["webhook_url"]) == (notes_url, None)
    assert integration["actions"] == [{"action": "read_tasks"}]
    logo = phone.http.get(app["image"], headers={"Authorization": ""})
    assert (logo.status_code, logo.headers["content-type"]) == (200, "image/webp")
    assert logo.headers["x-content-type-options"] == "nosniff"


@pytest.mark.client_call("getAppDetailsServer")
def test_an_app_without_a_logo_shows_a_picture_r1(phone):
    form = {"app_data": (None, json.dumps(build_form(phone)).encode())}

    app_id = phone.send("POST", "/v1/apps", shape(app_id=text), files=form)["app_id"]

    logo = phone.http.get(read_app(phone, app_id)["image"])
    assert (logo.status_code, logo.headers["content-type"]) == (200, "image/webp")


@pytest.mark.client_call("submitAppServer")
def test_a_refused_form_says_why_r1(phone):
    refusal = phone.refuse("POST", "/v1/apps", **build_parts(build_form(phone, name="")))

    assert refusal[0] == 422
    assert refusal[1] == "The name must not be empty."


@pytest.mark.client_call("getAppDetailsServer", "updateAppServer")
def test_a_changed_app_keeps_its_logo_until_another_is_sent_r1(phone):
    app_id = submit(phone)
    before = read_app(phone, app_id)
    form = build_form(phone, name="Jottings", id=app_id)
    text_alone = {"app_data": (None, json.dumps(form).encode())}

    phone.send("PATCH", f"/v1/apps/{app_id}", files=text_alone)
    renamed = read_app(phone, app_id)
    picture = ("new.jpg", build_picture("JPEG", color="red"), "application/octet-stream")
    phone.send("PATCH", f"/v1/apps/{app_id}", files={**text_alone, "file": picture})
    repainted = read_app(phone, app_id)

    assert (renamed["name"], renamed["image"]) == ("Jottings", before["image"])
    assert repainted["image"] != before["image"]
    assert phone.http.get(repainted["image"]).status_code == 200
    assert phone.http.get(before["image"]).status_code == 404


@pytest.mark.client_call("getAppDetailsServer", "refreshAppManifestServer")
def test_a_refreshed_manifest_brings_new_tools_and_keeps_the_rest_r1(phone, notes, notes_url):
    parts = build_parts(build_integration_form(phone, notes_url))
    app_id = phone.send("POST", "/v1/apps", shape(app_id=text), **parts)["app_id"]
    before = read_app(phone, app_id)
    notes.tools.append(build_tool("look", "GET"))

    phone.send("POST", f"/v1/apps/{app_id}/refresh-manifest")

    after = read_app(phone, app_id)
    assert [tool["name"] for tool in after["chat_tools"]] == ["find", "look"]
    assert {**after, "chat_tools": before["chat_tools"]} == before


@pytest.mark.client_call("changeAppVisibilityServer", "getAppDetailsServer", "retrieveAppsSearch")
def test_visibility_is_changed_and_stays_r1(phone, sign_up):
    app_id = submit(phone)
    reader = sign_up()

    shown = []
    for private in ("false", "true"):
        phone.send("PATCH", f"/v1/apps/{app_id}/change-visibility?private={private}")
        shown.append((read_app(phone, app_id)["private"], app_id in search(reader)))

    assert shown == [(False, True), (True, False)]


@pytest.mark.client_call("getEnabledAppsServer", "retrieveAppsSearch", "disableAppServer")
def test_an_app_is_installed_listed_and_uninstalled_r1(phone):
    app_id = submit(phone)

    phone.send("POST", f"/v1/apps/enable?app_id={app_id}")
    enabled_ids = phone.get("/v1/apps/enabled", each(text))
    installed = search(phone, installed_apps="true")
    phone.send("POST", f"/v1/apps/disable?app_id={app_id}")

    assert enabled_ids == [app_id]
    assert (installed[app_id]["enabled"], installed[app_id]["installs"]) == (True, 1)
    assert phone.get("/v1/apps/enabled", each(text)) == []
    assert search(phone, installed_apps="true") == {}


@pytest.mark.client_call("retrieveAppsSearch")
@pytest.mark.parametrize(
    ("filters", "is_found"),
    [
        ({"my_apps": "true"}, True),
        ({"q": "notes keeps"}, True),
        ({"q": "aquarium"}, False),
        ({"category": "productivity-and-organization"}, True),
        ({"category": "financial"}, False),
        ({"capability": "chat"}, True),
        ({"capability": "memories"}, False),
        ({"rating": "4"}, False),
        ({"rating": "0", "sort": "name_asc", "q": ""}, True),
        ({"sort": "no-such-order", "unknown": "x"}, True),
    ],
)
def test_a_search_filters_apps_r1(phone, filters, is_found):
    app_id = submit(phone)

    assert (app_id in search(phone, **filters)) is is_found


@pytest.mark.client_call(
    "retrieveAppsGrouped",
    "retrieveAppsByCategory",
    "retrieveCapabilityAppsGroupedByCategory",
    "getApps",
    "retrievePopularApps",
)
def test_an_app_is_listed_wherever_it_belongs_r1(phone):
    app_id = submit(phone, private=False)

    query = {"offset": 0, "limit": 20, "include_reviews": "true"}
    sections = phone.get("/v2/apps", SECTIONS, **query)["groups"]
    category = phone.get("/v2/apps", PAGE, category="productivity-and-organization", **query)
    by_category = phone.get("/v2/apps/capability/chat/grouped", CATEGORIES, include_reviews="true")
    older_list = phone.get("/v1/apps", each(APP), include_reviews="true")
    phone.get("/v1/apps/popular", each(APP))

    assert "chat" in {section["capability"]["id"] for section in sections}
    assert all(section["capability"]["title"] for section in sections)
    assert app_id in {app["id"] for app in category["data"]}
    assert "productivity-and-organization" in {
        group["category"]["id"] for group in by_category["groups"]
    }
    assert by_category["meta"]["totalApps"] >= 1
    assert app_id in {app["id"] for app in older_list}


@pytest.mark.client_call("getAppCategories", "getAppCapabilitiesServer")
def test_what_the_form_offers_is_listed_r1(phone):
    categories = phone.get("/v1/app-categories", each(TITLED))
    capabilities = phone.get("/v1/app-capabilities", each(CAPABILITY))

    by_id = {capability["id"]: capability for capability in capabilities}
    integration = by_id["external_integration"]
    assert (len(categories), categories[-1]["id"]) == (16, "other")
    assert {"chat", "memories", "proactive_notification"} <= by_id.keys()
    assert "memory_creation" in {trigger["id"] for trigger in integration["triggers"]}
    assert "read_tasks" in {action["id"] for action in integration["actions"]}
    assert by_id["proactive_notification"]["scopes"]


@pytest.mark.client_call("listApiKeysServer", "deleteApiKeyServer", "createApiKeyServer")
def test_an_apps_keys_are_made_listed_and_deleted_r1(phone, notes_url):
    parts = build_parts(build_integration_form(phone, notes_url))
    app_id = phone.send("POST", "/v1/apps", shape(app_id=text), **parts)["app_id"]
    path = f"/v1/apps/{app_id}/keys"

    key = phone.send("POST", path, APP_KEY)
    listed_keys = phone.get(path, each(APP_KEY))
    phone.send("DELETE", f"{path}/{key['id']}")

    assert key["secret"].startswith("sk_")
    assert [listed["id"] for listed in listed_keys] == [key["id"]]
    assert phone.get(path, each(APP_KEY)) == []


@pytest.mark.client_call("addMcpServer", "getAppDetailsServer")
def test_an_mcp_server_is_added_as_an_app_r1(phone, developer_port):
    with run_server(NotesMcp().build_app(json=True), port=developer_port) as url:
        body = {"name": "Weather", "mcp_server_url": f"{url}/mcp"}
        added = phone.send("POST", "/v1/apps/mcp", ADDED_SERVER, json=body)
        nothing = {"name": "Nobody", "mcp_server_url": f"{url}/nothing"}
        refusal = phone.refuse("POST", "/v1/apps/mcp", json=nothing)

    app = read_app(phone, added["app_id"])
    assert (added["requires_oauth"], added["tools_count"]) == (False, 1)
    assert [(tool["name"], tool["is_mcp"]) for tool in app["chat_tools"]] == [("find", True)]
    assert refusal[0] == 502


@pytest.mark.client_call("submitAppServer", "enableAppServer")
def test_an_app_has_a_chat_of_its_own_r1(phone):
    app_id = submit(phone)
    phone.send("POST", f"/v1/apps/enable?app_id={app_id}")

    first = phone.send("POST", f"/v2/initial-message?app_id={app_id}", MESSAGE)

    assert first["plugin_id"] == app_id


@pytest.mark.client_call("getAppDetailsServer")
def test_a_summary_template_is_submitted_r1(phone):
    app = read_app(phone, submit(phone, **TEMPLATE))

    assert app["capabilities"] == ["memories"]
    assert app["memory_prompt"] == TEMPLATE["memory_prompt"]


@pytest.mark.client_call("getAppDetailsServer")
def test_the_scopes_of_a_notification_app_are_kept_r1(phone):
    scopes = {"scopes": ["user_name", "user_facts"]}
    capabilities = ["proactive_notification"]

    app_id = submit(phone, capabilities=capabilities, proactive_notification=scopes)

    assert read_app(phone, app_id)["proactive_notification"] == scopes


@pytest.mark.client_call("getAppDetailsServer", "reviewApp", "updateAppReview", "replyToAppReview")
def test_a_review_is_shown_with_the_apps_rating_r1(phone, sign_up):
    app_id = submit(phone, private=False)
    reader = sign_up()
    reader.send("POST", f"/v1/apps/enable?app_id={app_id}")

    reader.send("POST", f"/v1/apps/review?app_id={app_id}", json={"score": 4.5, "review": "Good"})

    shown, mine = read_app(phone, app_id), read_app(reader, app_id)
    assert (shown["rating_avg"], shown["rating_count"]) == (4.5, 1)
    assert [review["review"] for review in shown["reviews"]] == ["Good"]
    assert mine["user_review"]["uid"] == reader.uid
    assert phone.get(f"/v1/apps/{app_id}/reviews", each(REVIEW)) == shown["reviews"]

    author, path = shown["reviews"][0]["uid"], f"/v1/apps/{app_id}/review"
    reply = {"response": "Thanks", "reviewer_uid": author}
    reader.send("PATCH", path, json={"score": 5.0, "review": "Better"})
    phone.send("PATCH", f"{path}/reply", json=reply)

    (changed,) = phone.get(f"/v1/apps/{app_id}/reviews", each(REVIEW))
    assert (changed["score"], changed["review"], changed["response"]) == (5.0, "Better", "Thanks")


@pytest.mark.client_call("getGenratedDescription", "getGeneratedDescriptionAndEmoji")
def test_an_app_is_described_from_what_its_maker_wrote_r1(phone):
    idea = {"name": "Ledger", "description": "Writes down what was spent"}
    wish = {"name": "Ledger", "prompt": "List what was spent"}
    path = "/v1/app/generate-description"

    described = phone.send("POST", path, shape(description=text), json=idea)
    shown = phone.send("POST", f"{path}-emoji", shape(description=text, emoji=text), json=wish)

    assert described["description"]
    assert shown["description"]


@pytest.mark.client_call("deleteAppServer", "getAppDetailsServer", "retrieveAppsSearch")
def test_a_deleted_app_is_gone_from_page_and_lists_r1(phone):
    app_id = submit(phone)

    phone.send("DELETE", f"/v1/apps/{app_id}")

    assert phone.refuse("GET", f"/v1/apps/{app_id}") == (404, "App not found")
    assert app_id not in search(phone, my_apps="true")
