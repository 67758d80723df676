"""Secret facts: those that tell a password or a code in words that no pattern knows are not kept."""

from functions.process_conversation.processing.cached_completion import Extraction
from functions.process_conversation.processing.memory_selection import Sifted
from functions.process_conversation.processing.told_secrets import tells_secret
from shared import telemetry
from shared.domain.errors import ModelFailed, Unavailable


async def drop_secret_facts(extraction: Extraction, sifted: Sifted) -> Sifted:
    """Return the facts that give no secret away, as the encoder reads them; all where it is away: patterns were compared."""
    meanings, uid = extraction.deps.meanings, extraction.uid
    try:
        facts = [
            f for f in sifted.facts if not await meanings.compare(uid, f.content, tells_secret)
        ]
    except (ModelFailed, Unavailable) as error:
        telemetry.warning("secrets_not_read", error=type(error).__name__)
        return sifted
    dropped = len(sifted.facts) - len(facts)
    secrets = sifted.dropped.get("secret", 0) + dropped
    return Sifted(facts=tuple(facts), dropped={**sifted.dropped, "secret": secrets})
