import re

import pytest

from ultracluster_catalog.neuron.neuron_images import (
    EFA_INSTALLER_VERSION,
    EFA_INSTALLERS,
    IMAGE_KINDS,
    NODE_PARTS,
    NeuronImage,
)
from ultracluster_rules.findings import FindingsError

ID = "ami-0123456789abcdef0"


def test_no_ami_of_aws_is_known_to_carry_all_that_a_node_needs() -> None:
    assert {name for name, kind in IMAGE_KINDS.items() if not kind.missing} == {"own"}


def test_the_ecs_ami_lacks_efa_and_lustre_and_the_base_dlami_the_ecs_agent() -> None:
    assert IMAGE_KINDS["ecs-neuron"].missing == ("efa-driver", "lustre-client")
    assert "ecs-agent" in IMAGE_KINDS["dlami/base/amazon-linux-2023"].missing
    assert "efa-driver" in IMAGE_KINDS["dlami/base/amazon-linux-2023"].carries


def test_every_line_but_ones_own_has_a_public_parameter_and_what_a_neuron_node_needs_first() -> None:
    for name, kind in IMAGE_KINDS.items():
        assert (kind.parameter is None) == (name == "own")
        assert "neuron-driver" in kind.carries
        assert kind.carries <= {*NODE_PARTS, "cloudwatch-agent"}
        assert (kind.parameter or "/aws/service/").startswith("/aws/service/")


def test_an_image_is_pinned_by_its_id() -> None:
    assert NeuronImage(kind="ecs-neuron", image_id=ID).facts is IMAGE_KINDS["ecs-neuron"]
    for wrong in (IMAGE_KINDS["ecs-neuron"].parameter or "", "resolve:ssm:/x", "ami-012", f"{ID}\n"):
        with pytest.raises(FindingsError, match="UC4110"):
            NeuronImage(kind="ecs-neuron", image_id=wrong)


def test_refuses_a_line_that_nobody_knows_together_with_a_bad_id() -> None:
    with pytest.raises(FindingsError) as caught:
        NeuronImage(kind="ubuntu", image_id="latest")
    assert [finding.code for finding in caught.value.findings] == ["UC4050", "UC4110"]
    NeuronImage(kind="own", image_id="ami-01234567")


def test_each_efa_installer_has_a_checksum_of_its_own() -> None:
    assert EFA_INSTALLER_VERSION in EFA_INSTALLERS
    assert len(set(EFA_INSTALLERS.values())) == len(EFA_INSTALLERS)
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in EFA_INSTALLERS.values())
