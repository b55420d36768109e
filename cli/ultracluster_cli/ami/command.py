"""`ultracluster ami`: pin rollouts to AMIs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron_images import IMAGE_KINDS
from ultracluster_cli.ami.session import clients_of, find_images
from ultracluster_cli.options import (
    ClustersOption,
    JsonOption,
    RolloutArgument,
    RolloutProfileOption,
    WriteOption,
)
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.images import check_image_kind
from ultracluster_stacks.config.editing.image_references import ClusterImage, cluster_images, with_images
from ultracluster_stacks.config.loading.loader import rollout_findings
from ultracluster_stacks.config.reading.source_file import read_source_file

__all__ = ["app", "resolve"]

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Find AMIs and pin rollouts to their IDs.")

_LINES = [name for name, kind in IMAGE_KINDS.items() if kind.parameter]


@app.callback()
def _group() -> None:
    """Keep `resolve` a subcommand although it is the only one."""


@app.command()
def resolve(
    rollout: RolloutArgument,
    *,
    image: Annotated[str, typer.Option(help=f"Line of AMIs: {', '.join(_LINES)}.")] = "ecs-neuron",
    parameter: Annotated[
        str | None, typer.Option(help="SSM parameter of your own with the id of an AMI, instead of --image.")
    ] = None,
    baked: Annotated[
        str | None, typer.Option(help="Name of a NeuronAmi, whose newest AMI is taken, instead of --image.")
    ] = None,
    cluster: ClustersOption = None,
    write: WriteOption = False,
    profile: RolloutProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the newest AMI for each cluster of a rollout; --write pins the rollout to it."""
    _check_choice(image, parameter, baked)
    everywhere = cluster_images(rollout)
    places, warnings = _choose(everywhere, cluster or [], neuron_only=not (parameter or baked))
    profiles = {place.loc: profile or place.profile for place in places}
    clients = {named: clients_of(named) for named in dict.fromkeys(profiles.values())}
    found = {
        (named, region): one
        for named, client in clients.items()
        for region, one in find_images(
            client,
            regions=sorted({place.region for place in places if profiles[place.loc] == named}),
            image=image,
            parameter=parameter,
            baked=baked,
        ).items()
    }
    images = {place.loc: found[profiles[place.loc], place.region] for place in places}
    warnings += [] if parameter or baked else _lacks(image)
    now = datetime.now(UTC)
    rows: list[dict[str, Any]] = [
        {
            "cluster": place.cluster,
            "region": place.region,
            "image_id_now": place.image_id or None,
            "image_id": images[place.loc].image_id,
            "name": images[place.loc].name,
            "created": images[place.loc].created.date().isoformat(),
            "age_days": images[place.loc].age_days(now),
        }
        for place in places
    ]
    if write:
        text = read_source_file(rollout)
        ids = {loc: one.image_id for loc, one in images.items()}
        new = with_images(text, places, ids, others=len(places) < len(everywhere))
        rollout.write_text(new, encoding="utf-8", newline="")
        warnings += rollout_findings(rollout)
    print_findings(warnings)
    if as_json:
        print_json({"clusters": rows, "written": write, "warnings": [str(one) for one in warnings]})
        return
    print_table(columns=list(rows[0]) if rows else [], rows=rows)
    say(f"{rollout} is written" if write else "Nothing is written; --write pins the rollout to these ids")


def _check_choice(image: str, parameter: str | None, baked: str | None) -> None:
    findings = check_image_kind(image, _LINES, path="--image")
    if parameter and baked:
        findings.append(
            Finding(
                code="UC4057", problem="got --parameter and --baked", allowed="one of them", path="--baked"
            )
        )
    if findings:
        raise FindingsError(findings)


def _choose(
    places: Sequence[ClusterImage], names: Sequence[str], *, neuron_only: bool
) -> tuple[list[ClusterImage], list[Finding]]:
    """Return the named clusters that can use an AMI for Neuron, and warnings about the others."""
    known = {place.cluster for place in places}
    if unknown := [name for name in names if name not in known]:
        raise FindingsError(
            [
                Finding(
                    code="UC4060",
                    problem=f"got {quote(name)}",
                    allowed=", ".join(sorted(known)) or "the rollout has no cluster",
                    path="--cluster",
                )
                for name in unknown
            ]
        )
    chosen, findings = [], []
    for place in places:
        machine = INSTANCE_TYPES.get(place.instance_type)  # None: one that the rollout describes
        if names and place.cluster not in names:
            continue
        if neuron_only and machine is not None and not machine.is_neuron:
            problem = f"{place.cluster} is left as it is: {machine.name} has {machine.accelerator}, no Neuron"
            remedy = "Give its AMI with --parameter and --cluster, or write it into the rollout"
            findings.append(Finding(code="UC4059", problem=problem, remedy=remedy))
        else:
            chosen.append(place)
    return chosen, findings


def _lacks(image: str) -> list[Finding]:
    kind = IMAGE_KINDS[image]
    if not kind.missing:
        return []
    return [
        Finding(
            code="UC4058",
            problem=f"{image} is not known to carry {', '.join(kind.missing)} ({kind.source}, {kind.dated})",
            remedy="Bake what is missing with NeuronAmi (docs/images.md), then resolve with --baked; nodes that lack a "
            "part that they need refuse to join",
        )
    ]
