"""Library in the console: searched, read, changed, exported and erased by its owner."""

import zipfile

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.web.console import Console

TRANSCRIPT = """Me: I am allergic to walnuts and pecans.
SPEAKER_01: Then I will bake the lemon cake with almonds.
Me: I need to book the ferry by Friday."""


def find_rows(page: Page, view: str) -> Locator:
    return page.locator(f"#{view} .rows > li")


def test_a_search_marks_the_words_of_the_query_p4(console: Console) -> None:
    console.sign_in("seeker")
    console.add_transcript(TRANSCRIPT)

    console.page.get_by_label("Search your library").fill("lemon cake")
    console.page.keyboard.press("Enter")

    hit = console.page.locator("#hits .card")
    expect(hit.locator("mark").first).to_have_text("lemon")
    expect(console.page.locator("#conversations")).to_be_hidden()
    hit.click()
    cited = console.page.locator("#reader .cited")
    expect(cited.filter(has_text="lemon cake")).to_be_visible()

    console.page.get_by_label("Search your library").fill("")
    console.page.get_by_label("Search your library").press("Enter")
    expect(console.page.locator("#conversations .card")).to_be_visible()


def test_a_search_goes_along_while_its_words_are_written_and_by_person_and_day(
    console: Console,
) -> None:
    console.sign_in("typist")
    console.add_transcript(
        "[2026-03-02, 10:00] Nora: The boiler hums.\n[2026-03-02, 10:01] Me: Yes."
    )
    console.add_transcript(
        "[2026-03-09, 10:00] Vito: The boiler is off.\n[2026-03-09, 10:01] Me: I see."
    )
    page, hits = console.page, console.page.locator("#hits .card")

    page.get_by_label("Search your library").press_sequentially("boiler")

    expect(hits).to_have_count(2)
    page.get_by_label("Who speaks").select_option("Vito")
    expect(hits).to_have_count(1)
    expect(hits).to_contain_text("is off")
    page.get_by_label("To", exact=True).fill("2026-03-08")
    expect(page.locator("#hit-count")).to_have_text("Nothing found.")
    page.get_by_label("Who speaks").select_option("Everybody")
    expect(hits).to_contain_text("hums")
    page.get_by_label("Search your library").fill("")
    expect(page.locator("#conversations .card")).to_have_count(2)
    assert console.page_errors == []


def test_who_is_named_in_conversations_stands_under_people(console: Console) -> None:
    console.sign_in("acquainted")
    console.add_transcript("Nora: The boiler hums.\nMe: Yes.\nNora: Again.")
    console.show_view("people")
    speakers = console.page.locator("#speakers li")

    expect(speakers).to_have_count(1)
    expect(speakers.locator(".content")).to_have_text("Nora")
    expect(console.page.locator("#people .empty")).to_be_hidden()
    speakers.get_by_role("button", name="Open the last conversation with Nora").click()

    expect(console.page.locator("#reader")).to_contain_text("The boiler hums")
    assert console.page_errors == []


def test_a_card_stays_under_the_pointer_that_clicks_it_beside_the_open_form_u7(
    console: Console,
) -> None:
    console.sign_in("clicker")
    console.add_transcript(TRANSCRIPT)
    console.page.get_by_label("Transcript", exact=True).focus()
    card = console.page.locator("#conversations .card")
    box = card.bounding_box()
    assert box is not None

    console.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 4)
    console.page.mouse.down()
    console.page.mouse.up()

    expect(console.page.locator("#reader")).to_contain_text("lemon cake")


def test_an_open_conversation_leaves_room_to_read_and_to_ask_u7(console: Console) -> None:
    console.sign_in("wide")
    console.add_transcript(TRANSCRIPT).click()

    for width in (320, 900, 1151, 1152):
        console.page.set_viewport_size({"width": width, "height": 700})
        reader = console.page.locator("#reader").bounding_box()
        question = console.page.get_by_label("Your question").bounding_box()
        assert reader is not None
        assert reader["width"] >= 300
        assert width == 320 or (question is not None and question["width"] >= 200)


