"""How long 30 Regions with 3 clusters each take in one app: `python benchmarks/many_regions.py`. A minute; writes nothing."""

import sys
import tempfile
import time
from pathlib import Path

from ultracluster_catalog.places.zones import ZONE_ID_PREFIXES
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import compare, headroom
from ultracluster_stacks.synthesis.app import synthesize
from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache

__all__ = ["main"]

_REGIONS = 30
_CLUSTERS = 3
_WITHOUT_LUSTRE = "ap-southeast-6"  # the CDK's validation warns there, and what it warns about is not kept


def _rollout() -> str:
    known = [item for item in ZONE_ID_PREFIXES.items() if item[1] != _WITHOUT_LUSTRE][:_REGIONS]
    lines = ["version: 1", "defaults: {instance_type: trn1.32xlarge, nodes: 16}", "waves:"]
    lines += ["  - name: all", "    clusters:"]
    for number, (prefix, region) in enumerate(known):
        for cluster in range(_CLUSTERS):
            lines += [
                f"      - name: train{cluster}",
                f"        region: {region}",
                f"        zone_id: {prefix}-az1",
                f"        image_id: ami-{number:017x}",
                f"        capacity: {{reservation_id: cr-{number * _CLUSTERS + cluster:017x}}}",
            ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Synthesize all clusters, then again with the cache, and compare both; print seconds and the fullest stacks."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "rollout.yaml").write_text(_rollout(), encoding="utf-8")
        clusters = load_rollout(root / "rollout.yaml").config.clusters()
        cache = AssemblyCache(root / "cache", fingerprint="benchmark")
        for name in ("nothing known", "all known"):
            began = time.perf_counter()
            synthesize(clusters, root / name, cache=cache)
            sys.stdout.write(f"{len(clusters)} clusters, {name}: {time.perf_counter() - began:.1f} s\n")
        began = time.perf_counter()
        before, after = (assembled_stacks(root / name) for name in ("nothing known", "all known"))
        plan = compare(before, after)
        changes = sum(len(stack.changes) for stack in plan.stacks)
        sys.stdout.write(
            f"plan of {len(after)} stacks: {time.perf_counter() - began:.1f} s, {changes} changes\n"
        )
        sys.stdout.write("".join(f"{each}\n" for each in headroom(after)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
