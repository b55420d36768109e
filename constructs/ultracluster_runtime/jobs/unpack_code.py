"""Program of `ultracluster run` in a container: fetch the code of the run, and become the user's program.

The command line passes the source of this file to ``python3 -c`` with the archive, its SHA-256 and the program with its
arguments. It needs Python 3.8, and boto3 or the aws CLI, which AWS's Neuron images have. Several processes of a node share the code.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    """Fetch and unpack an archive, check it, and run a program of it in its folder."""
    url, digest, program, *arguments = sys.argv[1:]
    folder = Path(tempfile.gettempdir()) / f"ultracluster-code-{digest[:16]}"
    with open(f"{folder}.lock", "w") as lock:  # noqa: PTH123 - shorter
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _unpack(url, digest, folder)
    os.chdir(folder)
    paths = [str(folder), str(folder / ".ultracluster"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.execv(sys.executable, [sys.executable, program, *arguments])  # noqa: S606 - the user's own program


def _unpack(url: str, digest: str, folder: Path) -> None:
    archive = Path(f"{folder}.tar.gz")
    bucket, _, key = url[len("s3://") :].partition("/")
    try:
        import boto3  # noqa: PLC0415 - an image may lack it

        boto3.client("s3").download_file(bucket, key, str(archive))
    except ImportError:
        subprocess.run(["aws", "s3", "cp", "--only-show-errors", url, str(archive)], check=True)  # noqa: S607 - as PATH says
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        sys.exit(f"ultracluster: {url} has SHA-256 {found}, not {digest}")
    partial = Path(f"{folder}.new")
    # The filter refuses links and paths out of the folder, where Python has it.
    safe: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as packed:
        packed.extractall(partial, **safe)  # noqa: S202 - its digest is that of the user's own code
    partial.rename(folder)
    sys.stderr.write(f"ultracluster: code {digest[:12]}\n")


if __name__ == "__main__":
    main()
