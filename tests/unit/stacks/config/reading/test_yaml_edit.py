"""Single values of a YAML text change, and nothing else of it; PyYAML judges what the text then says."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ultracluster_stacks.config.reading.yaml_edit import set_values

_KEYS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.sampled_from(["us-east-2", "a: b", "# no", ""])
)
_MAPPINGS = st.recursive(
    st.dictionaries(_KEYS, _SCALARS, max_size=3),
    lambda inner: st.dictionaries(_KEYS, st.one_of(inner, _SCALARS, st.lists(inner, max_size=2)), max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    document=_MAPPINGS,
    path=st.lists(_KEYS, min_size=1, max_size=4),
    flow=st.sampled_from([True, False, None]),
    value=st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_categories=["Cc"])),
)
def test_exactly_the_named_place_gets_the_value(
    document: dict[str, Any], path: list[str], flow: bool | None, value: str
) -> None:
    expected = dict(document)
    at: dict[str, Any] = expected
    for key in path[:-1]:
        if isinstance(at.get(key), list):
            return  # a key is no index of a list
        at[key] = dict(at[key]) if isinstance(at.get(key), dict) else {}
        at = at[key]
    if isinstance(at.get(path[-1]), dict | list):
        return  # the comments inside it would go with it
    at[path[-1]] = value
    plain = yaml.safe_dump(document, default_flow_style=flow, sort_keys=False, width=10_000)
    text = "".join(f"# before\n{line}\n" for line in plain.splitlines())

    changed = set_values(text, {tuple(path): value})

    assert yaml.safe_load(changed) == expected
    assert changed.count("# before") == text.count("# before")


@pytest.mark.parametrize(
    ("text", "loc", "changed"),
    [
        ("region: us-east-1 # why\nnodes: 4\n", ("region",), 'region: "new" # why\nnodes: 4\n'),
        ("region: 'us-east-1' # why\n", ("region",), 'region: "new" # why\n'),
        ("region: # not yet\nnodes: 4\n", ("region",), 'region: "new" # not yet\nnodes: 4\n'),
        ("region: |\n  us-east-1\nnodes: 4\n", ("region",), 'region: "new"\nnodes: 4\n'),
        ("a:\n- {b: c}  # list\n- d: e\n", ("a", 1, "d"), 'a:\n- {b: c}  # list\n- d: "new"\n'),
        ("a:\n  - d: e # x\n    f: g\n", ("a", 0, "h"), 'a:\n  - h: "new"\n    d: e # x\n    f: g\n'),
        ("a: {b: c} # x\n", ("a", "d"), 'a: {d: "new", b: c} # x\n'),
        ("a: {} # x\n", ("a", "d"), 'a: {d: "new"} # x\n'),
        ("a: # x\n", ("a", "d"), 'a: {d: "new"} # x\n'),
        ("a: b\n", ("c", "d", "e"), 'c: {d: {e: "new"}}\na: b\n'),
    ],
)
def test_comments_and_style_stay(text: str, loc: tuple[str | int, ...], changed: str) -> None:
    assert set_values(text, {loc: "new"}) == changed


def test_several_values_are_set_at_once_and_keep_their_order() -> None:
    values = {("a", "b"): "one", ("a", "x"): "two", ("a", "y"): "three", ("d", "e"): "four"}

    assert set_values("a: {b: c}\n", values) == 'd: {e: "four"}\na: {x: "two", y: "three", b: "one"}\n'


def test_a_value_cannot_break_out_of_its_quotes() -> None:
    assert yaml.safe_load(set_values("a: b\n", {("a",): '"\n# \\ c: d'})) == {"a": '"\n# \\ c: d'}
