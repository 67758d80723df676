"""The public routes of process_conversation, by the entry point that serves them."""

from typing import Any

from functions.process_conversation.developer_api import (
    action_item_routes,
    conversation_routes,
    goal_routes,
    memory_routes,
)
from functions.process_conversation.imports import import_routes
from functions.process_conversation.integrations import integration_routes
from functions.process_conversation.library import (
    account,
    action_items,
    chat_sharing,
    conversation_items,
    conversation_lists,
    conversations,
    empty_answers,
    folders,
    goals,
    keys,
    memories,
    merge_routes,
    people,
    sample_library,
    sharing,
    suggested_questions,
    task_sharing,
    task_sync,
    template_routes,
    transcript_edits,
    user_settings,
)
from functions.process_conversation.mcp_server.routes import MCP_ROUTES
from functions.process_conversation.speech import audio_routes
from functions.process_conversation.summaries import summary_routes
from functions.process_conversation.uploads import upload_routes
from shared.edge.declare.routes import Route

DEVELOPER_ROUTES = (
    *memory_routes.ROUTES,
    *action_item_routes.ROUTES,
    *conversation_routes.ROUTES,
    *goal_routes.ROUTES,
)
LIBRARY_ROUTES = (
    *conversation_lists.ROUTES,
    *merge_routes.ROUTES,
    *conversations.ROUTES,
    *conversation_items.ROUTES,
    *transcript_edits.ROUTES,
    *upload_routes.ROUTES,
    *import_routes.ROUTES,
    *audio_routes.ROUTES,
    *memories.ROUTES,
    *folders.ROUTES,
    *task_sync.ROUTES,
    *task_sharing.ROUTES,
    *action_items.ROUTES,
    *people.ROUTES,
    *goals.ROUTES,
    *user_settings.ROUTES,
    *empty_answers.ROUTES,
    *account.ROUTES,
    *summary_routes.ROUTES,
    *template_routes.ROUTES,
    *keys.ROUTES,
    *DEVELOPER_ROUTES,
    *sharing.ROUTES,
    *chat_sharing.ROUTES,
    *sample_library.ROUTES,
    *suggested_questions.ROUTES,
)
INTEGRATION_ROUTES = integration_routes.ROUTES
ROUTES: tuple[Route[Any], ...] = (*LIBRARY_ROUTES, *MCP_ROUTES, *INTEGRATION_ROUTES)
