"""Rule: how the owner wants to be answered, always, in one sentence to the assistant; pure.

Also called: custom instructions.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import MessageId, RuleId
from shared.domain.value import value
from shared.domain.words import count_words, normalise

MAX_ACTIVE = 20
MAX_ARCHIVED = 20
MAX_WORDS = 24
MAX_CHARS = 280
TOO_LONG = f"A rule has at most {MAX_WORDS} words and {MAX_CHARS} characters."


@value
class Rule:
    """A rule, in force until it is archived.

    `quote` are the owner's words for it in the message `message_id`; empty where they wrote it by hand.
    """

    id: RuleId
    text: str
    created_at: datetime
    message_id: MessageId | None = None
    quote: str = ""
    archived_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        return self.archived_at is None


Rules = tuple[Rule, ...]
"""The rules of an owner, oldest first, the archived ones too."""
RulesChange = Callable[[Rules], Rules]


def check_rule(text: str) -> None:
    """Raises Invalid for a text that is too long."""
    if len(text) > MAX_CHARS or count_words(text) > MAX_WORDS:
        raise Invalid(TOO_LONG)


def add_rule(rules: Rules, rule: Rule, now: datetime) -> Rules:
    """Add a rule; the oldest beyond MAX_ACTIVE is archived. One that says the same is in force again."""
    check_rule(rule.text)
    known = find_rule_by_text(rules, rule.text)
    if known is not None and known.is_active:
        return rules
    others = tuple(other for other in rules if other is not known)
    return _archive_oldest((*others, rule), now)


def change_rule(rules: Rules, rule_id: str, text: str) -> Rules:
    """Give a rule another text, which is the owner's by hand. Raises NotFound and Invalid."""
    check_rule(text)
    rule = get_rule(rules, rule_id)
    changed = replace(rule, text=text, message_id=None, quote="")
    return tuple(changed if other is rule else other for other in rules)


def archive_rule(rules: Rules, rule_id: str, now: datetime) -> Rules:
    """Put a rule out of force. Raises NotFound."""
    rule = get_rule(rules, rule_id)
    archived = replace(rule, archived_at=rule.archived_at or now)
    return _drop_oldest(tuple(archived if other is rule else other for other in rules))


def remove_rule(rules: Rules, rule_id: str) -> Rules:
    """Raises NotFound."""
    rule = get_rule(rules, rule_id)
    return tuple(other for other in rules if other is not rule)


def get_rule(rules: Rules, rule_id: str) -> Rule:
    """Raises NotFound."""
    for rule in rules:
        if rule.id == rule_id:
            return rule
    raise NotFound("Rule not found")


def find_rule_by_text(rules: Rules, text: str) -> Rule | None:
    """Return the rule that says this, whatever its case and punctuation."""
    wording = normalise(text)
    return next((rule for rule in rules if normalise(rule.text) == wording), None)


def list_active(rules: Rules) -> Rules:
    return tuple(rule for rule in rules if rule.is_active)


def _archive_oldest(rules: Rules, now: datetime) -> Rules:
    excess = {rule.id for rule in list_active(rules)[:-MAX_ACTIVE]}
    return _drop_oldest(
        tuple(replace(rule, archived_at=now) if rule.id in excess else rule for rule in rules)
    )


def _drop_oldest(rules: Rules) -> Rules:
    """Forget what was archived first beyond MAX_ARCHIVED."""
    archived = sorted(
        (r for r in rules if r.archived_at), key=lambda r: r.archived_at or r.created_at
    )
    gone = {rule.id for rule in archived[:-MAX_ARCHIVED]}
    return tuple(rule for rule in rules if rule.id not in gone)
