"""Description of an app: a model words for others what its maker wrote of it."""

from functions.process_conversation.processing.model_outputs import AppDescriptionOutput
from functions.process_conversation.processing.template_schemas import AppIdeaIn
from shared import prompts
from shared.domain.errors import ModelFailed
from shared.models.data_room import fit_prompt
from shared.ports import ChatModel
from shared.security.link_filter import filter_links
from shared.security.visible_text import strip_invisible

PROMPT = "process_conversation/app_description"
MAX_CHARS = 600
ANSWER_TOKENS = 500
"""Three sentences, also in scripts of which each sign is a token or more."""


async def write_description(model: ChatModel, idea: AppIdeaIn) -> str:
    """Return a description; its maker's own words where the model fails. Raises Unavailable."""
    data = {"name": idea.name, "idea": idea.description or idea.prompt}
    prompt = prompts.build_prompt(PROMPT, data, answer_tokens=ANSWER_TOKENS)
    try:
        fitted = fit_prompt(model, "standard", prompt)
        output = await model.complete_structured("standard", fitted, AppDescriptionOutput)
    except ModelFailed:
        return data["idea"]
    text = " ".join(filter_links(strip_invisible(output.description)).split())
    return text[:MAX_CHARS] or data["idea"]
