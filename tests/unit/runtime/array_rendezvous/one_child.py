"""Run one child of an array in a process of its own: PLACE INDEX SIZE ATTEMPT PROGRAM..., with short times."""

import sys
import uuid
from pathlib import Path

from ultracluster_runtime.array_rendezvous.member import run_member
from ultracluster_runtime.array_rendezvous.places import Folder
from ultracluster_runtime.array_rendezvous.rendezvous import Child, Settings

CODES = {"success": 0, "failure": 1, "again": 112}

if __name__ == "__main__":
    place, index, size, attempt, *program = sys.argv[1:]
    child = Child(
        job="job",
        index=int(index),
        size=int(size),
        attempt=int(attempt),
        nonce=uuid.uuid4().hex[:8],
        address=f"10.0.{attempt}.{index}",
    )
    outcome = run_member(
        child,
        Settings(poll=0.05, deadline=15, lease=1.5),
        Folder(Path(place)),
        lambda start: [*program, index, str(start.generation), ",".join(start.addresses)],
    )
    sys.stdout.write(outcome.reason)
    sys.exit(CODES[outcome.result])
