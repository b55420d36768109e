"""What `ultracluster run` has a container do first."""

import hashlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ultracluster_runtime.jobs import unpack_code

pytestmark = pytest.mark.slow

SOURCE = Path(unpack_code.__file__).read_text()


def archive(**files: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as made:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{name}.py")
            entry.size = len(text)
            made.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def run(folder: Path, data: bytes, digest: str) -> subprocess.CompletedProcess[str]:
    (folder / "data").write_bytes(data)
    (folder / "boto3.py").write_text(
        "import shutil\n"
        "class client:\n"
        "    def __init__(self, name): assert name == 's3'\n"
        "    def download_file(self, bucket, key, path):\n"
        "        print('downloads', bucket, key, flush=True)\n"
        f"        shutil.copy({str(folder / 'data')!r}, path)\n"
    )
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", SOURCE, "s3://bucket/code/x.tar.gz", digest, "train.py", "--lr", "1"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "TMPDIR": str(folder / "tmp"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_code_is_fetched_once_and_becomes_the_program(tmp_path: Path) -> None:
    data = archive(train="import sys, other; print(sys.argv[1:], other.NAME)", other="NAME = 'other'")
    digest = hashlib.sha256(data).hexdigest()
    first = run(tmp_path, data, digest)
    assert first.stdout == "downloads bucket code/x.tar.gz\n['--lr', '1'] other\n"
    assert run(tmp_path, data, digest).stdout == "['--lr', '1'] other\n"


def test_code_that_was_changed_on_its_way_is_not_run(tmp_path: Path) -> None:
    ended = run(tmp_path, archive(train="print('it ran')"), "0" * 64)
    assert ended.returncode == 1
    assert "it ran" not in ended.stdout
    assert "has SHA-256" in ended.stderr
