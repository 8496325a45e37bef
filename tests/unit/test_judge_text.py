"""Reading of texts for the judge without a model. All texts are invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.stores.judge_text import Day, Number, read, stem

PHRASES = st.lists(
    st.sampled_from([
        "Ann", "planted", "plants", "no longer", "12 roses,", "twelve roses", "May 25th", "2023-05-25", "in May",
        "to Oslo", "moved from", "Rome", "never.", "two hundred and", "five", "1,200", "8:00", "didn't", "Ann’s", "may",
    ]),
    max_size=12,
).map(" ".join)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["25 May 2023", "2023-05-25", "May 25th, 2023", "on the 25th of May 2023", "5/25/2023", "2023/5/25", "MAY 25 2023"],
)
def test_one_day_in_many_forms(text):
    assert read(f"Ann left {text}.").dates == {Day(2023, 5, 25)}
    assert read(f"Ann left {text}.").numbers == frozenset()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("May 2023", Day(2023, 5, None)), ("2023-05", Day(2023, 5, None)), ("in 2023", Day(2023, None, None)),
        ("May 25th", Day(None, 5, 25)), ("since may", Day(None, 5, None)), ("in October", Day(None, 10, None)),
    ],
)  # fmt: skip
def test_dates_are_read_as_far_as_they_are_stated(text, day):
    assert read(text).dates == {day}


@pytest.mark.parametrize("text", ["They may leave", "a long march", "3/4/23", "99 people", "sun and rain"])
def test_no_date_where_there_is_none(text):
    assert read(text).dates == frozenset()


def test_a_day_that_no_calendar_has_is_no_day():
    assert read("31 April").dates == {Day(None, 4, None)}
    assert read("2023-13-45").dates == {Day(2023, None, None)}


def test_a_day_that_has_two_readings_is_none():
    assert read("on 3/4/2023").dates == {Day(2023, None, None)}


def test_days_compare_by_what_both_state():
    day, month, other = Day(2023, 5, 25), Day(2023, 5, None), Day(None, 6, 1)
    assert day.agrees(month) and day.states(month) and not month.states(day) and not day.differs(month)
    assert day.differs(other) and not day.agrees(other) and not Day(2023, None, None).agrees(other)
    assert [str(d) for d in (day, month, other)] == ["2023-05-25", "2023-05-??", "????-06-01"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twenty-five apples", "25"), ("25 apples", "25"), ("two hundred and five apples", "205"),
        ("1,200 apples", "1200"), ("$1,200.50", "1200.5"), ("3.50", "3.5"), ("at 8:00", "8"), ("at 7:30", "7:30"),
        ("twelve thousand", "12000"), ("a thousand", "1000"), ("twice", "2"), ("007", "7"),
    ],
)  # fmt: skip
def test_numbers_in_words_and_digits(text, value):
    assert {number.value for number in read(text).numbers} == {value}


def test_numbers_know_what_they_count():
    assert read("five ripe apples and 3 pears").numbers == {Number("5", "rip"), Number("3", "pear")}
    assert read("one of them, ten, twenty").numbers == {Number("10", ""), Number("20", "")}


def test_words_meet_without_their_endings():
    assert len({stem(word) for word in ("plan", "plans", "planned", "planning")}) == 1
    assert len({stem(word) for word in ("volunteer", "volunteers", "volunteering", "volunteered")}) == 1
    assert stem("berries") == stem("berry") and stem("bus") == "bus"


def test_what_is_denied():
    assert read("Ann no longer paints boats.").denied == {"ann", "paint", "boat"}
    assert read("Ann no longer paints boats. Ann paints.").denied == {"boat"}
    assert read("Ann moved from Rome to Oslo.").denied == {stem("rome")}
    assert read("Ann left not long ago; she has not yet sold the boat.").denied == frozenset()


@given(PHRASES)
def test_case_white_space_and_apostrophes_make_no_difference(text):
    shaped = "\n  " + text.replace(" ", " \t\u00a0").replace("'", "’") + " "
    assert read(text) == read(text.upper()) == read(text.lower()) == read(shaped)


@given(st.text())
def test_any_text_is_read(text):
    reading = read(text)
    assert reading == read(text) and reading.denied <= reading.words


@pytest.mark.parametrize("piece", ["moved from ", "million ", "two hundred ", "1,", "may ", "not "])
def test_long_texts_of_one_piece_are_read(piece):
    """A pattern that backtracks would not come back from these."""
    assert read(piece * 20_000) == read(piece * 20_000 + " ")