def test_more_hits_are_shown_and_the_first_of_them_is_focused_u7(
    console: Console, context: BrowserContext
) -> None:
    owner = console.sign_in_beside(context, "many-seeker")
    for walk in range(12):
        body = {
            "started_at": f"2026-01-{walk + 1:02}T10:00:00Z",
            "finished_at": f"2026-01-{walk + 1:02}T10:05:00Z",
            "transcript_segments": [{"text": f"We walked to the lighthouse, walk number {walk}."}],
        }
        url = f"{console.origin}/v1/conversations"
        assert context.request.post(url, data=body, headers=owner).ok
    console.sign_in("many-seeker")
    expect(console.page.locator("#conversations [aria-busy=false]")).to_have_count(12)
    console.page.get_by_label("Search your library").fill("lighthouse")
    console.page.keyboard.press("Enter")
    hits = console.page.locator("#hits > li")
    expect(hits).to_have_count(10)
    expect(console.page.locator("#hit-count")).to_have_text("The 10 best of 12")

    console.page.locator("#more-hits").press("Enter")

    expect(hits).to_have_count(12)
    expect(hits.nth(10)).to_be_focused()
    expect(console.page.locator("#hit-count")).to_have_text("12 found")
    console.page.get_by_label("Search your library").fill("")
    console.page.keyboard.press("Enter")
    expect(console.page.locator("#more-hits")).to_be_hidden()


def test_a_hit_shows_the_part_of_a_long_turn_that_matches_u7(console: Console) -> None:
    console.sign_in("far-seeker")
    filler = "We talked about the garden and the weather for a long while. " * 15
    console.add_transcript(f"Me: {filler}Then we climbed to the café on the hill. {filler}")

    console.page.get_by_label("Search your library").fill("climbing cafe")
    console.page.keyboard.press("Enter")

    passage = console.page.locator("#hits .passage")
    expect(passage).to_contain_text("You: …")
    expect(passage.locator("mark")).to_have_text(["climbed", "café"])
    expect(passage.locator("mark").first).to_be_in_viewport()


def test_a_conversation_is_renamed_starred_and_deleted_p30(console: Console) -> None:
    console.sign_in("editor")
    card = console.add_transcript(TRANSCRIPT)
    card.click()
    page, reader = console.page, console.page.locator("#reader")

    page.get_by_role("button", name="Rename this conversation").click()
    reader.get_by_label("Title").fill("Nuts and cake")
    page.keyboard.press("Enter")
    expect(reader.get_by_role("heading", level=2)).to_contain_text("Nuts and cake")
    expect(page.locator("#conversations .title")).to_have_text("Nuts and cake")

    star = page.get_by_role("button", name="Star this conversation")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")

    page.get_by_role("button", name="Delete this conversation").click()
    expect(reader).to_be_hidden()
    expect(page.locator("#conversations .card")).to_have_count(0)
    assert console.page_errors == []


def test_a_conversation_is_shared_by_a_link_until_that_is_stopped(console: Console) -> None:
    console.sign_in("sharer")
    console.add_transcript(TRANSCRIPT).click()
    page, reader = console.page, console.page.locator("#reader")
    share = page.get_by_role("button", name="Share this conversation by a link")

    share.click()
    expect(share).to_have_attribute("aria-pressed", "true")
    link = reader.locator(".secret code").inner_text()
    assert "lemon cake" in page.request.get(link).text()

    reader.get_by_role("button", name="Stop sharing").click()
    expect(share).to_have_attribute("aria-pressed", "false")
    expect(reader.locator(".secret")).to_have_count(0)
    assert page.request.get(link).status == 404
    assert console.page_errors == []


def test_a_speaker_is_named_and_renamed_p33(console: Console) -> None:
    console.sign_in("introducer")
    card = console.add_transcript(TRANSCRIPT)
    card.click()
    page, speakers = console.page, console.page.locator("#reader .speaker")

    page.get_by_role("button", name="Speaker 2", exact=True).click()
    page.get_by_label("Who is Speaker 2?").fill("Nora")
    page.keyboard.press("Enter")
    expect(speakers.nth(1)).to_have_text("Nora")

    console.show_view("people")
    page.get_by_role("button", name="Rename Nora").click()
    page.get_by_label("Name", exact=True).fill("Nora Weber")
    page.keyboard.press("Enter")
    expect(find_rows(page, "people").locator(".content")).to_have_text("Nora Weber")
    page.get_by_role("button", name="Who Nora Weber is to you").click()
    page.get_by_label("Who Nora Weber is to you", exact=True).last.fill("my sister")
    page.keyboard.press("Enter")
    expect(find_rows(page, "people").locator(".role")).to_have_text("my sister")
    console.show_view("library")
    card.click()
    expect(speakers.nth(1)).to_have_text("Nora Weber")


