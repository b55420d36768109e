"""`ultracluster validate`: validate a rollout file, or templates and cloud assemblies."""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_catalog.limits.service_limits import TEMPLATE_SIZE_BYTES
from ultracluster_catalog.lustre.lustre_figures import file_system_figures
from ultracluster_catalog.machines.nic_layouts import addresses_per_node
from ultracluster_cli._aws.selection import clusters_named
from ultracluster_cli._cdk.workspace import default_rollout
from ultracluster_cli.options import ClustersOption, JsonOption, refuse_cluster
from ultracluster_cli.output import echo, print_findings, print_json, print_table
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.network import addresses_of_existing_subnet, cluster_addresses, network_interfaces
from ultracluster_spec.untrusted_files import NotRegularError, TooLargeError, read_untrusted_file
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.explain import explain_rollout


def _refuse_clusters(context: typer.Context, files: list[Path] | None) -> list[Path]:
    return [refuse_cluster(context, file) for file in files or ()]


def validate(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            callback=_refuse_clusters,
            help="A rollout file, or CloudFormation templates and cloud assemblies such as cdk.out. "
            "Default: the `rollout` context value in cdk.json.",
            show_default=False,
        ),
    ] = None,
    *,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show each setting of a rollout file and where its value comes from."),
    ] = False,
    cluster: ClustersOption = None,
    region: Annotated[
        str | None, typer.Option(help="Region of the templates. Default: Region in the cloud assembly.")
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE=REASON", help="Skip a rule for templates, for a reason; repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a rollout file, or CloudFormation templates.

    Lists the clusters of a rollout file, and reports all errors with their lines. Checks templates for waste, data loss
    and open access; exports of one template are resolved in the imports of others. The content of a file decides which
    it is. Needs neither AWS nor the CDK. Warnings do not change the exit code.
    """
    paths = files or [default_rollout()]
    if any(map(is_template, paths)):
        if explain or cluster:
            raise typer.BadParameter("--explain and --cluster are for rollout files; got a template")
        # The rules for templates take longer to import than a rollout file to validate.
        from ultracluster_cli.validate_templates import validate_templates  # noqa: PLC0415 - the rules of templates

        validate_templates(paths, region=region, skip=skip or [], as_json=as_json)
        return
    if len(paths) > 1:
        raise typer.BadParameter("specify one rollout file, or templates; got several rollout files")
    if region is not None or skip:
        raise typer.BadParameter("--region and --skip are for templates; got a rollout file")
    show = _explain if explain else _validate_rollout
    show(paths[0], names=cluster or [], as_json=as_json)


def is_template(path: Path) -> bool:
    """Return whether a path is a cloud assembly, or its content that of a template rather than a rollout file."""
    if path.is_dir():
        return True
    try:
        content = read_untrusted_file(path, most_bytes=TEMPLATE_SIZE_BYTES)
    except TooLargeError:
        with path.open("rb") as file:
            content = file.read(TEMPLATE_SIZE_BYTES)
    except (OSError, NotRegularError):
        return False
    content = content.removeprefix(b"\xef\xbb\xbf")
    return _has_key(content, b"AWSTemplateFormatVersion|Resources") and not _has_key(content, b"waves")


def _has_key(content: bytes, names: bytes) -> bool:
    """Return whether a file seems to have a top-level key. It tells whole files apart without parsing them."""
    before = rb"[{,]\s*" if content.lstrip().startswith(b"{") else b"^"
    return bool(re.search(rb"""%b["']?(?:%b)["']?\s*:""" % (before, names), content, re.MULTILINE))


# Rollout files


def _validate_rollout(rollout: Path, *, names: Sequence[str], as_json: bool) -> None:
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    selected = {cluster.name for cluster in clusters_named(loaded.config.clusters(), names, rollout=rollout)}
    print_findings(loaded.unshown)
    rows = [
        {
            "wave": wave.name,
            "cluster": cluster.name,
            "region": cluster.region,
            "zone_id": cluster.zone_id,
            "instance_type": cluster.instance_type,
            "nodes": cluster.nodes,
            "market_type": cluster.capacity.market_type,
            "reservation_id": cluster.capacity.reservation_id,
            "jobs": len(cluster.jobs),
            "file_system": expected_file_system(cluster),
            "network": expected_network(cluster),
        }
        for wave in loaded.config.waves
        for cluster in wave.clusters
        if cluster.name in selected
    ]
    if as_json:
        suppressed = [{"warning": warning.finding, "reason": warning.reason} for warning in loaded.suppressed]
        warnings = (*loaded.warnings, *loaded.unshown)
        print_json(clusters=rows, warnings=warnings, suppressed=suppressed)
    else:
        echo(f"{rollout} is valid.")
        columns = [name for name in rows[0] if name not in {"file_system", "network"}]
        print_table(rows, columns=columns)
        print_table(map(network_row, rows), title="Network interfaces and addresses")
        storage = [file_system_row(row) for row in rows if row["file_system"] is not None]
        if storage:
            title = "New file systems: documented maximum performance"
            print_table(storage, title=title)


def _explain(rollout: Path, *, names: Sequence[str], as_json: bool) -> None:
    explained = clusters_named(explain_rollout(rollout), names, rollout=rollout)
    if as_json:
        print_json(clusters=[dataclasses.asdict(cluster_settings) for cluster_settings in explained])
        return
    for cluster_settings in explained:
        rows = [
            {
                "setting": value.path,
                "value": value.note
                if value.value is None and value.note
                else value.value
                if isinstance(value.value, str)
                else json.dumps(value.value, default=str),
                "source": value.given_by,
                "location": value.location,
            }
            for value in cluster_settings.values
        ]
        title = f"{cluster_settings.name} in {cluster_settings.region}, wave {cluster_settings.wave}"
        print_table(rows, title=title)


def expected_network(cluster: Cluster) -> dict[str, Any]:
    """Return the network figures of a cluster as plain values."""
    node_type, nodes = cluster.node_type, cluster.most_nodes
    interfaces = network_interfaces(node_type, cluster.network.layout)
    if cluster.network.subnet_id is None:
        addresses = cluster_addresses(
            instance_type=node_type,
            nodes=nodes,
            nic_layout=interfaces,
            endpoints=len(cluster.network.endpoints),
        )
    else:
        addresses = addresses_of_existing_subnet(
            instance_type=node_type,
            nodes=nodes,
            nic_layout=interfaces,
            file_system_interfaces=cluster.file_system.subnet_addresses,
        )
    return {
        "interfaces": len(interfaces),
        "efa_interfaces": sum(interface.has_efa for interface in interfaces),
        "card_0_taken": sum(interface.card == 0 for interface in interfaces),
        "card_0_slots": node_type.network_cards[0].max_interfaces,
        "addresses_per_node": addresses_per_node(interfaces),
        "addresses_needed": addresses,
        "addresses_free": cluster.network.available_addresses,
    }


def network_row(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the network figures of a cluster as a row of a table."""
    network = cluster["network"]
    free = "" if network["addresses_free"] is None else f" of {network['addresses_free']:,} free"
    return {
        "cluster": cluster["cluster"],
        "interfaces per node": network["interfaces"],
        "with EFA": network["efa_interfaces"],
        "slots of card 0": f"{network['card_0_taken']} of {network['card_0_slots']}, plus 1 for a task",
        "addresses per node": f"{network['addresses_per_node']}, plus 1 for a task",
        "total addresses": f"{network['addresses_needed']:,}{free}",
    }


def expected_file_system(cluster: Cluster) -> dict[str, Any] | None:
    """Return the figures of a cluster's file system as plain values; None for an existing one."""
    if not cluster.file_system.is_new:
        return None
    settings = cluster.file_system.settings
    figures = file_system_figures(
        settings, instance_type=cluster.node_type, nodes=cluster.most_nodes, region=cluster.region
    )
    amount, price = figures.usd_per_month, figures.price
    return {
        "deployment_type": settings.deployment_type,
        "storage_type": settings.storage_type,
        "storage_gib": settings.storage_capacity_gib,
        "object_servers": figures.object_servers,
        "addresses": figures.addresses,
        "baseline_mb_per_s": figures.baseline_mb_per_s,
        "write_mb_per_s": figures.write_mb_per_s,
        "node_gbps": figures.node_gbps,
        "node_mb_per_s": figures.node_mb_per_s,
        "usd_per_month": None if amount is None else float(round(amount, 2)),
        "price": f"{price.source}, {price.dated}" if amount is not None else price.reason,
        "not_priced": list(figures.not_priced),
    }


def file_system_row(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a file system as a row of a table."""
    system = cluster["file_system"]
    size = "" if system["storage_gib"] is None else f", {system['storage_gib']:,} GiB"
    amount = system["usd_per_month"]
    cost = f"{amount:,.2f} ({system['price']})" if amount is not None else f"unknown: {system['price']}"
    beside = f"; excluding {', '.join(system['not_priced'])}" if system["not_priced"] else ""
    return {
        "cluster": cluster["cluster"],
        "file system": f"{system['deployment_type']} {system['storage_type']}{size}",
        "object servers": system["object_servers"],
        "total MB/s": f"{system['baseline_mb_per_s']:,.0f}, {system['write_mb_per_s']:,.0f} writing",
        "Gbit/s of a single node": f"{system['node_gbps']:g}",
        "MB/s per node, all active": f"{system['node_mb_per_s']:,.0f}",
        "USD per month": cost + beside,
    }
