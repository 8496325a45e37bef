"""The share of content words that a text keeps, with shares counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.natural.kept_words import STOP_WORDS, content_words, kept_share


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I've painted the OLD barn, haven't I?", {"painted", "old", "barn"}),
        ("Ann\u2019s cat isn't Bob's.", {"ann", "cat", "bob"}),
        ("12 of 1,200 at 7:30 for 3.5", {"12", "1,200", "7:30", "3.5"}),
        ("In 2022. Then 5.", {"2022", "5"}),
        ("barn barn Barn", {"barn"}),
        ("Stra\u00dfe, caf\u00e9 \U0001f600", {"strasse", "caf\u00e9"}),
        ("half-known 3rd try at 7pm", {"half", "known", "3", "rd", "try", "7", "pm"}),
        ("Yeah, it's what you will do!", set()),
        ("", set()),
    ],
)
def test_content_words(text, words):
    assert content_words(text) == words


def test_names_can_be_left_out():
    assert content_words("Ann saw Ann's dog", content_words("Ann")) == {"saw", "dog"}


def test_words_are_compared_as_they_stand():
    assert kept_share(content_words("painting barns"), content_words("she painted a barn"), 20) == 0.0


@pytest.mark.parametrize(
    ("of", "by", "grid", "floor", "share"),
    [
        ("a1 b1 c1", "b1", 20, 0.0, 0.3),  # 1/3, down from 0.333
        ("a1 b1 c1", "b1", 100, 0.0, 0.33),
        ("a1 b1 c1", "a1 b1", 20, 0.0, 0.65),  # 2/3
        ("a1 b1 c1 d1 e1", "a1 b1 c1", 20, 0.0, 0.6),  # 3/5 is a multiple itself: nothing is lost
        ("a1 b1", "a1 b1 c1", 20, 0.0, 1.0),
        ("a1 b1 c1 d1", "a1", 20, 0.25, 0.25),  # at the floor
        ("a1 b1 c1 d1", "a1", 20, 0.26, 0.0),
        ("a1 b1 c1 d1 e1 f1 g1 h1 i1 j1", "a1", 20, 0.1, 0.1),  # 1/10 is not below 0.1
        ("a1", "", 20, 0.0, 0.0),
        ("", "a1", 20, 0.0, 0.0),
    ],
)
def test_share(of, by, grid, floor, share):
    assert kept_share(frozenset(of.split()), frozenset(by.split()), grid, floor) == share


WORDS = st.frozensets(st.sampled_from("abcdefghijk"), max_size=11)


@given(WORDS, WORDS, st.sampled_from([1, 7, 20, 100]))
def test_whole_only_where_every_word_is_kept(of, by, grid):
    share = kept_share(of, by, grid)
    assert (share == 1.0) == (bool(of) and of <= by)
    assert 0 <= share <= (len(of & by) / len(of) if of else 0) + 1e-12
    assert share * grid == pytest.approx(round(share * grid))


def test_stop_words_are_spelled_as_they_are_looked_up():
    assert all(word == word.casefold() and "\u2019" not in word for word in STOP_WORDS)
    # Each is one word for the tokenizer: one that falls apart would never be found.
    assert content_words(" ".join(STOP_WORDS)) == set()
