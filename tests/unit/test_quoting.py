"""Text of others in pages: shown as it stands, without effect, and cut at a word."""

import pytest

from memaudit.present.quoting import markdown, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb\x00", r"a\u{1b}[2Jb\u{0}"),
        ("\u202eabc\u2069 \u200b\ufeff", r"\u{202e}abc\u{2069} \u{200b}\u{feff}"),
        ("half \ud800", r"half \u{d800}"),
        ("two\r\n\tlines\u2028more", "two lines more"),
        ("\U0001f468\u200d\U0001f373 caf\u00e9", "\U0001f468\u200d\U0001f373 caf\u00e9"),
    ],
)
def test_letters_that_cannot_be_seen_are_shown_by_number(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a | b", r"a \| b"),
        ("<script>&lt;&#60; R&D", "&lt;script>&amp;lt;&amp;#60; R&D"),
        ("`x` *y* ~~z~~ $5", r"\`x\` \*y\* \~\~z\~\~ \$5"),
        (r"C:\notes|", r"C:\\notes\|"),
        ("![x](y) [x][y] [0.1, 0.2]", r"![x\](y) [x\][y] [0.1, 0.2]"),
        ("_so_ snake_case __init__", r"\_so\_ snake_case \_\_init\_\_"),
        ("\x1b", r"\\u{1b}"),
    ],
)
def test_markdown_shows_the_text_and_does_nothing(text, source):
    assert markdown(text) == source


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ten letter", "ten letter"),
        ("eight words more", "eight\u2026"),
        ("seven, and more", "seven\u2026"),
        ("four word and", "four word\u2026"),
        ("a longestwordofall", "a longest\u2026"),
    ],
)
def test_long_texts_are_cut_at_a_word(text, shown):
    assert shortened(text, 10) == shown and len(shown) <= 10