def test_the_name_that_a_speaker_has_stands_in_the_field_p33(console: Console) -> None:
    console.sign_in("corrector")
    console.add_transcript("Nora: The cake is for Sunday.\nVito: Good.\nNora: With lemon.").click()
    page = console.page

    page.get_by_role("button", name="Nora", exact=True).first.click()

    expect(page.get_by_label("Who is Nora?")).to_have_value("Nora")


def test_the_name_of_a_speaker_is_removed_by_keyboard_p33(console: Console) -> None:
    console.sign_in("mistaken")
    console.add_transcript(TRANSCRIPT).click()
    page, speaker = console.page, console.page.locator("#reader .speaker").nth(1)
    page.get_by_role("button", name="Speaker 2", exact=True).click()
    page.get_by_label("Who is Speaker 2?").fill("Nora")
    page.keyboard.press("Enter")
    expect(speaker).to_have_text("Nora")
    expect(page.get_by_role("button", name="This is not Nora")).to_be_focused()

    page.keyboard.press("Enter")

    expect(speaker).to_have_text("Speaker 2")
    expect(page.get_by_role("button", name="Speaker 2", exact=True)).to_be_focused()
    page.reload()
    page.locator("#conversations .card").click()
    expect(speaker).to_have_text("Speaker 2")
    assert console.page_errors == []


def test_memories_speak_to_their_owner_show_their_source_and_are_edited_u8(
    console: Console,
) -> None:
    console.sign_in("rememberer")
    console.add_transcript(TRANSCRIPT)
    page = console.page
    console.show_view("memories")
    page.get_by_label("A new memory").fill("The spare key is with the bakery.")
    page.keyboard.press("Enter")

    own = find_rows(page, "memories").filter(has_text="spare key")
    own.get_by_role("button", name="Edit").click()
    page.get_by_label("Memory", exact=True).fill("The spare key is with Nora.")
    page.keyboard.press("Enter")
    expect(find_rows(page, "memories").filter(has_text="with Nora")).to_contain_text("edited")

    extracted = find_rows(page, "memories").filter(has_text="You are allergic")
    expect(extracted.locator(".content")).to_have_text("You are allergic to walnuts and pecans")
    extracted.get_by_text("Source and history").click()
    expect(extracted.locator("blockquote")).to_contain_text("allergic to walnuts")
    extracted.get_by_role("button", name="Open the conversation").click()
    expect(page.locator("#reader .cited")).to_contain_text("allergic to walnuts")

    extracted.get_by_role("button", name="Delete").click()
    expect(extracted).to_have_count(0)
    assert console.page_errors == []


def test_a_field_that_is_left_saves_its_text_and_lets_the_next_one_have_the_keys_u8(
    console: Console,
) -> None:
    console.sign_in("wanderer")
    page = console.page
    console.show_view("memories")
    page.get_by_label("A new memory").fill("The spare key is with the bakery.")
    page.keyboard.press("Enter")
    memory = find_rows(page, "memories")
    memory.get_by_role("button", name="Edit").click()
    page.get_by_label("Memory", exact=True).fill("The spare key is with Nora.")

    page.get_by_label("Your question").click()

    expect(page.get_by_label("Your question")).to_be_focused()
    expect(memory.locator(".content")).to_have_text("The spare key is with Nora.")


