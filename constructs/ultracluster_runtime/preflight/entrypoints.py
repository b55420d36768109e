"""Check of the ENTRYPOINT of a job's image, which AWS Batch cannot replace."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ultracluster_rules.images import explain_entrypoint
from ultracluster_runtime.preflight.check import Outcome, check, failed, passed, skipped
from ultracluster_runtime.preflight.images import IMAGE_EXISTS, images_of, read_reference
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.requirements import ImageRequirements

# OCI image specification 1.1 and Docker's registry API: a manifest, or an index of manifests by platform.
_MEDIA_TYPES: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_ABSENT: Final = ("ImageNotFoundException", "LayersNotFoundException", "RepositoryNotFoundException")
_PLATFORM: Final = ("linux", "amd64")  # all instance types in the catalog have this platform
_MOST_BYTES: Final = 4 * 1024 * 1024
_SECONDS: Final = 10


def _gather(reader: AwsReader, requirements: ImageRequirements) -> Sequence[str] | None:
    """Return the ENTRYPOINT, empty for none; None if the configuration of the image cannot be read."""
    reference = read_reference(requirements.image)
    if reference is None:
        return None
    place = {"registryId": reference.account, "repositoryName": reference.repository}

    def ask(operation: str, **parameters: Any) -> Mapping[str, Any] | None:
        return reader.call_or_none("ecr", reference.region, operation, absent=_ABSENT, **place, **parameters)

    def manifest_of(image_id: Mapping[str, str]) -> Mapping[str, Any]:
        found = ask("BatchGetImage", imageIds=[image_id], acceptedMediaTypes=list(_MEDIA_TYPES)) or {}
        images = found.get("images", [])
        return _object(images[0]["imageManifest"]) if images else {}

    manifest = manifest_of(reference.image_id)
    for entry in manifest.get("manifests", []):
        platform = entry.get("platform", {})
        if (platform.get("os"), platform.get("architecture")) == _PLATFORM:
            manifest = manifest_of({"imageDigest": entry["digest"]})
            break
    digest = manifest.get("config", {}).get("digest")
    layer = ask("GetDownloadUrlForLayer", layerDigest=digest) if digest else None
    if layer is None:
        return None
    configuration = _object(_download(layer["downloadUrl"])).get("config") or {}
    return configuration.get("Entrypoint") or []


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _download(url: str) -> bytes:
    """Return the configuration of an image from the address that Amazon ECR gave; empty if it cannot be read."""
    if not url.startswith("https://"):
        return b""
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:  # noqa: S310 - the scheme is checked
            return bytes(response.read(_MOST_BYTES))
    except OSError:
        return b""


@check(
    "UC9457",
    _gather,
    "ecr:BatchGetImage",
    "ecr:GetDownloadUrlForLayer",
    subjects=images_of,
    after=(IMAGE_EXISTS,),
)
def _check(_: ImageRequirements, entrypoint: Sequence[str] | None) -> Outcome:
    """Check that the ENTRYPOINT runs the command of a job."""
    if entrypoint is None:
        return skipped("the configuration of the image cannot be read")
    if problem := explain_entrypoint(entrypoint):
        return failed(
            f"its ENTRYPOINT {json.dumps(list(entrypoint))} {problem}",
            'Build an image on it with ENTRYPOINT [], or one that ends in exec "$@"',
        )
    return passed(
        f"its ENTRYPOINT is {json.dumps(list(entrypoint))}" if entrypoint else "it has no ENTRYPOINT"
    )
