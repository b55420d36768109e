"""Exports a rollout: synthesize, turn what differs between places into parameters, write templates and assets."""

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._cdk.cdk_synthesis import synthesize_into
from ultracluster_cli._cdk.toolchain import find_toolchain
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_cli.plan.stacks import AssembledStack, assembled_stacks
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.export import exported_template, stack_set_template, text_of

__all__ = ["export_assembly", "export_rollout"]

_LONGEST_BODY = 51_200  # bytes of TemplateBody; a larger one is passed as TemplateURL
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the same input gives the same bytes


def export_rollout(
    *,
    directory: Path,
    rollout: Path | None,
    output: Path,
    bucket: str | None,
    wave: str | None,
    as_json: bool,
) -> None:
    """Write the templates of a rollout and say what was written.

    Args:
        directory: Folder of the CDK app.
        rollout: The rollout file. None for the one that cdk.json names.
        output: Folder to write.
        bucket: Default of the parameter for the bucket with assets. None for none.
        wave: Name of the one wave. None for all.
        as_json: Print JSON instead of a table.

    Raises:
        FindingsError: If the rollout is wrong, the folder is not empty (UC9611), cdk synth fails (UC9201), or a
            template cannot be exported (UC9610, UC9612).
    """
    rollout = rollout_file(directory, rollout)
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    clusters = clusters_of(loaded.config, wave)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        problem = f"{quote(str(output))} exists and is not empty"
        raise FindingsError([Finding(code="UC9611", problem=problem, remedy="Name a new folder")])
    state = state_directory(directory)
    with run_directory(state) as temporary:
        synthesize_into(
            temporary / "export",
            toolchain=find_toolchain(directory),
            directory=directory,
            rollout=rollout,
            wave=wave,
            temporary=temporary,
            environment=os.environ,
        )
        rows = export_assembly(temporary / "export", clusters, output=output, bucket=bucket)
    if as_json:
        print_json({"templates": rows})
    else:
        print_table(columns=list(rows[0]), rows=rows, title=f"Written to {output}")
        say("Deploy the templates of a cluster in this order: network, storage, cluster. See docs/export.md.")


def export_assembly(
    assembly: Path, clusters: list[ClusterConfig], *, output: Path, bucket: str | None
) -> list[dict[str, Any]]:
    """Write the templates and assets of a cloud assembly.

    Args:
        assembly: The cloud assembly.
        clusters: The clusters that it was synthesized from.
        output: Folder to write.
        bucket: Default of the parameter for the bucket with assets. None for none.

    Returns:
        A row for each template.

    Raises:
        FindingsError: If a template cannot be exported (UC9610, UC9612). Nothing is written then.
    """
    stacks = assembled_stacks(assembly)
    exported: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for cluster in clusters:
        exported[cluster.stage] = [
            (
                one.stack.name.removeprefix(f"{cluster.stage}-"),
                exported_template(
                    one.stack.template, values=_values(cluster), region=cluster.region, bucket=bucket
                ),
            )
            for one in stacks
            if one.stack.cluster == cluster.stage
        ]
    rows = []
    for cluster, templates in zip(clusters, exported.values(), strict=True):
        folder = output / cluster.stage
        folder.mkdir(parents=True)
        for part, template in templates:
            path = folder / f"{part.lower()}.template.json"
            path.write_text(text_of(template) + "\n", encoding="utf-8")
            rows.append(_row(path, template))
        whole = stack_set_template(folder.name, templates, region=cluster.region)
        path = folder / "stack-sets.template.json"
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
        rows.append(_row(path, whole))
    for name, source in sorted(_assets(stacks).items()):
        (output / "assets").mkdir(exist_ok=True)
        _pack(source, output / "assets" / name)
    return rows


def _values(cluster: ClusterConfig) -> dict[str, str]:
    """What becomes a parameter; the first source of capacity gives ReservationId, the next ReservationId2."""
    values = {cluster.image_id: "ImageId", cluster.zone_id: "ZoneId"}
    reservations = (each.reservation_id for _, each in cluster.sources() if each.reservation_id)
    for number, reservation in enumerate(dict.fromkeys(reservations), start=1):
        values[reservation] = "ReservationId" + (str(number) if number > 1 else "")
    return values


def _row(path: Path, template: dict[str, Any]) -> dict[str, Any]:
    size = path.stat().st_size
    return {
        "template": f"{path.parent.name}/{path.name}",
        "bytes": size,
        "resources": len(template["Resources"]),
        "parameters": ", ".join(template.get("Parameters") or {}) or None,
        "pass_as": "body or URL" if size <= _LONGEST_BODY else "URL",
    }


def _assets(stacks: list[AssembledStack]) -> dict[str, Path]:
    """Where the code of functions is, by the key that the templates name."""
    return dict(found for stack in stacks for found in _assets_of(stack))


def _assets_of(one: AssembledStack) -> Iterator[tuple[str, Path]]:
    if one.stack.assembly is None:
        return
    for path in one.stack.assembly.glob("*.assets.json"):
        for asset in json.loads(path.read_text("utf-8")).get("files", {}).values():
            if asset["source"].get("packaging") == "zip":
                for destination in asset["destinations"].values():
                    yield destination["objectKey"], one.stack.assembly / asset["source"]["path"]


def _pack(source: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                info = zipfile.ZipInfo(path.relative_to(source).as_posix(), date_time=_NO_TIME)
                info.external_attr = 0o644 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, path.read_bytes())
