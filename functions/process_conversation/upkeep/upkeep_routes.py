"""Upkeep: what was given up or is stuck, transcripts that are too old, and merges that become final."""

from pydantic import ValidationError

from functions.process_conversation.deps import (
    DeadLetterDeps,
    MergeDeps,
    RetentionDeps,
    SweepDeps,
)
from functions.process_conversation.upkeep.dead_letters import record_dead_letter
from functions.process_conversation.upkeep.missed_events import find_missed
from functions.process_conversation.upkeep.older_due import walk_page
from functions.process_conversation.upkeep.retention import apply_retention
from functions.process_conversation.upkeep.sweep import sweep, wake_waiting
from functions.process_conversation.upkeep.upkeep_schemas import FinishMergeIn, RetentionIn, SweepIn
from shared import telemetry
from shared.domain.errors import Invalid
from shared.edge.declare.cloudevents import (
    parse_dead_letter,
)
from shared.edge.declare.routes import Call, route


@route("POST", "/", "The hour to undo a merge is over", access="service", status=204)
async def on_merge_due(deps: MergeDeps, call: Call[FinishMergeIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await deps.stores.merges.finish(call.body.uid, call.body.id)


@route("POST", "/", "Old transcripts are to be deleted", access="service", status=204)
async def on_retention(deps: RetentionDeps, call: Call[RetentionIn]) -> None:
    await apply_retention(deps, call.body.uid, set_at=call.body.set_at)


@route("POST", "/", "A message was given up", access="service", status=204)
async def on_dead_letter(deps: DeadLetterDeps, call: Call[bytes]) -> None:
    await record_dead_letter(deps, parse_dead_letter(call.headers, call.body))


@route("POST", "/", "It is time to look for what is stuck", access="service", status=204)
async def on_sweep(deps: SweepDeps, call: Call[bytes]) -> None:
    body = _parse_sweep(call)
    if body.wakes:
        await wake_waiting(deps)
    elif body.searches:
        await find_missed(deps, after=body.after)
    elif body.walks:
        await walk_page(deps, after=body.after)
    else:
        await sweep(deps)


def _parse_sweep(call: Call[bytes]) -> SweepIn:
    try:
        return SweepIn.model_validate_json(call.body or b"{}")
    except ValidationError as error:
        raise Invalid("The call does not say what to sweep") from error


DEAD_LETTER_ROUTES = (on_dead_letter,)
SWEEP_ROUTES = (on_sweep,)
RETENTION_ROUTES = (on_retention,)
FINISH_ROUTES = (on_merge_due,)
