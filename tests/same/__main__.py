"""`make same` compares what users get from this tree with what was accepted; `make same WRITE=1` accepts it.

hashes.json has a hash of every output. What the last run gave is kept in the ignored folder .ultracluster/same, so that a
difference is shown line by line where its other side was made on this machine.
"""

import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

__all__ = ["differences", "main"]

Texts = Mapping[str, str]

_ROOT: Final = Path(__file__).parents[2]
_HASHES: Final = Path(__file__).with_name("hashes.json")
_STATE: Final = _ROOT / ".ultracluster" / "same"
_PROCESSES: Final = 2
_MOST_LINES: Final = 12
# Width and colours of what is printed, and credentials that reach nothing, whatever terminal this is.
_ENVIRONMENT: Final = {
    "COLUMNS": "110",
    "TERMINAL_WIDTH": "110",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def main(*, write: bool) -> int:
    """Collect every output and compare it with the accepted ones.

    Args:
        write: Whether to accept what differs.

    Returns:
        1 if something differs and is not accepted, else 0.
    """
    now = _collect()
    hashes = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in sorted(now.items())}
    accepted = json.loads(_HASHES.read_text("utf-8")) if _HASHES.exists() else {}
    lines = differences(accepted, hashes, before=_kept("accepted"), now=now)
    _keep("now", now)
    if write:
        _HASHES.write_text(json.dumps(hashes, indent=0) + "\n", encoding="utf-8")
    if write or not lines:
        _keep("accepted", now)
    sys.stdout.write("\n".join([*lines, _summary(hashes, accepted), ""]))
    return 1 if lines and not write else 0


def differences(accepted: Texts, hashes: Texts, *, before: Texts, now: Texts) -> list[str]:
    """Describe each output whose hash is another one, with its first changed lines where both texts are known.

    Args:
        accepted: The accepted hash of each output.
        hashes: Its hash now.
        before: Texts of an earlier run, by name.
        now: Texts of this run.
    """
    lines = []
    for name in sorted(accepted.keys() | hashes.keys()):
        if name not in hashes:
            lines.append(f"gone: {name}")
        elif name not in accepted:
            lines.append(f"new: {name}")
        elif accepted[name] != hashes[name]:
            lines.append(f"changed: {name}")
            if hashlib.sha256(before.get(name, "").encode()).hexdigest()[:16] == accepted[name]:
                lines += _changed_lines(before[name], now[name])
    return lines


def _changed_lines(before: str, now: str) -> Iterable[str]:
    changed = [
        line[:200]
        for line in difflib.unified_diff(before.splitlines(), now.splitlines(), n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    more = [f"… and {len(changed) - _MOST_LINES} lines more"] if len(changed) > _MOST_LINES else []
    return [f"    {line}" for line in changed[:_MOST_LINES] + more]


def _summary(hashes: Texts, accepted: Texts) -> str:
    changed = {name for name in accepted.keys() | hashes.keys() if accepted.get(name) != hashes.get(name)}
    if not changed:
        return f"same: {len(hashes)} outputs"
    assets = sum(name.startswith("assets/") for name in changed)
    return f"{len(changed)} of {len(hashes)} outputs differ, {assets} of them only as hashes of assets"


def _collect() -> dict[str, str]:
    """Run tests.same.outputs for each group of outputs, two at a time."""
    with (
        tempfile.TemporaryDirectory(prefix="same-") as temporary,
        ThreadPoolExecutor(_PROCESSES) as executor,
    ):
        groups = json.loads(_run("groups", temporary))
        texts = list(executor.map(lambda group: json.loads(_run(*group, temporary)), groups))
        # What reads assemblies begins when all of them are written.
        texts += executor.map(lambda group: json.loads(_run(*group, temporary)), [["check"], ["plan"]])
    return {name: text for group in texts for name, text in group.items()}


def _run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.same.outputs", *arguments],
        cwd=_ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
        | _ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stderr}collecting {' '.join(arguments[:-1])} failed")
    return done.stdout


def _kept(name: str) -> dict[str, str]:
    path = _STATE / f"{name}.json"
    found: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def _keep(name: str, texts: Texts) -> None:
    _STATE.mkdir(parents=True, exist_ok=True)
    (_STATE / f"{name}.json").write_text(json.dumps(texts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(write="--write" in sys.argv[1:]))
