"""Fuzzing of the YAML reader and the loader that follows the code they run through: `make check-deep`.

Needs atheris. What breaks it is written to .ultracluster/fuzz, and the process ends with an error.
"""

import re
import sys
import tempfile
from pathlib import Path

import atheris

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

with atheris.instrument_imports(include=["ultracluster_stacks.config", "yaml"]):
    from tests.fuzz.many import sources

    from ultracluster_spec.findings import FindingsError
    from ultracluster_stacks.config import load_rollout

_FINDING = re.compile(r"UC[0-9]{4}: .+[.?]")
_KEPT = _ROOT / ".ultracluster" / "fuzz"


def load(content: bytes, path: Path) -> None:
    """Load a file: it is taken, or refused with findings that can be shown."""
    path.write_bytes(content)
    try:
        findings = load_rollout(path).warnings
    except FindingsError as error:
        findings = error.findings
        if not findings:
            raise RuntimeError("refused without a reason") from error
    for line in map(str, findings):
        if (
            not (_FINDING.fullmatch(line) and line.isascii() and line.isprintable())
            or "cannot be used here" in line
        ):
            raise RuntimeError(f"said {line!r}")


def main() -> None:
    """Fuzz for as long as libFuzzer's option -max_total_time says."""
    corpus = _KEPT / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(sources()):
        (corpus / f"rollout-{number}").write_text(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollout.yaml"
        options = ["-max_len=8192", "-timeout=30", "-rss_limit_mb=1024", "-print_final_stats=1"]
        arguments = [*sys.argv, str(corpus), *options, f"-artifact_prefix={_KEPT}/"]
        atheris.Setup(arguments, lambda content: load(content, path))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
