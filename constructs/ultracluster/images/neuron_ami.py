"""A custom AMI for nodes: EC2 Image Builder adds missing software and your container images to a parent AMI."""

import hashlib
import json
import re
from collections.abc import Sequence

import jsii
from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_imagebuilder as imagebuilder
from constructs import Construct

from ultracluster._foundation.permissions import PULL_ACTIONS, allow, never
from ultracluster.images.bake_component import bake_component
from ultracluster.images.container_image import AnyContainerImage, bind_image, image_of, reference_of
from ultracluster_catalog.names.identifiers import ECR_IMAGE, REGION
from ultracluster_catalog.neuron.neuron_images import (
    BAKED_IMAGE_TAG,
    EFA_INSTALLER_VERSION,
    EFA_INSTALLERS,
    ImagePart,
    NeuronImage,
)
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, is_token, quote, reject, require
from ultracluster_spec.images import check_neuron_image

_SYSTEM = "Amazon Linux 2023"
_VERSION = "1.0.0"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{1,62}[A-Za-z0-9]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EFA_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_LONGEST_DATA = 16_000  # characters; limit of the registry schema of AWS::ImageBuilder::Component
_LEAST_DISK_GIB = 30  # size of the ECS Neuron AMI

# Permissions of AWS Systems Manager for the steps of Image Builder on the instance. Compared with the managed policies of
# the guide, these omit reading all parameters and permissions for container builds. The actions have no resource level, or
# read documents of AWS, whose ARNs vary.
_RUN_COMMAND_ACTIONS = [
    "ec2messages:AcknowledgeMessage",
    "ec2messages:DeleteMessage",
    "ec2messages:FailMessage",
    "ec2messages:GetEndpoint",
    "ec2messages:GetMessages",
    "ec2messages:SendReply",
    "ssm:DescribeDocument",
    "ssm:GetDocument",
    "ssm:ListAssociations",
    "ssm:PutInventory",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
]
_MANAGED_INSTANCE_ACTIONS = [
    "ssm:ListInstanceAssociations",
    "ssm:UpdateInstanceAssociationStatus",
    "ssm:UpdateInstanceInformation",
]


