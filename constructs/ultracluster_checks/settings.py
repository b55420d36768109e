"""Settings of single resources that open them to everybody, keep their data or traffic in plain text, or turn audits off."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import BILLED, BOUNDS, CALLERS, ENCRYPTION, PUBLIC, TOKENS
from ultracluster_checks.model.template import CONTAINER, Property, Resource, Templates, places
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_rules.findings import quote

_IN_CLEAR: Final = "UC6471"
_AUDIT: Final = "UC6472"
_OWNS_NODE: Final = "UC6410"
_FOLDERS: Final = "/(etc|root|proc|sys|var|(var/)?run(/docker.sock)?)?"
_POWERS: Final = "all|sys_admin|sys_module|sys_rawio|dac_read_search"
# They take TLS 1.0 or 1.1: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/describe-ssl-policies.html (2026-11)
_OLD_POLICIES: Final = (
    "elbsecuritypolicy-(2015-05|2016-08|tls-1-[01]-20.*|fs-2018-06|fs-1-1-2019-08|tls13-1-[01]-2021-06)"
)
_SCRIPTS: Final = (
    ("EC2::LaunchTemplate", "LaunchTemplateData.UserData"),
    ("EC2::Instance", "UserData"),
    ("ImageBuilder::Component", "Data"),
    ("CodeBuild::Project", "Source.BuildSpec"),
)
# Not the metadata service of EC2, nor hosts of the own network.
_PLAIN: Final = re.compile(
    r"(?:curl|wget|pip3? install|rpm|dnf|yum)\b[^\n|;&]*?\s(http://(?!169\.254|localhost|127\.|10\.|\$)[\w.-]+\.[a-z]{2,})"
)
_DATABASES: Final = ("SnapshotIdentifier", "DBSnapshotIdentifier", "SourceDBInstanceIdentifier", "DBClusterIdentifier", "SourceDBClusterIdentifier")  # fmt: skip
# Code, types, path, form of unsafe values in lower case, empty for a missing one, what that does, and what is safe. From the controls of AWS Security Hub CSPM and the
# guides of the services (2026-11): https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-controls-reference.html
_SETTINGS: Final = (
    (PUBLIC, "RDS::DBInstance RDS::DBCluster", "PubliclyAccessible", "true", "it has a public address", "false"),
    (PUBLIC, "ImageBuilder::DistributionConfiguration", "Distributions.*.AmiDistributionConfiguration.LaunchPermissionConfiguration.UserGroups.*", "all", "every account may launch the image", "UserIds or organizations"),
    (PUBLIC, "SSM::Document", "Permissions.Share.*", "all", "every account may read it", "accounts"),
    (ENCRYPTION, "RDS::DBInstance", "StorageEncrypted", "false|", "a new database is not encrypted by itself", "true"),
    (ENCRYPTION, "RDS::DBCluster", "StorageEncrypted", "false", "rows are stored in plain text", "true"),
    (ENCRYPTION, "ImageBuilder::ImageRecipe ImageBuilder::ContainerRecipe", "BlockDeviceMappings.*.Ebs.Encrypted", "false", "the image is stored in plain text", "true"),
    (_IN_CLEAR, "ElasticLoadBalancingV2::Listener", "SslPolicy", _OLD_POLICIES, "it takes TLS 1.0 or 1.1", "ELBSecurityPolicy-TLS13-1-2-2021-06"),
    (_IN_CLEAR, "SNS::Subscription", "Protocol", "http", "messages travel in plain text", "https"),
    (_IN_CLEAR, "ECS::TaskDefinition", "Volumes.*.EFSVolumeConfiguration.TransitEncryption", "disabled", "files travel in plain text", "ENABLED"),
    (_IN_CLEAR, CONTAINER, "Volumes.*.EfsVolumeConfiguration.TransitEncryption", "disabled", "files travel in plain text", "ENABLED"),
    (_OWNS_NODE, CONTAINER, "Privileged", "true", "the container has root access to the node", "false, and the devices it needs by name"),
    (_OWNS_NODE, CONTAINER, "Volumes.*.Host.SourcePath", _FOLDERS, "the container mounts a system folder, which gives it control of the node", "directories made for jobs"),
    (_OWNS_NODE, CONTAINER, "LinuxParameters.Capabilities.Add.*", _POWERS, "with this the container controls the node", "no such capability"),
    (_OWNS_NODE, "ECS::TaskDefinition", "PidMode", "host", "the task sees all processes of the node", "task"),
    (_OWNS_NODE, "ECS::TaskDefinition", "IpcMode", "host", "the task shares memory with every other one", "task"),
    (_OWNS_NODE, "ECS::TaskDefinition", "Volumes.*.Host.SourcePath", _FOLDERS, "the task mounts a system folder, which gives it control of the node", "directories made for tasks"),
    (_OWNS_NODE, "Batch::JobDefinition", "EksProperties.PodProperties.Containers.*.SecurityContext.Privileged", "true", "the container has root access to the node", "false"),
    (_OWNS_NODE, "Batch::JobDefinition", "EksProperties.PodProperties.Volumes.*.HostPath.Path", _FOLDERS, "the pod mounts a system folder, which gives it control of the node", "directories made for jobs"),
    (TOKENS, "EC2::Instance ImageBuilder::InfrastructureConfiguration", "MetadataOptions.HttpTokens", "optional", "instance metadata is read without a token", "required"),
    (TOKENS, "EC2::Instance ImageBuilder::InfrastructureConfiguration", "InstanceMetadataOptions.HttpTokens", "optional", "instance metadata is read without a token", "required"),
    ("UC5207", "S3::Bucket", "AccessControl", "publicread|publicreadwrite|authenticatedread", "everybody may read it", "a bucket policy"),
    ("UC5212", "DynamoDB::Table", "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "false|", "a wrong write cannot be undone", "true"),
    ("UC5214", "KMS::Key", "Enabled", "false", "what the key encrypts can be neither read nor written", "true"),
    ("UC5216", "Logs::LogGroup", "RetentionInDays", "", "logs are kept and billed for ever", "a number of days, such as 90"),
    (_AUDIT, "Logs::LogGroup", "RetentionInDays", "1", "events are deleted after a day, while jobs still run", "a week or more"),
    (_AUDIT, "SQS::Queue", "MessageRetentionPeriod", r"\d{2,3}|[12]\d{3}|3[0-5]\d\d", "messages are deleted within an hour", "days"),
    (CALLERS, "Lambda::Url", "AuthType", "none", "anyone who knows the URL can invoke the function", "AWS_IAM"),
    ("UC4226", "EC2::LaunchTemplate", "LaunchTemplateData.BlockDeviceMappings.*.Ebs.DeleteOnTermination", "false", "each node that ends leaves its volume, which is billed", "true"),
    (BILLED, "ImageBuilder::InfrastructureConfiguration", "TerminateInstanceOnFailure", "false", "instances of failed builds keep running", "true"),
    (_AUDIT, "CloudTrail::Trail", "IsLogging", "false", "nothing is recorded", "true"),
    (_AUDIT, "CloudTrail::Trail", "EnableLogFileValidation", "false|", "changed log files are not noticed", "true"),
    (_AUDIT, "ECR::Repository", "ImageTagMutability", "mutable", "the image behind a tag may be replaced unnoticed", "IMMUTABLE"),
    (_AUDIT, "ECR::Repository", "ImageScanningConfiguration.ScanOnPush", "false", "images are never searched for known vulnerabilities", "true"),
    (_AUDIT, "StepFunctions::StateMachine", "LoggingConfiguration.Level", "off", "failed runs leave no trace in the log", "ERROR or ALL"),
)  # fmt: skip


@rule()
def settings_are_safe(templates: Templates) -> Iterator[Wrong]:
    """Find settings of one resource that are unsafe whatever else a template has."""
    for code, types, path, unsafe, problem, allowed in _SETTINGS:
        for at in places(templates, types, path):
            value = "" if at.missing else at.text
            if value is not None and re.fullmatch(unsafe, value.lower()) and not _is_copied(at):
                got = problem if at.missing else f"got {quote(at.text)}: {problem}"
                yield Problem.of(at, code, got, allowed)


def _is_copied(at: Property) -> bool:
    """Return whether a database takes its encryption from a snapshot, cluster or source."""
    return at.path[-1] == "StorageEncrypted" and any(not at.resource[name].missing for name in _DATABASES)


@rule(PUBLIC, "AWS::EKS::Cluster")
def api_servers_are_private(cluster: Resource) -> Iterator[Wrong]:
    """Find Kubernetes API servers that every address reaches."""
    network = cluster["ResourcesVpcConfig"]
    public, sources = network["EndpointPublicAccess"], network["PublicAccessCidrs"]
    everyone = sources.empty or {"0.0.0.0/0", "::/0"} & {*sources.texts}
    if (public.missing or public.flag) and everyone:
        at = public if sources.empty else sources
        got = "every address on the internet reaches the API server of Kubernetes"
        yield at, got, "EndpointPublicAccess: false, or PublicAccessCidrs of the clients"
    inside = network["EndpointPrivateAccess"]
    if public.flag is False and inside.off:
        got = "neither the internet nor the network reaches the API server, which Amazon EKS refuses"
        yield Problem.of(inside, BOUNDS, got, "true")


@rule(_IN_CLEAR, "AWS::ElasticLoadBalancingV2::Listener")
def listeners_ask_for_tls(listener: Resource) -> Iterator[Wrong]:
    """Find listeners that forward plain HTTP, or take the oldest policy by default."""
    protocol, policy = listener["Protocol"], listener["SslPolicy"]
    actions = {action["Type"].text for action in listener["DefaultActions"].items}
    if protocol.text == "HTTP" and "forward" in actions:
        yield protocol, "requests and answers travel in plain text", "HTTPS with a certificate, or a redirect"
    if protocol.text in {"HTTPS", "TLS"} and policy.missing:
        got = "no policy, which is ELBSecurityPolicy-2016-08 with TLS 1.0"
        yield policy, got, "ELBSecurityPolicy-TLS13-1-2-2021-06"


@rule(ENCRYPTION, "AWS::SQS::Queue")
def messages_are_encrypted(queue: Resource) -> Iterator[Wrong]:
    """Find queues whose encryption is switched off."""
    if queue["SqsManagedSseEnabled"].flag is False and queue["KmsMasterKeyId"].missing:
        yield queue["SqsManagedSseEnabled"], "messages are stored in plain text", "true"


@rule(_IN_CLEAR)
def installers_are_fetched_with_tls(templates: Templates) -> Iterator[Wrong]:
    """Find programs that nodes, builds and images fetch over plain HTTP and run."""
    for kind, path in _SCRIPTS:
        for at in places(templates, kind, path):
            address = _PLAIN.search(at.pattern)
            if address is not None:
                got = f"{address[1]} is fetched in plain text, which anyone on the way can change"
                yield at, got, "https"
