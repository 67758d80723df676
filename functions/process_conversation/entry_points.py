"""Entry points of process_conversation: what follows a recording, and the upkeep of what is stored."""

from functions.process_conversation.deps import (
    DayDeps,
    DeadLetterDeps,
    MarkingDeps,
    MergeDeps,
    ProcessDeps,
    ReindexDeps,
    RenewalDeps,
    RetentionDeps,
    SweepDeps,
    TriggerDeps,
)
from shared.edge.declare.entry_points import EntryPoint

_PROCESSING = "functions.process_conversation.processing.processing_routes"
_UPKEEP = "functions.process_conversation.upkeep"

ENTRY_POINTS = (
    EntryPoint(
        name="on_conversation_written",
        deps=TriggerDeps,
        routes=(f"{_PROCESSING}:TRIGGER_ROUTES",),
    ),
    EntryPoint(
        name="process_conversation", deps=ProcessDeps, routes=(f"{_PROCESSING}:PROCESS_ROUTES",)
    ),
    EntryPoint(
        name="summarise_day",
        deps=DayDeps,
        routes=("functions.process_conversation.days.summary_routes:DAY_ROUTES",),
    ),
    EntryPoint(name="sweep", deps=SweepDeps, routes=(f"{_UPKEEP}.upkeep_routes:SWEEP_ROUTES",)),
    EntryPoint(
        name="record_dead_letter",
        deps=DeadLetterDeps,
        routes=(f"{_UPKEEP}.upkeep_routes:DEAD_LETTER_ROUTES",),
    ),
    EntryPoint(
        name="apply_retention",
        deps=RetentionDeps,
        routes=(f"{_UPKEEP}.upkeep_routes:RETENTION_ROUTES",),
    ),
    EntryPoint(
        name="finish_merge", deps=MergeDeps, routes=(f"{_UPKEEP}.upkeep_routes:FINISH_ROUTES",)
    ),
    EntryPoint(
        name="mark_owner", deps=MarkingDeps, routes=(f"{_UPKEEP}.mark_owner:MARKING_ROUTES",)
    ),
    EntryPoint(
        name="renew_texts", deps=RenewalDeps, routes=(f"{_UPKEEP}.renew_texts:RENEWAL_ROUTES",)
    ),
    EntryPoint(
        name="reindex_users", deps=ReindexDeps, routes=(f"{_UPKEEP}.reindex_routes:REINDEX_ROUTES",)
    ),
)
