"""How one language says lasting facts in the first person, and how it says them of somebody else."""

from shared.domain.value import value


@value
class Language:
    """Patterns as text, matched in any case: compiled on first use, for a cold start needs none.

    `common`: words by which the language is known.
    `facts`: how a clause with a lasting fact begins, and the same of the owner, who is called "User".
    `owns`: what else is reworded, all through. `opening`: words before a fact that add nothing.
    `another`: how a clause begins that says something else. `momentary`: words of things that pass.
    `unclear`: words that mean nothing to who was not there, or whose person no rule of ours rewords.
    """

    common: frozenset[str]
    facts: tuple[tuple[str, str], ...]
    owns: tuple[tuple[str, str], ...]
    opening: str
    another: str
    momentary: str
    unclear: str
