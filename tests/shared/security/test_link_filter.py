"""Link filter: no image or invented link leaves an answer (T11)."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.security.link_filter import LinkFilter, extract_urls

KNOWN_URLS = extract_urls(
    'See https://ann.example/lease?id=7 and {"url": "https://bob.example/a"}.'
)


def rewrite_pieces(*pieces: str) -> str:
    link_filter = LinkFilter(KNOWN_URLS.__contains__)
    return "".join([*map(link_filter.feed, pieces), link_filter.flush()])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![x](https://evil.example/?q=4711)", "[x] (hxxps://evil(.)example/?q=4711)"),
        ("![x](https://ann.example/lease?id=7)", "[x](https://ann.example/lease?id=7)"),
        ("![1](https://ann.example/lease?id=7)", "[1] (https://ann.example/lease?id=7)"),
        ("![x](data:image/png;base64,AA)", "[x] (data:image/png;base64,AA)"),
        ("[x](https://evil.example)", "[x] (hxxps://evil(.)example)"),
        ("[x](https://evil.example 'title')", "[x] (hxxps://evil(.)example 'title')"),
        ("[x](<https://evil.example>)", "[x] (< hxxps://evil(.)example>)"),
        ("[x](\nhttps://evil.example)", "[x] (\nhxxps://evil(.)example)"),
        ("[x](//evil.example)", "[x] (//evil.example)"),
        ("[x](javascript:alert(1))", "[x] (javascript:alert(1))"),
        ("[x](/v1/users/delete-account)", "[x] (/v1/users/delete-account)"),
        ("[x](https://xn--vil-hma.example)", "[x] (hxxps://xn--vil-hma(.)example)"),
        ("[x](https&#58;//evil.example)", "[x] (https& #58;//evil.example)"),
        ("https&colon;//evil.example", "https& colon;//evil.example"),
        ("https://&#58;", "hxxps://& #58;"),
        ("www.a&period;example", "www(.)a& period;example"),
        ("[![a](https://e.example/1)](https://e.example/2)",
         "[[a] (hxxps://e(.)example/1)] (hxxps://e(.)example/2)"),
        ("[x][1]\n\n[1]: https://evil.example", "[x][1]\n\n[1] : hxxps://evil(.)example"),
        ("![x][y]\n[y]: //evil.example/i.png", "[x][y]\n[y] : //evil.example/i.png"),
        ("<https://evil.example>", "< hxxps://evil(.)example>"),
        ("<img src=https://evil.example/x>", "< img src=hxxps://evil(.)example/x>"),
        ("<a href='//evil.example'>x</a>", "< a href='//evil.example'>x< /a>"),
        ("](<img src='//evil.example/x'>", "] (< img src='//evil.example/x'>"),
        ("Go to HTTPS://Evil.example/x.", "Go to HXXPS://Evil(.)example/x."),
        ("www.evil.example/x", "www(.)evil(.)example/x"),
        ("ftp://evil.example", "fxp://evil(.)example"),
        ("https:\\/\\/evil.example", "hxxps://evil(.)example"),
        ("https://e.example](https://f.example)", "hxxps://e(.)example] (hxxps://f(.)example)"),
        ("https://ann.example/lease?id=7(4711)", "hxxps://ann(.)example/lease?id=7(4711)"),
        ("https://ann.example/lease?id=7[4711]", "hxxps://ann(.)example/lease?id=7[4711]"),
        ("https://ann.example/lease?id=7]4711", "hxxps://ann(.)example/lease?id=7]4711"),
        ("https://ann.example/lease?id=7].4711", "hxxps://ann(.)example/lease?id=7].4711"),
        ("https://ann.example/lease?id=74711", "hxxps://ann(.)example/lease?id=74711"),
        ("https://a.example,https://b.example", "hxxps://a(.)example,hxxps://b(.)example"),
        ("[x](https://ann.example/lease?id=7(4711))",
         "[x] (hxxps://ann(.)example/lease?id=7(4711))"),
    ],
)  # fmt: skip
def test_invented_urls_are_defanged_and_images_are_removed(text: str, expected: str) -> None:
    assert rewrite_pieces(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "See https://ann.example/lease?id=7, or [there](https://bob.example/a).",
        '[x](https://bob.example/a "Title")',
        "(https://bob.example/a)",
        "[see https://bob.example/a], [https://bob.example/a]. Or [https://bob.example/a][1]",
        "She said so[1][2]. Great![1] And a[0], x < y, 3 <4, AT&T, R&D; what? www",
        "Half h, ht, http or https, xhttps://evil.example",
        "## Title\n- [ ] task\n`a && b`",
    ],
)
def test_known_urls_and_plain_text_are_unchanged(text: str) -> None:
    assert rewrite_pieces(text) == text


@pytest.mark.parametrize("word", ["Half", "High", "Show", "Hi there", "of"])
def test_plain_words_are_not_held_back(word: str) -> None:
    assert LinkFilter(KNOWN_URLS.__contains__).feed(word) == word


def test_an_endless_url_is_not_held_back() -> None:
    link_filter = LinkFilter(KNOWN_URLS.__contains__)
    pieces = [link_filter.feed(piece) for piece in ("https://evil.example/", *["x" * 500] * 10)]

    assert "".join(pieces).startswith("hxxps://evil(.)example/x")
    assert len("".join([*pieces, link_filter.flush()])) == len("hxxps://evil(.)example/") + 5_000


PIECES = """! [ ] ( ) : < & #58; colon; x 1 h ht http https:// www. https:\\/\\/ evil.example / ]( ]: . , " `
// https://ann.example/lease?id=7 <img ![a](https://evil.example) javascript: https://a"""
PARTS = st.sampled_from([*PIECES.split(), "\n", " "])
TEXTS = st.lists(PARTS, max_size=24)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
@example(["https://a", "](", "https://evil.example", ")"], [12])
def test_the_result_does_not_depend_on_how_the_text_is_split(
    parts: Sequence[str], cuts: Sequence[int]
) -> None:
    text = "".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(places)]

    assert rewrite_pieces(*pieces) == rewrite_pieces(text) == rewrite_pieces(*text)


@given(TEXTS)
def test_no_output_contains_an_image_or_a_link_to_an_unknown_url(parts: list[str]) -> None:
    output = rewrite_pieces("".join(parts))

    assert not re.search(r"!\[[^\]\d]*\]\(", output)
    assert not re.search(r"<[a-z/!?]|&(?:#|[a-z]+;)|\]:", output, re.IGNORECASE)
    for target in re.findall(r"\]\(([^\s)]*)", output):
        assert target in KNOWN_URLS
    for url in re.findall(
        r"(?<![a-zA-Z])(?:https?://|www\.)(?:[^\s<\[\]]|\](?!\W*(?:[\s(\[<]|\Z)))*", output
    ):
        assert url.rstrip(".,;:!?'\")>}*_~|`") in KNOWN_URLS
