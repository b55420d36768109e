"""Clusters of rollouts whose footprints are compared."""

from pathlib import Path

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout

ROLLOUTS = Path(__file__).parents[4] / "stacks" / "rollouts"
RICH = """
version: 1
waves:
  - name: first
    clusters:
      - name: rich
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn1.32xlarge
        nodes: 2
        image_id: ami-0123456789abcdef0
        capacity:
          reservation_id: cr-0123456789abcdef4
          start: "2026-12-01T11:30:00Z"
          end: "2026-12-03T11:30:00Z"
        additional_capacity:
          - {name: overflow, market_type: on-demand, max_nodes: 1}
          - {name: cheap, market_type: spot}
        network: {nat_gateway: true}
        compile_cache: {request_metrics: true}
        file_system: {storage_capacity_gib: 2400, per_unit_storage_throughput: 125, metadata_iops: 12000}
        datasets: [{name: text}]
        alarms: {emails: [jane@example.com]}
        budget: {monthly_usd: 1000, close_queues_at_percent: 100}
"""

AUTO_SCALING = """
version: 1
waves:
  - name: first
    clusters:
      - name: groups
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 4
        image_id: ami-0123456789abcdef0
        capacity: {reservation_id: cr-0123456789abcdef4, launched_by: auto-scaling}
        notify: [jane@example.com]
"""


def clusters(path: Path) -> list[Cluster]:
    return load_rollout(path).config.clusters()
