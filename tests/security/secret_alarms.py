"""`python -m tests.security.secret_alarms REPOSITORY...`: how many made-up secrets are found, and over what else alarm is raised.

A repository is a folder of Git, with or without a work tree; its newest commit is read as `ultracluster run` would upload it.
"""

import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from tests.unit.spec.made_up_secrets import made_up_secrets

from ultracluster_spec.credentials import find_credentials, is_secret_file

_LINK: Final = "120000"
_MOST_ALARMS: Final = 0.01


def _files(repository: str) -> Iterator[tuple[str, bytes]]:
    git = ["git", "-c", "core.fsmonitor=", "-c", "safe.bareRepository=all", "-C", repository]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as contents:
        assert contents.stdin is not None
        assert contents.stdout is not None
        for line in filter(None, listed.decode("utf-8", "replace").split("\0")):
            facts, _, name = line.partition("\t")
            mode, kind, digest = facts.split()
            if kind == "blob" and mode != _LINK:
                contents.stdin.write(f"{digest}\n".encode())
                contents.stdin.flush()
                *_, size = contents.stdout.readline().split()
                if size != b"missing":  # a snapshot can lack large files
                    yield name, contents.stdout.read(int(size) + 1)[:-1]


def main(repositories: list[str]) -> int:
    """Print both rates; return 1 if more than one file in a hundred raises an alarm."""
    every = list(made_up_secrets(1))
    found = sum(bool(find_credentials(name, content)) for _, name, content, _ in every)
    print(f"made-up secrets: {found} of {len(every)} found, {found / len(every):.1%}")  # noqa: T201
    files = alarms = 0
    for repository in repositories:
        for name, content in _files(repository):
            files += 1
            places = [f"line {line}: {kind}" for line, kind in find_credentials(name, content)]
            if places := ["a file of secrets by its name"] * is_secret_file(name) + places:
                alarms += 1
                print(f"{repository}: {name}: {places[0]}")  # noqa: T201
        print(f"{repository}: {alarms} alarms over {files:,} files so far")  # noqa: T201
    rate = alarms / files if files else 0
    print(f"{len(repositories)} repositories: {alarms} alarms over {files:,} files, {rate:.2%}")  # noqa: T201
    return int(rate > _MOST_ALARMS)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
