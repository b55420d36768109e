"""What users install has a permissive licence, nothing runs while it is installed, and functions hold our files only.

`make audit` looks for known vulnerabilities; tests/layout/test_locks.py requires a hash of each package.
"""

import tomllib
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.security.nag import Nagged

ROOT = Path(__file__).parents[2]
# Permissive, or copyleft by file only; and how packages without a licence expression name them.
LICENCES = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0"} | {
    "Apache License 2.0",
    "Apache Software License",
    "BSD License",
    "ISC License (ISCL)",
    "MIT License",
    "Mozilla Public License 2.0 (MPL 2.0)",
    "Python Software Foundation License",
}


def licences() -> dict[str, str]:
    """Return the licence of each package that `pip install ultracluster` brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = list(project["dependencies"])
    found: dict[str, str] = {}
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        package = distribution(name)
        found[name] = licence(package.metadata)
        waiting += package.requires or ()
    return found


def licence(metadata: PackageMetadata) -> str:
    """Return the licence expression of a package, else its classifier, else what its field says."""
    classifiers = metadata.get_all("Classifier") or ()
    approved = [each for each in classifiers if each.startswith("License :: OSI Approved :: ")]
    named = [metadata.get("License-Expression"), *approved, metadata.get("License")]
    return next(text.rpartition(" :: ")[2] for text in named if text)


def test_licences_of_what_users_install_are_permissive() -> None:
    found = licences()
    assert {"aws-cdk-lib", "boto3", "pydantic"} <= found.keys()
    assert {name: said for name, said in found.items() if said not in LICENCES} == {}


def test_packages_run_nothing_while_they_are_installed() -> None:
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()
    assert 'npm" ci --ignore-scripts' in (ROOT / "Makefile").read_text()
    assert "--require-hashes" in (ROOT / "Makefile").read_text()


@pytest.mark.slow
def test_functions_hold_our_files_only(everything: Nagged) -> None:
    held = {
        str(file.relative_to(asset))
        for asset in everything.assembly.rglob("asset.*")
        for file in asset.rglob("*")
        if file.is_file()
    }
    assert len(held) > 10
    assert {name for name in held if not (ROOT / "constructs" / name).is_file()} == set()
