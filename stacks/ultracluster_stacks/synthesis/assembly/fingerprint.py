"""A digest of everything that determines an assembly besides its cluster."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PACKAGES = ("aws-cdk-lib", "constructs", "jsii", "pydantic")

# ultracluster_runtime is deployed as an asset.
_SOURCES = (
    "ultracluster",
    "ultracluster_catalog",
    "ultracluster_checks",
    "ultracluster_runtime",
    "ultracluster_spec",
    "ultracluster_stacks",
)

# These select the clusters and how they are synthesized, and do not affect the result.
_SELECTING = {"cache", "processes", "purpose", "rollout", "validation", "wave"}

# Variables that change the output of aws_cdk. Account and Region of the credentials do not: a cluster has a Region,
# and a stack without an account is environment-agnostic.
_VARIABLES = ("CDK_DEBUG", "CDK_DISABLE_STACK_TRACE", "CDK_VALIDATION", "JSII_HOST_STACK_TRACES")


def synthesis_fingerprint(context: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Return a digest of everything that affects all clusters: packages, our source, context and variables."""
    facts = {
        "python": sys.version_info[:2],
        "packages": {name: _metadata(name) for name in _PACKAGES},
        "context": {name: value for name, value in context.items() if name not in _SELECTING},
        "variables": {name: environment[name] for name in _VARIABLES if name in environment},
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name, content in _own_source():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _metadata(package: str) -> str:
    """Return the metadata of a package, unparsed: parsing that of aws-cdk-lib takes as long as half of the digest."""
    return distribution(package).read_text("METADATA") or version(package)


def _own_source() -> Iterator[tuple[str, bytes]]:
    for package in _SOURCES:
        spec = find_spec(package)
        for root in (spec.submodule_search_locations or []) if spec else []:
            for folder, folders, names in os.walk(root):
                folders[:] = sorted(name for name in folders if name != "__pycache__")
                inside = folder.removeprefix(root)
                for name in sorted(names):
                    path = Path(folder, name)
                    if (
                        not name.endswith(".pyc") and path.is_file()
                    ):  # an editor's lock file is a dangling link
                        yield f"{package}{inside}/{name}", path.read_bytes()
