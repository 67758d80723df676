"""Questions about Keepsake are answered from its own manual, also without a model (P8)."""

from functions.chat.tools.product_tools import NOTHING_FOUND
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.models.model import ToolResult
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_message_routes import ask


async def look_up(world: ChatFixture, query: str) -> tuple[str, object]:
    """Return what the model reads once it called the tool, and the sources of its answer."""
    call = script_calls(("get_product_info", {"query": query}))
    with ScriptedModel(call, script_answer("See there.")) as model:
        _, screen = await ask(world.deps(model), {"text": "How does that work?"})
    assert screen.done is not None
    results = [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)]
    return results[-1], screen.done["metadata"].get("sources")


async def test_the_manual_answers_with_the_names_of_its_pages_p8(world: ChatFixture) -> None:
    text, sources = await look_up(world, "import WhatsApp chats")

    assert text.startswith("From the page “How to”, “Import chats")
    assert "<data" not in text
    assert sources is None


async def test_what_the_manual_does_not_say_is_said_p8(world: ChatFixture) -> None:
    assert (await look_up(world, "zxqvw"))[0] == NOTHING_FOUND


async def test_a_query_that_is_no_text_is_refused_p8(world: ChatFixture) -> None:
    assert "query" in (await look_up(world, ""))[0]


async def test_without_a_model_the_best_passage_is_shown_p8(world: ChatFixture) -> None:
    await store_conversations(world, ADA, build_conversation(1, "I like chats."))

    question = {"text": "How do I import WhatsApp chats into Keepsake?"}
    _, screen = await ask(world.deps(OfflineModel()), question)

    assert screen.text.startswith("From the page “How to”, “Import chats")
    assert screen.text.count("From the page") == 1
