"""Memories in answers, and all of them forgotten by typed words (C51, C52, C69)."""

from playwright.sync_api import expect

from tests.web.console import Console


def test_recall_is_paused_and_nothing_is_volunteered_unasked_c51(console: Console) -> None:
    console.sign_in("recaller")
    page = console.page
    console.show_view("memories")
    recalls = page.get_by_label("Answers use what is remembered")
    volunteers = page.get_by_label("They may bring it up unasked")
    expect(recalls).to_be_checked()
    expect(volunteers).not_to_be_checked()

    volunteers.check()
    expect(page.locator("#recall [role=status]")).to_have_text("Saved.")
    recalls.uncheck()
    expect(volunteers).to_be_disabled()
    page.reload()
    expect(recalls).not_to_be_checked()
    expect(recalls).to_be_enabled()
    expect(volunteers).to_be_checked()
    assert console.page_errors == []


def test_similar_chats_are_switched_off_m100(console: Console) -> None:
    console.sign_in("separator")
    page = console.page
    console.show_view("memories")
    recalls = page.get_by_label("They know what similar chats came to")
    expect(recalls).to_be_checked()

    recalls.uncheck()
    expect(page.locator("#recall [role=status]")).to_have_text("Saved.")
    page.reload()

    remembers = page.get_by_label("Answers use what is remembered")
    expect(remembers).to_be_checked()
    expect(recalls).not_to_be_checked()
    remembers.uncheck()
    expect(recalls).to_be_disabled()
    assert console.page_errors == []


def test_all_memories_are_forgotten_by_the_typed_words_alone_c52(console: Console) -> None:
    console.sign_in("forgetter")
    page = console.page
    console.show_view("memories")
    rows = page.locator("#memories .rows > li")
    for text in ("I like tea", "I have a dog"):
        page.get_by_label("A new memory").fill(text)
        page.keyboard.press("Enter")
        expect(rows.filter(has_text=text)).to_be_visible()
    words = page.get_by_label("Type “delete everything” to confirm")

    words.fill("delete")
    page.keyboard.press("Enter")
    expect(page.locator("#recall .problem")).to_have_text("Type “delete everything” to confirm")
    expect(rows).to_have_count(2)

    words.fill("Delete everything")
    page.keyboard.press("Enter")
    expect(page.locator("#recall [role=status]")).to_have_text("Everything is forgotten.")
    expect(rows).to_have_count(0)
    page.reload()
    expect(page.locator("#memories > .empty")).to_be_visible()
    assert console.page_errors == []
