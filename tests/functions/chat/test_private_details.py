"""Private details: no word that only memories brought in is left in a text (M119)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.notes.private_details import find_private_terms, has_private, hide_private
from shared.retrieval.terms import tokenize


@pytest.mark.parametrize(
    ("detail", "said", "text", "hidden"),
    [
        ("User's garden code is ZX-4711", "What is my garden code?",
         "Your garden code is ZX-4711.", "Your garden code is …-…."),
        ("User is allergic to walnuts", "May I eat this?",
         "No: there is a walnut in it.", "No: there is a … in it."),
        ("User's dog died in September", "How am I?",
         "Your dog died in September.", "Your … … in …."),
        ("User has 3 children", "Tell me", "You have 3 children.", "You have … …."),
        ("ユーザーは蕎麦アレルギーです", "何を食べる？", "蕎麦は避けてください。", "…は避けてください。"),
        ("User likes the sea", "Where is the sea?", "The sea is near.", "The sea is near."),
        ("", "Hello", "Hello there, Ann.", "Hello there, Ann."),
    ],
)  # fmt: skip
def test_what_only_a_memory_says_is_hidden_m119(
    detail: str, said: str, text: str, hidden: str
) -> None:
    private = find_private_terms([detail], said=said)

    assert hide_private(text, private) == hidden
    assert has_private(text, private) is (text != hidden)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_hidden_text_has_a_private_word_m119(detail: str, said: str, text: str) -> None:
    private = find_private_terms([detail], said=said)

    hidden = hide_private(text, private)

    assert not has_private(hidden, private)
    assert private.isdisjoint(tokenize(hidden))
