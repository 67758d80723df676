"""Private data: every form is found, and numbers that only look alike are left."""

import sys
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infra.local.routing import ROOT
from shared.security.masking import Masker
from shared.security.private_data import find_private
from tests.shared.security.private_texts import DECOYS, VALUES, list_values


def find(text: str) -> list[tuple[str, str]]:
    return [(span.kind, text[span.start : span.end]) for span in find_private(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("mail ann.lee+home@mail.example.co.uk.", "email", "ann.lee+home@mail.example.co.uk"),
        ("<jürgen@köln.example>", "email", "jürgen@köln.example"),
        ('{"to": "ann\\u0040example.com"}', "email", "ann\\u0040example.com"),
        ("ann＠example.com", "email", "ann＠example.com"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "iban", "DE89 3704 0044 0532 0130 00"),
        ("GB29NWBK60161331926819", "iban", "GB29NWBK60161331926819"),
        ("4111 1111 1111 1111", "card", "4111 1111 1111 1111"),
        ("card 4111111111111111, cvc", "card", "4111111111111111"),
        ("My password: hunter2x!", "secret", "hunter2x!"),
        ("DB_PASSWORD=swordfish", "secret", "swordfish"),
        ('{"password": "swordfish"}', "secret", "swordfish"),
        ("token=abc123def", "secret", "abc123def"),
        ("Authorization: Bearer abc123.def-456", "secret", "abc123.def-456"),
        ("sk-proj-abc123DEF456ghi", "secret", "sk-proj-abc123DEF456ghi"),
        ("{'to': 'o'brien@example.com'}", "email", "o'brien@example.com"),
        ("postgres://ann:hunter2@db:5432/x", "secret", "ann:hunter2"),
        ("my password is “blue moon”, please", "secret", "blue moon"),
        ("Das Passwort lautet „blauer Mond“.", "secret", "blauer Mond"),
        ("The password is `tr0ub4dor&3`", "secret", "tr0ub4dor&3"),
        ("Mein Kennwort ist seit gestern geändert: Xk9!mPq2", "secret", "Xk9!mPq2"),
        ("mot de passe wifi = Tournesol77!", "secret", "Tournesol77!"),
        ("my pass word is hunter2", "secret", "hunter2"),
    ],
)
def test_addresses_accounts_and_secrets_are_found_m101(text: str, kind: str, value: str):
    assert find(text) == [(kind, value)]


@pytest.mark.parametrize(
    "number",
    [
        "+49 30 1234567",
        "+1 (212) 555-0123",
        "+81 3-1234-5678",
        "00 49 30 1234567",
        "(212) 555-0123",  # United States
        "212-555-0123",
        "1 800 555 0199",
        "020 7946 0958",  # United Kingdom
        "030/1234567",  # Germany
        "0171-2345678",
        "06 12 34 56 78",  # France
        "612 34 56 78",  # Spain
        "06 6982 1234",  # Italy
        "03-1234-5678",  # Japan
        "090-1234-5678",
        "(11) 98765-4321",  # Brazil
        "98765 43210",  # India
        "138 1234 5678",  # China
        "55 1234 5678",  # Mexico
        "0412 345 678",  # Australia
        "٠٣٠١٢٣٤٥٦٧",
        "０３-１２３４-５６７８",
    ],
)
def test_phone_numbers_are_found_as_people_write_them_m101(number: str):
    assert find(f"Call {number}, please") == [("phone", number)]


def test_phone_numbers_side_by_side_and_behind_a_date_are_found_m101():
    text = "2026-11-24 030 1234567 0171 2345678; tel:+49301234567"

    assert find(text) == [
        ("phone", "030 1234567"),
        ("phone", "0171 2345678"),
        ("phone", "+49301234567"),
    ]


