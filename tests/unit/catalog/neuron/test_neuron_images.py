import re

from ultracluster_catalog.neuron.neuron_images import (
    EFA_INSTALLER_VERSION,
    EFA_INSTALLERS,
    IMAGE_KINDS,
    NODE_PARTS,
)


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


def test_each_efa_installer_has_a_distinct_checksum() -> None:
    assert EFA_INSTALLER_VERSION in EFA_INSTALLERS
    assert len(set(EFA_INSTALLERS.values())) == len(EFA_INSTALLERS)
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in EFA_INSTALLERS.values())
