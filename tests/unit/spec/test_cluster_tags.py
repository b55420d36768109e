"""Tags in a rollout file."""

from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    "mistake",
    [
        ("team: r", '"AWS:x": r', "UC2107", "defaults.tags['AWS:x']", "without the reserved prefix aws:"),
        ("team: r", '"": r', "UC2107", "defaults.tags['']", "1 to 128"),
        ("team: research", 'team: ""', "UC2107", "defaults.tags.team", "1 to 256"),
        ("team: research", "team: a;b", "UC2107", "defaults.tags.team", "letters, digits, spaces"),
        ("team: research", ",".join(f"k{n}: v" for n in range(41)), "UC2107", "defaults.tags", "got 41 tags"),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("team: r", "k" * 128 + ": r")], "UC2107"),
        ([("team: research", "team: " + "v" * 256)], "UC2107"),
        ([("team: research", ",".join(f"k{n}: v" for n in range(40)))], "UC2107"),
        ([("team: research", "'caf\u00e9 + a-b=c.d_e:/@': '\u6771\u4eac'")], "UC2107"),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)
