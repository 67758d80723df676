"""Tables of what was said: CSV in the languages and with the separators of the programs that write it."""

import pytest

from tests.functions.imports.test_chat_programs import read

SAID = [("Ann", 0, "Up?"), ("Bo", 120, "No")]


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("timestamp,sender,message\n2026-02-02 02:40,Ann,Up?\n2026-02-02 02:42,Bo,No\n", SAID),
        ("Datum;Uhrzeit;Sprecher;Text\n02.02.2026;02:40;Ann;Up?\n02.02.2026;02:42;Bo;No\n", SAID),
        ("\ufeffFecha,Remitente,Mensaje\n2026-02-02T02:40:00Z,Ann,Up?\n2026-02-02T02:42:00Z,Bo,No\n", SAID),
        ("Horodatage\tAuteur\tMessage\n02/02/2026 02:40\tAnn\tUp?\n02/02/2026 02:42\tBo\tNo\n", SAID),
        ("sep=;\r\nData;Remetente;Mensagem\r\n2026-02-02 02:40;Ann;Up?\r\n2026-02-02 02:42;Bo;No\r\n", SAID),
        ("日時,発言者,内容\n2026/02/02 02:40,Ann,Up?\n2026/02/02 02:42,Bo,No\n", SAID),
        ("时间戳|发送者|消息|日期\n1|Ann|Up?|2026-02-02 02:40\n2|Bo|No|2026-02-02 02:42\n", SAID),
        (("AuthorID,Author,Date,Content,Attachments,Reactions\n"
         '"1","Ann","2026-02-02T02:40:00.0000000+00:00","Up, or\nnot?","",""\n'
         '"2","Bo","2026-02-02T02:42:00.0000000+00:00","No","",""\n'),
         [("Ann", 0, "Up, or\nnot?"), ("Bo", 120, "No")]),
        ("| Speaker | Date | Text |\n|---|:--|---|\n| Ann | 2026-02-02 02:40 | Up? |\n| Bo | 2026-02-02 02:42 | No |\n",
         SAID),
        ("Date,From,Content\n2026-02-02 02:42:00 UTC,Bo,No\n2026-02-02 02:40:00 UTC,Ann,Up?\n", SAID),
        ("StrContent,StrTime,NickName,Sender\nUp?,2026-02-02 02:40:00,Ann,wxid_1\nNo,2026-02-02 02:42:00,Bo,wxid_2\n", SAID),
        ("date,from,text\n1770000120000,Bo,No\n1770000000000,Ann,Up?\n", SAID),
    ],
    ids=["en", "de", "es", "fr", "pt", "ja", "zh", "Discord", "Markdown", "zone", "WeChat", "newest first"],
)  # fmt: skip
def test_a_table_tells_by_its_heads_who_and_when(text, turns):
    [entry], [(_, started_at, said)] = read("chat.csv", text)

    assert (entry["status"], entry["left_out"]) == ("kept", [])
    assert (started_at, said) == ("2026-02-02T02:40", turns)


def test_offsets_are_those_of_a_transcript():
    text = "start,end,speaker,text\n0,3000,Ann,The roof leaks.\n3000,5000,Bo,Again?\n"

    _, [(_, _, said)] = read("a.csv", text)

    assert said == [("Ann", 0, "The roof leaks."), ("Bo", 3, "Again?")]


@pytest.mark.parametrize(
    "text",
    [
        "Date,Description,Amount\n2026-02-02,Bakery,-3.20\n2026-02-03,Rent,-900\n",
        "name;age;town\nAnn;31;Oslo\n",
        "Ann,Up?\nBo,No\n",
        "id,text\n1,Up?\n2,No\n",
        "timestamp,sender,message\n",
        '"sender","text"\n"Ann,"Up?\n',
    ],
)
def test_a_table_that_tells_neither_who_nor_when_is_asked_about(text):
    [entry], _ = read("a.csv", text)

    assert entry["status"] == "question"


def test_a_table_is_known_by_its_heads_whatever_it_is_called():
    [entry], [(_, _, said)] = read("a.txt", "Sender,Message\nAnn,Up?\nBo,No\n")

    assert (entry["status"], [(who, words) for who, _, words in said]) == (
        "kept",
        [("Ann", "Up?"), ("Bo", "No")],
    )


def test_a_column_that_nobody_reads_is_counted():
    text = "sender,date,text,summary\nAnn,2026-02-02 02:40,Up?,She asks whether he is awake\n"

    [entry], _ = read("a.csv", text)

    assert [(left["title"], left["words"]) for left in entry["left_out"]] == [("summary", 6)]


def test_fields_of_records_are_asked_about():
    text = "Name: Ann Lee\nStreet: Elm 4\nTown: Oslo\n\nName: Bo\nStreet: Oak 1\nTown: Rome\n"

    [entry], _ = read("a.txt", text)

    assert entry["status"] == "question"
