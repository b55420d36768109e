"""The parts of the boot script that only some nodes have: GPUs and scratch, run as `test_node_boot` runs the whole."""

import subprocess
from pathlib import Path

import pytest
from tests.unit.scripts.test_node_boot import Node

from ultracluster._foundation.script import lean_script
from ultracluster.nodes.user_data import boot_script

pytestmark = pytest.mark.slow

SCRATCH = {"UC_SCRATCH_PATH": "/scratch", "UC_SCRATCH_DISKS": "4"}
GPUS = {"UC_NEURON_DEVICES": "0", "UC_GPUS": "8"}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(tmp_path)
    for command in ("chmod", "mdadm", "mkfs.xfs"):
        node.stand_in(command)
    (node.commands / "readlink").symlink_to("/usr/bin/readlink")
    node.devices(neuron=16, efa=16)
    return node


@pytest.fixture
def gpus(tmp_path: Path) -> Path:
    script = tmp_path / "gpus.sh"
    script.write_text(boot_script(["node-gpus.sh"]))
    return script


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    script = tmp_path / "scratch.sh"
    script.write_text(boot_script(["node-scratch.sh"]))
    return script


def disks(node: Node, count: int) -> None:
    links = node.root / "dev/disk/by-id"
    links.mkdir(parents=True)
    for index in range(count):
        disk = node.root / f"dev/nvme{index + 1}n1"
        disk.touch()
        for name in (f"AWS{index}", f"AWS{index}_1"):
            (links / f"nvme-Amazon_EC2_NVMe_Instance_Storage_{name}").symlink_to(disk)
    (links / "nvme-Amazon_Elastic_Block_Store_vol0").symlink_to(node.root / "dev/nvme0n1")
    (node.root / "dev/nvme0n1").touch()


def test_a_node_with_all_its_gpus_joins(node: Node, gpus: Path) -> None:
    for index in range(8):
        (node.root / f"dev/nvidia{index}").touch()
    (node.root / "dev/nvidiactl").touch()
    done = node.boot(script=gpus, **GPUS)
    assert done.returncode == 0, done.stderr
    assert "8 of 8 GPU devices" in done.stdout


def test_a_node_without_one_of_its_gpus_refuses_to_join(node: Node, gpus: Path) -> None:
    for index in range(7):
        (node.root / f"dev/nvidia{index}").touch()
    (node.root / "dev/nvidiactl").touch()
    done = node.boot(script=gpus, **GPUS)
    assert node.refused
    assert "7 of 8 GPU devices" in done.stdout
    assert "ready" not in done.stdout


def test_joins_the_disks_once_each_and_mounts_them(node: Node, scratch: Path) -> None:
    disks(node, 4)
    done = node.boot(script=scratch, **SCRATCH)
    assert done.returncode == 0, done.stderr
    joined = " ".join(f"{node.root}/dev/nvme{index}n1" for index in (1, 2, 3, 4))
    assert (
        f"mdadm --create /dev/md/scratch --run --level=0 --name=scratch --raid-devices=4 {joined}"
        in node.called
    )
    assert "mkfs.xfs -L scratch /dev/md/scratch" in node.called
    assert f"mount -t xfs -o noatime /dev/md/scratch {node.root}/scratch" in node.called
    assert f"chmod 1777 {node.root}/scratch" in node.called
    assert (node.root / "etc/fstab").read_text() == "LABEL=scratch /scratch xfs noatime,nofail 0 0\n"
    assert done.stdout.endswith("ultracluster: ready\n")


def test_a_single_disk_needs_no_mdadm(node: Node, scratch: Path) -> None:
    disks(node, 1)
    (node.commands / "mdadm").unlink()
    done = node.boot(script=scratch, UC_SCRATCH_PATH="/scratch", UC_SCRATCH_DISKS="1")
    assert done.returncode == 0, done.stderr
    assert f"mkfs.xfs -L scratch {node.root}/dev/nvme1n1" in node.called


@pytest.mark.parametrize("count", [0, 3])
def test_refuses_to_join_without_all_its_disks(node: Node, scratch: Path, count: int) -> None:
    disks(node, count)
    done = node.boot(script=scratch, **SCRATCH)
    assert node.refused
    assert f"{count} of 4 instance-store disks" in done.stdout


def test_refuses_to_join_from_an_image_without_mdadm(node: Node, scratch: Path) -> None:
    disks(node, 4)
    (node.commands / "mdadm").unlink()
    done = node.boot(script=scratch, **SCRATCH)
    assert node.refused
    assert "the image has no mdadm" in done.stdout


@pytest.mark.parametrize("command", ["mdadm", "mkfs.xfs", "mount"])
def test_refuses_to_join_when_a_step_fails(node: Node, scratch: Path, command: str) -> None:
    disks(node, 4)
    node.stand_in(command, "exit 1")
    done = node.boot(script=scratch, **SCRATCH)
    assert done.returncode == 1
    assert node.refused
    assert "ready" not in done.stdout


def test_every_node_has_the_launcher_of_jobs_and_has_it_again_after_a_reboot(
    node: Node, tmp_path: Path
) -> None:
    script = tmp_path / "boot.sh"
    script.write_text(boot_script([]))
    assert node.boot(script=script).returncode == 0
    launcher = node.root / "run/ultracluster/launch"
    assert launcher.read_text() == lean_script("launch.py")
    done = subprocess.run(
        ["python3", str(launcher), "raw", "echo", "base64:YSBi"], capture_output=True, check=True
    )
    assert done.stdout == b"a b\n"
    # /run is in memory: systemd-tmpfiles copies the file again (tmpfiles.d(5), C+).
    again = (node.root / "etc/tmpfiles.d/ultracluster.conf").read_text().splitlines()[1].split()
    assert again[:2] == ["C+", "/run/ultracluster/launch"]
    assert (node.root / again[-1].lstrip("/")).read_text() == launcher.read_text()


def test_a_node_that_cannot_have_the_launcher_refuses_to_join(node: Node, tmp_path: Path) -> None:
    script = tmp_path / "boot.sh"
    script.write_text(boot_script([]))
    (node.root / "usr").touch()  # no folder
    done = node.boot(script=script)
    assert node.refused
    assert "the launcher of jobs cannot be written" in done.stdout