@pytest.mark.parametrize(
    "number",
    [
        "536-90-4399",  # United States
        "54362315-K",  # Spain
        "X-2482300W",
        "RCCMNL83S18D969H",  # Italy
        "1 85 05 78 006 084 91",  # France
        "36 574 261 809",  # Germany
        "44051401359",  # Poland
        "390.533.447-05",  # Brazil
        "880320-0016",  # Sweden
        "131052-308T",  # Finland
        "360426199101010071",  # China
        "2341 2341 2346",  # India
        "ACUPA7085R",
        "971013-1019901",  # Korea
        "BOXW310820HNERXN09",  # Mexico
        "85.07.30-033 28",  # Belgium
        "756.9217.0769.85",  # Switzerland
        "943 476 5870",  # United Kingdom
    ],
)
def test_national_ids_are_found_by_form_and_check_digits_m101(number: str):
    found = find(f"Her id: {number}.")

    assert [value for _, value in found] == [number]
    assert found[0][0] in {"id", "phone"}  # an id may be grouped as a phone number is


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("BSN-nummer: 111222333", "111222333"),
        ("burgerservicenummer (BSN) 111222333", "111222333"),
        ("SSN, 536221234", "536221234"),
        ("SSN #536221234", "536221234"),
        ("Personalausweis-Nr. L01X00T471", "L01X00T471"),
        ("pnr. 8112189876", "8112189876"),
        ("aadhaarnumber 234123412346", "234123412346"),
        ("password->hunter22", "hunter22"),
        ("api key->abc123def", "abc123def"),
        ("Passwort-hunter22", "hunter22"),
        ("pin-4711", "4711"),
        ("1.+49 176 12345678", "+49 176 12345678"),
    ],
)
def test_a_value_is_found_behind_its_name_whatever_stands_between_m101(text: str, value: str):
    assert value in [found for _, found in find(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("backup codes:\na1b2c-3d4e5\nf6g7h-8i9j0", ["a1b2c-3d4e5", "f6g7h-8i9j0"]),
        ("backup codes\n1. h7k2-p9q1\n2. m3n8-r4s6", ["h7k2-p9q1", "m3n8-r4s6"]),
        ("codes de secours : 8842-1190 5521-0093 etc.", ["8842-1190", "5521-0093"]),
        ("TAN-Liste: 482910, 119283 für 20 Tage", ["482910", "119283"]),
        ("Your Uber code is 4471.", ["4471"]),
        ("G-482913 is your Google verification code", ["G-482913"]),
        ("the password, by the way, is tiger77", ["tiger77"]),
        ("PIN für die Karte (die blaue) ist 9034", ["9034"]),
        ("my passport, valid to May, is C01X00T47", ["C01X00T47"]),
        ("Reisepass C4VPPZ7JX", ["C4VPPZ7JX"]),
        ("TOTP seed: KVKFKRCPNZQUYMLXOVYDSQKJKZDTSRLD", ["KVKFKRCPNZQUYMLXOVYDSQKJKZDTSRLD"]),
        ("4242 4242  4242  4242", ["4242 4242  4242  4242"]),
        ("4012|8888|8888|1881", ["4012|8888|8888|1881"]),
        ("4012 – 8888 – 8888 – 1881", ["4012 – 8888 – 8888 – 1881"]),
        ("IBANDE89370400440532013000", ["DE89370400440532013000"]),
        ("DE 89 3704 0044 0532 0130 00", ["DE 89 3704 0044 0532 0130 00"]),
        ("RECOVERY_KEY=EsTc-5r9K-7XyZ", ["EsTc-5r9K-7XyZ"]),
        ("326695191012145228 is of no county that is known", ["326695191012145228"]),
        ('password := "abcd1234"', ["abcd1234"]),
        ("WPA2 key: kirsche-baum-77", ["kirsche-baum-77"]),
        ("perso für die Bank: 2024, L01X00T471", ["L01X00T471"]),
    ],
)
def test_codes_of_lists_and_messages_and_values_behind_an_aside_are_found_m101(
    text: str, values: list[str]
):
    assert [found for _, found in find(text)] == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("my passphrase is correct horse battery staple", "correct horse battery staple"),
        ("Passphrase: Birne Teppich Gewitter Pfanne\n", "Birne Teppich Gewitter Pfanne"),
        ("пароль: банан молоток облако скрипка", "банан молоток облако скрипка"),
        ("The password expired, and the new one is Tulip2055.", "Tulip2055"),
        ("the door code changed and the new one is 4402", "4402"),
        ("het wachtwoord is oud, de nieuwe is Otter2044", "Otter2044"),
        ("Key:\n9fK2mQ7xL4wZ8vT1\n", "9fK2mQ7xL4wZ8vT1"),
        ("API key\n\n9fK2mQ7xL4wZ8vT1", "9fK2mQ7xL4wZ8vT1"),
        ("card\t4242\t4242\t4242\t4242\t09/27", "4242\t4242\t4242\t4242"),
        ("token->9fK2mQ7xL4wZ8vT1bN5c", "9fK2mQ7xL4wZ8vT1bN5c"),
        ("TOTP secret: KVKFKRCPNZQUYMLX", "KVKFKRCPNZQUYMLX"),
        ("MA64 0115 1900 0001 2050 0053 4921", "MA64 0115 1900 0001 2050 0053 4921"),
    ],
)
def test_passphrases_new_values_and_values_on_the_next_line_are_found_m101(text: str, value: str):
    assert [found for _, found in find(text)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-11-24 at 18:11:12, or 24.11.2026 18:11, or 11/24/2026",
        "2026-11-24T18:11:12.123456+01:00",
        "from 2026-01-01 to 2026-02-02, 1990-2000, 10-20 people",
        "8.30-10.00 and 14.00-15.30",
        "version 10.15.7.1234, lodash@4.17.21, RFC 7231",
        "$1,234,567.89, 1.234.567,89 €, 12 345 678 people",
        "order 4471220913, order 2024-000123-77, item 0012345678",
        "4111 1111 1111 1112",
        "2010 2018 2016 2015, 2010|2018|2016|2015",
        "the token CLOUD_SDK_USER_ACCESS_TOKEN_COMMAND, verification_code_length = 128",
        "my zip code is 90210, your promo code is 20251, your order code: 48291, your source code is 3000 lines",
        "My code is 2000 lines long, dein Code wird 2025 geprüft, mon code est 1500 lignes, my postal code: 10115",
        "exit code 137, my code has 3000 lines, your code will be reviewed in 2026",
        "- change the PIN\n- 1500 g flour, * new passport\n* 20241203 dentist\n1. new password\n2. `make users`",
        "DE89 3704 0044 0532 0130 02",
        "the password is INCOMPREHENSIBILITIES, der PIN ist RECHTSSCHUTZVERSICHERUNG",
        "Set PINECONE_API_KEY\ntimeout=60",
        "my passphrase is hard to remember, my password is probably still valid today",
        "das Passwort war gut, das neue ist länger; the old pin broke, the new one is 1200 grams",
        "Key:\nblue = done, Key dates:\n2026-03-04",
        "54362315-A, 36574261808",
        "52.520008, 13.404954, 0.123456789",
        "192.168.100.200, port 8080",
        '{"id": "conv_0301234567", "c": "0f8fad5bd9cb469fa16570867728950e"}',
        "keepsake://conversations/0301234567",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "1700000000, 1764000000000",
        "ISBN 978-3-16-148410-0",
        "Ann Lee lives at 12 Elm Street, 10115 Berlin",
        "@ann and ann@localhost",
        '{"chat_session_id": "main", "account_id": "abcd1234"}',
        "token = request.token, secret=get_secret(name), api_key=api_key)",
        "Authorization: Bearer $TOKEN, Bearer <key>",
    ],
)
def test_what_names_nobody_is_left_m101(text: str):
    assert find(text) == []


