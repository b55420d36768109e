"""The part of AWS that the local AWS does not play, for each live test, and the fault that makes the test fail.

An *answer* replaces that of an operation, an *edit* changes it, a *hook* does between two polls what AWS would do meanwhile. Answers
are for services that the local AWS does not have; their form is that of botocore's models.
"""

import contextlib
import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError
from tests.live.wire import refusal

if TYPE_CHECKING:
    from tests.live.session import Live, Run

    from ultracluster_local import LocalAws

__all__ = ["FAULTS", "PLAYS", "StandIn"]


class StandIn:
    """Plays AWS's part in a run on the local AWS.

    Args:
        run: The run.
        local: The local AWS. None if the run reaches it over the wire only.
    """

    def __init__(self, run: "Run", local: "LocalAws | None") -> None:
        self.run = run
        self.local = local
        self.hooks: list[Callable[[Live], None]] = []

    @property
    def answers(self) -> dict[str, Any]:
        """Answers by operation."""
        return self.run.wire.answers

    @property
    def edits(self) -> dict[str, Any]:
        """Changes of answers by operation."""
        return self.run.wire.edits

    def client(self, service: str, region: str = "") -> Any:
        """Return a client whose calls are AWS's own, neither recorded nor counted."""
        import botocore.session

        where = self.run.where
        key = where.session.get_credentials().access_key
        return botocore.session.get_session().create_client(
            service,
            region_name=region or where.region,
            endpoint_url=where.endpoint,
            aws_access_key_id=key,
            aws_secret_access_key="local",
        )

    @contextlib.contextmanager
    def plays(self, question: str, *, fails: bool) -> Iterator[str | None]:
        """Play AWS's part for a question; with its fault if `fails`.

        Yields:
            Regular expression of the reason for which the test must fail; None if it must not.
        """
        for play in PLAYS.get(question, ()):
            play(self)
        reason = None
        if fails:
            fault, reason = FAULTS[question]
            fault(self)
        try:
            yield reason
        finally:
            for part in (self.answers, self.edits, self.hooks):
                part.clear()

    def time_passes(self, live: "Live") -> None:
        """Do what AWS does between two polls."""
        for hook in self.hooks:
            hook(live)

    def move_to(self, moment: dt.datetime) -> None:
        """Move the clock of the local AWS."""
        if self.local and self.local.clock.now() < moment:
            self.local.clock.set(moment)


Part = Callable[[StandIn], None]
PLAYS: dict[str, list[Part]] = {}
FAULTS: dict[str, tuple[Part, str]] = {}


def play(*questions: str) -> Callable[[Part], Part]:
    """Register what AWS does in the tests of questions."""

    def register(part: Part) -> Part:
        for question in questions:
            PLAYS.setdefault(question, []).append(part)
        return part

    return register


def fault(question: str, reason: str) -> Callable[[Part], Part]:
    """Register the fault of a question, and the words with which its test must fail."""

    def register(part: Part) -> Part:
        FAULTS[question] = (part, reason)
        return part

    return register


def answers(question: str, operation: str, answer: Any, *, fails: str = "") -> None:
    """Register a constant answer: of AWS's part, or of the fault if `fails` says how the test must fail."""

    def part(stand_in: StandIn) -> None:
        stand_in.answers[operation] = answer if callable(answer) else lambda _: answer

    if fails:
        FAULTS[question] = (part, fails)
    else:
        PLAYS.setdefault(question, []).append(part)


def edits(
    question: str, operation: str, edit: Callable[[Mapping[str, Any], Any], None], *, fails: str
) -> None:
    """Register a fault that changes an answer of the local AWS."""

    def part(stand_in: StandIn) -> None:
        stand_in.edits[operation] = edit

    FAULTS[question] = (part, fails)


# Tier 0


