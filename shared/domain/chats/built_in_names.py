"""Built-in names: what the product, its tools in a chat and its commands are called; no app may have one."""

from typing import Literal

PRODUCT_NAMES = ("Keepsake", "Omi")
"""The product's name, and its old one."""
BuiltInToolName = Literal[
    "get_conversations",
    "search_conversations",
    "get_people_and_events",
    "delete_conversation",
    "get_memories",
    "search_memories",
    "remember",
    "update_memory",
    "delete_memories",
    "set_recall",
    "save_rule",
    "drop_rule",
    "search_chats",
    "get_action_items",
    "create_action_item",
    "update_action_item",
    "manage_daily_summary",
    "get_health_data",
    "read_file",
    "search_files",
    "create_chart",
    "get_product_info",
    "search_web",
    "start_exercise",
    "finish_exercise_step",
    "end_exercise",
    "set_focus_mode",
    "request_details",
    "find_crisis_contacts",
    "find_app_tools",
]
"""`build_builtin_tool` takes no other, so that a tool of ours cannot be built and left out here."""
SlashName = Literal[
    "memories",
    "why",
    "forget",
    "remember",
    "rules",
    "rule",
    "recall",
    "wipe",
    "incognito",
    "commands",
]
