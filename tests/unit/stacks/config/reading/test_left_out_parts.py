"""A part of a cluster that is left out is built without validation, so its own defaults are validated here instead."""

from collections.abc import Iterator

from pydantic import BaseModel

from ultracluster_stacks.config import ClusterConfig, RolloutConfig
from ultracluster_stacks.config.reading.partial import part_model


def test_the_defaults_of_each_part_that_can_be_left_out_pass_its_own_rules() -> None:
    parts = list(_left_out(RolloutConfig))

    assert type(ClusterConfig.model_fields["file_system"].get_default(call_default_factory=True)) in map(
        type, parts
    )
    for part in parts:
        assert type(part).model_validate(part.model_dump()) == part == type(part)()


def _left_out(model: type[BaseModel]) -> Iterator[BaseModel]:
    for info in model.model_fields.values():
        default = None if info.is_required() else info.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield default
        if part := part_model(info.annotation):
            yield from _left_out(part)
