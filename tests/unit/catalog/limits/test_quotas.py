import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_REGIONS
from ultracluster_catalog.limits.quotas import (
    ON_DEMAND_QUOTAS,
    SPOT_QUOTAS,
    capacity_block_quota,
    on_demand_quota,
)
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.instance_type import get_instance_type


def test_every_type_that_is_sold_as_a_block_has_its_quotas() -> None:
    assert {name for name, row in INSTANCE_TYPES.items() if capacity_block_quota(row)} >= set(BLOCK_REGIONS)


@pytest.mark.parametrize(
    ("name", "blocks", "on_demand", "spot"),
    [
        ("trn1.32xlarge", "L-2E30FD7D", "L-2C3B7624", "L-6B0D517C"),
        ("trn2.48xlarge", "L-64569A79", "L-2C3B7624", "L-6B0D517C"),
        ("trn2.3xlarge", "L-64569A79", "L-2C3B7624", "L-6B0D517C"),
        ("p5en.48xlarge", "L-4F9BB70B", "L-417A185B", "L-7212CCBC"),
        ("p6-b200.48xlarge", "L-8B23CEF3", "L-417A185B", "L-7212CCBC"),
        ("inf2.xlarge", None, "L-1945791B", "L-B5D1601B"),
        ("trn1n.32xlarge", None, "L-2C3B7624", "L-6B0D517C"),
        (
            "trn2u.48xlarge",
            None,
            "L-2C3B7624",
            "L-6B0D517C",
        ),  # which one counts UltraServers is not documented
    ],
)
def test_finds_the_quota_that_a_type_counts_against(
    name: str, blocks: str | None, on_demand: str, spot: str
) -> None:
    row = get_instance_type(name)
    quota = capacity_block_quota(row)
    assert (quota.code if quota else None) == blocks
    assert on_demand_quota(row).code == on_demand
    assert {ON_DEMAND_QUOTAS[family].code: quota.code for family, quota in SPOT_QUOTAS.items()}[
        on_demand
    ] == spot


def test_gives_a_command_with_the_parameters_of_the_service_quotas_api(
    botocore_shapes: Callable[[str], Mapping[str, Any]],
) -> None:
    quota = capacity_block_quota(get_instance_type("trn2.48xlarge"))
    assert quota
    program, service, operation, *options = shlex.split(
        quota.request_command(value=4 * 192, region="us-east-2")
    )
    given = dict(zip(options[::2], options[1::2], strict=True))

    assert (program, service, operation) == ("aws", "service-quotas", "request-service-quota-increase")
    assert given.pop("--region") == "us-east-2"
    assert given == {"--service-code": "ec2", "--quota-code": "L-64569A79", "--desired-value": "768"}
    request = botocore_shapes("service-quotas/2019-06-24")["RequestServiceQuotaIncreaseRequest"]
    assert {"--" + re.sub(r"(?<!^)([A-Z])", r"-\1", member).lower() for member in request["required"]} == set(
        given
    )