def test_a_value_that_is_a_part_of_another_is_found_once_m101():
    assert find("Ann: 030 1234567, joann@ann.example") == [
        ("phone", "030 1234567"),
        ("email", "joann@ann.example"),
    ]
    assert find("password: ann@example.com") == [("secret", "ann@example.com")]


@given(st.text(alphabet="0123456789+-. /()@aA:=x٣９\u0040", max_size=80))
def test_spans_are_in_order_and_never_overlap_m101(text: str):
    ends = [end for span in find_private(text) for end in (span.start, span.end)]

    assert ends == sorted(ends)
    assert all(0 <= end <= len(text) for end in ends)


@pytest.mark.parametrize(
    "folder", ["infra/eval/gold", "shared/safety/crisis_examples", "functions/library/welcome"]
)
def test_nothing_is_found_in_what_people_say_of_other_things_m101(folder: str):
    """The gold sets and the sample library: 60,000 characters of talk without a contact in them."""
    files = [*(ROOT / folder).glob("*.json"), *(ROOT / folder).glob("sample_*.py")]

    assert files
    assert [hit for file in files for hit in find(file.read_text())] == []


@pytest.mark.parametrize("kind", VALUES)
def test_every_value_is_found_as_people_paste_it_and_nothing_beside_it_m101(kind: str):
    values = [(text, span) for each, text, span in list_values() if each == kind]

    missed = [
        text
        for text, span in values
        if span not in [(found.start, found.end) for found in find_private(text)]
    ]

    assert len(missed) <= len(values) * 0.07, missed


