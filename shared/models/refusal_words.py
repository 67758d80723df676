"""Words of refusals: what servers say when they refuse a request, what it means, and who says it.

The first row that fits counts for a reason; of steps all that fit are tried, in this order. Each row
stands for a kind of sentence, and its last column for one server that was seen to say it.
"""

import re
from collections.abc import Sequence
from functools import cache

from shared.domain.failure import FailureReason
from shared.models.known_models import Step

_REASONS: Sequence[tuple[FailureReason, str, str]] = (
    ("filtered", r"content management policy|responsible ?ai", "Azure OpenAI"),
    ("filtered", r"content exists risk|inappropriate content", "DeepSeek, DashScope"),
    ("filtered", r"violates usage|不安全或敏感|unsafe content", "xAI, GLM"),
    ("filtered", r"content[ _]filter|violat\w+ .{0,40}polic", "OpenAI"),
    ("filtered", r"(?:input|content|prompt|message) (?:was|is|has been) (?:flagged|blocked)", "OpenRouter, Gemini"),
    ("too_long", r"(?:maximum|max)\W+(?:\w+\W+){0,5}context", "OpenAI, vLLM, OpenRouter"),
    ("too_long", r"context[ _](?:length|size|window|limit)|prompt length|token limit", "llama.cpp, LM Studio, Ollama"),
    ("too_long", r"(?:prompt|input|request|messages?)\b.{0,30}(?<!string )\btoo (?:long|large)", "Anthropic, Bedrock, Groq"),
    ("too_long", r"messages.{0,20}content.{0,20}string too long", "OpenAI"),
    ("too_long", r"must be at least 1, got -|request too large|超长", "vLLM, OpenAI's tokens a minute, GLM"),
    ("too_long", r"too many (?:input |prompt )?tokens|too large for model", "Cohere, Mistral"),
    ("too_long", r"inputs`?\W+(?:must have less than|tokens \+)", "TGI"),
    ("too_long", r"input token count.{0,60}exceeds|token count.{0,40}exceeds", "Gemini"),
    ("too_long", r"longer than the (?:maximum )?(?:model|context)|input (?:is|was) longer", "vLLM, SGLang"),
    ("too_long", r"range of input length|reduce the length|reduce your message size", "DashScope, vLLM, Groq"),
    ("too_long", r"tokens? (?:limit|length) exceeded|exceeds? (?:the )?(?:model'?s )?(?:maximum )?(?:token|input) (?:limit|length)", "Together, Fireworks"),
    ("refused_key", r"api[ _-]?key (?:is )?(?:not valid|invalid|missing|expired)", "Gemini"),
    ("refused_key", r"(?:invalid|incorrect|wrong|expired) api[ _-]?key", "OpenAI, llama.cpp"),
    ("refused_key", r"authentication (?:fails|failed|error)|(?:invalid|missing|no) (?:authentication|authorization|credentials|auth)\b", "DeepSeek, OpenRouter"),
    ("no_quota", r"insufficient (?:balance|credits?|funds)|credit balance|out of credits|requires more credits", "DeepSeek, Anthropic, OpenRouter"),
    ("no_quota", r"used all available credits|spend(?:ing)? limit|budget (?:has been )?exceeded|free tier.{0,40}exhausted|good standing|余额不足", "xAI, Groq, LiteLLM, DashScope, GLM"),
    ("no_quota", r"billing (?:is )?(?:not|hard|account)|(?:plan and|check your) billing", "OpenAI"),
    ("unknown_model", r"model\b.{0,100}\b(?:not found|does ?n[o']t exist|does not exist|not exist|is not (?:available|loaded|a valid)|unknown|not a valid)", "OpenAI, Ollama, vLLM"),
    ("unknown_model", r"model identifier is invalid|could not find real model|model\b.{0,60}\b(?:has been decommissioned|no longer supported)|^model\W+[\w./:-]+\W+is not supported", "Bedrock, llama-swap, Groq, SGLang"),
    ("unknown_model", r"(?:invalid|unknown|no such) model\b|not a valid model|no models? (?:is |are )?loaded|not a chat model", "Mistral, LM Studio"),
)  # fmt: skip

