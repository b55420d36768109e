"""Run a protocol with replies from the test, and record its effects."""

from collections.abc import Callable
from functools import partial
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


class Running:
    """A protocol under way, one effect at a time.

    Attributes:
        result: What it ended with: its result, or the `FindingsError` that ended it.
    """

    def __init__(self, steps: Steps[Any], perform: Callable[[Any], Any]) -> None:
        self.steps, self._perform = steps, perform
        self.done = False
        self.result: Any = None
        self._proceed: Callable[[], Any] = partial(steps.send, None)

    def step(self) -> bool:
        """Perform one effect.

        Returns:
            Whether it goes on.
        """
        try:
            effect = self._proceed()
        except StopIteration as stop:
            self.done, self.result = True, stop.value
            return False
        except FindingsError as error:
            self.done, self.result = True, error
            return False
        try:
            self._proceed = partial(self.steps.send, self._perform(effect))
        except FindingsError as error:
            self._proceed = partial(self.steps.throw, error)
        return True

    def run(self) -> Any:
        """Run to the end.

        Returns:
            The result, the `FindingsError` that ended it, or None if it died.
        """
        while self.step():
            pass
        return self.result
