"""What a node runs at its first boot, in the form that AWS Batch merges: MIME multipart."""

from importlib import resources

from ultracluster.shared_file_system import SharedFileSystem
from ultracluster_catalog.instance_type import InstanceType

__all__ = ["node_user_data"]

_BOUNDARY = "==ULTRACLUSTER=="


def node_user_data(
    *, instance_type: InstanceType, efa_devices: int, file_system: SharedFileSystem | None
) -> str:
    """Give the user data of a node, as plain text.

    Args:
        instance_type: Type of the node; says how many Neuron devices there must be.
        efa_devices: EFA devices that there must be: one for each EFA interface of the launch template.
        file_system: File system to mount. None mounts nothing.
    """
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
    script = resources.files("ultracluster").joinpath("scripts/node-boot.sh").read_text(encoding="ascii")
    exports = "".join(f"export {name}='{value}'\n" for name, value in settings.items())
    return (
        "MIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"\n'
        "\n"
        f"--{_BOUNDARY}\n"
        'Content-Type: text/x-shellscript; charset="us-ascii"\n'
        "\n"
        "#!/bin/bash\n"
        f"{exports}"
        f"{script}"
        f"--{_BOUNDARY}--\n"
    )
