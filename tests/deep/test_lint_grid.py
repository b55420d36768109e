"""The whole grid of clusters in every Region where their machines are: cfn-lint and the CDK's own validator find nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cloudformation_validate as validate
import pytest
from tests.deep.conftest import Tried
from tests.grid import lint
from tests.grid.dimensions import DIMENSIONS, ROWS, placed
from tests.grid.pairs import Row

from ultracluster_catalog.capacity.capacity_blocks import block_regions
from ultracluster_catalog.places.zones import ZONE_ID_PREFIXES, offered_zones, region_of_zone_id
from ultracluster_cli.records import ALL_RECORDS
from ultracluster_local.deploy import read_assembly
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.record import is_error
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.deep

MACHINES: Mapping[str, Mapping[str, Any]] = DIMENSIONS["machine"]


def zones_of(machine: str) -> Mapping[str, str]:
    """A zone for each Region where a type is offered, or sold as a block; of one's own type the Region that it has."""
    part = MACHINES[machine]
    prefixes = {region: prefix for prefix, region in ZONE_ID_PREFIXES.items()}
    # No zone of GovCloud is in the catalogue, so no rollout can name one.
    sold = {
        region: f"{prefixes[region]}-az1"
        for region in block_regions(part["instance_type"])
        if region in prefixes
    }
    offered = {region_of_zone_id(zone): zone for zone in offered_zones(part["instance_type"])}
    return sold | offered | {part["region"]: part["zone_id"]}


REGIONS = sorted({region for machine in MACHINES for region in zones_of(machine)})


@pytest.mark.parametrize("region", REGIONS)
def test_the_grid_is_clean_in_a_region(region: str, tmp_path: Path, tried: Tried) -> None:
    rows = [row for row in ROWS if region in zones_of(row["machine"])]
    clusters = [found for row in rows if (found := loaded(row, region, tmp_path))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")  # below, with the Region
        synthesize(clusters, tmp_path / "cdk.out")
    stacks = read_assembly(tmp_path / "cdk.out")
    templates = [(stack.name, stack.region, stack.template.read_text("utf-8")) for stack in stacks]
    tried(
        "lint grid",
        f"{region}: {len(templates)} templates of {len(clusters)} clusters by two judges; {len(rows) - len(clusters)} refused",
    )

    assert len(templates) == 3 * len(clusters) > 0
    assert {stack.region for stack in stacks} == {region}
    assert lint.problems(templates) == []
    assert validated(templates) == []


def test_the_grid_has_every_row_in_some_region(tried: Tried) -> None:
    rows = [row for row in ROWS if set(zones_of(row["machine"])) & set(REGIONS)]
    pairs = sum(len(zones_of(row["machine"])) for row in ROWS)
    tried("lint grid", f"{len(rows)} clusters, {pairs} pairs of cluster and Region, {len(REGIONS)} Regions")

    assert len(rows) == len(ROWS) >= 60


def loaded(row: Row, region: str, folder: Path) -> Cluster | None:
    """A row as a cluster of a Region. None where the rollout file is refused, since the zone has no smaller node to compile on."""
    part, index = MACHINES[row["machine"]], ROWS.index(row)
    there = {"VPC": f"vpc-{index:017x}", "SUBNET": f"subnet-{index:017x}", "GROUP": f"sg-{index:017x}"}
    wanted = placed(row, region=region, **there) | {"image_id": f"ami-{REGIONS.index(region):017x}"}
    text = json.dumps(wanted).replace(part["zone_id"], zones_of(row["machine"])[region])
    moved = json.loads(text) | {"region": region}
    path = folder / "rollout.yaml"
    path.write_text(json.dumps({"version": 1, "waves": [{"name": "grid", "clusters": [moved]}]}))
    try:
        (found,) = load_rollout(path).config.waves[0].clusters
    except FindingsError as error:
        errors = {finding.code for finding in error.findings if is_error(finding, ALL_RECORDS)}
        assert errors == {"UC6116"}, error  # noqa: PT017 - every other one loads
        return None
    return found


def validated(templates: list[tuple[str, str, str]]) -> list[str]:
    """What the validator has against templates, warnings included.

    `Function` of the CDK depends on its role, which it also names (W3005); the validator does not read cfn-lint's metadata.
    """
    engine = validate.CompositeEngine()
    found = []
    for name, region, text in templates:
        place = validate.PseudoParameterOverrides(region=region)
        report = engine.validate_template(
            text.encode(), validate.ValidateConfig(pseudo_parameter_overrides=place)
        )
        found += [
            f"{name}: {each.rule_id} {each.message}"
            for each in report.diagnostics
            if each.severity.value >= validate.Severity.WARN.value
            and not (each.rule_id == "W3005" and "'Properties.Role'" in each.message)
        ]
    return found
