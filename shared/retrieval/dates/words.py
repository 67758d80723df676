"""The words that name numbers, days, months, seasons and holidays, and patterns made of them.

A space in a pattern stands for any white space. The patterns are strings: whoever reads a first
question compiles them.
"""

from collections.abc import Iterable

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
ORDINALS = ("first", "second", "third", "fourth", "fifth")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # first months, north
DECADES = {"seventies": 1970, "eighties": 1980, "nineties": 1990}
OFFSETS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}

_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_VALUES = {word: number for number, word in enumerate(_NUMBERS)} | _TENS
_VAGUE = {"couple": (2, 3), "few": (2, 5), "several": (3, 7)}


def one_of(words: Iterable[str]) -> str:
    """Return a pattern that prefers the longer of two words with one beginning."""
    return "|".join(sorted(words, key=len, reverse=True))


DAY = one_of(WEEKDAYS)
MONTH = (
    rf"(?P<month>{one_of(MONTHS)}"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
SURE_MONTH = MONTH.replace("march", "(?-i:March|MARCH)").replace("may", "(?-i:May|MAY)")
SURE_MONTH = SURE_MONTH.replace("|mar|", "|(?-i:Mar)|")
NUMBER = (
    rf"(?P<count>\d{{1,3}}|(?:a )?(?:couple(?: of)?|few)|several|an?|{one_of(_VALUES)})"
)  # fmt: skip
CALENDAR = "(?P<unit>weekend|week|fortnight|month|quarter|year|decade)"
UNIT = "(?P<unit>second|minute|hour|day|weekend|week|fortnight|month|quarter|year|decade)s?"
YEAR = r"(?P<year>19[7-9]\d|20\d\d)"
OF_YEAR = rf"(?:,? (?:(?:of|in) )?(?:{YEAR}|(?P<of>last|this|next) year))"
NTH = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)|{one_of(ORDINALS)})"
WHICH = "(?P<which>last|previous|past|this|next)"


def count(words: str) -> tuple[int, int]:
    """Return the least and the most that a number word means."""
    vague = next((bounds for word, bounds in _VAGUE.items() if word in words), None)
    if vague:
        return vague
    number = int(words) if words.isdigit() else _VALUES.get(words, 1)
    return number, number


def ordinal(words: str) -> int:
    return ORDINALS.index(words) + 1 if words in ORDINALS else int(words.rstrip("stndrh"))


def month_number(word: str) -> int:
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(word[:3]))
