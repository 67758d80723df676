"""C62: what is said for now, in jest, as an idea, a question, a quotation or a guess proves nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.offline.transient import passing

ME, YOU = "SPEAKER_00", "SPEAKER_01"


def judged(evidence: str, text: str, *later: tuple[str, str]) -> str | None:
    return passing([(YOU, "So?"), (ME, text), *later], 1, evidence)


PASSING = [
    ("for now", "I live with my parents", "For now I live with my parents."),
    ("for now", "I live with my parents", "I live with my parents, at least for now."),
    ("for now", "I don't eat sugar", "I don't eat sugar at the moment."),
    ("for now", "wohne ich bei", "Im Moment wohne ich bei meiner Schwester."),
    ("for now", "Ich wohne in Köln", "Ich wohne in Köln, aber nur vorübergehend."),
    ("for now", "J'habite chez ma mère", "J'habite chez ma mère pour l'instant."),
    ("for now", "Vivo con mi hermano", "Vivo con mi hermano, de momento."),
    ("for now", "lavoro da casa", "Per ora lavoro da casa."),
    ("taken back", "I'm a spy", "I'm a spy. Just kidding!"),
    ("taken back", "I'm a spy", "I'm a spy. Haha. No, I'm joking."),
    ("taken back", "I work at Bosch", "I work at Bosch, no, sorry, at Siemens."),
    ("taken back", "I have nine children", "I have nine children, just kidding."),
    ("taken back", "Ich bin Millionär", "Ich bin Millionär. War nur ein Scherz."),
    ("taken back", "Ich bin 34", "Ich bin 34. Nein, Quatsch, 35."),
    ("taken back", "Je suis astronaute", "Je suis astronaute. Mais non, je plaisante !"),
    ("taken back", "Soy torero", "Soy torero. Es broma."),
    ("taken back", "Sono il re di Napoli", "Sono il re di Napoli. Sto scherzando!"),
    ("taken back", "Lavoro a Torino", "Lavoro a Torino, anzi, a Ivrea."),
    ("idea", "I'd live in Lisbon", "If I were rich, I'd live in Lisbon."),
    ("idea", "I work at the Vatican", "Let's say we live in Rome. I work at the Vatican."),
    ("idea", "I had a dog", "I wish I had a dog."),
    ("idea", "ich in Rom wohnen", "Wenn ich reich wäre, würde ich in Rom wohnen."),
    ("idea", "ich bin dein Chef", "Angenommen, ich bin dein Chef."),
    ("idea", "j'habiterais à Nice", "Si j'étais riche, j'habiterais à Nice."),
    ("idea", "viviría en Cuba", "Si tuviera dinero, viviría en Cuba."),
    ("idea", "sarei un pirata", "Se vivessi sul mare, sarei un pirata."),
    ("question", "I like jazz", "Do I like jazz?"),
    ("question", "ich Diabetes habe", "Ob ich Diabetes habe?"),
    ("question", "j'habite ici", "Est-ce que j'habite ici ?"),
    ("question", "Soy alérgico", "¿Soy alérgico a las nueces?"),
    ("question", "sono allergico", "Chissà, sono allergico?"),
    ("quotation", "I'm allergic to cats", 'And Anna said: "I\'m allergic to cats".'),
    ("quotation", "I'm vegan", "Then he was like, I'm vegan."),
    ("quotation", "I love you", '"I love you," she said.'),
    ("quotation", "Ich bin schwanger", "Dann sagte sie: „Ich bin schwanger“."),
    ("quotation", "je déteste le fromage", "Paul m'a dit : « je déteste le fromage »."),
    ("quotation", "soy vegano", "Y Luis dijo: soy vegano."),
    ("quotation", "sono vegana", "Poi Carla ha detto: sono vegana."),
    ("guess", "I'm allergic to kiwis", "Maybe I'm allergic to kiwis."),
    ("guess", "I'm allergic to kiwis", "I think I'm allergic to kiwis."),
    ("guess", "ich bin allergisch", "Ich glaube, ich bin allergisch gegen Kiwis."),
    ("guess", "je suis allergique", "Je crois que je suis allergique aux kiwis."),
    ("guess", "soy alérgica", "Creo que soy alérgica al kiwi."),
    ("guess", "sono allergica", "Forse sono allergica al kiwi."),
]


@pytest.mark.parametrize(("reason", "evidence", "text"), PASSING)
def test_words_that_prove_nothing_lasting_are_told_with_the_reason_c62(reason, evidence, text):
    assert judged(evidence, text) == reason


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
    ("ich bin Diabetiker", "Der Arzt sagt, ich bin Diabetiker."),
    ("ich bin schwanger", "Stell dir vor, ich bin schwanger!"),
    ("Ich wohne in Köln", "Ich wohne in Köln, weißt du?"),
    ("Ich glaube an Gott", "Ich glaube an Gott."),
    ("Ich arbeite bei Ford", "Ich arbeite bei Ford. Kein Scherz."),
    ("J'habite à Lyon", "J'habite à Lyon, tu sais ?"),
    ("je suis végétarienne", "Attends, je suis végétarienne."),
    ("Vivo en Sevilla", "Vivo en Sevilla, ¿sabes?"),
    ("soy enfermera", "Mi madre canta y yo soy enfermera."),
    ("Abito a Pisa", "Abito a Pisa, e tu dove abiti?"),
    ("Sono celiaca", "Sono celiaca. Davvero, non scherzo."),
]


@pytest.mark.parametrize(("evidence", "text"), PLAIN)
def test_a_plain_fact_stays_whatever_stands_beside_it_c62(evidence, text):
    assert judged(evidence, text) is None


def test_a_speaker_may_take_back_what_they_said_in_their_next_turn_c62():
    assert (
        judged("I'm a spy", "I'm a spy.", (YOU, "Really?"), (ME, "No, just kidding."))
        == "taken back"
    )
    assert judged("I'm a spy", "I'm a spy.", (YOU, "Just kidding?"), (ME, "It's true.")) is None
    assert judged("I'm a spy", "I'm a spy. In Oslo.", (YOU, "Ha!"), (ME, "Just kidding.")) is None


def test_a_quotation_between_clauses_is_judged_by_its_sentence_c62():
    assert judged(" ", ":  :") is None


@given(st.text(alphabet='ab, .?!"¿„:\n', min_size=1), st.data())
def test_every_quotation_is_judged_c62(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    assert judged(text[start:end], text) in {None, "question", "quotation"}
