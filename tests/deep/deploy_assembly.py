"""Deploys an assembly to a local AWS, and prints the seconds and the number of stacks: python deploy_assembly.py ASSEMBLY."""

import sys
import time
from pathlib import Path

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly

with LocalAws() as local:
    began = time.process_time()
    results = deploy_assembly(local, Path(sys.argv[1]))
    spent = time.process_time() - began
failed = [result for result in results if not result.status.endswith("_COMPLETE")]
if failed:
    sys.exit(f"{failed[0].name}: {failed[0].reason}")
sys.stdout.write(f"{spent} {len(results)}\n")
