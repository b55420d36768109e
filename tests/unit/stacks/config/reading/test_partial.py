"""The parts of a cluster that can be read are checked although others cannot."""

from collections.abc import Callable, Iterator

from pydantic import BaseModel
from tests.unit.stacks.config.capacity_edits import (
    further,
)

from ultracluster_rules.findings import Finding
from ultracluster_spec.values import Value, broken_bounds
from ultracluster_stacks.config import ClusterConfig, RolloutConfig
from ultracluster_stacks.config.reading.fields import Part, part_fields
from ultracluster_stacks.config.reading.partial import part_model

Findings = Callable[..., list[Finding]]


def test_one_wrong_item_does_not_hide_what_is_wrong_before_it(findings: Findings) -> None:
    codes = {finding.code for finding in findings(("cr-0123456789abcdef0", "null"), further("name: S"))}
    assert {"UC4108", "UC2101", "UC1021"} <= codes


def test_the_defaults_of_each_part_that_can_be_left_out_pass_its_own_rules() -> None:
    parts = list(_left_out(RolloutConfig))

    assert type(ClusterConfig.model_fields["file_system"].get_default(call_default_factory=True)) in map(
        type, parts
    )
    for part in parts:
        if isinstance(part, Value):
            assert broken_bounds(part) == []
            assert part == type(part)()
        else:
            assert type(part).model_validate(part.model_dump()) == part == type(part)()


def _left_out(model: Part) -> Iterator[BaseModel | Value]:
    for field in part_fields(model).values():
        default = field.default and field.default()
        if isinstance(default, (BaseModel, Value)):
            yield default
        if part := part_model(field.annotation):
            yield from _left_out(part)
