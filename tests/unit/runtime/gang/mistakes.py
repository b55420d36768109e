"""Mistakes that somebody could make in the rendezvous: each changes its source, and a seed must show it."""

import sys
from types import ModuleType

from ultracluster_runtime.gang import rendezvous

__all__ = ["MISTAKES", "mistaken"]

MISTAKES: dict[str, tuple[str, str]] = {
    "keys without the ID of the job": (
        'return f"{self.child.job}/{self.generation:04d}/{name}"',
        'return f"{self.generation:04d}/{name}"',
    ),
    "one result for all jobs": ('return f"{self.child.job}/over"', 'return "over"'),
    "keys without the generation": ('{self.generation:04d}/{name}"', '{name}"'),
    "the roster can be overwritten": ('yield Create(gang.key("roster")', 'yield Write(gang.key("roster")'),
    "the roster does not wait for all": ("if len(members) == gang.child.size:", "if len(members) > 1:"),
    "the roster takes the oldest processes": (
        "for key in sorted(found):",
        "for key in sorted(found, reverse=True):",
    ),
    "child 0 believes what it wrote": (
        'text = yield Read(gang.key("roster"))\n    return',
        "text = json.dumps(dict(members))\n    return",
    ),
    "a new generation does not wait for the old one": (
        "> 2 * gang.settings.lease\n\n\ndef _members",
        ">= 0\n\n\ndef _members",
    ),
    "a process starts without being in the roster": ("if roster and child.name in roster:", "if roster:"),
    "members are known by their index only": (
        "if roster and child.name in roster:",
        "if roster and any(_index(name) == child.index for name in roster):",
    ),
    "a process starts however late it is": ("before = gang.checked + gang.settings.lease", "before = 1e9"),
    "a replaced process ends the generation of its successor": ("if successor > child.name:", "if False:"),
    "a successor gives up": ("if successor > child.name:", "if True:"),
    "a generation that has ended is joined again": (
        "                gang.generation += 1\n                gang.quiet_since = gang.now\n                continue",
        "                pass",
    ),
    "a child does not register in the next generation": (
        "if registered != gang.generation:",
        "if not registered:",
    ),
    "nobody waits for a deadline": ("            if gang.now > deadline:", "            if False:"),
    "the deadline ends the generation, not the job": (
        'yield from _finish(\n                    gang, f"not all',
        'yield from _end(\n                    gang, f"not all',
    ),
    "the reason names nobody": (
        'f"not all children came within {gang.settings.deadline:.0f} s: {missing}"',
        '"too late"',
    ),
    "results are overwritten": ("yield Create(gang.over,", "yield Write(gang.over,"),
    "the end of a generation is not read": ("    if end is not None:", "    if end == 0:"),
    "the end of the job is not read": ("    if over is not None:", "    if over == 0:"),
    "nobody gives a sign of life": (
        '            yield Write(gang.key(f"beat/',
        '            yield Write(gang.key(f"pulse/',
    ),
    "a sign of life that never changes": ('f"{state} {gang.beats}"', "state"),
    "nobody watches child 0": ('else ("0",):', "else ():"),
    "child 0 watches nobody": (
        "for index in gang.seen if gang.child.index == 0",
        "for index in () if gang.child.index == 0",
    ),
    "done without a sign of life": (
        'f"{state} {gang.beats}"',
        '"done" if state == "done" else f"{state} {gang.beats}"',
    ),
    "a child that is done leaves": (
        "            gang.beats += 1\n",
        "            gang.beats += 1\n            if gang.exit_code == 0:\n                return Outcome('success', 'done')\n",
    ),
    "success when one is done": ("and all(beat.startswith", "and any(beat.startswith"),
    "a lost child is not reported": ('yield from _end(gang, f"child {lost} gave', 'Read(f"child {lost} gave'),
    "a failed program ends the job at once": ("if gang.now - failed_since > 2 * settings.lease:", "if True:"),
    "a failed program is kept a secret": ("            if gang.exit_code:\n", "            if False:\n"),
    "a failed program starts again": (
        "                    yield from _finish(gang, reason)\n",
        "                    yield from _end(gang, reason)\n",
    ),
    "a process that is cut off goes on": ("if gang.now - gang.checked > settings.lease:", "if False:"),
    "a failed look counts as a look": ("    asked = gang.now\n", "    asked = gang.checked = gang.now\n"),
    "an unavailable place ends a child at once": (
        "        except (Unavailable, ValueError):\n            pass",
        "        except (Unavailable, ValueError):\n            return Outcome('failure', 'unavailable')",
    ),
    "a waiting child never gives up a dead place": (
        "if gang.now > deadline + gang.settings.lease:",
        "if False:",
    ),
}


def mistaken(name: str) -> ModuleType:
    """Return the rendezvous with a mistake."""
    before, after = MISTAKES[name]
    source = open(rendezvous.__file__, encoding="utf-8").read()  # noqa: SIM115, PTH123
    assert source.count(before) == 1, f"{name}: the source has it {source.count(before)} times"
    module = ModuleType("mistaken")
    sys.modules["mistaken"] = module  # dataclasses look their module up
    exec(compile(source.replace(before, after), "mistaken.py", "exec"), module.__dict__)  # noqa: S102
    return module
