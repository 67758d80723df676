"""Quirks of refusals that say when to come back."""

from collections.abc import Sequence

from tests.servers.quirky_openai import End, Quirk, Reply, always, send_json


def _with_retry(status: int = 429, body: object = None, **headers: str) -> Reply:
    return send_json(body or {"error": {"message": "Slow down"}}, status, **headers)


def _retry_info(delay: str) -> object:
    return [
        {
            "error": {
                "code": 429,
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "status": "RESOURCE_EXHAUSTED",
                "details": [
                    {
                        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                        "violations": [
                            {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}
                        ],
                    },
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
                ],
            }
        }
    ]


def _say(message: str) -> object:
    return {"error": {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}}


_CENTURY = (3_600.0, float("inf"))
_WAITS: Sequence[tuple[str, str, Reply, tuple[float, float] | None]] = (
    ("seconds", "holds today", _with_retry(retry_after="3"), (3, 3)),
    ("decimals", "RFC 9110's kind", _with_retry(retry_after="1.5"), (1.5, 2)),
    ("date", "W36", _with_retry(retry_after="Fri, 01 Jan 2100 00:00:00 GMT"), _CENTURY),
    (
        "old-date-form",
        "RFC 9110: RFC 850 dates",
        _with_retry(retry_after="Friday, 01-Jan-38 00:00:00 GMT"),
        _CENTURY,
    ),
    ("past-date", "W36's kind", _with_retry(retry_after="Thu, 01 Jan 2026 00:00:00 GMT"), (0, 0)),
    ("zero", "variant", _with_retry(retry_after="0"), (0, 0)),
    ("negative", "variant", _with_retry(retry_after="-5"), None),
    ("words", "variant", _with_retry(retry_after="soon"), None),
    ("milliseconds", "OpenAI, Azure", _with_retry(retry_after_ms="1500"), (1.5, 1.5)),
    (
        "milliseconds-before-seconds",
        "OpenAI, Azure",
        _with_retry(retry_after="2", retry_after_ms="1500"),
        (1.5, 2),
    ),
    ("gemini", "W37", _with_retry(body=_retry_info("36s")), (36, 36)),
    ("gemini-fraction", "W37", _with_retry(body=_retry_info("12.345678901s")), (12, 13)),
    (
        "groq",
        "Groq",
        _with_retry(
            body=_say("Rate limit reached for model `x`: Limit 6000. Please try again in 6m0s.")
        ),
        (360, 360),
    ),
    (
        "groq-fraction",
        "Groq",
        _with_retry(body=_say("Rate limit reached. Please try again in 7m12.48s. Visit us.")),
        (432, 433),
    ),
    (
        "openai",
        "OpenAI",
        _with_retry(body=_say("Rate limit reached. Please try again in 1.2s.")),
        (1.2, 2),
    ),
    ("openai-ms", "OpenAI", _with_retry(body=_say("Please try again in 250ms.")), (0.25, 1)),
    (
        "openai-hours",
        "OpenAI",
        _with_retry(body=_say("Please try again in 1h2m3s.")),
        (3_723, 3_723),
    ),
    ("azure", "Azure", _with_retry(body=_say("Please retry after 6 seconds.")), (6, 6)),
    ("gemini-words", "Gemini", _with_retry(body=_say("Please retry in 43.2s.")), (43, 44)),
    ("none", "holds today", _with_retry(), None),
)
WAITS = (
    *(
        Quirk(
            id=name,
            source=source,
            ask="greeting",
            play=always(refusal),
            end=End(failures=("busy",), retry_after_s=wait),
        )
        for name, source, refusal, wait in _WAITS
    ),
    Quirk(
        id="gemini-without-wait",
        source="W37",
        ask="greeting",
        play=always(
            send_json(
                [
                    {
                        "error": {
                            "code": 429,
                            "message": "You exceeded your current quota",
                            "status": "RESOURCE_EXHAUSTED",
                        }
                    }
                ],
                429,
            )
        ),
        end=End(failures=("no_quota", "busy")),
    ),
    Quirk(
        id="unavailable-with-seconds",
        source="RFC 9110",
        ask="greeting",
        play=always(_with_retry(503, retry_after="4")),
        end=End(failures=("unavailable",), retry_after_s=(4, 4)),
    ),
    Quirk(
        id="unavailable-with-a-date",
        source="W36",
        ask="greeting",
        play=always(_with_retry(503, retry_after="Fri, 01 Jan 2100 00:00:00 GMT")),
        end=End(failures=("unavailable",), retry_after_s=_CENTURY),
    ),
    Quirk(
        id="insufficient-quota-with-429",
        source="holds today",
        ask="greeting",
        play=always(
            send_json({"error": {"message": "No more.", "code": "insufficient_quota"}}, 429)
        ),
        end=End(failures=("no_quota",)),
    ),
)
