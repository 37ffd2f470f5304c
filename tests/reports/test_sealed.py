"""Sealed documents: what is written is read back, and whatever was altered is refused."""

from __future__ import annotations

import contextlib
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screentest.errors import SchemaError
from screentest.gates.budget import shipped
from screentest.gates.judge import judge_reference
from screentest.gates.report import GateReport, NullControl, RepeatControl
from screentest.metrics import registry
from screentest.metrics.spec import MetricSpec
from screentest.protocol import ArmLanes
from screentest.reports import canonical, contents, schemas
from screentest.reports.honesty import first_difference
from screentest.reports.sealed import dump, load, load_verified, save
from tests.gates import made_reports as made


def failing():
    return made.population_report(sharpness=0.5, hf_ratio=0.5, local_contrast=0.5)


BODIES = {
    "population": made.population_report,
    "population that fails": failing,
    "population of 7": lambda: made.population_report(7, saturation=0.5),
    "population with a control": lambda: made.population_report(
        null_control=made.made_null_control(jerk_excess=0.2)
    ),
    "reference": made.reference_report,
    "paired fidelity": made.fidelity_report,
    "distances": lambda: made.fidelity_report(table=None),
    "null control": made.made_null_control,
    "repeat control": made.made_repeat_control,
}

bodies = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def altered(body, change, **dumped):
    """The bytes of a document after ``change`` was done to its plain data."""
    document = canonical.loads(dump(body, **dumped))
    change(document)
    return canonical.dumps(document)


def at(document, path):
    *parts, last = path
    for part in parts:
        document = document[part]
    return document, last


def setting(*path, to):
    """A change that puts a value at a path."""

    def change(document):
        holder, last = at(document, path)
        assert last in holder if isinstance(holder, dict) else last < len(holder)
        holder[last] = to

    return change


def adding(*path, to):
    def change(document):
        holder, last = at(document, path)
        assert last not in holder
        holder[last] = to

    return change


def dropping(*path):
    def change(document):
        holder, last = at(document, path)
        del holder[last]

    return change


class TestRoundTrip:
    @bodies
    def test_a_body_comes_back_equal_and_its_bytes_again(self, body):
        report = body()
        data = dump(report)
        sealed = load(data)
        assert sealed.body == report
        assert dump(sealed.body, impls=sealed.impls) == data
        assert sealed.protocol == report.protocol
        assert sealed.require_protocol() is sealed.protocol
        assert sealed.digest == canonical.digest(data)

    @bodies
    def test_equal_bodies_are_equal_bytes(self, body):
        assert dump(body()) == dump(body())

    def test_every_kind_is_among_them(self):
        written = {load(dump(body())).schema for body in BODIES.values()}
        assert written == set(schemas.KINDS)
        assert {kind.body for kind in schemas.KINDS.values()} == {
            GateReport,
            NullControl,
            RepeatControl,
        }

    def test_whole_floats_are_written_as_integers_and_read_as_floats(self):
        report = made.reference_report(mean=40.0, worst=36.0)
        data = dump(report)
        assert b'"psnr_worst":36}' in data
        value = load(data).body.reference.rows[0].values["psnr_worst"]
        assert (value, type(value)) == (36.0, float)

    def test_minus_zero_and_zero_are_one_document(self):
        zero, minus = (
            dump(made.made_repeat_control(psnr_mean=value)) for value in (0.0, math.copysign(0, -1))
        )
        assert zero == minus

    def test_what_is_saved_is_loaded_by_its_digest(self, tmp_path):
        report = made.reference_report()
        path = tmp_path / "report.json"
        digest = save(path, report)
        assert path.read_bytes() == dump(report)
        assert load_verified(path, digest, GateReport).body == report
        assert [file.name for file in tmp_path.iterdir()] == ["report.json"]

    def test_a_body_that_is_refused_leaves_the_file_as_it_was(self, tmp_path):
        path = tmp_path / "report.json"
        path.write_bytes(b"before")
        edited = msgspec.structs.replace(failing(), verdict="pass")
        with pytest.raises(SchemaError):
            save(path, edited)
        assert path.read_bytes() == b"before"
        assert [file.name for file in tmp_path.iterdir()] == ["report.json"]

    @settings(max_examples=60)
    @given(
        n=st.integers(1, 10),
        factors=st.dictionaries(
            st.sampled_from(("sharpness", "contrast", "saturation", "flicker", "motion_energy")),
            st.floats(0.2, 4.0),
        ),
        control=st.none() | st.floats(-0.5, 0.5),
        stamp=st.fixed_dictionaries(
            {},
            optional={
                "same_pod": st.booleans(),
                "execution_lane": st.sampled_from(("", "eager", "compiled")),
                "family": st.text(min_size=1).filter(str.strip),
                "notes": st.text(),
                "fps": st.floats(0, 240),
            },
        ),
    )
    def test_any_report_of_the_judge_comes_back_equal(self, n, factors, control, stamp):
        report = made.population_report(
            n,
            null_control=None if control is None else made.made_null_control(jerk_excess=control),
            protocol=made.made_protocol(n, **stamp),
            **factors,
        )
        assert load(dump(report)).body == report


