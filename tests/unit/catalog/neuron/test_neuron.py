import gzip
import json
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from ultracluster_catalog.neuron.neuron import (
    ECS_NEURON_AMI_PARAMETER,
    NEURON_DLAMI_PARAMETERS,
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
