"""Markdown of answers: nothing that could run or make a request becomes an element."""

import pytest
from playwright.sync_api import Page

RENDER_CODE = """
async (text) => {
  const { render } = await import(moduleAt("/markdown.js"));
  const box = document.createElement("div");
  box.append(render(text, (n) => (n <= 2 ? `<${n}>` : null)));
  return box.innerHTML;
}
"""


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>\n"),
        ("Yes [1][2].", "<p>Yes &lt;1&gt;&lt;2&gt;.</p>\n"),
        ("A source nobody named [3].", "<p>A source nobody named [3].</p>\n"),
        ("a <b>tag</b>", "<p>a &lt;b&gt;tag&lt;/b&gt;</p>\n"),
        ("![a cat](https://x.example/cat.png)", "<p>a cat</p>\n"),
        ("`list[1]`", "<p><code>list[1]</code></p>\n"),
        ("3. Be brief.", '<ol start="3">\n<li>Be brief.</li>\n</ol>\n'),
    ],
)
def test_prose_is_formatted_and_its_markers_are_linked(
    module_page: Page, text: str, html: str
) -> None:
    assert module_page.evaluate(RENDER_CODE, text) == html


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "![seen](https://tracker.example/pixel.png)",
        "<script>alert(1)</script>",
        "<svg onload=alert(1)><use href='#x'/></svg>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<form action=https://evil.example><button>Go</button></form>",
        "<style>body { background: url(https://evil.example) }</style>",
        "<p style='background:url(https://evil.example)' onclick=alert(1)>text</p>",
        "<video poster=https://evil.example autoplay></video>",
        "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
        "<a href='//evil.example' ping='https://evil.example'>x</a>",
        "[click](javascript:alert(1))",
        "[click](JaVaScRiPt&colon;alert(1))",
        "[click](data:text/html,<script>alert(1)</script>)",
        "[click](http://plain.example)",
        "<p id=console class=primary name=body>text</p>",
    ],
)
def test_active_and_remote_content_is_removed(module_page: Page, text: str) -> None:
    names = module_page.evaluate(
        """
        async (text) => {
          const { render } = await import(moduleAt("/markdown.js"));
          const box = document.createElement("div");
          box.append(render(text));
          return [...box.querySelectorAll("*")].flatMap((node) =>
            [node.localName, ...node.getAttributeNames()]);
        }
        """,
        text,
    )

    assert set(names) <= {"p", "a"}


def test_links_open_in_a_new_tab_without_a_referrer(module_page: Page) -> None:
    html = module_page.evaluate(RENDER_CODE, "[docs](https://docs.example/a?b=c)")

    assert html == (
        '<p><a href="https://docs.example/a?b=c" target="_blank" rel="noopener noreferrer">'
        "docs</a></p>\n"
    )
