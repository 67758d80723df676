"""The expressions that are understood: each rule is a pattern and the meaning of its match.

The free rules hold anywhere in a sentence. The names ("may", "spring", "easter") are ordinary words
as well and hold only behind "in", "since", "before" and the like.
"""

import re
from collections.abc import Callable
from datetime import datetime

from shared.retrieval.dates import holidays, meanings, words
from shared.retrieval.dates.spans import Span

Rule = tuple[str, Callable[[re.Match[str], datetime], Span | None]]

_PARTS = "(?P<part>morning|afternoon|evening|night)"
_SEASON = f"(?P<season>{words.one_of(words.SEASONS)})"
_CERTAIN = tuple(
    {*holidays.HOLIDAYS, *holidays.FEASTS, *holidays.AFTER_THANKSGIVING} - {*holidays.WORDS_ALONE}
)
_ANY = (*_CERTAIN, *holidays.WORDS_ALONE)
_DECADE = rf"(?:['’]?[0-9]0s|(?:19[7-9]|20\d)0s|{words.one_of(words.DECADES)})"
_WEEK = "(?P<week>last|this|next) week"
_MAYBE_YEAR = f"{words.OF_YEAR}?"
_DAY = r"(?P<day>\d{1,2}(?:st|nd|rd|th)?)"
_UNTIL = r"(?P<until>\d{1,2}(?:st|nd|rd|th)?)"
_FROM_TO = rf"{_DAY}(?: ?[-–] ?| (?:to|until|and) ){_UNTIL}"
_ENDING = r"(?=\s*(?:[?.!,;:]|$)|\s(?:about|with|and|in|at|from|to|when|please)\b)"


def _spelled(names: tuple[str, ...]) -> str:
    """Write names as a pattern that does not insist on their apostrophes and dots."""
    return words.one_of(names).replace("'s", "['’]?s").replace("st p", r"st\.? p")


FREE: tuple[Rule, ...] = (
    (r"(?:earlier |later )?(?:the )?(?P<name>day before yesterday|day after tomorrow)", meanings.named_day),
    (r"(?:earlier |later )?(?P<name>yesterday|today|tomorrow)", meanings.named_day),
    (rf"(?:(?:early|late|later|earlier) )?(?P<which>this) {_PARTS}", meanings.part_of_day),
    (r"(?:late )?(?P<which>last) (?P<part>night)", meanings.part_of_day),
    ("tonight", meanings.tonight),
    ("the other day", meanings.other_day),
    (rf"(?:earlier |later )?(?:the )?(?P<which>last|previous|past|this|current|next|coming) {words.CALENDAR}(?! of )", meanings.which_period),
    ("(?:over|on|at|during) the weekend(?! (?:of|before|after) )", meanings.the_weekend),
    (rf"(?:the )?{words.CALENDAR} before last", meanings.before_last),
    (rf"(?:about |around |some )?{words.NUMBER} {words.UNIT} (?:ago|back)", meanings.ago),
    ("(?:about |around )?half an hour ago", meanings.half_hour),
    (rf"{words.NUMBER} {words.UNIT} from (?:now|today)", meanings.ahead),
    (rf"in (?:about )?{words.NUMBER} {words.UNIT}", meanings.in_time),
    (rf"(?:(?:the|these|in|over|within) (?:last|past|previous)|past) {words.NUMBER} {words.UNIT}", meanings.the_last),
    ("(?:the|in|over) (?:last|past) (?P<unit>hour)", meanings.the_last),
    (rf"(?:the|in|over|within) next {words.NUMBER} {words.UNIT}", meanings.the_next),
    (rf"(?:(?:on )?(?:this )?(?P<which>last|past|previous|this|next) )?(?P<name>{words.DAY})(?: (?:of )?{_WEEK})?", meanings.weekday),
    (rf"(?:the )?{_WEEK}(?:['’]s)?(?: on)? (?P<name>{words.DAY})", meanings.weekday),
    (rf"(?:(?:{words.DAY}),? )?(?:the )?{_DAY} {words.SURE_MONTH}{_MAYBE_YEAR}", meanings.month_day),
    (rf"(?:(?:{words.DAY}),? )?(?:the )?{words.NTH}(?: of)? {words.MONTH}{_MAYBE_YEAR}", meanings.month_day),
    (rf"(?:(?:{words.DAY}),? )?{words.SURE_MONTH} {_DAY}(?![:.]?\d){_MAYBE_YEAR}", meanings.month_day),
    (rf"(?:(?:{words.DAY}),? )?{words.MONTH} (?:the )?{words.NTH}{_MAYBE_YEAR}", meanings.month_day),
    (rf"{_FROM_TO}(?: of)? {words.SURE_MONTH}{_MAYBE_YEAR}", meanings.day_range),
    (rf"{words.SURE_MONTH} {_FROM_TO}{_MAYBE_YEAR}", meanings.day_range),
    (rf"on the (?P<day>\d{{1,2}}(?:st|nd|rd|th)){_ENDING}", meanings.day_of_month),
    (r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)", meanings.iso),
    (r"(?P<year>19[7-9]\d|20\d\d)-(?P<month>\d\d)(?!-?\d)", meanings.iso_month),
    (r"(?P<one>\d{1,2})(?P<mark>[/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)(?![\d/.]\d)", meanings.numeric),
    (rf"{words.SURE_MONTH}{words.OF_YEAR}", meanings.month),
    (rf"(?:this )?{words.WHICH} {words.SURE_MONTH}", meanings.month),
    (rf"(?:back )?(?:in|during|throughout) {words.YEAR}", meanings.whole_year),
    (rf"{words.WHICH} {_SEASON}", meanings.season),
    (rf"(?:the )?{_SEASON}{words.OF_YEAR}", meanings.season),
    (rf"q(?P<quarter>[1-4]){_MAYBE_YEAR}", meanings.quarter),
    (rf"(?:the )?(?P<quarter>first|second|third|fourth) quarter{words.OF_YEAR}", meanings.quarter),
    (rf"the (?P<decade>{_DECADE})", meanings.decade),
    (rf"(?:{words.WHICH} )?(?P<holiday>{_spelled(_CERTAIN)}){_MAYBE_YEAR}", meanings.holiday),
    (rf"{words.WHICH} (?P<holiday>{_spelled(_ANY)})", meanings.holiday),
    (rf"(?P<holiday>{_spelled(_ANY)}){words.OF_YEAR}", meanings.holiday),
)  # fmt: skip

NAMES: tuple[Rule, ...] = (
    (f"{words.MONTH}{_MAYBE_YEAR}", meanings.month),
    (rf"{_DAY} {words.MONTH}{_MAYBE_YEAR}", meanings.month_day),
    (rf"{words.MONTH} {_DAY}(?!\d){_MAYBE_YEAR}", meanings.month_day),
    (rf"(?:the )?{_SEASON}", meanings.season),
    (rf"(?P<holiday>{_spelled(_ANY)})", meanings.holiday),
)

YEARS: tuple[Rule, ...] = (
    (words.YEAR, meanings.whole_year),
    (rf"(?P<decade>{_DECADE})", meanings.decade),
)
