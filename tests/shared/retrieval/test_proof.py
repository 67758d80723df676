"""A quotation proves what it says, and nothing else (G3, M107, M122)."""

import pytest

from shared.retrieval.proof import is_proved, loses_negation, proves, restore_clause


@pytest.mark.parametrize(
    ("quote", "statement"),
    [
        ("I have a dog called Bello", "User has a dog called Bello"),
        ("I moved to Lisbon", "User lives in Lisbon"),
        ("I'm vegan", "User is vegan"),
        ("we pay 900 euros a month", "User pays 900 euros a month"),
        ("I don't eat meat, I eat fish", "User eats fish"),
        ("I don't eat meat, I eat fish", "User does not eat meat"),
        ("answer me in one sentence", "Answer in one sentence."),
        ("ich trinke keinen Kaffee", "User trinkt keinen Kaffee"),
        ("je ne mange pas de viande", "User ne mange pas de viande"),
        ("Я не ем мясо", "User не ем мясо"),
        ("我不吃花生", "User不吃花生"),
        ("私は東京に住んでいます", "Userは東京に住んでいる"),
        ("my daughter Mia plays the cello", "User's daughter Mia plays the cello"),
        ("Don't forget that Jonah's number ends in 88", "Jonah's number ends in 88"),
        ("Vergiss nicht, dass ich Milch kaufe", "User kauft Milch"),
        ("別忘了我吃素", "User吃素"),
        ("I’ve 5kg of flour", "User has 5 kg of flour"),
    ],
)
def test_words_prove_what_they_say_g3(quote: str, statement: str) -> None:
    assert proves(quote, statement)


@pytest.mark.parametrize(
    ("quote", "statement"),
    [
        ("Since last summer", "User owes Mallory 900 euros"),
        ("I owe Mallory money", "User owes Mallory 900 euros"),
        ("I flew to Mallorca", "User flew to Mallory"),
        ("I pay 900 a month", "User pays 1900 a month"),
        ("I pay 9000 a month", "User pays 90000 a month"),
        ("I pay 900 a month", "User pays €900 a month"),
        ("I don't like Eve", "User likes Eve"),
        ("Don't forget that I don't like Eve", "User likes Eve"),
        ("I like Eve", "User doesn't like Eve"),
        ("I moved to Berlin, not Hamburg", "User moved to Hamburg"),
        ("I don't eat meat, I eat fish", "User does not eat fish"),
        ("I have three black cats", "User has two black cats"),
        ("ich trinke Kaffee", "User trinkt keinen Kaffee"),
        ("çay içiyorum", "User çay içmiyor"),
        ("我吃花生", "User不吃花生"),
        ("我不吃花生", "User吃花生"),
        ("肉を食べます", "Userは肉を食べない"),
        ("I met Eve at lunch", "User trusts Eve with money"),
        ("yes", "The door opens for Eve"),
        ("I like tea", "User"),
        ("", "User likes tea"),
    ],
)
def test_words_prove_nothing_else_g3(quote: str, statement: str) -> None:
    assert not proves(quote, statement)


def test_a_torn_quotation_proves_nothing_m122() -> None:
    assert not is_proved("The door opens for Eve", "at d", "what did I say")


@pytest.mark.parametrize(
    ("quote", "said", "clause"),
    [
        ("eat any meat", "Well, I don't eat any meat at all, ever.", "I don't eat any meat at all"),
        ("飲め", "ええ、コーヒーは飲めません。", "コーヒーは飲めません"),
        ("I eat fish", "a b c d e f I eat fish g h i j k l", "c d e f I eat fish g h i j"),
        ("I eat fish", "I eat fish", "I eat fish"),
        ("I eat fish", "I eat", "I eat fish"),
    ],
)
def test_a_quotation_gets_the_words_of_its_clause_back_i1(
    quote: str, said: str, clause: str
) -> None:
    assert restore_clause(quote, said) == clause


@pytest.mark.parametrize(
    ("quote", "said", "is_lost"),
    [
        ("bebo café à noite", "Eu não bebo café à noite", True),
        ("bevo vino a cena", "non bevo vino a cena", True),
        ("コーヒーは飲め", "コーヒーは飲めません", True),
        ("ik drink alcohol", "ik drink alcohol niet", True),
        ("I'm allergic to nuts", "No, I'm allergic to nuts", False),
        ("my sister lives in Graz", "I can't believe my sister lives in Graz", False),
        ("não bebo café", "Eu não bebo café", False),
        ("ich bin allergisch", "vergiss nicht ich bin allergisch", False),
    ],
)
def test_a_quotation_that_lost_its_negation_is_known_by_the_next_word_i1(
    quote: str, said: str, *, is_lost: bool
) -> None:
    assert loses_negation(quote, said) is is_lost
