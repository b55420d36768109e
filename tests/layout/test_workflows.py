"""The files that GitHub and pre-commit read: they parse, pin what they run and grant no more than they need."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
WRITE_PERMISSIONS = {
    ("live", "free"): {"id-token"},
    ("release", "attest"): {"id-token", "attestations"},
    ("release", "publish-local"): {"id-token"},
    ("release", "publish"): {"id-token"},
}


def workflows(root: Path) -> dict[str, dict[str, Any]]:
    files = sorted((root / ".github/workflows").glob("*.y*ml"))
    return {path.stem: yaml.safe_load(path.read_text()) for path in files}


def jobs(root: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for workflow, content in workflows(root).items():
        for name, job in content["jobs"].items():
            yield workflow, name, job


def test_every_action_is_pinned_by_commit_with_its_version_in_a_comment(root: Path) -> None:
    lines = [
        line.strip().removeprefix("- ")
        for path in (root / ".github/workflows").glob("*.y*ml")
        for line in path.read_text().splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]

    assert len(lines) >= 10
    assert [line for line in lines if not PINNED.fullmatch(line)] == []


def test_one_action_has_one_version(root: Path) -> None:
    pins = {
        tuple(step["uses"].split("@")) for _, _, job in jobs(root) for step in job["steps"] if "uses" in step
    }

    assert len({action for action, _ in pins}) == len(pins)


def test_every_job_has_a_time_limit_and_the_permissions_that_it_needs(root: Path) -> None:
    found = {}
    for workflow, name, job in jobs(root):
        assert 0 < job["timeout-minutes"] <= 60, (workflow, name)
        written = {scope for scope, access in job["permissions"].items() if access == "write"}
        if written:
            found[workflow, name] = written

    assert found == WRITE_PERMISSIONS
    assert {name: content["permissions"] for name, content in workflows(root).items()} == {
        "docs": {},
        "live": {},
        "localaws": {},
        "nightly": {},
        "release": {},
        "test": {},
    }


def test_no_checkout_leaves_a_token_behind(root: Path) -> None:
    checkouts = [
        step
        for _, _, job in jobs(root)
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]

    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_no_script_contains_an_expression(root: Path) -> None:
    scripts = [step["run"] for _, _, job in jobs(root) for step in job["steps"] if "run" in step]

    assert scripts
    assert [script for script in scripts if "${{" in script] == []


def test_only_a_tag_is_published(root: Path) -> None:
    by_name = {name: job for workflow, name, job in jobs(root) if workflow == "release"}

    assert by_name["attest"]["if"] == "github.event_name == 'push' && github.ref_type == 'tag'"
    assert by_name["publish-local"]["needs"] == "attest"
    assert by_name["publish"]["needs"] == "publish-local"
    assert {job["environment"] for job in by_name.values() if "environment" in job} == {
        "pypi-ultracluster",
        "pypi-ultracluster-local",
    }


def test_a_release_attests_its_provenance_and_what_it_installs(root: Path) -> None:
    by_name = {name: job for workflow, name, job in jobs(root) if workflow == "release"}
    (script,) = (step["run"] for step in by_name["build"]["steps"] if "cyclonedx" in step.get("run", ""))
    attested = [step["with"] for step in by_name["attest"]["steps"] if "attest@" in step.get("uses", "")]

    assert "--requirement requirements.lock" in script
    assert attested == [
        {"subject-path": "dist/*/*"},
        {"subject-path": "dist/*/*", "sbom-path": "dist/sbom.json"},
    ]
    assert attested[1]["sbom-path"] in script


def test_an_account_is_asked_only_by_hand_and_where_a_variable_says_so(root: Path) -> None:
    workflow = workflows(root)["live"]

    assert set(workflow[True]) == {"workflow_dispatch"}  # YAML reads `on` as true
    assert {job["if"] for job in workflow["jobs"].values()} == {"vars.LIVE_ROLE_ARN != ''"}
    (policy,) = (root / "tests/live/tier_policies").glob("tier0.json")
    actions = {action for each in json.loads(policy.read_text())["Statement"] for action in each["Action"]}
    reads = ("Describe", "Get", "List", "Simulate", "Validate", "BatchGet")
    assert [action for action in sorted(actions) if not action.partition(":")[2].startswith(reads)] == []


def test_every_make_target_of_a_workflow_exists(root: Path) -> None:
    targets = {
        match.groups()
        for _, _, job in jobs(root)
        for step in job["steps"]
        if (match := re.match(r"make (?:-C ([a-z]+) )?([a-z-]+)", step.get("run", "")))
    }

    assert {(None, "check"), (None, "test"), (None, "training"), ("localaws", "test")} <= targets
    assert [
        (folder, name)
        for folder, name in targets
        if not re.search(rf"^{name}:", (root / (folder or ".") / "Makefile").read_text(), re.MULTILINE)
    ] == []


def test_the_tests_run_on_every_python_that_the_classifiers_name(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    named = {line.rpartition(" ")[2] for line in project["classifiers"] if " :: Python :: 3." in line}

    assert set(workflows(root)["test"]["jobs"]["test"]["strategy"]["matrix"]["python"]) == named


def test_pre_commit_uses_the_ruff_of_the_lock(root: Path) -> None:
    locked = re.search(r"^ruff==[\d.]+", (root / "requirements.lock").read_text(), re.MULTILINE)
    used = re.findall(r"ruff==[\d.]+", (root / ".pre-commit-config.yaml").read_text())

    assert locked
    assert set(used) == {locked[0]}


def test_the_release_tools_are_pinned(root: Path) -> None:
    wanted = (root / ".github/release-requirements.in").read_text().splitlines()
    pinned = (root / ".github/release-requirements.txt").read_text()

    assert [name for name in wanted if not name.startswith("#") and f"\n{name}==" not in f"\n{pinned}"] == []


def test_the_settings_of_dependabot_parse(root: Path) -> None:
    assert yaml.safe_load((root / ".github/dependabot.yml").read_text())


def test_every_issue_form_has_a_required_field(root: Path) -> None:
    forms = [path for path in (root / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"]

    assert len(forms) == 2
    for path in forms:
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= form.keys()
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert ids
        assert len(ids) == len(set(ids))
