"""JSON that says one thing: what is refused, and where the message says that it stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.natural import strict_json

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '{"results": [{"id": 1},\n {"id": 2, "memory": NaN}]}',
            "NaN is no JSON number (at results[1].memory, line 2)",
        ),
        ("\n[1, [2, -Infinity]]\n", "-Infinity is no JSON number (at [1][1])"),
        ("NaN", "NaN is no JSON number"),
        ('{"a": {"id": 1,\n "x": "\\"id\\": 1, {", "id":3}}', "key 'id' stands twice in one object (at a, line 2)"),
        ('{"a": 1, "\\u0061": NaN}', "key 'a' stands twice in one object"),
        ('[{"a": 1}, {"a": 1, "b": ["a", "a"], "a": 2}]', "key 'a' stands twice in one object (at [1])"),
        ('{"n":\n\n1e999}', "1e999 is too large a number (at n, line 3)"),
        (f'{{"n": [0, -{"9" * 5000}]}}', f"'-{'9' * 36}...{'9' * 38}' has too many digits (at n[1])"),
        (f'{{"a": 1,\n"b": [0, {DEEP}', "nested too deeply (at b[1][0][0]..., line 2)"),
        (f'{{"{"k" * 5000}": NaN}}', f"NaN is no JSON number (at '{'k' * 37}...{'k' * 38}')"),
    ],
)
def test_a_fault_is_told_with_its_place(text, told):
    for read in (strict_json.loads, lambda text: list(strict_json.values(text))):
        with pytest.raises(ValueError) as error:
            read(text)
        assert str(error.value) == told
    assert isinstance(error.value, strict_json.TooDeep) == ("deeply" in told)


def test_the_place_is_that_of_the_value_that_is_read():
    found = strict_json.values('{"a": 1} {"a": 2} [3, NaN] [NaN]')
    assert [next(found), next(found)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(ValueError, match=r"^NaN is no JSON number \(at \[1\]\)$"):
        next(found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from([None, 1]))
def test_all_else_is_read_as_json_is(value, indent):
    text = json.dumps(value, indent=indent)
    assert strict_json.loads(text) == json.loads(text) == value
    assert list(strict_json.values(f"{text} {text}")) == [value, value]


@given(JSON, st.sampled_from([None, 1]))
def test_a_fault_is_found_behind_anything(value, indent):
    text = json.dumps({"before": value, "here": ["HOLE"]}, indent=indent).replace('"HOLE"', "NaN")
    line = f", line {text[: text.rindex('NaN')].count(chr(10)) + 1}" if indent else ""
    with pytest.raises(ValueError) as error:
        strict_json.loads(text)
    assert str(error.value) == f"NaN is no JSON number (at here[0]{line})"
