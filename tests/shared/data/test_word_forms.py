"""Word forms: a question finds other forms of its words, in whatever language the conversation is (E5)."""

from datetime import UTC, datetime

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversations import Conversations
from shared.data.search.library_index import LibraryIndex
from shared.data.search.search import Search
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import ConversationId, UserId
from tests.fixtures.storage import INDEXES

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CASES = [
    ("fr", "J'ai mal à l’oreille depuis hier.", "oreilles"),
    ("fr", "Les chevaux courent dans le pré.", "un cheval"),
    ("fr", "Elle est arrivée avec ses enfants.", "l'enfant"),
    ("it", "Ho bevuto dell’acqua fredda.", "l'acqua"),
    ("it", "Ha portato un’amica alla festa.", "amiche"),
    ("ca", "L’home del mercat ven taronges.", "homes"),
    ("pt", "Bebi um copo d’água.", "águas"),
    ("ga", "Ba mhaith liom fanacht le m’athair.", "athair"),
    ("es", "Compramos dos billetes ayer.", "comprar un billete"),
    ("de", "Die alten Häuser am Hafen sind verkauft.", "Haus"),
    ("de", "Herr Müller kommt morgen.", "Mueller"),
    ("nl", "We hebben drie boeken geleend.", "boek"),
    ("sv", "Bilarna står på gatan.", "bil"),
    ("fi", "Asumme nyt isossa talossa.", "talo"),
    ("hu", "Két könyvet vettem.", "könyvek"),
    ("cs", "Ty knihy jsem už četl.", "kniha"),
    ("pl", "Byłem wczoraj u lekarza.", "lekarz"),
    ("tr", "Yarın İstanbul’da buluşuyoruz.", "ISTANBUL"),
    ("tr", "IŞIK çok parlak.", "ışık"),
    ("tr", "Kitaplarımı evde unuttum.", "kitap"),
    ("ru", "Я вчера был у врача.", "врач"),
    ("el", "Οι δρόμοι είναι κλειστοί.", "δρόμος"),
    ("hi", "मैंने दो किताबें खरीदीं।", "किताब"),
    ("ar", "قرأت الكتاب أمس.", "كتاب"),
    ("ar", "ذهبنا إلى البحر والمدرسة مغلقة.", "مدرسة"),
    ("ar", "عاد بالسيارة.", "السيارة"),
    ("he", "הילד רץ בגינה.", "ילד"),
    ("he", "נפגשנו ובבית היה חם.", "הבית"),
    ("fa", "کتاب‌ها روی میز است.", "کتاب"),
    ("de-AT", "Die Katzen schlafen.", "Katze"),
]


class Library:
    """A library with a talk in each language, and its search."""

    def __init__(self, database) -> None:
        documents, vectors = SqliteDocuments(database, INDEXES), SqliteVectors(database)
        self.conversations = Conversations(documents)
        self.index = LibraryIndex(vectors)
        self.search = Search(documents, vectors)

    async def keep(self, name: str, text: str, language: str) -> None:
        talk = Conversation(
            id=ConversationId(name),
            created_at=NOON,
            started_at=NOON,
            finished_at=NOON,
            language=language,
            transcript_segments=(Segment(text=text, speaker="Zoe"),),
        )
        await self.index.put(ALICE, await self.conversations.add(ALICE, talk))

    async def find(self, question: str) -> list[str]:
        hits = await self.search.search_conversations(ALICE, question, limit=50)
        return [hit.conversation.id for hit in hits]


@pytest.fixture
async def library(database) -> Library:
    """Hold all cases at once, and English talk, so that a form must lead to its own."""
    library = Library(database)
    for number, (language, text, _) in enumerate(CASES):
        await library.keep(f"c{number}", text, language)
    await library.keep("matt", "Matt likes herons, and the house of Rose.", "en")
    return library


async def test_a_form_of_a_word_is_found_by_another_in_each_language_e5(library):
    missed = []
    for number, (language, text, question) in enumerate(CASES):
        if (await library.find(question))[:1] != [f"c{number}"]:
            missed.append((language, text, question, await library.find(question)))

    assert missed == []


async def test_forms_of_other_languages_find_no_english_words(library):
    """German leaves "matt" of "matter", and French "ros" of "rose"."""
    assert "matt" not in await library.find("does it matter")
    assert await library.find("houses") == ["matt"]


async def test_a_question_of_another_language_finds_what_both_write_alike(library):
    await library.keep("trip", "Wir fahren mit Maria nach Lissabon.", "de")

    assert await library.find("When did Maria go?") == ["trip"]


async def test_words_stay_found_where_the_language_is_unknown_or_wrong(library):
    for number, language in enumerate(("", "multi", "xx", "fr")):
        await library.keep(f"x{number}", "Der Leuchtturm steht in Warnemünde.", language)

    assert set(await library.find("Leuchtturm Warnemuende Warnemünde")) == {"x0", "x1", "x2", "x3"}
