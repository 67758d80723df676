"""Languages of the console: the browser's choice, the person's choice, and complete catalogs."""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser, Page, expect

from infra.local.routing import ROOT
from shared.domain.chats.built_in_names import BuiltInToolName
from tests.local_key import LOCAL_KEY
from tests.web.conftest import new_context
from tests.web.console import Console

WEB = ROOT / "web"
CATALOGS = sorted((WEB / "languages").glob("*.json"))
SCRIPTS = [
    file
    for file in sorted(WEB.rglob("*.js"))
    if "vendor" not in file.parts and file.name != "i18n.js"
]
TEXT = r'"(?:[^"\\]|\\.)*"'
CALL = re.compile(r"(?<![\w$])(?<!\w\.)(?:t|tn|tNodes)\(")
SINGLE = re.compile(rf"(?<![\w$])(?<!\w\.)(?:t|tNodes)\(\s*({TEXT})\s*[,)]")
SHOWN = re.compile(
    r"""(?:"aria-label":|\b(?:title|placeholder|label|alt|heading):|textContent\ =
    |\b(?:ask|askName|isSure|openDialog|Option|Problem)\()\s*(["`])(?=(?:(?!\1|\$\{).)*[A-Za-z]{2})
    |\},\s*(["`])(?=(?:(?!\2|\$\{).)*(?:[A-Z][a-z]|[a-z]\ [a-z]))""",
    re.VERBOSE,
)
"""A text, not a call of t(), where it becomes an attribute, a child or a question."""
TOOL_NAMES: tuple[str, ...] = get_args(BuiltInToolName)
PLURAL = re.compile(rf"(?<![\w$])(?<!\w\.)tn\(\{{\s*one: ({TEXT}),\s*other: ({TEXT}),?\s*\}},")


@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda path: path.stem)
def test_a_catalog_has_every_text_and_no_other(
    catalog: Path, module_page: Page, origin: str
) -> None:
    translations = json.loads(catalog.read_text())
    counting = find_counting_texts()
    offline_page = module_page.context.new_page()
    offline_page.goto(f"{origin}/offline.html")
    marked = find_marked_texts(module_page) | find_marked_texts(offline_page)
    offline_page.close()

    assert set(translations) == find_called_texts() | counting | marked
    assert list(translations) == sorted(translations)
    for text, translation in translations.items():
        assert isinstance(translation, dict) == (text in counting)
        for form in translation.values() if text in counting else [translation]:
            assert find_placeholders(form) == find_placeholders(text)


def test_every_tool_of_a_chat_has_a_name_in_words_in_every_language() -> None:
    words = (WEB / "words.js").read_text()
    labels = {
        name: re.search(rf"^  {name}: t\(({TEXT})\)", words, re.MULTILINE) for name in TOOL_NAMES
    }
    catalogs = {path.stem: json.loads(path.read_text()) for path in CATALOGS}

    assert [name for name, label in labels.items() if label is None] == []
    assert {
        (language, label[0])
        for label in labels.values()
        for language, catalog in catalogs.items()
        if label and json.loads(label[1]) not in catalog
    } == set()


@pytest.mark.parametrize("catalog", CATALOGS, ids=lambda path: path.stem)
def test_a_catalog_has_the_plural_forms_of_its_language(catalog: Path, module_page: Page) -> None:
    used = module_page.evaluate(
        """(language) => {
          const rules = new Intl.PluralRules(language);
          return [...new Set([0, 1, 2, 3, 5, 11, 21, 100].map((n) => rules.select(n)))];
        }""",
        catalog.stem,
    )
    translations = json.loads(catalog.read_text())

    for text in find_counting_texts():
        assert set(translations[text]) == set(used)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_texts_are_literals(script: Path) -> None:
    source = script.read_text()

    for call in CALL.finditer(source):
        line = source.count("\n", 0, call.start()) + 1
        literal = SINGLE.match(source, call.start()) or PLURAL.match(source, call.start())
        assert literal, f"{script.name}:{line} translates no literal text"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_no_text_is_shown_untranslated(script: Path) -> None:
    source = script.read_text()

    shown = [source[found.start() :].split("\n")[0] for found in SHOWN.finditer(source)]

    assert shown == []


def test_every_text_of_the_page_is_marked(module_page: Page) -> None:
    """Find texts outside of `data-t`, in forms too that only some hosts show."""
    unmarked = module_page.evaluate(
        """() => {
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walker.nextNode()) {
            const { data, parentElement: parent } = walker.currentNode;
            const names = parent.dataset.t?.split(" ") ?? ["none"];
            const isMarked = names.includes("") || names.includes("text");
            const isExempt = parent.closest("code, script, noscript, [translate=no], option[lang]");
            if (/[A-Za-z]/.test(data) && !isMarked && !isExempt) found.push(data.trim());
          }
          for (const name of ["aria-label", "title", "placeholder"]) {
            for (const node of document.querySelectorAll(`[${name}]:not([data-t~="${name}"])`)) {
              if (!/^https:/.test(node.getAttribute(name))) found.push(node.getAttribute(name));
            }
          }
          return found;
        }"""
    )

    assert unmarked == []


