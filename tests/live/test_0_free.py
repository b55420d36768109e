"""Tier 0: nothing is created and nothing is paid. Reads, simulations, and requests that AWS refuses before it acts."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from tests.live.policies import check_policy
from tests.live.question import live as question
from tests.live.question import untested
from tests.live.session import Live
from tests.security.roles import ROLES

from ultracluster_catalog.capacity.capacity_blocks import BLOCK_REGIONS
from ultracluster_catalog.limits.quotas import CAPACITY_BLOCK_QUOTAS, ON_DEMAND_QUOTAS, SPOT_QUOTAS
from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron_images import IMAGE_KINDS
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_catalog.prices.prices import ON_DEMAND_PRICES, BillableItem
from ultracluster_cli.preflight.requirements import rollout_requirements
from ultracluster_runtime.costs.price_list import listed_prices
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.reader import ALLOWED_CALLS, AwsReader
from ultracluster_runtime.preflight.run import run_checks
from ultracluster_runtime.purchasing.aws_errors import classify_read_error, is_zero_quota
from ultracluster_stacks.config import load_rollout

ROOT = Path(__file__).parents[2]
SIX_MINUTES = 360
_UNANSWERED = ("no answer", "unexpected response of AWS")


@question("L107", tier=0, minutes=1, checks=["UC9421"])
def test_ec2_describes_instance_types_as_the_catalogue_does(live: Live) -> None:
    """Does EC2 describe the instance types as the catalogue does?

    Calls `DescribeInstanceTypes` for every type in the catalogue that the Region offers. Passes when vCPUs, memory, network cards and EFA interfaces match the
    catalogue, and the Region offers at least one Trainium type.
    """
    ec2 = live.client("ec2")
    names = sorted(INSTANCE_TYPES)
    offered = ec2.describe_instance_type_offerings(Filters=[{"Name": "instance-type", "Values": names}])
    here = sorted({each["InstanceType"] for each in offered["InstanceTypeOfferings"]})
    assert any(name.startswith("trn") for name in here), f"no Trainium type in {live.region}: {here}"
    different = []
    for described in ec2.describe_instance_types(InstanceTypes=here)["InstanceTypes"]:
        known = INSTANCE_TYPES[described["InstanceType"]]
        network = described["NetworkInfo"]
        pairs = {
            "vCPUs": (described["VCpuInfo"]["DefaultVCpus"], known.vcpus),
            "memory": (described["MemoryInfo"]["SizeInMiB"], known.memory_mib),
            "network cards": (network["MaximumNetworkCards"], len(known.network_cards)),
            "EFA interfaces": (
                network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
                known.efa_interfaces,
            ),
        }
        different += [
            f"{known.name}: {what} {ours}, EC2 {aws}" for what, (aws, ours) in pairs.items() if aws != ours
        ]
    assert different == [], "; ".join(different)
    live.note(types=here)


@question("L108", tier=0, minutes=1, checks=["UC9459"])
def test_zones_of_trainium_have_the_endpoint_services(live: Live) -> None:
    """Does each zone with Trainium have the endpoint services that a cluster without internet access needs?

    Compares `DescribeVpcEndpointServices` for the services of a `ClusterNetwork` with the zones in `DescribeInstanceTypeOfferings`. Passes when each zone with
    a Trainium type has all the services. Otherwise note the zone, which UC9459 refuses.
    """
    ec2 = live.client("ec2")
    names = [f"com.amazonaws.{live.region}.{service}" for service in (*NODE_SERVICES, "s3")]
    zones = ec2.describe_availability_zones()["AvailabilityZones"]
    offered = ec2.describe_instance_type_offerings(
        LocationType="availability-zone",
        Filters=[{"Name": "instance-type", "Values": ["trn1.2xlarge", "trn1.32xlarge", "trn2.*"]}],
    )["InstanceTypeOfferings"]
    trainium = {each["Location"] for each in offered}
    assert trainium <= {each["ZoneName"] for each in zones}
    assert trainium, f"no zone of {live.region} offers Trainium"
    services = ec2.describe_vpc_endpoint_services(ServiceNames=names)["ServiceDetails"]
    missing = {
        f"{service['ServiceName']} in {zone}"
        for service in services
        for zone in trainium
        if zone not in service["AvailabilityZones"]
    }
    assert len(services) >= len(names), f"not all of {names}"
    assert not missing, f"no endpoint service: {', '.join(sorted(missing))}"
    live.note(zones=sorted(trainium))


@question("L109", tier=0, minutes=1, checks=["UC9442", "UC9444"])
def test_public_parameters_name_amis(live: Live) -> None:
    """Do the public parameters of the AMIs exist, and does each name an AMI owned by Amazon?

    Calls `GetParameter` for each SSM parameter in `ultracluster_catalog.neuron.neuron_images`, then `DescribeImages`. Passes when each image is available and
    its owner is Amazon.
    """
    ssm, ec2 = live.client("ssm"), live.client("ec2")
    found = {}
    for kind in IMAGE_KINDS.values():
        if kind.parameter:
            value = ssm.get_parameter(Name=kind.parameter)["Parameter"]["Value"]
            found[kind.name] = json.loads(value)["image_id"] if value.startswith("{") else value
    images = ec2.describe_images(ImageIds=sorted(set(found.values())))["Images"]
    owners = {each["ImageId"]: (each["State"], each.get("ImageOwnerAlias", "")) for each in images}
    wrong = {
        name: owners.get(image)
        for name, image in found.items()
        if owners.get(image) != ("available", "amazon")
    }
    assert wrong == {}, f"not an available AMI of Amazon: {wrong}"
    live.note(**found)


@question("L35", tier=0, minutes=5)
def test_a_search_without_quota_says_so_and_a_rate_limit_does_not(live: Live) -> None:
    """Can a search that is refused for lack of quota be distinguished from a throttled one?

    Calls `DescribeCapacityBlockOfferings` for the largest blocks of several types until one search is refused for lack of quota, then fifty searches as fast as
    possible. Passes when `is_zero_quota` is true for the first refusal and false for all others. An account with enough quota for every type tests only the
    throttling.
    """
    quota, rate = [], []
    for name in ("trn2.48xlarge", "p5.48xlarge", "p6-b200.48xlarge"):
        region = next(iter(sorted(BLOCK_REGIONS.get(name, (live.block_region,)))))
        ec2 = live.client("ec2", region)
        try:
            ec2.describe_capacity_block_offerings(
                InstanceType=name, InstanceCount=64, CapacityDurationHours=24
            )
        except ClientError as error:
            quota.append(error)
            break
    ec2 = live.client("ec2", live.block_region)
    for _ in range(50):
        try:
            ec2.describe_capacity_block_offerings(
                InstanceType="trn2.3xlarge", InstanceCount=1, CapacityDurationHours=24
            )
        except ClientError as error:
            rate.append(error)
    said = [str(error) for error in quota if not is_zero_quota(classify_read_error(error))]
    assert said == [], f"not known as a missing quota: {said}"
    taken = [str(error) for error in rate if not quota and is_zero_quota(classify_read_error(error))]
    assert taken == [], f"a rate limit is taken for a missing quota: {taken[:1]}"
    live.note(refusals=sorted({error.response["Error"]["Code"] for error in [*quota, *rate]}))


@question("L36", tier=0, minutes=10)
def test_a_signature_of_six_minutes_ago_is_refused(live: Live) -> None:
    """How old may the signature of a purchase be?

    Signs `DescribeRegions` and sends it six minutes later. Passes when EC2 answers `RequestExpired`: a purchase request that is delayed that long buys nothing.
    """
    ec2 = live.run.where.session.client("ec2", endpoint_url=live.run.where.endpoint or None)
    ec2.meta.events.register("before-send.ec2.DescribeRegions", lambda **_: live.run.where.sleep(SIX_MINUTES))
    message = live.refused(ec2.describe_regions, "RequestExpired")
    live.note(message=message)


@question("L79", tier=0, minutes=10, checks=["UC9403", "UC9404"])
def test_a_region_that_is_not_enabled_refuses_and_so_does_a_wrong_clock(live: Live) -> None:
    """What do services answer in a Region that is not enabled, and when the clock is wrong?

    Calls `DescribeAvailabilityZones` in a Region whose opt-in status is `not-opted-in`, and `GetCallerIdentity` with a signature that is twenty minutes old.
    Passes when the first is refused with AuthFailure, UnrecognizedClientException or OptInRequired, and the second with SignatureDoesNotMatch or
    RequestExpired. UC9404 and UC9403 rely on these codes.
    """
    regions = live.client("ec2").describe_regions(AllRegions=True)["Regions"]
    closed = [each["RegionName"] for each in regions if each["OptInStatus"] == "not-opted-in"]
    assert closed, "the account has enabled every Region; use one that has not"
    there = live.client("ec2", closed[0])
    live.note(closed=closed[0])
    live.refused(
        there.describe_availability_zones, "AuthFailure", "UnrecognizedClientException", "OptInRequired"
    )
    sts = live.run.where.session.client("sts", endpoint_url=live.run.where.endpoint or None)
    sts.meta.events.register(
        "before-send.sts.GetCallerIdentity",
        lambda **_: live.run.where.sleep(20 * 60 if not live.run.where.is_local else 0),
    )
    live.refused(sts.get_caller_identity, "SignatureDoesNotMatch", "RequestExpired")


@question("L73", tier=0, minutes=2)
def test_the_price_list_has_our_prices(live: Live) -> None:
    """Does the Price List API return the prices that `--live` needs?

    Calls `GetProducts` for each type with an on-demand price in the catalogue. Passes when there is one price for each, within 3 % of the catalogue's. By hand:
    run `aws pricing get-products --service-code AmazonFSx` with a regionCode, note which attributes distinguish the tiers of Lustre, and add them to
    `ultracluster_runtime/costs/price_list.py`.
    """
    pricing = live.client("pricing", "us-east-1")
    things = [(BillableItem(kind="on-demand", name=name), region) for name, region in ON_DEMAND_PRICES]
    listed, findings = listed_prices(things, client=pricing)
    assert not findings, "; ".join(str(each) for each in findings)
    far = []
    for (thing, region), price in listed.items():
        ours = ON_DEMAND_PRICES[thing.name, region].amount or Decimal(1)
        if abs((price.amount or Decimal(0)) - ours) > ours * Decimal("0.03"):
            far.append(f"{thing.name}: {ours}, AWS {price.amount}")
    assert far == [], f"prices differ by more than 3 %: {'; '.join(far)}"
    live.note(prices=len(listed))
    products = pricing.get_products(
        ServiceCode="AmazonFSx",
        Filters=[{"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"}],
        MaxResults=100,
    )["PriceList"]
    attributes = {key for text in products for key in json.loads(text)["product"]["attributes"]}
    live.note(attributes_of_fsx=sorted(attributes))


@question("L75", tier=0, minutes=2)
def test_preflight_answers_everything_with_its_own_calls(live: Live) -> None:
    """Does preflight run with its own policy and get an answer to every check?

    Runs the checks of `ultracluster preflight` on a copy of `stacks/rollouts/quickstart.yaml`, with the policy of tier 0, which includes that of preflight.
    Passes when no evidence begins with `no answer` or `unexpected response of AWS`, and only calls listed in [preflight.md](../reference/preflight.md) were
    sent. Checks may fail, because there is no block yet.
    """
    clusters = load_rollout(ROOT / "stacks/rollouts/quickstart.yaml").config.waves[0].clusters
    reader = AwsReader(live.client, now=datetime.now(UTC), seconds=100)
    results = run_checks(rollout_requirements(clusters, qualifier="hnb659fds", ledger=None), reader)
    said = [(result.code, result.outcome.evidence) for result in results]
    unanswered = [f"{code}: {evidence}" for code, evidence in said if evidence.startswith(_UNANSWERED)]
    assert unanswered == [], f"not answered: {'; '.join(unanswered)}"
    assert set(reader.call_counts) <= ALLOWED_CALLS
    live.note(
        verdicts={
            status.name: sum(result.outcome.status is status for result in results) for status in Status
        }
    )


@question(
    "L76",
    tier=0,
    minutes=2,
    checks=[f"UC94{number}" for number in (*range(11, 20), 60)],
)
def test_service_quotas_knows_our_quota_codes(live: Live) -> None:
    """Does Service Quotas know each quota code in the catalogue, under the same name?

    Calls `GetAWSDefaultServiceQuota` for each code in `ultracluster_catalog.limits`. Passes when each code has the name that the catalogue gives it. Note which
    codes `GetServiceQuota` does not know in a new account.
    """
    quotas = live.client("service-quotas")
    named = [(each.service, each.code, each.name) for each in SERVICE_QUOTAS.values()]
    named += [("ec2", each.code, each.name) for each in [*ON_DEMAND_QUOTAS.values(), *SPOT_QUOTAS.values()]]
    named += [("ec2", each.code, each.name) for each in CAPACITY_BLOCK_QUOTAS.values()]
    wrong, not_in_account = [], []
    for service, code, name in named:
        try:
            found = quotas.get_aws_default_service_quota(ServiceCode=service, QuotaCode=code)["Quota"][
                "QuotaName"
            ]
        except ClientError as error:
            found = error.response["Error"]["Code"]
        if found != name:
            wrong.append(f"{code}: {name!r}, AWS {found!r}")
        try:
            quotas.get_service_quota(ServiceCode=service, QuotaCode=code)
        except ClientError:
            not_in_account.append(code)
    live.note(not_in_account=not_in_account)
    assert wrong == [], f"quota codes: {'; '.join(wrong)}"


@question("L77", tier=0, minutes=2, checks=["UC9409", "UC9410"])
def test_simulations_of_the_bootstraps_roles_can_be_read(live: Live) -> None:
    """Do IAM simulations of the bootstrap roles predict a deployment, also for roles of IAM Identity Center?

    Calls `SimulatePrincipalPolicy` of the CDK's CloudFormation role for the actions of a deployment. Passes when each action is allowed in an account in which
    `cdk deploy` works. By hand: look at UC9409 and UC9410 as a user, as a role, and as a role of IAM Identity Center (`AWSReservedSSO_…`, whose path the
    session's ARN omits). Repeat with a service control policy, and note whether the simulation takes it into account.
    """
    account = live.client("sts").get_caller_identity()["Account"]
    role = f"arn:aws:iam::{account}:role/cdk-hnb659fds-cfn-exec-role-{account}-{live.region}"
    actions = [
        "batch:CreateComputeEnvironment",
        "ec2:CreateLaunchTemplate",
        "fsx:CreateFileSystem",
        "iam:CreateRole",
    ]
    results = live.client("iam").simulate_principal_policy(PolicySourceArn=role, ActionNames=actions)[
        "EvaluationResults"
    ]
    decisions = {each["EvalActionName"]: each["EvalDecision"] for each in results}
    assert set(decisions) == set(actions)
    denied = [action for action, decision in decisions.items() if decision != "allowed"]
    assert denied == [], f"the simulation denies {', '.join(denied)}"


@question("L106", tier=0, minutes=5)
def test_access_analyzer_finds_nothing_in_our_policies(live: Live) -> None:
    """Do IAM's policy simulator and Access Analyzer agree with our table of role permissions?

    Calls `ValidatePolicy` for every identity policy in the quick start's templates, and `SimulateCustomPolicy` for the actions in tests/security/roles.py.
    Passes when no finding is an error or a security warning, and the life cycle's policy allows every action in its row of the table. Note the actions for
    which AWS requires a different resource.
    """
    templates = json.loads((ROOT / "tests/golden/next/quickstart.yaml.json").read_text("utf-8"))
    documents = list(_policies(templates))
    assert len(documents) >= 5, "the templates have fewer policies than roles"
    analyzer = live.client("accessanalyzer")
    bad = []
    for name, document in documents:
        findings = analyzer.validate_policy(
            policyDocument=json.dumps(document), policyType="IDENTITY_POLICY"
        )["findings"]
        bad += [
            f"{name}: {each['findingType']} {each['issueCode']}"
            for each in findings
            if each["findingType"] in {"ERROR", "SECURITY_WARNING"}
        ]
    assert bad == [], f"Access Analyzer: {'; '.join(bad)}"
    actions = sorted(
        ROLES["Opens, drains and reports one Capacity Block; cannot buy"].always - {"iam:PassRole"}
    )
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    results = live.client("iam").simulate_custom_policy(
        PolicyInputList=[json.dumps(policy)], ActionNames=actions
    )
    unknown = [
        each["EvalActionName"] for each in results["EvaluationResults"] if each["EvalDecision"] != "allowed"
    ]
    assert unknown == [], f"the simulator does not allow {unknown}"


def _policies(value: Any, name: str = "") -> Any:
    """Find the policy documents of roles, with CloudFormation's functions replaced by ARNs."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "PolicyDocument" and isinstance(inner, dict) and "Principal" not in json.dumps(inner):
                yield name, _resolved(inner)
            else:
                yield from _policies(inner, key if key not in {"Properties", "Policies"} else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _policies(inner, name)


def _resolved(value: Any) -> Any:
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in {
            "Ref",
            "Fn::GetAtt",
            "Fn::Join",
            "Fn::Sub",
            "Fn::ImportValue",
        }:
            return "*"
        return {key: _resolved(inner) for key, inner in value.items()}
    return [_resolved(inner) for inner in value] if isinstance(value, list) else value


untested(
    "L102",
    "Does AWS raise the limit of 256 instances in Capacity Blocks for an account and an organization?",
    """Open a support case that asks for more than 256 instances in Capacity Blocks on one date. Record the answer and its date in
`ultracluster_catalog/limits/service_limits.py` as `adjustable`, and write docs/evidence/scale.md again.""",
    tier=0,
    reason="a support case is answered by people, not by an API",
)


def test_the_policy_of_tier_0_allows_what_its_calls_need_and_nothing_else(
    calls_of_tier: Callable[[int], set[str]],
) -> None:
    # Which calls of preflight are sent depends on what the account has.
    of_preflight = {call.replace("service-quotas:", "servicequotas:") for call in ALLOWED_CALLS}
    check_policy(0, calls_of_tier(0) | of_preflight)
