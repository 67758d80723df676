"""Quirks of refusals for length: with the window that they name, and without."""

import json

from tests.servers.quirks.refusal_forms import (
    Said,
    refuse_in_google,
    refuse_in_old_vllm,
    refuse_in_openrouter,
    refuse_in_vllm,
)
from tests.servers.quirky_openai import End, Quirk, always, refuse, send_json, send_text

WINDOW = 8_192

# Texts with their windows: 8,192 tokens.
_TOO_LONG: Said = (
    (
        "openai",
        "platform.openai.com: error codes",
        refuse(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
            "tokens (8000 in the messages, 1000 in the functions). Please reduce the length of the messages "
            "or functions.",
            param="messages",
            code="context_length_exceeded",
        ),
    ),
    (
        "vllm",
        "vllm-project/vllm#20409",
        refuse_in_old_vllm(
            "This model's maximum context length is 8192 tokens. However, you requested 12294 tokens (11294 "
            "in the messages, 1000 in the completion). Please reduce the length of the messages or "
            "completion."
        ),
    ),
    (
        "vllm-input-and-bound",
        "vllm-project/vllm#33425",
        refuse_in_vllm(
            "This model's maximum context length is 8192 tokens. However, your request has 8000 input tokens "
            "plus 2045 'max_tokens'. Please reduce one or the other. (parameter=input_tokens, max_tokens, "
            "value=(8000, 2045))"
        ),
    ),
    (
        "vllm-bound",
        "vLLM",
        refuse_in_vllm(
            "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length "
            "is 8192 tokens and your request has 9000 input tokens (2000 > 8192 - 9000). None"
        ),
    ),
    (
        "vllm-decoder",
        "vllm-project/vllm#12600",
        refuse_in_vllm(
            "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that "
            "`max_model_len` is no smaller than the number of text tokens."
        ),
    ),
    (
        "llama-server",
        "ggml-org/llama.cpp#15780",
        send_json(
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 14429,
                    "n_ctx": 8192,
                }
            },
            400,
        ),
    ),
    (
        "llama-server-500",
        "ggml-org/llama.cpp#15780",
        send_json(
            {
                "error": {
                    "code": 500,
                    "message": "the request exceeds the available context size. try increasing the context "
                    "size or enable context shift",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 14429,
                    "n_ctx": 8192,
                }
            },
            500,
        ),
    ),
    (
        "llama-server-with-figures",
        "ggml-org/llama.cpp",
        send_json(
            {
                "error": {
                    "code": 400,
                    "message": "request (14429 tokens) exceeds the available context size (8192 tokens), try "
                    "increasing it",
                    "type": "exceed_context_size_error",
                }
            },
            400,
        ),
    ),
    (
        "llama-cpp-python",
        "abetlen/llama-cpp-python#385",
        send_json(
            {
                "error": {
                    "message": "Requested tokens (9000) exceed context window of 8192",
                    "type": "internal_server_error",
                    "code": None,
                }
            },
            500,
        ),
    ),
    (
        "lm-studio",
        "lmstudio-ai/lmstudio-bug-tracker#237",
        send_json(
            {
                "error": "Trying to keep the first 14538 tokens when context the overflows. However, the model "
                "is loaded with context length of only 8192 tokens, which is not enough. Try to load the model "
                "with a larger context length, or provide a shorter input"
            },
            400,
        ),
    ),
    (
        "lm-studio-n_keep",
        "lmstudio-ai/lmstudio-bug-tracker#2256",
        send_json(
            {
                "error": "The number of tokens to keep from the initial prompt is greater than the context "
                "length (n_keep: 14538 >= n_ctx: 8192). Try to load the model with a larger context length, or "
                "provide a shorter input."
            },
            400,
        ),
    ),
    (
        "mistral",
        "Mistral",
        send_json(
            {
                "object": "error",
                "message": "Prompt contains 9000 tokens and 0 draft tokens, too large for model with 8192 "
                "maximum context length",
                "type": "invalid_request_prompt",
                "param": None,
                "code": "3051",
            },
            400,
        ),
    ),
    (
        "gemini",
        "Gemini",
        refuse_in_google(
            400,
            "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
            "INVALID_ARGUMENT",
        ),
    ),
    (
        "gemini-colon",
        "Gemini",
        refuse_in_google(
            400,
            "The input token count exceeds the maximum number of tokens allowed 8192.",
            "INVALID_ARGUMENT",
        ),
    ),
    (
        "claude",
        "dcdpr/jp#978",
        send_json(
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 9000 tokens > 8192 maximum",
                },
            },
            400,
        ),
    ),
    (
        "claude-and-bound",
        "Claude behind gateways",
        refuse(
            "input length and `max_tokens` exceed context limit: 8000 + 2000 > 8192, decrease input length or "
            "`max_tokens` and try again"
        ),
    ),
    (
        "tgi",
        "TGI",
        send_json(
            {
                "error": {
                    "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. "
                    "Given: 8100 `inputs` tokens and 2000 `max_new_tokens`",
                    "http_status_code": 422,
                }
            },
            422,
        ),
    ),
    (
        "tgi-inputs",
        "TGI",
        send_json(
            {
                "error": "Input validation error: `inputs` must have less than 8192 tokens. Given: 9000",
                "error_type": "validation",
            },
            422,
        ),
    ),
    (
        "cerebras",
        "Cerebras",
        send_json(
            {
                "message": "Please reduce the length of the messages or completion. Current length is 9000 "
                "while limit is 8192",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            },
            400,
        ),
    ),
    (
        "xai",
        "xAI",
        send_json(
            {
                "code": "Client specified an invalid argument",
                "error": "This model's maximum prompt length is 8192 but the request contains 9000 tokens.",
            },
            400,
        ),
    ),
    (
        "openrouter",
        "OpenRouter",
        refuse_in_openrouter(
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens "
            "(8000 of text input, 1000 in the output). Please reduce the length of either one, or use the "
            '"middle-out" transform to compress your prompt automatically.',
            400,
        ),
    ),
    (
        "openrouter-raw",
        "OpenRouter",
        refuse_in_openrouter(
            "Provider returned error",
            400,
            raw=json.dumps(
                {"error": {"message": "prompt is too long: 9000 tokens > 8192 maximum"}}
            ),
            provider_name="Anthropic",
        ),
    ),
    (
        "kimi",
        "Kimi",
        refuse("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
    ),
    (
        "dashscope",
        "DashScope",
        refuse(
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]",
            code="invalid_parameter_error",
        ),
    ),
    (
        "sglang",
        "SGLang",
        refuse_in_old_vllm(
            "The input (9000 tokens) is longer than the model's context length (8192 tokens)."
        ),
    ),
    (
        "sglang-both",
        "SGLang",
        refuse_in_old_vllm(
            "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a "
            "total of 10000 tokens: 8000 tokens from the input messages and 2000 tokens for the completion."
        ),
    ),
    (
        "fireworks",
        "Fireworks",
        refuse(
            "The prompt is too long: 9000, model maximum context length: 8192",
            type="invalid_request_error",
        ),
    ),
    (
        "litellm",
        "BerriAI/litellm: wrapped",
        send_json(
            {
                "error": {
                    "message": "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException "
                    "- This model's maximum context length is 8192 tokens. However, your messages resulted in "
                    "9000 tokens.\nReceived Model Group=gpt\nAvailable Model Group Fallbacks=None",
                    "type": None,
                    "param": None,
                    "code": "400",
                }
            },
            400,
        ),
    ),
    (
        "litellm-500",
        "BerriAI/litellm: wrapped",
        send_json(
            {
                "error": {
                    "message": "litellm.APIConnectionError: Ollama_chatException - This model's maximum context "
                    "length is 8192 tokens.",
                    "code": "500",
                }
            },
            500,
        ),
    ),
    (
        "nim",
        "NVIDIA/garak#748: NIM",
        send_json(
            {
                "type": "urn:inference-service:problem-details:bad-request",
                "title": "Bad Request",
                "status": 400,
                "detail": "This model's maximum context length is 8192 tokens. However, you requested 9000.",
            },
            400,
        ),
    ),
    (
        "with-commas",
        "variant: figures with commas",
        refuse(
            "This model's maximum context length is 8,192 tokens, and your request has 9,000 tokens."
        ),
    ),
    (
        "with-k",
        "variant of Databricks",
        send_json(
            {
                "error_code": "BAD_REQUEST",
                "message": "Input is too long: 9000 tokens exceed the context window of 8192 tokens.",
            },
            400,
        ),
    ),
)

