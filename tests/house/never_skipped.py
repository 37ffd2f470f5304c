"""Fails when a test was only ever skipped.

    python tests/house/never_skipped.py base.xml extras.xml

Takes the junit files of runs in different environments. Each test must have run in at least one:
a test that skips for want of an extra runs where the extra is, and one that skips everywhere
checks nothing.
"""

import sys
import xml.etree.ElementTree as ET


def outcomes(path):
    """(ran, skipped): sets of (class name, test name); an expected failure has run."""
    ran, skipped = set(), {}
    for case in ET.parse(path).iter("testcase"):
        key = (case.get("classname", ""), case.get("name", ""))
        note = case.find("skipped")
        if note is None or note.get("type") == "pytest.xfail":
            ran.add(key)
        else:
            skipped[key] = note.get("message", "")
    return ran, skipped


def only_ever_skipped(paths):
    """{test: reason} of what no run executed. A module skipped as a whole has an empty class name
    and its dotted path for a name, and counts as run once any of its tests ran."""
    ran, skipped = set(), {}
    for path in paths:
        more_ran, more_skipped = outcomes(path)
        ran |= more_ran
        skipped |= more_skipped
    modules = {classname for classname, _ in ran}
    return {
        f"{classname}::{name}" if classname else name: reason
        for (classname, name), reason in skipped.items()
        if (classname, name) not in ran
        and not (not classname and any(m == name or m.startswith(name + ".") for m in modules))
    }


def main(paths):
    left = only_ever_skipped(paths)
    for test, reason in sorted(left.items()):
        print(f"only ever skipped: {test}: {reason}")
    return 1 if left or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
