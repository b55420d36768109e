"""What a rollout needs of an account."""

from pathlib import Path
from typing import Any

from ultracluster_cli.preflight.requirements import rollout_requirements
from ultracluster_runtime.preflight.requirements import FileSystemRequirements
from ultracluster_spec.file_system import FileSystem
from ultracluster_stacks.config import load_rollout

CLUSTER = """\
version: 1
waves:
  - name: first
    clusters:
      - name: train
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 1
        image_id: ami-0123456789abcdef0
        capacity: {reservation_id: cr-0123456789abcdef0}
"""


def needs_of(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "rollout.yaml"
    path.write_text(text)
    loaded = load_rollout(path)
    return rollout_requirements(
        [c for wave in loaded.config.waves for c in wave.clusters], qualifier="q"
    ).clusters[0]


def test_derives_the_requirements_of_the_quick_start(quickstart: Path) -> None:
    (cluster,) = rollout_requirements(
        load_rollout(quickstart).config.waves[0].clusters, qualifier="q"
    ).clusters
    (source,) = cluster.sources
    assert (source.block_quota, source.all_vcpus) == ("L-64569A79", 768)
    # Four nodes with 16 interfaces and one of a task, nine endpoints, and room for a growing file system.
    assert cluster.interfaces == 4 * 17 + 9 + 128
    assert (cluster.storage_quota, cluster.storage_gib) == ("L-8F1B9C74", 4_800)
    assert (cluster.compute_environments, cluster.queues, cluster.new_vpc) == (1, 1, True)
    assert cluster.stacks[0] == "quickstart-us-east-2-Network"


def test_precompile_jobs_need_a_small_node_with_a_separate_queue_and_environment(quickstart: Path) -> None:
    jobs = load_rollout(quickstart.with_name("jobs.yaml")).config.waves[0].clusters
    cluster = rollout_requirements(jobs, qualifier="q").clusters[0]
    assert {one.capacity.market_type for one in cluster.compilers} == {"on-demand"}
    assert {one.nodes for one in cluster.compilers} == {1}
    assert cluster.compute_environments == len(cluster.sources) + len(cluster.compilers)


def test_knows_which_buckets_are_joined_with_the_file_system(tmp_path: Path) -> None:
    buckets = """\
        checkpoints: {bucket_name: our-checkpoints}
        datasets:
          - {name: text, bucket_name: our-text}
          - {name: code, bucket_name: our-code, file_system_path: /code}
        file_system: {link_checkpoints: false}
"""
    cluster = needs_of(tmp_path, CLUSTER + buckets)

    joined = {bucket.name: bucket.joined for bucket in cluster.buckets}
    assert joined == {"our-checkpoints": False, "our-text": False, "our-code": True}


def test_existing_file_system_is_checked_instead_of_a_quota(tmp_path: Path) -> None:
    existing = """\
        network: {vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0}
        file_system: {file_system_id: fs-0123456789abcdef0, mount_name: abcdefgh, security_group_id: sg-0123456789abcdef0}
"""
    cluster = needs_of(tmp_path, CLUSTER + existing)

    assert cluster.file_system == FileSystemRequirements(
        key=("us-east-2", "train", "fs-0123456789abcdef0"),
        file_system=FileSystem(
            file_system_id="fs-0123456789abcdef0",
            mount_name="abcdefgh",
            security_group_id="sg-0123456789abcdef0",
        ),
        zone_id="use2-az3",
        vpc_id="vpc-0123456789abcdef0",
    )
    assert (cluster.storage_quota, cluster.storage_gib) == (None, 0)


def test_scratch_file_system_needs_the_quota_on_scratch_storage(tmp_path: Path) -> None:
    scratch = "        file_system: {deployment_type: SCRATCH_2, storage_capacity_gib: 2400}\n"
    cluster = needs_of(tmp_path, CLUSTER + scratch)

    assert (cluster.storage_quota, cluster.storage_gib) == ("L-AD2FC696", 2_400)
    assert cluster.file_system is None
