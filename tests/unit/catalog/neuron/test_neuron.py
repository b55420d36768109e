import gzip
import json
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron import (
    ECS_NEURON_AMI_PARAMETER,
    NEURON_DLAMI_PARAMETERS,
    process_counts,
)


def test_the_parameter_of_the_ecs_ami_exists() -> None:
    recorded = Path(
        str(distribution("moto").locate_file("moto/ssm/resources/ecs/optimized_amis/us-east-2.json.gz"))
    )
    node: Any = json.loads(gzip.decompress(recorded.read_bytes()))
    for part in ECS_NEURON_AMI_PARAMETER.strip("/").split("/"):
        assert part in node, f"{part} of {ECS_NEURON_AMI_PARAMETER}"
        node = node[part]
    assert re.fullmatch(r"ami-[0-9a-f]{17}", node["Value"])


def test_parameters_of_deep_learning_amis_are_public_ones_that_end_in_the_image_id() -> None:
    for name, parameter in NEURON_DLAMI_PARAMETERS.items():
        assert parameter == f"/aws/service/neuron/dlami/{name}/latest/image_id"


@pytest.mark.parametrize(
    ("name", "core_size", "counts"),
    [
        ("trn1.32xlarge", None, (1, 2, 8, 32)),
        ("trn1n.32xlarge", None, (1, 2, 8, 32)),
        ("trn2.48xlarge", None, (1, 4, 16, 64)),
        ("trn2.48xlarge", 2, (1, 4, 16, 64)),
        ("trn2.48xlarge", 1, (1, 8, 32, 128)),
        ("trn1.2xlarge", None, ()),
        ("trn2.3xlarge", None, ()),
        ("inf2.48xlarge", None, ()),
        ("p5.48xlarge", None, ()),
    ],
)
def test_collectives_are_over_a_core_a_chip_a_row_or_all(
    name: str, core_size: int | None, counts: tuple[int, ...]
) -> None:
    assert process_counts(INSTANCE_TYPES[name], core_size) == counts
