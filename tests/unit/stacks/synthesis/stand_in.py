"""A stand-in for the CDK, and what it writes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding
from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache
from ultracluster_stacks.synthesis.template_findings import keep_warnings

Synthesized = list[list[str]]


def cache_in(tmp_path: Path) -> AssemblyCache:
    return AssemblyCache(tmp_path / "cache", fingerprint="one")


def cluster_named(name: str, nodes: int) -> dict[str, Any]:
    return {
        "name": name,
        "region": "us-east-1",
        "zone_id": "use1-az6",
        "instance_type": "trn1.32xlarge",
        "nodes": nodes,
        "image_id": "ami-0123456789abcdef0",
        "capacity": {"reservation_id": f"cr-{int.from_bytes(name.encode()[-8:]):017x}"},
    }


def write_assembly(clusters: Sequence[Cluster], root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    artifacts: dict[str, Any] = {}
    for each in clusters:
        stage = f"{each.name}-{each.region}"
        directory = root / f"assembly-{stage}"
        directory.mkdir(exist_ok=True)
        (directory / "manifest.json").write_text(json.dumps({"nodes": each.nodes}))
        (directory / "S.assets.json").write_text(
            json.dumps(
                {
                    "files": {
                        "x": {"source": {"path": f"../asset.{each.name}"}},
                        "t": {"source": {"path": "t"}},
                    }
                }
            )
        )
        (root / f"asset.{each.name}").mkdir(exist_ok=True)
        (root / f"asset.{each.name}" / "code.py").write_text(f"code of {each.name}")
        artifacts[f"assembly-{stage}"] = {
            "type": "cdk:cloud-assembly",
            "properties": {"directoryName": f"assembly-{stage}", "displayName": stage},
        }
    warned = [f"{each.name}-{each.region}/S/T" for each in clusters if each.name.startswith("warned")]
    findings: list[Any] = [validation_warning(*warned)] if warned else []
    if any(each.name == "template" for each in clusters):
        findings.append({"pluginName": "p", "violations": [{"ruleName": "r"}]})
    manifest = {"version": "55.0.0", "artifacts": artifacts | {"flags": {"type": "other"}}}
    for name, value in (("manifest.json", manifest), ("validation-report.json", {"pluginReports": findings})):
        (root / name).write_text(json.dumps(value, indent=2))
    (root / "cdk.out").write_text('{"version":"55.0.0"}')
    at = [f"{each.name}-{each.region}/Network" for each in clusters if each.name.startswith("checked")]
    keep_warnings(root, [Finding("UC6453", "reads all", location=each) for each in at])


def validation_warning(*paths: str) -> dict[str, Any]:
    constructs = [{"constructPath": path, "constructFqn": "aws-cdk-lib.aws_sns.Topic"} for path in paths]
    violation = {"ruleName": "r", "severity": "warning", "violatingConstructs": constructs}
    return {"pluginName": "p", "conclusion": "success", "violations": [violation]}


def content(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