def test_memories_are_merged_with_an_edited_text_by_keyboard_p14(console: Console) -> None:
    console.sign_in("merger")
    page = console.page
    console.show_view("memories")
    merge = page.get_by_role("button", name="Merge", exact=True)
    for text in ("Theo likes almonds.", "Theo loves marzipan.", "The ferry leaves at noon."):
        page.get_by_label("A new memory").fill(text)
        page.keyboard.press("Enter")
        expect(find_rows(page, "memories").filter(has_text=text)).to_be_visible()
    expect(merge).to_be_disabled()

    page.get_by_label("Choose: Theo likes almonds.").press("Space")
    expect(merge).to_be_disabled()
    page.get_by_label("Choose: Theo loves marzipan.").press("Space")
    page.get_by_role("button", name="Merge 2").press("Enter")
    words = page.get_by_label("New text")
    expect(words).to_be_focused()
    expect(words).to_have_value("Theo likes almonds. Theo loves marzipan.")
    words.fill("Theo likes almonds and marzipan.")
    page.get_by_role("dialog").get_by_role("button", name="Merge").press("Enter")

    expect(find_rows(page, "memories")).to_have_count(2)
    merged = find_rows(page, "memories").filter(has_text="almonds and marzipan")
    expect(merged).to_be_focused()
    merged.get_by_text("Source and history").click()
    expect(merged.locator(".earlier li")).to_have_count(2)
    expect(merged.locator(".earlier")).to_contain_text("Theo loves marzipan.")
    assert console.page_errors == []


def test_a_refused_merge_says_why_and_keeps_the_selection_p14(console: Console) -> None:
    console.sign_in("unmerged")
    page = console.page
    console.show_view("memories")
    for text in ("One.", "Two."):
        page.get_by_label("A new memory").fill(text)
        page.keyboard.press("Enter")
        page.get_by_label(f"Choose: {text}").wait_for()
    page.get_by_label("Choose: One.").check()
    page.get_by_label("Choose: Two.").check()
    page.get_by_role("button", name="Merge 2").click()
    page.get_by_label("New text").fill("   ")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()

    expect(page.get_by_role("dialog").get_by_role("alert")).not_to_be_empty()
    page.keyboard.press("Escape")

    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Merge 2")).to_be_focused()
    expect(find_rows(page, "memories")).to_have_count(2)


def test_tasks_are_added_completed_and_deleted_p5(console: Console) -> None:
    console.sign_in("doer")
    page = console.page
    console.show_view("tasks")
    page.get_by_label("A new task").fill("Water the tulips")
    page.get_by_label("Due").fill("2030-05-01")
    page.get_by_role("button", name="Add", exact=True).click()

    task = find_rows(page, "tasks").filter(has_text="Water the tulips")
    expect(task).to_contain_text("due Wed, 1 May 2030")
    task.get_by_role("checkbox").check()
    page.reload()
    expect(task.get_by_role("checkbox")).to_be_checked()

    task.get_by_role("button", name="Delete").click()
    expect(task).to_have_count(0)


def test_a_conversation_tells_its_tasks_that_are_done_from_open_ones_p5(console: Console) -> None:
    console.sign_in("finisher")
    card = console.add_transcript("Me: I will book the ferry.\nAnn: I will pack the tent.")
    expect(card.locator(".todo")).to_have_text(["Book the ferry", "Ann: Pack the tent"])
    expect(card.locator(".todo s")).to_have_count(0)

    console.show_view("tasks")
    find_rows(console.page, "tasks").filter(has_text="ferry").get_by_role("checkbox").check()
    console.show_view("library")
    expect(card.locator(".todo s")).to_have_text("Book the ferry")
    card.click()

    reader = console.page.locator("#reader")
    expect(reader.get_by_role("checkbox", name="Book the ferry")).to_be_checked()
    reader.get_by_role("checkbox", name="Ann: Pack the tent").check()

    expect(card.locator(".todo s")).to_have_text(["Book the ferry", "Ann: Pack the tent"])
    reader.get_by_role("checkbox", name="Book the ferry").uncheck()
    expect(card.locator(".todo s")).to_have_text(["Ann: Pack the tent"])
    console.show_view("tasks")
    tasks = find_rows(console.page, "tasks")
    expect(tasks.get_by_role("checkbox", name="Book the ferry")).not_to_be_checked()
    expect(tasks.get_by_role("checkbox", name="Ann: Pack the tent")).to_be_checked()


