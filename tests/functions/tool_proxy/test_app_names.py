"""Names that apps may not have: all that people know as ours, in whatever letters (S3)."""

import pytest

from functions.tool_proxy.registry.app_names import find_own_name


@pytest.mark.parametrize(
    "name",
    [
        "Search web recipes",
        "Crisis contacts",
        "My memories",
        "Forget me not",
        "Recall Notes",
        "X Ray",
        "Notion Export",
        "Rule the world",
        "Web 2.0",
        "Whoopee",
        "Remembering",
        "Find",
        "search",
        "fetch",
        "rn",
        "!",
        "记事本",
    ],
)
def test_a_name_that_holds_one_of_ours_as_a_part_is_free_s3(name: str) -> None:
    assert find_own_name(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "search_chats",
        "Find crisis contacts",
        "set_recall",
        "request_details",
        "search_web",
        "save_rule",
        "Set Focus Mode",
        "read_web_page",
        "Web pages",
        "Incognito",
        "Wipe",
    ],
)
def test_names_of_tools_services_commands_and_modes_are_reserved_s3(name: str) -> None:
    assert find_own_name(name) is not None