# Texts that name no window, or none that can be believed.
_TOO_LONG_WITHOUT_WINDOW: Said = (
    (
        "vllm-3-tokens",
        "vllm-project/vllm#33418: a wrong figure",
        refuse_in_vllm(
            "This model's maximum context length is 3 tokens. However, your request has 8 input tokens. Please "
            "reduce the length of the input messages. (parameter=input_tokens, value=8)"
        ),
    ),
    (
        "vllm-negative-bound",
        "vllm-project/vllm#4667",
        refuse_in_old_vllm("max_tokens must be at least 1, got -186."),
    ),
    ("ollama", "Ollama", refuse("the input length exceeds the context length", type="api_error")),
    (
        "bedrock",
        "Bedrock behind gateways",
        refuse("Input is too long for requested model."),
    ),
    (
        "claude-too-large",
        "Claude behind gateways",
        send_json(
            {
                "type": "error",
                "error": {
                    "type": "request_too_large",
                    "message": "Request exceeds the maximum size",
                },
            },
            413,
        ),
    ),
    ("nginx", "nginx", send_text("<html><h1>413 Request Entity Too Large</h1></html>", 413)),
    (
        "groq-minute",
        "Groq: a minute's tokens are less than the request",
        send_json(
            {
                "error": {
                    "message": "Request too large for model `llama` in organization `org_1` service tier "
                    "`on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your "
                    "message size and try again.",
                    "type": "tokens",
                    "code": "rate_limit_exceeded",
                }
            },
            413,
        ),
    ),
    (
        "openai-minute",
        "OpenAI: a minute's tokens are less than the request",
        send_json(
            {
                "error": {
                    "message": "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): "
                    "Limit 30000, Requested 48344. The input or output tokens must be reduced in order to run "
                    "successfully.",
                    "type": "tokens",
                    "param": None,
                    "code": "rate_limit_exceeded",
                }
            },
            429,
        ),
    ),
    (
        "glm",
        "GLM: prompt too long",
        send_json({"error": {"code": "1261", "message": "Prompt 超长"}}, 400),
    ),
    (
        "openai-code-alone",
        "holds today",
        refuse("Too long.", code="context_length_exceeded"),
    ),
    (
        "string-too-long",
        "OpenAI",
        refuse(
            "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, "
            "but got a string with length 12000000 instead.",
            param="messages[1].content",
            code="string_above_max_length",
        ),
    ),
)

TOO_LONG = (
    *(
        Quirk(
            id=name,
            source=source,
            ask="greeting",
            sent="long",
            play=always(refusal),
            end=End(failures=("too_long",), window_tokens=WINDOW),
        )
        for name, source, refusal in _TOO_LONG
    ),
    *(
        Quirk(
            id=name,
            source=source,
            ask="greeting",
            sent="long",
            play=always(refusal),
            end=End(failures=("too_long",)),
        )
        for name, source, refusal in _TOO_LONG_WITHOUT_WINDOW
    ),
)
