"""Consent reply: yes, always and no in many languages, and nothing else in the message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.consent.consent_reply import MAX_CHARS, Reply, parse_reply

REPLIES: list[tuple[str, str, str, str]] = [
    ("English", "Yes", "Always", "No"),
    ("German", "Ja", "Immer", "Nein"),
    ("French", "Oui", "Toujours", "Non"),
    ("Spanish", "Sí", "Siempre", "No"),
    ("Portuguese", "Sim", "Sempre", "Não"),
    ("Italian", "Sì", "Sempre", "No"),
    ("Dutch", "Ja", "Altijd", "Nee"),
    ("Polish", "Tak", "Zawsze", "Nie"),
    ("Czech", "Ano", "Vždy", "Ne"),
    ("Slovak", "Áno", "Vždy", "Nie"),
    ("Slovene", "Da", "Vedno", "Ne"),
    ("Swedish", "Ja", "Alltid", "Nej"),
    ("Danish", "Ja", "Altid", "Nej"),
    ("Norwegian", "Ja", "Alltid", "Nei"),
    ("Icelandic", "Já", "Alltaf", "Nei"),
    ("Finnish", "Kyllä", "Aina", "Ei"),
    ("Estonian", "Jah", "Alati", "Ei"),
    ("Latvian", "Jā", "Vienmēr", "Nē"),
    ("Lithuanian", "Taip", "Visada", "Ne"),
    ("Turkish", "Evet", "Her zaman", "Hayır"),
    ("Azerbaijani", "Bəli", "Həmişə", "Xeyr"),
    ("Russian", "Да", "Всегда", "Нет"),
    ("Ukrainian", "Так", "Завжди", "Ні"),
    ("Bulgarian", "Да", "Винаги", "Не"),
    ("Serbian", "Да", "Увек", "Не"),
    ("Croatian", "Da", "Uvijek", "Ne"),
    ("Albanian", "Po", "Gjithmonë", "Jo"),
    ("Romanian", "Da", "Întotdeauna", "Nu"),
    ("Hungarian", "Igen", "Mindig", "Nem"),
    ("Greek", "Ναι", "Πάντα", "Όχι"),
    ("Catalan", "Sí", "Sempre", "No"),
    ("Basque", "Bai", "Beti", "Ez"),
    ("Afrikaans", "Ja", "Altyd", "Nee"),
    ("Arabic", "نعم", "دائماً", "لا"),
    ("Hebrew", "כן", "תמיד", "לא"),
    ("Persian", "بله", "همیشه", "نه"),
    ("Urdu", "ہاں", "ہمیشہ", "نہیں"),
    ("Hindi", "हाँ", "हमेशा", "नहीं"),
    ("Bengali", "হ্যাঁ", "সবসময়", "না"),
    ("Marathi", "होय", "नेहमी", "नाही"),
    ("Tamil", "ஆம்", "எப்போதும்", "இல்லை"),
    ("Telugu", "అవును", "ఎల్లప్పుడూ", "కాదు"),
    ("Chinese, simplified", "是的", "总是", "不"),
    ("Chinese, traditional", "對", "總是", "不要"),
    ("Japanese", "はい", "いつも", "いいえ"),
    ("Korean", "네", "항상", "아니요"),
    ("Vietnamese", "Có", "Luôn luôn", "Không"),
    ("Thai", "ใช่", "เสมอ", "ไม่"),
    ("Indonesian", "Ya", "Selalu", "Tidak"),
    ("Malay", "Ya", "Sentiasa", "Tidak"),
    ("Tagalog", "Oo", "Palagi", "Hindi"),
    ("Swahili", "Ndiyo", "Daima", "Hapana"),
]
SHORT_FORMS: list[tuple[str, Reply]] = [
    ("y", "yes"),
    ("yep", "yes"),
    ("ok", "yes"),
    ("O.K.", "yes"),
    ("Yes please!", "yes"),
    ("yes, yes, go ahead", "yes"),
    ("d’accord", "yes"),
    ("Ja, gerne.", "yes"),
    ("¡claro que sí!", "yes"),
    ("tá bom", "yes"),
    ("да, конечно", "yes"),
    ("好的，可以", "yes"),
    ("はい、お願いします。", "yes"),
    ("ㅇㅇ", "yes"),
    ("đúng", "yes"),
    ("👍", "yes"),
    ("👍🏽👍🏽", "yes"),
    ("yes 👍", "yes"),
    ("Yes, always.", "always"),
    ("да, всегда", "always"),
    ("sim sempre", "always"),
    ("n", "no"),
    ("nope", "no"),
    ("No, thanks", "no"),
    ("DON'T!", "no"),
    ("nein danke", "no"),
    ("ni hablar", "no"),
    ("大丈夫です", "no"),
    ("안돼요", "no"),
    ("đừng", "no"),
    ("👎", "no"),
]
OTHER_MESSAGES = [
    "",
    " ",
    "…",
    "yes?",
    "¿sí?",
    "نعم؟",
    "yes but only the first one",
    "yes and delete the other one too",
    "no, send it to Bob instead",
    "yes no",
    "no, ok",
    "always no",
    "no, not always",
    "yes 👎",
    "yes 1",
    "yes 🤣",
    "hello",
    "thanks",
    "tack",
    "why",
    "co",
    "ano ba yan",
    "today",
    "the usual",
    "si hace sol",
    "one",
    "1",
    "+1",
    "<yes>",
    "say yes",
    "never mind",
    "ja" * 300,
]


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        pytest.param(text, reply, id=f"{language}-{reply}")
        for language, yes, always, no in REPLIES
        for text, reply in ((yes, "yes"), (always, "always"), (no, "no"))
    ],
)
def test_yes_always_and_no_are_read_in_every_language_however_they_are_typed_s1(
    text: str, reply: Reply
) -> None:
    typed = [text, text.lower(), text.upper(), f" {text}. ", f"**{text}**!", f"{text}\u200b\n"]

    assert [parse_reply(spelling) for spelling in typed] == [reply] * len(typed)


@pytest.mark.parametrize(("text", "reply"), SHORT_FORMS)
def test_short_forms_and_phrases_that_agree_are_one_reply_s1(text: str, reply: Reply) -> None:
    assert parse_reply(text) == reply


@pytest.mark.parametrize("text", OTHER_MESSAGES)
def test_a_message_with_anything_else_in_it_is_no_reply_s1(text: str) -> None:
    assert parse_reply(text) is None


@pytest.mark.parametrize("text", ["no", "ne", "jo", "dung"])
def test_a_word_that_is_yes_in_one_language_and_no_in_another_counts_as_no_s1(text: str) -> None:
    assert parse_reply(text) == "no"


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("kylla", "yes"),
        ("NAO", "no"),
        ("întotdeauna", "always"),
        ("HAYIR", "no"),
        ("hayir", "no"),
        ("dong y", "yes"),
        ("לֹא", "no"),
        ("نَعَم", "yes"),
        ("هميشه", "always"),
        ("ＹＥＳ", "yes"),
        ("ﾊｲ", "yes"),
        ("y\u00ade\u200ds", "yes"),
        ("네~", "yes"),
        ("نعــم", "yes"),
    ],
)
def test_accents_width_and_invisible_characters_do_not_count_s1(text: str, reply: Reply) -> None:
    assert parse_reply(text) == reply


@given(st.lists(st.sampled_from([word for row in REPLIES for word in row[1:]]), max_size=4))
def test_no_words_beside_a_no_give_consent_s1(words: list[str]) -> None:
    assert parse_reply(" ".join([*words, "no"])) in {None, "no"}
    assert parse_reply(" ".join(["no", *words])) in {None, "no"}


@given(st.text(max_size=MAX_CHARS // 4))
def test_any_text_is_read_and_read_the_same_without_its_case_s1(text: str) -> None:
    assert parse_reply(text.casefold()) == parse_reply(text)
