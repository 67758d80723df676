"""Forms of single words: letters before a word, what an apostrophe cuts off, and which language counts (E5)."""

import pytest

from shared.retrieval.stemming import MAX_STEMMED_CHARS
from shared.retrieval.word_forms import has_forms, list_all_forms, list_forms


@pytest.mark.parametrize(
    ("word", "language", "forms"),
    [
        ("l'oreille", "fr", ["oreil"]),
        ("b'fhéidir", "ga", ["feidir"]),
        ("c'è", "it", ["ce"]),  # a letter is no word to cut off to
        ("istanbul'da", "tr", ["istanbul"]),
        ("'da", "tr", ["da"]),
        ("o'neill", "de", ["oneill"]),
        ("وكتب", "ar", ["كتب"]),
        ("وبيت", "ar", ["وبي", "بيت"]),
        ("وكت", "ar", ["وكت"]),  # a word has three letters at least
        ("ולכשבית", "he", ["ולכשבית", "לכשבית", "כשבית", "שבית"]),  # three letters at most
        ("והב", "he", ["והב", "הב"]),
        ("וה", "he", ["וה"]),
        ("häuser", "de-AT", ["haus"]),
        ("husene", "nb", ["hus"]),
        ("łódź", "pl", ["lodz"]),
        ("кућама", "hr", ["kuc"]),
        ("дома", "en", ["дом"]),
        ("घरों", "en", ["घर"]),
        ("houses", "en", []),
        ("2026", "de", []),
    ],
)
def test_a_word_has_the_forms_of_its_language_or_its_script_e5(
    word: str, language: str, forms: list[str]
) -> None:
    assert list(list_forms(word, language)) == [f"~{form}" for form in forms]


def test_a_question_asks_by_a_long_word_only_as_it_stands_e5() -> None:
    assert list_all_forms("x" * MAX_STEMMED_CHARS) != ()
    assert list_all_forms("x" * (MAX_STEMMED_CHARS + 1)) == ()


def test_only_languages_in_latin_letters_have_forms_of_latin_words_e5() -> None:
    assert [has_forms(code) for code in ("de-AT", "nb", "ru", "en", "")] == [
        *(True, True),
        *(False, False, False),
    ]
