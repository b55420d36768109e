"""The support check runs here as its job starts it, with a torch_neuronx that answers as Neuron documents it."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.unit.scripts.torch_neuronx_stub import write_stub_of_torch_neuronx

from ultracluster._foundation.script import lean_script

SCRIPT = lean_script("support_check.py")
FFT = "support check: unsupported: aten::fft_fft at model.py(6): forward, {} times, refused by neuronx-cc"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return write_stub_of_torch_neuronx(tmp_path / "image")


def check(python: Path, operators: str, file: str = "model.py", name: str = "build") -> tuple[int, list[str]]:
    done = subprocess.run(
        [python, "-c", SCRIPT, file, name],
        env={"OPERATORS": operators, "NEURON_PLATFORM_TARGET_OVERRIDE": "trn2"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_compiles_a_model_whose_operators_are_all_supported(python: Path) -> None:
    code, lines = check(python, "aten::linear aten::relu")
    assert code == 0
    assert json.loads(lines[0])["supported_operators"] == {"aten::linear": 1, "aten::relu": 1}
    assert lines[1:] == [
        "support check: 2 kinds of operators are supported, 0 are not",
        "support check: compiled for trn2 in 0 s",
    ]


def test_lists_each_unsupported_operator_once_and_does_not_compile(python: Path) -> None:
    code, lines = check(python, "aten::fft_fft aten::linear aten::fft_fft aten::fft_ifft")
    assert code == 1
    assert lines[1:] == [
        FFT.format(2),
        FFT.format(1).replace("fft_fft", "fft_ifft"),
        "support check: 1 kinds of operators are supported, 2 are not",
    ]


def test_reads_a_report_that_lists_operators_by_layer(python: Path) -> None:
    stub = python.with_name("torch_neuronx.py")
    by_layer = '"supported_operators": {"aten": supported}, "unsupported_operators": {"aten": lacking}'
    plain = '"supported_operators": supported, "unsupported_operators": lacking'
    assert plain in stub.read_text()
    stub.write_text(stub.read_text().replace(plain, by_layer))
    code, lines = check(python, "aten::linear aten::fft_fft")
    assert (code, lines[1]) == (1, FFT.format(1))


def test_a_model_that_does_not_compile_as_a_whole_is_not_supported(python: Path) -> None:
    code, lines = check(python, "aten::too_large")
    assert code == 1
    assert (
        lines[-1]
        == "support check: unsupported: the whole model, RuntimeError neuronx-cc failed with 70 NCC_EOOM001"
    )


@pytest.mark.parametrize(
    ("file", "name", "problem"),
    [
        ("absent.py", "build", "absent.py build gives no model and example inputs: FileNotFoundError"),
        ("model.py", "absent", "model.py absent gives no model and example inputs: KeyError"),
    ],
)
def test_gives_no_answer_without_a_model(python: Path, file: str, name: str, problem: str) -> None:
    code, lines = check(python, "", file, name)
    assert code == 2
    assert f"refused: {problem}" in lines[-1]


@pytest.mark.parametrize("text", ["import absent", "analyze = None"])
def test_gives_no_answer_with_an_image_that_cannot_analyze(python: Path, text: str) -> None:
    python.with_name("torch_neuronx.py").write_text(text)
    code, lines = check(python, "aten::linear")
    assert code == 2
    assert "support check: refused: torch_neuronx.analyze of this image gives no answer" in lines[-1]
