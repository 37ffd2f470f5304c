"""Data flows one way: a layer imports only from layers above it."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "screentest"

LAYERS = (
    "errors",
    "compute",
    "files",
    "side_by_side",
    "_native",
    "media",
    "metrics",
    "verdicts",
    "protocol",
    "gates",
    "reports",
    "evaluations",
    "runs",
    "cli",
)


def layer_of(parts):
    """The layer that `screentest.a.b` belongs to, None for the modules that tie layers together."""
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else None


def imports(path):
    """Every `screentest...` module that a file imports when it runs, at any depth of its code.

    What stands under `if TYPE_CHECKING:` names a type and takes nothing in.
    """
    package = ["screentest", *path.relative_to(PACKAGE).parts[:-1]]
    pending = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            yield from ([*module, alias.name] for alias in node.names)


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_from_layers_above(path):
    own = layer_of(["screentest", path.relative_to(PACKAGE).with_suffix("").parts[0]])
    if own is None:
        return
    for parts in imports(path):
        if parts[0] != "screentest":
            continue
        other = layer_of(parts)
        if other is None:
            # What ties layers together (screening, the top level) belongs to the command line.
            assert own == "cli" or len(parts) == 1, f"{'.'.join(parts)} from {own}"
        else:
            assert LAYERS.index(other) <= LAYERS.index(own), f"{'.'.join(parts)} from {own}"


def test_kernels_name_no_python():
    for path in (ROOT / "rust" / "kernels").rglob("*"):
        if path.suffix in (".rs", ".toml"):
            assert not re.search(r"\b(pyo3|numpy)\b", path.read_text()), path


def test_no_manifest_turns_on_extension_module():
    """It keeps `cargo test` from linking; maturin does without it."""
    for path in (ROOT / "rust").rglob("Cargo.toml"):
        assert "extension-module" not in path.read_text(), path


def test_the_version_stands_in_the_workspace_manifest_alone():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert manifest["workspace"]["package"]["version"]
    assert "version" not in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for path in (ROOT / "rust").glob("*/Cargo.toml"):
        package = tomllib.loads(path.read_text())["package"]
        assert package["version"] == {"workspace": True}, path