class TestDump:
    def test_nan_is_refused_with_the_path_of_its_field(self):
        report = made.reference_report()
        report.reference.rows[1].values["psnr_mean"] = math.nan
        with pytest.raises(
            SchemaError, match=r"body\.reference\.rows\[1\]\.values\.psnr_mean: nan"
        ):
            dump(report)

    def test_an_object_that_is_no_body_is_refused(self):
        with pytest.raises(SchemaError) as refusal:
            dump(made.made_protocol())
        assert refusal.value.code == "unknown_schema"

    def test_another_protocol_than_the_bodys_is_refused(self):
        with pytest.raises(SchemaError, match="not that of the body"):
            dump(made.population_report(), protocol=made.made_protocol(steps=4))

    def test_a_protocol_and_a_reason_for_none_exclude_each_other(self):
        report = made.population_report()
        with pytest.raises(SchemaError, match="a protocol and a reason"):
            dump(report, protocol=report.protocol, protocol_absent="lost")

    def test_a_body_with_conditions_cannot_say_that_there_are_none(self):
        with pytest.raises(SchemaError, match="not that of the body"):
            dump(made.population_report(), protocol_absent="lost")

    def test_versions_that_do_not_cover_the_numbers_are_refused(self):
        with pytest.raises(SchemaError, match="no version of psnr"):
            dump(made.reference_report(), impls={})

    def test_an_edited_verdict_is_refused_before_it_is_written(self):
        with pytest.raises(SchemaError, match="verdict is 'pass'; from the facts follows 'fail'"):
            dump(msgspec.structs.replace(failing(), verdict="pass"))

    def test_a_mode_that_nobody_observed_is_stored_and_is_no_pass(self):
        report = made.population_report(protocol=made.made_protocol(execution_lane=""))
        assert report.verdict == "indeterminate"
        assert load(dump(report)).body.verdict == "indeterminate"

    def test_a_pass_with_an_unobserved_mode_is_refused(self):
        report = made.population_report(protocol=made.made_protocol(execution_lane=""))
        passed = msgspec.structs.replace(report, verdict="pass", reasons=())
        with pytest.raises(SchemaError, match="verdict is 'pass'"):
            dump(passed)

    def test_modes_that_differ_are_stamped_and_are_no_pass(self):
        modes = ArmLanes(reference="eager", candidate="compiled")
        report = made.population_report(protocol=made.made_protocol(execution_lane=modes))
        stored = load(dump(report)).body
        assert stored.protocol.execution_lane == modes
        assert stored.verdict == "indeterminate"


