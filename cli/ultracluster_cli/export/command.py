"""`ultracluster export`: export CloudFormation templates."""

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._cdk.toolchain import open_project
from ultracluster_cli._cdk.workspace import rollout_file
from ultracluster_cli.options import JsonOption, RolloutArgument, WaveOption
from ultracluster_cli.output import echo, print_json, print_table
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_cli.project.project_files import require_empty
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.export import exported_template, stack_set_template, text_of

_LONGEST_BODY = 51_200  # maximum bytes of TemplateBody; larger templates need TemplateURL
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # reproducible archives


def export(
    rollout: RolloutArgument,
    *,
    output: Annotated[Path, typer.Option(help="Output folder, new or empty.")],
    bucket: Annotated[
        str | None, typer.Option(help="Default of the AssetBucket parameter, the bucket for OUTPUT/assets.")
    ] = None,
    wave: WaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export CloudFormation templates for teams that deploy without the CDK.

    Writes templates with parameters, without using an account.
    """
    file = rollout_file(rollout)
    _, clusters = load_clusters(rollout, wave=wave)
    require_empty(output)
    with open_project() as project:
        assembly = project.temporary / "export"
        project.synthesize(assembly, rollout=file, wave=wave, environment=os.environ)
        rows = export_assembly(assembly, clusters, output=output, bucket=bucket)
    if as_json:
        print_json(templates=rows)
    else:
        print_table(rows, title=f"Written to {output}")
        echo(
            "Deploy the templates of a cluster in this order: network, storage, cluster. See `ultracluster docs export`."
        )


def export_assembly(
    assembly: Path, clusters: list[Cluster], *, output: Path, bucket: str | None
) -> list[dict[str, Any]]:
    """Write the templates and assets of a cloud assembly, or nothing if one cannot be exported; return a row for each."""
    stacks = assembled_stacks(assembly)
    exported: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for cluster in clusters:
        exported[cluster.stage] = [
            (
                stack.name.removeprefix(f"{cluster.stage}-"),
                exported_template(
                    stack.template, values=_values(cluster), region=cluster.region, bucket=bucket
                ),
            )
            for stack in stacks
            if stack.cluster == cluster.stage
        ]
    rows = []
    for cluster, templates in zip(clusters, exported.values(), strict=True):
        folder = output / cluster.stage
        folder.mkdir(parents=True)
        for part, template in templates:
            path = folder / f"{part.lower()}.template.json"
            path.write_text(text_of(template) + "\n", encoding="utf-8")
            rows.append(_row(path, template))
        combined = stack_set_template(folder.name, templates, region=cluster.region)
        path = folder / "stack-sets.template.json"
        path.write_text(json.dumps(combined, indent=2) + "\n", encoding="utf-8")
        rows.append(_row(path, combined))
    folders = {stack.assembly for stack in stacks if stack.assembly}
    assets = dict(asset for folder in folders for asset in _assets_of(folder))
    for name, source in sorted(assets.items()):
        (output / "assets").mkdir(exist_ok=True)
        _zip_folder(source, output / "assets" / name)
    return rows


def _values(cluster: Cluster) -> dict[str, str]:
    """Return the parameter name of each value, such as ReservationId and ReservationId2 for two reservations."""
    values = {cluster.image_id: "ImageId", cluster.zone_id: "ZoneId"}
    reservations = (capacity.reservation_id for _, capacity in cluster.sources() if capacity.reservation_id)
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


def _assets_of(assembly: Path) -> Iterator[tuple[str, Path]]:
    """Yield the key of each asset of a cloud assembly, and its folder."""
    for path in assembly.glob("*.assets.json"):
        for asset in json.loads(path.read_text("utf-8")).get("files", {}).values():
            if asset["source"].get("packaging") == "zip":
                for destination in asset["destinations"].values():
                    yield destination["objectKey"], assembly / asset["source"]["path"]


def _zip_folder(source: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                info = zipfile.ZipInfo(path.relative_to(source).as_posix(), date_time=_NO_TIME)
                info.external_attr = 0o644 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, path.read_bytes())
