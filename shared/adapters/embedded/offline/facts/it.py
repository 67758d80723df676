"""Italian facts."""

from shared.adapters.embedded.offline.facts.language import Language

_HE = r"(?:marito|compagno|fidanzato|ragazzo|figlio|fratello|padre|papà|nonno|zio|cugino|nipote|cane|gatto)"
_SHE = r"(?:moglie|compagna|fidanzata|ragazza|figlia|sorella|madre|mamma|nonna|zia|cugina|gatta)"
_DOES = (
    r"(?= (?:si chiama|è|era|ha|lavora|vive|abita|suona|viene da|studia|insegna)\b"
    r"(?! (?:qui|lì|malat[oa]|stanc[oa]|in ritardo|già)\b))"
)
_OWNED = (
    r"(?:figli[oae]?|fratell[oi]|sorell[ae]|nipot[ei]|gemell[ie]|can[ei]|gatt[oi]|cavall[oi]|casa|giardino|barca|moto|"
    r"macchina|negozio|azienda|asma|diabete|allergia|epilessia|emicrania|paura d\w+|vertigini)"
)
_CRAFT = (
    r"(?:\w{3,}ier[ea]|\w{3,}(?:tore|trice)|\w{3,}ista|\w{3,}olog[oa]|medico|avvocat[oa]|insegnante|maestr[oa]|cuoc[oa]|"
    r"ingegnere|architetto|idraulico|meccanico|commess[oa]|impiegat[oa]|professor(?:e|essa)|pensionat[oa]|"
    r"student(?:e|essa)|vigile)"
)
_VERBS = (
    (r"abito (?=a|in|con|vicino|da)", "abita "),
    (r"vivo (?=a|in|con|vicino|da)", "vive "),
    (r"lavoro (?=in|per|da|come|a|al|alla|con|presso)", "lavora "),
    (r"suono (?=il|la|l['’]|in)", "suona "),
    (r"insegno", "insegna"),
    (r"colleziono", "colleziona"),
    (r"studio(?! (?:oggi|stasera))", "studia"),
    (r"odio(?! (?:questo|quando|che))", "odia"),
    (r"adoro(?! (?:questo|quando|che))", "adora"),
    (r"preferisco(?! (?:che|questo))", "preferisce"),
    (r"parlo (?=\w+ese|tedesco|russo|arabo|spagnolo|italiano)", "parla "),
    (r"gioco (?=a)", "gioca "),
    (r"canto (?=in)", "canta "),
    (r"vengo (?=da (?-i:[A-ZÀ-Ý])|dal)", "viene "),
    (r"mi chiamo", "si chiama"),
    (r"non mangio", "non mangia"),
    (r"non bevo", "non beve"),
    (r"non fumo", "non fuma"),
    (r"non posso (?=mangiare|bere)", "non può "),
    (rf"faccio (?=(?:il |la |l['’]|lo ){_CRAFT}\b)", "fa "),
    (r"ho (?=\d{1,3} anni)", "ha "),
    (rf"ho (?=(?:[\w-]+ |l['’]){{0,3}}{_OWNED}\b)", "ha "),
    (r"ho studiato", "ha studiato"),
    (
        (
            r"sono (?=allergic|intollerante|celiac|vegetarian|vegan|diabetic|asmatic|sposat|divorziat|vedov|incinta|"
            rf"mancin|daltonic|nat[oa]|cresciut|(?:di|originari[oa]) (?-i:[A-ZÀ-Ý])|(?:un['’]?|una |un )?{_CRAFT}\b)"
        ),
        "è ",
    ),
)

LANGUAGE = Language(
    common=frozenset(["il", "che", "è", "di", "un", "non", "per", "gli", "della", "sono", "con"]),
    facts=(
        *((rf"(?:io )?(?:adesso |ora |invece |ormai |anche )*{one}(?:\b|(?<= ))", f"User {other}") for one, other in _VERBS),
        (r"mi (piace|piacciono)\b(?! (?:questo|quando|che|l['’]idea)\b)", r"A User \1"),
        (r"non mi (piace|piacciono)\b(?! (?:questo|quando|che|l['’]idea)\b)", r"A User non \1"),
        (rf"(?:il )?mio ({_HE})( (?-i:[A-ZÀ-Ý]\w+))?{_DOES}", r"Il \1\2 di User"),
        (rf"(?:la )?mia ({_SHE})( (?-i:[A-ZÀ-Ý]\w+))?{_DOES}", r"La \1\2 di User"),
        (r"il mio (nome|compleanno) è\b", r"Il \1 di User è"),
        (r"il mio (\w+) preferito è\b", r"Il \1 preferito di User è"),
        (r"la mia (\w+) preferita è\b", r"La \1 preferita di User è"),
    ),
    owns=((r"\bmia\b", "sua"), (r"\bmio\b", "suo"), (r"\bmiei\b", "suoi"), (r"\bmie\b", "sue"), (r"^Il zio", "Lo zio")),
    opening=r"(?:(?:e|ma|perché|però|sì|no|beh|allora|quindi|per me) )+",
    another=(
        r"(?:io|tu|lui|lei|noi|voi|loro|questo|quello|ma|però|perché|quindi|allora|mi[aoe]|miei|tu[oa]|che|chi|quando|"
        r"se|sai|vero|no|te lo|anzi|c['’]|e tu)(?:\b|(?<=['’]))"
    ),
    momentary=r"\b(?:oggi|domani|ieri|stasera|stamattina|questa settimana)\b",
    unclear=r"\b(?:io|ciò|questo|quello|mi|me|noi|ci|nostr\w+|tu|ti|te|tuo|tua|avevo|sono|ero|lavoro|vivo)\b",
)  # fmt: skip
