"""Imports in the console: files are previewed, asked about and kept, by choice and by drop (U1)."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import FilePayload, Locator, expect

from tests.fixtures.imports import CHAT, CHAT_NAME, TABLE, build_zip
from tests.servers.wearables import KEY
from tests.web.console import Console

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def build_file(name: str, content: str | bytes) -> FilePayload:
    data = content if isinstance(content, bytes) else content.encode()
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def choose(console: Console, *files: FilePayload) -> Locator:
    """Choose files; returns the panel once they are read."""
    console.page.locator("#file").set_input_files(list(files))
    panel = console.page.locator("#import")
    expect(panel.get_by_role("button").first).to_be_visible()
    return panel


def list_titles(console: Console) -> Sequence[str]:
    return console.page.locator("#conversations .title").all_inner_texts()


def test_files_are_shown_before_they_are_kept_u1(console: Console) -> None:
    console.sign_in("previewer")
    panel = choose(
        console, build_file(CHAT_NAME, CHAT), build_file("a.png", PNG), build_file("t.csv", TABLE)
    )

    expect(panel.get_by_role("heading")).to_have_text("1 conversation to keep")
    expect(panel).to_contain_text("Hikers · ")
    expect(panel).to_contain_text("Ann, Bo · 3 turns")
    expect(panel).to_contain_text(
        "Not imported: it is a picture, and words in pictures are not read. Copy them into a text."
    )
    assert list_titles(console) == []

    panel.get_by_label("Not recognised. Keep it as plain text?").check()
    panel.get_by_label("Ann").check()
    panel.get_by_role("button", name="Keep").click()

    result = console.page.locator("#import-result")
    expect(result).to_have_text("2 conversations in your library. Not kept: a.png.")
    expect(console.page.locator("#conversations .card")).to_have_count(2)
    hikers = console.page.locator("#conversations .card").filter(has_text="Hikers")
    expect(hikers).to_have_attribute("aria-busy", "false")
    hikers.click()
    expect(console.page.locator("#reader .transcript")).to_contain_text("You")
    assert console.page_errors == []


def test_files_that_nobody_knows_are_kept_only_if_their_owner_says_so(console: Console) -> None:
    console.sign_in("doubter")
    panel = choose(console, build_file("t.csv", TABLE))

    panel.get_by_role("button", name="Keep").click()

    result = console.page.locator("#import-result")
    expect(result).to_have_text("0 conversations in your library. Not kept: t.csv.")
    assert list_titles(console) == []


def test_what_the_library_did_not_take_is_named_at_the_end_u1(console: Console) -> None:
    console.sign_in("refused")
    memories = {"memories": [{"id": "m1", "content": "tea " * 500}, {"id": "m2", "content": "Tea"}]}
    panel = choose(console, build_file("omi.json", json.dumps(memories)))

    panel.get_by_role("button", name="Keep").click()

    result = console.page.locator("#import-result")
    expect(result).to_contain_text("Left out: memory m1: content: ")
    expect(result).not_to_contain_text("m2")


def test_what_is_not_read_of_a_file_and_a_date_that_is_missing_are_told(console: Console) -> None:
    console.sign_in("informed")
    notes = "Roof\n\nThe insurance will pay.\n\nAnn  0:01\nIt leaks.\n\nBo  0:04\nI call.\n"

    panel = choose(console, build_file("roof.txt", notes))

    expect(panel).to_contain_text("2 turns · dated as its file")
    expect(panel).to_contain_text("Not read: The insurance will pay. (4 words)")


def test_a_preview_can_be_discarded(console: Console) -> None:
    console.sign_in("discarder")
    panel = choose(console, build_file(CHAT_NAME, CHAT))

    panel.get_by_role("button", name="Discard").click()

    expect(panel).to_be_hidden()
    assert list_titles(console) == []


def test_a_dropped_zip_is_read_file_by_file(console: Console) -> None:
    console.sign_in("dropper")
    console.page.evaluate(
        """(name) => {
          const data = new DataTransfer();
          data.items.add(new File(["Ann: Hello.\\nBo: Hi.\\n"], name));
          const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
          document.querySelector("#transcript").dispatchEvent(drop);
        }""",
        "two words.txt",
    )

    panel = console.page.locator("#import")
    expect(panel).to_contain_text("two words.txt")
    expect(panel).to_contain_text("2 turns")


def test_a_large_file_is_uploaded_in_parts(console: Console, tmp_path: Path) -> None:
    """The browser reads the file itself: handing it over would take seconds for each megabyte."""
    console.sign_in("uploader")
    large = tmp_path / "large.zip"
    with zipfile.ZipFile(large, "w") as archive:
        archive.writestr("talk.txt", "Ann: I am in a large file.\nBo: So am I.\n")
        archive.writestr("video.mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(26_000_000))

    console.page.locator("#file").set_input_files(large)

    panel = console.page.locator("#import")
    expect(panel).to_contain_text("large.zip/talk.txt")
    expect(panel).to_contain_text("it is sound or a film in an archive")


def test_who_speaks_is_asked_once(console: Console) -> None:
    console.sign_in("asked")
    console.add_transcript("Ann: I will bring the ladder.\nBo: Good, then I bring the paint.\n")
    panel = console.page.locator("#import")

    expect(panel.get_by_role("group", name="Which of them are you?")).to_be_visible()
    panel.get_by_label("Bo").check()
    panel.get_by_role("button", name="Save").click()
    expect(panel).to_be_hidden()

    console.add_transcript("Bo: The paint is here.\nAnn: So is the ladder.\n")
    expect(panel).to_be_hidden()


def test_a_preview_of_an_export_counts_what_comes_back_and_names_what_does_not(
    console: Console,
) -> None:
    console.sign_in("mover")
    at = "2026-03-02T09:00:00+00:00"
    goal = {"id": "g", "title": "Sail", "created_at": at, "updated_at": at}
    files = {
        "goals.json": json.dumps([goal]),
        "inbox.json": json.dumps([{"id": "n", "text": "Pay here"}]),
    }

    panel = choose(console, build_file("keepsake.zip", build_zip(files)))

    expect(panel).to_contain_text("1 goal")
    expect(panel).to_contain_text("Not brought back: inbox: notifications are of their day")
    panel.get_by_role("button", name="Keep").click()
    expect(console.page.locator("#import-result")).to_have_text("0 conversations in your library.")
    assert console.page_errors == []


def test_the_library_says_how_many_passages_are_found_by_meaning_yet_e1(console: Console) -> None:
    search = {"embedder": "local", "embedded_count": 2_310, "waiting_count": 3_690}
    console.page.route("**/local/search", lambda route: route.fulfill(json=search))
    console.sign_in("waiter")
    sentence = "2,310 of 6,000 passages can be found by meaning; words find all of them."

    expect(console.page.locator("#found-by-meaning")).to_have_text(sentence)
    console.page.locator("#account-button").click()
    expect(console.page.locator("#model .search")).to_contain_text(sentence)


def test_the_past_months_of_a_wearable_are_fetched_by_its_key(console: Console) -> None:
    console.sign_in("wearer")
    page = console.page
    page.get_by_text("Past months of a wearable").click()
    form = page.locator("#wearable form")
    form.get_by_label("Key").fill(KEY)
    form.get_by_role("button", name="Fetch").click()

    expect(page.locator("#import-result")).to_have_text("12 conversations in your library.")
    expect(page.locator("#conversations .card")).to_have_count(12)
    expect(form.get_by_label("Key")).to_have_value("")
    assert console.page_errors == []


def test_a_key_that_has_ended_is_told(console: Console) -> None:
    console.sign_in("late-wearer")
    page = console.page
    page.get_by_text("Past months of a wearable").click()
    form = page.locator("#wearable form")
    form.get_by_label("Key").fill("sk-of-last-year")
    form.get_by_role("button", name="Fetch").click()

    panel = page.locator("#import")
    expect(panel.get_by_role("heading")).to_have_text("Not everything came")
    expect(panel).to_contain_text("Limitless refuses the key: it is mistyped or has ended.")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
