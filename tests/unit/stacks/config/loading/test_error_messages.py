"""Every error that pydantic can raise here has words of ours."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.unit.spec.value_parts import parts_of

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding
from ultracluster_spec.job import Job
from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import annotations
from ultracluster_stacks.config.loading.error_messages import TRANSLATED_TYPES

# One value of each kind that a YAML file can hold, wrong in most places.
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**15, 1.5, "", "x", "A" * 300, "\u00fc", "2026-13-01T00:00:00Z", (), (None,), ("x", 1),
    {}, {"x": 1}, {"": ""},
)  # fmt: skip


def test_every_error_type_that_can_occur_is_translated() -> None:
    occurred: set[str] = set()
    parts = list(parts_of(Rollout).values())
    for part in parts:
        validate = TypeAdapter(part).validate_python
        for values in [{}, None, 5, (), {"unknown": 1}] + [
            {name: value} for name in annotations(part) for value in _VALUES
        ]:
            try:
                validate(values)
            except ValidationError as error:
                occurred |= {details["type"] for details in error.errors()}
            else:  # what requires a value is not valid with one of them
                assert part not in (Rollout, Cluster, Job)
                assert values != {"unknown": 1}

    assert len(parts) >= 9
    assert occurred == TRANSLATED_TYPES


@pytest.mark.slow
def test_no_message_is_pydantics(findings: Callable[..., list[Finding]], valid: str) -> None:
    for value in ("~", "true", "-1", "1.5", '""', "text", "[]", "[1]", "{}", "{a: 1}"):
        for line in valid.splitlines():
            key = line.partition(": ")[0]
            if line.endswith(":") or ": " not in line:
                continue
            for finding in findings((line, f"{key}: {value}")):
                assert "Input" not in str(finding)
                assert "pydantic" not in str(finding)
                assert "cannot be used here" not in str(finding)  # the words for an error without words
