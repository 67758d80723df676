"""Templates over HTTP: apps that suit a conversation, trying out and describing one, and the preferred summary app."""

from functools import partial

from functions.process_conversation.processing.app_description import write_description
from functions.process_conversation.processing.template_schemas import (
    AppDescriptionOut,
    AppIdeaIn,
    PreferredAppIn,
    PromptIn,
    SuggestedAppsOut,
    SummaryOut,
)
from functions.process_conversation.processing.templates import try_template
from shared.domain.errors import Conflict
from shared.domain.ids import ConversationId
from shared.edge.declare.app_schemas import AppOut, AppViewer
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.library.count_model_usage import count_model_usage
from shared.library.deps import LibraryDeps
from shared.library.summary_apps import require_summary_app
from shared.library.user_model import load_model
from shared.reading.own_words import answer_own_words


@route(
    "POST",
    "/v1/conversations/{conversation_id}/test-prompt",
    "Try out a prompt for summaries on a conversation",
    errors=(401, 404, 409, 429, 502, 503),
    max_bytes=65_536,
)
async def try_prompt(deps: LibraryDeps, call: Call[PromptIn]) -> SummaryOut:
    """Return what a summary app with this prompt would write, or the plan where it tells of danger; nothing is stored."""
    conversation_id = ConversationId(call.path["conversation_id"])
    conversation = await deps.stores.conversations.get(call.uid, conversation_id)
    if conversation.has_deleted_transcript:
        raise Conflict("The transcript of this conversation was deleted.")
    profile = await deps.stores.profiles.get(call.uid)
    model = deps.model.for_user(call.uid, is_masked=profile.masks_private_data)
    write = partial(try_template, model, conversation, call.body.prompt, profile.zone)
    async with count_model_usage(deps.quotas, deps.clock, call.uid):
        answer = await answer_own_words(
            deps, call.uid, call.body.prompt, place="prompts", write=write
        )
    return SummaryOut(summary=answer.text)


@route(
    "POST",
    "/v1/app/generate-description",
    "Describe an app for those who may install it",
    errors=(401, 429, 503),
    max_bytes=65_536,
)
async def describe_app(deps: LibraryDeps, call: Call[AppIdeaIn]) -> AppDescriptionOut:
    """Return its maker's own words where the model fails, and the plan where they tell of danger."""
    idea = call.body
    words = "\n".join(filter(None, (idea.name, idea.description, idea.prompt)))
    write = partial(write_description, await load_model(deps, call.uid), idea)
    async with count_model_usage(deps.quotas, deps.clock, call.uid):
        answer = await answer_own_words(deps, call.uid, words, place="prompts", write=write)
    return AppDescriptionOut(description=answer.text)


@route(
    "GET",
    "/v1/conversations/{conversation_id}/suggested-apps",
    "List the installed summary apps that suit a conversation, the best first",
    errors=(401, 404),
)
async def list_suggested_apps(deps: LibraryDeps, call: Call) -> SuggestedAppsOut:
    conversation_id = ConversationId(call.path["conversation_id"])
    conversation = await deps.stores.conversations.get(call.uid, conversation_id)
    ids = conversation.suggested_summarization_apps
    apps = await deps.stores.apps.get_many(ids) if ids else []
    installed = {
        entry.app_id: entry for entry in await deps.stores.installed_apps.list_all(call.uid)
    }
    viewer = AppViewer(uid=call.uid, public_url=deps.public_url)
    return SuggestedAppsOut(
        suggested_apps=[
            AppOut.of(app, viewer, installed[app.id])
            for app in apps
            if app.id in installed and app.is_visible_to(call.uid)
        ]
    )


@route(
    "PUT",
    "/v1/users/preferences/app",
    "Choose the app that writes summaries; none without an id",
    errors=(401, 404, 422),
    is_query_accepted=True,
)
async def choose_preferred_app(deps: LibraryDeps, call: Call[PreferredAppIn]) -> OkOut:
    app_id = call.body.app_id or None
    if app_id is not None:
        await require_summary_app(deps.stores, call.uid, app_id)
    await deps.stores.profiles.change(call.uid, summary_app=app_id)
    return OkOut()


ROUTES = (
    try_prompt,
    describe_app,
    describe_app.at("/v1/app/generate-description-emoji"),
    list_suggested_apps,
    choose_preferred_app,
)
