"""A user's own webhooks, as the developer page of the released app sets them (R1)."""

import pytest

from tests.contracts.omi_client.readers import flag, optional, shape, text

PATH = "/v1/users/developer/webhook"
URLS = {
    "memory_created": "https://example.com/made",
    "realtime_transcript": "https://example.com/live",
    "audio_bytes": "https://example.com/bytes,5",
    "day_summary": "https://example.com/day",
}
WEBHOOK = shape(url=optional(text))
STATUS = shape(**dict.fromkeys(URLS, flag))


@pytest.mark.client_call("setUserWebhookUrl", "getUserWebhookUrl")
def test_addresses_come_back_as_they_were_entered_r1(phone):
    for name, url in URLS.items():
        phone.send("POST", f"{PATH}/{name}", json={"url": url})

    assert {name: phone.get(f"{PATH}/{name}", WEBHOOK)["url"] for name in URLS} == URLS


@pytest.mark.client_call("webhooksStatus", "getUserWebhookUrl")
def test_the_page_of_a_new_user_loads_r1(phone):
    assert phone.get(f"{PATH}s/status", STATUS) == dict.fromkeys(URLS, False)
    assert phone.get(f"{PATH}/memory_created", WEBHOOK) == {"url": ""}


@pytest.mark.client_call("setUserWebhookUrl", "enableWebhook", "webhooksStatus", "disableWebhook")
@pytest.mark.parametrize("name", URLS)
def test_a_webhook_is_switched_on_and_off_r1(phone, name):
    phone.send("POST", f"{PATH}/{name}", json={"url": URLS[name]})

    phone.send("POST", f"{PATH}/{name}/enable")
    on = phone.get(f"{PATH}s/status", STATUS)
    phone.send("POST", f"{PATH}/{name}/disable")
    off = phone.get(f"{PATH}s/status", STATUS)

    assert (on, off) == ({other: other == name for other in URLS}, dict.fromkeys(URLS, False))


@pytest.mark.client_call(
    "setUserWebhookUrl", "enableWebhook", "getUserWebhookUrl", "webhooksStatus"
)
@pytest.mark.parametrize(("name", "empty"), [("memory_created", ""), ("audio_bytes", ",")])
def test_an_emptied_address_stays_empty_r1(phone, name, empty):
    phone.send("POST", f"{PATH}/{name}", json={"url": URLS[name]})
    phone.send("POST", f"{PATH}/{name}/enable")

    phone.send("POST", f"{PATH}/{name}", json={"url": empty})

    assert phone.get(f"{PATH}/{name}", WEBHOOK)["url"] == empty
    assert phone.get(f"{PATH}s/status", STATUS)[name] is False
