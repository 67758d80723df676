"""P14: lasting facts of the owner, in the third person and the language they were said in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.offline.memories import extract_facts, extract_memories, languages_of
from shared.domain.changing import find_exclusive_key

STATEMENTS = [
    ("en", "I'm allergic to peanuts.", "User is allergic to peanuts"),
    ("en", "Well, I live in Bergen.", "User lives in Bergen"),
    ("en", "By the way, my daughter Mia is six.", "User's daughter Mia is six"),
    ("en", "My daughter's name is Mia.", "User's daughter's name is Mia"),
    ("en", "I have two cats, Milo and Otis.", "User has two cats, Milo and Otis"),
    ("en", "I don't eat meat.", "User doesn't eat meat"),
    ("en", "I love my garden.", "User loves their garden"),
    ("en", "The launch moved to May, and I'm allergic to nuts.", "User is allergic to nuts"),
    ("en", "I still work at Ford, so I take the tram.", "User works at Ford"),
    ("en", "I've lived in Rome since 2010.", "User has lived in Rome since 2010"),
    ("en", "I teach chemistry because I like it.", "User teaches chemistry"),
    ("en", "My favourite colour is green.", "User's favourite colour is green"),
    ("en", "I'm 34, Tom, remember?", "User is 34"),
    ("en", "I believe in ghosts.", "User believes in ghosts"),
    ("de", "Ich wohne in Köln.", "User wohnt in Köln"),
    ("de", "Inzwischen arbeite ich bei Ford.", "User arbeitet bei Ford"),
    ("de", "Ich wohne mit meiner Schwester in Bonn.", "User wohnt mit Users Schwester in Bonn"),
    ("de", "Übrigens, ich bin Hebamme.", "User ist Hebamme"),
    ("de", "Ich habe zwei Söhne und einen Hund.", "User hat zwei Söhne und einen Hund"),
    ("de", "Meine Frau heißt Aylin.", "Users Frau heißt Aylin"),
    ("de", "Mein Geburtstag ist am 3. Mai.", "Users Geburtstag ist am 3. Mai"),
    ("de", "Ich kann nicht schwimmen.", "User kann nicht schwimmen"),
    ("fr", "J'habite à Lille.", "User habite à Lille"),
    ("fr", "Moi je travaille chez Renault.", "User travaille chez Renault"),
    ("fr", "Je ne mange pas de viande.", "User ne mange pas de viande"),
    ("fr", "Ma fille s'appelle Chloé.", "La fille de User s'appelle Chloé"),
    ("fr", "J'ai deux chats.", "User a deux chats"),
    ("fr", "Je vis avec ma sœur.", "User vit avec sa sœur"),
    ("fr", "Je suis née à Dakar.", "User est née à Dakar"),
    ("es", "Vivo en Cádiz.", "User vive en Cádiz"),
    ("es", "Mi hermana Rosa es arquitecta.", "La hermana Rosa de User es arquitecta"),
    ("es", "Tengo tres hijos.", "User tiene tres hijos"),
    ("es", "No como gluten.", "User no come gluten"),
    ("es", "Me encanta el flamenco.", "A User le encanta el flamenco"),
    ("es", "Soy zurda.", "User es zurda"),
    ("it", "Abito a Lucca.", "User abita a Lucca"),
    ("it", "Mio marito lavora a Roma.", "Il marito di User lavora a Roma"),
    ("it", "Mi piace il jazz.", "A User piace il jazz"),
    ("it", "Ho due gatti.", "User ha due gatti"),
    ("it", "Sono nata a Bari.", "User è nata a Bari"),
    ("it", "Vivo con mia zia.", "User vive con sua zia"),
]


@pytest.mark.parametrize(("language", "said", "content"), STATEMENTS)
def test_a_fact_is_stated_in_the_third_person_p14(language, said, content):
    assert [fact.content for fact in extract_facts(said, [language])] == [content]


@pytest.mark.parametrize(("said", "content"), [(said, content) for _, said, content in STATEMENTS])
def test_a_wrong_language_setting_does_not_change_the_facts_p14(said, content):
    contents = [
        fact.content
        for other in ("en", "xx", "")
        for fact in extract_facts(said, languages_of([said], other))
    ]

    assert contents == [content] * 3


@pytest.mark.parametrize(
    "said",
    [
        "I'm tired today.",
        "I'm a bit lost.",
        "I love this idea.",
        "I like how you did it.",
        "I have a meeting.",
        "I have an idea.",
        "My wife is here.",
        "My dog is sleeping.",
        "I work late.",
        "I live " + "very " * 15 + "far.",
        "I'm from what you would call a big family.",
        "Anna lives in Oslo.",
        "I've been doing it for years.",
        "I've been looking for work for a while.",
        "I love making him happy.",
        "I'm a huge fan.",
        "I studied hard.",
        "Ich habe keine Zeit.",
        "Ich bin müde.",
        "Ich mag das.",
        "Meine Frau ist krank.",
        "Ich spiele heute Klavier.",
        "J'ai faim.",
        "Je suis fatigué.",
        "Je suis le premier.",
        "Je viens de manger.",
        "J'adore ça.",
        "Tengo hambre.",
        "Estoy cansado.",
        "Soy yo.",
        "Me gusta eso.",
        "Ho fame.",
        "Sono stanco.",
        "Mi piace questo.",
        "Faccio la spesa.",
        "",
    ],
)
def test_transient_statements_and_statements_about_others_are_no_facts_p14(said):
    assert list(extract_facts(said)) == []


@pytest.mark.parametrize(
    ("said", "stated", "languages"),
    [
        ("The house is near the river and we like it.", "", ["en"]),
        ("Das Haus ist nicht weit und wir mögen es.", "en", ["en", "de"]),
        ("La maison est dans les bois.", "fr-FR", ["fr"]),
        ("Hm.", "xx", ["en", "de", "fr", "es", "it"]),
        ("Hm.", "it", ["it", "en", "de", "fr", "es"]),
    ],
)
def test_the_languages_spoken_are_known_by_common_words(said, stated, languages):
    assert languages_of([said], stated) == languages


def test_one_sentence_can_contain_two_facts_with_separate_evidence_p14():
    sentence_facts = extract_facts(
        "I live in Rome, by the river, and my wife works in Ostia.", ["en"]
    )

    assert [(fact.content, fact.evidence) for fact in sentence_facts] == [
        ("User lives in Rome, by the river", "I live in Rome, by the river"),
        ("User's wife works in Ostia", "my wife works in Ostia"),
    ]


def test_only_literal_statements_of_the_user_become_memories_c62():
    transcript = [
        {"segment": 0, "speaker": "ANN", "is_user": False, "text": "I live in Rome."},
        {"segment": 1, "speaker": "ME", "is_user": True, "text": "I live on Mars. Just kidding."},
        {"segment": 2, "speaker": "ME", "is_user": True, "text": "I live in Oslo."},
    ]

    stored_memories = extract_memories({"transcript": transcript, "language": "en"})["memories"]

    assert stored_memories == [
        {
            "content": "User lives in Oslo",
            "category": "system",
            "segment": 2,
            "evidence": "I live in Oslo",
        }
    ]


@given(
    st.lists(
        st.sampled_from([*(said for _, said, _ in STATEMENTS), "and", ",", "I", "mi", "¿", "ich"])
    )
)
def test_every_fact_quotes_its_sentence_c59(parts):
    sentence = " ".join(parts)

    for fact in extract_facts(sentence):
        assert fact.evidence in sentence
        assert 0 < len(fact.content.split()) <= 15


CHANGED = [
    ("en", "I live in Rome.", "I've moved on, I live in Oslo.", "home"),
    ("en", "My favourite tea is mint.", "My favourite tea is sage.", "favourite tea"),
    ("en", "I'm 34 years old.", "I'm 35.", "age"),
    ("de", "Ich wohne seit Mai in Ulm.", "Ich lebe bei Bonn.", "home"),
    ("de", "Ich arbeite bei Ford.", "Ich arbeite seit Mai bei Bosch.", "employer"),
    ("de", "Meine Lieblingsfarbe ist Rot.", "Meine Lieblingsfarbe ist Blau.", "favourite farbe"),
    ("fr", "J'habite à Lyon.", "Je vis à Nice.", "home"),
    ("fr", "J'ai 30 ans.", "J'ai 31 ans.", "age"),
    (
        "fr",
        "Ma couleur préférée est le bleu.",
        "Ma couleur préférée est le vert.",
        "favourite couleur",
    ),
    ("es", "Vivo en Cádiz.", "Ahora vivo en Vigo.", "home"),
    ("es", "Mi cumpleaños es en mayo.", "Mi cumpleaños es en junio.", "birthday"),
    ("es", "Mi color favorito es el rojo.", "Mi color favorito es el azul.", "favourite color"),
    ("it", "Abito a Lucca.", "Vivo a Pisa.", "home"),
    ("it", "Lavoro per Ferrari.", "Lavoro da Prada.", "employer"),
    ("it", "Mi chiamo Ugo.", "Mi chiamo Ugo Neri.", "name"),
]


@pytest.mark.parametrize(("language", "before", "after", "about"), CHANGED)
def test_a_correction_has_the_same_key_as_the_fact_it_corrects_c63(language, before, after, about):
    contents = [extract_facts(said, [language])[0].content for said in (before, after)]

    assert [find_exclusive_key(content) for content in contents] == [about, about]
