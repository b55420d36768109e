"""User data of a node, as a MIME multi-part archive, which AWS Batch requires."""

import base64
import bz2
import re
from collections.abc import Sequence

from ultracluster._foundation.script import lean_script, read_script
from ultracluster.nodes.node_metrics import NodeMetrics
from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_catalog.machines.instance_type import InstanceType

_BOUNDARY = "==ULTRACLUSTER=="
_END = 'say "ready"\n'

# The script is packed, because EC2 limits user data to 16 KiB and AWS Batch adds another part. bzip2, because its output is the same
# in every build of Python; a different one would change the launch template. Python is on every node: cloud-init, which
# runs this, is written in it. A node that cannot unpack the script must not join unchecked.
_UNPACK = (
    "boot=$(python3 -c 'import base64, bz2, sys; "
    "print(bz2.decompress(base64.b85decode(\"\".join(sys.stdin.read().split()))).decode())' <<'UC_PACKED'\n"
    "{packed}\n"
    "UC_PACKED\n"
    ") || { systemctl mask --now ecs.service; "
    "echo 'ultracluster: refused to join the cluster: its boot script cannot be unpacked' >/dev/console; "
    "shutdown --poweroff +1; exit 1; }\n"
    'eval "$boot"\n'
)


def node_user_data(
    *,
    instance_type: InstanceType,
    efa_devices: int,
    file_system: SharedFileSystem | None,
    scratch_path: str | None,
    metrics: NodeMetrics | None = None,
    ecs_cluster_arn: str | None = None,
    further: str | None = None,
) -> str:
    """Return the user data of a node as plain text; the instance type and `efa_devices` are what its checks expect."""
    settings = {
        "UC_NEURON_DEVICES": str(len(instance_type.neuron_devices)),
        "UC_EFA_DEVICES": str(efa_devices),
    }
    if file_system is not None:
        settings |= {
            "UC_FILE_SYSTEM_DNS": file_system.dns_name,
            "UC_FILE_SYSTEM_MOUNT": file_system.mount_name,
            "UC_MOUNT_PATH": file_system.mount_path,
        }
    parts = []
    if instance_type.gpus:
        settings["UC_GPUS"] = str(instance_type.gpus)
        parts.append("node-gpus.sh")
    if scratch_path is not None:
        settings |= {"UC_SCRATCH_PATH": scratch_path, "UC_SCRATCH_DISKS": str(instance_type.nvme_count)}
        parts.append("node-scratch.sh")
    if ecs_cluster_arn is not None:
        settings["UC_ECS_CLUSTER"] = ecs_cluster_arn
        parts.append("node-cluster.sh")
    script = boot_script(parts)
    if metrics is not None:
        settings |= metrics.settings
        script = metrics_script() + script
    exports = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
    own = f"#!/bin/bash\n{exports}{_packed(script)}"
    # cloud-init runs the parts in this order, each one whatever became of the one before.
    scripts = [own, *([f"{further}\n"] if further else ())]
    return (
        "MIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"\n'
        "\n"
        + "".join(
            f'--{_BOUNDARY}\nContent-Type: text/x-shellscript; charset="us-ascii"\n\n{each}'
            for each in scripts
        )
        # A blank line before the end, as in the AWS Batch User Guide: without it, AWS Batch does not recognize the text as MIME multipart
        # (aws/aws-cdk#6427).
        + f"\n--{_BOUNDARY}--\n"
    )


def _packed(script: str) -> str:
    """Return a script that unpacks and runs another one, without its comments."""
    lean = re.sub(r"^ *#(?!!).*\n", "", script, flags=re.MULTILINE)
    encoded = base64.b85encode(bz2.compress(lean.encode("ascii"))).decode("ascii")
    lines = (encoded[start : start + 100] for start in range(0, len(encoded), 100))
    return _UNPACK.replace("{packed}", "\n".join(lines))


def boot_script(parts: Sequence[str]) -> str:
    """Return the script that a node runs at first boot, with further files of ``scripts`` after its own checks.

    Parts that a node does not use are left out, so that changes to them do not change its launch template.
    """
    checks, end, rest = read_script("node-boot.sh").rpartition(_END)
    launcher = _with_source("node-launcher.sh", "launch.py")
    return "".join((checks, *map(read_script, parts), launcher, end, rest))


def metrics_script() -> str:
    """Return the script that starts the metrics service.

    Comments and docstrings of the service are removed, because user data is limited to 16 KiB.
    """
    return _with_source("node-metrics.sh", "node_metrics.py")


def _with_source(name: str, source: str) -> str:
    """Return a script with a Python script in its here-document."""
    before, start, after = read_script(name).partition("<<'UC_SOURCE' || return\n")
    return f"{before}{start}{lean_script(source)}{after}"
