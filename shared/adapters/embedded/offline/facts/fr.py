"""French facts."""

from shared.adapters.embedded.offline.facts.language import Language

_HE = r"(?:mari|compagnon|copain|fiancé|fils|frère|père|papa|grand-père|oncle|cousin|neveu|petit-fils|chien|chat)"
_SHE = r"(?:femme|compagne|copine|fiancée|fille|sœur|mère|maman|grand-mère|tante|cousine|nièce|chienne|chatte)"
_DOES = (
    r"(?= (?:s['’]appelle|est|était|a|travaille|habite|vit|joue|vient de|étudie|enseigne)\b"
    r"(?! (?:là|ici|malade|fatiguée?|en retard|en train|déjà|au)\b))"
)
_OWNED = (
    r"(?:enfants?|fils|filles?|frères?|sœurs?|jumeaux|jumelles|petits-enfants|chiens?|chats?|chevaux|cheval|maison|"
    r"jardin|bateau|voilier|voiture|moto|boutique|entreprise|asthme|diabète|allergie|épilepsie|migraines|vertige)"
)
_CRAFT = (
    r"(?:(?!premi|derni|enti|particuli)\w{3,}i(?:er|ère)|(?!meill|supéri|intéri|extéri)\w{4,}(?:teur|trice|geur|deur|deuse|feur|feuse)|"
    r"(?!trist)\w{3,}iste|\w{3,}icien(?:ne)?|\w{3,}ologue|médecin|prof(?:esseure?)?|avocate?|ingénieure?|architecte|"
    r"enseignante?|étudiante?|retraitée?|pilote|comptable|artiste|écrivaine?|fonctionnaire|chauffeur|kiné)"
)

LANGUAGE = Language(
    common=frozenset(["le", "les", "et", "est", "pas", "une", "des", "vous", "que", "dans", "pour", "avec", "je"]),
    facts=(
        (r"j['’](habite|enseigne|étudie|élève)\b", r"User \1"),
        (r"j['’](aime|adore)\b(?! (?:ça|bien|ce|cette|cet|ces|ton|ta|tes|votre|quand|comment)\b)", r"User \1"),
        (rf"j['’]ai (?=(?:[\w-]+ |d['’]|l['’]){{0,3}}{_OWNED}\b)", "User a "),
        (r"j['’]ai (?=peur d|horreur d|\d{1,3} ans|grandi (?:à|en|dans|au)|étudié)", "User a "),
        (r"je n['’]aime pas\b(?! (?:ça|ce|cette|quand)\b)", "User n'aime pas"),
        (r"je (?:ne )?(mange|bois|fume) (?=pas|jamais|plus)", r"User ne \1 "),
        (r"je vis (?=à|en|au|dans|avec|chez|seul)", "User vit "),
        (r"je viens (?=(?:de |d['’]|du |des )(?-i:[A-ZÀ-Ý]))", "User vient "),
        (r"je (travaille) (?=chez|à|au|pour|comme|dans|en|depuis)", r"User \1 "),
        (r"je (joue) (?=d[ue']|de|au|aux)", r"User \1 "),
        (r"je (collectionne|possède|dirige|préfère|parle (?=\w+ais|\w+ol\b|\w+and|\w+ien|russe|arabe))", r"User \1"),
        (r"je (déteste|chante dans)\b(?! (?:ça|ce|cette|quand)\b)", r"User \1"),
        (r"je m['’]appelle\b", "User s'appelle"),
        (
            (r"je suis (?=allergique|intolérante?|végétarien|végan|végane|diabétique|asthmatique|mariée?|divorcée?|"
            rf"veuf|veuve|enceinte|gauch[eè]re?|daltonien|sourde?|née? |originaire|cœliaque|(?:une? )?{_CRAFT}\b)"),
            "User est ",
        ),
        (rf"mon ({_HE})( (?-i:[A-ZÀ-Ý]\w+))?{_DOES}", r"Le \1\2 de User"),
        (rf"ma ({_SHE})( (?-i:[A-ZÀ-Ý]\w+))?{_DOES}", r"La \1\2 de User"),
        (r"mon anniversaire est\b", "L'anniversaire de User est"),
        (r"mon (\w+) préféré est\b", r"Le \1 préféré de User est"),
        (r"ma (\w+) préférée est\b", r"La \1 préférée de User est"),
    ),
    owns=((r"\bmon\b", "son"), (r"\bma\b", "sa"), (r"\bmes\b", "ses"), (r"^L([ea]) (?=oncle)", "L'")),
    opening=r"(?:(?:et|mais|car|donc|oui|non|si|bon|ben|alors|moi|en fait|bien sûr) )+",
    another=(
        r"(?:je|j['’]|on|nous|tu|vous|il|elle|ils|elles|ça|c['’]|ce|mais|car|donc|parce|alors|mon|ma|mes|au fait|"
        r"hein|non|oui|ok|d['’]accord|qui|que|quand|si|tu sais|ne|pas de)(?:\b|(?<=['’]))"
    ),
    momentary=r"\b(?:aujourd['’]hui|demain|hier|ce soir|ce matin|cette semaine|tout à l['’]heure|tout de suite)\b",
    unclear=r"\b(?:je|me|moi|nous|notre|nos|tu|te|toi|ton|ta|tes|vous|votre|j|m|ça|cela|celui|celle)\b(?!-)",
)  # fmt: skip
