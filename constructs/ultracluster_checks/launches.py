"""Launch templates: instance type, image, metadata options and user data; reservations that a template makes."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import COMPUTE_ENVIRONMENT, LAUNCH_TEMPLATE, is_in_batch, launch_data
from ultracluster_checks.model.template import Property, Resource, places
from ultracluster_checks.model.values import GAP, Unknown
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.images import AMI
from ultracluster_spec.nodes import check_commands
from ultracluster_spec.record import RuleRecord

NEW_RESERVATION: Final = "UC4210"
"""Code of a reservation that a template makes, which is billed from its deployment."""

_LARGEST_USER_DATA: Final = 16 * 1024  # bytes before Base64 (EC2 User Guide, instance user data, 2026-10)
# 770 bytes in aws/aws-cdk#9900 (2020-08): eight lines of agent settings, with MIME headers
_PART_OF_BATCH: Final = 1024
_BOUNDARY: Final = re.compile(r"""boundary="?([^"\s;$]+)(?:["\s;]|$)""", re.IGNORECASE)  # RFC 2046, 5.1.1
# To a container takes 2; what AWS itself writes has up to 4: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_launch-templates.html (2026-11)
_MOST_HOPS: Final = 4
_OLD_IMAGE: Final = re.compile(r"\bamazon-linux-2/|/amzn2?-ami-|/amazon-linux/recommended")
_SSM_TYPE: Final = "AWS::SSM::Parameter::Value<"


@rule("UC4206", LAUNCH_TEMPLATE, COMPUTE_ENVIRONMENT)
def images_are_pinned(resource: Resource) -> Iterator[Wrong]:
    """Find AMIs that are not pinned: each deployment or launch looks them up again."""
    for at in _images(resource):
        text, allowed, remedy = at.text, "the ID of an AMI", "Resolve it once and pin the ID"
        if isinstance(at.value, Unknown):
            kind = str(resource.template.parameters.get(at.value.name, {}).get("Type"))
            if kind.startswith(_SSM_TYPE):
                got = f"the parameter {at.value.name} is looked up at each deployment, and a new image replaces the nodes"
                yield at, got, allowed, remedy
        elif text is not None and text.startswith("resolve:ssm:"):
            got = "the image is looked up at each launch, so that nodes of one job may run different ones"
            yield at, got, allowed, remedy
        elif text is not None:
            yield from placed(at, AMI.check(text))


@rule("UC4181", LAUNCH_TEMPLATE, COMPUTE_ENVIRONMENT)
def images_are_not_of_amazon_linux_2(resource: Resource) -> Iterator[Wrong]:
    """Find parameters of Systems Manager that name an AMI of Amazon Linux 2."""
    for at in _images(resource):
        if parameter := _old_image(at):
            got = f"got {parameter}, an image of Amazon Linux 2, which AWS no longer supports and Neuron and AWS Batch refuse"
            yield at, got, "the ID of an AMI of Amazon Linux 2023"


def _images(resource: Resource) -> tuple[Property, ...]:
    settings = resource["ComputeResources"]
    overrides = (each["ImageIdOverride"] for each in settings["Ec2Configuration"].items)
    return (launch_data(resource)["ImageId"], settings["ImageId"], *overrides)


def _old_image(at: Property) -> str:
    """Return the parameter of Systems Manager by which an image is one of Amazon Linux 2; empty if it is none."""
    parameter = at.text or ""
    if isinstance(at.value, Unknown):
        named = {"Default": at.value.name}  # by a dynamic reference
        parameter = str(at.resource.template.parameters.get(at.value.name, named).get("Default"))
    return parameter if _OLD_IMAGE.search(parameter) else ""


@rule("", LAUNCH_TEMPLATE)
def user_data_calls_what_is_there(template: Resource) -> Iterator[Wrong]:
    """Find user data that calls what Amazon Linux 2023 lacks, unless the image is another, or is left to who launches."""
    at, image = launch_data(template)["UserData"], launch_data(template)["ImageId"]
    if not _old_image(image) and (image.given or is_in_batch(template)):
        yield from placed(at, check_commands(at.pattern))


@rule("UC4207", LAUNCH_TEMPLATE)
def metadata_needs_a_token(template: Resource) -> Iterator[Wrong]:
    """Find nodes that allow IMDSv1, which exposes their credentials to request forgery."""
    options = launch_data(template)["MetadataOptions"]
    tokens = options["HttpTokens"]
    if options["HttpEndpoint"].text != "disabled" and (tokens.missing or tokens.text == "optional"):
        got = "instance metadata, with the credentials of the node, is read without a token"
        yield tokens, got, "HttpTokens: required"
    hops = options["HttpPutResponseHopLimit"]
    if (hops.number or 0) > _MOST_HOPS:
        got = f"got {hops.number}: what a container forwards reaches the credentials of the node"
        yield hops, got, "1, or 2 for containers"


@rule("UC4208", LAUNCH_TEMPLATE)
def user_data_can_be_merged(template: Resource) -> Iterator[Wrong]:
    """Find user data that AWS Batch cannot merge."""
    at = launch_data(template)["UserData"]
    start = at.pattern.lstrip()
    if not is_in_batch(template):
        return
    if start.startswith(("#!", "#cloud-config", "<")):
        got = f"got {quote(start.splitlines()[0])}; AWS Batch puts its own part before it, and the environment turns INVALID"
        yield at, got, "MIME multipart, which begins with MIME-Version: 1.0 or Content-Type: multipart/mixed"
        return
    boundary = _BOUNDARY.search(start.partition("\n\n")[0])
    if boundary and f"--{boundary[1]}" not in map(str.rstrip, start.splitlines()):
        got = f"no part begins with the boundary that the header names, {quote(boundary[1])}, so that none of it runs"
        yield at, got, f"the line --{boundary[1]} before each part"
    elif boundary and f"--{boundary[1]}--" not in start:
        got = "the last part has no closing boundary, and AWS Batch takes it for no MIME multipart"
        yield at, got, f"--{boundary[1]}--"


@rule("UC4208", LAUNCH_TEMPLATE)
def user_data_joins_and_mounts_what_is_there(template: Resource) -> Iterator[Wrong]:
    """Find user data that joins another cluster than that of AWS Batch, or mounts Lustre by a name that it does not have."""
    at, templates = launch_data(template)["UserData"], template.template.templates
    if is_in_batch(template) and "ECS_CLUSTER=" in at.pattern:
        got = "ECS_CLUSTER: nodes join another cluster than that of their environment, and jobs stay RUNNABLE"
        yield at, got, "no cluster, which AWS Batch sets"
    kinds = [at.text for at in places(templates, "FSx::FileSystem", "LustreConfiguration.DeploymentType")]
    if kinds and None not in kinds and "SCRATCH_1" not in kinds and re.search(r"@tcp:/fsx\b", at.pattern):
        yield at, "got the mount name fsx, which only file systems of type SCRATCH_1 have", "LustreMountName"
    if re.search(r"MountName\}@tcp|@tcp:/\S*(?:DNSName|\.amazonaws\.com)", at.pattern):
        got = "the mount name stands where the DNS name of the file system belongs"
        yield at, got, "DNSName@tcp:/LustreMountName"


@rule("UC4209", LAUNCH_TEMPLATE)
def user_data_fits(template: Resource) -> Iterator[Wrong]:
    """Find user data that EC2 rejects for its size."""
    at, in_batch = launch_data(template)["UserData"], is_in_batch(template)
    size = len(GAP.sub("", at.pattern).encode(errors="replace"))  # what fills the gaps comes on top
    most = _LARGEST_USER_DATA - _PART_OF_BATCH * in_batch
    if size > most:
        beside = ", to which AWS Batch adds another part" if in_batch else ""
        yield at, f"{size:,} bytes{beside}", f"at most {most:,} bytes", "Read the rest from S3"


@rule(NEW_RESERVATION, "AWS::EC2::CapacityReservation", "AWS::EC2::CapacityReservationFleet")
def nothing_is_reserved(reservation: Resource) -> Iterator[Wrong]:
    """Find reservations that are billed from the moment of deployment."""
    got = "the reservation is billed from its deployment until it is cancelled, used or not"
    yield reservation.properties, got, "the ID of an existing reservation"


RECORDS: Final = (
    RuleRecord(
        "UC4207",
        "Instance metadata is read only with a token.",
        remedy="Set HttpTokens to required.",
        source="EC2 user guide, instance metadata options.",
    ),
    RuleRecord(
        "UC4206",
        "The image of nodes is pinned by its id, not looked up at each deployment.",
        severity=Severity.WARNING,
        remedy="Resolve the parameter once and write the id down; change it when you want new nodes.",
        source="Our decision: a new image replaces the fleet, and nodes of one job must not differ.",
        example="Nodes: {Type: AWS::EC2::LaunchTemplate, Properties: {LaunchTemplateData: {ImageId: ami-0123456789abcdef0}}}",
    ),
    RuleRecord(
        "UC4181",
        "Nodes do not run Amazon Linux 2.",
        remedy="Use an AMI of Amazon Linux 2023 for Amazon ECS with the Neuron driver; `ultracluster ami resolve` finds it.",
        source="botocore 1.44.5, Batch Ec2Configuration imageType: no new environments since 2026-06-30; Neuron documentation: no runtime on Amazon Linux 2 since 2.20.",
    ),
    RuleRecord(
        "UC4208",
        "User data of nodes that AWS Batch launches is MIME multipart.",
        remedy="Write the user data as MIME multipart; AWS Batch adds its own part to it.",
        source="AWS Batch user guide, launch templates; https://github.com/aws/aws-cdk/issues/6427, 2020-02; field case batch/ce-userdata-not-mime.",
    ),
    RuleRecord(
        "UC4209",
        "User data has at most 16 KiB, of which AWS Batch uses 1 KiB.",
        remedy="Keep a few lines there, and let them read the rest from S3.",
        source="EC2 user guide, user data: 16 KB before Base64; aws/aws-cdk 9900 for the part of AWS Batch.",
    ),
    RuleRecord(
        "UC4210",
        "A template reserves nothing that is paid from its deployment on.",
        remedy="Reserve outside of templates, with `ultracluster capacity reserve` or in the console, and use the ID in the template.",
        source="EC2 user guide, Capacity Reservation pricing: charged at the on-demand rate whether used or not.",
    ),
)
