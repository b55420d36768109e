"""Run a protocol with replies from the test, and record its effects."""

from collections.abc import Callable
from typing import Any

from ultracluster_runtime.purchasing.effects import Effect, Page, Steps, perform_all
from ultracluster_spec.findings import FindingsError


def play(steps: Steps[Any], answer: Callable[[Effect], Any]) -> tuple[list[Effect], Any]:
    """Run a protocol to its end: what it asked for, and its result or the lines of its refusal."""
    asked: list[Effect] = []

    def perform(effect: Effect) -> Any:
        asked.append(effect)
        return answer(effect)

    try:
        return asked, perform_all(steps, perform)
    except FindingsError as refusal:
        return asked, str(refusal)


def pages(*listings: tuple[type, list[Any]]) -> Callable[[Effect], Any]:
    """Answer listings in two pages: the first item, then the others; what is not given is empty."""

    def answer(effect: Any) -> Any:
        items = next((items for kind, items in listings if isinstance(effect, kind)), [])
        if effect.page is None:
            return Page(items=tuple(items[:1]), next_token="more")
        assert effect.page == "more"
        return Page(items=tuple(items[1:]))

    return answer
