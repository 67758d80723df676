"""Secrets: every form is found and nothing else, in linear work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.security.secrets import find_secrets, redact_secrets

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        (f"key: {PEM} ok", "private_key", PEM),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow", "private_key", None),
        (f"got {JWT}, sorry", "jwt", JWT),
        ("use sk_live_4eC39HqLyjWDarjtT1zdp7dc now", "api_key", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
        ("sk-proj-abc123DEF456ghi", "api_key", None),
        ("sk_0f8fad5bd9cb469fa16570867728950e", "api_key", None),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "api_key", None),
        ("github_pat_11ABCDEFG0abcdefghij", "api_key", None),
        ("xoxb-17653672481-19874698323", "api_key", None),
        ("glpat-a1b2c3d4e5f6g7h8i9j0", "api_key", None),
        ("AKIAIOSFODNN7EXAMPLE", "api_key", None),
        ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "api_key", None),
        ("AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "api_key", None),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "api_key", None),
        ("123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1", "api_key", None),
        ("Authorization: Basic dXNlcjpwYXNz", "authorization", "dXNlcjpwYXNz"),
        ("authorization=Token abcdefgh", "authorization", "abcdefgh"),
        ("Bearer abc123.def-456", "authorization", "abc123.def-456"),
        ("Set-Cookie: sid=8f2; Path=/", "cookie", "sid=8f2; Path=/"),
        ("postgres://ann:hunter2@db.example:5432/x", "url_credentials", "ann:hunter2"),
        ("redis://:hunter2@cache", "url_credentials", ":hunter2"),
        ("password=hunter2", "named_secret", "hunter2"),
        ("DB_PASSWORD = hunter2", "named_secret", "hunter2"),
        ('{"password": "correct horse"}', "named_secret", "correct horse"),
        ('{\\"api_key\\": \\"abcdefgh\\"}', "named_secret", "abcdefgh"),
        ("api-key: a1b2c3d4", "named_secret", "a1b2c3d4"),
        ("Password: correcthorse\nUser: ann", "named_secret", "correcthorse"),
        ("AccountKey=abcd1234==", "named_secret", "abcd1234=="),
        ("https://x.example/a?key=abcdef1&b=2", "named_secret", "abcdef1"),
        ("card 4929 1234 5678 9012 x", None, None),
        ("card 4242 4242 4242 4242 x", "card_number", "4242 4242 4242 4242"),
        ("4242424242424242", "card_number", None),
        ("12 4242-4242-4242-4242 3", "card_number", "4242-4242-4242-4242"),
        ("378282246310005", "card_number", None),
        ("IBAN DE89 3704 0044 0532 0130 00 at", "iban", "DE89 3704 0044 0532 0130 00"),
        ("gb82west12345698765432", "iban", None),
        ("DE88370400440532013000", None, None),
        ("id 3f9aB27cQ81zL0pW5xYt9 x", "opaque_token", "3f9aB27cQ81zL0pW5xYt9"),
    ],
)
def test_each_form_of_a_secret_is_found(text: str, kind: str | None, secret: str | None):
    found = [(s.kind, text[s.start : s.end]) for s in find_secrets(text)]

    assert found == ([(kind, secret or text)] if kind else [])


@pytest.mark.parametrize(
    "text",
    [
        "The token: required. Basic understanding, bearer of bad news.",
        "Password must be changed. Forgot your password?",
        "Tokens: 5000. The secretary: Mary. author: Charles Dickens",
        "skiing sk-based risk_management npm-install pk",
        "2026-11-22T15:00:00+00:00 and 1763824000000",
        "https://example.com/users/john/documents/2024-report-of-the-weekend",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "test_what_a_function_with_a_long_name_2_does",
        "https://example.com:8080/path?mail=ann@example.com",
        "Call +49 170 1234567 on 12 May",
        "Cookie: add sugar",
        "\u212aE89370400440532013000 and \u017fE89370400440532013000",
        "Donaudampfschifffahrtsgesellschaft",
    ],
)
def test_prose_ids_dates_and_links_are_no_secrets(text: str):
    assert find_secrets(text) == []


def test_a_secret_is_replaced_and_its_name_stays():
    text = f"Error: password=hunter2 at postgres://a:b@c, Bearer {JWT}; card 4242424242424242"

    assert redact_secrets(text) == (
        "Error: password=[removed] at postgres://[removed]@c, Bearer [removed]; card 4242424242424242"
    )


@given(st.text() | st.text("eyJ.-_=: @/sk0aA4\"'\n", max_size=60))
def test_spans_are_in_order_and_do_not_overlap(text: str):
    ends = [end for secret in find_secrets(text) for end in (secret.start, secret.end)]

    assert ends == sorted(ends)
    assert all(0 <= end <= len(text) for end in ends)
    assert len(redact_secrets(text, replacement="")) <= len(text)


ENDLESS = [
    "eyJ-", "eyJaaaaaaaa.", "sk_", "sk_a", "bearer ", "password", "password:", "password=", "token:1", 'password="', "4242 ",
    "4", "DE89 ", "a://", "a://b:c", "?key=", "-----BEGIN PRIVATE KEY-----", "-----END ", "cookie:a=",
    "authorization:", "a", "aB3", " ", "token: ", '\\"', "SG.aaaaaaaaaaaaaaaaa", "12345678:",
]  # fmt: skip


@pytest.mark.parametrize("part", ENDLESS)
def test_the_work_is_linear_in_the_text(part: str):
    """Work that grew with the square of the length would not end here."""
    text = (part * 200_000)[:200_000]

    assert len(find_secrets(text)) <= len(text)
