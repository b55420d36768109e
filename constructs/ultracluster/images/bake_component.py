"""The EC2 Image Builder component document that runs our bake script with its settings."""

import json
from collections.abc import Sequence
from importlib import resources

from ultracluster_catalog.neuron.neuron_images import ImagePart

_BAKE_SECONDS = 3 * 3600  # enough to pull images of tens of GB
_CHECK_SECONDS = 300


def bake_component(
    *, parts: Sequence[ImagePart], container_images: Sequence[str], efa_version: str, efa_sha256: str
) -> str:
    """Return the component document as JSON, which is also YAML.

    It contains no double braces, which the document language would read as a reference.
    """
    script = resources.files("ultracluster").joinpath("scripts/bake-ami.sh").read_text(encoding="ascii")
    settings = {
        "UC_PARTS": " ".join(parts),
        "UC_IMAGES": " ".join(container_images),
        "UC_EFA_VERSION": efa_version,
        "UC_EFA_SHA256": efa_sha256,
    }

    def phase(name: str, mode: str, seconds: int) -> dict[str, object]:
        exports = "".join(f"export {key}='{value}'\n" for key, value in {"UC_MODE": mode, **settings}.items())
        step = {
            "name": mode,
            "action": "ExecuteBash",
            "timeoutSeconds": seconds,
            "onFailure": "Abort",
            "inputs": {"commands": [f"{exports}{script}"]},
        }
        return {"name": name, "steps": [step]}

    document = {
        "name": "ultracluster",
        "description": "What a node of an UltraCluster needs",
        "schemaVersion": "1.0",
        "phases": [
            phase("build", "bake", _BAKE_SECONDS),
            phase("validate", "check", _CHECK_SECONDS),
            phase("test", "check", _CHECK_SECONDS),
        ],
    }
    return json.dumps(document, indent=1)
