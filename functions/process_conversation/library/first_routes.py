"""Routes by which an app opens its home screen: every instance of `library` imports them at its start."""

from functions.process_conversation.library import (
    action_items,
    conversation_lists,
    conversations,
    empty_answers,
    folders,
    goals,
    memories,
    merge_routes,
    people,
    task_sync,
    user_settings,
)

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