IMAGING = ("body", "benchmarks", "imaging")
FACTS = ("body", "population", "benchmarks", "imaging")
ATTACKS = {
    "verdict": (setting("body", "verdict", to="pass"), "verdict is 'pass'"),
    "verdict that is none": (setting("body", "verdict", to="passed"), "body.verdict"),
    "lane": (setting("body", "lane", to="same-trajectory"), "lane"),
    "a value of the benchmark": (
        setting(*IMAGING, "values", "imaging_index", to=1),
        "imaging_index",
    ),
    "a value of the facts": (setting(*FACTS, "values", "imaging_index", to=1), "imaging_index"),
    "a bound of the table": (setting("body", "table", "budgets", 0, "low", to=0.1), "low"),
    "a bound of a row": (setting(*IMAGING, "budgets", 0, "budget", "low", to=0.1), "low"),
    "a bound that is none": (setting("body", "table", "budgets", 0, "low", to="0"), "low"),
    "provenance of a row": (
        setting(*IMAGING, "budgets", 0, "budget", "provenance", to="mine"),
        "provenance",
    ),
    "passed of a row": (setting(*IMAGING, "budgets", 0, "passed", to=True), "passed"),
    "passed of a benchmark": (setting(*IMAGING, "passed", to=True), "passed"),
    "disregarded": (setting(*IMAGING, "budgets", 0, "disregarded", to="noise"), "disregarded"),
    "a reason": (setting("body", "reasons", 0, to="all is well"), "reasons[0]"),
    "no reasons": (setting("body", "reasons", to=[]), "reasons"),
    "would fail": (setting("body", "would_fail", to=["jerk_excess"]), "would_fail"),
    "blind": (setting("body", "blind", to=[]), "blind"),
    "a dropped row": (dropping(*IMAGING, "budgets", 0), "budgets"),
    "a dropped budget": (dropping("body", "table", "budgets", 0), "budgets"),
    "a dropped benchmark": (dropping("body", "benchmarks", "imaging"), "imaging"),
    "a dropped prompt": (dropping("body", "population", "prompts", 3), "body"),
    "a prompt of the facts": (
        setting("body", "population", "prompts", 3, "prompt", to="another"),
        "population.prompts",
    ),
    "n of the protocol": (dropping("body", "protocol", "prompts", 3), "the envelope: protocol"),
    "degenerate clips beyond the prompts": (
        setting("body", "population", "degenerate_candidates", to=[9]),
        "degenerate clips of the candidate",
    ),
    "degenerate clips from the end": (
        setting("body", "population", "degenerate_references", to=[-1]),
        "degenerate clips of the reference",
    ),
    "no facts": (setting("body", "population", to=None), "body"),
    "no table": (setting("body", "table", to=None), "body"),
    "impls stripped": (setting("impls", to={}), "no version of"),
    "one impl stripped": (dropping("impls", "sharpness"), "no version of sharpness"),
    "a newer impl": (setting("impls", "sharpness", to="sharpness@9"), "sharpness@9"),
    "another metric's impl": (setting("impls", "sharpness", to="contrast@1"), "contrast@1"),
    "an impl that is none": (setting("impls", "sharpness", to="latest"), "latest"),
    "an impl of nothing": (adding("impls", "psnr", to="psnr@1"), "psnr"),
    "an unregistered impl": (adding("impls", "beauty", to="beauty@1"), "beauty"),
    "an impl that is no text": (setting("impls", "sharpness", to=1), "impls"),
    "a foreign metric set": (setting("metric_set", to="other/metrics@1"), "metric_set"),
    "another envelope": (setting("document", to="screentest/document@2"), "document"),
    "an unknown schema": (setting("schema", to="screentest/gate-report@99"), "schema"),
    "a schema that is no text": (setting("schema", to=["screentest/gate-report@1"]), "schema"),
    "a swapped schema": (setting("schema", to="screentest/null-control@1"), "body"),
    "a protocol and a reason for none": (
        setting("protocol_absent", to="lost"),
        "a protocol and a reason",
    ),
    "neither": (setting("protocol", to=None), "neither a protocol nor a reason"),
    "a reason in place of it": (
        lambda document: document.update(protocol=None, protocol_absent="lost"),
        "not that of the body",
    ),
    "an unknown field of the protocol": (adding("protocol", "node", to="a"), "node"),
    "an unknown field of the body's": (adding("body", "protocol", "node", to="a"), "node"),
    "an unknown field of the modes": (
        adding("protocol", "execution_lane", "third", to="eager"),
        "third",
    ),
    "one of the two protocols": (setting("protocol", "steps", to=4), "not that of the body"),
    "a protocol that is none": (setting("protocol", "steps", to=0), "steps"),
    "an unknown key of the envelope": (adding("signature", to="trust me"), "signature"),
    "a missing key of the envelope": (dropping("metric_set"), "metric_set"),
    "a missing field of the body": (dropping("body", "protocol"), "protocol"),
    "a body that is none": (setting("body", to=[]), "body"),
}


