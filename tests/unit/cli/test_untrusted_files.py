"""Commands reject any invalid file with a code, without blocking or crashing."""

import contextlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_cli._cdk.workspace import default_rollout
from ultracluster_cli.plan.stacks import assembled_stacks
from ultracluster_runtime.metrics.recording_file import read_recording
from ultracluster_runtime.rollout.journal import read_journal
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout

DEEP = "[" * 100_000


CONTENTS = {
    "nothing": b"",
    "a NUL": b"\0",
    "bytes": bytes(range(256)),
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a list": b"[]\n",
    "null": b"null\n",
    "a number": b"5\n",
    "text": b'"x"\n',
    "an empty object": b"{}\n",
    "deep lists": DEEP.encode() + b"\n",
    "deep objects": b'{"a":' * 100_000 + b"\n",
    "a huge number": b'{"version": ' + b"9" * 5_000 + b"}\n",
    "NaN": b'{"version": NaN}\n',
    "infinity": b'{"version": 1, "period_seconds": -Infinity}\n',
    "a key twice": b'{"version": 1, "version": 1}\n',
    "other types": b'{"version": 1, "artifacts": [], "kind": {}, "context": [], "series": 5, "start": []}\n',
    "a way out": json.dumps(
        {
            "artifacts": {
                "x": {
                    "type": "aws:cloudformation:stack",
                    "environment": "aws://1/us-east-2",
                    "properties": {"templateFile": "../../../etc/passwd"},
                }
            }
        }
    ).encode(),
}


Reader = Callable[[Path], object]


def _assembly(path: Path) -> object:
    return assembled_stacks(path.rename(path.with_name("manifest.json")).parent)


def _project(path: Path) -> object:
    with contextlib.chdir(path.rename(path.with_name("cdk.json")).parent):
        return default_rollout()


READERS: dict[str, tuple[Reader, str]] = {
    "a rollout": (load_rollout, "UC1"),
    "a recording": (read_recording, "is not a recording of metrics"),
    "a journal": (read_journal, "UC9608"),
    "an assembly": (_assembly, "is not a cloud assembly"),
    "a project": (_project, "cdk.json"),
}


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("reader", READERS)
def test_rejects_invalid_files_and_says_what_they_should_be(reader: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(CONTENTS[what])
    read, said = READERS[reader]
    with pytest.raises(FindingsError) as refused:
        read(path)
    assert all(re.search(said, str(finding)) for finding in refused.value.findings)
    assert "root:" not in str(refused.value)


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "missing"])
@pytest.mark.parametrize("reader", ["a rollout", "a recording", "a journal"])
def test_rejects_special_files_without_blocking(reader: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    read, code = READERS[reader]
    with pytest.raises(FindingsError, match=code):
        read(path)
