"""The check that .ci/run makes over its two test runs."""

import pytest

from tests.house import never_skipped


def run_of(tmp_path, name, *cases):
    body = "".join(
        f'<testcase classname="{classname}" name="{test}">{note}</testcase>'
        for classname, test, note in cases
    )
    path = tmp_path / f"{name}.xml"
    path.write_text(f"<testsuites><testsuite>{body}</testsuite></testsuites>")
    return path


SKIP = '<skipped type="pytest.skip" message="install torch"/>'
XFAIL = '<skipped type="pytest.xfail" message="known"/>'


def test_a_test_skipped_in_one_run_and_run_in_the_other_is_fine(tmp_path):
    base = run_of(tmp_path, "base", ("tests.a", "t", SKIP), ("tests.a", "u", ""))
    extras = run_of(tmp_path, "extras", ("tests.a", "t", ""), ("tests.a", "u", SKIP))
    assert never_skipped.main([base, extras]) == 0


def test_a_test_skipped_in_both_runs_is_named(tmp_path, capsys):
    base = run_of(tmp_path, "base", ("tests.a", "t", SKIP))
    assert never_skipped.main([base, base]) == 1
    assert "tests.a::t: install torch" in capsys.readouterr().out


def test_a_test_skipped_in_one_run_and_absent_from_the_other_is_named(tmp_path):
    base = run_of(tmp_path, "base", ("tests.a", "t", SKIP))
    assert never_skipped.main([base, run_of(tmp_path, "extras", ("tests.a", "u", ""))]) == 1


def test_a_module_skipped_whole_counts_as_run_once_its_tests_ran(tmp_path):
    base = run_of(tmp_path, "base", ("", "tests.torch.test_x", SKIP))
    assert never_skipped.main([base]) == 1
    extras = run_of(tmp_path, "extras", ("tests.torch.test_x", "t", ""))
    assert never_skipped.main([base, extras]) == 0


@pytest.mark.parametrize("cases", [(("tests.a", "t", XFAIL),), (("tests.a", "t", ""),)])
def test_an_expected_failure_has_run(tmp_path, cases):
    assert never_skipped.main([run_of(tmp_path, "only", *cases)]) == 0


def test_no_run_at_all_fails():
    assert never_skipped.main([]) == 1
