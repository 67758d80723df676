"""The routes that the library serves, other rooms' among them, which are named and not imported."""

from typing import Any

from functions.library.account import account, empty_answers, refused_calls, user_settings
from functions.library.bin import bin_routes
from functions.library.conversations import (
    conversation_items,
    conversation_lists,
    conversation_parts,
    conversations,
    doubles,
    merge_routes,
    transcript_edits,
)
from functions.library.folders import folders
from functions.library.goals import goals
from functions.library.memories import memories
from functions.library.people import people
from functions.library.programs import keys
from functions.library.programs.developer_api import (
    action_item_routes,
    ask_routes,
    conversation_routes,
    goal_routes,
    memory_routes,
    opened_routes,
)
from functions.library.programs.integrations import integration_routes
from functions.library.programs.mcp_server.routes import MCP_ROUTES
from functions.library.programs.oauth.routes import OAUTH_ROUTES
from functions.library.sharing import chat_sharing, sharing, task_sharing
from functions.library.tasks import action_items, task_sync
from functions.library.welcome import sample_library, suggested_questions
from shared.edge.declare.entry_points import load_routes
from shared.edge.declare.routes import Route

DEVELOPER_ROUTES = (
    *memory_routes.ROUTES,
    *action_item_routes.ROUTES,
    *conversation_routes.ROUTES,
    *ask_routes.ROUTES,
    *goal_routes.ROUTES,
    *opened_routes.ROUTES,
)
LIBRARY_ROUTES = (
    *conversation_lists.ROUTES,
    *merge_routes.ROUTES,
    *conversations.ROUTES,
    *conversation_items.ROUTES,
    *conversation_parts.ROUTES,
    *doubles.ROUTES,
    *transcript_edits.ROUTES,
    *load_routes("functions.media.uploads.upload_routes:ROUTES"),
    *load_routes("functions.imports.import_routes:ROUTES"),
    *load_routes("functions.media.sound.audio_routes:ROUTES"),
    *load_routes("functions.media.sound.sync_routes:ROUTES"),
    *load_routes("functions.media.sound.playback_routes:ROUTES"),
    *load_routes("functions.media.sound.speech_profile_routes:ROUTES"),
    *memories.ROUTES,
    *bin_routes.ROUTES,
    *folders.ROUTES,
    *task_sync.ROUTES,
    *task_sharing.ROUTES,
    *action_items.ROUTES,
    *people.ROUTES,
    *goals.ROUTES,
    *user_settings.ROUTES,
    *empty_answers.ROUTES,
    *account.ROUTES,
    *refused_calls.ROUTES,
    *load_routes("functions.process_conversation.days.summary_routes:ROUTES"),
    *load_routes("functions.process_conversation.processing.template_routes:ROUTES"),
    *keys.ROUTES,
    *DEVELOPER_ROUTES,
    *sharing.ROUTES,
    *chat_sharing.ROUTES,
    *sample_library.ROUTES,
    *suggested_questions.ROUTES,
)
INTEGRATION_ROUTES = integration_routes.ROUTES
ROUTES: tuple[Route[Any], ...] = (
    *LIBRARY_ROUTES,
    *MCP_ROUTES,
    *OAUTH_ROUTES,
    *INTEGRATION_ROUTES,
)
