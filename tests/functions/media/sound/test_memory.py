"""Memory of the phone's files: an hour of them is taken and heard within 200 MB."""

import json
import subprocess
import sys

import pytest

MAX_MB = 200


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count the peak in other units")
def test_an_hour_of_files_takes_at_most_200_mb_l1(tmp_path):
    command = [sys.executable, "-m", "tests.functions.media.sound.hour_of_a_phone", str(tmp_path)]

    peaks = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    assert peaks["seconds"] == pytest.approx(3_600, abs=1)
    assert max(peaks["taken"], peaks["heard"]) <= MAX_MB, peaks
