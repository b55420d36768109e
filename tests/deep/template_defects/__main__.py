"""Print what ``ultracluster check`` finds of the defects, in the rewrites and in foreign templates.

Usage: ``python -m tests.deep.template_defects [--list]``; with ``--list`` also each defect that is not found, each
rewrite with a new finding and each code in foreign templates. A defect is found if a code is found at a path more
often than in the base. A rewrite must find no code more often than its base, wherever.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import yaml

from tests.deep.template_defects import foreign
from tests.deep.template_defects.defects import Defect, defects
from tests.deep.template_defects.rewrites import Rewrite, rewrites
from tests.deep.template_defects.templates import (
    GOLDEN,
    Found,
    base,
    by_code,
    findings,
    names,
    new_findings,
    region,
)


@cache
def _before(name: str) -> Found:
    return findings(base(name), region(name))


def found(defect: Defect) -> Found:
    """Return what is found of a defect and not in its base."""
    return new_findings(_before(defect.base), findings(defect.application(), region(defect.base)))


def newly_found(rewrite: Rewrite) -> Counter[str]:
    """Return the codes that are found more often in a rewrite than in its base."""
    return by_code(findings(rewrite.application, region(rewrite.base))) - by_code(_before(rewrite.base))


def newly_found_as_text() -> dict[str, Counter[str]]:
    """Return the codes that the command line finds more often in each base written as other YAML or as JSON."""
    command = shutil.which("ultracluster")
    if command is None:
        return {}
    result: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names():
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
                    [command, "check", "--json", *where, str(path)], check=False, capture_output=True, text=True
                )
                after = Counter(finding["code"] for finding in json.loads(shown.stdout)["findings"])
                result[f"{suffix} {name}"] = after - by_code(_before(name))
    return result


def _table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print what is missed and what is found wrongly")
    listing = parser.parse_args().list

    results = {defect: bool(found(defect)) for defect in defects()}
    rows: list[tuple[str, ...]] = [("kind", "defects", "found", "share")]
    for kind in [*dict.fromkeys(defect.kind for defect in results), "all"]:
        some = [hit for defect, hit in results.items() if kind in (defect.kind, "all")]
        rows.append((kind, f"{len(some)}", f"{sum(some)}", f"{sum(some) / len(some):.0%}"))
    _table(rows)
    if listing:
        for defect, hit in results.items():
            if not hit:
                print(f"missed: {defect.kind} {defect.id}: {defect.wrong}")

    wrong = {f"{one.kind} of {one.base}": newly_found(one) for one in rewrites()} | newly_found_as_text()
    changed = {name: codes for name, codes in wrong.items() if codes}
    print(f"\nrewrites: {len(wrong)}, with new findings: {len(changed)} ({len(changed) / len(wrong):.1%})")
    for name, codes in changed.items() if listing else ():
        print(f"  {name}: {dict(codes)}")
    on_bases = {name: by_code(_before(name)) for name in names() if _before(name)}
    print(f"bases: {len(names())}, with findings: {len(on_bases)} {({k: dict(v) for k, v in on_bases.items()})}")

    per_template = {name: by_code(findings({name: body}, None)) for name, body in foreign.templates()}
    if not per_template:
        print(f"\nforeign templates: {len(foreign.listed())} listed, none read ({foreign.MIRROR} is not set)")
        return
    total: Counter[str] = Counter()
    for codes in per_template.values():
        total.update(codes)
    some_found = sum(bool(codes) for codes in per_template.values())
    print(
        f"\nforeign templates: {len(foreign.listed())} listed, {len(per_template)} read, {some_found} with findings, "
        f"{total.total()} findings of {len(total)} codes"
    )
    for code, count in total.most_common() if listing else ():
        print(f"  {code}: {count} in {sum(code in codes for codes in per_template.values())} templates")


if __name__ == "__main__":
    main()
