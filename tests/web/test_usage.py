"""Usage in the console: a bar for each quota, and how long transcripts are kept (P25, P34)."""

from playwright.sync_api import BrowserContext, Page, expect

from tests.web.console import Console


def test_the_account_shows_what_is_used_and_how_long_transcripts_are_kept_p25_p34(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("thrifty")
    console.ask("Hello")
    page = console.page

    page.locator("#account-button").click()
    turns = page.locator("#usage li", has_text="Questions")
    expect(turns).to_contain_text("1 of 20,000")
    expect(turns.get_by_role("meter", name="Questions")).to_have_attribute("value", "1")
    expect(page.locator("#usage meter")).to_have_count(12)
    expect(page.locator("#usage .recorded")).to_contain_text("0 minutes · 0 words")
    used = page.locator("#usage .roles tbody tr", has_text="Answers")
    expect(used.get_by_role("cell").first).to_have_text("1")
    expect(used.get_by_role("cell").last).to_contain_text("$0")  # the offline model is free
    expect(used.get_by_role("cell").first).to_have_attribute("data-column", "Calls")
    expect(page.locator("#usage .by-tokens")).to_be_hidden()  # it used no tokens
    page.get_by_label("Delete transcripts").select_option("after 30 days")
    expect(page.locator("#usage [role=status]")).to_have_text("Saved.")

    owner = console.sign_in_beside(context, "thrifty")
    profile = context.request.get(f"{console.origin}/v1/users/profile", headers=owner).json()
    assert profile["retention_days"] == 30
    assert console.page_errors == []


def test_the_tokens_of_days_are_drawn_where_there_are_any_p25(module_page: Page) -> None:
    bars = module_page.evaluate("""async () => {
      const { showModelUsage } = await import(moduleAt("/views/model_usage.js"));
      const used = { calls: 1, cached_tokens: 0, output_tokens: 100, cost_micro_usd: 0, priced_calls: 1 };
      const day = (day, tokens) => ({ day, turns: 1, models: [{ role: "agent", input_tokens: tokens, ...used }] });
      const view = document.querySelector("#usage .models");
      showModelUsage(view, [day("2026-03-03", 100), day("2026-03-04", 300)], new Date("2026-03-04T12:00Z"));
      const drawn = [...view.querySelectorAll("rect")].map((bar) => Number(bar.getAttribute("height")));
      return [view.querySelector(".by-tokens").hidden, ...drawn.slice(-3)];
    }""")

    assert bars == [False, 0, 60, 120]


def test_the_account_of_one_who_asked_a_model_fits_a_phone_p25(console: Console) -> None:
    console.page.set_viewport_size({"width": 360, "height": 800})
    console.page.goto(console.address)
    console.page.get_by_label("Who are you?").fill("narrow")
    console.page.keyboard.press("Enter")
    console.page.get_by_role("button", name="Chat", exact=True).click()
    console.greeting.wait_for()
    console.ask("Hello")

    console.page.locator("#account-button").click()
    expect(console.page.locator("#usage .roles")).to_be_visible()

    account = console.page.locator("#account")
    assert account.evaluate("(account) => account.scrollWidth <= account.clientWidth")
