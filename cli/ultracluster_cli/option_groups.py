"""Options that commands share or pass on as a whole: a parameter whose type is a data class has an option for each field."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer whose data class parameters are replaced by one option for each field."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Callable[..., Any]] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)
    }

    @functools.wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(
                **{field: options.pop(field) for field in inspect.signature(group).parameters}
            )
        command(**options)

    parameters = [
        option
        for name, parameter in signature.parameters.items()
        for option in (
            inspect.signature(groups[name]).parameters.values() if name in groups else (parameter,)
        )
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run
