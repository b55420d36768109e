"""Rollout files with as many clusters as one likes, each like the quick start."""

from pathlib import Path

__all__ = ["write_rollout"]


def write_rollout(path: Path, clusters: int, *, last_block: int | None = None) -> Path:
    """Write a rollout.

    Args:
        path: The file.
        clusters: How many clusters.
        last_block: Number of the last cluster's Capacity Block; another one makes another cluster of it. Default: one
            that never changes.
    """
    lines = [
        "version: 1",
        # A cluster with a warning is not kept in the cache, so that the warning is shown again.
        "defaults: {instance_type: trn2.48xlarge, image_id: ami-0123456789abcdef0, notify: [you@example.com]}",
        "waves:",
        "  - name: first",
        "    clusters:",
    ]
    for number in range(clusters):
        block = last_block if last_block is not None and number == clusters - 1 else number
        lines += [
            f"      - name: cluster-{number:02}",
            "        region: us-east-2",
            "        zone_id: use2-az3",
            "        nodes: 4",
            f"        capacity: {{market_type: capacity-block, reservation_id: cr-{block:017x}}}",
            "        file_system: {storage_capacity_gib: 4800, per_unit_storage_throughput: 250}",
            "        jobs:",
            "          - name: pretrain",
            "            image: 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20",
            "            command: [train.py, --config, /fsx/pretrain.yaml]",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
