"""The local AWS in the background: up, down, status, reset, and what a kill leaves behind."""

import http.client
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from ultracluster_local.errors import LocalAwsError
from ultracluster_local.instance.clients import Clients
from ultracluster_local.server import daemon

pytestmark = pytest.mark.slow


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "local"
    daemon.down(tmp_path / "local")


def s3(running: daemon.Status) -> Any:
    return Clients(endpoint=running.endpoint, key=running.key).get("s3", "us-east-1")


def buckets(running: daemon.Status) -> list[str]:
    found = s3(running).list_buckets()["Buckets"]
    return [one["Name"] for one in found]


GOOD = {
    "endpoint": "http://127.0.0.1:1",
    "port": 1,
    "key": "k",
    "pid": os.getpid(),
    "started": "2026-01-01T00:00:00+00:00",
}


def test_goes_up_keeps_its_state_and_goes_down(directory: Path) -> None:
    assert daemon.status(directory) is None
    running = daemon.up(directory)
    assert daemon.status(directory) == running
    assert running.endpoint == f"http://localhost:{running.port}"
    s3(running).create_bucket(Bucket="mine")
    assert "mine" in buckets(running)
    daemon.reset(directory)
    assert buckets(running) == ["cdk-hnb659fds-assets-123456789012-us-east-1"]
    with pytest.raises(LocalAwsError, match=f"UC8005: a local AWS is already running .* {running.endpoint}"):
        daemon.up(directory)
    assert daemon.down(directory) is True
    assert daemon.status(directory) is None
    assert daemon.down(directory) is False
    with pytest.raises(ProcessLookupError):
        os.kill(running.pid, 0)
    assert {one.name for one in directory.iterdir()} == {"lock", "log"}


def test_killed_server_leaves_nothing_that_stops_the_next_one(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    killed = daemon.up(directory)
    os.kill(killed.pid, signal.SIGKILL)
    os.waitpid(killed.pid, 0)
    assert (directory / "state.json").exists()
    assert daemon.status(directory) is None
    again = daemon.up(directory)
    assert again.pid != killed.pid
    assert list(elsewhere.iterdir()) == []


def test_state_of_another_process_is_not_trusted(directory: Path) -> None:
    directory.mkdir()
    (directory / "lock").touch()
    state = f'{{"pid": {os.getpid()}, "port": 1, "endpoint": "http://localhost:1", "started": "2026-01-01T00:00:00+00:00"}}'
    (directory / "state.json").write_text(state)
    assert daemon.status(directory) is None
    assert daemon.down(directory) is False  # and this process is still alive


@pytest.mark.parametrize(
    "state",
    [
        *(GOOD | {"pid": pid} for pid in (0, 1, -1, os.getpid(), 10**30, "1", None, [], {})),
        *(GOOD | {name: None} for name in GOOD),
        *({key: value for key, value in GOOD.items() if key != name} for name in GOOD),
        GOOD | {"endpoint": "http://example.com"},
        GOOD | {"started": "yesterday"},
        GOOD | {"pid": float("inf")},
        GOOD | {"port": float("inf")},
        GOOD | {"endpoint": 5},
        [],
        "text",
        None,
    ],
    ids=lambda state: repr(state).replace(
        str(os.getpid()), "own"
    ),  # workers of pytest-xdist compare the names
)
def test_a_malformed_state_or_a_foreign_process_is_never_signalled(
    directory: Path, state: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.mkdir()
    (directory / "state.json").write_text(json.dumps(state))
    monkeypatch.setattr(daemon.os, "kill", lambda *order: pytest.fail(f"signalled {order}"))
    with FileLock(directory / "lock"):
        monkeypatch.setattr(daemon, "_lock_is_free", lambda _: False)
        assert daemon.status(directory) is None
        assert daemon.down(directory) is False


@pytest.mark.slow
def test_a_process_that_only_names_the_server_is_not_signalled(directory: Path) -> None:
    directory.mkdir()
    named = f"exec sleep 30 # {sys.executable} -m ultracluster_local.server.daemon {directory} 1"
    with subprocess.Popen(["bash", "-c", f"sleep 30; {named}"], start_new_session=True) as other:
        state = GOOD | {"pid": other.pid}
        (directory / "state.json").write_text(json.dumps(state))
        with FileLock(directory / "lock"):
            assert daemon.status(directory) is None
            assert daemon.down(directory) is False
        assert other.poll() is None
        os.killpg(other.pid, signal.SIGKILL)


def test_a_pipe_in_place_of_the_state_is_not_waited_for(directory: Path) -> None:
    directory.mkdir()
    os.mkfifo(directory / "state.json")

    assert daemon.status(directory) is None


def test_port_in_use_is_reported_at_once(directory: Path, tmp_path: Path) -> None:
    first = daemon.up(directory)
    began = time.monotonic()
    with pytest.raises(LocalAwsError, match=r"UC8006: the local AWS did not start: .*UC8003"):
        daemon.up(tmp_path / "other", port=first.port)
    assert time.monotonic() - began < 20


def test_a_reset_without_a_server_names_the_remedy(directory: Path) -> None:
    with pytest.raises(LocalAwsError, match=r"UC8006: no local AWS is running in .*ultracluster local up"):
        daemon.reset(directory)


def test_server_does_not_see_the_credentials_of_the_user(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "does-not-exist")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "real-secret")
    running = daemon.up(directory)
    environment = Path(f"/proc/{running.pid}/environ")
    if not environment.exists():
        pytest.skip("this system does not show the environment of a process")
    variables = environment.read_bytes().split(b"\0")
    assert [one for one in variables if one.startswith(b"AWS_")] == []


def test_only_its_owner_can_read_the_key(directory: Path) -> None:
    running = daemon.up(directory)

    assert stat.S_IMODE((directory / "state.json").stat().st_mode) == 0o600
    assert running.key not in repr(running)
    assert running.key not in running.log.read_text()
    daemon.down(directory)
    assert daemon.up(directory).key != running.key


def test_a_refused_request_is_a_line_of_the_log(directory: Path) -> None:
    running = daemon.up(directory)
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    connection.request("POST", "/_ultracluster/reset", headers={"Origin": "http://evil.example"})
    assert connection.getresponse().status == 403
    assert running.log.read_text().splitlines()[-1] == (
        "refused 'POST /_ultracluster/reset': it comes from a web page (Origin 'http://evil.example')"
    )
