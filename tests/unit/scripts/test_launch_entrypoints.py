"""Commands reach the program unchanged through every ENTRYPOINT: the real launcher, behind real shells."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.scripts.entrypoints import BROKEN, FORMS, entrypoint

from ultracluster._foundation.script import lean_script
from ultracluster_spec.commands import encode_word
from ultracluster_spec.images import explain_entrypoint

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
LAUNCHER = HERE.parents[2] / "constructs/ultracluster/scripts/launch.py"
ARGUMENTS = {
    "plain": ["train.py", "--steps", "1000", "--out=/fsx/a_b-c.d", "x,y", "50%", "me@here", "+1", "k:v"],
    "blanks": ["two words", " leading", "trailing ", "tab\there", "many   blanks"],
    "empty": ["", " "],
    "quotes": ["it's", '"quoted"', "'", '"', "`date`", "''"],
    "dollars": ["$HOME", "${HOME}", "$(date)", "$$", "a$", "$0"],
    "backslashes": ["\\", "a\\b", "\\n", "C:\\\\x", "\\'"],
    "globs": ["*", "?", "[a-z]*", "{a,b}", "~", "~root", "!!", "^x"],
    "operators": [";", "a;b", "&", "&&", "|", "<", ">", "(", ")", "#", "# comment", "a#b", "=x", "X=1"],
    "lines": ["one\ntwo", "\n", "ends\n", "\r\n"],
    "letters": ["\u00fc\u00df", "\u65e5\u672c", "\U0001f600 x"],
    "marked": ["base64:Zm9v", "bz2:", "base64:"],
    "script": [lean_script("smoke_train.py"), "x" * 600 + "'"],
}
# Prints its arguments, as torchrun and others would get them.
PRINTER = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A folder of programs that an image holds."""
    for name, text in {
        "torchrun": PRINTER,
        "program": PRINTER,
        "neuron_parallel_compile": '#!/bin/bash\nwhile [ "$1" != python3 ]; do shift; done\nexec "$@"\n',
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def start(
    image: Path, form: str, command: Sequence[str], **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*entrypoint(form, image), *command],
        env={
            "PATH": f"{image}:{HERE / 'fakes'}:/usr/bin:/bin",
            "HOME": str(image),
            "UC_PROCESSES_PER_NODE": "2",
            "UC_DEVICES_PER_NODE": "2",
            **variables,
        },
        cwd=image,
        text=True,
        capture_output=True,
        check=False,
        timeout=30,
    )


# An ENTRYPOINT passes words on, whatever the launcher does with them: `make test` changes one of the two at a time.
@pytest.mark.parametrize(
    ("launcher", "form"),
    [
        pytest.param(
            launcher, form, marks=() if launcher == "raw" or form == "evaluates-twice" else pytest.mark.deep
        )
        for launcher in ("torchrun", "jax", "raw", "precompile")
        for form in FORMS
    ],
)
def test_every_argument_reaches_the_program_unchanged(image: Path, launcher: str, form: str) -> None:
    arguments = [argument for kind in ARGUMENTS.values() for argument in kind]
    words = [] if launcher in {"torchrun", "precompile"} else ["program"]
    command = ["python3", str(LAUNCHER), "torchrun" if launcher == "precompile" else launcher]
    command += map(encode_word, [*words, *arguments])
    if launcher == "precompile":
        command = ["neuron_parallel_compile", "--command", "collect", *command]
    done = start(image, form, command)
    assert done.returncode == 0, done.stderr
    given = json.loads(done.stdout)
    assert given[-len(arguments) :] == arguments
    assert given[: -len(arguments)] == ([] if words else given[:10])  # torchrun's own: five options


def test_the_fabric_gate_runs_behind_an_entrypoint(image: Path) -> None:
    gate = ["python3", "-c", lean_script("fabric_gate.py"), "efa=4", "ranks=64", "patience=9", "group=2"]
    command = ["python3", str(LAUNCHER), "raw", *map(encode_word, gate)]
    done = start(image, "evaluates-twice", command, RUN_FOLDER=str(image))
    assert done.returncode == 0, done.stderr
    assert "fabric gate: passed" in done.stderr


# An ENTRYPOINT that replaces the exit code is still one that fails.
@pytest.mark.parametrize("form", FORMS)
def test_a_failure_of_the_program_fails_the_container(image: Path, form: str) -> None:
    words = map(encode_word, ["bash", "-c", "exit 42"])
    code = start(image, form, ["python3", str(LAUNCHER), "raw", *words]).returncode
    assert code == (1 if form in {"calls", "splits"} else 42)


@pytest.mark.parametrize("words", BROKEN, ids=" ".join)
def test_an_entrypoint_that_the_rule_rejects_fails(image: Path, words: list[str]) -> None:
    assert explain_entrypoint(words)
    done = subprocess.run(
        [*words, "python3", str(LAUNCHER), "raw", "program", "reached"],
        env={"PATH": f"{image}:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert b"reached" not in done.stdout


@pytest.mark.parametrize("form", FORMS)
def test_the_rule_accepts_entrypoints_that_work(form: str) -> None:
    assert explain_entrypoint(FORMS[form]) == ""


@pytest.mark.parametrize("form", ["none", "evaluates"])
def test_a_node_without_the_launcher_is_named_in_the_log(image: Path, form: str) -> None:
    done = start(image, form, ["python3", "/run/ultracluster-of-other-nodes/launch", "torchrun", "train.py"])
    assert done.returncode != 0
    assert "/run/ultracluster-of-other-nodes/launch" in done.stderr
    assert "No such file" in done.stderr.splitlines()[-1]
