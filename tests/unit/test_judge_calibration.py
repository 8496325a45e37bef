"""What docs/stores.md says of the judge on labelled stores is what the files give; draws that lean decide nothing."""

import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.check.draws import turned
from memaudit.stores.judge_verdict import LOSSES, UNDECIDED, conclude, leans
from memaudit.stores.union import Losses

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import judge_calibration as tool


def of(missing, size, selection):
    return Losses(*map(Fraction, (missing, size, selection)))


@pytest.fixture(scope="module")
def found():
    return tool.examples()


@pytest.fixture(scope="module")
def told():
    begin, end = tool.figures.marks(tool.BLOCK)
    return tool.DOCS.read_text("utf-8").partition(begin)[2].partition(end)[0]


def test_the_words_of_the_judge_are_as_told(found, told):
    cells = tool.cells(found)
    assert tool.kappa_text(cells) in told and tool.cell_table(cells) in told, "run `make judge`"
    assert {one.package.package_id for one in found} == {cell.example for cell in cells}


def test_the_losses_without_draws_are_as_told(found, told):
    """All draws take some 40 seconds; `make judge` makes them."""
    points = tool.points(found, draws=0)
    rows = [
        line.strip("| ").split(" | ")
        for line in told.splitlines()
        if line.startswith(tuple(f"| {n} |" for n in LOSSES))
    ]
    assert [row[0] for row in rows] == list(LOSSES)
    for name, by_labels, as_judged, *_ in rows:
        for text, side in ((by_labels, "labels"), (as_judged, "judged")):
            values = [float(getattr(getattr(point, side), name)) for point in points]
            assert float(text) == pytest.approx(sum(values) / len(values), abs=0.005 + 1e-9)
    assert all(row[-1].endswith(f"of {len(points)}") for row in rows)
    counts = [int(n) for n in re.findall(r"^\| (?:un)?decided: .*? \| (\d+) \| \d+ \|$", told, re.MULTILINE)]
    assert len(counts) == 3 and sum(counts) == len(points)


def test_the_draws_of_some_examples_are_those_of_a_run(found):
    one = next(own for own in found if own.store == "mem0-scripted" and len(own.labelled.store.memories) < 12)
    (point, *_) = tool.points([one], draws=3)
    assert len(point.drawn) == 3 and None not in point.drawn
    assert point == tool.points([one], draws=3)[0]


def test_verdicts_are_counted_by_what_the_labels_say():
    high, low = of(3, 0, 0), of(0, 0, 1)
    points = [
        tool.Point(high, high, (high,) * 4),  # decided and right
        tool.Point(of(0, 2, 0), high, (high,) * 4),  # decided and wrong
        tool.Point(high, high, (high, low, low, low)),  # few agree
        tool.Point(of(0, 0, 1), of(2, 0, 1), (of(4, 0, 1),) * 4),  # all agree, and lean
    ]
    lines = tool.verdict_table(points).splitlines()[2:]
    assert [line.split(" | ")[1:] for line in lines] == [["2", "1 |"], ["1", "0 |"], ["1", "1 |"]]


def test_draws_that_lean_leave_a_verdict_open():
    judge = tool.proxy_judge()
    judged, mean = of("0.36", 0, "0.23"), of("0.59", 0, "0.20")
    found = conclude(judged, [mean] * 200, judge)
    assert (found.share, found.leans, found.verdict, found.largest) == (1, True, UNDECIDED, "missing")
    assert not leans(judged, judged) and conclude(judged, [judged] * 200, judge).verdict == "missing"
    # The other way: the mean itself says otherwise.
    assert leans(of("0.5", 0, "0.4"), of("0.4", 0, "0.5"))
    # A step back below 0 counts as 0: nothing else is ahead.
    assert not leans(of("0.16", 0, 0), of("0.37", 0, 0))
    # Nothing lost as judged, and something by the draws.
    assert leans(of(0, 0, 0), of("0.1", 0, 0)) and not leans(of(0, 0, 0), of(0, 0, 0))


LOSS = st.builds(Losses, *[st.integers(0, 8).map(lambda n: Fraction(n, 6))] * 3)


@given(LOSS, st.lists(LOSS, min_size=1, max_size=5))
def test_the_check_knows_the_same_lean(judged, draws):
    mean = Losses(*(sum(getattr(one, n) for one in draws) / len(draws) for n in LOSSES))
    rough = {n: sum(float(getattr(one, n)) for one in draws) / len(draws) for n in LOSSES}
    assert turned({n: getattr(judged, n) for n in LOSSES}, rough) == leans(judged, mean)
