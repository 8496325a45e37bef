"""The judge without a model: rules and properties of the proxy, and stores judged by it. All texts are invented."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.package import TextSize, Unit, build
from memaudit.stores.judge import (
    FAR,
    FEATURES,
    LEVELS,
    NEAR,
    ROW_LEVEL,
    Cell,
    Comparison,
    Judge,
    judge_store,
    judged_rows,
)
from memaudit.stores.judge_io import SHIPPED, proxy_judge, write_proxy
from memaudit.stores.judge_text import Day, read
from memaudit.stores.model import Memory, Store

PROXY = proxy_judge()
TEXTS = (
    "The user lives in Berlin.",
    "On 25 May 2023 the user bought five lemon trees at Gardenia.",
    "The user works four days a week at the harbour library.",
    "Since March 2022 Miro has been taking cello lessons with Ivana.",
    "The user cancelled the sailing course and no longer rows.",
)
UNITS = tuple(Unit(f"u{i}", 1.0, text=text) for i, text in enumerate(TEXTS))
WORDS = [
    "lemon", "trees", "Gardenia", "bought", "five", "six", "5", "user", "lives", "Berlin", "Paris", "Miro", "cello",
    "lessons", "Ivana", "harbour", "library",
    "four days", "no longer", "May 2023", "25 May 2023", "2022-03-04", "sailing course.", "but", "moved from", "to",
]  # fmt: skip
MEMORIES = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def label(memory, unit):
    return PROXY.coverage(memory, [Unit("u", 1.0, text=unit)])[0]


@pytest.mark.parametrize(
    ("memory", "unit", "value"),
    [
        ("Bought 5 lemon trees at Gardenia (2023-05-25)", 1, 1.0),
        ("Bought five lemon trees at Gardenia", 1, 0.5),  # no date
        ("Bought six lemon trees at Gardenia on May 25th, 2023", 1, 0.5),  # another number
        ("Bought five lemon trees at Gardenia on 12 June 2023", 1, 0.5),  # another date
        ("Bought lemon trees at Gardenia on May 25th, 2023", 1, 0.5),  # no number
        ("The user grows tomatoes", 1, 0.0),
        ("User no longer lives in Berlin", 0, 0.0),
        ("The user moved from Berlin to Paris", 0, 0.0),
        ("The user doesn't work at the harbour library four days a week", 2, 0.0),
        ("works 4 days per week in the library at the harbour", 2, 1.0),
        ("The user takes the sailing course and rows", 4, 0.0),
        ("", 1, 0.0),
    ],
)
def test_labels_of_plain_cases(memory, unit, value):
    assert PROXY.coverage(memory, UNITS)[unit] == value


@pytest.mark.parametrize(
    "unit",
    ["The user has reached page 220 of the harbour library's catalogue.", "The XPS 13 of the user is a laptop.",
     "The user needs 120 stars for gold at the bakery.", "The second cello lesson was with Ivana in Berlin."],
)  # fmt: skip
def test_a_unit_whose_number_is_missing_or_another_is_at_most_half_covered(unit):
    """Whether the noun that it counts follows, goes before, or is not there."""
    (number,) = read(unit).numbers
    written = next(form for form in (number.value, "second") if form in unit)
    assert label(unit, unit) == 1.0
    assert label(unit.replace(f"{written} ", ""), unit) == label(unit.replace(written, "77"), unit) == 0.5


@given(MEMORIES, st.sampled_from(TEXTS))
def test_what_lacks_a_number_of_the_unit_never_covers_it_in_full(memory, unit):
    lacks = {n.value for n in read(unit).numbers} - {n.value for n in read(memory).numbers}
    assert label(memory, unit) <= (0.5 if lacks else 1.0)


@pytest.mark.parametrize("text", [*TEXTS, "Tea.", "Room 7.", "7"])
def test_a_text_covers_itself(text):
    assert label(text, text) == 1.0


@given(MEMORIES)
def test_labels_are_levels_and_do_not_depend_on_case_white_space_or_company(memory):
    values = PROXY.coverage(memory, UNITS)
    assert set(values) <= set(LEVELS)
    assert values == PROXY.coverage(f"\t{memory.upper().replace(' ', '  ')}\n", UNITS)
    assert values == [label(memory, text) for text in TEXTS]


@given(MEMORIES, st.sampled_from(TEXTS), st.integers(2000, 2030), st.integers(1, 12), st.integers(1, 28))
def test_a_date_that_contradicts_never_raises_a_label(memory, unit, year, month, day):
    other = Day(year, month, day)
    if all(other.differs(own) and not other.agrees(own) for own in read(unit).dates):
        assert label(f"{memory}. {other}", unit) <= label(memory, unit)


@given(MEMORIES, st.sampled_from(TEXTS))
def test_a_denial_of_the_whole_never_raises_a_label(memory, unit):
    if not read(unit).denied:
        assert label(f"It is no longer so that {memory.replace('.', ' ')}", unit) <= label(
            memory.replace(".", " "), unit
        )


@given(MEMORIES, st.sampled_from(TEXTS[1:4]))
def test_the_units_own_words_never_lower_a_label(memory, unit):
    """Coefficients are >= 0: more of the unit, no less of a label (where nothing is denied or contradicted)."""
    first = label(memory, unit)
    plain = not read(memory).denied
    assert not plain or label(f"{memory}. {unit}", unit) >= first


@given(st.lists(MEMORIES, max_size=6))
def test_many_memories_at_once_are_judged_as_one_by_one(memories):
    together = list(PROXY.cells(memories, UNITS))
    assert together == sorted(together, key=lambda cell: cell[:2])
    alone = [Cell(i, c.unit, c.row) for i, memory in enumerate(memories) for c in PROXY.cells([memory], UNITS)]
    assert together == alone
    values = [[0.0] * len(UNITS) for _ in memories]
    for cell in together:
        assert cell.row != FAR
        values[cell.memory][cell.unit] = ROW_LEVEL[cell.row]
    assert values == [PROXY.coverage(memory, UNITS) for memory in memories]


@given(MEMORIES)
def test_what_the_index_leaves_out_shares_no_word_or_number(memory):
    """The prefilter against all pairs, read one by one."""
    reading = read(memory)
    pairs = Comparison(PROXY.parameters.vocabulary, [read(text) for text in TEXTS]).pairs([reading])
    for j, text in enumerate(TEXTS):
        unit = read(text)
        numbers = {n.value for n in unit.numbers} & {n.value for n in reading.numbers}
        assert (j in pairs.unit) == bool(unit.words & reading.words or numbers)


@given(MEMORIES, st.integers(0, len(TEXTS) - 1))
def test_features_against_a_plain_reference(memory, j):
    m, u, idf = read(memory), read(TEXTS[j]), PROXY.parameters.vocabulary.idf
    pairs = Comparison(PROXY.parameters.vocabulary, [u]).pairs([m])
    if not len(pairs.unit):
        return
    found = dict(zip(FEATURES, pairs.features[0], strict=True))
    shared, values = u.words & m.words, {n.value for n in m.numbers}
    missing = [n for n in u.numbers if n.value not in values]
    clash = any(n.of and n.of in {o.of for o in m.numbers} for n in missing)
    undated = [d for d in u.dates if not any(o.states(d) for o in m.dates)]
    agreed = [d for d in u.dates if any(o.agrees(d) for o in m.dates)]
    misdated = [d for d in u.dates if d not in agreed and any(o.differs(d) for o in m.dates)]
    assert found["recall"] == pytest.approx(sum(map(idf, shared)) / sum(map(idf, u.words)))
    assert found["number_missing"] == -len(missing) / max(1, len(u.numbers))
    assert found["number_contradicted"] == -float(clash)
    assert found["date_missing"] == -len(undated) / max(1, len(u.dates))
    assert found["date_contradicted"] == -len(misdated) / max(1, len(u.dates))
    assert bool(pairs.partial[0]) == bool(missing or (u.dates and not agreed))
    assert found["memory_length"] == -np.log1p(len(m.words))


def test_raising_any_feature_never_lowers_a_label():
    parameters = PROXY.parameters
    assert min(*parameters.any.coefficients, *parameters.full.coefficients) >= 0
    pairs = Comparison(parameters.vocabulary, [read(text) for text in TEXTS]).pairs(
        [read("lemon trees in Berlin, 5 days")]
    )
    before = [ROW_LEVEL[row] for row in judged_rows(parameters, pairs)]
    for k in range(len(FEATURES)):
        raised = pairs.features.copy()
        raised[:, k] += 0.5
        after = [ROW_LEVEL[row] for row in judged_rows(parameters, replace(pairs, features=raised))]
        assert all(b <= a for b, a in zip(before, after, strict=True)), FEATURES[k]


def package(units=UNITS):
    return build("s", "p", "d", None, [], units, {}, [])


def store(*memories):
    return Store("s", "amem", None, tuple(memories))


def test_a_store_is_judged_by_memory_and_view():
    full = Memory("m", "Bought 5 lemon trees at Gardenia (2023-05-25)", 0, "m", view="full")
    short = Memory("m", "Gardenia lemon trees", 0, "m", view="metadata")
    judged = judge_store(store(full, short, Memory("n", "Tomatoes", 1, "n")), package(), PROXY)
    assert judged.coverage == {("m", "full"): {"u1": 1.0}, ("m", "metadata"): {"u1": 0.5}}
    assert judged.rows[0, 1] == "1" and judged.rows[1, 1] == "0.5" and not any(i == 2 for i, _ in judged.rows)
    assert judge_store(store(), package(), PROXY).coverage == {}
    assert judge_store(store(full), package(()), PROXY).rows == {}


def test_a_unit_without_text_is_refused():
    with pytest.raises(InputError, match=r"store s, example p: 1 of 2 units have no text \(u, say\).*give label rows"):
        judge_store(store(Memory("m", "t", 0, "m")), package((Unit("u", 1.0), UNITS[0])), PROXY)
    with pytest.raises(InputError, match="unit u has no text"):
        PROXY.coverage("t", [Unit("u", 1.0)])


def test_a_memory_of_which_a_part_stands_elsewhere_is_refused():
    part = Memory("m", "content: [9 words that stand elsewhere]", 0, "m", size=TextSize(10, 60, 60))
    with pytest.raises(InputError, match="a part of memory m stands elsewhere, so there is no whole text to judge"):
        judge_store(store(part), package(), PROXY)


class Same(Judge):
    """A judge of one's own: a memory covers the units of the same text."""

    name, kind, provenance = "same", "model", {}

    def coverage(self, memory_text, units):
        return [float(unit.text == memory_text) for unit in units]


def test_another_judge_needs_coverage_alone():
    judged = judge_store(store(Memory("m", TEXTS[2], 0, "m")), package(), Same())
    assert judged.coverage == {("m", ""): {"u2": 1.0}}
    assert {row for (_, j), row in judged.rows.items() if j != 2} == {NEAR}


def test_parameters_are_read_as_they_were_written(tmp_path):
    write_proxy(tmp_path / "p.json", PROXY.parameters, PROXY.provenance)
    assert (tmp_path / "p.json").read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"parameters": {"features": []}, "provenance": {}}'])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InputError, match=r"p\.json: no parameters of the proxy judge"):
        proxy_judge(tmp_path / "p.json")
    with pytest.raises(InputError, match="make judge"):
        proxy_judge(tmp_path / "absent.json")
