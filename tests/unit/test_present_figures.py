"""Every registered figure: it renders, is legible (nothing overlaps or is cut off), repeats to the byte."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import pandas as pd
import present_frames as frames
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.errors import InputError
from memaudit.present import figures, style
from memaudit.present.drawing import _spread, legend_columns
from memaudit.present.figures_io import draw, write_figure
from memaudit.present.registry import FIGURES
from memaudit.present.remarks import focus_notes
from memaudit.present.results import Results, RunInfo, SuiteInfo, WriterInfo, overall
from memaudit.present.wanted import wanted_figures

RUNS = {"paper": frames.paper_like(), "tiny": frames.tiny()}
CASES = [(run, *pair) for run, results in RUNS.items() for pair in wanted_figures(results.info)]


def test_every_registered_figure_is_drawn_here():
    assert {name for _, name, _ in CASES} == set(FIGURES)


@pytest.mark.parametrize(("run", "name", "suite"), CASES)
def test_labels_neither_overlap_nor_leave_the_page(monkeypatch, run, name, suite):
    figure = draw(RUNS[run], name, suite)
    texts = list(_drawn_texts(figure, monkeypatch).items())
    page = figure.bbox
    assert texts
    for text, box in texts:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1
        assert inside, f"{text.get_text()!r} leaves the page"
        assert text.get_fontsize() >= 6
    for (a, box_a), (b, box_b) in combinations(texts, 2):
        across = min(box_a.x1, box_b.x1) - max(box_a.x0, box_b.x0)
        down = min(box_a.y1, box_b.y1) - max(box_a.y0, box_b.y0)
        # The boxes have room for accents and descenders: a sliver of them may be shared.
        assert across < 1.5 or down < 2.5, f"{a.get_text()!r} overlaps {b.get_text()!r}"


def _drawn_texts(figure, monkeypatch) -> dict:
    """Text -> its box in pixels, for each text that drawing the figure really puts on the page."""
    from matplotlib.text import Text

    drawn, original = {}, Text.draw

    def record(self, renderer, *args, **kwargs):
        if self.get_visible() and self.get_text().strip():
            drawn[self] = Text.get_window_extent(self, renderer)
        return original(self, renderer, *args, **kwargs)

    monkeypatch.setattr(Text, "draw", record)
    with style.house_style():
        figure.draw_without_rendering()  # as savefig does: the layout settles in a second pass
        drawn.clear()
        figure.canvas.draw()
    return drawn


@pytest.mark.parametrize(("name", "suite"), [pair for run, *pair in CASES if run == "tiny"])
def test_twice_the_same_bytes_without_dates_with_fonts(tmp_path, name, suite):
    first = write_figure(RUNS["tiny"], name, suite, tmp_path / "a")
    second = write_figure(frames.tiny(), name, suite, tmp_path / "b")
    assert [p.relative_to(tmp_path / "a") for p in first] == [p.relative_to(tmp_path / "b") for p in second]
    pdf, png = (path.read_bytes() for path in first)
    assert pdf.startswith(b"%PDF") and png.startswith(b"\x89PNG")
    assert [pdf, png] == [path.read_bytes() for path in second]
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    assert b"Date" not in pdf and b"Software" not in png and b"atplotlib" not in png
    assert sorted(p.name for p in (tmp_path / "a" / "figures" / suite).iterdir()) == [
        f"{name}.pdf",
        f"{name}.png",
    ]


def test_same_bytes_in_another_process_and_under_a_users_own_style(tmp_path):
    write_figure(RUNS["tiny"], "budget_sweep", "mine", tmp_path / "a")
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nfont.size: 20\npdf.compression: 0\n")
    here = Path(__file__).parent
    code = (
        "import sys, present_frames as f; from memaudit.present.figures_io import write_figure; "
        "write_figure(f.tiny(), 'budget_sweep', 'mine', sys.argv[1])"
    )
    path = os.pathsep.join(map(str, (here, here.parent.parent / "scripts")))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "b")], env=environment, check=True)
    for kind in ("pdf", "png"):
        file = f"figures/mine/budget_sweep.{kind}"
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_no_data_is_an_error(name):
    whole = RUNS["tiny"]
    empty = {key: (f() if callable(f) else f).iloc[:0] for key, f in whole.frames.items()}
    with pytest.raises(InputError):
        draw(Results(whole.info, empty), name, "mine")


def test_unproven_everywhere_is_an_error_and_unknown_names_too():
    whole = RUNS["tiny"]
    summary = whole.frames["summary"].assign(mean_ratio=float("nan"))
    with pytest.raises(InputError, match="no package ratio"):
        draw(Results(whole.info, {"summary": summary}), "budget_sweep", "mine")
    with pytest.raises(InputError, match="unknown figure 'sweep'"):
        draw(whole, "sweep", "mine")
    with pytest.raises(InputError, match="not configured"):
        draw(whole, "budget_sweep", "yours")


def test_sweep_draws_the_numbers_it_is_given():
    figure = draw(RUNS["paper"], "budget_sweep", "small")
    panel = next(ax for ax in figure.axes if ax.get_title(loc="left") == style.PROXY)
    rows = RUNS["paper"].frame("summary").query("suite == 'small' and writer == 'amem_graph'")
    drawn = [list(line.get_ydata()) for line in panel.lines]
    assert list(rows["mean_ratio"]) in drawn


def test_validity_gap_has_room_above_its_highest_marker():
    panels = [ax for ax in draw(RUNS["paper"], "validity_gap", "small").axes if ax.lines]
    assert panels
    for ax in panels:
        assert ax.get_ylim()[1] >= 1.05 * max(max(line.get_ydata()) for line in ax.lines)


def test_panels_of_the_validity_gap_share_a_scale_unless_it_would_hide_a_gap():
    whole = RUNS["paper"]
    summary = whole.frame("summary")
    ends = {ax.get_ylim() for ax in draw(whole, "validity_gap", "stress").axes if ax.lines}
    assert len(ends) == 1
    small = summary["distribution"].eq("base")
    shrunk = summary.assign(mean_value=summary["mean_value"].where(~small, summary["mean_value"] / 10))
    figure = draw(Results(whole.info, {**whole.frames, "summary": shrunk}), "validity_gap", "stress")
    assert len({ax.get_ylim() for ax in figure.axes if ax.lines}) > 1
    assert "a scale of its own" in figure.legends[0].get_title().get_text()


def test_the_number_of_units_stands_over_each_state_of_validity():
    def heads(results, suite):
        return [t.get_text() for ax in draw(results, "validity_coverage", suite).axes for t in ax.texts]

    assert {"1,000 units", "2,000 units", "250 units"} <= set(heads(RUNS["paper"], "small"))
    whole = RUNS["tiny"]
    counts = {
        r.name: r.count for r in whole.frames["construction"].query("what == 'counted units by role'").itertuples()
    }
    assert counts and "invalidation" not in counts
    shown = heads(whole, "talk")
    assert f"16 units, {counts['current']} of weight" in shown and "8 units, 0 of weight" in shown


def test_what_is_beyond_all_candidates_is_a_part_of_its_own():
    figure = draw(RUNS["paper"], "decomposition", "small")
    texts = [t.get_text() for t in figure.legends[0].get_texts()]
    assert texts[-1] == "write failure: beyond all candidates"
    rows = RUNS["paper"].frame("decomposition").query("suite == 'small' and budget == 1")
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert len(widths) == 4 * len(rows)
    assert sum(widths[-2 * len(rows) :]) == pytest.approx(rows["write_failure"].sum())
    assert sum(widths[-len(rows) :]) == pytest.approx(rows["beyond_candidates"].sum())


def test_states_of_validity_share_one_scale(monkeypatch):
    seen, original = [], figures._shades

    def record(name, values, low=None, high=None):
        seen.append((low, high))
        return original(name, values, low, high)

    monkeypatch.setattr(figures, "_shades", record)
    draw(RUNS["paper"], "validity_coverage", "small")
    rows = overall(RUNS["paper"].frame("summary").query("suite == 'small'"))
    largest = rows[["mean_invalidation_covered", "mean_current_covered", "mean_stale_covered"]].to_numpy().max()
    assert seen == [(0.0, max(1.0, largest))] * 3


@pytest.mark.parametrize(
    ("budgets", "said"),
    [
        ([5], []),
        ([5, 9], ["B = 9 is the larger of 2 budgets; the tables have all."]),
        ([5, 9, 100], ["B = 100 is the largest of 3 budgets; the tables have all."]),
        ([5, 9, 12, 100], ["B = 12 is the third smallest of 4 budgets; the tables have all."]),
    ],
)
def test_the_budget_of_a_figure_is_placed_among_all(budgets, said):
    assert focus_notes(budgets) == said


def test_heat_map_is_at_the_third_budget_and_stars_opt_zero():
    cells = {t.get_text() for t in draw(RUNS["paper"], "stress_heatmap", "stress").axes[0].texts}
    third = RUNS["paper"].frame("summary").query("suite == 'stress' and budget == 6")
    assert {f"{ratio:.3f}" for ratio in third["mean_ratio"]} <= cells
    whole = RUNS["paper"]
    first = whole.frame("summary").query("suite == 'stress' and budget == 1")
    starred = {
        t.get_text() for t in draw(Results(whole.info, {"summary": first}), "stress_heatmap", "stress").axes[0].texts
    }
    assert "1.000*" in starred


def test_illustration_shows_what_is_kept():
    package = frames.package()
    texts = [
        t.get_text().replace("\n", " ") for t in draw(RUNS["paper"], "package_illustration", "small").axes[0].texts
    ]
    kinds = [k.replace("_", " ") for k in package.candidates["representation_type"]]
    kept = package.selections.merge(package.candidates, on="candidate_id")["representation_type"].str.replace("_", " ")
    for kind in set(kinds):
        assert texts.count(kind) == kinds.count(kind) + list(kept).count(kind)


def test_illustration_refuses_what_it_cannot_draw():
    package, info = frames.package(), RUNS["paper"].info
    many = pd.concat(
        [
            package.candidates.assign(group_id=f"g{i}", candidate_id=lambda f, i=i: f["candidate_id"] + str(i))
            for i in range(20)
        ]
    )
    stranger = pd.DataFrame([{"budget": 4, "candidate_id": "nobody"}])
    for change, message in (
        ({"candidates": many, "coverage": package.coverage.iloc[:0]}, "too many"),
        ({"selections": stranger}, "nobody"),
        ({"solutions": package.solutions.iloc[:0]}, "no solutions"),
    ):
        with pytest.raises(InputError, match=message):
            draw(Results(info, {}, dataclasses.replace(package, **change)), "package_illustration", "small")
    with pytest.raises(InputError, match="no package was given"):
        draw(Results(info, {}), "package_illustration", "small")


def test_proxies_are_always_called_proxies():
    for rule in ("mem0_extract", "memgpt_tiered", "amac_admission", "amem_graph"):
        assert style.label(rule).endswith("(proxy)")
        renamed = WriterInfo("my_system", rule)
        assert style.label(renamed) == "My system (proxy)" and style.writer_class(renamed) == style.PROXY
    assert style.label("opt") == "OPT" and style.label(WriterInfo("keep_all", "mine.py:f")) == "Keep all"


def test_looks_are_fixed_and_distinct():
    for members in style.by_class(frames.WRITERS).values():
        looks = style.looks(members)
        assert len(set(looks.values())) == len(members)
        assert all(style.looks([w])[w.name] == looks[w.name] for w in members)
    strangers = [WriterInfo(f"w{i}", "mine.py:f") for i in range(30)]
    mixed = [*style.by_class(frames.WRITERS)[style.BLIND], *strangers]
    assert len(set(style.looks(mixed).values())) == len(mixed)
    assert style.looks(mixed) == style.looks(list(reversed(mixed)))


def test_type_looks_are_distinct_up_to_the_spare_ones():
    types = [*style._TYPES, *(f"own_{i}" for i in range(18))]
    assert len(set(style.type_looks(types).values())) == len(types)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.08))
def test_spread_keeps_order_gap_and_range(wishes, gap):
    wishes = sorted(wishes)
    places = _spread(wishes, gap, 0.0, 1.0)
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(places))
    assert places[0] >= -1e-9 and places[-1] <= 1 + 1e-9
    if all(b - a >= gap for a, b in pairwise(wishes)):
        assert places == pytest.approx(wishes)


def test_legend_columns_fit():
    assert legend_columns(["a" * 10] * 6, 7.2) == 6
    assert legend_columns(["a" * 30] * 3, 4.5) == 2
    assert legend_columns(["a" * 200] * 3, 4.5) == 1


def test_wanted_figures_follow_the_configuration():
    opt, without = (
        WriterInfo("best", "opt", "full", "solution"),
        WriterInfo("bare", "opt", "no_validity", "solution"),
    )
    raw = WriterInfo("recency_raw", "recency_raw")
    several = ("base", "scope_shift")

    def names(suite: SuiteInfo, **run) -> set[str]:
        pairs = wanted_figures(RunInfo((suite,), **run))
        assert all(s == suite.name for _, s in pairs)
        return {name for name, _ in pairs}

    assert names(SuiteInfo("audit", (), several, 4)) == set()
    one = {"representation_mix", "decomposition", "validity_coverage"}
    assert names(SuiteInfo("s", (opt, raw), ("base",), 1)) == one
    assert names(SuiteInfo("s", (opt, raw), ("base",), 2)) == one | {"budget_sweep"}
    assert names(SuiteInfo("s", (opt, without), ("base",), 1)) == one | {"validity_gap"}
    assert names(SuiteInfo("s", (raw,), several, 1)) == one | {"stress_heatmap"}
    assert names(SuiteInfo("n", (opt, raw), (), 5, "longmemeval")) == one - {"validity_coverage"} | {"budget_sweep"}
    assert names(SuiteInfo("n", (opt, raw), (), 5, "coverage_package")) == one | {"budget_sweep"}
    assert names(SuiteInfo("s", (), ("base",), 1), illustration="s") == {"package_illustration"}
