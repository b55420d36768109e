"""Only complete checkpoints count, however writing was interrupted."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracluster_runtime import checkpoints
from ultracluster_runtime.checkpoints import (
    CheckpointSignal,
    begin_checkpoint,
    checkpoint_step,
    complete_checkpoint,
    latest_complete_checkpoint,
    write_file,
)


@pytest.fixture
def own_handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


def save(root: Path, step: int, *, ranks: int = 2) -> Path:
    folder = begin_checkpoint(root, step)
    for rank in range(ranks):
        write_file(folder / f"rank-{rank}.pt", lambda file: file.write(b"state"))
    complete_checkpoint(folder)
    return folder


def test_no_checkpoint_means_a_fresh_start(tmp_path: Path) -> None:
    assert latest_complete_checkpoint(tmp_path / "absent") is None
    assert latest_complete_checkpoint(tmp_path) is None


def test_latest_checkpoint_is_that_of_the_highest_step(tmp_path: Path) -> None:
    last = save(tmp_path, 1000)
    save(tmp_path, 999)
    assert latest_complete_checkpoint(tmp_path) == last
    assert checkpoint_step(last) == 1000


def test_checkpoint_without_marker_is_skipped(tmp_path: Path) -> None:
    whole = save(tmp_path, 10)
    write_file(begin_checkpoint(tmp_path, 20) / "rank-0.pt", lambda file: file.write(b"state"))
    assert latest_complete_checkpoint(tmp_path) == whole


@pytest.mark.parametrize("harm", ["shorter", "longer", "missing", "marker torn", "marker of another"])
def test_checkpoint_damaged_after_its_marker_is_skipped(tmp_path: Path, harm: str) -> None:
    whole = save(tmp_path, 10)
    folder = save(tmp_path, 20)
    match harm:
        case "shorter":
            os.truncate(folder / "rank-1.pt", 4)
        case "longer":
            (folder / "rank-1.pt").write_bytes(b"states")
        case "missing":
            (folder / "rank-1.pt").unlink()
        case "marker torn":
            os.truncate(folder / "COMPLETE", 7)
        case _:
            (folder / "COMPLETE").write_text("[]")
    assert latest_complete_checkpoint(tmp_path) == whole


def test_other_files_in_the_root_are_ignored(tmp_path: Path) -> None:
    whole = save(tmp_path, 10)
    (tmp_path / "step-99").mkdir()
    (tmp_path / "zzz").touch()
    assert latest_complete_checkpoint(tmp_path) == whole


def test_partially_written_file_does_not_exist(tmp_path: Path) -> None:
    folder = begin_checkpoint(tmp_path, 1)

    def lost(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(folder / "rank-0.pt", lost)
    with pytest.raises(FileNotFoundError):
        complete_checkpoint(folder)
    write_file(folder / "rank-0.pt", lambda file: file.write(b"state"))
    complete_checkpoint(folder)
    assert latest_complete_checkpoint(tmp_path) == folder  # what the lost writer left is no part of it


def test_is_not_complete_before_every_rank_has_written(tmp_path: Path) -> None:
    folder = begin_checkpoint(tmp_path, 1)
    write_file(folder / "rank-0.pt", lambda file: file.write(b"state"))
    with pytest.raises(FileNotFoundError):
        complete_checkpoint(folder, ["rank-0.pt", "rank-1.pt"])
    assert latest_complete_checkpoint(tmp_path) is None


def test_names_only_the_files_that_belong_to_it(tmp_path: Path) -> None:
    folder = begin_checkpoint(tmp_path, 1)
    (folder / "shards").mkdir()
    write_file(folder / "shards" / "0", lambda file: file.write(b"state"))
    (folder / "of an earlier try").touch()
    complete_checkpoint(folder, ["shards/0"])
    (folder / "of an earlier try").unlink()
    assert latest_complete_checkpoint(tmp_path) == folder


def test_only_incomplete_checkpoints_can_be_rewritten(tmp_path: Path) -> None:
    save(tmp_path, 1)
    with pytest.raises(FileExistsError, match="complete"):
        begin_checkpoint(tmp_path, 1)
    assert begin_checkpoint(tmp_path, 2) == begin_checkpoint(tmp_path, 2)


def test_foreign_folder_has_no_step(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a checkpoint folder"):
        checkpoint_step(tmp_path / "step-1")


@pytest.mark.usefixtures("own_handler")
def test_request_stays_until_it_is_acknowledged() -> None:
    request = CheckpointSignal(settle_seconds=0)
    assert not request.requested
    os.kill(os.getpid(), signal.SIGUSR1)
    assert request.requested
    assert request.requested  # looking at it does not answer it
    request.acknowledge()
    assert not request.requested
    os.kill(os.getpid(), signal.SIGUSR1)
    assert request.requested


@pytest.mark.usefixtures("own_handler")
def test_late_signal_belongs_to_the_checkpoint_just_written(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now)
    request = CheckpointSignal()
    request.acknowledge()
    now += 59.9
    os.kill(os.getpid(), signal.SIGUSR1)
    assert not request.requested
    now += 0.1
    os.kill(os.getpid(), signal.SIGUSR1)
    assert request.requested
