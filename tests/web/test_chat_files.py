"""Files in the console's chat: chosen, dropped, sent with a question, and shown after a reload (P21)."""

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import BrowserContext, FilePayload, Locator, expect

from tests.fixtures.documents import build_pdf
from tests.web.console import Console

TEXT = b"The keel is of oak, and it is nine metres long."
NOTES = FilePayload(name="keel.txt", mimeType="text/plain", buffer=TEXT)


def build_picture() -> FilePayload:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(buffer, "PNG")
    return FilePayload(name="boat.png", mimeType="image/png", buffer=buffer.getvalue())


def attach(console: Console, *files: FilePayload) -> Locator:
    """Choose files; returns their rows above the question."""
    page = console.page
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files(list(files))
    rows = page.locator("#attached li")
    expect(rows).to_have_count(len(files))
    expect(page.locator("#attached progress")).to_have_count(0)
    return rows


def test_files_go_with_a_question_and_stand_above_it_after_a_reload_p21(
    console: Console, tmp_path: Path
) -> None:
    console.sign_in("file-giver")
    page = console.page
    rows = attach(console, NOTES, build_picture())
    expect(rows.nth(1).locator("img")).to_be_visible()

    console.ask("How long is the keel?")
    expect(page.locator("#attached")).to_be_hidden()
    page.reload()

    cards = page.locator(".message.human .files li")
    expect(cards).to_have_text(["keel.txt", "boat.png"])
    expect(cards.nth(1).locator("img")).to_be_visible()
    assert (
        cards.nth(1)
        .locator("img")
        .evaluate("image => image.decode().then(() => image.naturalWidth)")
        > 0
    )
    with page.expect_download() as download:
        cards.first.get_by_role("button").press("Enter")
    assert download.value.suggested_filename == "keel.txt"
    download.value.save_as(tmp_path / "keel.txt")
    assert (tmp_path / "keel.txt").read_bytes() == TEXT
    assert console.page_errors == []


def test_a_file_that_cannot_be_read_says_why_and_one_is_taken_away_again_p21(
    console: Console,
) -> None:
    console.sign_in("file-taker")
    page = console.page
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files(
        FilePayload(name="run.exe", mimeType="application/pdf", buffer=b"MZ\x90\x00" * 99)
    )
    expect(page.locator("#ask .problem")).to_contain_text("run.exe")
    expect(page.locator("#attached")).to_be_hidden()

    row = attach(console, NOTES)
    row.get_by_role("button", name="Remove keel.txt").press("Enter")
    expect(page.locator("#attached")).to_be_hidden()
    console.ask("Hello")
    expect(page.locator(".message.human .files")).to_have_count(0)
    assert console.page_errors == []


def test_files_are_dropped_onto_the_chat_and_at_most_ten_p21(console: Console) -> None:
    console.sign_in("file-dropper")
    page = console.page
    transfer = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          for (let n = 0; n < 11; n++) data.items.add(new File([`Note ${n}.`], `note${n}.txt`, { type: "text/plain" }));
          return data;
        }"""
    )
    page.dispatch_event("#chat", "drop", {"dataTransfer": transfer})

    expect(page.locator("#attached li")).to_have_count(10)
    expect(page.locator("#ask .problem")).to_have_text("A question takes 10 files.")
    expect(page.locator("#attached progress")).to_have_count(0)
    assert console.page_errors == []


def test_a_cited_page_of_a_pdf_opens_in_a_tab_of_its_own_p17(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("file-citer")
    page = console.page
    headers = console.sign_in_beside(context, "file-citer")
    content = build_pdf("The mast", "The keel")
    upload = FilePayload(name="plan.pdf", mimeType="application/pdf", buffer=content)
    sent = context.request.post(
        f"{console.origin}/v2/files", headers=headers, multipart={"files": upload}
    )
    [file] = sent.json()
    page.evaluate(
        """async (file) => {
          const { Answer } = await import(moduleAt("/views/answer.js"));
          const api = { file: async () => file };
          const answer = new Answer({ api, read: () => {}, question: "?", retry: () => {}, show: () => {} });
          document.querySelector("#messages").append(answer.node);
          const talk = { id: "c1", created_at: file.created_at, structured: { title: "Talk", emoji: "🧠" } };
          answer.finish({
            id: "a1", text: "Of oak, she says.", memories_id: ["c1"], memories: [talk],
            metadata: {
              marked_text: "Of oak[1], she says[2].",
              file_citations: [{ number: 1, id: file.id, name: file.name, page: 2 }],
            },
          });
        }""",
        file,
    )

    expect(page.get_by_role("link", name="Source 2: Talk")).to_be_visible()
    expect(page.locator(".sources .number")).to_have_text(["2"])
    with context.expect_event("request", lambda request: "/document?" in request.url) as asked:
        page.get_by_role("link", name="Source 1: plan.pdf, page 2").click()
    answer = context.request.get(asked.value.url)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/pdf")
    assert console.page_errors == []
