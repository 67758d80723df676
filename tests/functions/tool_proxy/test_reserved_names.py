"""Reserved names: what a name looks like decides, not how it is encoded."""

import pytest

from functions.tool_proxy.registry.reserved_names import find_reserved_name

RESERVED = (
    "Keepsake",
    "Omi",
    "search_memories",
    "Gmail",
    "Google Calendar",
    "X",
    "Notion",
    "Whoop",
)
LOOK_ALIKES: list[tuple[str, list[str]]] = [
    (
        "Keepsake",
        [
            "keepsake",
            "KEEPSAKE",
            " Keep  sake ",
            "Keep-sake!",
            "“Keepsake”",
            "Keepsake™",
            "Ｋｅｅｐｓａｋｅ",
            "𝐊𝐞𝐞𝐩𝐬𝐚𝐤𝐞",
            "Ķéèpsaké",
            "Keep\u200bsake",
            "Keep\u202esake",
            "Кеерѕаке",
            "Kеepsake",
            "Κeepsake",
            "K33ps4ke",
            "Keep$ake",
        ],
    ),
    ("Omi", ["OMI", "0mi", "Omı", "OMl", "Οmi", "Оmі", "Omi.", "o_m_i"]),
    ("Gmail", ["GMAIL", "GmaiI", "Gmai1", "Gma!l", "Grnail", "G mail", "Ⓖmail", "🄶🄼🄰🄸🄻", "Ꮐmail"]),
    (
        "Google Calendar",
        ["GoogleCalendar", "google-calendar", "Gооgle Саlеndаr", "GOOGLE CALENDAR"],
    ),
    ("X", ["x", "Х", "×", "Χ", "𝕏", "X®"]),
    ("Notion", ["notion", "NOTI0N", "Ｎotion", "Νοτίοη", "!Notion|", "ꓠꓳꓔꓲꓳꓠ"]),
    ("Whoop", ["VVhoop", "WHOOP"]),
    (
        "search_memories",
        [
            "search memories",
            "searchMemories",
            "search-rnemories",
            "$earch!memorie$",
            "ѕеаrϲΗmemories",
        ],
    ),
]


@pytest.mark.parametrize(
    ("name", "reserved"), [(name, reserved) for reserved, names in LOOK_ALIKES for name in names]
)
def test_a_name_that_looks_like_a_trusted_one_is_reserved_s3(name: str, reserved: str) -> None:
    assert find_reserved_name(name, RESERVED) == reserved


@pytest.mark.parametrize(
    "name",
    [
        "Notes",
        "Mail",
        "Omics",
        "Homi",
        "Calendar",
        "Notion Export",
        "XY",
        "记事本",
        "Заметки",
        "!!!",
    ],
)
def test_other_names_are_free_s3(name: str) -> None:
    assert find_reserved_name(name, RESERVED) is None
