"""Nodes of a cluster: their root volume and what they run at first boot.

`NodeGroup` writes both into its launch template; `cost` counts the volume.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from ultracluster_spec.bounds import Between, Checked
from ultracluster_spec.credentials import credential, find_credentials, shown
from ultracluster_spec.findings import Finding
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value

ROOT_DEVICE: Final = "/dev/xvda"
"""Root device of the nodes, that of the AMIs of Amazon Linux."""

ROOT_VOLUME_IOPS: Final = 3_000
"""Operations per second of a root volume, which gp3 has without charge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RootVolume(Value):
    """The root volume of each node: gp3, encrypted, deleted with the node."""

    # https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html: gp3 has 1 GiB to 64 TiB. The ECS-optimized AMIs of
    # Amazon Linux 2023 take 30 GiB (Amazon ECS Developer Guide). Both read 2026-11.
    size_gib: Annotated[int, Between("UC2252", 30, 65_536, remedy="Use at least the size of the AMI")] = 200
    """Size in GiB, 30 to 65,536, at least that of the AMI; images are unpacked to it. AWS recommends 512 for its Neuron
    AMIs. Changing it replaces the nodes. Default: 200."""

    # The same page: 125 MiB/s are without charge, and each of the 3,000 operations can carry a quarter of a MiB/s.
    throughput: Annotated[int, Between("UC2252", 125, ROOT_VOLUME_IOPS // 4)] = 500
    """Throughput in MiB/s, 125 to 750; pulling images of tens of GB waits for it. Changing it replaces the nodes. Default:
    500."""


USER_DATA_BYTES: Final = 2_048
"""Most bytes of further user data: EC2 takes 16 KiB of all parts together, and ours and those of AWS Batch are the rest."""


# Where a command begins, in a script or in cloud-init's runcmd; comments are none.
_START: Final = r"(?:^[^\w#]*|&&\s*|;\s*|\|\|\s*|\b(?:then|do)\s+)(?:sudo\s+)?(?:/?usr/bin/)?"
_MISSING: Final = re.compile(
    rf"{_START}(?P<command>amazon-linux-extras|python2(?:\.7)?)(?=\s|$)|{_START}(?:yum|dnf)\s.*\b(?P<package>epel-release|lustre2\.10)\b",
    re.MULTILINE,
)
_LOOKS: Final = re.compile(r"os-release|system-release|command -v|\bwhich\s|-x /usr/bin/amazon-linux-extras")


def check_commands(text: str) -> list[Finding]:
    """Return what a script for the first boot of nodes calls and Amazon Linux 2023 lacks (UC4180), unless it looks where it runs."""
    found = None if _LOOKS.search(text) else _MISSING.search(text)
    if found is None:
        return []
    got = f"got {found['command'] or found['package']}, which Amazon Linux 2023 lacks"
    return [Finding("UC4180", got, allowed="its own packages, with dnf install")]


def check_user_data(text: str) -> list[Finding]:
    """Return what is wrong with a script for the first boot of nodes (UC4151, UC4180), or a credential in it."""
    size = len(text.encode())
    wrong, remedy = "", ""
    if not text.startswith("#!") or not text.isascii():
        wrong, remedy = f"got {shown(text[:40])}", "Start it with a line such as #!/bin/bash, and write ASCII"
    elif size > USER_DATA_BYTES:
        wrong, remedy = f"got {size:,} bytes", "Put long programs into the AMI, or fetch them from S3"
    elif "ECS_CLUSTER" in text or "ULTRACLUSTER==" in text:
        wrong, remedy = (
            "got a script that sets what is set already",
            "Leave out ECS_CLUSTER and ==ULTRACLUSTER==",
        )
    elif found := find_credentials("user-data.sh", text.encode()):
        line, kind = found[0]
        return [
            credential(
                f"line {line} of the script has {kind}; everyone who may describe launch templates can read it"
            )
        ]
    allowed = f"a script of at most {USER_DATA_BYTES:,} bytes"
    return [Finding("UC4151", wrong, allowed=allowed, remedy=remedy)] if wrong else check_commands(text)


UserData = Annotated[str, Checked(check_user_data)]
"""Script for the first boot of nodes."""


RECORDS: Final = (
    RuleRecord(
        "UC2252",
        "The root volume of a node is large enough for its AMI and within the limits of EBS.",
        remedy="Specify a size and throughput within the limits that the finding names; the volume must hold the snapshot of the AMI, images and logs.",
        source="EBS user guide, General Purpose SSD volumes, 2026-11 (https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html); the root volume of Amazon Linux 2023 for ECS has 30 GiB.",
        example="root_volume: {size_gib: 512, throughput: 750}",
    ),
    RuleRecord(
        "UC4180",
        "User data calls what Amazon Linux 2023 has.",
        remedy="Install its own packages, such as dnf install -y lustre-client; put what it lacks into the AMI.",
        source="https://docs.aws.amazon.com/linux/al2023/ug/compare-with-al2.html: no extras, no EPEL, no Python 2.7, 2026-11.",
        example='user_data: "#!/bin/bash\\ndnf install -y htop\\n"',
        in_templates=True,
    ),
    RuleRecord(
        "UC4151",
        "Further user data is a small script in ASCII that leaves the node in its cluster.",
        remedy="Start the script with a line such as #!/bin/bash, keep it within the bytes that the finding names, and leave the settings of the ECS agent to AWS Batch.",
        source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html: 16 KB before encoding; https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html: parts of a MIME archive, to which AWS Batch adds its own, 2026-11.",
    ),
)