@jsii.implements(iam.IGrantable)
class NeuronAmi(Construct):
    """An EC2 Image Builder pipeline. It builds an AMI when it is started, never at deployment.

    The pipeline installs software that the parent is not known to contain, then tests everything that a node needs, on the
    build instance and on an instance launched from the new AMI. The AMI is tagged ``ultracluster:neuron-ami`` with
    `name`, by which ``ultracluster ami resolve --baked`` finds it.
    """

    name: str
    """Name, which is also the tag value of its AMIs."""
    parts: tuple[ImagePart, ...]
    """Parts that the pipeline adds to the parent."""
    pipeline_arn: str
    """ARN of the pipeline, for ``aws imagebuilder start-image-pipeline-execution``."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        parent: NeuronImage,
        container_images: Sequence[AnyContainerImage] = (),
        cloudwatch_agent: bool = True,
        efa_installer_version: str = EFA_INSTALLER_VERSION,
        efa_installer_sha256: str | None = None,
        vpc: ec2.IVpc | None = None,
        subnet: ec2.ISubnet | None = None,
        instance_type: str = "m6i.large",
        root_volume_gib: int = 100,
        regions: Sequence[str] = (),
    ) -> None:
        """Define the pipeline.

        Args:
            name: Name, unique in an account and Region: 3 to 64 letters, digits and hyphens.
            parent: AMI to start from, based on Amazon Linux 2023.
            container_images: Images in private Amazon ECR repositories, with a tag or digest, to store in the AMI so that
                nodes need not pull them in paid hours: references, or objects as for jobs, except those that
                `ecs.ContainerImage` builds itself. Default: none.
            cloudwatch_agent: Whether to install the CloudWatch agent, which starts once it is configured.
                Default: True.
            efa_installer_version: Version of the EFA installer. Default: the newest of the catalogue.
            efa_installer_sha256: SHA-256 checksum of its archive. Default: that of the catalogue.
            vpc: VPC of the build instance, which must reach the repositories of Amazon Linux and of EFA. Default: the
                default VPC of the account.
            subnet: Subnet of `vpc` for the build instance. Required with `vpc`. Default: none.
            instance_type: Instance type for build and test; it needs no Neuron devices. Default: m6i.large.
            root_volume_gib: Size of the encrypted gp3 root volume in GiB, at least 30; nodes need at least as much.
                Default: 100.
            regions: Further Regions to copy the AMI to. Default: none.

        Raises:
            FindingsError: If the parent has another operating system (UC4051), the EFA installer has no checksum (UC4052),
                an image is not in a private repository (UC4053), or another argument is invalid (UC4054).
        """
        reject(check_neuron_image(parent))
        images = [image_of(image) for image in container_images]
        references = [reference_of(image) for image in images]
        checksum = efa_installer_sha256 or EFA_INSTALLERS.get(efa_installer_version)
        added: tuple[ImagePart, ...] = ("cloudwatch-agent",) if cloudwatch_agent else ()
        parts = parent.facts.missing + added
        data = bake_component(
            parts=parts,
            container_images=references,
            efa_version=efa_installer_version,
            efa_sha256=checksum or "",
        )
        reject(
            [
                *_check_sources(parent, efa_installer_version, checksum, references),
                *_check_place(name=name, vpc=vpc, subnet=subnet, disk=root_volume_gib, regions=regions),
                *_check_document(data, references),
            ]
        )
        super().__init__(scope, construct_id)
        self.name = name
        self.parts = parts
        self._role = _define_build_role(self, [image for image in images if isinstance(image, str)])
        for image in images:
            if not isinstance(image, str):
                bind_image(self, image, self._role)
        recipe = self._define_recipe(data, parent, root_volume_gib)
        infrastructure = self._define_infrastructure(vpc, subnet, instance_type)
        distribution = self._define_distribution(regions)
        pipeline = imagebuilder.CfnImagePipeline(
            self,
            "Resource",
            name=name,
            image_recipe_arn=recipe.attr_arn,
            infrastructure_configuration_arn=infrastructure.attr_arn,
            distribution_configuration_arn=distribution.attr_arn,
            image_tests_configuration=imagebuilder.CfnImagePipeline.ImageTestsConfigurationProperty(
                image_tests_enabled=True, timeout_minutes=60
            ),
            enhanced_image_metadata_enabled=True,
            status="ENABLED",  # without a schedule, the pipeline only runs when it is started
        )
        self.pipeline_arn = pipeline.attr_arn

    def _define_recipe(
        self, data: str, parent: NeuronImage, root_volume_gib: int
    ) -> imagebuilder.CfnImageRecipe:
        # Components and recipes are immutable, and a name with a version is unique. Their names contain a hash of their
        # content, so that CloudFormation creates a replacement before it deletes the old one.
        digest = self._digest(data)
        component = imagebuilder.CfnComponent(
            self,
            "Component",
            name=f"{self.name}-{digest}",
            version=_VERSION,
            platform="Linux",
            supported_os_versions=[_SYSTEM],
            description="What a node of an UltraCluster needs",
            data=data,
        )
        return imagebuilder.CfnImageRecipe(
            self,
            "Recipe",
            name=f"{self.name}-{self._digest(digest, parent.image_id, str(root_volume_gib))}",
            version=_VERSION,
            parent_image=parent.image_id,
            components=[
                imagebuilder.CfnImageRecipe.ComponentConfigurationProperty(component_arn=component.attr_arn)
            ],
            block_device_mappings=[
                imagebuilder.CfnImageRecipe.InstanceBlockDeviceMappingProperty(
                    device_name="/dev/xvda",
                    ebs=imagebuilder.CfnImageRecipe.EbsInstanceBlockDeviceSpecificationProperty(
                        volume_size=root_volume_gib,
                        volume_type="gp3",
                        encrypted=True,
                        delete_on_termination=True,
                    ),
                )
            ],
            # Session Manager gives access to nodes, and delivers the notice that their Capacity Block ends.
            additional_instance_configuration=imagebuilder.CfnImageRecipe.AdditionalInstanceConfigurationProperty(
                systems_manager_agent=imagebuilder.CfnImageRecipe.SystemsManagerAgentProperty(
                    uninstall_after_build=False
                )
            ),
        )

    def _digest(self, *parts: str) -> str:
        text = json.dumps(Stack.of(self).resolve(list(parts)), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _define_infrastructure(
        self, vpc: ec2.IVpc | None, subnet: ec2.ISubnet | None, instance_type: str
    ) -> imagebuilder.CfnInfrastructureConfiguration:
        group = None
        if vpc is not None:
            group = ec2.SecurityGroup(
                self,
                "SecurityGroup",
                vpc=vpc,
                allow_all_outbound=False,
                description="Instances that an AMI is made from: out to package repositories",
            )
            group.add_egress_rule(
                ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "Package repositories, EFA installer"
            )
        return imagebuilder.CfnInfrastructureConfiguration(
            self,
            "Infrastructure",
            name=self.name,
            instance_profile_name=iam.CfnInstanceProfile(
                self, "InstanceProfile", roles=[self._role.role_name]
            ).ref,
            instance_types=[instance_type],
            subnet_id=subnet.subnet_id if subnet else None,
            security_group_ids=[group.security_group_id] if group else None,
            instance_metadata_options=imagebuilder.CfnInfrastructureConfiguration.InstanceMetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
            terminate_instance_on_failure=True,
        )

    def _define_distribution(self, regions: Sequence[str]) -> imagebuilder.CfnDistributionConfiguration:
        properties = imagebuilder.CfnDistributionConfiguration.DistributionProperty
        # A dict with the names of CloudFormation: the CDK passes this property on unchanged, and would keep the camelCase
        # names of its own class, which CloudFormation rejects.
        ami = {
            "Name": f"{self.name}-{{{{ imagebuilder:buildDate }}}}",
            "AmiTags": {BAKED_IMAGE_TAG: self.name},
        }
        return imagebuilder.CfnDistributionConfiguration(
            self,
            "Distribution",
            name=self.name,
            distributions=[
                properties(region=region, ami_distribution_configuration=ami)
                for region in [Stack.of(self).region, *regions]
            ],
        )

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Role of the build instance; grant it permission to pull images whose references are tokens."""
        return self._role


