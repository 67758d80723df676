"""How five languages say that something is not meant to last: patterns, matched in any case.

They are plain text, because a cold start would pay for compiling them; `re` keeps what it compiled.
"""


def _any(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


def _rule(*patterns: str) -> str:
    return rf"\b{_any(*patterns)}\b"


CLAUSE = (
    r"\s*[,;:–—]\s+|\s(?:and|but|because|und|aber|weil|denn|et|mais|car|y|pero|porque|e|ma|però)\s"
)
LAUGH = r"(?:ha|he|ah|ja|lol|oh|hi)+\W*"

_NO = r"[¡\s]*(?:(?:no|nah|nope|ha\w*|well|oh|ok(?:ay)?|sorry|nein|nee|ach|na|non|mais|euh|pero|ma|dai)\b[\s,.!…]+)*"
TAKEN_BACK = _NO + _any(
    r"(?:i['’]m |i am )?(?:just |only )?(?:kidding|joking)\b(?! aside)",
    r"(?:it|that)(?:['’]s| is| was) (?:just |only )?a joke",
    r"scratch that|wait,? no|no,? wait|no,? sorry|sorry,? (?:i mean|no)\b|i take that back",
    r"(?:(?:das )?(?:war|ist) )?(?:nur |bloß )?(?:ein |'n )?(?:kleiner )?(?:scherz|witz|spaß)\b(?! beiseite)",
    r"ich mach(?:e)? (?:nur |bloß )?(?:spaß|witze)|quatsch\b|stimmt (?:gar |ja )?nicht",
    r"(?:nein|nee|ach),? (?:moment|warte|falsch|quatsch|entschuldigung)",
    r"je (?:plaisante|rigole|blague|déconne)\b|c['’](?:est|était) (?:juste )?(?:une blague|pour rire)",
    r"non,? (?:attends|pardon|je me trompe)|enfin,? non|je me (?:suis )?trompe",
    r"(?:es|era) (?:una )?broma|estoy bromeando|lo d(?:igo|ecía) (?:de|en) broma",
    r"no,? (?:espera|perdón|perdona|miento)\b|miento\b|mejor dicho",
    r"(?:sto |stavo )?scherz(?:o|ando|avo)\b|(?:era|è) (?:solo )?uno scherzo",
    r"no,? (?:aspetta|scusa|anzi)\b|anzi\b|mi (?:sono )?sbagli",
)
JEST = _rule("just kidding", "only joking", "je plaisante", "sto scherzando", "estoy bromeando")

_NOW = _any(
    r"for now|for the (?:time being|moment)|at the moment|temporarily",
    r"until (?:i|we) find|just for (?:this|a|the) (?:week|month|few|couple|summer)",
    r"vorübergehend|im moment|momentan|vorerst|fürs erste|erst ?mal|bis auf weiteres|übergangsweise",
    r"pour l['’]instant|pour le moment|en ce moment|provisoirement|temporairement|en attendant",
    r"por ahora|(?:de|por el) momento|por lo pronto|temporalmente|provisionalmente",
    r"per ora|per (?:il momento|adesso)|al momento|momentaneamente|temporaneamente",
)
FOR_NOW = _rule(_NOW)
_FILLER = (
    r"(?:(?:at least|just|only|but|and|well|that's|zumindest|nur|aber|also|jedenfalls|du moins|mais|"
    r"seulement|en tout cas|al menos|solo|sólo|pero|almeno|ma|soltanto)\W+)*"
)
BARE_FOR_NOW = rf"{_FILLER}{_NOW}\W*(?:anyway|at least|jedenfalls|en tout cas)?\W*"

SUPPOSED = (
    r"(?:(?:just|ok(?:ay)?|so|also|gut|bon|bueno|allora)[\s,]+)*"
    r"(?:suppose|let['’]s (?:say|pretend|imagine)|imagine (?:that )?(?:i|we|you)\b|what if|"
    r"(?:mal )?angenommen|nehmen wir an|tun wir (?:mal )?so|supposons|imaginons|admettons|"
    r"supongamos|pongamos|imagina(?:te)? que|supponiamo|mettiamo|facciamo finta|immaginiamo)\b"
)
UNREAL = _rule(
    r"(?<!ed )(?<!know )(?<!sure )(?<!see )(?<!ask )(?<!ing )if (?:i|we) (?:were|was|had|lived|worked|won|could|owned|spoke|moved|ever)\b(?! you\b)",
    r"(?:suppose|pretend|imagine) (?:that )?(?:i|we)(?:['’](?:m|re|d))?|let['’]s (?:say|pretend) (?:i|we)|what if",
    r"i wish (?:i|we|my)|in another life",
    r"wenn ich [^.?!]{0,80}?(?:wäre|hätte|könnte|würde)|(?:wäre|hätte|könnte) ich|angenommen|nehmen wir an",
    r"ich wünschte|tun wir (?:mal )?so",
    r"si j['’](?:étais|avais|habitais)|si je (?:vivais|gagnais|pouvais|travaillais|parlais)",
    r"supposons|imaginons|admettons",
    r"si (?:yo )?(?:fuera|fuese|tuviera|tuviese|viviera|ganara|pudiera|trabajara|hablara)",
    r"supongamos|pongamos que|imagina(?:te)? que|ojalá",
    r"se (?:io )?(?:fossi|avessi|vivessi|abitassi|vincessi|potessi|lavorassi|parlassi)",
    r"supponiamo|mettiamo che|facciamo finta|immaginiamo",
)
WOULD = _rule(
    r"(?:i|we)(?:['’]d| would) (?:be|have|live|move|work|buy|own|become|marry|speak)",
    r"ich (?:wäre|hätte|würde|könnte)|(?:wäre|hätte|würde) ich",
    r"je (?:serais|vivrais|travaillerais|parlerais)|j['’](?:aurais|habiterais|achèterais)",
    r"(?:sería|tendría|viviría|trabajaría|compraría|hablaría)",
    r"(?:sarei|avrei|vivrei|abiterei|lavorerei|comprerei|parlerei)",
)

STATED = (
    r"(?:(?:well|so|but|and|yes|no|oh|aber|also|ja|nein|und|mais|oui|non|et|pero|sí|ma|sì)[\s,]+)*"
    r"(?:i|we|my|our|ich|wir|meine?|unsere?|je|j['’]|nous|mon|ma|mes|yo|io|mia?|mio|il mio|la mia|"
    r"vivo|abito|sono|ho|lavoro)(?:\b|(?<=['’]))[^?]*(?=,)"
)

_SPOKE = r"(?:said|says|goes|went|wrote|texted|shouted|sings|(?:was|is|were) like|told me)"
SAYS = (
    rf"(?<!\bi )\b{_SPOKE}\s*[,:]?\s*[\"“„«‘'](?!\s*$).*|(?<!\bi )\b{_SPOKE}\s*[,:]\s*[\"“„«‘']?\s*$"
    r"|(?<!\bich )\b(?:sagte?|meinte?|schrieb|singt|rief|gesagt|geschrieben)\b[^.:]{0,20}:\s*[\"“„»]?[^\"”“«]*$"
    r"|(?<!\bj['’]ai )\b(?:dit|disait|écrit|chante|répondu)\b[^.:]{0,20}:\s*[\"“«]?[^\"”»]*$"
    r"|\b(?:dijo|dice|decía|escribió|canta)\b[^.:]{0,20}:\s*[\"“«]?[^\"”»]*$"
    r"|\b(?:disse|dice|diceva|scritto|canta|ha detto)\b[^.:]{0,20}:\s*[\"“«]?[^\"”»]*$"
)
SAID = (
    r"[^\"”»“]*[\"”»“]\s*[,.]?\s*(?!i\b|ich\b|j['’])(?:\w+ ){0,2}"
    r"(?:said|says|sagte?|meinte?|dit|disait|a dit|dijo|dice|disse|ha detto)\b"
)

_MAYBE = _any(
    r"maybe|perhaps|probably|possibly|apparently|i might|(?:i['’]m |i am )?not sure (?:if|whether)|i wonder",
    r"vielleicht|wahrscheinlich|vermutlich|womöglich|möglicherweise|kann sein",
    r"peut-être|probablement|sans doute|il paraît|je me demande",
    r"quizás?|tal vez|a lo mejor|probablemente|puede que|posiblemente",
    r"forse|magari|probabilmente|mi sa che|può darsi",
)
_THINK = _any(
    r"i (?:think|guess|suppose|assume)",
    r"(?:ich )?glaube?(?: ich)?|ich (?:denke|vermute|schätze)",
    r"je (?:crois|pense|suppose)|j['’]imagine",
    r"creo|supongo|me parece",
    r"credo|suppongo|mi pare|penso",
)
GUESS = _rule(
    _MAYBE,
    r"i (?:think|guess|suppose|assume) (?:that )?(?:i|my|we)\b",
    r"je (?:crois|pense|suppose) que (?:je|j['’]|mon|ma)",
    r"(?:creo|supongo|me parece) que (?:soy|tengo|estoy|mi)",
    r"(?:credo|penso) di|(?:credo|mi pare) che (?:io|mi[ao])",
    r"(?<=\w )i (?:think|guess|suppose)$",
)
BARE_GUESS = rf"(?:\w+\W+)?(?:{_MAYBE}|{_THINK})(?: que| che)?\W*"
