"""What PROVENANCE.md must list, and its generated half.

    python tests/house/provenance.py           prints the Rust rows from `cargo metadata`
    python tests/house/provenance.py --write   puts them below the marker in PROVENANCE.md

The Python rows are written by hand, because a licence field of a wheel says nothing about the
libraries inside it.
"""

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROVENANCE = ROOT / "PROVENANCE.md"
MARKER = "<!-- below this line: python tests/house/provenance.py --write -->"


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def rows():
    """(name, kind) -> licence, of every table row."""
    found = {}
    for line in PROVENANCE.read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("name", "---"):
            name, kind, _version, licence, _why = cells
            found[canonical(name), kind] = licence
    return found


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def base_dependencies():
    """The base install's distributions, transitively, as this environment resolved them."""
    pending = [Requirement(text) for text in project()["project"]["dependencies"]]
    seen = set()
    while pending:
        requirement = pending.pop()
        name = canonical(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        pending += [Requirement(text) for text in importlib.metadata.requires(name) or []]
    return seen


def declared_elsewhere():
    """Direct dependencies of the extras, the groups and the build."""
    manifest = project()
    texts = [*manifest["build-system"]["requires"]]
    for extra in manifest["project"]["optional-dependencies"].values():
        texts += extra
    for group in manifest["dependency-groups"].values():
        texts += [entry for entry in group if isinstance(entry, str)]
    names = {canonical(Requirement(text).name) for text in texts}
    return names - {"screentest"}


def crates():
    """(name, kind, version, licence, why) of every crate in Cargo.lock, or None without cargo."""
    if shutil.which("cargo") is None or not (ROOT / "Cargo.lock").exists():
        return None
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    metadata = json.loads(answer.stdout)
    ours = set(metadata["workspace_members"])
    nodes = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}

    macros = {
        package["id"]
        for package in metadata["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }

    def reached(kinds, *, stop=frozenset()):
        """Crates that ours reach over edges of these kinds, without going through `stop`."""
        pending, seen = list(ours), set()
        while pending:
            for edge in nodes[pending.pop()]:
                wanted = {kind["kind"] for kind in edge["dep_kinds"]} & kinds
                if wanted and edge["pkg"] not in seen | stop:
                    seen.add(edge["pkg"])
                    pending.append(edge["pkg"])
        return seen - ours

    shipped = reached({None}, stop=macros)
    building = reached({None, "build"})
    direct = {edge["pkg"] for member in ours for edge in nodes[member]} - ours
    listed = []
    for package in metadata["packages"]:
        if package["id"] in ours:
            continue
        how = "direct" if package["id"] in direct else "transitive"
        if package["id"] in shipped:
            why = "in the extension"
        elif package["id"] in building:
            why = "when building"
        else:
            why = "tests and benches"
        licence = (package["license"] or "none stated").replace("/", " OR ")
        listed.append((package["name"], "crate", package["version"], licence, f"{how}, {why}"))
    return sorted(set(listed))


def crate_table():
    lines = ["| name | kind | version | licence | why |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in crates()]
    return "\n".join(lines) + "\n"


def main(arguments):
    if "--write" in arguments:
        kept = PROVENANCE.read_text().split(MARKER)[0]
        PROVENANCE.write_text(f"{kept}{MARKER}\n\n{crate_table()}")
    else:
        print(crate_table(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
