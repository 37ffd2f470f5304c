"""What any bytes must lead to that claim to be a report: a document that holds true, or a refusal.

Shared by the coverage-guided target and by the suite, which has no atheris.
"""

from screentest.errors import SchemaError
from screentest.gates.report import GateReport
from screentest.reports import canonical
from screentest.reports.diff import diff
from screentest.reports.diff_lines import diff_lines
from screentest.reports.gate import control_lines, gate_lines
from screentest.reports.inspection import inspect
from screentest.reports.sealed import dump, load
from tests.gates import made_reports as made


def seeds():
    """A document of every kind, small ones first."""
    bodies = (
        made.made_repeat_control(1),
        made.reference_report(1),
        made.fidelity_report(1),
        made.made_null_control(2),
        made.population_report(1, sharpness=0.5),
        made.population_report(8, null_control=made.made_null_control(jerk_excess=0.2)),
    )
    return [dump(body) for body in bodies]


def resealed(data):
    """The canonical bytes of the JSON in ``data``; ``data`` where it is none."""
    try:
        return canonical.dumps(canonical.loads(data))
    except SchemaError:
        return data


def check(data):
    """Whether these bytes are a document; every other outcome than that or a refusal is raised."""
    try:
        sealed = load(data)
    except SchemaError as error:
        one_line(error)
        nothing_told(data)
        return False
    body = sealed.body
    again = load(dump(body, impls=sealed.impls))
    assert again.body == body
    assert canonical.dumps(inspect(data))
    lines = gate_lines(body) if isinstance(body, GateReport) else control_lines(body)
    assert all(line.isprintable() for line in (*lines, *diff_lines(diff(sealed, again))))
    return True


def one_line(error):
    """A message that a log holds in one line."""
    assert "\n" not in error.message
    assert len(error.message) < 1000


def nothing_told(data):
    """What is refused is refused by the inspection as well, in a code alone."""
    try:
        inspect(data)
    except SchemaError as error:
        code, context = error.code, error.context
    assert code in ("report.invalid", "report.size_invalid")
    assert not context
