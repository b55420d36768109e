"""What is installed is pinned by version and hash, and comes from whatever registry a machine is set up to use."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?==(?P<version>[^ ;\\]+)(?P<rest>(?:.*\\\n)+.*)$", re.MULTILINE
)


def test_every_dependency_is_locked_with_a_version_that_fits_and_hashes(root: Path) -> None:
    locked = _locked(root)

    for requirement in _declared(root):
        assert requirement.url is None, requirement
        version, hashes = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement
        assert hashes, requirement


LOCKS = (
    "requirements.lock",
    ".github/release-requirements.txt",
    "docs/requirements.txt",
    "tests/deep/requirements.txt",
    "tests/security/requirements.txt",
)
# One version of torch has several builds, with and without CUDA, and other hashes on each index.
WITHOUT_HASHES = "tests/training/requirements.txt"


def test_every_requirements_file_is_a_lock(root: Path) -> None:
    folders = (
        ".github",
        "benchmarks",
        "cli",
        "constructs",
        "docs",
        "examples",
        "localaws",
        "stacks",
        "tests",
    )
    found = {
        str(path.relative_to(root)) for name in folders for path in (root / name).rglob("*requirements*.txt")
    }

    assert found == {*LOCKS, WITHOUT_HASHES} - {"requirements.lock"}


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_hash(root: Path, name: str) -> None:
    lines = [line for line in (root / name).read_text().splitlines() if re.match(r"[A-Za-z0-9]", line)]
    locked = _locked(root, name)

    assert lines
    assert len(locked) == len({re.split(r"[=\[]", line)[0] for line in lines})
    assert [name for name, (_, hashes) in locked.items() if not hashes] == []


@pytest.mark.parametrize(
    "name", [*LOCKS, "package-lock.json", "docs/package-lock.json", "tests/types/package-lock.json", ".npmrc"]
)
def test_no_lock_has_an_address(root: Path, name: str) -> None:
    text = (root / name).read_text()

    assert "://" not in text
    assert not re.search(r"--(index-url|extra-index-url|find-links)|resolved\"|^registry", text, re.MULTILINE)


@pytest.mark.parametrize("folder", [".", "docs", "tests/types"])
def test_npm_packages_are_locked_by_integrity_to_the_versions_of_package_json(
    root: Path, folder: str
) -> None:
    declared = json.loads((root / folder / "package.json").read_text())["devDependencies"]
    packages = json.loads((root / folder / "package-lock.json").read_text())["packages"]

    assert packages.pop("")["devDependencies"] == declared
    assert {
        name.removeprefix("node_modules/"): package["version"]
        for name, package in packages.items()
        if not package.get("optional")  # of another operating system
    } == declared
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())


def test_ultracluster_local_is_required_in_the_version_of_this_checkout_and_not_locked(root: Path) -> None:
    version = tomllib.loads((root / "localaws/pyproject.toml").read_text())["project"]["version"]

    extra = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]["local"]
    assert f"ultracluster-local=={version}" in extra
    assert "ultracluster-local" not in _locked(root)


def _declared(root: Path) -> list[Requirement]:
    """What both distributions require of others."""
    projects = [
        tomllib.loads((root / name).read_text())["project"]
        for name in ("pyproject.toml", "localaws/pyproject.toml")
    ]
    lines = [line for project in projects for line in project["dependencies"]]
    lines += [line for lines in projects[0]["optional-dependencies"].values() for line in lines]
    return [each for each in map(Requirement, lines) if each.name != "ultracluster-local"]


def _locked(root: Path, name: str = "requirements.lock") -> dict[str, tuple[str, list[str]]]:
    text = (root / name).read_text()
    return {
        canonicalize_name(entry["name"]): (
            entry["version"],
            re.findall(r"--hash=sha256:[0-9a-f]{64}", entry["rest"]),
        )
        for entry in ENTRY.finditer(text)
    }
