"""Every error that pydantic can raise here has words of ours."""

from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from ultracluster_rules.findings import Finding
from ultracluster_rules.registry import RULES
from ultracluster_stacks.config import CapacityConfig, ClusterConfig, JobConfig, RolloutConfig
from ultracluster_stacks.config.loading.error_messages import TRANSLATED_TYPES

# One value of each kind that a YAML file can hold, wrong in most places.
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**15, 1.5, "", "x", "A" * 300, "\u00fc", "2026-13-01T00:00:00Z", (), (None,), ("x", 1),
    {}, {"x": 1}, {"": ""},
)  # fmt: skip


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for info in model.model_fields.values():
        for part in (info.annotation, *get_args(info.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel) and get_origin(part) is None:
                yield from _models(part)


def test_every_error_type_that_can_occur_is_translated() -> None:
    occurred: set[str] = set()
    models = list(_models(RolloutConfig))
    for model in models:
        for values in [{}, None, 5, (), {"unknown": 1}] + [
            {name: value} for name in model.model_fields for value in _VALUES
        ]:
            with pytest.raises(ValidationError) as caught:
                model.model_validate(
                    values if model in (RolloutConfig, ClusterConfig, JobConfig) else {"unknown": 1}
                )
            occurred |= {details["type"] for details in caught.value.errors()}
            try:
                model.model_validate(values)
            except ValidationError as error:
                occurred |= {details["type"] for details in error.errors()}

    assert len(models) >= 9
    assert {kind for kind in occurred if kind not in RULES} == TRANSLATED_TYPES


@pytest.mark.sweep
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


def test_a_model_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        CapacityConfig().market_type = "on-demand"  # type: ignore[misc]
