"""Forms of numbers: amounts and counts that are said in five languages, in figures or in words; pure.

One is no number: most languages say it as an article.
"""

import re
from functools import cache
from typing import Literal

NumberKind = Literal["amount", "count"]
"""Money and shares are amounts."""

_WORDS = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|millions?|dozen"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w{3,}zehn|\w*(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:zig|ßig)"
    r"|\w*hundert\w*|\w*tausend\w*|millionen"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci\w+|veint\w+|treinta|cuarenta"
    r"|cincuenta|sesenta|setenta|ochenta|noventa|cien|cientos?|\w+cient[oa]s|quinient[oa]s|mil|millón|millones"
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingts?|trente|quarante|cinquante"
    r"|soixante|cents?|mille"
)
_JAPANESE = r"[二三四五六七八九十百千万億]+(?=[円人日週月年時分枚個本回歳階度つ割])"
_NUMBER = rf"(?:\d[\d.,  ’']*|{_JAPANESE}|(?<![^\W\d_])(?:{_WORDS})(?![^\W\d_]))"
_UNIT = (
    r"(?:[$€£¥%円割]|(?:pounds?|euros?|dollars?|francs?|yen|pence|percent|per cent|pfund|franken|prozent|libras?|dólares"
    r"|francos|por ciento|livres?|pour cent)(?![^\W\d_]))"
)


def find_number(sentence: str) -> NumberKind | None:
    """Tell whether a number is said in a sentence, and whether it is an amount."""
    if _compile(rf"[$€£¥]\s?\d|{_NUMBER}\s*{_UNIT}").search(sentence):
        return "amount"
    return "count" if _compile(_NUMBER).search(sentence) else None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
