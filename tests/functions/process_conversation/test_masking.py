"""Masking in processing: the model reads placeholders, and what is derived has the values."""

from dataclasses import replace

from shared.adapters.masked_model import MaskedModels, derive_masking_key
from shared.data.account.profiles import Profiles
from shared.domain.account.profile import Profile
from shared.domain.ids import UserId
from shared.security.masking import Masker
from tests.fakes import ScriptedModel, UnmaskedModels, replace_stores
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_test_conversation,
)

SECRET = b"the secret of the server"
MAIL, PHONE = "ann@example.com", "+49 30 1234567"
SAID = f"Please write to {MAIL} and call {PHONE} about the launch, it moved to May."


async def process(database, *, is_masked: bool) -> tuple[ProcessingFixture, ScriptedModel]:
    masker = Masker(derive_masking_key(SECRET, ALICE))
    mail = masker.mask(MAIL) if is_masked else MAIL
    phone = masker.mask(PHONE) if is_masked else PHONE
    item = {"description": f"Write to {mail}"}
    memory = build_memory_output(f"Ann has {mail}", evidence=f"write to {mail} and call {phone}")
    output = build_extraction_output(memory, overview=f"Call {phone}.", action_items=[item])
    answers = {EXTRACTION: [output]}
    with ScriptedModel(answers=answers) as model:
        world = build_processing_fixture(database, model)
        models = MaskedModels(UnmaskedModels(model=model), masking="auto", secret=SECRET)
        world.deps = replace(world.deps, model=models)
        await world.deps.stores.profiles.change(ALICE, masks_private_data=is_masked)
        said = build_test_conversation(SAID, *["Yes, that is how we do it then."] * 20)
        await world.write(said)
        await world.deliver_all()
    return world, model


async def test_structure_tasks_and_memories_have_the_values_that_the_model_did_not_read_m101(
    database,
):
    world, model = await process(database, is_masked=True)

    read = repr(model.prompts)
    assert MAIL not in read
    assert PHONE not in read
    assert "EMAIL-" in read
    conversation = await world.load_conversation()
    assert conversation.structured.overview == f"Call {PHONE}."
    (item,) = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert item.description == f"Write to {MAIL}"
    (memory,) = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert (memory.content, memory.evidence) == (
        f"Ann has {MAIL}",
        f"write to {MAIL} and call {PHONE}",
    )


async def test_an_owner_who_wants_no_masking_has_none_m101(database):
    _, model = await process(database, is_masked=False)

    assert SAID in repr(model.prompts)


class CountedProfiles(Profiles):
    reads = 0

    async def get(self, uid: UserId) -> Profile:
        self.reads += 1
        return await super().get(uid)


async def test_all_that_is_done_with_a_conversation_rests_on_one_read_of_the_profile(database):
    answers = {EXTRACTION: [build_extraction_output()]}
    with ScriptedModel(answers=answers) as model:
        world = build_processing_fixture(database, model)
        profiles = CountedProfiles(world.documents)
        stores = replace_stores(world.deps.stores, profiles=profiles)
        world.deps = replace(world.deps, stores=stores)
        await world.write(build_test_conversation())
        await world.deliver_all()

    assert profiles.reads == 1
