"""The fabric gate brings real Open MPI to every node without SSH; nccom-test itself is a fake that starts it."""

from pathlib import Path

import pytest
from tests.training.nodes import environment_folder
from tests.unit.scripts.fabric import gate, prepare

pytestmark = pytest.mark.training


def test_open_mpi_starts_one_process_on_each_node(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    real = {"FAKE_MPIRUN": "real", "PATH": f"{folder / 'fakes'}:{environment_folder()}:/usr/bin:/bin"}
    outcome = gate(folder, nodes=3, node0=real, node1=real, node2=real)
    assert outcome.codes == [0, 0, 0], outcome.log
    assert outcome.measured == ["0", "1", "2"]
