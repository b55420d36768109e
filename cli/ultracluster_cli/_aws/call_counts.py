"""Count the requests that a command sends to AWS."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any


class CallCounts:
    """Count the requests of clients, including retries. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: Counter[str] = Counter()

    @property
    def sent(self) -> Mapping[str, int]:
        """Number of requests by call, such as ``ec2:DescribeVpcs``, the most frequent first."""
        with self._lock:
            return dict(self._sent.most_common())

    def wrap(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that creates clients whose requests are counted."""

        def counting(*arguments: Any, **named: Any) -> Any:
            client = make(*arguments, **named)
            service = client.meta.service_model.service_name

            def count(event_name: str, **_: Any) -> None:
                with self._lock:
                    self._sent[f"{service}:{event_name.rpartition('.')[2]}"] += 1

            client.meta.events.register("before-send", count, unique_id=f"call-counts-{id(self)}")
            return client

        return counting
