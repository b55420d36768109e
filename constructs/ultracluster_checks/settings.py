"""Settings of single resources that open them to everybody, keep their data or traffic in plain text, or turn audits off."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.codes import BILLED, BOUNDS, CALLERS, ENCRYPTION, PUBLIC, TOKENS
from ultracluster_checks.model.template import Property, Resource, Templates, places
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_rules.findings import quote

_IN_CLEAR: Final = "UC6471"
_AUDIT: Final = "UC6472"
_OWNS_NODE: Final = "UC6410"
_TRUE: Final[frozenset[str | None]] = frozenset({"true"})
_FALSE: Final[frozenset[str | None]] = frozenset({"false"})
_OFF: Final[frozenset[str | None]] = frozenset({"false", None})  # None stands for a missing property
_EVERYWHERE: Final = {"0.0.0.0/0", "::/0"}
_FOLDERS: Final[frozenset[str | None]] = frozenset(
    {"/", "/etc", "/var", "/var/run", "/run", "/var/run/docker.sock", "/run/docker.sock", "/root", "/proc", "/sys"}
)  # fmt: skip
_POWERS: Final[frozenset[str | None]] = frozenset(
    {"all", "sys_admin", "sys_module", "sys_rawio", "dac_read_search"}
)
# Policies that take TLS 1.0 or 1.1: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/describe-ssl-policies.html (2026-11)
_OLD_POLICIES: Final[frozenset[str | None]] = frozenset(
    f"elbsecuritypolicy-{each}"
    for each in ("2015-05", "2016-08", "tls-1-0-2015-04", "tls-1-1-2017-01", "fs-2018-06", "fs-1-1-2019-08", "tls13-1-0-2021-06", "tls13-1-1-2021-06")
)  # fmt: skip
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
_SNAPSHOTS: Final = ("SnapshotIdentifier", "DBSnapshotIdentifier", "SourceDBInstanceIdentifier", "DBClusterIdentifier", "SourceDBClusterIdentifier", "SnapshotName")  # fmt: skip
# Code, types, path, unsafe values in lower case, what that does, and what is safe. From the controls of AWS Security Hub CSPM and the
# guides of the services (2026-11): https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-controls-reference.html
_ROWS: Final[tuple[tuple[str, str, str, frozenset[str | None], str, str], ...]] = (
    (PUBLIC, "RDS::DBInstance RDS::DBCluster Redshift::Cluster DMS::ReplicationInstance Neptune::DBInstance", "PubliclyAccessible", _TRUE, "it has a public address", "false"),
    (PUBLIC, "ImageBuilder::DistributionConfiguration", "Distributions.*.AmiDistributionConfiguration.LaunchPermissionConfiguration.UserGroups.*", frozenset({"all"}), "every account may launch the image", "UserIds or organizations"),
    (PUBLIC, "SageMaker::NotebookInstance", "DirectInternetAccess", frozenset({"enabled"}), "the notebook has its own way to the internet", "Disabled, and a subnet"),
    (PUBLIC, "SageMaker::Domain", "AppNetworkAccessType", frozenset({"publicinternetonly"}), "notebooks have their own way to the internet", "VpcOnly"),
    (PUBLIC, "SSM::Document", "Permissions.Share.*", frozenset({"all"}), "every account may read it", "accounts"),
    (PUBLIC, "S3::AccessPoint S3::MultiRegionAccessPoint", "PublicAccessBlockConfiguration.BlockPublicPolicy", _FALSE, "a policy could make it public", "true"),
    (PUBLIC, "S3::AccessPoint S3::MultiRegionAccessPoint", "PublicAccessBlockConfiguration.RestrictPublicBuckets", _FALSE, "a policy could make it public", "true"),
    (PUBLIC, "Lambda::LayerVersionPermission", "Principal", frozenset({"*"}), "every account may read the layer", "accounts"),
    (PUBLIC, "MSK::Cluster", "BrokerNodeGroupInfo.ConnectivityInfo.PublicAccess.Type", frozenset({"service_provided_eips"}), "brokers have public addresses", "DISABLED"),
    (ENCRYPTION, "RDS::DBInstance", "StorageEncrypted", _OFF, "a new database is not encrypted by itself", "true"),
    (ENCRYPTION, "RDS::DBCluster Neptune::DBCluster DocDB::DBCluster", "StorageEncrypted", _FALSE, "rows are stored in plain text", "true"),
    (ENCRYPTION, "ElastiCache::ReplicationGroup", "AtRestEncryptionEnabled", _OFF, "the cache is stored in plain text", "true"),
    (ENCRYPTION, "Redshift::Cluster", "Encrypted", _FALSE, "got false", "true"),
    (ENCRYPTION, "OpenSearchService::Domain Elasticsearch::Domain", "EncryptionAtRestOptions.Enabled", _OFF, "the index is stored in plain text", "true"),
    (ENCRYPTION, "ImageBuilder::ImageRecipe ImageBuilder::ContainerRecipe", "BlockDeviceMappings.*.Ebs.Encrypted", _FALSE, "the image is stored in plain text", "true"),
    (ENCRYPTION, "AutoScaling::LaunchConfiguration", "BlockDeviceMappings.*.Ebs.Encrypted", _OFF, "a new volume is not encrypted by itself", "true"),
    (ENCRYPTION, "CodeBuild::Project", "Artifacts.EncryptionDisabled", _TRUE, "artifacts are stored in plain text", "false"),
    (ENCRYPTION, "DAX::Cluster", "SSESpecification.SSEEnabled", _OFF, "the cache is stored in plain text", "true"),
    (_IN_CLEAR, "ElastiCache::ReplicationGroup", "TransitEncryptionEnabled", _OFF, "requests travel in plain text", "true"),
    (_IN_CLEAR, "OpenSearchService::Domain Elasticsearch::Domain", "NodeToNodeEncryptionOptions.Enabled", _OFF, "nodes talk in plain text", "true"),
    (_IN_CLEAR, "OpenSearchService::Domain Elasticsearch::Domain", "DomainEndpointOptions.EnforceHTTPS", _OFF, "requests may travel in plain text", "true"),
    (_IN_CLEAR, "OpenSearchService::Domain Elasticsearch::Domain", "DomainEndpointOptions.TLSSecurityPolicy", frozenset({"policy-min-tls-1-0-2019-07"}), "it takes TLS 1.0", "Policy-Min-TLS-1-2-PFS-2023-10"),
    (_IN_CLEAR, "ElasticLoadBalancingV2::Listener", "SslPolicy", _OLD_POLICIES, "it takes TLS 1.0 or 1.1", "ELBSecurityPolicy-TLS13-1-2-2021-06"),
    (_IN_CLEAR, "CloudFront::Distribution", "DistributionConfig.ViewerCertificate.MinimumProtocolVersion", frozenset({"sslv3", "tlsv1", "tlsv1_2016", "tlsv1.1_2016"}), "it takes TLS 1.0 or 1.1", "TLSv1.2_2021"),
    (_IN_CLEAR, "CloudFront::Distribution", "DistributionConfig.DefaultCacheBehavior.ViewerProtocolPolicy", frozenset({"allow-all"}), "requests may travel in plain text", "redirect-to-https"),
    (_IN_CLEAR, "CloudFront::Distribution", "DistributionConfig.Origins.*.CustomOriginConfig.OriginProtocolPolicy", frozenset({"http-only"}), "requests to the origin travel in plain text", "https-only"),
    (_IN_CLEAR, "ApiGateway::DomainName", "SecurityPolicy", frozenset({"tls_1_0"}), "it takes TLS 1.0", "TLS_1_2"),
    (_IN_CLEAR, "MSK::Cluster", "EncryptionInfo.EncryptionInTransit.ClientBroker", frozenset({"plaintext", "tls_plaintext"}), "messages travel in plain text", "TLS"),
    (_IN_CLEAR, "SNS::Subscription", "Protocol", frozenset({"http"}), "messages travel in plain text", "https"),
    (_IN_CLEAR, "ECS::TaskDefinition", "Volumes.*.EFSVolumeConfiguration.TransitEncryption", frozenset({"disabled"}), "files travel in plain text", "ENABLED"),
    (_IN_CLEAR, "Batch::JobDefinition", "ContainerProperties.Volumes.*.EfsVolumeConfiguration.TransitEncryption", frozenset({"disabled"}), "files travel in plain text", "ENABLED"),
    (_IN_CLEAR, "Batch::JobDefinition", "NodeProperties.NodeRangeProperties.*.Container.Volumes.*.EfsVolumeConfiguration.TransitEncryption", frozenset({"disabled"}), "files travel in plain text", "ENABLED"),
    (_OWNS_NODE, "Batch::JobDefinition", "ContainerProperties.Privileged", _TRUE, "the container has root access to the node", "false, and the devices it needs by name"),
    (_OWNS_NODE, "Batch::JobDefinition", "ContainerProperties.Volumes.*.Host.SourcePath", _FOLDERS, "the container mounts a system folder, which gives it control of the node", "directories made for jobs"),
    (_OWNS_NODE, "Batch::JobDefinition", "NodeProperties.NodeRangeProperties.*.Container.Privileged", _TRUE, "the container has root access to the node", "false, and the devices it needs by name"),
    (_OWNS_NODE, "Batch::JobDefinition", "NodeProperties.NodeRangeProperties.*.Container.Volumes.*.Host.SourcePath", _FOLDERS, "the container mounts a system folder, which gives it control of the node", "directories made for jobs"),
    (_OWNS_NODE, "ECS::TaskDefinition", "ContainerDefinitions.*.Privileged", _TRUE, "the container has root access to the node", "false, and the devices it needs by name"),
    (_OWNS_NODE, "ECS::TaskDefinition", "ContainerDefinitions.*.LinuxParameters.Capabilities.Add.*", _POWERS, "with this the container controls the node", "no such capability"),
    (_OWNS_NODE, "ECS::TaskDefinition", "PidMode", frozenset({"host"}), "the task sees all processes of the node", "task"),
    (_OWNS_NODE, "ECS::TaskDefinition", "IpcMode", frozenset({"host"}), "the task shares memory with every other one", "task"),
    (_OWNS_NODE, "ECS::TaskDefinition", "Volumes.*.Host.SourcePath", _FOLDERS, "the task mounts a system folder, which gives it control of the node", "directories made for tasks"),
    (_OWNS_NODE, "Batch::JobDefinition", "EksProperties.PodProperties.Containers.*.SecurityContext.Privileged", _TRUE, "the container has root access to the node", "false"),
    (_OWNS_NODE, "Batch::JobDefinition", "EksProperties.PodProperties.Volumes.*.HostPath.Path", _FOLDERS, "the pod mounts a system folder, which gives it control of the node", "directories made for jobs"),
    (_OWNS_NODE, "Batch::JobDefinition", "EcsProperties.TaskProperties.*.Containers.*.Privileged", _TRUE, "the container has root access to the node", "false"),
    (_OWNS_NODE, "SageMaker::NotebookInstance", "RootAccess", frozenset({"enabled"}), "users of the notebook are root", "Disabled"),
    (TOKENS, "AutoScaling::LaunchConfiguration", "MetadataOptions.HttpTokens", frozenset({"optional", None}), "instance metadata is read without a token", "required"),
    (TOKENS, "EC2::Instance ImageBuilder::InfrastructureConfiguration", "MetadataOptions.HttpTokens", frozenset({"optional"}), "instance metadata is read without a token", "required"),
    (TOKENS, "EC2::Instance ImageBuilder::InfrastructureConfiguration", "InstanceMetadataOptions.HttpTokens", frozenset({"optional"}), "instance metadata is read without a token", "required"),
    (TOKENS, "SageMaker::NotebookInstance", "InstanceMetadataServiceConfiguration.MinimumInstanceMetadataServiceVersion", frozenset({"1"}), "instance metadata is read without a token", "2"),
    ("UC5207", "S3::Bucket", "AccessControl", frozenset({"publicread", "publicreadwrite", "authenticatedread"}), "everybody may read it", "a bucket policy"),
    ("UC5212", "DynamoDB::Table", "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", _OFF, "a wrong write cannot be undone", "true"),
    ("UC5214", "KMS::Key", "Enabled", _FALSE, "what the key encrypts can be neither read nor written", "true"),
    ("UC5216", "Logs::LogGroup", "RetentionInDays", frozenset({None}), "logs are kept and billed for ever", "a number of days, such as 90"),
    (CALLERS, "Lambda::Url", "AuthType", frozenset({"none"}), "anyone who knows the URL can invoke the function", "AWS_IAM"),
    ("UC4226", "EC2::LaunchTemplate", "LaunchTemplateData.BlockDeviceMappings.*.Ebs.DeleteOnTermination", _FALSE, "each node that ends leaves its volume, which is billed", "true"),
    (BILLED, "ImageBuilder::InfrastructureConfiguration", "TerminateInstanceOnFailure", _FALSE, "instances of failed builds run until somebody finds them", "true"),
    (_AUDIT, "CloudTrail::Trail", "IsLogging", _FALSE, "nothing is recorded", "true"),
    (_AUDIT, "CloudTrail::Trail", "EnableLogFileValidation", _OFF, "changed log files are not noticed", "true"),
    (_AUDIT, "CloudTrail::Trail", "IsMultiRegionTrail", _FALSE, "calls in other Regions are not recorded", "true"),
    (_AUDIT, "CloudTrail::Trail", "IncludeGlobalServiceEvents", _FALSE, "calls of IAM are not recorded", "true"),
    (_AUDIT, "ECR::Repository", "ImageTagMutability", frozenset({"mutable"}), "the image behind a tag may be replaced unnoticed", "IMMUTABLE"),
    (_AUDIT, "ECR::Repository", "ImageScanningConfiguration.ScanOnPush", _FALSE, "images are never searched for known vulnerabilities", "true"),
    (_AUDIT, "GuardDuty::Detector", "Enable", _FALSE, "nothing is detected", "true"),
    (_AUDIT, "StepFunctions::StateMachine", "LoggingConfiguration.Level", frozenset({"off"}), "failed runs leave no trace in the log", "ERROR or ALL"),
)  # fmt: skip


@rule()
def settings_are_safe(templates: Templates) -> Iterator[Wrong]:
    """Find settings of one resource that are unsafe whatever else a template has."""
    for code, types, path, unsafe, got, allowed in _ROWS:
        for at in places(templates, types, path):
            found = None if at.text is None else at.text.lower()
            if (at.missing or found is not None) and found in unsafe and not _is_decided_elsewhere(at):
                shown = "" if at.missing or got.startswith("got") else f"got {quote(at.text)}: "
                yield Problem.of(at, code, f"{shown}{got}", allowed)


def _is_decided_elsewhere(at: Property) -> bool:
    """Return whether a database takes its encryption from a snapshot or cluster, or a layer is shared in an organization."""
    resource = at.resource
    copied = at.path[-1] == "StorageEncrypted" and any(not resource[each].missing for each in _SNAPSHOTS)
    return copied or (at.path[-1] == "Principal" and not resource["OrganizationId"].missing)


@rule(PUBLIC, "AWS::EKS::Cluster")
def api_servers_are_private(cluster: Resource) -> Iterator[Wrong]:
    """Find Kubernetes API servers that every address reaches."""
    network = cluster["ResourcesVpcConfig"]
    public, sources = network["EndpointPublicAccess"], network["PublicAccessCidrs"]
    everyone = sources.empty or any(each.text in _EVERYWHERE for each in sources.items)
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
    kinds = [each["Type"].text for each in listener["DefaultActions"].items]
    if protocol.text == "HTTP" and "forward" in kinds:
        yield protocol, "requests and answers travel in plain text", "HTTPS with a certificate, or a redirect"
    if protocol.text in {"HTTPS", "TLS"} and listener["Certificates"].empty:
        yield Problem.of(
            listener["Certificates"], BOUNDS, "no certificate, without which there is no TLS", "one"
        )
    if protocol.text in {"HTTPS", "TLS"} and policy.missing:
        got = "no policy, which is ELBSecurityPolicy-2016-08 with TLS 1.0"
        yield policy, got, "ELBSecurityPolicy-TLS13-1-2-2021-06"


@rule(PUBLIC, "AWS::ApiGateway::Method")
def methods_know_their_callers(method: Resource) -> Iterator[Wrong]:
    """Find methods of public APIs that anyone may call."""
    kind, api = method["AuthorizationType"], method["RestApiId"].target
    open_ = kind.text == "NONE" and method["ApiKeyRequired"].off and method["HttpMethod"].text != "OPTIONS"
    private = (
        api is None or not api["Policy"].missing or "PRIVATE" in api["EndpointConfiguration"]["Types"].texts
    )
    if open_ and not private:
        yield kind, "got NONE: anyone who knows the address can call it", "AWS_IAM or an authorizer"


@rule(_AUDIT, "AWS::EKS::Cluster")
def api_servers_keep_an_audit_log(cluster: Resource) -> Iterator[Wrong]:
    """Find clusters that log to CloudWatch and leave the audit log out."""
    at = cluster["Logging"]["ClusterLogging"]["EnabledTypes"]
    kinds = [each["Type"].text for each in at.items]
    if isinstance(at.value, list) and None not in kinds and "audit" not in kinds:
        yield at, "no audit log, which says who did what", "audit"


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
            found = _PLAIN.search(at.pattern)
            if found is not None:
                yield at, f"{found[1]} is fetched in plain text, which anyone on the way can change", "https"


@rule(BOUNDS, "AWS::ECS::Service")
def deployments_have_room(service: Resource) -> Iterator[Wrong]:
    """Find services that may neither stop a task before a new one runs nor start a new one beside it."""
    at = service["DeploymentConfiguration"]
    least, most = at["MinimumHealthyPercent"], at["MaximumPercent"]
    if (least.number or 0) >= 100 >= (most.number or 200):  # noqa: PLR2004 - percent; 200 is the default
        yield (
            most,
            f"got {most.number} with at least {least.number} %, so that no deployment ends",
            "200, or at least 50",
        )
