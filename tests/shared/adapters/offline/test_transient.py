"""Transient statements: said for now, in jest, as an idea, a question, a quotation or a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.offline.transient import classify_transient

ME, YOU = "SPEAKER_00", "SPEAKER_01"


def classify(evidence: str, text: str, *later: tuple[str, str]) -> str | None:
    return classify_transient([(YOU, "So?"), (ME, text), *later], 1, evidence)


TRANSIENT = [
    ("for_now", "I live with my parents", "For now I live with my parents."),
    ("for_now", "I live with my parents", "I live with my parents, at least for now."),
    ("for_now", "I don't eat sugar", "I don't eat sugar at the moment."),
    ("joke", "I'm a spy", "I'm a spy. Just kidding!"),
    ("joke", "I'm a spy", "I'm a spy. Haha. No, I'm joking."),
    ("joke", "I work at Bosch", "I work at Bosch, no, sorry, at Siemens."),
    ("joke", "I have nine children", "I have nine children, just kidding."),
    ("idea", "I'd live in Lisbon", "If I were rich, I'd live in Lisbon."),
    ("idea", "I work at the Vatican", "Let's say we live in Rome. I work at the Vatican."),
    ("idea", "I had a dog", "I wish I had a dog."),
    ("question", "I like jazz", "Do I like jazz?"),
    ("quotation", "I'm allergic to cats", 'And Anna said: "I\'m allergic to cats".'),
    ("quotation", "I'm vegan", "Then he was like, I'm vegan."),
    ("quotation", "I love you", '"I love you," she said.'),
    ("guess", "I'm allergic to kiwis", "Maybe I'm allergic to kiwis."),
    ("guess", "I'm allergic to kiwis", "I think I'm allergic to kiwis."),
]


@pytest.mark.parametrize(("kind", "evidence", "text"), TRANSIENT)
def test_a_transient_statement_is_classified_by_its_reason_c62(kind, evidence, text):
    assert classify(evidence, text) == kind


PLAIN = [
    ("I'm allergic to nuts", "I'm allergic to nuts."),
    ("I'm allergic to nuts", "We leave the cake for now, I'm allergic to nuts."),
    ("I'm allergic to nuts", "I'm allergic to nuts, okay?"),
    ("I'm allergic to nuts", "If you cook for us: I'm allergic to nuts."),
    ("I'm allergic to nuts", "If I were you I wouldn't ask, I'm allergic to nuts."),
    ("I'm allergic to nuts", "Maybe we eat elsewhere, I'm allergic to nuts."),
    ("I have asthma", "I would have come but I have asthma."),
    ("I live in Oslo", "Just kidding. I live in Oslo."),
    ("I live in Oslo", "Imagine, I live in Oslo!"),
    ("I live in Oslo", "I live in Oslo? Yes, I live in Oslo."),
    ("I live in Oslo", "I live in Oslo. My brother keeps kidding me about it."),
    ("I'm a nurse", "I'm a nurse, and where do you work?"),
    ("I'm diabetic", "The doctor told me I'm diabetic."),
    ("I'm vegan", "I said: I'm vegan."),
    ("I love telling jokes", "I love telling jokes."),
    ("I'm a nurse", "In the meantime, I'm a nurse."),
    ("I have asthma", "The doctor asked if I was ill, I have asthma."),
    (
        "I'm a nurse",
        "if I were rich " + "and so on " * 40 + "I'm a nurse " + "and so on " * 40 + "?",
    ),
    ("I think cats are wise", "I think cats are wise."),
]


@pytest.mark.parametrize(("evidence", "text"), PLAIN)
def test_a_plain_fact_is_lasting_whatever_surrounds_it_c62(evidence, text):
    assert classify(evidence, text) is None


def test_a_speaker_may_take_back_what_they_said_in_their_next_turn_c62():
    assert (
        classify("I'm a spy", "I'm a spy.", (YOU, "Really?"), (ME, "No, just kidding.")) == "joke"
    )
    assert classify("I'm a spy", "I'm a spy.", (YOU, "Just kidding?"), (ME, "It's true.")) is None
    assert classify("I'm a spy", "I'm a spy. In Oslo.", (YOU, "Ha!"), (ME, "Just kidding.")) is None


def test_evidence_between_clauses_is_classified_by_its_sentence_c62():
    assert classify(" ", ":  :") is None


@given(st.text(alphabet='ab, .?!"¿„:\n', min_size=1), st.data())
def test_any_evidence_in_any_text_is_classified_c62(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    assert classify(text[start:end], text) in {None, "question", "quotation"}
