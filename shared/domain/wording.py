"""Wording of a message, letter by letter: what a call's arguments are compared with."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from shared.domain.asking_words import ADDRESSED, NOT, SPELT, VERB_LAST
from shared.domain.value import value

_QUOTED = re.compile(
    r'"([^"\n]{1,2000})"|“([^”\n]{1,2000})”|„([^“”\n]{1,2000})[“”]|«([^»\n]{1,2000})»'
    r"|`([^`\n]{1,2000})`|(?<!\w)['‘‚]([^\n]{1,500}?)['’‘](?!\w)"
)
"""Bounded, so that many quotation marks without a partner cost little."""
_HYPHENED = re.compile(r"\b(e|to)-(?=mail|do)(mail|do)")
"""Words that are written as one as often as two."""
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[\s!-/:-@\[-`{-~‐-—…‘-‟«»¡¿€£]{0,4}")
"""Separators of words. More of them, or other signs, could spell an unspoken text."""
_ADDRESS = re.compile(r"[^\s,;]+[@/.:][^\s,;]+")
_EDGES = "\"'“”„«»‘’‚`()[]{}<>,;:!?.…€$£%"
QUOTATION = "\ufffc"
"""The placeholder of a removed quotation."""
_SENTENCE = re.compile(r"[.!?…。！？]+(?:\s|$)|\n")


def folded(text: str) -> str:
    """Return a text without case, accents and compatibility forms."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in plain if not unicodedata.combining(c))
    return _HYPHENED.sub(r"\1\2", bare)


def words(text: str) -> list[str]:
    """Return the words of a text, folded; punctuation and underscores only part them."""
    return _WORD.findall(folded(text))


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part.strip()]


@value
class Wording:
    """A message, split into its quotations and the rest."""

    quoted: Sequence[str]
    rest: str

    def says(self, text: str) -> bool:
        """Tell whether all of `text` stands here in one piece.

        Case, accents, whitespace, quotes and punctuation do not count, other signs do; an address
        counts letter by letter. Of a quotation only the whole counts, and what stands behind a "not"
        counts only together with it.
        """
        pieces = [piece for piece in re.split(r"[,;\s]+", text) if piece]
        addresses = {_address(piece) for piece in pieces if _ADDRESS.fullmatch(piece)}
        if not addresses <= set(map(_address, self._tokens())):
            return False
        if pieces and all(map(_ADDRESS.fullmatch, pieces)):
            return True
        wanted = words(text)
        if not wanted:
            return not text.strip()
        if not all(map(self._says_between, _WORD.split(unicodedata.normalize("NFC", text)))):
            return False
        return wanted in map(words, self.quoted) or _stands_in(wanted, self.rest)

    def _says_between(self, signs: str) -> bool:
        if _BETWEEN.fullmatch(signs):
            return True
        return any(signs.strip() in text for text in (*self.quoted, self.rest))

    def says_number(self, number: float) -> bool:
        return any(_is_number(folded(token).strip(_EDGES), number) for token in self._tokens())

    def _tokens(self) -> Iterator[str]:
        for text in (*self.quoted, self.rest):
            yield from text.split()


def _address(token: str) -> str:
    """Accents stay: another letter is another domain."""
    return token.lower().strip(_EDGES)


def wording(text: str) -> Wording:
    quoted = ["".join(filter(None, groups)) for groups in _QUOTED.findall(text)]
    return Wording(quoted=quoted, rest=_QUOTED.sub(f" {QUOTATION} ", text))


def _stands_in(wanted: Sequence[str], text: str) -> bool:
    wanted = _spelt(wanted)
    said: list[str] = []
    begun: list[int] = []
    for sentence in sentences(text):
        begins = len(said)
        said += _spelt(words(sentence))
        begun += [begins] * (len(said) - begins)
    return any(
        _stands_at(at, wanted, said) and not NOT.intersection(said[begun[at] : at])
        for at in range(len(said) - len(wanted) + 1)
    )


def _spelt(said: Sequence[str]) -> list[str]:
    return [part for word in said for part in SPELT.get(word, (word,))]


def _stands_at(at: int, wanted: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether `wanted` begins at `at`, up to what reported speech does to pronouns and verbs."""
    found = said[at : at + len(wanted)]
    if at and said[at - 1] in VERB_LAST and found[-1:] == wanted[1:2]:
        found = [found[0], found[-1], *found[1:-1]]
    return all(
        one == other or one in ADDRESSED.get(other, ())
        for one, other in zip(found, wanted, strict=True)
    )


def _is_number(token: str, number: float) -> bool:
    token = "".join(SPELT.get(token, (token,)))
    try:
        return number in {float(token.replace(",", ".")), float(token.replace(",", ""))}
    except ValueError:
        return False
