"""The launcher tells training processes to write a checkpoint. It runs here for real, under a stand-in for torchrun."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LAUNCHER = Path(__file__).parents[3] / "constructs/ultracluster/scripts/launch.py"
PATIENCE = 10.0

# As torchrun does, it starts two workers and ends with them; `careless` does not handle the signal, as bash and
# torchrun itself do not. The second worker has a child that inherited its handler, as a data loader does.
TORCHRUN = f"""#!{sys.executable}
import os, signal, subprocess, sys
where = os.environ["WHERE"]
worker = '''
import os, signal, sys, time
name = sys.argv[1]
def note(number, frame):
    with open(os.path.join(os.environ["WHERE"], "told"), "a") as file:
        file.write(name + str(os.getpid() == mine) + "\\\\n")
mine = os.getpid()
if name != "careless":
    signal.signal(signal.SIGUSR1, note)
if name == "second":
    os.fork()
open(os.path.join(os.environ["WHERE"], "up." + name + str(os.getpid())), "w").close()
while not os.path.exists(os.path.join(os.environ["WHERE"], "finish")):
    time.sleep(0.02)
'''
if os.environ.get("OWN"):
    signal.signal(signal.SIGUSR1, lambda number, frame: open(os.path.join(where, "told"), "a").write("itself\\n"))
names = os.environ.get("WORKERS", "first second careless").split()
workers = [subprocess.Popen([sys.executable, "-c", worker, name]) for name in names]
def end(number, frame):
    for each in workers:
        each.terminate()
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
sys.exit(max(abs(each.wait()) for each in workers) or int(os.environ.get("EXIT", "0")))
"""


class Launched:
    """A launcher that runs."""

    def __init__(self, folder: Path, launcher: str = "torchrun", **variables: str) -> None:
        self.folder = folder
        self.notices = folder / "notices"
        self.notices.mkdir()
        torchrun = folder / "torchrun"
        torchrun.write_text(TORCHRUN)
        torchrun.chmod(0o755)
        self._log = (folder / "log").open("w+")
        command = "train.py" if launcher == "torchrun" else str(torchrun)
        self.process = subprocess.Popen(
            ["python3", str(LAUNCHER), launcher, command],
            env={
                "PATH": f"{folder}:/usr/bin:/bin",
                "WHERE": str(folder),
                "UC_PROCESSES_PER_NODE": "2",
                "UC_DEVICES_PER_NODE": "2",
                "UC_CHECKPOINT_FILE": str(self.notices / "checkpoint"),
                "UC_CHECKPOINT_POLL_SECONDS": "0.1",
            }
            | variables,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def order(self, before: datetime) -> None:
        """Write the order as the node's command does."""
        new = self.notices / "checkpoint.new"
        new.write_text(f"{before:%Y-%m-%dT%H:%M:%SZ}\n")
        new.rename(self.notices / "checkpoint")

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def told(self) -> list[str]:
        path = self.folder / "told"
        return sorted(path.read_text().split()) if path.exists() else []

    def workers_are_up(self, count: int) -> None:
        self.wait_for(lambda: len(list(self.folder.glob("up.*"))) == count)

    def wait_for(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, self.log
            time.sleep(0.02)

    def finish(self) -> int:
        (self.folder / "finish").touch()
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.finish()
        self._log.close()


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launched]]:
    launched: list[Launched] = []

    def start(launcher: str = "torchrun", **variables: str) -> Launched:
        launched.append(Launched(tmp_path, launcher, **variables))
        return launched[-1]

    yield start
    for each in launched:
        each.close()


def in_an_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def test_tells_each_process_that_listens_once_and_harms_no_other(launch: Callable[..., Launched]) -> None:
    launched = launch()
    launched.workers_are_up(4)
    assert launched.told == []
    launched.order(in_an_hour())
    launched.wait_for(lambda: "sent SIGUSR1 to 2 processes" in launched.log)
    time.sleep(0.5)  # several polls, in which nothing more may be told
    # The child of the second worker inherited its handler, and would write the checkpoint a second time.
    assert launched.told == ["firstTrue", "secondTrue"]
    assert launched.finish() == 0


def test_a_repeated_notice_is_sent_once_and_a_changed_end_again(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="first")
    launched.workers_are_up(1)
    first = in_an_hour()
    launched.order(first)
    launched.wait_for(lambda: launched.told == ["firstTrue"])
    launched.order(first)
    time.sleep(0.4)
    assert launched.told == ["firstTrue"]
    launched.order(first + timedelta(days=1))
    launched.wait_for(lambda: launched.told == ["firstTrue", "firstTrue"])


def test_a_job_that_starts_after_the_notice_is_notified_too(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="first")
    launched.order(in_an_hour())
    launched.wait_for(lambda: launched.told == ["firstTrue"])


@pytest.mark.parametrize("launcher", ["jax", "raw"])
def test_a_program_without_a_separate_launcher_is_notified_itself(
    launch: Callable[..., Launched], launcher: str
) -> None:
    launched = launch(launcher, OWN="yes", WORKERS="first")
    launched.workers_are_up(1)
    launched.order(in_an_hour())
    launched.wait_for(lambda: "sent SIGUSR1 to 1 processes" in launched.log)
    time.sleep(0.3)
    assert launched.told == ["itself"]  # what it has started is its own affair


def test_a_notice_whose_time_has_passed_is_not_sent(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="first")
    launched.workers_are_up(1)
    launched.order(datetime.now(UTC) - timedelta(minutes=1))
    time.sleep(0.5)
    assert launched.told == []


def test_reports_when_no_process_handles_the_signal_and_kills_none(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="careless careless")
    launched.workers_are_up(2)
    launched.order(in_an_hour())
    launched.wait_for(lambda: "sent SIGUSR1 to 0 processes" in launched.log)
    assert launched.log.count("SIGUSR1") == 1
    assert launched.finish() == 0


def test_the_watch_changes_neither_signals_nor_the_exit_status(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="careless")
    launched.workers_are_up(1)
    launched.process.send_signal(signal.SIGTERM)
    assert launched.process.wait(PATIENCE) == 143


def test_a_failure_of_the_program_stays_the_failure_of_the_job(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="first", EXIT="42")
    launched.workers_are_up(1)
    assert launched.finish() == 42


def test_the_watch_ends_with_torchrun(launch: Callable[..., Launched]) -> None:
    launched = launch(WORKERS="first")
    launched.workers_are_up(1)
    watch = children(launched.process.pid) - set(map(int, (p.name[8:] for p in launched.folder.glob("up.*"))))
    assert watch
    launched.finish()
    launched.wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in watch))


def children(pid: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if f"\nPPid:\t{pid}\n" in text:
            found.add(int(status.parent.name))
    return found


def test_nothing_is_watched_where_nodes_get_no_notices(
    launch: Callable[..., Launched], tmp_path: Path
) -> None:
    launched = launch(WORKERS="first", UC_CHECKPOINT_FILE=str(tmp_path / "absent" / "checkpoint"))
    launched.workers_are_up(1)
    assert len(children(launched.process.pid)) == 1
