"""Arguments of commands: a wrong one is refused in a sentence."""

import pytest

from infra.move_user import main


@pytest.mark.parametrize("bucket", ["1024", "-1", "1.5", "x", ""])
def test_a_number_out_of_a_long_range_is_refused_in_a_line(
    bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--", "ann", bucket])

    assert capsys.readouterr().err.splitlines()[-1] == (
        f"make move-user: error: argument BUCKET: {bucket!r}: want a number from 0 to 1023"
    )
