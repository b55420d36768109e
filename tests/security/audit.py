"""`make audit`: known vulnerabilities of every package that a lock file names, and the licences of what users install.

The database is OSV (https://google.github.io/osv.dev/api/). Where it cannot be reached nothing is known, and the command says so and
fails: silence is no answer.
"""

import json
import re
import sys
import tomllib
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["LICENCES", "Package", "licences", "locked", "main", "not_by_hash", "vulnerable"]

ROOT = Path(__file__).parents[2]
OSV = "https://api.osv.dev/v1/querybatch"
LICENCES = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0"}
)
"""What users may be made to install with us: permissive, or copyleft by file only."""

# How packages that have no licence expression say it.
_SAID_OTHERWISE = {
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}

Package = tuple[str, str, str]
"""Ecosystem as OSV names it, name, version."""

_ENTRY = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?==(?P<version>[^ ;\\]+)", re.MULTILINE)


def locked(root: Path = ROOT) -> list[Package]:
    """Every package of both lock files."""
    python = (root / "requirements.lock").read_text("utf-8")
    node = json.loads((root / "package-lock.json").read_text("utf-8"))["packages"]
    found = [("PyPI", each["name"], each["version"]) for each in _ENTRY.finditer(python)]
    return found + [
        ("npm", path.rpartition("node_modules/")[2], each["version"]) for path, each in node.items() if path
    ]


def not_by_hash(root: Path = ROOT) -> list[str]:
    """What would be installed from an address, or without a hash that is looked at."""
    lines = [
        line
        for line in (root / "requirements.lock").read_text("utf-8").replace("\\\n", " ").splitlines()
        if line and not line.lstrip().startswith("#")
    ]
    node = json.loads((root / "package-lock.json").read_text("utf-8"))["packages"]
    return [
        *(
            line.split()[0]
            for line in lines
            if not re.match(r"[\w.\[\],-]+==\S+.*--hash=sha256:[0-9a-f]{64}", line)
        ),
        *(
            path
            for path, each in node.items()
            if path and not each.get("integrity", "").startswith("sha512-")
        ),
        *(str(each) for each in _declared(root) if each.url),
    ]


def vulnerable(packages: Sequence[Package], *, url: str = OSV) -> dict[Package, list[str]]:
    """Ask OSV about packages.

    Args:
        packages: The packages.
        url: The database.

    Returns:
        The packages with known vulnerabilities, and their ids.

    Raises:
        OSError: The database cannot be reached, or answers something else.
    """
    queries = [
        {"package": {"ecosystem": ecosystem, "name": name}, "version": version}
        for ecosystem, name, version in packages
    ]
    request = urllib.request.Request(  # noqa: S310 - our own address
        url, data=json.dumps({"queries": queries}).encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        results = json.loads(answer.read())["results"]
    if len(results) != len(packages):
        raise OSError(f"the database answered {len(results)} of {len(packages)} questions")
    return {
        package: [each["id"] for each in result["vulns"]]
        for package, result in zip(packages, results, strict=True)
        if result.get("vulns")
    }


def licences(root: Path = ROOT) -> dict[str, str]:
    """The licence of everything that `pip install ultracluster` brings."""
    found: dict[str, str] = {}
    waiting = [each for each in _declared(root, extras=()) if _is_here(each)]
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name in found:
            continue
        package = distribution(name)
        found[name] = _licence(package.metadata)  # type: ignore[arg-type]
        waiting += [each for text in package.requires or () if _is_here(each := Requirement(text))]
    return dict(sorted(found.items()))


def _is_here(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _licence(metadata: Mapping[str, Any]) -> str:
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classified = [
        each.rpartition(" :: ")[2]
        for each in metadata.get_all("Classifier") or ()  # type: ignore[attr-defined]
        if each.startswith("License :: ") and " :: OSI Approved :: " in each
    ]
    said = classified[0] if classified else str(metadata.get("License") or "")
    return _SAID_OTHERWISE.get(said, said)


def _declared(root: Path, extras: Sequence[str] | None = None) -> list[Requirement]:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = optional if extras is None else extras
    return [
        Requirement(line)
        for line in [*project["dependencies"], *(one for key in wanted for one in optional[key])]
    ]


def _report() -> Iterator[str]:
    yield "Licences of what users install:"
    try:
        yield from (f"  {name}: {licence}" for name, licence in licences().items())
    except PackageNotFoundError as error:
        yield f"  {error} is not installed: run make env"


def main() -> int:
    """Say what is found; 0 if nothing is wrong, 1 if something is, 2 if it cannot be known."""
    code, lines = _audit()
    sys.stdout.write("\n".join([*_report(), *lines]) + "\n")
    return code


def _audit() -> tuple[int, list[str]]:
    packages = locked()
    if loose := not_by_hash():
        return 1, [f"Not pinned by hash: {', '.join(loose)}"]
    pinned = f"{len(packages)} packages are pinned by version and hash"
    try:
        found = vulnerable(packages)
    except (OSError, ValueError, KeyError) as error:
        return 2, [pinned, f"NOT CHECKED for known vulnerabilities: {OSV} cannot be asked ({error})"]
    named = [
        f"{ecosystem} {name} {version}: {', '.join(ids)}" for (ecosystem, name, version), ids in found.items()
    ]
    count = f"{len(found)} of {len(packages)} packages have known vulnerabilities (OSV)"
    return (1 if found else 0), [pinned, *named, count]


if __name__ == "__main__":
    sys.exit(main())