def test_orders_versions_books_and_talk_of_secrets_are_left_m101():
    masked = [(text, found) for text in DECOYS if (found := find(text))]

    assert len(masked) <= len(DECOYS) * 0.02, masked


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("card 4242\u200b4242\u200b4242\u200b4242 ok", "4242\u200b4242\u200b4242\u200b4242"),
        ("\u2060\xad＋49 30\u20031234567\u200b!", "＋49 30\u20031234567"),
        ("私はann@example.orgです", "ann@example.org"),
        ("İİ, my password is hunter2!", "hunter2!"),
        ("parolo\u0301 mật khẩu: hoasen88", "hoasen88"),
    ],
)
def test_a_span_is_that_of_the_text_as_it_was_written_m101(text: str, value: str):
    assert [found for _, found in find(text)] == [value]


@given(st.text("0123456789 ._-\n\u200b\xad\u2011\u3000７は是@aB:,パスワード", max_size=60))
def test_a_span_begins_and_ends_with_what_is_private_m101(text: str):
    masker = Masker(b"key")
    spans = find_private(text)

    assert masker.restore(masker.mask(text)) == text
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert not any(
        text[place] in "\u200b\xad" for span in spans for place in (span.start, span.end - 1)
    )


@pytest.mark.parametrize(
    "part",
    [
        *(
            "password is ",
            "pin for a ",
            "パスワードは",
            "a at b dot ",
            "@ dot",
            "[at]",
            "a[at]b.",
            "7, ",
            "0,7",
        ),
        *(
            "4242.",
            "7\n",
            "12 ",
            "AB 12 ",
            "BNC RSS ",
            "番",
            "\u200b",
            "\u200b7",
            "1Z ",
            "ISBN 1",
            "12 1234 ",
            "1234 is my pin code ",
            "the password for a b c d is ",
            "passport no 1 ",
        ),
    ],
)
def test_the_work_is_linear_in_the_text_m101(part: str):
    """Work that grew with the square of the length would not end here."""
    text = (part * 100_000)[:100_000]

    assert len(find_private(text)) <= len(text)


WORDS = st.sampled_from(
    [
        *("ab12", "DE89", "GB29NWBK", "1234", "4111", "7", "A", "+49", "030", "(212)", "@", "at", "[dot]", "x@y"),
        *("key", "pin", "token", "password", "passport", "seed phrase", "login", "bearer", "new one", "is", "my"),
        *("my passphrase is", "correct", "horse", "one", "zero", "番号", "は", "eyJ", "sk_", "://", "-u", '"', "“", ":", "="),
    ]
)  # fmt: skip
PARTS = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "-", ".", "\n", "\t", ", "])), min_size=1, max_size=4)  # fmt: skip


def count_calls(text: str) -> int:
    """Count the calls of functions, also of the engine of patterns, that a text takes."""
    calls = Counter[str]()
    sys.setprofile(lambda _frame, event, _argument: calls.update([event]))
    try:
        find_private(text)
    finally:
        sys.setprofile(None)
    return calls["call"] + calls["c_call"]


@settings(deadline=None)
@given(PARTS)
@example([("ab12", " ")])
@example([("1234", " ")])
@example([("key", " ")])
def test_twice_the_text_takes_at_most_twice_the_calls_m101(parts: list[tuple[str, str]]):
    part = "".join(word + end for word, end in parts)
    find_private(part)  # loads what is loaded once

    once, twice = (count_calls((part * length)[:length]) for length in (1_000, 2_000))

    assert twice <= 2.3 * once + 200
    assert once <= 40 * 1_000


@given(st.text("0123456789 -./+(a", max_size=40))
@example("card 4242424242424242424242424242")
@example("030 12345678901234567890")
def test_a_run_of_digits_is_masked_whole_or_not_at_all_m101(text: str) -> None:
    for span in find_private(text):
        before, after = text[: span.start][-1:], text[span.end :][:1]
        assert not (before.isdigit() and text[span.start].isdigit())
        assert not (after.isdigit() and text[span.end - 1].isdigit())
