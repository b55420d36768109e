"""ENTRYPOINT forms of images, each as small as its kind, to run commands through them with real shells."""

from pathlib import Path
from typing import Final

__all__ = ["BROKEN", "FORMS", "entrypoint"]

# What AWS Batch appends the command to. The kinds: no ENTRYPOINT; `bash -m` of a script that evaluates its arguments, as all
# Neuron training images of AWS have it (aws-neuron/deep-learning-containers, 2026-08); Python programs of AWS's vLLM and
# inference images, one of which joins and splits its arguments; exec; init programs; shells that join their arguments.
FORMS: Final = {
    "none": [],
    "evaluates": ["bash", "-m", "evaluates.sh"],
    "evaluates-in-sh": ["sh", "evaluates.sh"],
    "evaluates-twice": ["bash", "twice.sh"],
    "execs": ["bash", "execs.sh"],
    "runs": ["sh", "runs.sh"],
    "joins": ["sh", "joins.sh"],
    "inline": ["bash", "-c", 'exec "$@"', "--"],
    "inline-evaluates": ["bash", "-c", 'eval "$@"', "entrypoint"],
    "init": ["python3", "init.py", "--"],
    "init-with-session": ["python3", "session.py", "--"],
    "calls": ["python3", "calls.py"],
    "splits": ["python3", "splits.py"],
    "env": ["env", "FROM_IMAGE=yes"],
}

# Forms that run something else than the command.
BROKEN: Final = (
    ["bash"],
    ["sh", "-c"],
    ["bash", "-c", 'exec "$@"'],
    ["bash", "-lc", "true"],
    ["python3"],
    ["python3", "-u"],
)

_SCRIPTS: Final = {
    "evaluates.sh": 'if [ "$1" = serve ]; then exit 9; else eval "$@"; fi\n',
    "twice.sh": 'again() { eval "$@"; }\neval again "$@"\n',
    "execs.sh": 'set -e\n[ $# -gt 0 ] || set -- bash\nexec "$@"\n',
    "runs.sh": '"$@"\n',
    "joins.sh": 'sh -c "$*"\n',
    "init.py": "import subprocess, sys\nsys.exit(subprocess.run(sys.argv[2:]).returncode)\n",
    "session.py": "import subprocess, sys\nsys.exit(subprocess.run(sys.argv[2:], start_new_session=True).returncode)\n",
    "calls.py": "import subprocess, sys\nsubprocess.check_call(sys.argv[1:])\n",
    "splits.py": "import shlex, subprocess, sys\nsubprocess.check_call(shlex.split(' '.join(sys.argv[1:])))\n",
}


def entrypoint(form: str, folder: Path) -> list[str]:
    """Return an ENTRYPOINT, with its script in a folder."""
    words = []
    for word in FORMS[form]:
        if word in _SCRIPTS:
            (folder / word).write_text(_SCRIPTS[word])
        words.append(str(folder / word) if word in _SCRIPTS else word)
    return words
