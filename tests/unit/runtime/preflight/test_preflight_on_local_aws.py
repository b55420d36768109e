"""Each check passes on a correct account, and fails on one with a single problem."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.iam.models import iam_backends
from moto.sts.models import STSBackend
from tests.unit.runtime.preflight.preflight_simulation import BLOCK, ON_DEMAND, REGION, Account, World, build

from ultracluster_local import LocalAws
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.ec2.capacity_market import capacity_market
from ultracluster_local.services.handlers import ServiceError
from ultracluster_runtime.preflight import subjects
from ultracluster_runtime.preflight.check import AnyCheck, Status
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.run import CheckResult, run_checks
from ultracluster_spec.job import Mount

pytestmark = pytest.mark.slow

NO_FILES = f"arn:aws:s3files:{REGION}:{ACCOUNT}:file-system/fs-0123456789abcdef0"
BY_CODE = {check.code: check for check in CHECKS}


@pytest.fixture(scope="module")
def world(local_aws_server: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(local_aws_server, tmp_path_factory.mktemp("preflight"))


def run_one(check: AnyCheck, selected: subjects.Account, reader: AwsReader) -> list[CheckResult]:
    return run_checks(selected, reader, checks=(check,))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_check_passes_on_a_correct_account_and_asks_aws(world: World, check: AnyCheck) -> None:
    before = world.client.sent
    results = run_one(check, world.selected, world.reader())
    sent = {call for call, number in world.client.sent.items() if number > before.get(call, 0)}

    # The local registry keeps no layers, and with them no configuration of an image.
    status = Status.SKIP if check.code == "UC9457" else Status.PASS
    assert {result.outcome.status for result in results} == {status}, results
    assert all(result.outcome.evidence and not result.outcome.remedy for result in results)
    assert sent


# How to break what a check looks at


def empty_default_group(account: Account) -> None:
    """Do what Security Hub asks for (EC2.2): a default group without rules."""
    groups = account.ec2.groups[account.world.ids["vpc_id"]].values()
    default = next(group for group in groups if group.name == "default")
    account.patch.setattr(default, "ingress_rules", [])
    account.patch.setattr(default, "egress_rules", [])


def refuse_credentials(account: Account) -> None:
    def refuse(*_: Any) -> None:
        raise ServiceError("ExpiredTokenException", "The security token included in the request is expired")

    account.patch.setattr(STSBackend, "get_caller_identity", refuse)


def switch_region_off(account: Account) -> None:
    region = next(one for one in RegionsAndZonesBackend.regions if one.name == REGION)
    account.patch.setattr(region, "opt_in_status", "not-opted-in")


def take_policies(account: Account, *, of: str) -> None:
    backend = iam_backends[ACCOUNT]["aws"]
    principals = [*backend.roles.values(), *backend.users.values()]
    account.patch.setattr(next(one for one in principals if one.name == of), "policies", {})


def allow_roles_below(account: Account, path: str) -> None:
    """The clusters' roles are under /training/, and CloudFormation may make them below a path only."""
    clusters = tuple(replace(each, role_path="/training/") for each in account.selected.clusters)
    account.selected = replace(account.selected, clusters=clusters)
    name = f"cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"
    role = next(one for one in iam_backends[ACCOUNT]["aws"].roles.values() if one.name == name)
    below = [f"arn:aws:iam::{ACCOUNT}:{kind}{path}*" for kind in ("role", "instance-profile")]
    others = [
        f"{service}:*" for service in ("batch", "dynamodb", "ec2", "fsx", "lambda", "logs", "s3", "sns")
    ]
    statements = [
        {"Effect": "Allow", "Action": [*others, "iam:CreateServiceLinkedRole"], "Resource": "*"},
        {"Effect": "Allow", "Action": "iam:*", "Resource": below},
    ]
    account.patch.setattr(role, "managed_policies", {})
    account.patch.setattr(role, "policies", {"Own": json.dumps({"Statement": statements})})


