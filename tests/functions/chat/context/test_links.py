"""Links of an answer: found outside of code, and replaced by a search for what their address says (M123)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.links import build_search_link, list_links, replace_links

PAGE = "https://rail.example.com/lisbon/to-porto?day=1"
SEARCH = (
    "[Search for “rail.example.com lisbon to porto”]"
    "(https://duckduckgo.com/?q=rail.example.com+lisbon+to+porto)"
)


def replace_page(text: str) -> str:
    return replace_links(text, {PAGE}, lambda url: build_search_link(url, "Search for “{words}”"))


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (f"See {PAGE}.", [PAGE]),
        (f"See [the page]({PAGE}), or ({PAGE})!", [PAGE]),
        (f"**{PAGE}**", [PAGE]),
        ("a https://a.example/1 b https://b.example/2", ["https://a.example/1", "https://b.example/2"]),
        (f"`curl {PAGE}`", []),
        (f"```\n{PAGE}\n```", []),
        (f"```\n{PAGE}", []),
        ("xhttps://a.example ftp://a.example mailto:a@b.example", []),
        ("https://wiki.example/Foo_(bar)", []),  # nobody knows whether the bracket is a part of it
        ("https://wiki.example/Foo_(bar)/talk", ["https://wiki.example/Foo_(bar)/talk"]),
        ("[a](https://wiki.example/Foo_(bar))", []),
    ],
)  # fmt: skip
def test_links_are_found_outside_of_code_m123(text: str, links: list[str]) -> None:
    assert list_links(text) == links


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        (f"Go [by train]({PAGE}) then.", f"Go by train ({SEARCH}) then."),
        (f"Go: {PAGE}. Then", f"Go: {SEARCH}. Then"),
        (f"[]({PAGE})", SEARCH),
        (f"`{PAGE}` {PAGE}x", f"`{PAGE}` {PAGE}x"),
    ],
)
def test_a_search_stands_where_a_link_was_m123(text: str, replaced: str) -> None:
    assert replace_page(text) == replaced


@given(st.text(alphabet="[]()`h ", max_size=30), st.text(alphabet="[]()`h ", max_size=30))
def test_nothing_but_the_link_changes_m123(before: str, after: str) -> None:
    text = f"{before}\n{PAGE}\n{after}"

    replaced = replace_page(text)

    assert replaced in (text, f"{before}\n{SEARCH}\n{after}")
    assert (PAGE in list_links(text)) == (replaced != text)
