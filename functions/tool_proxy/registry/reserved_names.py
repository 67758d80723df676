"""Reserved names: the names that users trust, recognised behind look-alike letters.

Names are compared without case, width, accents, spaces and signs, and by the shapes of their letters.

Also called: impersonation defence, anti-spoofing, homoglyphs, blocklist, denylist.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

_SHAPES = {
    "a": "4@ɑαаᎪᏎᗅᴀꓮꭺ𐊠𑢯𖽀⍺",
    "b": "8Ƅȣʙβбвь৪੪ᏏᏴᏼᑲᖯᗷꓐꞴ𐊂𐊡𐌁𐌚",
    "c": "ϲсᏟᴄⲥꓚꮯ𐊢𐌂𐐽𐔜𑣩𑣲",
    "d": "ԁᎠᏧᑯᗞᗪᴅꓒꓓꭰ",
    "e": "3ƷȜεЗеєҽӠᎬᴇ€℮ⳌⴹꓰꝪꞫꬲꭼ𐊆𑢦𑢮𑣊𖼻",
    "f": "ϝքᖴẝꓝꜰꬵ𐊇𐊥𐔥𑣂",
    "g": "69ƍɡɢԌց৭੧୨൭ᏀᏮᏳⳊⳒꓖꝮꮐ𑣌𑣕𑣖",
    "h": "ʜΗнһհᎻᏂᕼⲎꓧꮋ𐋏",
    "j": "ϳјᎫᒍᴊꓙꭻ",
    "k": "ĸκкᏦᛕᴋⲔꓗꮶ𐔘",
    "l": "!1i|ıǀɩɪʟιіӏ۱ᎥᏞᒪᛁⲒⳐⵏꓡꓲꙇꭵꮖꮮ𐊊𐌉𐌠𐐛𐔦𑢲𑣃𖼖𖼨∣│",
    "m": "μϺмᎷᗰᛖᴍⲘꓟꮇ𐊰𐌑",
    "n": "ɴΝηпոռⲚꓠ𐔓",
    "o": "0θοσоօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲟⵔ〇ꓳꬽ𐊒𐊫𐐬𐓪𐔖𑓐𑢵𑣈𑣗𑣠",
    "p": "ρрᏢᑭᴘⲣꓑꮲ𐊕⍴",
    "q": "ԛգզⵕ",
    "r": "ʀгᎡᏒᖇᴦⲅꓣꭇꭈꭱꮁꮢ𐒴𖼵",
    "s": "$5ƽѕՏᏕᏚꓢꜱꮪ𐊖𐑈𑢻𑣁𖼺",
    "t": "7τтᎢᴛⲦꓔꭲ𐊗𐊱𐌕𐓒𑢼𑣆𖼊⊤⟙",
    "u": "ʋυцսሀᑌᴜꓴꞟ𐓶𑣘𖽂∪⋃",
    "v": "νѵ۷Ꮩᐯᴠⴸꓦꛟꮩ𐔝𑜆𑣀𖼈∨⋁",
    "w": "ɯωшѡԝաᎳᏔᴡꓪꮃ𑜊𑜎𑜏𑣦𑣯",
    "x": "×χхᕁᕽᚷⅹⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬⨯╳⤫⤬᙭",
    "y": "ɣʏΥγуүყᎩᎽᶌⲨꓬ𐊲𑢤𑣜𖽃",
    "z": "2ƧζϨᏃᒿᴢꓜꙄꛯꝚꮓ𐋵𑢩𑣄𑣥",
}
"""Look-alikes of Latin letters, beside those that compatibility forms and case folding make the same.

Those of UTS 39 (confusables.txt of Unicode 15.1), and digits and signs that are written for letters.
"""
_CASE_FOLDED = {alike.casefold(): letter for letter, shapes in _SHAPES.items() for alike in shapes}
_LETTERS = str.maketrans(
    _CASE_FOLDED | {alike: letter for letter, shapes in _SHAPES.items() for alike in shapes}
)
"""A capital may look like another letter than its small form, as Η and η do."""
_ACCENTED = re.compile("LATIN (?:SMALL|CAPITAL) LETTER ([A-Z]) WITH .+")
"""Names of the letters whose strokes and hooks are part of them, and no marks that could be taken off."""
_PAIRS = (("m", "rn"), ("w", "vv"))
_UNFOLDABLE = str.maketrans({"ϲ": "c", "Ϲ": "c"} | dict.fromkeys("™®©℠", ""))
"""What compatibility forms would turn into other letters."""


def find_reserved_name(name: str, reserved_names: Iterable[str]) -> str | None:
    """Return the reserved name that a name looks like, if any."""
    drawn = _draw(name)
    return next((reserved for reserved in reserved_names if _is_alike(reserved, drawn)), None)


def read_look_alikes(name: str) -> str:
    """Return a name as it is read where look-alikes stand for its Latin letters; any other as it is."""
    read = " ".join("".join(letter for letter, _ in _draw(word)) for word in name.split())
    if not read.isascii() or all(word.isascii() and word.isalpha() for word in name.split()):
        return name
    for letter, pair in _PAIRS:
        read = read.replace(pair, letter)
    return read


def _is_alike(reserved: str, drawn: Sequence[tuple[str, bool]]) -> bool:
    """Tell whether a name can be read as a reserved one: each sign of it as a letter, or as none."""
    shape = _draw_reserved(reserved)
    ends = {0}
    for letter, is_sign in drawn:
        read = {end + 1 for end in ends if shape.startswith(letter, end)}
        ends = read | ends if is_sign else read
        if not ends:
            return False
    return len(shape) in ends


@cache
def _draw_reserved(name: str) -> str:
    return "".join(letter for letter, _ in _draw(name))


def _draw(name: str) -> Sequence[tuple[str, bool]]:
    """Return the Latin letters that a name looks like, and whether each may as well be a sign."""
    compatible = unicodedata.normalize("NFKC", name.translate(_UNFOLDABLE))
    return [
        (letter, not _is_letter(character))
        for character in unicodedata.normalize("NFKD", compatible)
        for letter in _draw_character(character)
    ]


def _draw_character(character: str) -> str:
    accented = _ACCENTED.fullmatch(unicodedata.name(character, ""))
    plain = accented[1] if accented and ord(character) not in _LETTERS else character
    letters = plain.translate(_LETTERS).casefold().translate(_LETTERS)
    for letter, pair in _PAIRS:
        letters = letters.replace(letter, pair)
    return "".join(filter(_is_letter, letters))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"
