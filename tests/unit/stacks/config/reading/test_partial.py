"""The parts of a cluster that can be read are checked although others cannot."""

from collections.abc import Callable, Iterator

from tests.unit.stacks.config.capacity_edits import (
    further,
)

from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.findings import Finding
from ultracluster_spec.queue import Queue
from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import Value, annotations, broken_bounds, default_of, wrong_types
from ultracluster_stacks.config.reading.partial import part_of

Findings = Callable[..., list[Finding]]


def test_one_wrong_item_does_not_hide_what_is_wrong_before_it(findings: Findings) -> None:
    codes = {finding.code for finding in findings(("cr-0123456789abcdef0", "null"), further("name: S"))}
    assert {"UC4108", "UC2101", "UC1021"} <= codes


def test_the_defaults_of_each_part_that_can_be_left_out_pass_its_own_rules() -> None:
    parts = list(_left_out(Rollout))

    assert FileSystem() in parts
    assert Queue() in parts
    for part in parts:
        assert [*wrong_types(part), *broken_bounds(part)] == []
        assert part == type(part)()


def _left_out(part: type[Value]) -> Iterator[Value]:
    for name, annotation in annotations(part).items():
        if isinstance(default := default_of(part, name), Value):
            yield default
        if inner := part_of(annotation):
            yield from _left_out(inner)
