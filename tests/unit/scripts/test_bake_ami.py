"""The baking script runs here for real, in a folder instead of /, with stand-ins for what needs a build instance."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from ultracluster.images.bake_component import bake_component

pytestmark = pytest.mark.slow

IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
ARCHIVE = b"an archive that stands for the EFA installer"
CHECKSUM = hashlib.sha256(ARCHIVE).hexdigest()
ALL = ("efa-driver", "lustre-client", "ecs-agent", "docker", "cloudwatch-agent")


class Instance:
    """A folder that stands for a build instance, and the commands that were called on it."""

    def __init__(self, root: Path, system: str = 'ID="amzn"\nVERSION_ID="2023"\n') -> None:
        self.root = root / "instance"
        self.commands = root / "bin"
        self.calls_file = root / "calls"
        self.commands.mkdir(parents=True)
        for folder in ("etc", "opt/amazon", "opt/aws/amazon-cloudwatch-agent/bin", "var/lib/ecs/data"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "etc/os-release").write_text(system)
        (self.root / "opt/amazon/efa_installed_packages").write_text("# EFA installer version: 1.49.0\n")
        agent = self.root / "opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl"
        agent.write_text("")
        agent.chmod(0o755)
        for command in ("dnf", "docker", "modinfo", "mount.lustre", "systemctl"):
            self.stand_in(command)
        (root / "archive").write_bytes(ARCHIVE)
        self.stand_in("curl", f'cp "{root}/archive" "${{@: -2:1}}"')
        # tar unpacks an installer that notes how it was called.
        installer = f'#!/bin/bash\\necho "efa_installer $*" >>"{self.calls_file}"\\n'
        self.stand_in(
            "tar",
            f'mkdir -p "${{@: -1}}/aws-efa-installer"; f="${{@: -1}}/aws-efa-installer/efa_installer.sh"; '
            f'printf \'{installer}\' >"$f"; chmod +x "$f"',
        )
        for command in ("bash", "chmod", "cp", "grep", "mkdir", "mktemp", "rm", "sha256sum", "uname"):
            (self.commands / command).symlink_to(str(shutil.which(command)))

    def stand_in(self, command: str, body: str = "exit 0") -> None:
        path = self.commands / command
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/bash\necho "{command} $*" >>"{self.calls_file}"\n{body}\n')
        path.chmod(0o755)

    def run(
        self,
        phase: str,
        parts: Sequence[str] = ALL,
        images: Sequence[str] = (IMAGE,),
        sha256: str = CHECKSUM,
    ) -> subprocess.CompletedProcess[str]:
        """Run a phase of the component's document as Image Builder would."""
        document = json.loads(
            bake_component(
                parts=parts,  # type: ignore[arg-type]  # a test writes any
                container_images=images,
                efa_version="1.49.0",
                efa_sha256=sha256,
            )
        )
        (step,) = next(one["steps"] for one in document["phases"] if one["name"] == phase)
        (script,) = step["inputs"]["commands"]
        environment = {
            "PATH": str(self.commands),
            "UC_ROOT": str(self.root),
            "TMPDIR": str(self.root.parent),
        }
        command = [str(shutil.which("bash")), "-c", script]
        return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path)


def test_bakes_what_is_missing_and_pulls_the_images(instance: Instance) -> None:
    done = instance.run("build")

    assert done.returncode == 0, done.stderr
    assert (
        "dnf install --assumeyes lustre-client docker ecs-init amazon-cloudwatch-agent amazon-ecr-credential-helper"
        in instance.calls
    )
    assert "efa_installer --yes --minimal" in instance.calls
    assert f"docker pull --quiet {IMAGE}" in instance.calls
    assert instance.calls.index("systemctl start docker") < instance.calls.index(
        f"docker pull --quiet {IMAGE}"
    )
    assert "systemctl enable docker ecs" in instance.calls
    assert not (instance.root / "var/lib/ecs/data").exists()
    assert instance.calls[-1] == "systemctl stop ecs"


def test_installs_no_more_than_is_missing(instance: Instance) -> None:
    done = instance.run("build", parts=["lustre-client"], images=[])

    assert done.returncode == 0, done.stderr
    assert [call for call in instance.calls if call.startswith(("dnf", "curl", "docker"))] == [
        "dnf install --assumeyes lustre-client"
    ]


def test_installs_nothing_onto_a_parent_that_has_all(instance: Instance) -> None:
    done = instance.run("build", parts=[], images=[])

    assert done.returncode == 0, done.stderr
    assert instance.calls == ["systemctl enable docker ecs", "systemctl stop ecs"]


def test_refuses_an_installer_with_another_checksum(instance: Instance) -> None:
    done = instance.run("build", sha256="0" * 64)

    assert done.returncode == 1
    assert "aws-efa-installer-1.49.0.tar.gz has another checksum" in done.stderr
    assert not [call for call in instance.calls if call.startswith("efa_installer")]


@pytest.mark.parametrize("phase", ["build", "validate", "test"])
def test_refuses_another_system(tmp_path: Path, phase: str) -> None:
    ubuntu = Instance(tmp_path, 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n')
    done = ubuntu.run(phase)

    assert done.returncode == 1
    assert "the parent is Ubuntu 24.04 LTS, not Amazon Linux 2023" in done.stderr
    assert ubuntu.calls == []


@pytest.mark.parametrize("command", ["dnf", "curl", "docker"])
def test_stops_at_the_first_failure(instance: Instance, command: str) -> None:
    instance.stand_in(command, "exit 1")

    assert instance.run("build").returncode != 0


@pytest.mark.parametrize("phase", ["validate", "test"])
def test_checks_that_all_is_there(instance: Instance, phase: str) -> None:
    done = instance.run(phase)

    assert done.returncode == 0, done.stderr
    for module in ("neuron", "efa", "ib_uverbs", "lustre"):
        assert f"modinfo {module}" in instance.calls
    assert f"docker image inspect {IMAGE}" in instance.calls


@pytest.mark.parametrize(
    ("command", "body", "said"),
    [
        ("modinfo", '[ "$1" != neuron ]', "no kernel module neuron"),
        ("modinfo", '[ "$1" != efa ]', "no kernel module efa"),
        ("modinfo", '[ "$1" != lustre ]', "no kernel module lustre"),
        ("systemctl", '[ "$3" != ecs ]', "ecs does not start at boot"),
        ("docker", "exit 1", f"the image {IMAGE} is not there"),
    ],
)
def test_refuses_what_lacks_a_part(instance: Instance, command: str, body: str, said: str) -> None:
    instance.stand_in(command, body)
    done = instance.run("test")

    assert done.returncode == 1
    assert said in done.stderr


def test_refuses_what_lacks_a_file(instance: Instance) -> None:
    (instance.commands / "mount.lustre").unlink()
    assert "no mount.lustre" in instance.run("test").stderr
    instance.stand_in("mount.lustre")
    (instance.root / "opt/amazon/efa_installed_packages").write_text("# EFA installer version: 1.48.0\n")
    assert "EFA is not of installer 1.49.0" in instance.run("test").stderr
    assert instance.run("test", parts=["cloudwatch-agent"]).returncode == 0
    (instance.root / "opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl").chmod(0o644)
    assert "no CloudWatch agent" in instance.run("test", parts=["cloudwatch-agent"]).stderr
