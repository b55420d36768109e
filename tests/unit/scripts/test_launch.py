"""The launcher runs here for real, with a stand-in for torchrun that prints what it was started with."""

import ipaddress
import subprocess
from pathlib import Path

import pytest

from ultracluster_spec.commands import encode_word

pytestmark = pytest.mark.slow

LAUNCHER = Path(__file__).parents[3] / "constructs/ultracluster/scripts/launch.py"
MAIN = "10.0.1.17"


@pytest.fixture
def torchrun(tmp_path: Path) -> Path:
    program = tmp_path / "torchrun"
    program.write_text(
        '#!/bin/bash\nprintf "%s\\n" "$@"\necho "address=$MASTER_ADDR port=$MASTER_PORT interface=${CCOM_SOCKET_IFNAME:-}"\n'
    )
    program.chmod(0o755)
    return tmp_path


def launch(
    torchrun: Path, *arguments: str, launcher: str = "torchrun", **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["python3", str(LAUNCHER), launcher, *map(encode_word, arguments)],
        # Its own test has what a node says to the others; here they are absent.
        env={"PATH": f"{torchrun}:/usr/bin:/bin", "UC_PROCESSES_PER_NODE": "64", "UC_LOST_SECONDS": "0"}
        | variables,
        text=True,
        capture_output=True,
        check=False,
        timeout=20,
    )


def node(index: int, **variables: str) -> dict[str, str]:
    """Variables that AWS Batch sets on one of four nodes: the main node is not told its own address."""
    given = {
        "AWS_BATCH_JOB_NUM_NODES": "4",
        "AWS_BATCH_JOB_NODE_INDEX": str(index),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
    }
    return given | ({"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": MAIN} if index else {}) | variables


def test_a_child_meets_at_the_main_nodes_address(torchrun: Path) -> None:
    done = launch(torchrun, "train.py", "--steps", "10", **node(2))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:-1] == [
        "--nnodes",
        "4",
        "--node-rank",
        "2",
        "--nproc-per-node",
        "64",
        "--master-addr",
        MAIN,
        "--master-port",
        "28400",
        "train.py",
        "--steps",
        "10",
    ]


def test_the_main_node_finds_its_own_address(torchrun: Path) -> None:
    done = launch(torchrun, "train.py", **node(0))
    assert done.returncode == 0, done.stderr
    arguments = done.stdout.splitlines()
    own = ipaddress.ip_address(arguments[arguments.index("--master-addr") + 1])
    assert not own.is_unspecified
    assert arguments[arguments.index("--node-rank") + 1] == "0"


def test_a_child_without_an_address_fails_at_once(torchrun: Path) -> None:
    variables = node(1)
    del variables["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"]
    done = launch(torchrun, "train.py", **variables)
    assert done.returncode != 0
    assert "no address of the main node" in done.stderr


def test_a_port_and_an_interface_of_the_user_win(torchrun: Path) -> None:
    done = launch(torchrun, "train.py", **node(1, MASTER_PORT="29500", CCOM_SOCKET_IFNAME="eth7"))
    assert done.stdout.splitlines()[-1] == f"address={MAIN} port=29500 interface=eth7"


def test_one_node_alone_is_its_own_main_node(torchrun: Path) -> None:
    done = launch(torchrun, "train.py")
    assert done.stdout.splitlines()[:4] == ["--nnodes", "1", "--node-rank", "0"]


def given(torchrun: Path, launcher: str, **variables: str) -> dict[str, str]:
    """What a program finds in its environment."""
    done = launch(torchrun, "env", "--null", launcher=launcher, UC_DEVICES_PER_NODE="64", **variables)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if line)


def test_jax_and_the_neuron_runtime_learn_where_and_how_many_they_are(torchrun: Path) -> None:
    # Names and forms: the AXLearn example of the Neuron documentation (one process drives all devices of its node).
    found = given(torchrun, "jax", **node(2))
    assert {name: found[name] for name in found if name.startswith(("JAX_", "NEURON_"))} == {
        "JAX_COORDINATOR_ADDRESS": f"{MAIN}:28401",
        "JAX_NUM_PROCESSES": "4",
        "JAX_PROCESS_ID": "2",
        "NEURON_PJRT_PROCESSES_NUM_DEVICES": "64,64,64,64",
        "NEURON_PJRT_PROCESS_INDEX": "2",
        "NEURON_RT_ROOT_COMM_ID": f"{MAIN}:28400",
    }


