"""Report of an import on the command line: its last line says what became of the files."""

from infra.local.import_report import ImportReport


def test_a_file_that_is_missing_is_named_in_the_last_line(capsys):
    report = ImportReport(file_count=1, failures=["gone.txt: No such file or directory"])

    report.print_summary()

    printed = capsys.readouterr()
    assert printed.err == "keepsake: not imported: gone.txt: No such file or directory\n"
    assert printed.out == ""


def test_what_was_kept_is_counted_beside_what_was_not(capsys):
    report = ImportReport(file_count=2, kept_files=1, conversations=1, failures=["gone.txt: gone"])

    report.print_summary()

    assert capsys.readouterr().out == "keepsake: 1 conversation from 1 file, 1 failure\n"
