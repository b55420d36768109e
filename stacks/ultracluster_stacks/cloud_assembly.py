"""The templates of a cloud assembly such as cdk.out, which may come from others."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ultracluster_spec.findings import quote
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.untrusted_files import refuse_file

_STACK: Final = "aws:cloudformation:stack"
_NESTED: Final = "cdk:cloud-assembly"


def stack_templates(folder: Path) -> list[tuple[Path, str | None]]:
    """Return the templates of a cloud assembly and its nested assemblies, each with its Region if that is known.

    Raises:
        FindingsError: If it is no assembly, or refers to files outside it (UC9510).
    """
    return _templates(folder, folder)


def _templates(folder: Path, whole: Path) -> list[tuple[Path, str | None]]:
    artifacts = _artifacts(folder, whole)
    files: list[tuple[Path, str | None]] = []
    for artifact in artifacts.values():
        properties = artifact.get("properties")
        if not isinstance(properties, dict):
            continue
        if artifact.get("type") == _STACK:
            environment = str(artifact.get("environment", "")).rsplit("/", 1)[-1]
            region = environment if environment and environment != "unknown-region" else None
            files.append((_inside(folder, whole, properties.get("templateFile")), region))
        elif artifact.get("type") == _NESTED:
            files += _templates(_inside(folder, whole, properties.get("directoryName")), whole)
    return files


def _artifacts(folder: Path, whole: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        manifest = None
    artifacts = manifest.get("artifacts") if isinstance(manifest, dict) else None
    if not isinstance(artifacts, dict):
        raise refuse_file(
            whole,
            "UC9510",
            "the directory has no manifest.json of the CDK",
            "cdk.out, or the files themselves",
        )
    return {name: artifact for name, artifact in artifacts.items() if isinstance(artifact, dict)}


def _inside(folder: Path, whole: Path, name: object) -> Path:
    """Return the path of an assembly's file, refusing paths outside the assembly."""
    path = folder / str(name)
    if not isinstance(name, str) or not path.resolve().is_relative_to(whole.resolve()):
        raise refuse_file(
            whole, "UC9510", f"the manifest refers to {quote(name)}, which is outside the directory"
        )
    return path


RECORDS: Final = (
    RuleRecord(
        "UC9510",
        "A folder to check is a cloud assembly.",
        remedy="Specify the output folder of `cdk synth`, or the templates themselves.",
        source="AWS CDK, cloud assembly schema 55 of aws-cdk-lib 2.275.0.",
    ),
)
