"""What ``ultracluster validate`` finds of the defects, in the rewrites and in foreign templates.

A defect is found if a code is found at a path more often than in its base. A rewrite must find no code more often
than its base, wherever.
"""

import json
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import yaml
from tests.deep.template_defects import foreign
from tests.deep.template_defects.defects import Defect, blind_defects, defects, second_defects
from tests.deep.template_defects.rewrites import Rewrite, blind_rewrites, rewrites
from tests.deep.template_defects.templates import (
    BLIND_SETS,
    GOLDEN,
    Found,
    base,
    blind_names,
    by_code,
    findings,
    names,
    region,
)

FOUND_CODES = Path(__file__).with_name("found_codes.json")


@cache
def _before(name: str) -> Found:
    return findings(base(name), region(name))


@cache
def found(defect: Defect) -> Found:
    """Return what is found of a defect and not in its base."""
    return findings(defect.application(), region(defect.base)) - _before(defect.base)


def found_codes(kind: str, ids: Container[str] | None = None) -> dict[str, list[str]]:
    """Return the codes found of each defect of a kind, in all tables. Default: of all their ids."""
    return {
        defect.id: sorted({code for code, _ in found(defect)})
        for defect in (*defects(), *second_defects(), *blind_defects())
        if defect.kind == kind and (ids is None or defect.id in ids)
    }


def accept() -> None:
    """Write the codes found of each defect, which a test of the suite compares."""
    kinds = sorted({defect.kind for defect in (*defects(), *second_defects(), *blind_defects())})
    FOUND_CODES.write_text(json.dumps({kind: found_codes(kind) for kind in kinds}, indent=1) + "\n")


def names_what_is_wrong(defect: Defect, new: Found) -> bool:
    """Return whether a new finding is at a resource that a right one may name."""
    return any(path.split(".")[0] in defect.about for _, path in new)


def newly_found(rewrite: Rewrite) -> Counter[str]:
    """Return the codes that are found more often in a rewrite than in its base."""
    return by_code(findings(rewrite.application, region(rewrite.base))) - by_code(_before(rewrite.base))


def judged_base(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind of finding and verdict of each finding in a sound base."""
    return foreign.judged_template(name, base(name), region(name))


def newly_found_as_text(some_names: Sequence[str]) -> dict[str, Counter[str]]:
    """Return the codes that the command line finds more often in each base written as other YAML or as JSON."""
    command = shutil.which("ultracluster")
    if command is None:
        return {}
    result: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in some_names:
            if name in GOLDEN:
                continue
            ((_, body),) = base(name).items()
            for suffix, text in (
                ("json", json.dumps(body, indent=1)),
                ("yaml", yaml.safe_dump(body, sort_keys=True)),
            ):
                path = Path(folder) / f"{name}.{suffix}"
                path.write_text(text)
                where = ["--region", region(name) or ""] if region(name) else []
                shown = subprocess.run(
                    [command, "validate", "--json", *where, str(path)],
                    check=False,
                    capture_output=True,
                    text=True,
                )
                after = Counter(finding["code"] for finding in json.loads(shown.stdout)["findings"])
                result[f"{suffix} {name}"] = after - by_code(_before(name))
    return result


def _defects(title: str, some_defects: tuple[Defect, ...], *, listing: bool) -> list[str]:
    new = {defect: found(defect) for defect in some_defects}
    results = {defect: bool(findings_of_it) for defect, findings_of_it in new.items()}
    lines = [f"{title:<16}{'defects':>8}{'found':>8}{'share':>8}"]
    for kind in [*dict.fromkeys(defect.kind for defect in results), "all"]:
        some = [hit for defect, hit in results.items() if kind in (defect.kind, "all")]
        lines.append(f"{kind:<16}{len(some):>8}{sum(some):>8}{sum(some) / len(some):>8.0%}")
    if listing:
        lines += [
            f"missed: {defect.kind} {defect.id}: {defect.wrong}" for defect, hit in results.items() if not hit
        ]
    known = {defect: names_what_is_wrong(defect, new[defect]) for defect in new if defect.about}
    if known:
        lines.append(f"found at a resource that is at fault: {sum(known.values())} of {len(known)}")
    if listing:
        lines += [
            f"found elsewhere: {defect.kind} {defect.id}: {sorted(new[defect])}"
            for defect, at_fault in known.items()
            if results[defect] and not at_fault
        ]
    return lines


def _rewrites(some: Iterable[Rewrite], some_names: Sequence[str], *, listing: bool) -> list[str]:
    new = {f"{one.kind} of {one.base}": newly_found(one) for one in some} | newly_found_as_text(some_names)
    changed = {name: codes for name, codes in new.items() if codes}
    lines = [f"rewrites: {len(new)}, with new findings: {len(changed)} ({len(changed) / len(new):.1%})"]
    judged = [verdict for name in some_names for _, _, verdict in judged_base(name)]
    verdicts = Counter(verdict.split(",")[0] or "not judged" for verdict in judged)
    lines.append(f"sound bases: {len(some_names)}, with {len(judged)} findings: {dict(verdicts)}")
    if listing:
        lines += [f"new: {name}: {dict(codes)}" for name, codes in changed.items()]
    return lines


def _foreign(*, listing: bool) -> list[str]:
    read = sum(1 for _ in foreign.templates())
    if not read:
        return [
            f"foreign templates: {len(foreign.listed())} listed, none read: {foreign.MIRROR} names no mirror"
        ]
    results = list(foreign.judged())
    verdicts = Counter(verdict.split(",")[0] or "not judged" for _, _, verdict in results)
    hit = len({name for name, _, _ in results})
    lines = [
        f"foreign templates: {len(foreign.listed())} listed, {read} read, {hit} with findings",
        f"foreign findings: {len(results)}: {dict(verdicts)}, {verdicts['wrong'] / max(1, len(results)):.1%} wrong",
    ]
    if listing:
        lines += [
            f"foreign: {count} times {kind}: {verdict or 'not judged'}"
            for (kind, verdict), count in Counter(result[1:] for result in results).most_common()
        ]
    return lines


def blind_report(blind: str, *, listing: bool) -> str:
    """Return the figures of one of `BLIND_SETS` alone, see `report`."""
    parts = (
        _defects(f"{blind} set", blind_defects(blind), listing=listing),
        _rewrites(blind_rewrites(blind), blind_names(blind), listing=listing),
    )
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def report(*, listing: bool) -> str:
    """Return the figures as text.

    Args:
        listing: Whether to name each defect that is missed and each rewrite in which something is newly found.
    """
    first = _defects("kind", defects(), listing=listing)
    second = _defects("written second", second_defects(), listing=listing)
    sound = _rewrites(rewrites(), names(), listing=listing)
    blind = (blind_report(name, listing=listing).splitlines() for name in BLIND_SETS)
    parts = (first, second, sound, _foreign(listing=listing), *blind)
    return "\n\n".join("\n".join(part) for part in parts) + "\n"
