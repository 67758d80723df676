"""Masking: placeholders that are stable and readable, and the way back over every split and escape."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.security.masking import (
    Masker,
    PrivateSpans,
    StreamRestorer,
    change_json_strings,
    change_strings,
)
from shared.security.private_data import find_private

KEY = b"the key of a chat"
PLACEHOLDER = r"(EMAIL|PHONE|IBAN|CARD|ID|SECRET|TEXT)-[2-7][a-z2-7]{7}"
PIECES = st.sampled_from(
    [
        "ann@example.com",
        "joann@example.com",
        "+49 30 1234567",
        "DE89 3704 0044 0532 0130 00",
        'password: "a b\\"c"',
        *("EMAIL-2abcdefg", "EMAIL-", "ID-2abcd", "PA", "CARD", "EM", "-", "2abcdefg", "TEXT-3aaaaaaa"),
        *(" ", "x", "é", "\n", '"', "\\", "{", ":", "\\u0040", "[1]"),
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text()


def escape_all(json_text: str) -> str:
    """Write every letter of its strings as an escape, as a model may."""
    strings = json.loads(json_text)
    written = "".join(f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else sign for sign in strings)
    return f'"{written}"'


def test_a_placeholder_names_its_kind_and_says_nothing_else_m101():
    masked = Masker(KEY).mask("Write to ann@example.com or +49 30 1234567.")

    assert masked.startswith("Write to EMAIL-")
    assert " or PHONE-" in masked
    assert "ann" not in masked
    assert "1234567" not in masked


@given(TEXTS)
def test_every_text_comes_back_as_it_was_m101(text: str):
    masker = Masker(KEY)

    assert masker.restore(masker.mask(text)) == text


@given(st.lists(TEXTS, max_size=4))
def test_a_value_has_the_same_placeholder_in_each_turn_m101(texts: list[str]):
    first, second = Masker(KEY), Masker(KEY)

    assert [first.mask(t) for t in texts] == [second.mask(t) for t in reversed(texts)][::-1]


def test_chats_share_no_placeholder_m101():
    assert Masker(KEY).mask("ann@example.com") != Masker(b"another").mask("ann@example.com")


@given(TEXTS, TEXTS, st.data())
def test_a_stream_is_restored_over_every_split_m101(text: str, other: str, data: st.DataObject):
    masker = Masker(KEY)
    masked = f"{masker.mask(text)}EMAIL-2zzzzzzz{masker.mask(other)}"
    cuts = data.draw(st.lists(st.integers(0, len(masked)), max_size=20).map(sorted))
    ends = [*cuts, len(masked)]
    restorer = StreamRestorer(masker)

    restored = [restorer.feed(masked[a:b]) for a, b in zip([0, *cuts], ends, strict=True)]

    assert "".join([*restored, restorer.flush()]) == masker.restore(masked)


def test_each_single_split_and_each_character_alone_restore_alike_m101():
    masker = Masker(KEY)
    text = "EMAIL-E ann@example.com, ID-ID-2aEM+49 30 1234567"
    masked = masker.mask(text)
    for cut in range(len(masked) + 1):
        restorer = StreamRestorer(masker)
        assert restorer.feed(masked[:cut]) + restorer.feed(masked[cut:]) + restorer.flush() == text
    restorer = StreamRestorer(masker)
    assert "".join(map(restorer.feed, masked)) + restorer.flush() == text


def test_fewer_characters_wait_than_a_placeholder_has_m101():
    restorer = StreamRestorer(Masker(KEY))

    assert restorer.feed("Plain words. ") == "Plain words. "
    assert len(restorer.feed("SECRET-2abcdef")) == 0
    assert restorer.feed(" ") == "SECRET-2abcdef "


@given(st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_strings_of_json_are_restored_however_they_are_escaped_m101(value: dict[str, str]):
    masker = Masker(KEY)
    text = json.dumps(value)

    masked = change_json_strings(text, masker.mask)

    assert json.loads(change_json_strings(masked, masker.restore)) == value
    assert change_strings(change_strings(value, masker.mask), masker.restore) == value
    plain = json.dumps(change_strings(value, masker.mask), ensure_ascii=False)
    assert json.loads(change_json_strings(plain, masker.restore)) == value


@given(TEXTS)
def test_a_placeholder_may_be_written_in_escapes_m101(text: str):
    masker = Masker(KEY)
    escaped = escape_all(json.dumps(masker.mask(text)))

    assert json.loads(change_json_strings(escaped, masker.restore)) == text


@pytest.mark.parametrize(
    "broken", ['{"to": "EMAIL', '{"a": "\\x"}', '{"to": "ann@example.com', '"\\ud800"', "{]", ""]
)
def test_broken_json_is_left_broken_m101(broken: str):
    masker = Masker(KEY)

    assert change_json_strings(change_json_strings(broken, masker.mask), masker.restore) == broken


def test_what_json_needs_to_escape_is_escaped_m101():
    masker = Masker(KEY)
    secret = 'password: "a \\\\ b\'s"'
    masked = json.dumps({"note": masker.mask(secret), "half": "\ud800"})

    restored = change_json_strings(masked, masker.restore)

    assert json.loads(restored) == {"note": secret, "half": "\ud800"}


def test_a_placeholder_that_the_owner_typed_stays_what_it_is_m101():
    masker = Masker(KEY)
    placeholder = masker.mask("ann@example.com")

    masked = masker.mask(f"I typed {placeholder} myself")

    assert placeholder not in masked
    assert masker.restore(masked) == f"I typed {placeholder} myself"
    assert masker.restore(placeholder) == "ann@example.com"


def test_a_placeholder_inside_a_value_is_restored_once_m101():
    masker = Masker(KEY)
    nested = "EMAIL-2abcdefg@example.com and TEXT-2abcdefgEMAIL-2abcdefg"

    assert "2abcdefg" not in masker.mask(nested)
    assert masker.restore(masker.mask(nested)) == nested


def test_a_placeholder_that_a_model_made_up_stays_m101():
    masker = Masker(KEY)
    masker.mask("ann@example.com")

    assert masker.restore("Ask EMAIL-2abcdefg or PHONE-7aaaaaaa") == "Ask EMAIL-2abcdefg or PHONE-7aaaaaaa"  # fmt: skip


def test_a_part_of_a_value_is_masked_for_itself_m101():
    masker = Masker(KEY)
    text = "joann@example.com, ann@example.com"

    masked = masker.mask(text)

    first, second = masked.split(", ")
    assert first != second
    assert masker.restore(second) == "ann@example.com"
    assert masker.restore(masked) == text


def test_a_value_whose_placeholder_is_taken_gets_another_m101():
    masker = Masker(KEY)
    taken = Masker(KEY).mask("ann@example.com")
    masker._values[taken] = "ben@example.com"

    masked = masker.mask("ann@example.com")

    assert masked != taken
    assert masker.restore(f"{taken} {masked}") == "ben@example.com ann@example.com"


def test_two_values_never_share_a_placeholder_m101():
    masker = Masker(KEY)
    texts = [f"user{n}@example.com" for n in range(2_000)]

    assert len({masker.mask(text) for text in texts}) == len(texts)


def test_spans_are_remembered_by_hashes_alone_and_the_oldest_are_forgotten_m101():
    spans = PrivateSpans(max_texts=2)
    texts = [f"user{n}@example.com" for n in range(3)]

    found = [spans.find(text) for text in texts]

    assert found == [find_private(text) for text in texts]
    assert spans.find(texts[2]) is found[2]
    assert spans.find(texts[0]) is not found[0]
    assert "example" not in repr(vars(spans))
    many = f"{texts[0]} " * (PrivateSpans.MAX_SPANS + 1)
    assert spans.find(many) is not spans.find(many)
