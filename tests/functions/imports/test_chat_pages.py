"""Chats that programs export as pages: their senders, moments and titles."""

import pytest

from tests.functions.imports.test_chat_programs import read

TELEGRAM = """<!DOCTYPE html><html><body><div class="page_header"><div class="text bold">Books </div></div>
<div class="message service" id="message-1"><div class="body details">2 May 2024</div></div>
<div class="message default clearfix"><div class="body"><div class="pull_right date details"
 title="02.02.2026 03:40:00 UTC+01:00">03:40</div><div class="from_name">Ann </div><div class="text">Up?</div></div></div>
<div class="message default clearfix joined"><div class="body"><div class="pull_right date details"
 title="02.02.2026 03:41:00 UTC+01:00">03:41</div><div class="text">I vote <strong>Emma</strong></div></div></div>
<div class="message default clearfix"><div class="body"><div class="pull_right date details"
 title="02.02.2026 03:42:00 UTC+01:00">03:42</div><div class="from_name">Bo</div><div class="text">No<br>way</div></div></div>
</body></html>"""
IMESSAGE = """<html><body><div class="message"><div class="received"><p><span class="timestamp"><a>Feb 02, 2026
  2:40:00 AM</a> (Read by you after 1 minute)</span> <span class="sender">Ann</span></p><div class="message_part"><span
 class="bubble">Up?</span></div></div></div><div class="message"><div class="sent iMessage"><p><span class="timestamp">Feb
 02, 2026  2:41:00 AM</span> <span class="sender">Me</span></p><span class="bubble">Yes</span></div></div></body></html>"""
META = """<html><head><title>Zoë</title></head><body><div class="pam _a6-g"><h2 class="_a6-h _a6-i">Bo</h2><div
 class="_3-95 _a6-p"><div><div></div><div>No</div><div></div><div><ul class="_a6-q"><li>❤ Zoë</li></ul></div></div></div><div
 class="_3-94 _a6-o">Feb 2, 2026 2:41 am</div></div><div class="pam _a6-g"><h2 class="_a6-h _a6-i">Zoë</h2><div
 class="_3-95 _a6-p"><div><div></div><div>Up?</div></div></div><div class="_a6-o">Feb 2, 2026 2:40 am</div></div></body></html>"""
DISCORD = """<!DOCTYPE html><html><body><div class=preamble__entry>Home</div><div class=preamble__entry>garden</div><div
 class=chatlog__message><span class=chatlog__author title=ann>Ann</span><span class=chatlog__timestamp
 title="Monday, February 2, 2026 2:40 AM">x</span><div class="chatlog__content chatlog__markdown">Up?</div></div><div
 class=chatlog__message><div class=chatlog__short-timestamp title="Monday, February 2, 2026 2:41 AM">x</div><div
 class="chatlog__content">Anybody?</div></div></body></html>"""


@pytest.mark.parametrize(
    ("page", "title", "turns"),
    [
        (TELEGRAM, "Books", [("Ann", 0, "Up?"), ("Ann", 60, "I vote Emma"), ("Bo", 120, "No\nway")]),
        (IMESSAGE, "", [("Ann", 0, "Up?"), ("Me", 60, "Yes")]),
        (META, "Zoë", [("Zoë", 0, "Up?"), ("Bo", 60, "No")]),
        (DISCORD, "garden", [("Ann", 0, "Up?"), ("Ann", 60, "Anybody?")]),
    ],
    ids=["Telegram", "iMessage", "Meta", "Discord"],
)  # fmt: skip
def test_a_page_of_a_chat_tells_who_and_when(page, title, turns):
    [entry], conversations = read("messages.html", page)

    assert entry["status"] == "kept"
    assert conversations == [(title, "2026-02-02T02:40", turns)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2. Februar 2026 2:40", "2. Februar 2026 2:41"),
        ("Montag, 2. Februar 2026 um 02:40", "Montag, 2. Februar 2026 um 02:41"),
        ("lunes, 2 de febrero de 2026 2:40", "lunes, 2 de febrero de 2026 2:41"),
        ("2 févr. 2026, 02:40", "2 févr. 2026, 02:41"),
        ("02.02.2026, 2:40", "02.02.2026, 2:41"),
        ("2026年2月2日 2:40", "2026年2月2日 2:41"),
    ],
)
def test_a_page_may_write_its_times_in_another_language(first, second):
    page = META.replace("Feb 2, 2026 2:40 am", first).replace("Feb 2, 2026 2:41 am", second)

    [entry], conversations = read("messages.html", page)

    assert entry["status"] == "kept"
    assert conversations == [("Zoë", "2026-02-02T02:40", [("Zoë", 0, "Up?"), ("Bo", 60, "No")])]


def test_a_page_that_tells_no_times_is_asked_about():
    [entry], _ = read("messages.html", META.replace("Feb 2, 2026 2:40 am", "yesterday at noon"))

    assert entry["status"] == "question"
