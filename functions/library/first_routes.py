"""Routes by which an app opens its home screen: every instance of `library` imports them at its start."""

from functions.library.account import empty_answers, user_settings
from functions.library.conversations import conversation_lists, conversations, merge_routes
from functions.library.folders import folders
from functions.library.goals import goals
from functions.library.memories import memories
from functions.library.people import people
from functions.library.tasks import action_items, task_sync

FIRST_ROUTES = (
    *conversation_lists.ROUTES,
    *merge_routes.ROUTES,
    *conversations.ROUTES,
    *memories.ROUTES,
    *folders.ROUTES,
    *task_sync.ROUTES,
    *action_items.ROUTES,
    *people.ROUTES,
    *goals.ROUTES,
    *user_settings.ROUTES,
    *empty_answers.ROUTES,
)