def put_job_elsewhere(account: Account, old: str, new: str) -> None:
    (job,) = account.cluster("block").jobs
    use_image(account, job.image.replace(old, new))


def use_image(account: Account, image: str) -> None:
    (job,) = account.cluster("block").jobs
    account.change("block", jobs=(replace(job, image=image),))


def name_order(account: Account, order: str) -> None:
    account.change_part("block", "capacity", order=order)


def use_small_subnet(account: Account) -> None:
    """Let six nodes, of two addresses each, be in a subnet of eleven."""
    account.change("existing", nodes=6)
    account.change_part("existing", "network", subnet_id=account.world.ids["small"])


Break = Callable[[Account], None]


BROKEN: Mapping[str, tuple[Break, Status, str]] = {
    "UC9401": (refuse_credentials, Status.FAIL, "security token"),
    "UC9402": (lambda it: it.change("spot", account="210987654321"), Status.FAIL, "spot (210987654321)"),
    "UC9403": (
        lambda it: setattr(it, "now_ahead", timedelta(minutes=6)),
        Status.FAIL,
        "clocks of this machine and AWS differ",
    ),
    "UC9404": (switch_region_off, Status.FAIL, "not-opted-in"),
    "UC9405": (
        lambda it: setattr(it, "selected", replace(it.selected, qualifier="other")),
        Status.FAIL,
        "not bootstrapped with the qualifier other",
    ),
    "UC9406": (lambda it: it.hide_role("AWSServiceRoleForBatch"), Status.WARN, "AWS Batch creates it"),
    "UC9407": (
        lambda it: it.hide_role("AWSServiceRoleForEC2Spot"),
        Status.FAIL,
        "Spot Instances cannot be requested",
    ),
    "UC9408": (lambda it: it.hide_role("AWSServiceRoleForAmazonFSx"), Status.WARN, "Amazon FSx creates it"),
    "UC9409": (lambda it: take_policies(it, of="deployer"), Status.FAIL, "implicitDeny"),
    "UC9410": (
        lambda it: take_policies(it, of=f"cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"),
        Status.FAIL,
        "may not batch:CreateComputeEnvironment",
    ),
    "UC9411": (
        lambda it: it.patch.setattr(capacity_market(REGION), "block_quota_vcpus", 383),
        Status.WARN,
        "384 of 383",
    ),
    "UC9412": (lambda it: it.set_quota("ec2", "L-2C3B7624", 511), Status.FAIL, "512 needed = 512 of 511"),
    "UC9413": (lambda it: it.set_quota("ec2", "L-6B0D517C", 127), Status.FAIL, "128 needed = 128 of 127"),
    "UC9414": (lambda it: it.set_quota("batch", "L-144F0CA5", 4), Status.FAIL, "5 of 4"),
    "UC9415": (lambda it: it.set_quota("batch", "L-4CEA37AD", 3), Status.FAIL, "4 of 3"),
    "UC9416": (lambda it: it.set_quota("fsx", "L-8F1B9C74", 10_799), Status.FAIL, "10,800 of 10,799"),
    "UC9417": (lambda it: it.set_quota("vpc", "L-F678F1CE", 4), Status.FAIL, "2 used + 3 needed = 5 of 4"),
    "UC9418": (lambda it: it.set_quota("vpc", "L-DF5E4CA3", 500), Status.FAIL, "of 500"),
    "UC9419": (lambda it: it.set_quota("vpc", "L-1B52E74A", 3), Status.FAIL, "1 used + 3 needed = 4 of 3"),
    "UC9460": (lambda it: it.set_quota("lambda", "L-B99A9384", 2), Status.FAIL, "needed = "),
    "UC9461": (
        lambda it: it.change("spot", scratch_path="/scratch"),
        Status.WARN,
        "as an older version of it",
    ),
    "UC9420": (lambda it: it.change("spot", zone_id="use2-az9"), Status.FAIL, "no zone use2-az9"),
    "UC9421": (lambda it: it.change("demand", zone_id="use2-az1"), Status.FAIL, "not in use2-az1"),
    "UC9422": (
        lambda it: it.change_part("block", "capacity", reservation_id="cr-0000000000000000f"),
        Status.FAIL,
        "no reservation cr-0000000000000000f",
    ),
    "UC9423": (lambda it: it.set_segment(zone_id="use2-az1"), Status.FAIL, "it is in use2-az1"),
    "UC9424": (lambda it: it.set_segment(instance_type="trn1.32xlarge"), Status.FAIL, "it is for trn1"),
    "UC9425": (lambda it: it.set_reservation(BLOCK, platform="Windows"), Status.FAIL, "it is for Windows"),
    "UC9426": (lambda it: it.set_segment(count=1), Status.FAIL, "it holds 1 instances; the cluster needs 2"),
    "UC9427": (
        lambda it: it.set_reservation(BLOCK, forced_state="payment-failed"),
        Status.FAIL,
        "it is payment-failed",
    ),
    "UC9428": (
        lambda it: it.change_part("block", "capacity", end=it.world.now),
        Status.FAIL,
        "the rollout says",
    ),
    "UC9429": (
        lambda it: it.set_reservation(BLOCK, settings={"Tenancy": "dedicated"}),
        Status.FAIL,
        "its tenancy is dedicated",
    ),
    "UC9430": (
        lambda it: it.set_reservation(BLOCK, settings={"OwnerId": "210987654321"}),
        Status.WARN,
        "shared with 123456789012",
    ),
    "UC9431": (
        lambda it: it.set_reservation(BLOCK, block_id=""),
        Status.FAIL,
        "On-Demand Capacity Reservation",
    ),
    "UC9432": (
        lambda it: it.set_reservation(
            ON_DEMAND, settings={"PlacementGroupArn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:placement-group/near"}
        ),
        Status.FAIL,
        "it is in near; the rollout says none",
    ),
    "UC9433": (
        lambda it: it.patch.setitem(capacity_market(REGION).unavailable, BLOCK, 1),
        Status.WARN,
        "1 of 2 instances are free",
    ),
    "UC9434": (
        lambda it: it.change("demand", nodes=3),
        Status.FAIL,
        "they hold 2 instances, the cluster needs 3",
    ),
    "UC9435": (
        lambda it: it.change_part("existing", "network", subnet_id=it.world.ids["elsewhere"]),
        Status.FAIL,
        "it is in use2-az1; the capacity is in use2-az3",
    ),
    "UC9436": (
        use_small_subnet,
        Status.FAIL,
        "11 addresses are free; the cluster needs 12",
    ),
    "UC9437": (
        lambda it: it.patch.setattr(
            it.ec2.get_subnet(it.world.ids["subnet_id"]), "map_public_ip_on_launch", True
        ),
        Status.FAIL,
        "it assigns public addresses",
    ),
    "UC9438": (
        lambda it: it.patch.setattr(it.ec2.vpc_end_points[it.world.ids["gateway"]], "route_table_ids", []),
        Status.FAIL,
        "there is no route to S3",
    ),
    "UC9439": (
        lambda it: it.patch.setattr(
            it.ec2.vpc_end_points[it.world.ids["endpoint"]], "private_dns_enabled", False
        ),
        Status.FAIL,
        "there is no route to ecr.api; without private DNS: ecr.api",
    ),
    "UC9440": (
        lambda it: it.patch.setattr(it.ec2.vpcs[it.world.ids["vpc_id"]], "enable_dns_hostnames", False),
        Status.FAIL,
        "DNS hostnames disabled",
    ),
    "UC9441": (
        lambda it: it.change_part("existing", "network", security_group_id=it.world.ids["bare"]),
        Status.FAIL,
        "no inbound and no outbound rule",
    ),
    "UC9458": (
        empty_default_group,
        Status.FAIL,
        "HTTPS out; endpoints do not let it in on port 443: ecr.api, ecr.dkr",
    ),
    "UC9459": (
        lambda it: it.change("block", zone_id="use2-az9"),
        Status.FAIL,
        "use2-az9 has no endpoint service for ecr.api, ecr.dkr, ecs",
    ),
    "UC9442": (
        lambda it: it.change("spot", image_id="ami-00000000000000000"),
        Status.FAIL,
        "visible to this account",
    ),
    "UC9443": (lambda it: it.set_ami(architecture="arm64"), Status.FAIL, "it is for arm64"),
    "UC9444": (lambda it: it.set_ami(name="ubuntu-neuron"), Status.WARN, "does not contain ecs"),
    "UC9445": (
        lambda it: it.set_ami(deprecation_time="2026-01-01T00:00:00.000Z"),
        Status.WARN,
        "deprecated since 2026-01-01",
    ),
    "UC9481": (
        lambda it: it.change("block", submitters=(f"arn:aws:iam::{ACCOUNT}:role/nobody",)),
        Status.FAIL,
        "this account has no such role",
    ),
    "UC9480": (
        lambda it: it.set_ami(root_device_name="/dev/sda1"),
        Status.FAIL,
        "its root device is /dev/sda1",
    ),
    "UC9446": (lambda it: put_job_elsewhere(it, "training", "nothing"), Status.FAIL, "no repository nothing"),
    "UC9447": (lambda it: put_job_elsewhere(it, "2026-11-20", "none"), Status.FAIL, "it does not exist"),
    "UC9448": (
        lambda it: it.change_part("existing", "checkpoints", bucket_name="preflight-elsewhere"),
        Status.WARN,
        "is in us-west-2, the cluster in us-east-2",
    ),
    "UC9449": (
        lambda it: it.change_part("existing", "checkpoints", bucket_name="preflight-public"),
        Status.FAIL,
        "the policy makes",
    ),
    "UC9450": (
        lambda it: it.patch.setattr(it.key, "key_state", "PendingDeletion"),
        Status.FAIL,
        "PendingDeletion",
    ),
    "UC9451": (
        lambda it: it.patch.setattr(it.key, "policy", '{"Statement": []}'),
        Status.WARN,
        "does not delegate access to the IAM policies of 123456789012",
    ),
    "UC9452": (lambda it: it.set_file_system(Lifecycle="MISCONFIGURED"), Status.FAIL, "it is MISCONFIGURED"),
    "UC9453": (
        lambda it: it.set_file_system(SubnetIds=[it.world.ids["elsewhere"]]),
        Status.FAIL,
        "it is in use2-az1, the nodes in use2-az3",
    ),
    "UC9482": (
        lambda it: it.change(
            "block",
            jobs=(replace(it.cluster("block").jobs[0], mounts=(Mount(source=NO_FILES, path="/corpus"),)),),
        ),
        Status.FAIL,
        "has no arn:aws:s3files",
    ),
    "UC9454": (
        lambda it: it.change_part("existing", "file_system", security_group_id=it.world.ids["bare"]),
        Status.FAIL,
        "to which the rules are added",
    ),
    "UC9456": (lambda it: name_order(it, "waiting"), Status.FAIL, "the order waiting is APPROVED"),
}


