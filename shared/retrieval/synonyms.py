"""Synonyms in questions: words of like meaning, and categories with their members.

People ask for a category ("Which pets …?") and talk of its members (dog, kitten). The lists are
general English; an embedder finds what they miss.

Also called: query expansion.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from shared.retrieval.terms import tokenize

_SYNONYM_GROUPS = """
child kid|movie film|photo picture pic image|mother mom mum|father dad|begin start|buy purchase
vacation holiday trip|job career profession occupation work|present gift|big large huge
small little tiny|ill sick|happy glad|scared afraid|contest competition tournament|win victory
city town|house home|talk speak chat|help support assist|speech presentation|beautiful gorgeous
store shop|physician doctor|exercise workout|hike trek|car vehicle auto|injure hurt
funny hilarious|recommend suggest|advice tip|hobby pastime interest|feel feeling emotion
finish complete|repair fix|create make|receive get|spouse partner|wedding marry marriage|birth born
die death|enjoy like love|show display|college university|award prize medal trophy|region area
beverage drink|clothes outfit clothing|study learn|goal aim ambition|recent lately|visit go
attend go join|participate join|reside live|relocate move|teach instruct|volunteer charity
break destroy damage|relax unwind|country nation|angry upset mad|quick fast|dinner supper
flat apartment|mobile phone|bike bicycle|laptop computer|pupil student|boss manager
"""
_CATEGORY_MEMBERS = """
live: move
pet: dog cat puppy kitten hamster rabbit parrot turtle fish
animal: dog cat horse bird puppy kitten
child: son daughter baby boy girl
sibling: brother sister
parent: mother father mom dad
relative: aunt uncle cousin grandmother grandfather grandma grandpa
family: wife husband son daughter kid mom dad brother sister
spouse: husband wife
instrument: guitar piano violin drum flute clarinet saxophone cello ukulele
sport: football soccer basketball tennis baseball hockey golf swim surf ski volleyball
game: chess poker console board play
book: novel read author series story
movie: watch cinema theater scene
music: song band concert album listen sing
art: paint draw sculpt pottery sketch gallery
craft: knit sew pottery paint
dance: ballet salsa studio
meal: breakfast lunch dinner supper
food: cook bake recipe dish meal eat restaurant
drink: coffee tea beer wine juice soda
dessert: cake cookie pie chocolate
vehicle: car truck motorcycle bike van
health: doctor hospital diet illness injury
injury: ankle knee wrist sprain fracture
exercise: gym yoga run swim jog
trip: travel fly road visit vacation
nature: forest mountain beach lake park hike
outdoor: hike camp park nature trail
education: school college university degree class course
degree: university college graduate
class: course lesson workshop
job: company office hire boss interview
business: company shop store startup
money: pay cost save budget price
technology: computer laptop phone app software
religion: church faith god pray
holiday: christmas thanksgiving easter halloween
celebrate: party birthday anniversary
event: festival party concert parade ceremony conference
weather: rain snow sun storm
house: apartment rent mortgage bedroom
color: red blue green yellow purple pink orange black white
plant: flower garden tree
place: city country beach park mountain
feel: happy sad excited proud nervous scared grateful
relationship: single date boyfriend girlfriend married divorce partner
friend: buddy pal
language: spanish french german english
author: book write
"""


def list_synonyms(term: str) -> tuple[str, ...]:
    """Return the synonyms of a term, none twice, in a fixed order."""
    return _build_table().get(term, ())


@cache
def _build_table() -> Mapping[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for word, others in [*_parse_synonym_groups(), *_parse_categories()]:
        synonyms = table.setdefault(word, {})
        synonyms.update(dict.fromkeys(other for other in others if other != word))
    return {word: tuple(synonyms) for word, synonyms in table.items()}


def _parse_synonym_groups() -> Iterator[tuple[str, Iterable[str]]]:
    for group in _SYNONYM_GROUPS.replace("\n", "|").split("|"):
        group_terms = tokenize(group)
        yield from ((word, group_terms) for word in group_terms)


def _parse_categories() -> Iterator[tuple[str, Iterable[str]]]:
    for line in _CATEGORY_MEMBERS.strip().splitlines():
        category, members = line.split(":")
        yield tokenize(category)[0], tokenize(members)
