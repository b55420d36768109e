"""Stands in for boto3 where the arguments of a call and its answer are all that matters."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from botocore.config import Config


class Boto3:
    """A client of every service, and what makes it.

    `answer`, or what `answers` has for the call, is given or raised, after the hook for what leaves was called `leaves` times.
    """

    def __init__(self, answer: Any = None, *, leaves: int = 1, **answers: Any) -> None:
        self.answer, self.leaves, self.answers = answer, leaves, answers
        self.made: list[tuple[str, str, Config | None]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.meta = SimpleNamespace(events=self)
        self._hooks: list[tuple[str, Callable[..., Any]]] = []

    def make(self, service: str, region: str, config: Config | None = None) -> "Boto3":
        self.made.append((service, region, config))
        return self

    __call__ = make

    def register(self, event: str, hook: Callable[..., Any]) -> None:
        self._hooks.append((event, hook))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            for _ in range(self.leaves):
                for event, hook in self._hooks:
                    assert event == "before-send.ec2"
                    hook(request="signed")
            self.calls.append((name, arguments))
            answer = self.answers.get(name, self.answer)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call
