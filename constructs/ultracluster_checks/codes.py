"""Codes of rules that several modules state, each for the resources that it knows."""

from typing import Final

from ultracluster_spec.findings import Severity
from ultracluster_spec.record import RuleRecord

ONE_SUBNET: Final = "UC3204"
LUSTRE_VERSION: Final = "UC5080"
RETAINED: Final = "UC5201"
LUSTRE_PORTS_OPEN: Final = "UC5203"
ENCRYPTION: Final = "UC5204"
KEPT_IN_S3: Final = "UC5209"
EVERY_ACTION: Final = "UC6420"
IN_TIME: Final = "UC6431"
EVENTS: Final = "UC6432"

OF_ANY_STACK: Final = frozenset({LUSTRE_VERSION, ENCRYPTION, EVERY_ACTION})
"""Rules that constructs of the CDK for other purposes break."""

RECORDS: Final = (
    RuleRecord(
        "UC3204",
        "Nodes with EFA are in one subnet.",
        remedy="Name one subnet: EFA traffic with operating-system bypass does not leave it.",
        source="EC2 user guide, EFA limitations.",
    ),
    RuleRecord(
        "UC5080",
        "A file system has a Lustre version that its nodes can mount.",
        remedy="Set FileSystemTypeVersion: '2.15'; without it, FSx takes 2.10 except for PERSISTENT_2. FSx upgrades an existing file system in place.",
        source="https://github.com/amazonlinux/amazon-linux-2023/issues/723; FSx API reference, CreateFileSystem, FileSystemTypeVersion, 2026-11.",
    ),
    RuleRecord(
        "UC5201",
        "Resources that hold data are retained when their stack is deleted and when they are replaced.",
        remedy="Set both policies to Retain. UpdateReplacePolicy applies when an update replaces the resource.",
        source="CloudFormation user guide, DeletionPolicy and UpdateReplacePolicy.",
        example="Data: {Type: AWS::S3::Bucket, DeletionPolicy: Retain, UpdateReplacePolicy: Retain}",
    ),
    RuleRecord(
        "UC5203",
        "The security group of a file system allows Lustre traffic on all of its ports.",
        remedy="Allow TCP on ports 988 and 1018 to 1023 from the clients and from the file system itself.",
        source="FSx for Lustre user guide, access with Amazon VPC.",
    ),
    RuleRecord(
        "UC5204",
        "A disk or file system that can be encrypted is encrypted.",
        remedy="Set Encrypted to true; it costs nothing.",
        source="Amazon EBS user guide, encryption.",
    ),
    RuleRecord(
        "UC5209",
        "A bucket that a file system writes to keeps overwritten objects.",
        severity=Severity.WARNING,
        remedy="Enable versioning, and let old versions expire after the time in which you would notice a mistake.",
        source="Our decision: a run that goes wrong overwrites its own checkpoints.",
    ),
    RuleRecord(
        "UC6420",
        "A policy allows actions by name.",
        remedy="Name the actions. CloudTrail and IAM Access Analyzer show which ones are used.",
        source="AWS IAM user guide, least privilege.",
    ),
    RuleRecord(
        "UC6431",
        "What ends the jobs or nodes of a Capacity Block runs in time.",
        remedy="Enable the rule, on the default event bus, at least every ten minutes.",
        source="EC2 user guide, Capacity Blocks for ML, 2026-11: a warning 40 minutes and the end of instances 30 minutes before the end; EventBridge user guide, events of AWS services, 2026-11.",
    ),
    RuleRecord(
        "UC6432",
        "A rule about a Capacity Block waits for events that EC2 sends about it.",
        remedy="Match source aws.ec2, both names of the warning, and the ID of the reservation.",
        source="EC2 user guide, monitor Capacity Blocks with EventBridge, 2026-11; marianachow0321/aws-capacity-block-notifications, 2025-09-12, on the names.",
    ),
)
