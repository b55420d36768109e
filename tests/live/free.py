"""Tier 0: nothing is created and nothing is paid. Reads, simulations, and requests that AWS refuses before it acts."""

import json
from datetime import UTC, datetime
from pathlib import Path

from botocore.exceptions import ClientError
from tests.live.question import asks
from tests.live.session import Live

from ultracluster_catalog.limits.quotas import CAPACITY_BLOCK_QUOTAS, ON_DEMAND_QUOTAS, SPOT_QUOTAS
from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.neuron.neuron_images import IMAGE_KINDS
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.run import UNANSWERED, run_checks
from ultracluster_runtime.preflight.subjects import Account
from ultracluster_stacks.config import load_rollout

ROOT = Path(__file__).parents[2]
SIX_MINUTES = 360


@asks("L107", decides="facts", tier=0, minutes=1, checks=("UC9421",))
def instance_types(live: Live) -> None:
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


@asks("L108", decides="facts", tier=0, minutes=1, checks=("UC9459",))
def endpoint_services(live: Live) -> None:
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


@asks("L109", decides="facts", tier=0, minutes=1, checks=("UC9442", "UC9444"))
def public_parameters(live: Live) -> None:
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


@asks("L36", decides="buying", tier=0, minutes=10)
def age_of_a_signature(live: Live) -> None:
    """How old may the signature of a purchase be?

    Signs `DescribeRegions` and sends it six minutes later. Passes when EC2 answers `RequestExpired`: a purchase request that is delayed that long buys nothing.
    """
    ec2 = live.run.where.session.client("ec2", endpoint_url=live.run.where.endpoint or None)
    ec2.meta.events.register("before-send.ec2.DescribeRegions", lambda **_: live.run.where.sleep(SIX_MINUTES))
    message = live.refused(ec2.describe_regions, "RequestExpired")
    live.note(message=message)


@asks("L75", decides="facts", tier=0, minutes=2)
def preflight(live: Live) -> None:
    """Does preflight run with its own policy and get an answer to every check?

    Runs the checks of `ultracluster preflight` on a copy of `stacks/rollouts/quickstart.yaml`, with the policy of tier 0, which includes that of preflight.
    Passes when no evidence begins with `no answer` or `unexpected response of AWS`. Checks may fail, because there is no block yet.
    """
    clusters = load_rollout(ROOT / "stacks/rollouts/quickstart.yaml").config.waves[0].clusters
    reader = AwsReader(live.client, now=datetime.now(UTC), seconds=100)
    results = run_checks(Account(clusters=tuple(clusters)), reader)
    said = [(result.code, result.outcome.evidence) for result in results]
    unanswered = [f"{code}: {evidence}" for code, evidence in said if evidence.startswith(UNANSWERED)]
    assert unanswered == [], f"not answered: {'; '.join(unanswered)}"
    live.note(
        verdicts={
            status.name: sum(result.outcome.status is status for result in results) for status in Status
        }
    )


@asks(
    "L76",
    decides="facts",
    tier=0,
    minutes=2,
    checks=tuple(f"UC94{number}" for number in (*range(11, 20), 60)),
)
def quota_codes(live: Live) -> None:
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
