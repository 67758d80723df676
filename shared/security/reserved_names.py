"""Reserved names: the names that users trust, recognised behind look-alike letters.

Names are compared without case, width, accents, spaces and punctuation, and by the shapes of their
letters, after Unicode's list of confusables (UTS 39).
"""

import re
import unicodedata
from collections.abc import Iterable

_SHAPES = {
    "a": "4@аαɑᴀꭺ",
    "b": "вьβʙᏼ",
    "c": "сϲᴄꮯ",
    "d": "ԁđɖᴅꭰ",
    "e": "3еεҽєᴇꭼ",
    "f": "ƒꜰϝ",
    "g": "ɡցɢꮐ",
    "h": "нһհħʜꮋ",
    "j": "јϳᴊꭻ",
    "k": "кκĸᴋꮶ",
    "l": "iı1!|ιіӏɩɪʟłꮮꮖǀ",
    "m": "мμᴍꮇ",
    "n": "пոηɴƞ",
    "o": "0оοσօøᴏоθ",
    "p": "рρᴘꮲ",
    "q": "ԛզ",
    "r": "гʀꭱꮢ",
    "s": "5$ѕꜱꮪ",
    "t": "7тτŧᴛꭲ",
    "u": "υսцᴜ",
    "v": "νѵᴠꮩ",
    "w": "ωԝшᴡꮃ",
    "x": "хχ×ⅹ",
    "y": "уүγʏყ",
    "z": "ᴢζꮓ",
}
_PLAIN_LETTERS = {
    alike.casefold(): letter for letter, shapes in _SHAPES.items() for alike in shapes
}
_PAIRS = (("rn", "m"), ("vv", "w"))
_ENDS = re.compile(r"^[^\w×]+|[^\w×]+$")
"""Signs around a name, where none stands for a letter."""
_SIGNS = str.maketrans("", "", "™®©℠")
"""Signs behind a name that compatibility forms would turn into letters."""


def find_reserved_name(name: str, reserved_names: Iterable[str]) -> str | None:
    """Return the reserved name that a name looks like, if any."""
    shape = _draw(name)
    return next((reserved for reserved in reserved_names if _draw(reserved) == shape), None)


def _draw(name: str) -> str:
    """Return the shapes of the letters of a name, as lower-case Latin letters where they look so."""
    drawn = "".join(map(_draw_character, _ENDS.sub("", _fold(name))))
    for pair, letter in _PAIRS:
        drawn = drawn.replace(pair, letter)
    return drawn


def _fold(name: str) -> str:
    compatible = unicodedata.normalize("NFKC", name.translate(_SIGNS))
    return unicodedata.normalize("NFKD", compatible.casefold())


def _draw_character(character: str) -> str:
    plain = _PLAIN_LETTERS.get(character, character)
    return plain if unicodedata.category(plain)[0] in "LN" else ""
