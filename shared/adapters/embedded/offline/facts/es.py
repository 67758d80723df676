"""Spanish facts."""

from shared.adapters.embedded.offline.facts.language import Language

_HE = r"(?:marido|esposo|novio|compañero|hijo|hermano|padre|papá|abuelo|tío|primo|sobrino|nieto|perro|gato)"
_SHE = r"(?:mujer|esposa|novia|compañera|hija|hermana|madre|mamá|abuela|tía|prima|sobrina|nieta|perra|gata)"
_DOES = r"(?= (?:se llama|es|era|tiene|trabaja|vive|toca|viene de|estudia|enseña|nació|murió)\b)"
_OWNED = (
    r"(?:hij[oa]s?|herman[oa]s?|niet[oa]s?|gemel[oa]s|perr[oa]s?|gat[oa]s?|caballos?|casa|huerto|jardín|barco|coche|"
    r"moto|tienda|empresa|asma|diabetes|alergia|epilepsia|migrañas?|miedo a|vértigo)"
)
_VERBS = (
    (r"vivo (?=en|con|cerca|sol[oa])", "vive "),
    (r"trabajo (?=en|de|para|como|con)", "trabaja "),
    (r"toco (?=el|la|en)", "toca "),
    (r"colecciono", "colecciona"),
    (r"odio(?! (?:esto|eso|que|cuando))", "odia"),
    (r"adoro(?! (?:esto|eso|que|cuando))", "adora"),
    (r"prefiero(?! (?:que|esto|eso))", "prefiere"),
    (r"hablo (?=\w+és|alemán|ruso|árabe|chino|italiano|catalán|español|con fluidez)", "habla "),
    (r"juego (?=al|a la)", "juega "),
    (r"canto (?=en)", "canta "),
    (r"enseño", "enseña"),
    (r"doy (?=clases?)", "da "),
    (r"vengo (?=de (?-i:[A-ZÁÉÍÓÚ]))", "viene "),
    (r"nací", "nació"),
    (r"crecí", "creció"),
    (r"estudié", "estudió"),
    (r"me llamo", "se llama"),
    (r"no como", "no come"),
    (r"no bebo", "no bebe"),
    (r"no fumo", "no fuma"),
    (r"no puedo (?=comer|beber|tomar)", "no puede "),
    (r"estoy (?=casad|divorciad|jubilad|embarazad)", "está "),
    (r"tengo (?=\d{1,3} años)", "tiene "),
    (rf"tengo (?=(?:[\w-]+ ){{0,3}}{_OWNED}\b)", "tiene "),
    (r"soy(?! (?:yo|quien|consciente|capaz|tan|así|todo|el que|la que)\b)", "es"),
)

LANGUAGE = Language(
    common=frozenset(["el", "los", "y", "es", "que", "en", "un", "por", "las", "lo", "con", "pero"]),
    facts=(
        *((rf"(?:yo )?(?:ahora |ya |también |todavía )?{one}(?:\b|(?<= ))", f"User {other}") for one, other in _VERBS),
        (r"me (encanta|gusta)(n?)\b(?! (?:esto|eso|que|cuando|tu|la idea)\b)", r"A User le \1\2"),
        (r"no me gusta(n?)\b(?! (?:esto|eso|que|cuando|tu|la idea)\b)", r"A User no le gusta\1"),
        (rf"mi ({_HE})( (?-i:[A-ZÀ-Ý]\w+))?{_DOES}", r"El \1\2 de User"),
        (rf"mi ({_SHE})( (?-i:[A-ZÀ-Ý]\w+))?{_DOES}", r"La \1\2 de User"),
        (r"mi (nombre|cumpleaños) es\b", r"El \1 de User es"),
        (r"mi (\w+) favorito es\b", r"El \1 favorito de User es"),
        (r"mi (\w+) favorita es\b", r"La \1 favorita de User es"),
    ),
    owns=((r"\bmi\b", "su"), (r"\bmis\b", "sus")),
    opening=r"(?:(?:y|pero|porque|pues|bueno|sí|no|es que|que|ya|oye|ahora) )+?",
    another=(
        r"(?:yo|tú|él|ella|nosotros|ellos|eso|esto|pero|porque|pues|así que|mi|mis|tu|ya|entonces|que|quien|cuando|"
        r"si|sabes|vale|no|a mí|ella se|él se|por si|claro)\b"
    ),
    momentary=r"\b(?:hoy|mañana|ayer|esta (?:noche|tarde|mañana|semana)|ahora mismo)\b",
    unclear=r"\b(?:yo|mi[ao]|esto|eso|ello|me|mí|conmigo|nosotros|nos|nuestr\w+|tú|te|ti|tu|tus|toco|vivo|trabajo|tengo|soy|estoy)\b",
)  # fmt: skip
