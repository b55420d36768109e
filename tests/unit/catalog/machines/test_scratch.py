import pytest

from ultracluster_catalog.machines.instance_types import get_instance_type
from ultracluster_catalog.machines.scratch import check_scratch

TRN2 = get_instance_type("trn2.48xlarge")


@pytest.mark.parametrize("path", [None, "/scratch", "/mnt/scratch", "/opt2", "/data/local-nvme_0"])
def test_scratch_has_a_path_of_its_own_or_is_not_asked_for(path: str | None) -> None:
    assert check_scratch(TRN2, path, mount_path="/fsx") == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "scratch",
        "/scratch/",
        "/a/../b",
        "/a b",
        "/mnt",
        "/proc",
        "/var/lib/docker",
        "/fsx",
        "/fsx/a",
        "/'",
    ],
)
def test_refuses_a_path_that_something_else_has(path: str) -> None:
    (finding,) = check_scratch(TRN2, path, mount_path="/fsx")
    assert finding.code == "UC4027"


def test_refuses_a_path_above_the_file_system() -> None:
    (finding,) = check_scratch(TRN2, "/data", mount_path="/data/fsx")
    assert "where /data/fsx is" in finding.problem


def test_refuses_scratch_on_a_type_without_disks() -> None:
    (finding,) = check_scratch(get_instance_type("inf2.48xlarge"), "/scratch")
    assert (finding.code, finding.path) == ("UC4026", "scratch_path")
