"""Usage: what is assumed of users, and how long work holds an instance. The one place of assumptions."""

from dataclasses import dataclass

DAY_S = 86_400
MONTH_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an average user does on a day; at the peak, everything comes `peak_factor` times as often.

    A turn of an answer streams for `turn_s`. A conversation is processed in `processing_s`, its two
    model calls included; what follows an answer takes `after_turn_s`. `searching_of_ten_turns` are not answered by what is
    found before the model is asked: `make eval-answers` counts 15 %. Tools are called in one of
    `turns_a_tool_call`. A library is stored for `months_stored`. A device is connected and heard for
    `live_minutes_a_day`; `sound_kept` is the part of users who keep that sound, by `sound_kb_a_minute`. In `search_page_s` a
    page of users whose events may be lost is listed, and the next one asked for.

    `due_writes_a_turn` and `due_writes_a_conversation` are those that change when something is due: a run begins and ends;
    a conversation is announced, taken and done.
    """

    turns_a_day: float = 2.0
    conversations_a_day: float = 2.0
    notifications_a_day: float = 3.0
    library_requests_a_day: float = 20.0
    peak_factor: float = 4.0
    months_stored: float = 12.0
    turn_s: float = 12.0
    after_turn_s: float = 5.0
    processing_s: float = 15.0
    delivery_s: float = 0.5
    request_s: float = 0.2
    turns_a_tool_call: float = 3.0
    searching_of_ten_turns: int = 2
    tool_call_s: float = 2.0
    instance_load: float = 0.7
    turn_traffic_kb: float = 30.0
    log_line_kb: float = 1.0
    words_a_minute: float = 150.0
    live_minutes_a_day: float = 30.0
    sound_kept: float = 0.1
    sound_kb_a_minute: float = 240.0
    search_page_s: float = 0.1
    due_writes_a_turn: float = 2.0
    due_writes_a_conversation: float = 3.0


USAGE = Usage()
