"""A quotation is found by its words, however a model spells it (I1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.passages import find_passage, find_quoted, stands_in_words, weigh_quotation

TEXT = (
    "Well, I've kept, uhm, bees since school — honestly, I can't stop. My aunt Inês lives in Évora."
)


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ("I've kept, uhm, bees since school", "I've kept, uhm, bees since school"),
        ("kept bees", "kept, uhm, bees"),
        ("i'VE kept bees since school", "I've kept, uhm, bees since school"),
        ("I’ve kept bees since school", "I've kept, uhm, bees since school"),
        ("Ive kept bees", "I've kept, uhm, bees"),
        ("Well I've kept bees", "Well, I've kept, uhm, bees"),
        ("since school - honestly", "since school — honestly"),
        (
            "I've kept bees … I can't stop",
            "I've kept, uhm, bees since school — honestly, I can't stop",
        ),
        ("I've kept bees [...] in Evora", TEXT[6:-1]),
        ("My aunt Ines lives", "My aunt Inês lives"),
        ("My aunt Ine\u0302s lives", "My aunt Inês lives"),
        ("“My  aunt Inês lives in Évora.”", "My aunt Inês lives in Évora"),
        ("Ｍｙ aunt, uh, Inês", "My aunt Inês"),
        ("... I can't stop ...", "I can't stop"),
        ("kept bees . . . I can&#39;t stop", TEXT[11 : TEXT.index(". My")]),
        ("I have kept bees since school", "I've kept, uhm, bees since school"),
        ("I cannot stop", "I can't stop"),
        ("I can not stop", "I can't stop"),
        ("User: My aunt Inês lives", "My aunt Inês lives"),
        ("[Segment 3] My aunt Inês lives", "My aunt Inês lives"),
        ("My aunt Inês [the older one] lives", "My aunt Inês lives"),
        ("My aunt ( Inês ) lives", "My aunt Inês lives"),
    ],
)
def test_the_passage_of_the_text_is_found_however_it_is_quoted_i1(quote: str, passage: str) -> None:
    span = find_quoted(quote, TEXT)

    assert span is not None
    assert TEXT[slice(*span)] == passage


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I go to the gym every day", "I go to the gym, um, every day"),
        ("I go to the gym every day", "Um, I go to, er, you know, the gym every day"),
        ("I go to the gym every day", "I go to the gym (laughs) every [inaudible] day"),
        ("j'ai arrêté l'école", "Ben, euh, j'ai arrêté, tu sais, l'école"),
        ("mi abuela nació en Vigo", "Pues, mi abuela, este, nació en Vigo"),
        ("у меня аллергия на мёд", "Ну, э-э, у меня, у меня, как бы, аллергия на мёд"),
        ("pracuję w Łodzi jako lekarz", "pracuję, yyy, w Łodzi jako lekarz"),
        ("私は去年から京都で習っています", "えーと、私は、あの、去年から京都で習っています"),
        ("我从小就对花生过敏", "我，嗯，从小就对花生过敏"),
        ("저는 부산에서 태어났어요", "음, 저는, 저는 부산에서, 그, 태어났어요"),
        ("أنا أعمل مهندسا", "أنا، يعني، أعمل مهندسا"),
        ("मैं शाकाहारी हूं", "मैं, मतलब, शाकाहारी हूँ"),
        (
            "ich habe das Fahrrad verkauft und gehe zu Fuß",
            "ich hab' das Fahrrad verkauft und geh zu Fuß",
        ),
        ("ज्यादा पानी पीता", "ज़्यादा पानी पीता"),
        ("في المدرسه كل يوم", "في المدرسة كل يوم"),
    ],
)
def test_what_is_said_while_somebody_thinks_is_left_out_in_many_languages_i1(
    quote: str, text: str
) -> None:
    assert find_quoted(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I the gym", "I like the gym"),
        ("I smoke every day", "I smoke, never, every day"),
        ("ich wohne in Bonn", "ich wohne also in Bonn"),
        ("I live in Bonn", "I live, as it were, in Bonn"),
        ("I smoke", "I [never] smoke"),
        ("I am working there", "I am (no longer) working there"),
        ("ich wohne dort", "ich wohne (nicht mehr) dort"),
    ],
)
def test_a_word_that_means_something_is_not_left_out_i1(quote: str, text: str) -> None:
    assert find_quoted(quote, text) is None


@pytest.mark.parametrize(
    "quote",
    [
        "I kept bees",
        "bees kept",
        "school honest",
        "I can stop … since school",
        "uhm",
        "…",
        "",
        "lives in Evo",
        "I am kept bees",
        "I do stop",
    ],
)
def test_other_words_are_no_quotation_i1(quote: str) -> None:
    assert find_quoted(quote, TEXT) is None


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I do not eat meat", "I don't eat meat"),
        ("They aren't mine, they are hers", "They are not mine, they're hers"),
        ("Let's say I will stay", "let us say I'll stay"),
        ("I'm gonna move to Rome", "I am going to move to Rome"),
        ("I wanna know, I gotta ask", "I want to know, I got to ask"),
        ("I won't, I shan't", "I will not, I shall not"),
        ("Im sure they dont mind", "I am sure they do not mind"),
        ("Mara's at home, she's had it", "Mara is at home, she has had it"),
        ("Lemme see, gimme that", "let me see, give me that"),
        ("Mir geht's gut, gibt's Tee", "mir geht es gut, gibt es Tee"),
        ("Ich hab's nicht gesagt", "Ich habe es nicht gesagt"),
        ("T'as vu, j'ai un chat", "Tu as vu, je ai un chat"),
        ("C'è una casa", "Ci è una casa"),
        ("Zo'n huis wil ik", "Zo een huis wil ik"),
        ("I, I live in, in Porto", "I live in Porto"),
        ("We went on the train, on the train to Faro", "We went on the train to Faro"),
        ("I, I'm a nurse at the, at the hospital", "I'm a nurse at the hospital"),
        ("Ma sœur vit à Łódź", "Ma soeur vit a Lodz"),
        ("Smørbrød æder jeg", "Smorbrod aeder jeg"),
        ("Þetta er bróðir hans", "Thetta er brodir hans"),
        ("I get up at 6 am", "I get up at 6am"),
        ("My brother-in-law sells ice cream", "My brother in law sells ice-cream"),
        ("I work at I.B.M. in Rome", "I work at IBM in Rome"),
        ("Abito all'estero da anni", "Abito all' estero da anni"),
        ("私はﾎﾟﾙﾄに住んでいます", "私は ポルトに 住んでいます"),
    ],
)
def test_the_same_words_in_another_spelling_are_found_both_ways_i1(said: str, quote: str) -> None:
    assert find_quoted(quote, said) == (0, len(said))
    assert find_quoted(said, quote) == (0, len(quote))


@pytest.mark.parametrize(
    "quote",
    [
        "I do … eat meat",
        "I do [not any more] eat meat",
        "I do eat meat",
        "I don't … meat",
    ],
)
def test_a_not_is_never_left_out_i1(quote: str) -> None:
    assert find_quoted(quote, "I do not eat meat") is None


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("I can eat meat", "I can not eat meat"),
        ("I do eat meat", "I don't eat meat"),
        ("I don't eat meat", "I do eat meat"),
        ("I'd eat meat", "I did not eat meat"),
        ("I own a hose", "I own a house"),
        ("I hate cooking", "I have to cooking"),
        ("I want meat", "I went meat"),
        ("I saw Anna", "I saw no one"),
        ("Her sister lives in Rome", "I am happy here."),
        ("Mein Bruder heißt Tom", "das ist meine."),
        ("I do not", "I do note"),
        ("I saw her", "I saw here"),
    ],
)
def test_what_merely_resembles_a_short_form_is_another_word_i1(quote: str, said: str) -> None:
    assert find_quoted(quote, said) is None
    assert find_quoted(said, quote) is None


@given(
    words=st.lists(st.sampled_from(TEXT.split()), min_size=1),
    first=st.integers(0, 20),
    last=st.integers(1, 21),
)
def test_every_run_of_words_is_found_in_its_text_and_as_it_stands_there_i1(words, first, last):
    text, quote = " ".join(words), " ".join(words[first:last])

    span = find_quoted(quote, text)

    assert (span is None) == (weigh_quotation(quote) == 0)
    assert span is None or text[slice(*span)] in text


def test_a_passage_without_spaces_ends_with_its_last_character_i1() -> None:
    text = "私は東京に住んでいます"

    assert find_passage("東京に", text) == (2, 5)
    assert find_quoted("東京…います", text) == (2, len(text))


def test_what_is_left_out_stands_in_no_passage_that_is_whole_i1() -> None:
    assert find_passage("I've kept bees … I can't stop", TEXT) is None


@pytest.mark.parametrize(
    ("quote", "said", "stands"),
    [
        ("at d", "what did I say", False),
        ("did i", "What did I say?", True),
        ("I like TEA!", "Well, I like tea.", True),
        ("say", "what did I say, I said", True),
        ("東京", "私は東京に住んでいます", True),
        ("京東", "私は東京に住んでいます", False),
        ("…", "what…", False),
    ],
)
def test_a_quotation_stands_in_whole_words_m122(quote: str, said: str, *, stands: bool) -> None:
    assert stands_in_words(quote, said) is stands


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("wohnt in Bonn er", "Wohnt in Bonn"),
        ("moro Lisboa", "Moro em Lisboa"),
        ("ich wohne Bonn", "Ich wohne um Bonn"),
        ("ten wide", "Ten mm wide"),
    ],
)
def test_a_real_word_is_no_hesitation_i1(quote: str, said: str) -> None:
    assert not stands_in_words(quote, said)
    assert stands_in_words(said, said)


@pytest.mark.parametrize("sound", ["uh", "Uhm", "umm", "ehm", "äh", "ähm", "hm", "hmm", "mhm"])
def test_a_sound_of_hesitation_may_be_left_out_i1(sound: str) -> None:
    assert stands_in_words("I keep bees", f"I, {sound}, keep bees")
