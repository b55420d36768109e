"""An image for support checks: `python3` beside a torch_neuronx that answers as Neuron's page about `analyze` shows, and a model."""

import sys
from pathlib import Path

__all__ = ["write_stub_of_torch_neuronx"]

# Words and members of https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/api-reference-guide/inference/api-torch-neuronx-analyze.html.
_STUB = """
import os

def analyze(model, inputs):
    lacking = [
        {"kind": kind, "failureAt": "neuronx-cc", "call": "model.py(6): forward\\nanalyze.py(35): forward\\n", "opGraph": "graph()"}
        for kind in model if "fft" in kind
    ]
    supported = {kind: 1 for kind in model if "fft" not in kind}
    return {"neuronx_cc_version": "2.0", "supported_operators": supported, "unsupported_operators": lacking}

def trace(model, inputs, *, compiler_args, cpu_backend):
    assert cpu_backend and compiler_args == "--target " + os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"]
    if "aten::too_large" in model:
        raise RuntimeError("neuronx-cc failed with 70\\nNCC_EOOM001")
"""
_MODEL = """
import os

def build():
    return os.environ.get("OPERATORS", "aten::linear aten::fft_fft").split(), None
"""


def write_stub_of_torch_neuronx(folder: Path) -> Path:
    """Write the image into a folder, and return its `python3`, which starts beside the model."""
    folder.mkdir()
    (folder / "torch_neuronx.py").write_text(_STUB)
    (folder / "model.py").write_text(_MODEL)
    python = folder / "python3"
    python.write_text(
        f'#!/bin/sh\ncd {folder} && PYTHONPATH={folder} PYTHONDONTWRITEBYTECODE=1 exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    return python