_STEPS: Sequence[tuple[Step, str, str]] = (
    ("reminder_in_result", r"role\W+user\W+after\W+(?:role\W+)?tool", "Mistral: Unexpected role 'user' after role 'tool'"),
    ("reminder_in_result", r"after (?:a |the )?tool (?:message|result|role|call)", "templates of Mistral"),
    ("calls_as_text", r"only user,? (?:and )?(?:model|assistant)(?:,? and assistant)? roles", "templates of two roles"),
    ("calls_as_text", r"\brole\b.{0,60}should be.{0,60}(?:user|assistant)", "servers that know three roles"),
    ("named_results", r"function_response\.name|name cannot be empty|tool.{0,30}\bname\b.{0,20}(?:required|missing)", "Gemini"),
    ("wordless_calls", r"either content or tool_calls,? (?:but )?not both", "Mistral"),
    ("json_object", r"(?:response_?format|json_?schema|structured outputs?|response_schema|generation_config)\W+.{0,80}(?:not (?:supported|available|enabled|allowed)|unavailable|enabled only|unknown variant)", "OpenAI, DeepSeek, Azure"),
    ("json_object", r"(?:not|n't) support.{0,40}(?:response.?format|json.?schema)|response_format.type|response_format.{0,40}\btype\b.{0,40}(?:must|should|invalid)", "Groq, LM Studio, serde"),
    ("plain_schemas", r"grammar|repetition|regular expression|regex", "llama.cpp: failed to parse grammar"),
    ("plain_schemas", r"xgrammar|outlines|samplers", "vLLM, SGLang"),
    ("plain_schemas", r"\b(?:max|min)(?:Length|Items|Properties)\b", "Gemini, Cerebras"),
    ("plain_schemas", r"\b(?:pattern|format|multipleOf)\b.{0,40}not (?:supported|permitted|allowed)", "OpenAI, strict schemas"),
    ("plain_schemas", r"schema.{0,120}(?:unsupported|not supported|not permitted|too complex|too many|keyword|\$ref|\$defs|invalid)", "OpenAI, Fireworks"),
    ("plain_schemas", r"(?:unsupported|invalid|unknown|unimplemented).{0,60}(?:schema|keys?\b|keyword|additionalProperties|function_declarations|parameters)", "Gemini, vLLM"),
    ("json_object", r"response_?format|json_?schema|structured outputs?|json mode|guided[ _]json|response_schema|generation_config", "DeepSeek, Groq"),
    ("no_usage", r"stream_options|include_usage", "Azure: Unrecognized request argument supplied"),
    ("no_effort", r"reasoning[ _.]?effort", "OpenAI, other models"),
    ("no_cache_marks", r"prompt_cache", "servers that know no marks"),
    ("other_bound", r"max_completion_tokens|max_tokens", "OpenAI, reasoning models; Mistral"),
    ("no_system_role", r"system (?:role|message|prompt|instruction)s?.{0,40}(?:not|un)[ -]?(?:supported|enabled|allowed|available|accepted)", "template of Gemma"),
    ("no_system_role", r"developer instruction|(?:unexpected|invalid|unsupported|unknown) (?:message )?role\W+system", "Gemini's Gemma"),
    ("no_system_role", r"role\W+(?:does not|doesn't) support\W+system|only user and (?:model|assistant) roles", "OpenAI o1-mini, templates"),
    ("no_system_role", r"(?:not|n't)\W+(?:support|allow|accept)\w*\b.{0,20}\bsystem (?:role|message|prompt)", "templates"),
    ("one_system_text", r"system messages?.{0,40}(?:beginning|first|start|only one|once|multiple)", "template of Qwen"),
    ("one_system_text", r"(?:multiple|more than one|only one|several|single) system", "MiniMax, DashScope"),
    ("alternating", r"alternat|consecutive|same role", "templates of Llama 2, Gemma; Perplexity"),
    ("alternating", r"first (?:message|role|content).{0,60}user|must (?:begin|start) with.{0,20}user", "Bedrock, Perplexity"),
    ("alternating", r"role\W+(?:user|assistant)\W+after\W+(?:role\W+)?(?:user|assistant|system)", "Mistral"),
    ("one_system_text", r"roles? must alternate|should alternate", "templates that count a second system text"),
    ("reminder_in_result", r"roles? must alternate|should alternate", "templates in which a result is the user's"),
    ("calls_as_text", r"roles? must alternate user/assistant", "templates that know no calls"),
    ("single_calls", r"(?:single|one) (?:tool|function)[ -_]?calls?|parallel[ _](?:tool|function)|multiple (?:tool|function)[ _-]calls", "template of Llama 3.1"),
    ("short_ids", r"tool_use\.id|tool_call_id.{0,40}pattern", "Anthropic behind gateways"),
    ("short_ids", r"tool[ _-]?call[ _-]?ids?.{0,80}(?:length|a-z|alphanumeric|invalid|too long|characters|format)", "Mistral: with a length of 9"),
    ("no_tools", r"\btools\b.{0,40}(?:extra inputs|not permitted|unexpected|unknown)", "servers that know no tools"),
    ("short_ids", r"tool_calls?.{0,30}\bid\b.{0,60}(?:too long|length)", "OpenAI: maximum length 40"),
    ("filled_reasoning", r"missing\W+(?:\w+\W+){0,3}reasoning|reasoning\w*\W+(?:field )?(?:is |was )?(?:missing|required)", "DeepSeek, Kimi"),
    ("filled_reasoning", r"reasoning\w*.{0,60}must be (?:passed|provided|included)", "DeepSeek"),
    ("no_reasoning_back", r"reasoning(?:_content|_details|\b)|extra_content|thinking_blocks|thought_signature", "Groq, Cerebras"),
    ("no_pictures", r"image|vision|multi-?modal|picture", "DeepSeek: unknown variant `image_url`"),
    ("calls_as_text", r"(?:role\W+tool|tool role|tool messages?)\b.{0,60}(?:not|un|invalid|must)", "templates without the role"),
    ("calls_as_text", r"(?:unknown|unexpected|invalid|unsupported).{0,20}role\W+tool|toolConfig", "Bedrock"),
    ("calls_as_text", r"(?:tool_use|toolUse|tool_calls?|tool blocks?).{0,80}(?:define|without|requires?|must be (?:set|provided)).{0,20}tool|`?tools=`? param", "LiteLLM before Anthropic"),
    ("no_tools", r"(?:tools?|function[ -]?call\w*|tool[ -]?(?:use|call\w*))\b.{0,40}(?:not|un|n't)[ -]?\w{0,4}[ -]?(?:support|enabled|available|allowed|implemented)", "Ollama: does not support tools"),
    ("no_tools", r"(?:not|n't|no)\b.{0,40}support\w*\b.{0,20}(?:tools?|function|tool)\b", "OpenRouter: No endpoints found that support tool use"),
    ("no_tools", r"auto-tool-choice|tool-call-parser|--jinja|unrecognized.{0,30}\btools\b|tools param", "vLLM, llama.cpp"),
    ("text_content", r"content.{0,80}(?:string|null|none\b|empty|not iterable|blank|text|<nil>)|NoneType|concatenate|sequence, expected a string", "vLLM, Cohere, Bedrock"),
    ("no_bound", r"max_completion_tokens|max_tokens", "servers that know neither name"),
    ("text_answers", r"response_?format|json_?schema|structured outputs?|json mode|json_object|guided[ _]json|grammar", "LM Studio: must be 'json_schema' or 'text'"),
)  # fmt: skip


@cache
def list_reason_words() -> Sequence[tuple[FailureReason, re.Pattern[str]]]:
    """Return reasons with the words that name them; compiled with the first refusal, as most see none."""
    return [(reason, re.compile(words, re.IGNORECASE)) for reason, words, _ in _REASONS]


@cache
def list_step_words() -> Sequence[tuple[Step, re.Pattern[str]]]:
    """Return steps with the words that name them."""
    return [(step, re.compile(words, re.IGNORECASE)) for step, words, _ in _STEPS]
