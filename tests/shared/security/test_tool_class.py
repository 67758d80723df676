"""Class of a tool: what its name says, what its maker declares, and which of the two decides."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.security.tool_class import ToolClass, classify_tool, is_grave_choice

NAMES: Mapping[ToolClass, str] = {
    "read": """
    get_orders getOrders GetOrders GET_ORDERS list-events search_restaurants query_database
    hive_get_projects linear_list_my_issues WeatherLookup read_page fetchInvoice count_steps
    show_timeline find_or_fetch check_balance get_http_status getHTTPStatus get_call_history
    list_deleted_items get_name_and_address readSentEmails find_payments search_or_list
""",
    "write": """
    create_event update_event add_to_cart append_content linear_add_comment code_feature
    set_alarm log_meal start_timer hive_update_task_status translate ping frobnicate x 工具
    add_to_list add_item_to_shopping_list mark_as_read create_list update_search_text save_search
    find_and_replace search_and_save findOrCreate
""",
    "sensitive": """
    delete_event DeleteEvent like_tweet remove-item cancel_wro clear_history erase_all wipe_disk purgeCache
    reset_password revoke_key pay_bill buy_ticket place_order book_table transferMoney withdraw
    deposit charge_card donate send_message email_summary mail_report forward_thread text_friend
    call_contact post_tweet tweet retweet publishPost dispatch_driver share_document reply_to_mail
    invite_guest grant_access approve_request allow_visitor unlock_door open_gate disable_alarm
    run_query execute_sql create_order create_post IFTTTRunApplet GmailSendEmail SMSSendText
    get_and_delete_items list_or_remove search_and_book add_and_share ｄｅｌｅｔｅ_event
""",
}


@pytest.mark.parametrize(
    ("name", "tool_class"),
    [(name, tool_class) for tool_class, names in NAMES.items() for name in names.split()],
)
def test_the_first_verb_of_a_name_decides_and_with_and_or_or_the_most_severe_s1(
    name: str, tool_class: ToolClass
) -> None:
    assert classify_tool(name, read_only=False, destructive=False, method="POST") == tool_class


@pytest.mark.parametrize(
    ("name", "read_only", "destructive", "method", "tool_class"),
    [
        ("translate", True, False, "POST", "read"),
        ("create_report", True, False, "GET", "read"),
        ("send_message", True, False, "GET", "sensitive"),
        ("get_orders", True, True, "GET", "sensitive"),
        ("get_orders", False, False, "DELETE", "sensitive"),
        ("get_orders", True, False, "delete", "sensitive"),
        ("log_meal", False, False, "GET", "write"),
    ],
)
def test_a_declaration_makes_a_tool_severe_but_never_a_sensitive_name_mild_s1(
    name: str, *, read_only: bool, destructive: bool, method: str, tool_class: ToolClass
) -> None:
    assert (
        classify_tool(name, read_only=read_only, destructive=destructive, method=method)
        == tool_class
    )


@given(name=st.text(), read_only=st.booleans(), method=st.sampled_from(["GET", "POST", "PATCH"]))
def test_every_destructive_tool_is_sensitive_s1(name: str, *, read_only: bool, method: str) -> None:
    tool_class = classify_tool(name, read_only=read_only, destructive=True, method=method)

    assert tool_class == "sensitive"


@pytest.mark.parametrize(
    ("choice", "choices", "is_grave"),
    [
        ("delete", ["list", "create", "delete"], True),
        ("SEND_NOW", ["save_draft", "SEND_NOW"], True),
        ("cancelBooking", ["getBooking", "cancelBooking"], True),
        ("list", ["list", "delete"], False),
        ("email", ["text", "email"], False),
        ("book", ["book", "film"], False),
        ("delete", [], False),
        (True, ["list", "delete"], False),
    ],
)
def test_a_choice_among_deeds_says_what_a_call_does_s1(
    choice: object, choices: list[str], *, is_grave: bool
) -> None:
    assert is_grave_choice(choice, {"enum": choices} if choices else {}) == is_grave