def _define_build_role(scope: Construct, container_images: Sequence[str]) -> iam.Role:
    """Define the role of build instances, which runs the steps, writes logs and pulls images; tokens are granted elsewhere."""
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="The instance that EC2 Image Builder makes an AMI from",
        inline_policies={"Never": iam.PolicyDocument(statements=[never()])},
    )
    account = f"{Aws.REGION}:{Aws.ACCOUNT_ID}"
    statements = [
        allow(
            "Component",
            ["imagebuilder:GetComponent"],
            [f"arn:{Aws.PARTITION}:imagebuilder:{account}:component/*"],
        ),
        allow("Tools", ["s3:GetObject"], [f"arn:{Aws.PARTITION}:s3:::ec2imagebuilder*/*"]),
        allow(
            "Logs",
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
            [f"arn:{Aws.PARTITION}:logs:{account}:log-group:/aws/imagebuilder/*"],
        ),
        allow("RunCommand", _RUN_COMMAND_ACTIONS, ["*"]),
        allow(
            "ManagedInstance",
            _MANAGED_INSTANCE_ACTIONS,
            [
                f"arn:{Aws.PARTITION}:ec2:{account}:instance/*",
                f"arn:{Aws.PARTITION}:ssm:{account}:association/*",
                f"arn:{Aws.PARTITION}:ssm:{account}:managed-instance/*",
            ],
        ),
    ]
    if container_images:  # the others grant it themselves
        statements.append(allow("Login", ["ecr:GetAuthorizationToken"], ["*"]))
    repositories = {
        f"arn:{Aws.PARTITION}:ecr:{match['region']}:{match['account']}:repository/{match['repository']}"
        for image in container_images
        if (match := _private_image(image))
    }
    if repositories:
        statements.append(allow("Pull", PULL_ACTIONS, sorted(repositories)))
    for statement in statements:
        role.add_to_policy(statement)
    return role


def _private_image(image: str) -> re.Match[str] | None:
    """Return account, region and repository of a private image with a tag or digest; None for others and tokens."""
    match = None if is_token(image) else re.fullmatch(ECR_IMAGE, image)
    return match if match and (match["tag"] or match["digest"]) else None


def _check_sources(
    parent: NeuronImage, efa_version: str, efa_sha256: str | None, images: Sequence[str]
) -> list[Finding]:
    """Check the parent, the EFA installer and the container images of an AMI."""
    findings = []
    findings += require(
        parent.facts.operating_system in {_SYSTEM, ""},
        "UC4051",
        f"got {parent.kind}, which is {parent.facts.operating_system}",
        allowed=_SYSTEM,
        path="parent",
    )
    findings += require(
        _EFA_VERSION.fullmatch(efa_version) and _SHA256.fullmatch(efa_sha256 or ""),
        "UC4052",
        f"got version {quote(efa_version)} with checksum {quote(efa_sha256)}",
        allowed=f"{', '.join(EFA_INSTALLERS)}, or another version with its SHA-256",
        path="efa_installer_version",
    )
    findings += [
        Finding(
            "UC4053",
            f"got {quote(image)}",
            allowed="an image in a private repository of Amazon ECR, with a tag or digest",
            path=f"container_images[{index}]",
        )
        for index, image in enumerate(images)
        if not (is_token(image) or _private_image(image))
    ]
    return findings


def _check_document(data: str, images: Sequence[str]) -> list[Finding]:
    """Check that the component document does not exceed the limit of Image Builder."""
    return require(
        len(data) <= _LONGEST_DATA,
        "UC4054",
        f"with {len(images)} images the document has {len(data):,} characters",
        allowed=f"at most {_LONGEST_DATA:,}",
        remedy="Remove images",
        path="container_images",
    )


def _check_place(
    *, name: str, vpc: ec2.IVpc | None, subnet: ec2.ISubnet | None, disk: int, regions: Sequence[str]
) -> list[Finding]:
    """Check the name, the network, the size and the Regions of an AMI."""

    def wrong(path: str, value: object, allowed: str) -> Finding:
        return Finding("UC4054", f"got {quote(value)}", allowed=allowed, path=path)

    findings = []
    if not _NAME.fullmatch(name):
        findings.append(wrong("name", name, "3 to 64 letters, digits and hyphens"))
    findings += require(
        (vpc is None) == (subnet is None),
        "UC4054",
        f"got {'a subnet without its VPC' if vpc is None else 'a VPC without a subnet'}",
        allowed="both or neither",
        path="subnet",
    )
    if disk < _LEAST_DISK_GIB:
        findings.append(wrong("root_volume_gib", disk, f"{_LEAST_DISK_GIB} or more"))
    findings += [
        wrong(f"regions[{index}]", region, "another Region, once")
        for index, region in enumerate(regions)
        if not re.fullmatch(REGION, region) or region in regions[:index]
    ]
    return findings
