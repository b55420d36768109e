"""The part of a cloud assembly that belongs to one cluster: taken out of one, and put together with others."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Files", "Part", "put_together", "take_apart"]

_MANIFEST = "manifest.json"
_REPORT = "validation-report.json"
_EXECUTABLE = 0o111

Files: TypeAlias = dict[str, tuple[int, str]]
"""Files below a folder by their path, with the bits that make them executable and their content. An asset that is
one file has an empty path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one cluster adds to a cloud assembly.

    Attributes:
        directory: Folder of the cluster's own assembly, such as ``assembly-training-a-us-east-2``.
        artifact: What the manifest says of it.
        files: The files of that folder.
        assets: The files of the assets that it uses, by the asset's name; they lie beside its folder.
        manifest: The manifest without any cluster: the same for all parts that fit together.
        report: What the validation of templates found in it; None if it was off.
        version: Content of the file that marks a folder as an assembly.
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
        """Whether validation had nothing to say, so that nothing is lost when it does not run again."""
        return self.report is None or not self.report["pluginReports"]


def take_apart(root: Path) -> dict[str, Part]:
    """Return the parts of an assembly by the names of their clusters' stages.

    Args:
        root: A cloud assembly whose stacks are all in stages.
    """
    manifest = json.loads((root / _MANIFEST).read_text(encoding="utf-8"))
    stages = {
        name: each for name, each in manifest["artifacts"].items() if each["type"] == "cdk:cloud-assembly"
    }
    rest = {name: each for name, each in manifest["artifacts"].items() if name not in stages}
    path = root / _REPORT
    report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    assets = {path.name: _read_files(path) for path in root.glob("asset.*")}
    return {
        artifact["properties"]["displayName"]: Part(
            directory=(directory := artifact["properties"]["directoryName"]),
            artifact=artifact,
            files=(files := _read_files(root / directory)),
            assets={name: assets[name] for name in _assets(files)},
            manifest=manifest | {"artifacts": rest},
            report=_about(report, artifact["properties"]["displayName"]),
            version=(root / "cdk.out").read_text(encoding="utf-8"),
        )
        for artifact in stages.values()
    }


def put_together(root: Path, parts: Sequence[Part]) -> None:
    """Write the assembly of several clusters, in their order.

    Args:
        root: Where to write.
        parts: At least one. What is alike in all of them is taken from the first.

    Raises:
        ValueError: If they come from assemblies that do not fit together.
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
        _write(root / _REPORT, _json(first.report | {"pluginReports": reports}))
    _write(root / "cdk.out", first.version)
    _write(root / _MANIFEST, _json(manifest))


def _about(report: dict[str, Any] | None, stage: str) -> dict[str, Any] | None:
    """What a report says of one cluster, and whatever it says without naming a construct."""
    if report is None:
        return None
    plugins = []
    for plugin in report["pluginReports"]:
        violations = []
        for violation in plugin.get("violations", []):
            named = violation.get("violatingConstructs", [])
            ours = [each for each in named if each.get("constructPath", stage).split("/")[0] == stage]
            if ours or not named:
                violations.append(violation | ({"violatingConstructs": ours} if ours else {}))
        if violations or not plugin.get("violations"):
            plugins.append(plugin | ({"violations": violations} if violations else {}))
    return report | {"pluginReports": plugins}


def _read_files(path: Path) -> Files:
    return {
        "" if each == path else each.relative_to(path).as_posix(): (
            each.stat().st_mode & _EXECUTABLE,
            each.read_bytes().decode("utf-8", "surrogateescape"),
        )
        for each in [path, *sorted(path.rglob("*"))]
        if each.is_file()
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
    return json.dumps(value, indent=2, ensure_ascii=False)  # as JSON.stringify of the CDK writes it


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
