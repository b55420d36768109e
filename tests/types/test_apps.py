"""Each app becomes the templates that it asks for, with the feature flags of a project of `cdk init`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import aws_cdk as cdk
import pytest
from tests.types.apps import APPS

pytestmark = pytest.mark.slow

_ROOT: Final = Path(__file__).parents[2]
_FLAGS: Final = json.loads(
    (_ROOT / "node_modules/aws-cdk/lib/init-templates/.recommended-feature-flags.json").read_text()
)
_ZONES: Final = {
    "availability-zones:account=123456789012:region=us-east-2": [f"us-east-2{zone}" for zone in "abc"]
}


@pytest.mark.parametrize("define", APPS, ids=lambda define: define.__name__)
def test_an_app_becomes_the_templates_that_it_asks_for(
    define: Callable[[cdk.App], list[str]], tmp_path: Path
) -> None:
    app = cdk.App(
        outdir=str(tmp_path), context=_FLAGS | _ZONES, analytics_reporting=False, stack_traces=False
    )

    expected = define(app)
    app.synth()

    templates = [json.loads(path.read_text()) for path in tmp_path.rglob("*.template.json")]
    written = json.dumps(templates) + " ".join(path.read_text() for path in tmp_path.rglob("*.assets.json"))
    assert [text for text in expected if text not in written] == []