def test_every_check_has_a_case_that_breaks_it() -> None:
    assert (
        BROKEN.keys() | {"UC9457"} == BY_CODE.keys()
    )  # test_images.py has layers, in which an ENTRYPOINT is
    assert len(CHECKS) == len(BY_CODE) > 50


@pytest.mark.parametrize("code", BROKEN)
def test_check_detects_its_problem(world: World, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    breaks, status, fragment = BROKEN[code]
    account = Account(world=world, patch=monkeypatch, selected=world.selected)
    breaks(account)
    results = run_one(BY_CODE[code], account.selected, world.reader(now=world.now + account.now_ahead))
    wrong = [result.outcome for result in results if result.outcome.status is not Status.PASS]

    assert wrong
    for outcome in wrong:
        assert outcome.status is status, outcome
        assert fragment in outcome.evidence
        assert outcome.remedy
        assert not outcome.evidence.startswith(("no answer", "unexpected response"))


# The other sides of what checks look at


def route_to_anywhere(account: Account) -> None:
    """Close the endpoints, and let the subnet's route to anywhere lead elsewhere."""
    endpoints = account.ec2.vpc_end_points
    account.patch.setattr(endpoints[account.world.ids["gateway"]], "route_table_ids", [])
    account.patch.setattr(endpoints[account.world.ids["endpoint"]], "state", "deleting")
    account.add_route()


def name_group(account: Account, name: str) -> None:
    arn = f"arn:aws:resource-groups:{REGION}:{ACCOUNT}:group/{name}"
    (group,) = account.cluster("demand").additional_capacity
    account.change("demand", additional_capacity=(replace(group, resource_group_arn=arn),))


def use_addresses(account: Account) -> None:
    use_small_subnet(account)
    account.local_stack("existing-us-east-2-Cluster")


OTHER_SIDES: list[tuple[str, str, Break, Status, str]] = [
    ("UC9409", "role that is unknown", lambda it: it.forget_user(), Status.WARN, "IAM cannot simulate"),
    (
        "UC9410",
        "roles below the path",
        lambda it: allow_roles_below(it, "/training/"),
        Status.PASS,
        "may create all",
    ),
    (
        "UC9410",
        "roles below another",
        lambda it: allow_roles_below(it, "/web/"),
        Status.FAIL,
        "may not iam:Add",
    ),
    ("UC9417", "deployed already", lambda it: it.deploy_all(), Status.SKIP, "the rollout adds nothing"),
    ("UC9434", "no group", lambda it: name_group(it, "nothing"), Status.FAIL, "the resource group"),
    ("UC9436", "deployed already", use_addresses, Status.WARN, "may be its own"),
    ("UC9438", "a NAT gateway", route_to_anywhere, Status.WARN, "billed per GB"),
    (
        "UC9439",
        "a NAT gateway",
        route_to_anywhere,
        Status.PASS,
        "ecr.api are reached through nat-",
    ),
    (
        "UC9446",
        "a public image",
        lambda it: use_image(it, "public.ecr.aws/neuron/x:1"),
        Status.WARN,
        "not in a private registry",
    ),
    (
        "UC9448",
        "no bucket",
        lambda it: it.change_part("existing", "checkpoints", bucket_name="preflight-none"),
        Status.FAIL,
        "the bucket preflight-none does not exist",
    ),
    (
        "UC9444",
        "Amazon Linux 2",
        lambda it: it.set_ami(name="amzn2-ami-ecs-inf-hvm-2.0.20250923-x86_64-ebs"),
        Status.FAIL,
        "it is of Amazon Linux 2",
    ),
    (
        "UC9481",
        "a role of that name in another account",
        lambda it: it.change(
            "block",
            submitters=(f"arn:aws:iam::999999999999:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}",),
        ),
        Status.FAIL,
        "would get the permission to submit jobs",
    ),
    (
        "UC9460",
        "a quota of a new account",
        lambda it: it.set_quota("lambda", "L-B99A9384", 10),
        Status.WARN,
        "which all functions of the account share",
    ),
]


@pytest.mark.parametrize("other", OTHER_SIDES, ids=[f"{code}-{case}" for code, case, *_ in OTHER_SIDES])
def test_check_reports_other_outcomes(
    world: World, monkeypatch: pytest.MonkeyPatch, other: tuple[str, str, Break, Status, str]
) -> None:
    code, _, change, status, fragment = other
    account = Account(world=world, patch=monkeypatch, selected=world.selected)
    with account.after:
        change(account)
        results = run_one(BY_CODE[code], account.selected, world.reader())
    assert any(
        result.outcome.status is status and fragment in result.outcome.evidence for result in results
    ), results
