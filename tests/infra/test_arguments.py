"""Arguments of commands: a wrong one is refused in a sentence."""

import pytest

from infra import erase_again, move_user


@pytest.mark.parametrize("bucket", ["1024", "-1", "1.5", "x", ""])
def test_a_number_out_of_a_long_range_is_refused_in_a_line(
    bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        move_user.main(["--", "ann", bucket])

    assert capsys.readouterr().err.splitlines()[-1] == (
        f"make move-user: error: argument BUCKET: {bucket!r}: want a number from 0 to 1023"
    )


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-03-01", "2026-03-01T00:00:00"])
def test_a_time_without_its_zone_is_refused_in_a_line(
    moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        erase_again.main(["restored", moment])

    assert capsys.readouterr().err.splitlines()[-1] == (
        f"make erase-again: error: argument snapshot: {moment!r}:"
        " want a time with its zone, such as 2026-03-01T00:00:00Z"
    )
