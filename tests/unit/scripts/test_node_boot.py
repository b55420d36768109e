"""The boot script runs here for real, in a folder instead of /, with stand-ins for the commands that need a node."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[3] / "constructs/ultracluster/scripts/node-boot.sh"
FILE_SYSTEM = {
    "UC_FILE_SYSTEM_DNS": "fs-1.fsx.us-east-2.amazonaws.com",
    "UC_FILE_SYSTEM_MOUNT": "abcdefgh",
    "UC_MOUNT_PATH": "/fsx",
}


class Node:
    """A folder that stands for a node, and the commands that its boot called."""

    def __init__(self, root: Path) -> None:
        self.root = root / "node"
        self.commands = root / "bin"
        self.calls = root / "calls"
        for folder in ("dev/infiniband", "etc/security/limits.d", "etc/sysctl.d", "var/log"):
            (self.root / folder).mkdir(parents=True)
        self.commands.mkdir()
        for command in (
            "logger",
            "modprobe",
            "mount",
            "mount.lustre",
            "shutdown",
            "sleep",
            "sysctl",
            "systemctl",
        ):
            self.stand_in(command)
        for command in ("bash", "cat", "cp", "mkdir", "tee"):
            (self.commands / command).symlink_to(str(shutil.which(command)))

    def stand_in(self, command: str, body: str = "exit 0") -> None:
        path = self.commands / command
        path.write_text(f'#!/bin/bash\necho "{command} $*" >>"{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def devices(self, *, neuron: int, efa: int) -> None:
        for index in range(neuron):
            (self.root / f"dev/neuron{index}").touch()
        for index in range(efa):
            (self.root / f"dev/infiniband/uverbs{index}").touch()

    def boot(self, *, script: Path = SCRIPT, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.commands),
            "UC_ROOT": str(self.root),
            "UC_NEURON_DEVICES": "16",
            "UC_EFA_DEVICES": "16",
            "UC_DEVICE_WAIT_SECONDS": "4",
            "UC_MOUNT_ATTEMPTS": "3",
        }
        return subprocess.run(
            ["bash", str(script)],
            env=environment | settings,
            text=True,
            capture_output=True,
            check=False,
            timeout=20,
        )

    @property
    def called(self) -> list[str]:
        return self.calls.read_text().splitlines()

    @property
    def refused(self) -> bool:
        return "systemctl mask --now ecs.service" in self.called


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_node_has_a_place_for_orders_before_any_container_looks_for_it(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    node.boot()
    assert (node.root / "run/ultracluster").is_dir()


def test_a_complete_node_joins(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    done = node.boot()
    assert done.returncode == 0, done.stderr
    assert not node.refused
    assert "ultracluster: ready" in (node.root / "var/log/ultracluster-boot.log").read_text()


@pytest.mark.parametrize(
    ("neuron", "efa", "reason"),
    [(15, 16, "15 of 16 Neuron devices"), (16, 15, "15 of 16 EFA devices"), (0, 0, "0 of 16 Neuron devices")],
)
def test_a_node_without_all_its_devices_refuses_to_join_and_logs_the_reason(
    node: Node, neuron: int, efa: int, reason: str
) -> None:
    node.devices(neuron=neuron, efa=efa)
    done = node.boot()
    assert done.returncode == 1
    assert node.refused
    assert f"ultracluster: refused to join the cluster: {reason}" in done.stdout
    assert "ready" not in done.stdout


def test_a_node_that_refuses_prints_the_reason_on_its_console_and_shuts_down(node: Node) -> None:
    node.devices(neuron=15, efa=16)
    node.boot()
    console = (node.root / "dev/console").read_text()
    assert console == "ultracluster: refused to join the cluster: 15 of 16 Neuron devices\n"
    assert node.called.index("systemctl mask --now ecs.service") < node.called.index("shutdown --poweroff +1")


def test_a_node_without_shutdown_ends_itself_by_its_init(node: Node) -> None:
    node.stand_in("shutdown", "exit 127")
    node.boot()
    assert node.called[-1] == "systemctl poweroff"


def test_a_node_that_joins_does_not_end_itself(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    node.boot()
    assert not [call for call in node.called if "poweroff" in call]
    assert not (node.root / "dev/console").exists()


def test_waits_for_devices_that_drivers_make_late(node: Node) -> None:
    node.devices(neuron=15, efa=16)
    node.stand_in("sleep", f'PATH={os.defpath}; touch "{node.root}/dev/neuron15"')
    assert node.boot().returncode == 0
    assert "sleep 2" in node.called


def test_does_not_take_other_files_for_devices(node: Node) -> None:
    node.devices(neuron=15, efa=16)
    (node.root / "dev/neuron_control").touch()
    (node.root / "dev/infiniband/rdma_cm").touch()
    assert node.boot().returncode == 1


def test_a_type_without_efa_expects_none(node: Node) -> None:
    node.devices(neuron=1, efa=0)
    assert node.boot(UC_NEURON_DEVICES="1", UC_EFA_DEVICES="0").returncode == 0


def test_sets_the_limits_that_efa_needs(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    node.boot()
    limits = (node.root / "etc/security/limits.d/90-ultracluster.conf").read_text()
    assert "* soft memlock unlimited\n* hard memlock unlimited\n" in limits


def test_settings_of_the_agent_are_behind_those_of_aws_batch(node: Node) -> None:
    # ecs-init takes the last line of a name, and AWS Batch writes ten minutes: aws/aws-cdk#9900.
    node.devices(neuron=16, efa=16)
    node.boot()
    config = node.root / "etc/ecs/ecs.config"
    config.write_text("ECS_CLUSTER=Batch\nECS_IMAGE_MINIMUM_CLEANUP_AGE=10m\n")
    unit = (node.root / "etc/systemd/system/ecs.service.d/ultracluster.conf").read_text()
    section, start = unit.splitlines()
    command = start.removeprefix("ExecStartPre=").replace("/etc/ecs/", f"{node.root}/etc/ecs/")
    subprocess.run(["bash", "-c", command], check=True)
    settings = dict(line.split("=") for line in config.read_text().splitlines())
    assert section == "[Service]"
    assert "systemctl daemon-reload" in node.called
    assert settings == {
        "ECS_CLUSTER": "Batch",
        "ECS_IMAGE_MINIMUM_CLEANUP_AGE": "168h",
        "ECS_AWSVPC_BLOCK_IMDS": "true",
    }


def test_mounts_the_file_system_now_and_after_a_reboot(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    assert node.boot(**FILE_SYSTEM).returncode == 0
    source = "fs-1.fsx.us-east-2.amazonaws.com@tcp:/abcdefgh"
    assert f"mount -t lustre -o relatime,flock {source} {node.root}/fsx" in node.called
    assert (
        f"{source} /fsx lustre relatime,flock,_netdev,nofail 0 0\n" in (node.root / "etc/fstab").read_text()
    )
    assert (node.root / "fsx").is_dir()


def test_tries_to_mount_again_while_the_file_system_is_not_there(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    node.stand_in("mount", f'[ "$(PATH={os.defpath} grep -c "^mount -t" "{node.calls}")" -ge 3 ]')
    assert node.boot(**FILE_SYSTEM).returncode == 0
    assert sum(call.startswith("mount -t") for call in node.called) == 3


def test_refuses_to_join_without_its_file_system(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    node.stand_in("mount", "exit 32")
    done = node.boot(**FILE_SYSTEM)
    assert done.returncode == 1
    assert node.refused
    assert sum(call.startswith("mount -t") for call in node.called) == 3


def test_refuses_to_join_from_an_image_without_the_lustre_client(node: Node) -> None:
    node.devices(neuron=16, efa=16)
    (node.commands / "mount.lustre").unlink()
    done = node.boot(**FILE_SYSTEM)
    assert node.refused
    assert "no Lustre client" in done.stdout
