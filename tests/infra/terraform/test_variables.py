"""Variables of both stacks: what cannot be meant is refused with a sentence (D1)."""

import re
from typing import Any

import pytest

from tests.infra.terraform.stack import evaluate

NEEDED = {"domain": "keepsake.example.org", "alert_email": "ann@example.org", "monthly_budget": 100}


@pytest.mark.parametrize(
    ("stack", "variables", "sentence"),
    [
        ("services", {"image": "europe-west1-docker.pkg.dev/demo/keepsake/functions:latest"}, "named by its digest"),
        ("services", {"release": "Release 1"}, "named by an r, and up to 20 small letters"),
        ("services", {"canary": {"stable": "r0", "functions": ["chat"], "percent": 100}}, "0 to 99 percent"),
        ("services", {"settings": {"MODEL_AGENTT": "gpt-6-sol"}}, "nobody sets here: MODEL_AGENTT"),
        ("services", {"settings": {"KMS_KEY": "mine"}}, "nobody sets here: KMS_KEY"),
        ("foundation", {"backup_weeks": 9}, "1 to 8 weeks"),
        ("foundation", {"sign_in_providers": ["facebook"]}, "password, google.com, or both"),
        ("foundation", {"sign_in_providers": ["google.com"]}, "needs google_sign_in_client_id"),
        ("foundation", {"app_check": "on"}, "UNENFORCED, ENFORCED, or empty"),
        ("foundation", {"web_search": "bing"}, "searched by perplexity, or not"),
        ("foundation", {"optional_secrets": ["MY_KEY"]}, "Optional secrets are"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_a_sentence_d1(
    stack: str, variables: dict[str, Any], sentence: str
) -> None:
    name = "secrets" if stack == "foundation" else "settings"

    with pytest.raises(AssertionError) as error:
        evaluate(stack, name, **(NEEDED if stack == "foundation" else {}), **variables)

    assert sentence in unframe(str(error.value))


def unframe(text: str) -> str:
    """Take away the colours and the frame that Terraform puts around its sentences."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╷╵]", "", text).split())


def test_an_operator_sets_a_setting_for_all_functions_but_overrides_none_of_ours_d1() -> None:
    settings = evaluate("services", "settings", settings={"QUOTA_TURNS": "50"})["settings"]

    assert {row["QUOTA_TURNS"] for row in settings.values()} == {"50"}
