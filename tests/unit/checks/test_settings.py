"""Settings that are unsafe or wasteful in a resource of their own."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": "/var/run/docker.sock"}}]}}),
    ("UC6410", "Batch::JobDefinition", {"NodeProperties": {"NodeRangeProperties": [{"Container": {"Privileged": True}}]}}),
    ("UC6410", "Batch::JobDefinition", {"EcsProperties": {"TaskProperties": [{"Containers": [{"Privileged": True}]}]}}),
)  # fmt: skip
KEPT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6410", "Batch::JobDefinition", {"ContainerProperties": {"Volumes": [{"Host": {"SourcePath": "/var/data"}}]}}),
)  # fmt: skip


def codes(kind: str, properties: dict[str, Any]) -> set[str]:
    body = {"Resources": {"It": {"Type": f"AWS::{kind}", "Properties": properties}}}
    return {each.code for each in check_templates([Source(name="it", body=body)]).findings}


@pytest.mark.parametrize(("code", "kind", "properties"), BROKEN)
def test_an_unsafe_setting_breaks_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code in codes(kind, properties)


@pytest.mark.parametrize(("code", "kind", "properties"), KEPT)
def test_a_safe_or_unknown_setting_keeps_the_rule(code: str, kind: str, properties: dict[str, Any]) -> None:
    assert code not in codes(kind, properties)
