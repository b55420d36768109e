"""Fields of models and of values are read alike."""

from ultracluster_spec import Association, FileSystem
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.config.reading.fields import part_fields


def test_fields_of_models_and_values_have_defaults_unless_they_are_required() -> None:
    for part, required in ((ClusterConfig, "name"), (Association, "file_system_path")):
        assert part_fields(part)[required].default is None
    made = part_fields(ClusterConfig)["file_system"].default
    assert made is not None
    assert made() == FileSystem()
