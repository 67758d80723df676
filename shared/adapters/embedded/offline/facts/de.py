"""German facts."""

from shared.adapters.embedded.offline.facts.language import Language

_KIN = (
    r"(?:Frau|Mann|Partner(?:in)?|Freund(?:in)?|Verlobter?|Tochter|Töchter|Sohn|Söhne|Kind(?:er)?|Schwester|Bruder|"
    r"Mutter|Mama|Vater|Papa|Eltern|Oma|Opa|Großmutter|Großvater|Enkel(?:in)?|Tante|Onkel|Cousine?|Hund|Katze|Kater)"
)
_OWNED = (
    rf"(?:{_KIN}n?|Brüder|Schwestern|Geschwister|Enkelkinder|Zwillinge|Hunde|Pferde?|Haus|Garten|Boot|Auto|"
    r"Motorrad|Laden|Firma|Asthma|Diabetes|Epilepsie|Migräne|Zöliakie|\w*[Aa]llergie|Herzschrittmacher|Höhenangst|Angst vor)"
)
_VERBS = (
    (r"wohne", "wohnt"),
    (r"lebe", "lebt"),
    (r"arbeite(?! (?:heute|gerade|noch|daran))", "arbeitet"),
    (r"spiele", "spielt"),
    (r"sammle", "sammelt"),
    (r"spreche(?= (?:\w+ )?[A-ZÄÖÜ]\w+isch)", "spricht"),
    (r"studiere", "studiert"),
    (r"unterrichte", "unterrichtet"),
    (r"leite", "leitet"),
    (r"besitze", "besitzt"),
    (r"heiße", "heißt"),
    (r"komme(?= (?:ursprünglich )?aus)", "kommt"),
    (r"singe(?= (?:im|in|seit))", "singt"),
    (r"laufe(?= .*(?:Marathon|Halbmarathon))", "läuft"),
    (r"liebe", "liebt"),
    (r"hasse", "hasst"),
    (r"mag", "mag"),
    (r"esse(?= (?:kein|nie|vegan|vegetarisch|nur))", "isst"),
    (r"trinke(?= (?:kein|nie))", "trinkt"),
    (r"rauche(?= nicht)", "raucht"),
    (r"vertrage(?= kein)", "verträgt"),
    (r"glaube(?= an )", "glaubt"),
    (r"war(?= (?:früher|lange|jahrelang))", "war"),
)
_NOT_NAMED = r"(?! (?:es|das|dich|dir|ihn|sie|diese\w*|mal)\b)"
_STILL = r"(?: (?:ja|auch|selbst|nämlich|übrigens|inzwischen|immer noch))?"

LANGUAGE = Language(
    common=frozenset(["und", "der", "die", "das", "ist", "nicht", "ein", "zu", "wir", "auf", "den", "mit"]),
    facts=(
        *((rf"ich {one}\b{_STILL}{_NOT_NAMED}", f"User {other}") for one, other in _VERBS),
        *((rf"(?:\w+ ){{0,3}}?{one} ich\b{_STILL}{_NOT_NAMED}", f"User {other}") for one, other in _VERBS[:6]),
        (
            (rf"ich bin{_STILL} (?=allergisch|vegan|vegetarisch|laktoseintolerant|verheiratet|geschieden|verwitwet|"
            r"schwanger|farbenblind|gehörlos|in (?:\w+ ){1,3}(?:geboren|aufgewachsen)|\d{1,3}(?: Jahre alt)?$|"
            r"aus (?-i:[A-ZÄÖÜ])|(?:seit .{1,24} )?(?-i:[A-ZÄÖÜ]\w{3,})|Jahrgang|eine? (?-i:[A-ZÄÖÜ]))"),
            "User ist ",
        ),
        (rf"ich habe{_STILL} (?=(?:[\w-]+ ){{0,3}}{_OWNED}\b)", "User hat "),
        (r"ich habe (?=(?:[\w-]+ ){1,3}studiert)", "User hat "),
        (r"ich kann (?=nicht schwimmen|kein\w* .*(?:essen|trinken|vertragen))", "User kann "),
        (
            (rf"meine? (?=(?:\w+ )?{_KIN}(?: (?-i:[A-ZÄÖÜ]\w+))? (?:heißt|heißen|ist|sind|arbeitet|wohnt|lebt|hat|spielt|"
            r"kommt aus|studiert|unterrichtet)\b(?! (?:krank|müde|da|hier|weg|gerade|heute|spät|noch|im|beim)\b))"),
            "Users ",
        ),
        (r"mein (?=Name ist|Geburtstag ist)", "Users "),
        (r"meine? (?=Lieblings\w+ (?:ist|sind)|Blutgruppe ist)", "Users "),
    ),
    owns=((r"\bseit meiner (?=Kindheit|Jugend|Geburt)", "seit der "), (r"\bmein(?:e[rsnm]?)?\b", "Users")),
    opening=r"(?:(?:und|aber|also|denn|weil|ja|nein|nee|ach|na|doch|genau|gut|übrigens) )+",
    another=(
        r"(?:ich|wir|du|er|sie|es|das|der|die|da|dann|aber|denn|weil|dass|ob|wenn|obwohl|meine?|dein|oder|ne|"
        r"weißt|also|deshalb|darum|was|wo|wie|bis|kannst|können|nur damit)\b"
    ),
    momentary=r"\b(?:heute|morgen|gestern|gerade|jetzt gleich|diese Woche|nächste Woche|heute Abend|noch nichts)\b",
    unclear=r"\b(?:ich|mich|mir|wir|uns|unser\w*|du|dich|dir|dein\w*|das hier|diese[rsnm]?|davon|damit|daran)\b",
)  # fmt: skip
