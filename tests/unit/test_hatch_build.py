"""Relative links of the README lead somewhere on a package index."""

import pytest
from hatch_build import absolute_links

TEXT = "[a](docs/how-to/install.md#x) [b](SECURITY.md) [c](https://example.com) ![d](docs/cluster.svg)\n\n[e](docs/how-to/index.md)"


def test_without_a_url_a_page_is_the_command_that_prints_it() -> None:
    assert absolute_links(TEXT, {}) == "a (`ultracluster docs install`) b [c](https://example.com) e"


@pytest.mark.parametrize(
    "link",
    [
        "[a](https://github.com/o/r/blob/main/docs/how-to/install.md#x)",
        "[b](https://github.com/o/r/blob/main/SECURITY.md)",
        "[c](https://example.com)",
        "![d](https://raw.githubusercontent.com/o/r/main/docs/cluster.svg)",
    ],
)
def test_with_the_url_of_the_source_links_are_below_it(link: str) -> None:
    assert link in absolute_links(TEXT, {"Source": "https://github.com/o/r"})
