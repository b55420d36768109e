"""What makes every cluster be synthesized again, and what does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import Value, annotations
from ultracluster_stacks.synthesis.assembly import fingerprint
from ultracluster_stacks.synthesis.assembly.fingerprint import synthesis_fingerprint

CONTEXT = {"rollout": "a.yaml", "@aws-cdk/core:x": True}


@pytest.mark.parametrize(
    "context",
    [{"rollout": "b.yaml"}, {"wave": "canary"}, {"cache": "true"}],
)
def test_what_selects_clusters_changes_none_of_them(context: dict[str, Any]) -> None:
    assert synthesis_fingerprint(CONTEXT | context, {}) == synthesis_fingerprint(CONTEXT, {})


@pytest.mark.parametrize(
    ("context", "variables"),
    [
        ({"@aws-cdk/core:x": False}, {}),
        ({"another": 1}, {}),
        ({}, {"CDK_VALIDATION": "false"}),
        ({}, {"CDK_DEBUG": "true"}),
    ],
)
def test_what_acts_on_templates_changes_it(context: dict[str, Any], variables: dict[str, str]) -> None:
    assert synthesis_fingerprint(CONTEXT | context, variables) != synthesis_fingerprint(CONTEXT, {})


@pytest.mark.parametrize("package", fingerprint._PACKAGES)
def test_another_version_of_a_package_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    def installed(version: str) -> str:
        metadata = tmp_path / version / f"{package.replace('-', '_')}-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.4\nName: {package}\nVersion: {version}\n")
        monkeypatch.syspath_prepend(metadata.parents[1])
        return synthesis_fingerprint({}, {})

    one = installed("1.0")
    assert synthesis_fingerprint({}, {}) == one
    assert installed("2.0") != one


@pytest.mark.parametrize("package", fingerprint._SOURCES)
def test_any_change_of_our_own_source_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    def source(content: str) -> str:
        (tmp_path / package / "scripts").mkdir(parents=True, exist_ok=True)
        (tmp_path / package / "__init__.py").write_text("")
        (tmp_path / package / "scripts" / "boot.sh").write_text(content)
        return synthesis_fingerprint({}, {})

    spec = fingerprint.find_spec("json")
    assert spec is not None
    monkeypatch.setattr(spec, "submodule_search_locations", [str(tmp_path / package)])
    monkeypatch.setattr(fingerprint, "find_spec", lambda name: spec if name == package else None)

    assert source("a") != source("b")
    assert source("b") == source("b")


def test_no_value_of_a_rollout_refers_to_the_content_of_a_file() -> None:
    # What a cluster follows from is its configuration as JSON. A path in it would be kept, and its content missed.
    paths = [
        f"{value.__name__}.{name}"
        for value in _values(Rollout, set())
        for name, annotation in annotations(value).items()
        if Path in _parts(annotation)
    ]

    assert paths == []


def _values(value: type[Value], seen: set[type[Value]]) -> set[type[Value]]:
    seen.add(value)
    for annotation in annotations(value).values():
        for part in _parts(annotation):
            if isinstance(part, type) and issubclass(part, Value) and part not in seen:
                _values(part, seen)
    return seen


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)
