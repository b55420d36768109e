"""Plausible bugs in the life cycle, each as a change of its source. The scenarios must detect every one."""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from tests.unit.runtime.lifecycle.lifecycle_simulation import RunCycle

__all__ = ["BUGS", "FLEET_BUGS", "Bug", "cycle_with_bug"]

_PACKAGE = "ultracluster_runtime.lifecycle"


@dataclass(frozen=True)
class Bug:
    """One mistake: in `module`, `old` (which occurs once) becomes `new`.

    `found_by` names the lives that are tried first; where they do not find it, all others are.
    """

    name: str
    module: str
    old: str
    new: str
    found_by: str = "undisturbed"


BUGS = (
    Bug(
        "never-drains",
        "machine",
        "observations.now < window.drain_at else",
        "observations.now < window.end else",
    ),
    Bug(
        "drains-when-it-should-signal",
        "machine",
        "observations.now < window.drain_at else",
        "observations.now < window.checkpoint_at else",
    ),
    Bug(
        "stays-open-before-the-start",
        "machine",
        "enabled = phase is Phase.OPEN",
        "enabled = phase in (Phase.OPEN, Phase.WAITING)",
    ),
    Bug(
        "ends-jobs-without-a-word",
        "machine",
        "last_call\n            or all(",
        "True\n            or all(",
        found_by="outages",
    ),
    Bug(
        "gives-no-grace",
        "machine",
        "requested[node] + grace <= observations.now",
        "requested[node] - grace <= observations.now",
        found_by="outages",
    ),
    Bug(
        "waits-for-ever-for-the-told",
        "machine",
        "last_call\n            or all(",
        "False\n            or all(",
        found_by="without_state",
    ),
    Bug(
        "ends-jobs-of-others",
        "machine",
        "if (own := job.nodes & observations.nodes)",
        "if (own := job.nodes)",
        found_by="adjacent_blocks",
    ),
    Bug(
        "tells-everybody",
        "machine",
        "    nodes = observations.nodes or frozenset()\n",
        "    nodes = frozenset(node for job in observations.jobs or () for node in job.nodes)\n",
        found_by="adjacent_blocks",
    ),
    Bug(
        "tells-nobody",
        "machine",
        "        if part\n",
        "        if False\n",
    ),
    Bug(
        "tells-at-the-drain-only",
        "machine",
        "observations.now < window.checkpoint_at:",
        "observations.now < window.drain_at:",
    ),
    Bug(
        "closes-the-queue-of-others",
        "machine",
        "queue.others_serve is False else []",
        "True else []",
        found_by="adjacent_blocks",
    ),
    Bug(
        "closes-a-queue-it-cannot-see",
        "machine",
        "queue.others_serve is False else []",
        "not queue.others_serve else []",
        found_by="random_scenarios",
    ),
    Bug(
        "closes-the-queue-before-the-start",
        "machine",
        "if phase in (Phase.WAITING, Phase.OPEN):\n        return [] if queue",
        "if phase is Phase.OPEN:\n        return [] if queue",
    ),
    Bug("never-closes-the-queue", "machine", "[SetQueue(enabled=False)]", "[]"),
    Bug(
        "ignores-a-payment-on-its-way",
        "machine",
        "if observations.extension_pending is not False and not last_call:",
        "if False:",
        found_by="extensions",
    ),
    Bug(
        "believes-an-old-answer",
        "machine",
        "Phase.UNKNOWN if was_active else Phase.WAITING",
        "Phase.WAITING",
        found_by="unexpected_states",
    ),
    Bug(
        "guesses-at-unknown-states",
        "machine",
        "    if reservation.state != ACTIVE:\n        return Phase.UNKNOWN\n",
        "",
        found_by="unexpected_states",
    ),
    Bug(
        "stops-at-the-first-error",
        "machine",
        "            errors.append(error)\n            return False",
        "            raise",
        found_by="without_state",
    ),
    Bug(
        "notifies-without-a-memory",
        "machine",
        "    if not attempt(partial(save, state)):\n        return tuple(errors)\n",
        "    attempt(partial(save, state))\n",
        found_by="without_state",
    ),
    Bug("forgets-its-notices", "machine", "state = state.with_notices(notice.notices)", "pass"),
    Bug(
        "reports-never",
        "machine",
        "            candidates.append(_end_report(observations, state))",
        "            pass",
    ),
    Bug(
        "forgets-an-ended-block",
        "machine",
        "return Phase.ENDED if over else Phase.UNKNOWN",
        "return Phase.UNKNOWN",
        found_by="released_blocks",
    ),
    Bug(
        "changes-what-is-being-modified",
        "machine",
        " or environment.status in CHANGING:",
        ":",
        found_by="environment_is_modified",
    ),
    Bug(
        "launches-in-a-loop",
        "machine",
        "if enabled and not observations.has_fleet and len(refusals) >= observations.max_refusals:",
        "if False:",
        found_by="refusing_nodes",
    ),
    Bug(
        "forgets-refusals",
        "state",
        "{**self.refusals, **refusals}.items()",
        "{}.items()",
        found_by="refusing_nodes",
    ),
    Bug(
        "hears-of-no-refusal",
        "machine",
        "*_refusal_notices(observations, state)]",
        "]",
        found_by="refusing_nodes",
    ),
    Bug(
        "one-end-for-ever",
        "state",
        "self if end == self.end else replace(",
        "self if True else replace(",
        found_by="extensions",
    ),
    Bug(
        "counts-what-it-did-not-see",
        "state",
        "0 if elapsed > LONGEST_SAMPLE else ",
        "",
        found_by="outages",
    ),
    Bug("counts-twice", "state", "sampled_at=now,", "sampled_at=self.sampled_at,"),
    Bug(
        "takes-idle-for-used",
        "state",
        "busy_seconds=self.busy_seconds + seconds * min(busy, self.instances)",
        "busy_seconds=self.busy_seconds + seconds * self.instances",
    ),
)


