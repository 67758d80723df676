"""Decision between general and personal questions: 40 labelled ones, and 20 that no rule was made for."""

import pytest

from shared.adapters.embedded.offline.general import is_general

GENERAL = (
    "What is the capital of Portugal?", "How many legs does a spider have?", "Who wrote Hamlet?",
    "What is photosynthesis?", "How do I poach an egg?", "Why is the sea salty?",
    "Explain black holes", "Translate good morning into Spanish", "Tell me a joke",
    "What's the difference between a crocodile and an alligator?", "How long do turtles live?",
    "Write a poem about autumn", "When did the Second World War end?", "How tall is Mount Everest?",
    "Is a tomato a fruit?", "What does ubiquitous mean?", "Can dogs eat chocolate?",
    "Which planet is the largest?", "What are some good exercises for a stiff neck?",
    "How does a fridge work?",
)  # fmt: skip
PERSONAL = (
    "What do I have to do today?", "Who is Viktor?", "When is the dentist appointment?",
    "What did Nora say about the kitchen?", "Where do I live?", "How much does the new floor cost?",
    "What was decided about the lamps?", "Is Theo allergic to walnuts?", "Who wrote the invitation?",
    "What is the address of the flat?", "Why is the ferry late on Friday?", "How long does the trip take?",
    "What does Lena think of the plan?", "When did we last talk about money?", "Which hotel did Ines book?",
    "How many lamps did Marcus order?", "Explain what Priya meant by the deadline",
    "What is the price of the cabinets?", "Can Jonah take the cat?", "What are the next steps for the project?",
)  # fmt: skip
UNSEEN = (
    ("How far away is the moon?", True), ("What is a mortgage?", True), ("Who discovered penicillin?", True),
    ("Do cats dream?", True), ("How do vaccines work?", True), ("Convert 10 miles to kilometres", True),
    ("What is the best way to learn chess?", True), ("Why do leaves turn red?", True),
    ("Give me a recipe for pancakes", True), ("How many people live in Japan?", True),
    ("Did Hassan repair the brakes?", False), ("What colour are the cabinets?", False),
    ("Who promised to bring the goggles?", False), ("When does the exhibition open?", False),
    ("What is the reference for the insurance?", False), ("How is the knee?", False),
    ("Which book do we read next?", False), ("Where is the key?", False),
    ("What is Yuki planning?", False), ("Anything new from the council?", False),
)  # fmt: skip


@pytest.mark.parametrize("question", GENERAL)
def test_questions_about_the_world_are_general(question):
    assert is_general(question)


@pytest.mark.parametrize("question", [*PERSONAL, "Why is she dizzy?"])
def test_questions_about_the_owners_life_are_not(question):
    assert not is_general(question)


def test_four_of_five_unseen_questions_are_decided_rightly():
    wrong = [question for question, expected in UNSEEN if is_general(question) is not expected]

    assert len(wrong) <= len(UNSEEN) // 5, wrong