def _fewer_interfaces(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["InstanceTypes"]:
        each["NetworkInfo"]["MaximumNetworkCards"] = 1


edits("L107", "DescribeInstanceTypes", _fewer_interfaces, fails="network cards")


def _all_zones(stand_in: StandIn) -> None:
    zones = stand_in.client("ec2").describe_availability_zones()["AvailabilityZones"]

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        details = [
            {"ServiceName": name, "AvailabilityZones": [each["ZoneName"] for each in zones]}
            for name in request["ServiceNames"]
        ]
        return {"ServiceDetails": details}

    stand_in.answers["DescribeVpcEndpointServices"] = answer


play("L108")(_all_zones)


@fault("L108", r"no endpoint service: com\.amazonaws")
def _one_zone(stand_in: StandIn) -> None:
    everywhere = stand_in.answers["DescribeVpcEndpointServices"]

    def answer(request: Mapping[str, Any]) -> Any:
        found = everywhere(request)
        found["ServiceDetails"][0]["AvailabilityZones"] = []
        return found

    stand_in.answers["DescribeVpcEndpointServices"] = answer


def _anybodys(_: Mapping[str, Any], parsed: Any) -> None:
    parsed["Images"][0]["ImageOwnerAlias"] = "self"


def _public_images(stand_in: StandIn) -> None:
    stand_in.answers["GetParameter"] = lambda request: {
        "Parameter": {"Name": request["Name"], "Value": f"ami-{abs(hash(request['Name'])) % 16**8:017x}"}
    }
    stand_in.answers["DescribeImages"] = lambda request: {
        "Images": [
            {"ImageId": each, "State": "available", "ImageOwnerAlias": "amazon"}
            for each in request["ImageIds"]
        ]
    }


play("L109")(_public_images)
edits("L109", "DescribeImages", _anybodys, fails="not an available AMI of Amazon")


@play("L35")
def _no_quota(stand_in: StandIn) -> None:
    def answer(request: Mapping[str, Any]) -> Any:
        message = "Your existing service limits are not sufficient to use EC2 Capacity Blocks for your requirements."
        if request["InstanceCount"] > 1:
            return refusal("CapacityBlockDescribeLimitExceeded", message)
        return {"CapacityBlockOfferings": []}

    stand_in.answers["DescribeCapacityBlockOfferings"] = answer


answers(
    "L35",
    "DescribeCapacityBlockOfferings",
    refusal("CapacityBlockDescribeLimitExceeded", "You have reached the limit of your account."),
    fails="not known as a missing quota",
)
answers("L36", "DescribeRegions", refusal("RequestExpired", "Request has expired."))
answers("L36", "DescribeRegions", {"Regions": []}, fails="expected RequestExpired, but the call was accepted")


@play("L79")
def _closed_region(stand_in: StandIn) -> None:
    regions = [
        {"RegionName": "us-east-1", "OptInStatus": "opt-in-not-required"},
        {"RegionName": "ap-east-1", "OptInStatus": "not-opted-in"},
    ]
    stand_in.answers["DescribeRegions"] = lambda _: {"Regions": regions}
    stand_in.answers["DescribeAvailabilityZones"] = lambda _: refusal(
        "AuthFailure", "AWS was not able to validate the credentials"
    )
    stand_in.answers["GetCallerIdentity"] = lambda _: refusal("SignatureDoesNotMatch", "Signature expired")


@fault("L79", "expected SignatureDoesNotMatch")
def _late_clock_passes(stand_in: StandIn) -> None:
    stand_in.answers.pop("GetCallerIdentity")


def _product(usd: str, attributes: Mapping[str, str]) -> str:
    return json.dumps(
        {
            "publicationDate": "2026-11-01T00:00:00Z",
            "product": {"attributes": attributes},
            "terms": {
                "OnDemand": {"a": {"priceDimensions": {"b": {"unit": "Hrs", "pricePerUnit": {"USD": usd}}}}}
            },
        }
    )


def _price_list(factor: str) -> Part:
    from decimal import Decimal

    def part(stand_in: StandIn) -> None:
        from ultracluster_catalog.prices.prices import ON_DEMAND_PRICES

        def answer(request: Mapping[str, Any]) -> dict[str, Any]:
            asked = {each["Field"]: each["Value"] for each in request["Filters"]}
            if "instanceType" not in asked:
                return {"PriceList": [_product("1", {"deploymentOption": "SCRATCH_2"})]}
            amount = ON_DEMAND_PRICES[asked["instanceType"], asked["regionCode"]].amount
            node = {
                "tenancy": "Shared",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "licenseModel": "No License required",
            }
            return {"PriceList": [_product(str((amount or 0) * Decimal(factor)), {**asked, **node})]}

        stand_in.answers["GetProducts"] = answer

    return part


PLAYS["L73"] = [_price_list("1")]
FAULTS["L73"] = (_price_list("1.2"), "prices differ by more than 3 %")


@fault("L75", "not answered: UC94.*AccessDenied")
def _silent_quotas(stand_in: StandIn) -> None:
    stand_in.answers["GetServiceQuota"] = lambda _: refusal("AccessDeniedException", "not authorized")


def _our_quotas(stand_in: StandIn) -> None:
    from ultracluster_catalog.limits.quotas import CAPACITY_BLOCK_QUOTAS, ON_DEMAND_QUOTAS, SPOT_QUOTAS
    from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS

    names = {
        each.code: each.name
        for each in [*SERVICE_QUOTAS.values(), *ON_DEMAND_QUOTAS.values(), *SPOT_QUOTAS.values()]
    }
    names |= {each.code: each.name for each in CAPACITY_BLOCK_QUOTAS.values()}

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        return {"Quota": {"QuotaName": names[request["QuotaCode"]], "QuotaCode": request["QuotaCode"]}}

    stand_in.answers["GetAWSDefaultServiceQuota"] = answer


play("L76")(_our_quotas)


@fault("L76", "quota codes: L-144F0CA5")
def _another_name(stand_in: StandIn) -> None:
    stand_in.answers["GetAWSDefaultServiceQuota"] = lambda _: {"Quota": {"QuotaName": "Another quota"}}


def _denied(_: Mapping[str, Any], parsed: Any) -> None:
    parsed["EvaluationResults"][0]["EvalDecision"] = "implicitDeny"


edits("L77", "SimulatePrincipalPolicy", _denied, fails="the simulation denies batch:CreateComputeEnvironment")


@play("L106")
def _no_findings(stand_in: StandIn) -> None:
    stand_in.answers["ValidatePolicy"] = lambda _: {"findings": []}
    stand_in.answers["SimulateCustomPolicy"] = lambda request: {
        "EvaluationResults": [
            {"EvalActionName": each, "EvalDecision": "allowed"} for each in request["ActionNames"]
        ]
    }


answers(
    "L106",
    "ValidatePolicy",
    {
        "findings": [
            {
                "findingType": "ERROR",
                "issueCode": "INVALID_ACTION",
                "findingDetails": "",
                "learnMoreLink": "",
                "locations": [],
            }
        ]
    },
    fails="Access Analyzer: .*ERROR INVALID_ACTION",
)


# Tier 1: what AWS Batch, nodes and IAM do


def resources_of(stand_in: StandIn) -> tuple[str, Mapping[str, str]]:
    """Return the Region and resources of the cluster of the run: that in the block if there is one."""
    where, run_id = stand_in.run.where, stand_in.run.id
    for region, suffix in ((where.block_region, "b"), (where.region, "")):
        stacks = stand_in.client("cloudformation", region)
        resources: dict[str, str] = {}
        for part in ("network", "storage", "cluster"):
            with contextlib.suppress(ClientError):
                found = stacks.list_stack_resources(StackName=f"live-{run_id}{suffix}-{part}")[
                    "StackResourceSummaries"
                ]
                resources |= {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in found}
        if resources:
            return region, resources
    raise LookupError("the run has no cluster")


def _one(resources: Mapping[str, str], prefix: str) -> str:
    return next(
        value for key, value in resources.items() if key.startswith(prefix) and len(key) == len(prefix) + 8
    )


def launch(stand_in: StandIn, count: int, source: str = "") -> list[str]:
    """Launch nodes as AWS Batch does."""
    region, resources = resources_of(stand_in)
    ec2, batch = stand_in.client("ec2", region), stand_in.client("batch", region)
    arn = _one(resources, f"ClusterQueueComputeEnvironment{source}")
    (environment,) = batch.describe_compute_environments(computeEnvironments=[arn])["computeEnvironments"]
    resources = environment["computeResources"]
    template = {"LaunchTemplateId": resources["launchTemplate"]["launchTemplateId"]}
    (version,) = ec2.describe_launch_template_versions(**template, Versions=["$Latest"])[
        "LaunchTemplateVersions"
    ]
    cards = version["LaunchTemplateData"]["NetworkInterfaces"]
    answer = ec2.run_instances(
        MinCount=count,
        MaxCount=count,
        LaunchTemplate={**template, "Version": "$Latest"},
        IamInstanceProfile={"Arn": resources["instanceRole"]},
        NetworkInterfaces=[{**each, "SubnetId": resources["subnets"][0]} for each in cards],
    )
    return [each["InstanceId"] for each in answer["Instances"]]


def batch_runs(
    *,
    count: int = 1,
    source: str = "",
    until: str = "SUCCEEDED",
    more: Callable[[dict[str, Any]], None] = lambda _: None,
) -> Part:
    """Return a part in which AWS Batch launches nodes for a job and runs it until a status."""
    steps = ["RUNNABLE", "RUNNING", "SUCCEEDED"]

    def part(stand_in: StandIn) -> None:
        polls: dict[str, int] = {}

        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            for job in parsed["jobs"]:
                polls[job["jobId"]] = polls.get(job["jobId"], -1) + 1
                step = steps[min(polls[job["jobId"]], steps.index(until))]
                if step == "RUNNING" and polls[job["jobId"]] == 1:
                    launch(stand_in, count, source)
                job["status"] = step
                if "container" in job or step != "RUNNABLE":
                    job.setdefault("container", {})["logStreamName"] = "stream"
                more(job)

        stand_in.edits["DescribeJobs"] = edit

    return part


def ends_failed(question: str, reason: str) -> None:
    """Register the fault that the job of a question fails."""

    def fault_part(stand_in: StandIn) -> None:
        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            for job in parsed["jobs"]:
                job |= {"status": "FAILED", "statusReason": reason}

        stand_in.edits["DescribeJobs"] = edit

    FAULTS[question] = (fault_part, f"is FAILED: {reason}")


@play("L117")
def _the_schedule_fires(stand_in: StandIn) -> None:
    def hook(_: "Live") -> None:
        name = f"live-{stand_in.run.id}"
        schedule = stand_in.client("scheduler").get_schedule(Name=name)
        if schedule["State"] == "ENABLED":
            stand_in.client("lambda").invoke(FunctionName=schedule["Target"]["Arn"], Payload=b"{}")

    stand_in.hooks.append(hook)


@fault("L117", "the net removes: not within")
def _the_schedule_is_disabled(stand_in: StandIn) -> None:
    stand_in.hooks.clear()


def _purchase(answer: Callable[[Mapping[str, Any]], Any]) -> Part:
    def part(stand_in: StandIn) -> None:
        stand_in.answers["PurchaseCapacityBlock"] = answer

    return part


_UNAUTHORIZED = refusal("UnauthorizedOperation", "You are not authorized to perform this operation.")
answers(
    "L20",
    "PurchaseCapacityBlock",
    refusal("InvalidParameterValue"),
    fails="neither allowed nor denied: InvalidParameterValue",
)
PLAYS["L21"] = [_purchase(lambda request: None if "TagSpecifications" in request else _UNAUTHORIZED)]
FAULTS["L21"] = (_purchase(lambda _: None), "a purchase without a tag is answered by DryRunOperation")
answers("L24", "PurchaseCapacityBlock", _UNAUTHORIZED, fails="the tags are answered by UnauthorizedOperation")
answers("L30", "PurchaseCapacityBlock", _UNAUTHORIZED, fails="answered by UnauthorizedOperation")
PLAYS["L33"] = [
    _purchase(
        lambda request: (
            refusal("InvalidParameterValue")
            if request["CapacityBlockOfferingId"].endswith("000")
            else _UNAUTHORIZED
        )
    )
]
answers(
    "L33",
    "PurchaseCapacityBlock",
    refusal("CapacityBlockOfferingExpired"),
    fails="not known to come before execution: CapacityBlockOfferingExpired",
)


@play("L110")
def _list_of_types(stand_in: StandIn) -> None:
    from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES

    message = (
        f"Error executing request, Exception : Instance type can only be one of [{', '.join(INSTANCE_TYPES)}]"
    )
    stand_in.answers["CreateComputeEnvironment"] = lambda _: refusal("ClientException", message)


answers(
    "L110",
    "CreateComputeEnvironment",
    refusal("ClientException", "Instance type can only be one of [c5.large, trn1, inf2]"),
    fails="AWS Batch does not name trn1n.32xlarge, trn2.3xlarge",
)


def _drops_the_delay(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["computeEnvironments"]:
        each["computeResources"].pop("scalingPolicy", None)


edits("L111", "DescribeComputeEnvironments", _drops_the_delay, fails="the delay is not shown")


answers("L120", "CreateComputeEnvironment", refusal("ClientException", "serviceRole is required"))
answers(
    "L120",
    "CreateComputeEnvironment",
    refusal("ServerException", "try again"),
    fails="expected ClientException, got ServerException",
)


def _names_no_cluster(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["computeEnvironments"]:
        each.pop("ecsClusterArn", None)


edits("L121", "DescribeComputeEnvironments", _names_no_cluster, fails="a VALID environment names no cluster")


def _invalid_queue(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["jobQueues"]:
        each |= {"status": "INVALID", "statusReason": "mixed types"}


edits("L122", "DescribeJobQueues", _invalid_queue, fails="INVALID: mixed types")


def _runs_anyway(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["jobs"]:
        each["status"] = "RUNNING"


edits("L123", "DescribeJobs", _runs_anyway, fails="the job waits: no longer")


@play("L125")
def _places_one_child(stand_in: StandIn) -> None:
    def edit(_: Mapping[str, Any], parsed: Any) -> None:
        for each in parsed["jobs"]:
            if each["jobId"].endswith(":0") and each["status"] not in {"SUCCEEDED", "FAILED"}:
                each["status"] = "RUNNING"

    stand_in.edits["DescribeJobs"] = edit


@fault("L125", "the children ended as .*SUCCEEDED")
def _children_outlive_their_parent(stand_in: StandIn) -> None:
    places = stand_in.edits["DescribeJobs"]

    def edit(request: Mapping[str, Any], parsed: Any) -> None:
        for each in parsed["jobs"]:
            if each["status"] == "FAILED":
                each["status"] = "SUCCEEDED"
        places(request, parsed)

    stand_in.edits["DescribeJobs"] = edit


@fault("L115", "two invocations hold one lease")
def _lost_condition(stand_in: StandIn) -> None:
    stand_in.answers["UpdateItem"] = lambda _: {"Attributes": {}}


def _invalid(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["computeEnvironments"]:
        each |= {"status": "INVALID", "statusReason": "CLIENT_ERROR - Access denied"}


edits(
    "L83", "DescribeComputeEnvironments", _invalid, fails="environment capacity: CLIENT_ERROR - Access denied"
)


def _another_template(_: Mapping[str, Any], parsed: Any) -> None:
    parsed["TemplateBody"] = {"Resources": {}}


edits("L80", "GetTemplate", _another_template, fails="stack network has another template")


def _old_version(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["computeEnvironments"]:
        each["computeResources"].get("launchTemplate", {})["version"] = "1"


edits("L8", "DescribeComputeEnvironments", _old_version, fails="the environment still has version 1")


def _large(_: Mapping[str, Any], parsed: Any) -> None:
    import base64

    for each in parsed["LaunchTemplateVersions"]:
        each["LaunchTemplateData"]["UserData"] = base64.b64encode(b"#" * 17_000).decode()


edits("L90", "DescribeLaunchTemplateVersions", _large, fails="user data above 16384 bytes")


def _answers_of_a_node(stand_in: StandIn) -> None:
    stand_in.answers["GetLogEvents"] = lambda _: {"events": [{"timestamp": 1, "message": "shown"}]}
    stand_in.answers["ListContainerInstances"] = lambda _: {
        "containerInstanceArns": ["arn:aws:ecs:us-east-1:123456789012:container-instance/live/1"]
    }
    stand_in.answers["DescribeInstanceInformation"] = lambda request: {
        "InstanceInformationList": [
            {"InstanceId": each["Values"][0], "PingStatus": "Online"} for each in request.get("Filters", [])
        ]
    }
    stand_in.answers["SendCommand"] = lambda _: {
        "Command": {"CommandId": "12345678-1234-1234-1234-123456789012"}
    }
    stand_in.answers["GetCommandInvocation"] = lambda _: {
        "Status": "Success",
        "StandardOutputContent": "",
        "StandardErrorContent": "",
    }


play("L103")(batch_runs())
play("L103")(_answers_of_a_node)
answers("L103", "ListContainerInstances", {"containerInstanceArns": []}, fails="no node has joined")


def _spot(_: Mapping[str, Any], parsed: Any) -> None:
    for group in parsed["Reservations"]:
        for each in group["Instances"]:
            each["InstanceLifecycle"] = "spot"


def _spot_nodes(stand_in: StandIn) -> None:
    stand_in.edits["DescribeInstances"] = _spot


play("L44")(batch_runs(source="spot", until="RUNNING"))
play("L44")(_spot_nodes)


@fault("L44", "lifecycle None")
def _on_demand_instead(stand_in: StandIn) -> None:
    stand_in.edits.pop("DescribeInstances")


def _loses_its_host(reason: str) -> Part:
    def part(stand_in: StandIn) -> None:
        launched: list[str] = []

        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            ec2 = stand_in.client("ec2", resources_of(stand_in)[0])
            for job in parsed["jobs"]:
                if not launched:
                    launched.extend(launch(stand_in, 1, "spot"))
                (first,) = ec2.describe_instances(InstanceIds=launched[:1])["Reservations"][0]["Instances"]
                lost = first["State"]["Name"] != "running"
                if lost and len(launched) == 1:
                    launched.extend(launch(stand_in, 1, "spot"))
                job |= {"status": "RUNNING", "attempts": [{"statusReason": reason}] if lost else []}

        stand_in.edits["DescribeJobs"] = edit

    return part


PLAYS["L54"] = [_loses_its_host("Host EC2 (instance i-0123456789abcdef0) terminated.")]
FAULTS["L54"] = (
    _loses_its_host("Essential container in task exited"),
    "the first attempt ended with 'Essential",
)


def _task_interfaces(group: str) -> Part:
    def part(stand_in: StandIn) -> None:
        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            parsed["NetworkInterfaces"] += [
                {
                    "NetworkInterfaceId": f"eni-0000000000000000{number}",
                    "Groups": [{"GroupName": group, "GroupId": "sg-1"}],
                }
                for number in range(2)
            ]

        stand_in.edits["DescribeNetworkInterfaces"] = edit

    return part


PLAYS["L63"] = [batch_runs(count=2, until="RUNNING"), _task_interfaces("default")]
FAULTS["L63"] = (_task_interfaces("nodes"), "the interfaces have the groups")


def _metrics(*names: str) -> Part:
    def part(stand_in: StandIn) -> None:
        stand_in.answers["ListMetrics"] = lambda _: {
            "Metrics": [{"Namespace": "UltraCluster", "MetricName": name, "Dimensions": []} for name in names]
        }

    return part


PLAYS["L85"] = [batch_runs(), _metrics("NodesReporting", "CoreUtilization")]
FAULTS["L85"] = (_metrics("NodesReporting"), "metrics of nodes: not within 10 minutes")
PLAYS["L95"] = [batch_runs(), _metrics("StepSeconds")]
FAULTS["L95"] = (_metrics(), "training metrics: not within 8 minutes")
PLAYS["L52"] = [_metrics("PutRequests", "HeadRequests", "4xxErrors")]
FAULTS["L52"] = (_metrics("GetRequests"), "request metrics: not within")


def _refuses_itself(said: str) -> Part:
    def part(stand_in: StandIn) -> None:
        def hook(_: "Live") -> None:
            region = stand_in.run.where.region
            ec2 = stand_in.client("ec2", region)
            running = [{"Name": "instance-state-name", "Values": ["running"]}]
            for group in ec2.describe_instances(Filters=running)["Reservations"]:
                ec2.terminate_instances(InstanceIds=[each["InstanceId"] for each in group["Instances"]])

        stand_in.hooks.append(hook)
        stand_in.answers["GetConsoleOutput"] = lambda request: {
            "InstanceId": request["InstanceId"],
            "Output": said,
        }

    return part


PLAYS["L4"] = [_refuses_itself("ultracluster: refused to join the cluster: 0 of 1 EFA devices")]
FAULTS["L4"] = (_refuses_itself("Cloud-init finished"), "the console ends with 'Cloud-init finished'")


def _wants(**vcpus: int) -> Part:
    def part(stand_in: StandIn) -> None:
        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            _, resources = resources_of(stand_in)
            for each in parsed["computeEnvironments"]:
                for name, wanted in vcpus.items():
                    source = "" if name == "first" else name
                    if each["computeEnvironmentArn"] == _one(
                        resources, f"ClusterQueueComputeEnvironment{source}"
                    ):
                        each["computeResources"]["desiredvCpus"] = wanted

        stand_in.edits["DescribeComputeEnvironments"] = edit

    return part


PLAYS["L41"] = [batch_runs(source="spill", until="RUNNING"), _wants(first=0, spill=8)]
FAULTS["L41"] = (_wants(first=8, spill=8), "the first source, which is closed, wants nodes")


@play("L43")
def _waits_on_spot(stand_in: StandIn) -> None:
    def edit(_: Mapping[str, Any], parsed: Any) -> None:
        for job in parsed["jobs"]:
            job["status"] = "RUNNABLE"

    stand_in.edits["DescribeJobs"] = edit


@fault("L43", "the job waits: no longer")
def _runs_on_spot(stand_in: StandIn) -> None:
    def edit(_: Mapping[str, Any], parsed: Any) -> None:
        for job in parsed["jobs"]:
            job["status"] = "RUNNING"

    stand_in.answers["SubmitJob"] = lambda _: {
        "jobId": "12345678-1234-1234-1234-123456789012",
        "jobName": "x",
    }
    stand_in.answers["DescribeJobs"] = lambda _: {
        "jobs": [{"jobId": "1", "jobName": "x", "status": "RUNNING"}]
    }
    stand_in.edits["DescribeJobs"] = edit


def _says(reason: str) -> Part:
    def part(stand_in: StandIn) -> None:
        stand_in.answers["SubmitJob"] = lambda _: {
            "jobId": "12345678-1234-1234-1234-123456789012",
            "jobName": "x",
        }
        stand_in.answers["DescribeJobs"] = lambda _: {
            "jobs": [{"jobId": "1", "jobName": "x", "status": "RUNNABLE", "statusReason": reason}]
        }

    return part


PLAYS["L89"] = [
    _says("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - the job requires more than the environment has")
]
FAULTS["L89"] = (_says("waiting"), "the reason is 'waiting'")


def _exports(*, happens: bool) -> Part:
    def part(stand_in: StandIn) -> None:
        region, resources = resources_of(stand_in)

        def hook(_: "Live") -> None:
            if happens:
                stand_in.client("s3", region).put_object(
                    Bucket=_one(resources, "Checkpoints"), Key="live", Body=b"x"
                )

        stand_in.hooks.append(hook)

    return part


def _no_objects(stand_in: StandIn) -> None:
    stand_in.answers["ListObjectsV2"] = lambda _: {"KeyCount": 0}


PLAYS["L48"] = [_answers_of_a_node, _exports(happens=True)]
FAULTS["L48"] = (_no_objects, "the object: not within")


def _failed_file_system(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["FileSystems"]:
        each |= {"Lifecycle": "FAILED", "FailureDetails": {"Message": "no capacity"}}


edits("L45", "DescribeFileSystems", _failed_file_system, fails="no capacity")


def _compiles(key: str) -> Part:
    def part(stand_in: StandIn) -> None:
        region, resources = resources_of(stand_in)
        s3 = stand_in.client("s3", region)
        bucket = _one(resources, "CompileCache")
        s3.put_object(Bucket=bucket, Key=key, Body=b"x")
        stand_in.answers["ListObjectsV2"] = lambda _: {"Contents": [{"Key": key}]}

    return part


PLAYS["L50"] = [batch_runs(), _compiles("neuron/neuronxcc-2.21/MODULE_1/model.neff")]
FAULTS["L50"] = (_compiles("neuron/neuronxcc-2.21/MODULE_1/model.hlo.lock"), "the cache has")
answers("L74", "GetCostAndUsage", refusal("AccessDeniedException", "not enabled"), fails="not enabled")


# Tier 2: a block, its nodes and its clock


@play("L31")
def _sells_again(stand_in: StandIn) -> None:
    if stand_in.local:  # so that the block of a fault starts when that of the run does
        stand_in.local.capacity_market(stand_in.run.where.block_region).sell_again = True
        stand_in.local.event_settings.most_firings = 2


def _dear(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["CapacityBlockOfferings"]:
        each["UpfrontFee"] = "108.00"


edits("L31", "DescribeCapacityBlockOfferings", _dear, fails=r"nothing is offered for 107\.28 USD or less")


def _cancelled(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["CapacityReservations"]:
        each["State"] = "payment-failed"


edits("L32", "DescribeCapacityReservations", _cancelled, fails="assert 'payment-failed' in")


def _no_count(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["CapacityReservations"]:
        each |= {"TotalInstanceCount": 0, "Tags": []}


edits("L78", "DescribeCapacityReservations", _no_count, fails="neither count nor tag says 2")


def _extension_offers(*ids: str) -> Part:
    def part(stand_in: StandIn) -> None:
        asked = iter(ids)
        stand_in.answers["DescribeCapacityBlockExtensionOfferings"] = lambda _: {
            "CapacityBlockExtensionOfferings": [
                {"CapacityBlockExtensionOfferingId": next(asked), "UpfrontFee": "107.28"}
            ]
        }

    return part


PLAYS["L114"] = [_extension_offers("cbe-1", "cbe-1")]
FAULTS["L114"] = (_extension_offers("cbe-1", "cbe-2"), "another ID for the same offer")


def _extends(*codes: str) -> Part:
    def part(stand_in: StandIn) -> None:
        _extension_offers("cbe-0123456789abcdef0")(stand_in)
        answered = iter(codes)
        stand_in.answers["PurchaseCapacityBlockExtension"] = lambda _: refusal(next(answered))

    return part


PLAYS["L22"] = [_extends("UnauthorizedOperation", "DryRunOperation")]
FAULTS["L22"] = (
    _extends("DryRunOperation", "DryRunOperation"),
    "answered by .'DryRunOperation', 'DryRunOperation'",
)


def _moves_to_the_start(stand_in: StandIn) -> None:
    def hook(_: "Live") -> None:
        start = dt.datetime.fromisoformat(stand_in.run.journal.values("L31")["start"])
        stand_in.move_to(start + dt.timedelta(minutes=3))

    stand_in.hooks.append(hook)


PLAYS["L1"] = [_moves_to_the_start, batch_runs(count=2, until="RUNNING")]


def _on_demand(_: Mapping[str, Any], parsed: Any) -> None:
    for group in parsed["Reservations"]:
        for each in group["Instances"]:
            each.pop("InstanceLifecycle", None)


edits("L1", "DescribeInstances", _on_demand, fails="nodes outside of the block")


def _runs_on(stand_in: StandIn) -> None:
    """Run a job on the nodes that the block has."""

    def edit(_: Mapping[str, Any], parsed: Any) -> None:
        for job in parsed["jobs"]:
            job |= {"status": "RUNNING", "container": {"logStreamName": "stream"}, "attempts": []}

    stand_in.edits["DescribeJobs"] = edit


def _prints(text: str) -> Part:
    def part(stand_in: StandIn) -> None:
        _answers_of_a_node(stand_in)
        stand_in.answers["GetCommandInvocation"] = lambda _: {
            "Status": "Success",
            "StandardOutputContent": text,
            "StandardErrorContent": "",
        }

    return part


def _more_interfaces(number: int) -> Part:
    def part(stand_in: StandIn) -> None:
        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            parsed["NetworkInterfaces"] += [
                {"NetworkInterfaceId": f"eni-0000000000000000{each}", "Groups": []} for each in range(number)
            ]

        stand_in.edits["DescribeNetworkInterfaces"] = edit

    return part


PLAYS["L2"] = [_runs_on, _more_interfaces(2)]
FAULTS["L2"] = (_more_interfaces(0), "2 interfaces on 2 nodes with 1 of ours")
_BOOT = "1 of 1 Neuron devices\n1 of 1 EFA devices\nfile system mounted at /fsx\nultracluster: ready"
PLAYS["L3"] = [_runs_on, _prints(_BOOT)]
FAULTS["L3"] = (_prints(_BOOT.replace("1 of 1 EFA", "0 of 1 EFA")), "the boot log has no '1 of 1 EFA'")


def _registers(memory: int) -> Part:
    def part(stand_in: StandIn) -> None:
        _answers_of_a_node(stand_in)
        resources = [{"name": "CPU", "integerValue": 12288}, {"name": "MEMORY", "integerValue": memory}]
        stand_in.answers["DescribeContainerInstances"] = lambda _: {
            "containerInstances": [{"registeredResources": resources}]
        }

    return part


PLAYS["L5"] = [_runs_on, _registers(128_000)]
FAULTS["L5"] = (_registers(100_000), "a node registers 100000 MiB")


def _logs(*lines: str) -> Part:
    def part(stand_in: StandIn) -> None:
        stand_in.answers["GetLogEvents"] = lambda _: {
            "events": [{"timestamp": 1, "message": line} for line in lines]
        }
        stand_in.answers["FilterLogEvents"] = lambda _: {
            "events": [{"timestamp": 1, "message": line} for line in lines]
        }

    return part


PLAYS["L9"] = [_runs_on, _prints(""), _logs("shown", "checkpoint")]
FAULTS["L9"] = (_logs("shown"), "the handler prints: not within")


def _loses_a_child(code: int) -> Part:
    def part(stand_in: StandIn) -> None:
        polls: dict[str, int] = {}

        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            for job in parsed["jobs"]:
                polls[job["jobId"]] = polls.get(job["jobId"], 0) + 1
                if polls[job["jobId"]] == 3:
                    launch(stand_in, 1)
                ended = [
                    {"container": {"exitCode": code}, "statusReason": "Essential container in task exited"}
                ]
                job |= {"status": "RUNNING", "attempts": ended if polls[job["jobId"]] > 2 else []}

        stand_in.edits["DescribeJobs"] = edit

    return part


PLAYS["L55"] = [_loses_a_child(112)]
FAULTS["L55"] = (_loses_a_child(137), "the main node ended with 137")


def _gate(*lines: str) -> Part:
    def part(stand_in: StandIn) -> None:
        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            for job in parsed["jobs"]:
                job |= {"status": "SUCCEEDED", "container": {"logStreamName": "stream"}}

        stand_in.edits["DescribeJobs"] = edit
        _logs(*lines)(stand_in)

    return part


PLAYS["L56"] = [_gate("allr 43.21 GB/s", "fabric gate: passed")]
FAULTS["L56"] = (_gate("fabric gate: passed"), "the log names no bandwidth")
PLAYS["L61"] = [_runs_on, _prints("  437\n")]
FAULTS["L61"] = (_prints("   10\n"), "/scratch has 10 GB")
PLAYS["L46"] = [_runs_on, _prints("540\n")]
FAULTS["L46"] = (_prints("12\n"), "12 MB/s")
PLAYS["L86"] = [_runs_on, _prints("/opt/aws/neuron/bin/neuron-monitor\nrx_bytes\nsnapshot_time 1")]
FAULTS["L86"] = (_prints("rx_bytes\nsnapshot_time 1"), "not found: .'neuron-monitor'")


def _alarms(name: str, state: str) -> Part:
    def part(stand_in: StandIn) -> None:
        alarm = {"AlarmName": name, "StateValue": state, "StateReason": "a run failed"}
        stand_in.answers["DescribeAlarms"] = lambda _: {"MetricAlarms": [alarm]}

    return part


PLAYS["L88"] = [_runs_on, _alarms("live-b-ClusterAlarmsIdle", "ALARM")]
FAULTS["L88"] = (_alarms("live-b-ClusterAlarmsEcc", "ALARM"), "in ALARM: .*Ecc")
_REPORT = "REPORT RequestId: 1 Duration: {} ms Billed Duration: 900 ms Memory Size: 256 MB"
PLAYS["L13"] = [_logs(_REPORT.format("812.31")), _alarms("x", "OK")]
FAULTS["L13"] = (_logs(_REPORT.format("31000.0")), "a run took 31.0 s")


def _closed(_: Mapping[str, Any], parsed: Any) -> None:
    for each in parsed["computeEnvironments"]:
        each["state"] = "DISABLED"


edits("L11", "DescribeComputeEnvironments", _closed, fails="the environment is closed after the update")
PLAYS["L12"] = [_logs('{"detail-type": "Capacity Block Delivered"}')]
FAULTS["L12"] = (_logs(), "the function has seen no event of the block")


@fault("L34", "no extension is offered for the list price")
def _dear_extension(stand_in: StandIn) -> None:
    stand_in.answers["DescribeCapacityBlockExtensionOfferings"] = lambda _: {
        "CapacityBlockExtensionOfferings": [
            {"CapacityBlockExtensionOfferingId": "cbe-1", "UpfrontFee": "200.00"}
        ]
    }


def _bill(*usage_types: str) -> Part:
    def part(stand_in: StandIn) -> None:
        groups = [{"Keys": [each, "ultracluster:live$"], "Metrics": {}} for each in usage_types]
        stand_in.answers["GetCostAndUsage"] = lambda _: {"ResultsByTime": [{"Groups": groups}]}

    return part


PLAYS["L71"] = [_bill("SAE1-CapacityBlock:trn2.3xlarge", "SAE1-BoxUsage:t3.micro")]
FAULTS["L71"] = (_bill("SAE1-BoxUsage:t3.micro"), "no line of a Capacity Block among")


def _large_nodes(text: str) -> Part:
    def part(stand_in: StandIn) -> None:
        _prints(text)(stand_in)
        zones = stand_in.client("ec2").describe_availability_zones()["AvailabilityZones"]
        offers = [{"InstanceType": "trn1.32xlarge", "Location": each["ZoneName"]} for each in zones]
        stand_in.answers["DescribeInstanceTypeOfferings"] = lambda _: {"InstanceTypeOfferings": offers}

        def edit(_: Mapping[str, Any], parsed: Any) -> None:
            for number, each in enumerate(parsed["NetworkInterfaces"]):
                each["Attachment"] |= {"NetworkCardIndex": number, "DeviceIndex": 1 if number else 0}

        stand_in.edits["DescribeNetworkInterfaces"] = edit

    return part


PLAYS["L47"] = [_large_nodes("10.0.0.5@tcp:/abc 1.2T 0 1.2T 0% /fsx\nnet:\n - net type: tcp")]
FAULTS["L47"] = (_large_nodes("/dev/nvme0n1 1 2 3"), "no network of Lustre")


def _throttled(_: Mapping[str, Any], parsed: Any) -> None:
    parsed["Events"] = [{"EventId": "1", "CloudTrailEvent": '{"errorCode": "Client.RequestLimitExceeded"}'}]


edits("L101", "LookupEvents", _throttled, fails="1 requests were throttled")
