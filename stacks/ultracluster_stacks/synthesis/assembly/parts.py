"""Split a cloud assembly into one part per cluster, and merge parts into an assembly."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

_MANIFEST = "manifest.json"
VALIDATION_REPORT = "validation-report.json"
_EXECUTABLE = 0o111

Files: TypeAlias = dict[str, tuple[int, str]]
"""Executable bits and content of each file by its path below a directory. The path of an asset that is one file is
empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The part of a cloud assembly that belongs to one cluster.

    Attributes:
        directory: Name of the cluster's nested assembly, such as ``assembly-training-a-us-east-2``.
        assets: Files of the assets that the cluster uses, by the asset's name.
        manifest: Manifest without any cluster; equal in all parts that can be merged.
        report: Validation report of the cluster. None if validation was off.
        version: Content of ``cdk.out``, the file that marks a directory as an assembly.
    """

    directory: str
    artifact: dict[str, Any]
    files: Files
    assets: Mapping[str, Files]
    manifest: dict[str, Any]
    report: dict[str, Any] | None
    version: str

    @property
    def clean(self) -> bool:
        """Whether validation found nothing, so that no message is lost when the part comes from the cache."""
        return self.report is None or not self.report["pluginReports"]


def split_assembly(root: Path) -> dict[str, Part]:
    """Return the parts of an assembly by the names of their stages."""
    manifest = json.loads((root / _MANIFEST).read_text(encoding="utf-8"))
    stages = {
        name: artifact
        for name, artifact in manifest["artifacts"].items()
        if artifact["type"] == "cdk:cloud-assembly"
    }
    rest = {name: artifact for name, artifact in manifest["artifacts"].items() if name not in stages}
    path = root / VALIDATION_REPORT
    report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    assets = {path.name: _read_files(path) for path in root.glob("asset.*")}
    return {
        artifact["properties"]["displayName"]: Part(
            directory=(directory := artifact["properties"]["directoryName"]),
            artifact=artifact,
            files=(files := _read_files(root / directory)),
            assets={name: assets[name] for name in _assets(files)},
            manifest=manifest | {"artifacts": rest},
            report=_report_of(report, artifact["properties"]["displayName"]),
            version=(root / "cdk.out").read_text(encoding="utf-8"),
        )
        for artifact in stages.values()
    }


def merge_assembly(root: Path, parts: Sequence[Part]) -> None:
    """Write the cloud assembly of several clusters, in order.

    Raises:
        ValueError: The parts come from assemblies that differ in more than their clusters.
    """
    first = parts[0]
    if any((part.manifest, part.version) != (first.manifest, first.version) for part in parts):
        raise ValueError("the parts come from assemblies that differ in more than their clusters")
    for part in parts:
        shutil.rmtree(root / part.directory, ignore_errors=True)
        _write_files(root / part.directory, part.files)
    for name, files in {name: files for part in parts for name, files in part.assets.items()}.items():
        _write_files(root / name, files)
    manifest = first.manifest | {
        "artifacts": {part.directory: part.artifact for part in parts} | first.manifest["artifacts"]
    }
    if first.report is not None:
        reports = [report for part in parts if part.report for report in part.report["pluginReports"]]
        _write(root / VALIDATION_REPORT, _json(first.report | {"pluginReports": reports}))
    _write(root / "cdk.out", first.version)
    _write(root / _MANIFEST, _json(manifest))


def _report_of(report: dict[str, Any] | None, stage: str) -> dict[str, Any] | None:
    """Return the violations of one cluster, and those that name no construct."""
    if report is None:
        return None
    plugins = []
    for plugin in report["pluginReports"]:
        violations = []
        for violation in plugin.get("violations", []):
            constructs = violation.get("violatingConstructs", [])
            own = [
                construct
                for construct in constructs
                if construct.get("constructPath", stage).split("/")[0] == stage
            ]
            if own or not constructs:
                violations.append(violation | ({"violatingConstructs": own} if own else {}))
        if violations or not plugin.get("violations"):
            plugins.append(plugin | ({"violations": violations} if violations else {}))
    return report | {"pluginReports": plugins}


def _read_files(path: Path) -> Files:
    return {
        "" if file == path else file.relative_to(path).as_posix(): (
            file.stat().st_mode & _EXECUTABLE,
            file.read_bytes().decode("utf-8", "surrogateescape"),
        )
        for file in [path, *sorted(path.rglob("*"))]
        if file.is_file()
    }


def _write_files(path: Path, files: Files) -> None:
    for folder in sorted({(path / name).parent for name in files}):
        folder.mkdir(parents=True, exist_ok=True)
    for name, (executable, content) in files.items():
        target = path / name if name else path
        target.write_bytes(content.encode("utf-8", "surrogateescape"))
        if executable:
            target.chmod(target.stat().st_mode | executable)


def _assets(files: Files) -> Iterator[str]:
    for name, (_, content) in files.items():
        if not name.endswith(".assets.json"):
            continue
        manifest = json.loads(content)
        for kind in ("files", "dockerImages"):
            for asset in manifest.get(kind, {}).values():
                source = asset["source"].get("path") or asset["source"].get("directory") or ""
                if source.startswith("../"):
                    yield source.removeprefix("../")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)  # same format as the CDK's


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
