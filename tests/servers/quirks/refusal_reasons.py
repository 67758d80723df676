"""Quirks of refusals that name their reason: the key, the model, the quota, a filter."""

from tests.servers.quirks.refusal_forms import (
    Said,
    refuse_in_google,
    refuse_in_old_vllm,
    refuse_in_openrouter,
)
from tests.servers.quirky_openai import End, Quirk, always, refuse, send_json, send_text

_UNAUTHORIZED = "Unauthorized"
_KEYS: Said = (
    (
        "openai",
        "OpenAI",
        refuse("Incorrect API key provided: sk-q***y.", 401, code="invalid_api_key"),
    ),
    (
        "gemini",
        "Gemini",
        refuse_in_google(
            400,
            "API key not valid. Please pass a valid API key.",
            "INVALID_ARGUMENT",
            details=[{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
        ),
    ),
    (
        "gemini-expired",
        "Gemini",
        refuse_in_google(400, "API key expired. Please renew the API key.", "INVALID_ARGUMENT"),
    ),
    (
        "gemini-denied",
        "Gemini",
        refuse_in_google(403, "Method doesn't allow unregistered callers.", "PERMISSION_DENIED"),
    ),
    ("mistral", "Mistral", send_json({"message": _UNAUTHORIZED, "request_id": "1"}, 401)),
    (
        "xai",
        "xAI",
        send_json(
            {
                "code": "Client specified an invalid argument",
                "error": "Incorrect API key provided: sk***ky. You can obtain an API key from "
                "https://console.x.ai.",
            },
            400,
        ),
    ),
    (
        "llama-server",
        "llama.cpp",
        send_json(
            {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}},
            401,
        ),
    ),
    ("vllm", "vLLM", send_json({"error": _UNAUTHORIZED}, 401)),
    (
        "litellm",
        "LiteLLM",
        send_json(
            {
                "error": {
                    "message": "Authentication Error, Invalid proxy server token passed. Received API Key = "
                    "sk-...irky",
                    "type": "auth_error",
                    "param": "None",
                    "code": "401",
                }
            },
            400,
        ),
    ),
    (
        "deepseek",
        "DeepSeek",
        send_json(
            {
                "error": {
                    "message": "Authentication Fails, Your api key: ****irky is invalid",
                    "type": "authentication_error",
                    "code": "invalid_request_error",
                }
            },
            401,
        ),
    ),
    ("cohere", "Cohere", send_json({"id": "1", "message": "invalid api token"}, 401)),
    ("a-page", "a proxy before the server", send_text("<h1>401 Authorization Required</h1>", 401)),
    (
        "openrouter-user",
        "OpenRouter",
        send_json({"error": {"message": "User not found.", "code": 401}}, 401),
    ),
)
_MODELS: Said = (
    (
        "openai",
        "OpenAI",
        refuse(
            "The model `quirky-1` does not exist or you do not have access to it.",
            404,
            code="model_not_found",
        ),
    ),
    (
        "openai-403",
        "OpenAI",
        refuse(
            "Project `proj_1` does not have access to model `quirky-1`", 403, code="model_not_found"
        ),
    ),
    (
        "ollama",
        "Ollama",
        refuse('model "quirky-1" not found, try pulling it first', 404, type="api_error"),
    ),
    (
        "vllm",
        "vLLM",
        refuse_in_old_vllm("The model `quirky-1` does not exist.", 404, "NotFoundError"),
    ),
    (
        "mistral",
        "Mistral",
        send_json(
            {
                "object": "error",
                "message": "Invalid model: quirky-1",
                "type": "invalid_model",
                "param": None,
                "code": "1500",
            },
            400,
        ),
    ),
    ("openrouter", "OpenRouter", refuse_in_openrouter("quirky-1 is not a valid model ID", 400)),
    (
        "openrouter-endpoints",
        "OpenRouter",
        refuse_in_openrouter("No endpoints found for quirky-1.", 404),
    ),
    ("deepseek", "DeepSeek", refuse("Model Not Exist", code="invalid_request_error")),
    (
        "gemini",
        "Gemini",
        refuse_in_google(
            404,
            "models/quirky-1 is not found for API version v1main, or is not supported for generateContent.",
            "NOT_FOUND",
        ),
    ),
    (
        "lm-studio",
        "LM Studio",
        refuse(
            "No models loaded. Please load a model in the developer page or use the `lms load` command.",
            404,
            param="model",
            code="model_not_found",
        ),
    ),
    ("lm-studio-400", "LM Studio", send_json({"error": 'Model "quirky-1" not found'}, 400)),
    (
        "litellm",
        "LiteLLM",
        send_json(
            {
                "error": {
                    "message": "/chat/completions: Invalid model name passed in model=quirky-1. Call "
                    "`/v1/models` to view available models for your key.",
                    "type": "None",
                    "param": "None",
                    "code": "400",
                }
            },
            400,
        ),
    ),
    (
        "azure",
        "Azure",
        send_json(
            {
                "error": {
                    "code": "DeploymentNotFound",
                    "message": "The API deployment for this resource does not exist.",
                }
            },
            404,
        ),
    ),
    (
        "kimi",
        "Kimi",
        refuse(
            "Not found the model quirky-1 or Permission denied",
            404,
            type="resource_not_found_error",
        ),
    ),
    (
        "bedrock",
        "Bedrock behind gateways",
        refuse("The provided model identifier is invalid."),
    ),
    ("sglang", "variant", refuse("model 'quirky-1' is not supported")),
    (
        "llama-swap",
        "llama-swap",
        send_text("could not find real modelID for quirky-1", 400, kind="text/plain"),
    ),
    (
        "groq-decommissioned",
        "Groq",
        refuse(
            "The model `quirky-1` has been decommissioned and is no longer supported. Please refer to "
            "https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.",
            code="model_decommissioned",
        ),
    ),
    (
        "openai-deprecated",
        "OpenAI",
        refuse("The model `quirky-1` has been deprecated.", 404, code="model_not_found"),
    ),
)
_QUOTAS: Said = (
    (
        "openai",
        "OpenAI",
        refuse(
            "You exceeded your current quota, please check your plan and billing details.",
            429,
            type="insufficient_quota",
            code="insufficient_quota",
        ),
    ),
    ("deepseek", "DeepSeek", refuse("Insufficient Balance", 402, type="unknown_error")),
    (
        "openrouter",
        "OpenRouter",
        refuse_in_openrouter(
            "This request requires more credits, or fewer max_tokens. You requested up to 2000 tokens, but can "
            "only afford 300. To increase, visit https://openrouter.ai/settings/credits and add more credits",
            402,
        ),
    ),
    (
        "xai",
        "xAI",
        send_json(
            {
                "code": "The caller does not have permission to execute the specified operation",
                "error": "Your team has either used all available credits or reached its monthly spending "
                "limit.",
            },
            403,
        ),
    ),
    (
        "claude",
        "Claude behind gateways",
        refuse(
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to "
            "upgrade or purchase credits."
        ),
    ),
    (
        "kimi",
        "Kimi",
        refuse(
            "Your account is suspended, please check your plan and billing details",
            429,
            type="exceeded_current_quota_error",
        ),
    ),
    (
        "dashscope",
        "DashScope",
        refuse(
            "Access denied, please make sure your account is in good standing.",
            code="Arrearage",
        ),
    ),
    (
        "dashscope-free",
        "DashScope",
        refuse(
            "The free tier of the model has been exhausted.",
            403,
            code="AllocationQuota.FreeTierOnly",
        ),
    ),
    (
        "glm",
        "GLM: balance too low",
        send_json({"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}, 429),
    ),
    (
        "groq-blocked",
        "Groq",
        refuse(
            "Your organization has been restricted: spend limit reached.",
            400,
            code="spend_limit_reached",
        ),
    ),
    (
        "litellm-budget",
        "LiteLLM",
        send_json(
            {
                "error": {
                    "message": "Budget has been exceeded! Current cost: 1.2, Max budget: 1.0",
                    "type": "budget_exceeded",
                    "param": None,
                    "code": "400",
                }
            },
            400,
        ),
    ),
)
_FILTERS: Said = (
    (
        "azure",
        "Azure",
        send_json(
            {
                "error": {
                    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
                    "management policy. Please modify your prompt and retry.",
                    "type": None,
                    "param": "prompt",
                    "code": "content_filter",
                    "status": 400,
                    "innererror": {"code": "ResponsibleAIPolicyViolation"},
                }
            },
            400,
        ),
    ),
    (
        "openai",
        "OpenAI",
        refuse(
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try "
            "again with a different prompt.",
            code="invalid_prompt",
        ),
    ),
    (
        "dashscope",
        "DashScope",
        refuse(
            "<400> InternalError.Algo.DataInspectionFailed: Input data may contain inappropriate content.",
            code="data_inspection_failed",
        ),
    ),
    (
        "kimi",
        "Kimi",
        refuse(
            "The request was rejected because it was considered high risk", type="content_filter"
        ),
    ),
    ("deepseek", "DeepSeek", refuse("Content Exists Risk", code="invalid_request_error")),
    (
        "glm",
        "GLM",
        send_json(
            {
                "contentFilter": [{"level": 1, "role": "user"}],
                "error": {
                    "code": "1301",
                    "message": "系统检测到输入或生成内容可能包含不安全或敏感内容",
                },
            },
            400,
        ),
    ),
    (
        "openrouter",
        "OpenRouter",
        refuse_in_openrouter(
            'openai/gpt requires moderation. Your input was flagged for "violence". No credits were charged.',
            403,
            reasons=["violence"],
            flagged_input="…",
        ),
    ),
    ("xai", "xAI", send_json({"code": "x", "error": "Content violates usage guidelines."}, 403)),
    (
        "gemini",
        "Gemini",
        refuse_in_google(
            400, "The prompt was blocked due to: PROHIBITED_CONTENT", "INVALID_ARGUMENT"
        ),
    ),
)

REASONS = tuple(
    Quirk(
        id=f"{kind}-{name}",
        source=source,
        ask="greeting",
        play=always(refusal),
        end=End(failures=(reason,)),
        is_personal=kind == "filter",
    )
    for kind, reason, said in (
        ("key", "refused_key", _KEYS),
        ("model", "unknown_model", _MODELS),
        ("quota", "no_quota", _QUOTAS),
        ("filter", "filtered", _FILTERS),
    )
    for name, source, refusal in said
)
