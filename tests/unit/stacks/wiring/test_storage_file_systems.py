"""A new file system is linked and tiered as the rollout says; an existing one is imported."""

from pathlib import Path

import pytest
from tests.unit.stacks.storage_rollouts import resources_of_type, synthesized_with_storage

pytestmark = pytest.mark.slow

_KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def test_a_rollout_brings_its_file_system(tmp_path: Path) -> None:
    assembly = synthesized_with_storage(
        tmp_path,
        """\
        file_system:
          file_system_id: fs-0123456789abcdef0
          mount_name: abcdefgh
          zone_id: use2-az3
          security_group_id: sg-0123456789abcdef0
""",
    )
    assert resources_of_type(assembly, "AWS::FSx::FileSystem") == []
    assert resources_of_type(assembly, "AWS::FSx::DataRepositoryAssociation") == []
    (template,) = resources_of_type(assembly, "AWS::EC2::LaunchTemplate")
    assert "fs-0123456789abcdef0.fsx.us-east-2." in str(template)
    rules = resources_of_type(assembly, "AWS::EC2::SecurityGroupIngress")
    assert [each["Properties"]["GroupId"] for each in rules].count("sg-0123456789abcdef0") == 2


def test_a_rollout_has_a_file_system_that_tiers(tmp_path: Path) -> None:
    assembly = synthesized_with_storage(
        tmp_path,
        f"""\
        file_system:
          storage_type: INTELLIGENT_TIERING
          throughput_capacity: 8000
          read_cache: USER_PROVISIONED
          read_cache_gib: 64
          link_checkpoints: false
          kms_key_arn: {_KEY}
          backup_retention_days: 7
          backup_start_time: "03:30"
""",
    )
    (system,) = resources_of_type(assembly, "AWS::FSx::FileSystem")
    assert system["Properties"]["KmsKeyId"] == _KEY
    assert system["Properties"]["LustreConfiguration"] == {
        "AutomaticBackupRetentionDays": 7,
        "DailyAutomaticBackupStartTime": "03:30",
        "DataCompressionType": "LZ4",
        "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
        "DeploymentType": "PERSISTENT_2",
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
        "ThroughputCapacity": 8000,
    }
    assert resources_of_type(assembly, "AWS::FSx::DataRepositoryAssociation") == []