def test_a_sentence_of_the_server_is_marked_as_english(console: Console) -> None:
    console.page.goto(console.origin)
    console.page.get_by_label("Who are you?").fill("stranger")
    console.page.get_by_label("Local key").fill("not-the-key")

    console.page.get_by_role("button", name="Sign in").click()

    expect(console.problem).to_have_attribute("lang", "en")


def find_called_texts() -> set[str]:
    """Read the texts of t("…") and tNodes("…")."""
    return {json.loads(text) for file in SCRIPTS for text in SINGLE.findall(file.read_text())}


def find_counting_texts() -> set[str]:
    """Read the texts of tn({one: "…", other: "…"}); a catalog has them under the text for several."""
    return {json.loads(other) for file in SCRIPTS for _, other in PLURAL.findall(file.read_text())}


def find_marked_texts(page: Page) -> set[str]:
    """Read the texts that this page marks, before they are translated."""
    found: list[str] = page.evaluate(
        "async () => (await import(moduleAt('/i18n.js'))).findMarkedTexts()"
    )
    return set(found)


def find_placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\{\w+\}", text))


@pytest.mark.parametrize(
    ("locale", "name"), [("de-AT", "Aufgaben"), ("ja", "タスク"), ("fi", "Tasks")]
)
def test_the_browsers_language_is_chosen(
    browser: Browser, origin: str, locale: str, name: str
) -> None:
    page = browser.new_page(locale=locale)
    page.goto(f"{origin}/#key={LOCAL_KEY}")
    page.locator("#uid").fill("language")
    page.keyboard.press("Enter")

    expect(page.locator("#views [data-to=tasks]")).to_have_text(name)
    page.close()


def test_a_language_can_be_chosen(console: Console) -> None:
    console.sign_in("language-choice")
    console.page.locator("#account-button").click()

    console.page.locator("#account").get_by_label("Language").select_option("es")

    expect(console.page.locator("#views [data-to=tasks]")).to_have_text("Tareas")
    expect(console.page.locator("html")).to_have_attribute("lang", "es")


def test_a_language_can_be_chosen_before_sign_in(console: Console) -> None:
    console.page.goto(console.address)

    console.page.locator("#welcome").get_by_label("Language").select_option("fr")

    expect(console.page.get_by_label("Qui es-tu ?")).to_be_visible()
    expect(console.page.locator("html")).to_have_attribute("lang", "fr")


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["Mon, 2 Mar 2026", "tomorrow 18:00", "1,024.5", "1 turn", "2 turns"]),
        ("fr", ["lun. 2 mars 2026", "demain à 18:00", "1 024,5", "1 prise de parole", "2 prises"]),
        ("ja", ["2026年3月2日(月)", "明日 18:00", "1,024.5", "発言 1 件", "発言 2 件"]),
    ],
)
def test_dates_and_numbers_follow_the_chosen_language(
    console: Console, language: str, texts: list[str]
) -> None:
    console.page.goto(console.origin)
    console.page.evaluate("(choice) => localStorage.setItem('keepsake.language', choice)", language)
    console.page.reload()

    written: list[str] = console.page.evaluate(
        """async () => {
          const [{ day, due }, { formatNumber, tn }] = [await import(moduleAt("/words.js")), await import(moduleAt("/i18n.js"))];
          const turns = (n) => tn({ one: "{n} turn", other: "{n} turns" }, n);
          const now = new Date(2026, 2, 2, 9);
          return [day(now), due(new Date(2026, 2, 3, 18), now), formatNumber(1024.5), turns(1), turns(2)];
        }"""
    )

    for text, expected in zip(written, texts, strict=True):
        assert text.replace("\u202f", " ").startswith(expected)


@pytest.mark.parametrize(
    ("locale", "time"), [("en-US", "6:05 AM"), ("en-GB", "06:05"), ("de-DE", "06:05")]
)
def test_times_are_written_as_in_the_language(
    browser: Browser, origin: str, locale: str, time: str
) -> None:
    with closing(new_context(browser, locale=locale)) as context:
        page = context.new_page()
        page.goto(origin)

        written = page.evaluate(
            'async () => (await import(moduleAt("/words.js"))).hour(new Date(2026, 2, 2, 6, 5))'
        )

    assert written.replace("\u202f", " ") == time