def test_jax_on_one_node_names_itself_alone(torchrun: Path) -> None:
    found = given(torchrun, "jax")
    assert found["NEURON_PJRT_PROCESSES_NUM_DEVICES"] == "64"
    assert (found["JAX_NUM_PROCESSES"], found["JAX_PROCESS_ID"]) == ("1", "0")
    assert found["JAX_COORDINATOR_ADDRESS"].partition(":")[0] == found["MASTER_ADDR"]


def test_a_program_that_starts_its_own_processes_learns_where_it_is(torchrun: Path) -> None:
    found = given(torchrun, "raw", **node(3))
    assert {name: found[name] for name in ("MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK")} == {
        "MASTER_ADDR": MAIN,
        "MASTER_PORT": "28400",
        "NNODES": "4",
        "NODE_RANK": "3",
    }
    assert found["NEURON_RT_ROOT_COMM_ID"] == f"{MAIN}:28400"


@pytest.mark.parametrize("launcher", ["jax", "raw"])
def test_other_launchers_pass_arguments_and_failures_on_unchanged(torchrun: Path, launcher: str) -> None:
    arguments = ["a b", "$HOME", "*", ""]
    program = 'printf "%s\\n" "$@"; exit 42'
    done = launch(
        torchrun, "bash", "-c", program, "x", *arguments, launcher=launcher, UC_DEVICES_PER_NODE="1"
    )
    assert done.stdout.splitlines() == arguments
    assert done.returncode == 42


@pytest.mark.parametrize("launcher", ["jax", "raw"])
def test_nothing_to_start_is_a_failure(torchrun: Path, launcher: str) -> None:
    done = launch(torchrun, launcher=launcher, UC_DEVICES_PER_NODE="1")
    assert done.returncode != 0  # else a job that did nothing would be a success
    assert "there is no command to start" in done.stderr


def test_libraries_and_open_mpi_use_the_interface_of_the_default_route(torchrun: Path) -> None:
    # A task also has ecs-eth0, which reaches its own node only (amazon-ecs-agent, ecscni: 169.254.172.0/22).
    route = [line.split() for line in Path("/proc/net/route").read_text().splitlines()]
    (interface, *_) = [row[0] for row in route if row[1] == "00000000"] or pytest.skip(
        "there is no default route"
    )
    found = given(torchrun, "raw")
    names = {"CCOM_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}
    names |= {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_prte_if_include"}
    assert {found.get(name) for name in names} == {interface}


def test_a_list_of_excluded_interfaces_in_the_image_is_kept_and_completed(torchrun: Path) -> None:
    # Images of awslabs/awsome-distributed-ai set it; Open MPI refuses lists of both kinds (open-mpi/ompi#12467).
    found = given(torchrun, "raw", OMPI_MCA_btl_tcp_if_exclude="lo,docker0")
    assert found["OMPI_MCA_btl_tcp_if_exclude"] == "lo,docker0,ecs-eth0"
    assert "OMPI_MCA_btl_tcp_if_include" not in found


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """The settings of a network namespace, with the range that Linux gives to outgoing connections."""
    (tmp_path / "ip_local_port_range").write_text("32768\t60999\n")
    (tmp_path / "ip_local_reserved_ports").write_text("\n")
    return tmp_path


def test_the_default_port_is_below_those_of_outgoing_connections(torchrun: Path, kernel: Path) -> None:
    done = launch(torchrun, "train.py", UC_SYSCTL=str(kernel))
    assert "reserved" not in done.stderr
    assert (kernel / "ip_local_reserved_ports").read_text() == "\n"


def test_another_port_is_reserved_where_the_container_may(torchrun: Path, kernel: Path) -> None:
    launch(torchrun, "train.py", UC_SYSCTL=str(kernel), MASTER_PORT="41000")
    assert (kernel / "ip_local_reserved_ports").read_text() == "41000-41002\n"


def test_a_port_that_cannot_be_reserved_is_named(torchrun: Path, kernel: Path) -> None:
    (kernel / "ip_local_reserved_ports").unlink()
    (kernel / "ip_local_reserved_ports").mkdir()  # not to be written, for root neither
    done = launch(torchrun, "train.py", UC_SYSCTL=str(kernel), MASTER_PORT="41000")
    assert done.returncode == 0
    assert "port 41000 cannot be reserved" in done.stderr
    assert "choose one below 32768" in done.stderr
