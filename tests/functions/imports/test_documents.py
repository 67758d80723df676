"""Documents among imported files: PDFs and Rich Text, by themselves and in archives."""

import pytest

from tests.fixtures.documents import build_pdf
from tests.fixtures.imports import build_zip
from tests.functions.imports.test_chat_programs import read

TALK = r"{\rtf1\ansi Ann: Up?\par Bo: No.\par Ann: Good.\par}"


def test_a_talk_in_a_pdf_has_its_speakers():
    [entry], [(_, _, turns)] = read("a.pdf", build_pdf("Ann: Up?", "Bo: No.", "Ann: Good."))

    assert entry["status"] == "kept"
    assert [(who, words) for who, _, words in turns] == [
        ("Ann", "Up?"),
        ("Bo", "No."),
        ("Ann", "Good."),
    ]


def test_a_pdf_in_which_nobody_is_named_is_asked_about():
    [entry], _ = read("a.pdf", build_pdf("The keel is of oak. The mast is of pine."))

    assert entry["status"] == "question"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (build_pdf(""), "it is a PDF without a text, only with pictures of pages"),
        (build_pdf("The keel")[:200], "its PDF is damaged"),
    ],
)
def test_a_pdf_without_words_is_refused(data, reason):
    [entry], _ = read("a.pdf", data)

    assert (entry["status"], entry["reason"]) == ("refused", reason)


def test_an_emoji_in_rich_text_is_one_sign_and_half_of_one_is_replaced():
    talk = r"{\rtf1\ansi Ann: Up \u-10179 ?\u-8704 ?\par Bo: No \u55357 ?.\par Ann: Good.\par}"

    _, [(_, _, turns)] = read("a.rtf", talk.encode())

    assert [words for _, _, words in turns] == ["Up 😀", "No \ufffd.", "Good."]


def test_documents_in_an_archive_are_read_as_a_whole():
    long = r"{\rtf1\ansi " + "".join(rf"Ann: Up {n}?\par Bo: No.\par " for n in range(1_000)) + "}"
    pdf = build_pdf(*["Ann: Up?", "Bo: No."] * 20)

    entries, conversations = read("a.zip", build_zip({"a.rtf": long, "b.pdf": pdf, "c.rtf": TALK}))

    assert {entry["status"] for entry in entries} == {"kept"}
    assert [len(turns) for _, _, turns in conversations] == [2_000, 40, 3]
