"""Names that apps may not have: all that people know as ours, in whatever letters (S3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.tool_proxy.registry.app_names import (
    find_borrowed_trust,
    find_own_name,
    list_own_names,
)

LOOK_ALIKES = {
    "a": "аαΑ@4áａ𝐚",
    "b": "ВΒьƅ8Ᏼｂꓐḃ",
    "c": "сСϲϹⅽꓚçｃ",
    "d": "ԁⅾᗪꓓďｄđ",
    "e": "еЕΕ3℮€êｅ",
    "f": "ϝϜꓝḟｆƒ",
    "g": "ɡԍԌ69ğｇᏀ",
    "h": "һНΗհʜꓧĥｈ",
    "i": "іІΙ1lI|!ıïｉ",
    "j": "јЈϳꓙĵｊ",
    "k": "кКκΚᏦķｋK",
    "l": "ӏ1I|!ІłĺｌⅬ",
    "m": "мМΜⅿꓟṁｍ",
    "n": "ηΝпոꓠñｎ",
    "o": "оОοΟ0օՕσöｏ〇",
    "p": "рРρΡꓑṗｐ",
    "q": "ԛգｑ",
    "r": "гᴦɾʀꓣřｒ",
    "s": "ѕЅՏ5$šｓꓢ",
    "t": "тТτΤ7ťｔꓔ",
    "u": "υսцüｕꓴ",
    "v": "νѵѴⅴṽｖꓦ",
    "w": "ԝԜѡшωŵｗꓪ",
    "x": "хХχΧ×ⅹẋｘꓫ",
    "y": "уУγΥүýｙꓬ",
    "z": "ΖᴢꓜƵ2žｚ",
}
"""Letters that a reader takes for a Latin one, after UTS 39, and how these are written in play."""
SIGNS = " \t_-–.,:;!?'’\"“”()[]/\\|&+*#$€@™®•\u200b\u200d\u2060\u202e\u0301"
PAIRS = {"m": "rn", "w": "vv"}


@st.composite
def draw_variants(draw: st.DrawFn) -> str:
    """Draw what reads as a name of ours: in another case, with look-alikes, and signs anywhere."""
    name = draw(st.sampled_from(list_own_names()))
    written = [draw(st.sampled_from(list_forms(letter))) for letter in name]
    signs = [draw(st.text(SIGNS, max_size=2)) for _ in (*name, "")]
    return signs[0] + "".join(f"{a}{b}" for a, b in zip(written, signs[1:], strict=True))


def list_forms(letter: str) -> list[str]:
    """List what stands for a letter; a sign may stand there or not."""
    plain = letter.lower()
    if not plain.isalpha():
        return [letter, "", " ", "-"]
    pair = [PAIRS[plain]] if plain in PAIRS else []
    return [letter, plain, letter.upper(), *LOOK_ALIKES[plain], *pair]


@given(draw_variants())
def test_a_name_of_ours_is_known_in_any_case_letters_and_signs_s3(written: str) -> None:
    assert find_own_name(written) is not None


@pytest.mark.parametrize("name", list_own_names())
def test_each_name_of_ours_is_reserved_with_every_look_alike_s3(name: str) -> None:
    forms = max(len(list_forms(letter)) for letter in name)
    for turn in range(forms):
        written = "".join(list_forms(letter)[turn % len(list_forms(letter))] for letter in name)

        assert find_own_name(written) is not None, written


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
    assert find_borrowed_trust(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "Keepsake Security",
        "My Keepsake",
        "Keepsake Pro",
        "Keepsake2",
        "Support24",
        "Official Gmail",
        "OFFICIAL-GMAIL",
        "OfficialGmail",
        "Gmail officiel",
        "Gmail 公式",
        "Gmail by Google",
        "Google Calendar by Google",
        "The Google",
        "System",
        "Sуstеm",
        "$ecurity Te@m",
        "Gmail Support",
        "Omi Team",
        "The official Notion helper",
        "Ｋｅｅｐｓａｋｅ album",
        "Keepsake's Helper",
        "Keepsake’s Vault",
        "Gmail官方",
        "グーグルGmail公式",
        "Kundendienst Gmail",
        "Soporte Gmail",
        "Équipe Notion",
        "Notion Güvenlik",
        "Служба поддержки Gmail",
        "セキュリティ",
        "Sicherheit",
    ],
)
def test_a_name_that_borrows_trust_is_reserved_s3(name: str) -> None:
    assert find_borrowed_trust(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "Notion Export",
        "Omi to Obsidian",
        "Solar System Quiz",
        "Tabs for GitHub",
        "Home Security Log",
        "Sicherheit im Haus",
        "Équipe de vélo",
        "Ann's Garden",
    ],
)
def test_a_name_that_says_what_an_app_does_is_free_s3(name: str) -> None:
    assert find_borrowed_trust(name) is None


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
        "/wipe",
    ],
)
def test_names_of_tools_services_commands_and_modes_are_reserved_s3(name: str) -> None:
    assert find_own_name(name) is not None
