"""What an AMI is made of, in the language of Image Builder."""

import json
import re
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, only
from tests.unit.ultracluster.images.baked_ami import ami

from ultracluster.images.bake_component import bake_component
from ultracluster_catalog.neuron.neuron_images import EFA_INSTALLERS, NeuronImage

pytestmark = pytest.mark.slow


def document(stack: cdk.Stack) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(only(stack, "AWS::ImageBuilder::Component")["Data"])
    return found


def test_the_document_keeps_the_rules_of_its_language(baked: cdk.Stack) -> None:
    data = only(baked, "AWS::ImageBuilder::Component")["Data"]
    found = document(baked)
    # Two braces would begin a reference; the rules are those of the Image Builder guide, October 2026.
    assert not re.search(r"\{\{|\}\}", data)
    assert len(data) <= 16_000
    assert found["schemaVersion"] == "1.0"
    assert [phase["name"] for phase in found["phases"]] == ["build", "validate", "test"]
    for phase in found["phases"]:
        (step,) = phase["steps"]
        assert re.fullmatch(r"[A-Za-z0-9_-]{3,128}", step["name"])
        assert set(step) == {"name", "action", "timeoutSeconds", "onFailure", "inputs"}
        assert (step["action"], step["onFailure"]) == ("ExecuteBash", "Abort")
        assert step["timeoutSeconds"] > 0
        assert set(step["inputs"]) == {"commands"}


def test_what_the_ecs_ami_lacks_is_installed_and_pinned(baked: cdk.Stack) -> None:
    script = document(baked)["phases"][0]["steps"][0]["inputs"]["commands"][0]
    assert "export UC_PARTS='efa-driver lustre-client cloudwatch-agent'\n" in script
    assert "export UC_EFA_VERSION='1.49.0'\n" in script
    assert f"export UC_EFA_SHA256='{EFA_INSTALLERS['1.49.0']}'\n" in script
    assert f"export UC_IMAGES='{IMAGE}'\n" in script


def test_the_images_are_words_of_the_shell() -> None:
    another = IMAGE.replace("training:", "evaluation:")
    (script,) = json.loads(
        bake_component(parts=[], container_images=[IMAGE, another], efa_version="", efa_sha256="")
    )["phases"][0]["steps"][0]["inputs"]["commands"]
    assert f"export UC_IMAGES='{IMAGE} {another}'\n" in script


def test_a_dlami_gets_the_ecs_agent_and_a_custom_image_only_requested_parts() -> None:
    dlami = NeuronImage(kind="dlami/base/amazon-linux-2023", image_id=IMAGE_ID)
    assert ami(parent=dlami, cloudwatch_agent=False).parts == ("lustre-client", "ecs-agent", "docker")
    assert ami(parent=NeuronImage(kind="own", image_id=IMAGE_ID)).parts == ("cloudwatch-agent",)
