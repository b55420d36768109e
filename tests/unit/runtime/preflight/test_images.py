"""References to images in Amazon ECR, and the ENTRYPOINT in the configuration of an image, as registries keep it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, NOW

from ultracluster_runtime.preflight import images
from ultracluster_runtime.preflight.check import Outcome, Status, checks_of
from ultracluster_runtime.preflight.images import Reference, read_reference
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Part


def test_parses_ecr_references_by_tag_or_digest() -> None:
    host = "123456789012.dkr.ecr.us-east-2.amazonaws.com"
    digest = f"sha256:{'0' * 64}"
    expected = Reference(
        account="123456789012", region="us-east-2", repository="team/training", image_id={"imageTag": "v1"}
    )
    assert read_reference(f"{host}/team/training:v1") == expected
    by_digest = read_reference(f"{host}/team/training:v1@{digest}")
    assert by_digest is not None
    assert by_digest.image_id == {"imageDigest": digest}
    assert read_reference("public.ecr.aws/neuron/pytorch-training:2.9") is None


IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:v1"
URL = "https://prod-us-east-2-starport-layer-bucket.s3.us-east-2.amazonaws.com/config"


class Registry:
    """Answers of Amazon ECR for one image, as its API reference has them."""

    def __init__(self, *manifests: Mapping[str, Any]) -> None:
        self._manifests = list(manifests)
        self.asked: list[Any] = []

    def batch_get_image(self, **parameters: Any) -> Mapping[str, Any]:
        self.asked.append(parameters["imageIds"][0])
        return {"images": [{"imageManifest": json.dumps(self._manifests.pop(0))}], "failures": []}

    def get_download_url_for_layer(self, **parameters: Any) -> Mapping[str, Any]:
        self.asked.append(parameters["layerDigest"])
        return {"downloadUrl": URL, "layerDigest": parameters["layerDigest"]}


def check(registry: Registry, image: str = IMAGE) -> Outcome:
    reader = AwsReader(lambda _service, _region: registry, now=NOW, seconds=60)
    *_, found = checks_of(images)
    named = Part(cluster=CLUSTER, name=image)
    return found.evaluate(named, found.gather(reader, named))


@pytest.mark.parametrize(
    ("volume", "status"),
    [
        ({"VolumeSize": 200}, Status.PASS),
        ({"VolumeSize": 201}, Status.FAIL),
        ({}, Status.SKIP),
    ],
)
def test_the_ami_fits_into_the_root_volume(volume: Mapping[str, int], status: Status) -> None:
    (fits,) = (one for one in checks_of(images) if one.code == "UC9480")
    mapping = {"DeviceName": "/dev/xvda", "Ebs": volume}
    described = {"RootDeviceName": "/dev/xvda", "BlockDeviceMappings": [mapping]}
    assert fits.evaluate(CLUSTER, described).status is status


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    text = json.dumps({"architecture": "amd64", "config": {"Entrypoint": ["torchrun"], "Cmd": ["/bin/bash"]}})
    monkeypatch.setattr(images, "_download", lambda url: text.encode() if url == URL else b"")
    return monkeypatch


@pytest.mark.usefixtures("configured")
def test_reads_the_configuration_that_the_manifest_names() -> None:
    registry = Registry({"schemaVersion": 2, "config": {"digest": "sha256:c"}, "layers": []})
    outcome = check(registry)
    assert registry.asked == [{"imageTag": "v1"}, "sha256:c"]
    assert outcome.status is Status.FAIL
    assert outcome.evidence.startswith('its ENTRYPOINT ["torchrun"] gives the command to torchrun')


@pytest.mark.usefixtures("configured")
def test_reads_the_manifest_for_the_platform_of_the_nodes() -> None:
    index = [
        {"digest": "sha256:arm", "platform": {"os": "linux", "architecture": "arm64"}},
        {"digest": "sha256:amd", "platform": {"os": "linux", "architecture": "amd64"}},
    ]
    registry = Registry({"schemaVersion": 2, "manifests": index}, {"config": {"digest": "sha256:c"}})
    assert check(registry).status is Status.FAIL
    assert registry.asked == [{"imageTag": "v1"}, {"imageDigest": "sha256:amd"}, "sha256:c"]


def test_an_image_without_entrypoint_passes(configured: pytest.MonkeyPatch) -> None:
    configured.setattr(images, "_download", lambda _: b'{"config": {"Entrypoint": null}}')
    assert check(Registry({"config": {"digest": "sha256:c"}})).status is Status.PASS


@pytest.mark.parametrize(
    ("manifest", "image"),
    [({"schemaVersion": 1}, IMAGE), ({"manifests": []}, IMAGE), ({}, "public.ecr.aws/neuron/x:1")],
)
def test_what_cannot_be_read_is_skipped(manifest: Mapping[str, Any], image: str) -> None:
    assert check(Registry(manifest), image).status is Status.SKIP


def test_only_addresses_of_https_are_read() -> None:
    assert images._download("file:///etc/hostname") == b""
