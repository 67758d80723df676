"""Moderator of the console: the key that is entered there counts at once."""

from shared.adapters.embedded.chosen import Chosen
from shared.adapters.embedded.configured_moderator import ConfiguredModerator
from shared.adapters.embedded.model_file import ModelFile, ModelSetup
from shared.adapters.silent_moderator import SilentModerator
from shared.domain.chats.safety import Moderation
from shared.ports import Moderator
from tests.fakes import ScriptedModerator

SETUP = ModelSetup(
    kind="openai", base_url="http://127.0.0.1:9/v1", api_key="sk-1", model="a", small_model="b"
)


def build(setup: ModelSetup | None) -> Moderator:
    return ScriptedModerator([0.7]) if setup else SilentModerator()


async def test_nobody_rates_texts_until_a_key_is_entered_m128(tmp_path):
    file = ModelFile(tmp_path / "data")
    moderator = ConfiguredModerator(Chosen(file, build))
    before = await moderator.moderate("How?")
    file.store(SETUP)

    assert [before, await moderator.moderate("How?")] == [None, Moderation(harm=0.7)]