FLEET_BUGS = (
    Bug("never-fills-the-block", "machine", "if phase is not Phase.OPEN or reservation is None:", "if True:"),
    Bug(
        "fills-it-before-the-start",
        "machine",
        "if phase is not Phase.OPEN or reservation is None:",
        "if phase is Phase.DRAINING:",
    ),
    Bug(
        "fills-it-in-the-drain",
        "machine",
        "if phase is not Phase.OPEN or reservation is None:",
        "if phase is Phase.WAITING:",
    ),
    Bug("never-empties-the-group", "machine", "[] if fleet.desired == 0 else [SetFleet(nodes=0)]", "[]"),
    Bug(
        "empties-it-only-once-filled",
        "machine",
        "[] if fleet.desired == 0 else [SetFleet(nodes=0)]",
        "[SetFleet(nodes=0)] if fleet.desired == 4 and fleet.exposed else []",
    ),
    Bug(
        "keeps-every-node",
        "machine",
        "released = fleet.protected & _idle_nodes(observations)",
        "released = frozenset()",
    ),
    Bug(
        "gives-up-busy-nodes",
        "machine",
        "return (observations.nodes or frozenset()) - observations.busy",
        "return observations.nodes or frozenset()",
    ),
    Bug(
        "gives-up-nodes-that-are-gone",
        "machine",
        "released = fleet.protected & _idle_nodes(observations)",
        "released = _idle_nodes(observations) or frozenset({'i-gone'})",
    ),
    Bug(
        "waits-for-closed-environments-only",
        "machine",
        "or environment.enabled\n",
        "or not environment.enabled\n",
    ),
    Bug(
        "takes-unread-jobs-for-none",
        "machine",
        "        or observations.jobs is None\n        or observations.extension_pending is not False",
        "        or observations.extension_pending is not False",
    ),
    Bug(
        "ignores-an-extension-on-its-way",
        "machine",
        "        or observations.jobs is None\n        or observations.extension_pending is not False",
        "        or observations.jobs is None",
    ),
    Bug("never-protects-again", "machine", "    if fleet.exposed:", "    if False:"),
    Bug("wants-more-than-the-block-has", "machine", "min(reservation.instances, fleet.most)", "fleet.most"),
    Bug(
        "wants-less-than-the-block-has",
        "machine",
        "min(reservation.instances, fleet.most)",
        "reservation.instances - 1",
    ),
    Bug(
        "replaces-refusing-nodes-for-ever",
        "machine",
        "len(_refusals(observations, state)) >= observations.max_refusals",
        "False",
    ),
    Bug(
        "stops-at-the-first-refusal",
        "machine",
        "len(_refusals(observations, state)) >= observations.max_refusals",
        "_refusals(observations, state)",
    ),
    Bug("never-tries-again", "state", "since = now - timedelta(hours=1)", "since = None"),
    Bug("counts-refusals-in-a-row-only", "machine", "hourly=observations.has_fleet", "hourly=False"),
    Bug("gives-up-those-that-run", "machine", "wanted = min(wanted, len(nodes))", "wanted = 0"),
    Bug(
        "closes-the-environment-after-refusals",
        "machine",
        "if enabled and not observations.has_fleet and",
        "if enabled and",
    ),
    Bug("holds-in-silence", "machine", 'notices=frozenset({f"held: {nodes}"})', "notices=frozenset()"),
    Bug(
        "acts-in-states-that-it-does-not-know",
        "machine",
        "if fleet is None or phase is Phase.UNKNOWN:",
        "if fleet is None:",
    ),
)
"""Mistakes around the Auto Scaling group of a block."""


@contextmanager
def cycle_with_bug(bug: Bug) -> Iterator[RunCycle]:
    """The life cycle with a bug in it; the modules themselves stay as they are."""
    kept = {name: sys.modules[f"{_PACKAGE}.{name}"] for name in ("machine", "state")}
    try:
        broken: dict[str, types.ModuleType] = {}
        for name in ("state", "machine"):
            full = f"{_PACKAGE}.{name}"
            spec = util.find_spec(full)
            assert spec is not None
            assert spec.origin is not None
            source = Path(spec.origin).read_text()
            if name == bug.module:
                assert source.count(bug.old) == 1, f"{bug.name}: the source has changed"
                source = source.replace(bug.old, bug.new)
            module = broken[name] = types.ModuleType(full)
            sys.modules[full] = module
            exec(compile(source, spec.origin, "exec"), module.__dict__)  # noqa: S102 - our own source
        yield broken["machine"].run_cycle
    finally:
        sys.modules.update({f"{_PACKAGE}.{name}": module for name, module in kept.items()})
