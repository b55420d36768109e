"""List the operators of a model that the Neuron compiler does not support, then compile the model; no Neuron device is needed.

FILE FUNCTION: the function returns the model and its example inputs. NEURON_PLATFORM_TARGET_OVERRIDE is the target.
"""

import json
import os
import sys
import time
import traceback
from collections import Counter
from runpy import run_path
from typing import Any

SUPPORTED, UNSUPPORTED, NO_ANSWER = 0, 1, 2


def main() -> int:
    """Check the model and return the exit code."""
    file, name = sys.argv[1:3]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))  # noqa: PTH100, PTH120 - as python3 FILE does
    try:
        model, inputs = run_path(file)[name]()
    except Exception as error:  # noqa: BLE001 - a program of the user
        return refuse(f"{file} {name} gives no model and example inputs", error)
    try:
        import torch_neuronx  # noqa: PLC0415 - in images of Neuron only

        report = torch_neuronx.analyze(model, inputs)
    except Exception as error:  # noqa: BLE001 - TorchNeuron has no analyze
        return refuse("torch_neuronx.analyze of this image gives no answer", error)
    print(json.dumps(report), flush=True)
    places = Counter(
        (each["kind"], each["call"].splitlines()[0], each["failureAt"])
        for each in of_aten(report["unsupported_operators"])
    )
    for (kind, call, failed_at), count in places.items():
        say(f"unsupported: {kind} at {call}, {count} times, refused by {failed_at}")
    kinds = {kind for kind, _, _ in places}
    supported = len(of_aten(report["supported_operators"]))
    say(f"{supported} kinds of operators are supported, {len(kinds)} are not")
    return UNSUPPORTED if places else compile_whole(torch_neuronx, model, inputs)


def of_aten(operators: Any) -> Any:
    """Return the operators of PyTorch; some versions list those of XLA beside them."""
    return operators["aten"] if isinstance(operators, dict) and "aten" in operators else operators


def compile_whole(torch_neuronx: Any, model: Any, inputs: Any) -> int:
    """Compile the whole model, which can fail although the compiler supports each operator."""
    target, start = os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"], time.monotonic()
    try:
        torch_neuronx.trace(model, inputs, compiler_args=f"--target {target}", cpu_backend=True)
    except Exception as error:  # noqa: BLE001 - whatever the compiler says
        traceback.print_exc()
        say(f"unsupported: the whole model, {brief(error)}")
        return UNSUPPORTED
    say(f"compiled for {target} in {time.monotonic() - start:.0f} s")
    return SUPPORTED


def refuse(problem: str, error: Exception) -> int:
    """Say why there is no answer."""
    traceback.print_exc()
    say(f"refused: {problem}: {brief(error)}")
    return NO_ANSWER


def brief(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join([type(error).__name__, *str(error).split()])


def say(text: str) -> None:
    """Write a line to the log."""
    print(f"support check: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
