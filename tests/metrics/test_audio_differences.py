"""What is written about the differences from the reference system is what they are today."""

from calibration.audio import differences


def test_page_is_what_the_facts_read():
    written = (differences.HERE / "differences.md").read_text()
    assert written == differences.page(), "write it again: python calibration/audio/differences.py"