def test_a_key_opens_the_library_to_a_program_until_it_is_revoked_t19(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("opener")
    page = console.page
    page.get_by_role("button", name="opener", exact=True).click()
    programs = page.get_by_role("region", name="MCP keys")
    programs.get_by_role("button", name="New key").press("Enter")
    page.get_by_role("dialog", name="Which program is it for?").get_by_label("Name").fill(
        "My editor"
    )
    page.keyboard.press("Enter")
    key = programs.get_by_role("status").locator("code").inner_text()
    expect(programs.get_by_role("listitem")).to_contain_text("My editor")
    assert can_open_library(console, context, key)

    page.get_by_role("button", name="Revoke My editor").press("Enter")
    console.answer_dialog("Revoke")

    expect(programs.get_by_role("listitem")).to_have_count(0)
    assert not can_open_library(console, context, key)


def test_a_developer_key_reads_or_also_writes_as_its_owner_chose_r7(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("scripter")
    page = console.page
    page.get_by_role("button", name="scripter", exact=True).click()
    scripts = page.get_by_role("region", name="Developer keys")

    for name, answer, status in (
        ("Writer", "It may also change your library", 200),
        ("Reader", "It only reads", 403),
    ):
        scripts.get_by_role("button", name="New key").press("Enter")
        dialog = page.get_by_role("dialog", name="Which script is it for?")
        dialog.get_by_label("Name").fill(name)
        console.answer_dialog(answer)
        item = scripts.get_by_role("listitem").filter(has_text=name)
        expect(item).to_have_count(1)
        key = scripts.get_by_role("status").locator("code").inner_text()
        response = context.request.post(
            f"{console.origin}/v1/dev/user/memories",
            data={"content": "Likes trains."},
            headers={"Authorization": f"Bearer {key}"},
        )
        assert response.status == status
        assert ("reads only" in item.inner_text()) is (status == 403)


def can_open_library(console: Console, context: BrowserContext, key: str) -> bool:
    """Tell whether the library's MCP server lets a client in with this key."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    return context.request.post(f"{console.origin}/v1/mcp", data=body, headers=headers).ok


def test_everything_is_exported_and_then_erased_p30(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("leaver2")
    console.add_transcript(TRANSCRIPT)
    page = console.page
    page.get_by_role("button", name="leaver2").click()

    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert any("lemon cake" in archive.read(name).decode() for name in archive.namelist())

    expect(page.locator("#erasure-note")).to_contain_text("Nothing stays but a keyed hash")
    page.get_by_label("Type your name to confirm").fill("somebody")
    page.get_by_role("button", name="Erase everything").click()
    expect(console.problem).to_have_text("Type leaver2 to confirm.")
    page.get_by_label("Type your name to confirm").fill("leaver2")
    page.get_by_role("button", name="Erase everything").click()

    expect(page.get_by_label("Who are you?")).to_be_visible()
    expect(page.locator("#farewell")).to_have_text("All your data is erased.")
    owner = console.sign_in_beside(context, "leaver2")
    listing = context.request.get(f"{console.origin}/v1/conversations", headers=owner).json()
    assert listing == []


def test_discarded_conversations_have_a_list_and_come_back_by_one_press_p27(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("keeper-of-scraps")
    kept, thrown = [
        console.add_transcript(text) for text in ("Ann: The bakery opens at seven.", TRANSCRIPT)
    ]
    path = f"/v1/conversations/{thrown.locator('..').get_attribute('data-id')}"
    headers = console.sign_in_beside(context, "keeper-of-scraps")
    context.request.patch(f"{console.origin}{path}", data={"discarded": True}, headers=headers)
    cards = console.page.locator("#conversations .card")
    listed = console.page.get_by_label("Folder", exact=True)

    listed.select_option("Discarded")
    expect(cards).to_have_count(1)
    expect(cards).to_have_attribute("aria-busy", "false")
    console.page.get_by_role("button", name="Keep this conversation").press("Enter")
    expect(console.page.get_by_text("No conversation was discarded.")).to_be_visible()
    listed.select_option("All folders")

    expect(cards).to_have_count(2)
    expect(console.page.get_by_role("button", name="Keep this conversation")).to_have_count(0)
    assert kept.is_visible()
    assert console.page_errors == []