class TestAttacks:
    @pytest.mark.parametrize(("change", "named"), ATTACKS.values(), ids=ATTACKS)
    def test_an_edited_report_is_refused_and_the_field_named(self, change, named):
        data = altered(failing(), change)
        with pytest.raises(SchemaError) as refusal:
            load(data)
        assert named in refusal.value.message
        assert "\n" not in refusal.value.message

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            (setting("body", "null_control", "values", "jerk_excess", to=0), "verdict"),
            (setting("body", "null_control", "untrusted", to={}), "untrusted"),
            (setting("body", "null_control", "transfers", "jerk_excess", to=True), "jerk_excess"),
            (adding("body", "null_control", "transfers", "vmaf", to=True), "vmaf"),
            (setting("body", "null_control", "unverified", to=["grid_ratio"]), "grid_ratio"),
            (setting("body", "null_control", "unverified", to=["beauty"]), "beauty"),
            (setting("body", "null_control", "values", "imaging_index", to=0.99), "imaging_index"),
            (setting("body", "null_control", "values", "dz_contrast", to=2), "effect_size"),
            (dropping("body", "null_control", "values", "ratio_contrast"), "ratio_contrast"),
            (setting("body", "null_control", "values", to={}), "values is empty"),
            (setting("body", "null_control", to=None), "body"),
            (setting("body", "null_control", "protocol", "changes", to=["compile"]), "changes"),
            (setting("body", "null_control", "protocol", "hardware", to="A100"), "reasons"),
        ],
    )
    def test_an_edited_null_control_is_refused(self, change, named):
        report = made.population_report(null_control=made.made_null_control(jerk_excess=0.2))
        with pytest.raises(SchemaError, match=named):
            load(altered(report, change))

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            (setting("body", "reference", "values", "psnr_mean", to=50), "psnr_mean"),
            (setting("body", "reference", "rows", 0, "values", "psnr_worst", to=39), "psnr_worst"),
            (setting("body", "reference", "rows", 0, "frames", to=5), "verdict"),
            (setting("body", "reference", "rows", 0, "misaligned", to=["lag"]), "not aligned"),
            (dropping("body", "reference", "rows", 0), "psnr"),
            (setting("body", "reference", "impls", "psnr", to="psnr@2"), "psnr"),
            (setting("impls", "psnr", to="psnr@2"), "psnr"),
            (setting("body", "reference", "impl", to="reference-gate@2"), "impl"),
            (adding("body", "reference", "impls", "ssim", to="ssim@1"), "ssim has an impl"),
            (setting("body", "reference", "metrics", to=["psnr", "psnr"]), "stands twice"),
            (setting("body", "reference", "rows", 0, "worst_frame", "psnr", to=-1), "worst frame"),
            (adding("body", "reference", "rows", 0, "worst_frame", "ssim", to=1), "worst frame"),
            (setting("body", "reference", "rows", 0, "domain", to="a camera"), "a camera"),
            (setting("body", "reference", "rows", 0, "unmeasured", to={"vmaf": "no"}), "vmaf"),
            (adding("body", "repeat_control", "impls", "ssim", to="ssim@1"), "names 'ssim'"),
            (setting("body", "repeat_control", "values", "psnr_mean", to=1), "body"),
            (setting("body", "repeat_control", "impls", to={}), "impls"),
            (setting("body", "repeat_control", to=None), "body"),
            (setting("body", "repeat_control", "protocol", "guidance", to=2), "body"),
            (setting("body", "repeat_control", "protocol", "changes", to=["seed"]), "body"),
        ],
    )
    def test_edited_distances_are_refused(self, change, named):
        with pytest.raises(SchemaError, match=named):
            load(altered(made.fidelity_report(), change))

    def test_a_population_report_takes_no_repeat_control(self):
        control = msgspec.to_builtins(made.made_repeat_control())
        data = altered(made.population_report(), setting("body", "repeat_control", to=control))
        with pytest.raises(SchemaError):
            load(data)

    def test_facts_of_both_gates_are_refused(self):
        facts = msgspec.to_builtins(made.made_reference())
        data = altered(made.population_report(), setting("body", "reference", to=facts))
        with pytest.raises(SchemaError):
            load(data)

    def test_a_reference_report_off_its_lane_is_refused(self):
        def change(document):
            document["protocol"]["changes"] = ["compile"]
            document["body"]["protocol"]["changes"] = ["compile"]
            document["body"]["lane"] = "population"

        with pytest.raises(SchemaError, match="cannot be judged: compile moves"):
            load(altered(made.reference_report(), change))


HELD_BY_THE_DIGEST_ALONE = {
    "reference.rows[0].sources[0]",
    "reference.rows[0].sources[1]",
    "reference.rows[0].worst_frame.psnr",
    "table.name",
    "table.version",
}
"""Names of clips and of a table, and where the worst frame is: no report says it twice."""

OF_A_CONTROL = {"repeat_control.values.psnr_mean", "repeat_control.values.psnr_worst"}
"""A control is kept without its facts: a number that crosses no bound decides as before."""


def differing(one, other):
    found = first_difference(msgspec.to_builtins(one), msgspec.to_builtins(other))
    return found[0]


class TestBytes:
    @pytest.mark.parametrize(
        ("change", "code"),
        [
            (lambda data: b"\xef\xbb\xbf" + data, "bad_json"),
            (lambda data: data + b"\n", "not_canonical"),
            (lambda data: b" " + data, "not_canonical"),
            (lambda data: data.replace(b'":', b'": ', 1), "not_canonical"),
            (lambda data: data + data, "bad_json"),
            (lambda data: data.replace(b'{"body"', b'{"body":1,"body"', 1), "duplicate_key"),
            (lambda data: data.replace(b'"frames":6', b'"frames":NaN', 1), "bad_number"),
            (lambda data: data.replace(b'"frames":6', b'"frames":1e400', 1), "bad_number"),
            (lambda data: data.replace(b'"frames":6', b'"frames":6.0', 1), "not_canonical"),
            (lambda data: data.replace(b'"frames":6', b'"frames":9007199254740993', 1),
             "bad_number"),
            (lambda data: data.replace(b'"notes":""', b'"notes":"\\ud800"', 1), "not_canonical"),
            (lambda data: data.replace(b'"notes":""', b'"notes":"\\u0061"', 1), "not_canonical"),
            (lambda data: data.replace(b'"notes":""', b'"notes":"\xff"', 1), "not_utf8"),
            (lambda data: data.replace(b'"notes":""', b'"notes":"\xed\xa0\x80"', 1), "not_utf8"),
            (lambda data: data.replace(b'"notes":""', b'"notes":' + b"[" * 9999, 1), "too_deep"),
            (lambda data: data[:-1] + b',"z":' + b"[" * 99 + b"]" * 99 + b"}", "too_deep"),
            (lambda data: data.decode().encode("utf-16"), "not_utf8"),
            (lambda _: b"", "bad_json"),
            (lambda _: b"null", "bad_envelope"),
            (lambda _: b"[]", "bad_envelope"),
            (lambda _: b"{}", "bad_envelope"),
        ],
    )  # fmt: skip
    def test_bytes_that_are_not_those_of_dump_are_refused(self, change, code):
        data = dump(made.reference_report())
        assert change(data) != data
        with pytest.raises(SchemaError) as refusal:
            load(change(data))
        assert refusal.value.code == code

    def test_keys_in_another_order_are_refused(self):
        document = canonical.loads(dump(made.reference_report()))
        data = msgspec.json.encode(dict(reversed(document.items())))
        with pytest.raises(SchemaError) as refusal:
            load(data)
        assert refusal.value.code == "not_canonical"

    def test_a_report_cut_short_at_any_byte_is_refused(self):
        data = dump(made.reference_report(1))
        for length in range(len(data)):
            with pytest.raises(SchemaError):
                load(data[:length])

    @pytest.mark.parametrize("made_report", [made.reference_report, made.fidelity_report])
    def test_a_bit_flipped_in_any_byte_is_refused_or_in_what_no_verdict_hangs_on(self, made_report):
        report = made_report(1)
        data = dump(report)
        found = set()
        for at in range(len(data)):
            flipped = bytearray(data)
            flipped[at] ^= 1 << at % 8
            try:
                body = load(bytes(flipped)).body
            except SchemaError:
                continue
            if body != report:
                found.add(differing(body, report))
        assert found
        assert found <= HELD_BY_THE_DIGEST_ALONE | OF_A_CONTROL

    def test_what_the_facts_do_not_hold_the_digest_does(self, tmp_path):
        report = made.reference_report(1)
        path = tmp_path / "report.json"
        digest = save(path, report)
        path.write_bytes(path.read_bytes().replace(b"reference/0.mp4", b"reference/1.mp4"))
        assert load(path.read_bytes()).body.verdict == report.verdict
        with pytest.raises(SchemaError) as refusal:
            load_verified(path, digest)
        assert refusal.value.code == "digest_mismatch"

    @settings(max_examples=150)
    @given(st.data())
    def test_flipped_bits_of_a_population_report_change_no_verdict(self, data):
        report = failing()
        flipped = bytearray(FAILING)
        for _ in range(data.draw(st.integers(1, 3))):
            bit = data.draw(st.integers(0, 8 * len(flipped) - 1))
            flipped[bit // 8] ^= 1 << bit % 8
        if bytes(flipped) == FAILING:
            return
        with contextlib.suppress(SchemaError):
            assert load(bytes(flipped)).body.verdict == report.verdict

    @given(st.binary(max_size=200))
    def test_any_bytes_are_refused_by_type(self, data):
        with pytest.raises(SchemaError):
            load(data)


FAILING = dump(failing())


class TestTolerance:
    @pytest.mark.parametrize(
        "path",
        [
            ("body",),
            ("body", "table"),
            ("body", "table", "budgets", 0),
            (*IMAGING, "budgets", 0),
            ("body", "population"),
            ("body", "population", "prompts", 0),
        ],
    )
    def test_a_field_that_a_newer_version_added_is_ignored(self, path):
        report = failing()
        sealed = load(altered(report, adding(*path, "added", to={"a": [1]})))
        assert sealed.body == report
        assert sealed.digest != canonical.digest(dump(report))

    @pytest.mark.parametrize("facts", ["population", "reference"])
    def test_statistics_that_this_version_cannot_derive_again_are_refused(self, facts):
        body = failing() if facts == "population" else made.reference_report()
        with pytest.raises(SchemaError, match="old@1"):
            load(altered(body, setting("body", facts, "impl", to="old@1")))

    def test_a_version_that_was_replaced_before_there_were_documents_is_refused(self):
        impls = {**load(dump(failing())).impls, "hf_ratio": "hf_ratio@1"}
        with pytest.raises(SchemaError, match="hf_ratio@1"):
            dump(failing(), impls=impls)

    @pytest.mark.parametrize("impl", ["sharpness@1x", "sharpness@1+planes", "sharpness@1 "])
    def test_options_that_no_metric_of_a_population_has_are_refused(self, impl):
        with pytest.raises(SchemaError) as refusal:
            load(altered(failing(), setting("impls", "sharpness", to=impl)))
        assert refusal.value.code == "bad_impls"

    def test_an_older_version_of_a_metric_is_read(self, monkeypatch):
        monkeypatch.setattr(contents, "_FIRST", {})
        impls = {**load(dump(failing())).impls, "hf_ratio": "hf_ratio@1"}
        assert load(dump(failing(), impls=impls)).impls["hf_ratio"] == "hf_ratio@1"

    def test_options_behind_a_version_are_part_of_it(self):
        facts = msgspec.structs.replace(made.made_reference(), impls={"psnr": "psnr@1+planes"})
        report = judge_reference(
            facts, made.made_protocol(2, changes=("container-mux",)), shipped("reference")
        )
        assert load(dump(report)).impls == {"psnr": "psnr@1+planes"}


class TestExpect:
    def test_the_expected_kind_is_loaded_by_id_or_type(self):
        data = dump(made.made_null_control())
        assert load(data, "screentest/null-control@1").body == load(data, NullControl).body

    @pytest.mark.parametrize("expect", ["screentest/gate-report@1", GateReport])
    def test_another_kind_than_expected_is_refused(self, expect):
        with pytest.raises(SchemaError) as refusal:
            load(dump(made.made_null_control()), expect)
        assert refusal.value.code == "wrong_schema"

    def test_a_missing_file_stays_file_not_found(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            load_verified(tmp_path / "none.json", "sha256:0")


class TestLoadVerified:
    def test_the_newline_of_standard_output_is_no_part_of_a_document(self, tmp_path):
        data = dump(made.reference_report())
        path = tmp_path / "report.json"
        path.write_bytes(data + b"\n")
        assert load_verified(path, canonical.digest(data)).digest == canonical.digest(data)
        path.write_bytes(data + b"\n\n")
        with pytest.raises(SchemaError):
            load_verified(path, canonical.digest(data))

    @pytest.mark.parametrize("given", ["", "sha256:", None, b"x", 5, "a" * 5000])
    def test_what_is_no_digest_matches_nothing(self, tmp_path, given):
        path = tmp_path / "report.json"
        path.write_bytes(dump(made.reference_report()))
        with pytest.raises(SchemaError) as refusal:
            load_verified(path, given)
        assert refusal.value.code == "digest_mismatch"
        assert len(refusal.value.message) < 400 + len(str(path))


class TestProtocolAbsent:
    """No kind so far lacks a protocol, so one that does is put into the table."""

    @pytest.fixture
    def notes(self, monkeypatch):
        class Notes(msgspec.Struct, frozen=True):
            values: dict[str, float] = {}

        kind = schemas.Kind(
            "screentest/notes@1", Notes, lambda _: iter(()), lambda notes: iter(notes.values)
        )
        monkeypatch.setattr(schemas, "KINDS", {**schemas.KINDS, kind.schema: kind})
        return Notes

    def test_the_recorded_reason_is_quoted(self, notes):
        sealed = load(dump(notes({"psnr": 40.0}), protocol_absent="measured on one clip"))
        assert (sealed.protocol, sealed.impls) == (None, {"psnr": "psnr@1"})
        with pytest.raises(SchemaError, match="measured on one clip") as refusal:
            sealed.require_protocol()
        assert refusal.value.code == "no_protocol"

    @pytest.mark.parametrize("reason", [None, "", "  "])
    def test_neither_is_refused_when_it_is_written(self, notes, reason):
        with pytest.raises(SchemaError, match="neither"):
            dump(notes(), protocol_absent=reason)

    def test_a_metric_from_outside_is_covered_while_it_is_registered(self, notes):
        registry.register(
            MetricSpec(
                name="mylab_wobble", says="wobble", dimension="temporal", modality="video",
                unit="px", direction="down", impl="mylab_wobble@1", family="mylab",
            )
        )  # fmt: skip
        try:
            data = dump(notes({"mylab_wobble": 1.0}), protocol_absent="one clip")
            assert load(data).impls == {"mylab_wobble": "mylab_wobble@1"}
        finally:
            registry.unregister("mylab_wobble")
        with pytest.raises(SchemaError, match="mylab_wobble"):
            load(data)
