"""The figures of natural suites only: by type of question, under label noise, where labels disagree, downstream."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pandas as pd

from ..schemas import ALL_SYSTEMS
from . import style
from .drawing import grid, label_ends, legend_columns, note, panels_of, rows_of, title, writers_in
from .natural_tables import answer_notes, answers_text, frame_sizes, frames_text, having, labels_of
from .registry import figure
from .remarks import focus_notes
from .results import NothingToShow, Results, focus_budget


def _rows(results: Results, name: str, suite: str) -> pd.DataFrame:
    """The suite's rows in its first setting, where the frame has settings; InputError where there are none."""
    frame = results.natural(name, suite)
    setting = results.info.suite(suite).settings[0]
    for column in ("cost_model", "k", "saturation"):
        if column in frame:
            frame = frame[frame[column] == getattr(setting, column)]
    if frame.empty:
        raise NothingToShow(f"frame {name!r} has no rows of suite {suite!r} in its first setting; nothing can be drawn")
    return frame


@figure(having("categories"))
def question_types(results: Results, suite: str):
    """What is covered of what queries require, at the third budget; a panel a type of question."""
    frame = _rows(results, "categories", suite)
    frame = frame[frame["share_all"].notna()]
    if frame.empty:
        raise NothingToShow(f"suite {suite!r}: no query requires a unit; there is no share to draw")
    budget = focus_budget(frame["budget"])
    at = frame[frame["budget"] == budget]
    names = [n for n in sorted(set(at["category"])) if n != "all"] + [n for n in ["all"] if n in set(at["category"])]
    rows = rows_of(writers_in(results.info.suite(suite), at))
    n_rows, columns = grid(len(names), 5)
    panel = max(1.05, min(2.4, 5.2 / columns))
    fig, axes = style.new_figure(1.95 + panel * columns, (rows.height + 0.75) * n_rows + 0.95, n_rows, columns)
    for i, (ax, name) in enumerate(zip(panels_of(axes, len(names)), names, strict=True)):
        part = at[at["category"] == name].set_index("writer")
        for writer, y in zip(rows.writers, rows.at, strict=True):
            if writer.name not in part.index:
                continue
            r = part.loc[writer.name]
            colour = style.writer_colour(writer)
            ax.plot([r["covered_low"], r["covered_high"]], [y, y], color=colour, linewidth=1.1, solid_capstyle="butt")
            ax.plot([r["share_all"]], [y], "o", color=colour, markerfacecolor="white", markersize=3.4)
            ax.plot([r["mean_covered"]], [y], "o", color=colour, markersize=3.4)
        rows.frame(ax, labelled=i % columns == 0)
        ax.set_xlim(-0.03, 1.03)
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.grid(axis="x")
        asked = int((part["queries"] - part["without_requirement"]).max())
        head = f"{style.prettify(name)} (n\u00a0=\u00a0{asked:,})"
        ax.set_title("\n".join(textwrap.wrap(head, int(panel / 0.075))))
    queries = int((at["queries"] - at["without_requirement"])[at["category"] == names[-1]].max())
    what = f"Results by type of question at B = {budget:,}"
    title(fig, results, suite, what, f"n = {queries:,} queries that require a unit")
    note(fig, [
        "Filled: mean share of a query's required units that is covered, with its 95 % interval. Hollow: share of the "
        "queries with all of them covered. OPT has the largest F, which is neither.",
        *focus_notes(frame["budget"]),
    ])  # fmt: skip
    return fig


@figure(having("robustness"))
def robustness(results: Results, suite: str):
    """The ranking under label noise: Kendall's tau by rate, a line a budget; mean ratios at the third budget."""
    ranking = _rows(results, "robustness", suite)
    ranking = ranking[ranking["kendall_tau"].notna()]
    blind = ranking[ranking["ranked"] == "blind"]
    ranking = ranking[ranking["ranked"] == "all"] if blind.empty else blind
    if ranking.empty:
        raise NothingToShow(f"suite {suite!r}: no ranking under label noise is defined; there is nothing to draw")
    writers = _rows(results, "robustness_writers", suite)
    budget = focus_budget(ranking["budget"])
    at = writers[(writers["budget"] == budget) & writers["mean_ratio"].notna()]
    shown = writers_in(results.info.suite(suite), at)
    height = max(3.0, 1.25 + 0.12 * len(shown))
    fig, axes = style.new_figure(style.PAGE_WIDTH, height, 1, 2)
    left, right = axes[0]
    rates = sorted(set(ranking["rate"]))
    budgets = sorted(set(ranking["budget"]))
    low = min(0.0, float(ranking["tau_low"].min()))
    left.set_ylim(low - 0.03, 1.04)
    ends = {}
    for i, b in enumerate(budgets):
        line = ranking[ranking["budget"] == b].sort_values("rate")
        colour = style.CYCLE[i % len(style.CYCLE)]
        x, y = [0.0, *line["rate"]], [1.0, *line["kendall_tau"]]
        left.fill_between(x, [1.0, *line["tau_low"]], [1.0, *line["tau_high"]], color=colour, alpha=0.15, linewidth=0)
        left.plot(x, y, color=colour, marker=style.MARKERS[i % len(style.MARKERS)], markeredgecolor="white",
                  markeredgewidth=0.4)  # fmt: skip
        ends[f"B = {b:,}"] = (y[-1], colour)
    label_ends(left, ends, height - 1.1)
    left.set_ylabel("Kendall's tau-b of the writers' ranking")
    counts = sorted(set(ranking["writers"]))
    ranked = f"{counts[0]} to {counts[-1]} writers" if len(counts) > 1 else f"{counts[0]} writers"
    left.set_title(f"Order of {ranked}")
    looks = style.distinct(shown)
    right.set_ylim(-0.03, 1.04)
    ends = {}
    for writer in shown:
        line = at[at["writer"] == writer.name].sort_values("rate")
        x, y = [0.0, *line["rate"]], [line["clean_ratio"].iloc[0], *line["mean_ratio"]]
        look = looks[writer.name]
        right.plot(x, y, color=look.colour, marker=look.marker, linestyle=look.dashes, markeredgecolor="white",
                   markeredgewidth=0.4)  # fmt: skip
        ends[style.label(writer)] = (float(y[-1]), look.colour)
    label_ends(right, ends, height - 1.1, size=6.2)
    right.set_ylabel("Mean package ratio, F / OPT")
    right.set_title(f"Mean ratios at B = {budget:,}")
    flips = ranking["flips"].iloc[0]
    share = "positive cells lost, and as many gained" if flips == "balanced" else "cells flipped"
    for ax in (left, right):
        ax.grid(axis="y")
        ax.set_xlim(-0.02 * rates[-1], 1.02 * rates[-1])
        ax.set_xticks([0, *rates], [f"{100 * r:g} %" for r in [0, *rates]])
        ax.set_xlabel(f"Share of {share}")
    n = int(ranking["packages"].max())
    title(fig, results, suite, "Label noise", f"n = {n:,} packages, {int(ranking['draws'].max())} draws a rate")
    left_out = "" if blind.empty else "Ranked: writers that see no coverage and keep anything. "
    note(fig, [
        f"{left_out}Tau-b: a pair tied on one side only lowers it. Packages with OPT > 0 without and with noise. Band: "
        "least and largest draw. What writers kept stays; values and optima are computed anew.",
        *focus_notes(ranking["budget"]),
    ])  # fmt: skip
    return fig


@figure(having("disagreements"))
def label_agreement(results: Results, suite: str):
    """Share of cells on which two label sources disagree, by stratum and representation type; a panel a pair."""
    from matplotlib.ticker import MaxNLocator

    frame = results.natural("disagreements", suite)
    if frame.empty:
        raise NothingToShow(f"suite {suite!r} has labels of one source; there is nothing to compare them with")
    shared = frame["agreed_with"] != ""
    frame = frame[~shared]
    pairs = sorted(set(frame[["frame", "first", "second"]].itertuples(index=False, name=None)))
    pairs.sort(key=lambda pair: pair[0] != "labelled")
    groups = [
        (by, g) for by in ("stratum", "representation_type") for g in sorted(set(frame["group"][frame["by"] == by]))
    ]
    at = {group: i + 0.5 * (group[0] != "stratum") for i, group in enumerate(groups)}
    n_rows, columns = grid(len(pairs), 3)
    height = (0.17 * (len(groups) + 1) + 0.5) * n_rows + 1.4
    fig, axes = style.new_figure(max(4.2, 1.3 + 1.95 * columns), height, n_rows, columns, sharex=True)
    several = len({kind for kind, *_ in pairs}) > 1
    shares = (frame["only_first"] + frame["only_second"]) / frame["cells"]
    reach = max(0.05, float(shares.max()))
    for i, (ax, pair) in enumerate(zip(panels_of(axes, len(pairs)), pairs, strict=True)):
        kind, first, second = pair
        own = frame[(frame["frame"] == kind) & (frame["first"] == first) & (frame["second"] == second)]
        own = own.set_index(["by", "group"])
        for group in (group for group in groups if group in own.index):
            r, y = own.loc[group], at[group]
            share = (r["only_first"] + r["only_second"]) / r["cells"]
            ax.barh(y, share, height=0.7, color=style.BLUE if group[0] == "stratum" else style.SKY)
            ax.text(share, y, f" {100 * share:.1f} % of {int(r['cells']):,}", va="center", fontsize=6,
                    color=style.DARK_GREY)  # fmt: skip
        ax.set_yticks(list(at.values()), [style.prettify(g) for _, g in groups] if i % columns == 0 else [])
        ax.set_ylim(max(at.values()) + 0.6, -0.6)
        ax.tick_params(axis="y", length=0)
        # Room for the numbers beside the bars; no share is above 1, so no tick is.
        ax.set_xlim(0, reach * 1.75)
        ticks = [t for t in MaxNLocator(3, steps=[1, 2, 5, 10]).tick_values(0, reach) if t <= min(1, reach * 1.01)]
        ax.set_xticks(ticks, [f"{100 * t:g} %" for t in ticks])
        ax.spines["bottom"].set_bounds(0, min(1.0, reach))
        ax.grid(axis="x")
        head = f"{first}, {second}" + (f" ({kind})" if several else "")
        ax.set_title("\n".join(textwrap.wrap(head, 26)))
        ax.tick_params(labelbottom=i + columns >= len(pairs))
    for ax in fig.axes[-columns:]:
        # From the axis' beginning on: centred on the panel, it would run past the axis, which ends before the numbers.
        ax.set_xlabel("Share of cells with\ndifferent labels", x=0, ha="left")
    title(fig, results, suite, "Disagreement of label sources", frame_sizes(frame),
          of_setting=False)  # fmt: skip
    notes = [
        f"Cells: {frames_text(frame)}. Dark: by stratum; light: by representation type. Labels are binary: covered is "
        "coverage >= .5, a half like a whole.",
        *_level_notes(results, suite),
    ]
    notes += ["The table also compares the label that two sources share with each third one."] if shared.any() else []
    note(fig, notes)
    return fig


def _level_notes(results: Results, suite: str) -> list[str]:
    """What binary labels leave out: how far pairs tell full from partial coverage alike."""
    if "agreement" not in results.info.suite(suite).analyses:
        return []
    frame = results.natural("agreement", suite)
    frame = frame[(frame["agreed_with"] == "") & frame["level_kappa"].notna()]
    texts = [
        f"{r.first}, {r.second}{f' ({r.frame})' if frame['frame'].nunique() > 1 else ''} {r.level_kappa:.3f} "
        f"[{r.level_low:.3f}, {r.level_high:.3f}] of {r.level_cells:,}"
        for r in frame.itertuples()
    ]
    return [f"Kappa of full against partial coverage, cells that both cover: {'; '.join(texts)}."] if texts else []


@figure(having("downstream"))
def downstream(results: Results, suite: str):
    """Accuracy of downstream systems given all, some or none of the required units; a panel a budget."""
    frame = _rows(results, "downstream", suite)
    every = results.natural("downstream", suite)
    order = ["all", "some", "none"]
    frame = frame[frame["covered"].isin(order)]
    if frame.empty:
        raise NothingToShow(f"suite {suite!r}: no answered query requires a unit; there is nothing to draw")
    label = labels_of(results, suite)
    writer_of = dict(zip(frame["system"], frame["writer"], strict=True))
    systems = [s for s in sorted(writer_of) if s != ALL_SYSTEMS]
    if ALL_SYSTEMS in writer_of:
        systems.append(ALL_SYSTEMS)
    budgets = sorted(set(frame["budget"]))
    rows, columns = grid(len(budgets), 4)
    fig, axes = style.new_figure(max(1.75 * columns + 0.5, 4.4), 1.75 * rows + 1.4, rows, columns, sharey=True)
    for i, (ax, budget) in enumerate(zip(panels_of(axes, len(budgets)), budgets, strict=True)):
        for s, system in enumerate(systems):
            own = frame[(frame["budget"] == budget) & (frame["system"] == system)].set_index("covered")
            shown = [name for name in order if name in own.index]
            x = [order.index(name) + 0.7 * ((s + 0.5) / len(systems) - 0.5) for name in shown]
            own = own.loc[shown]
            pooled = system == ALL_SYSTEMS
            colour = style.BLACK if pooled else style.CYCLE[s % (len(style.CYCLE) - 1)]
            ax.vlines(x, own["ci_low"], own["ci_high"], color=colour, linewidth=1.4 if pooled else 0.9)
            ax.plot(x, own["accuracy"], "*" if pooled else style.MARKERS[s % len(style.MARKERS)], color=colour,
                    markersize=6 if pooled else None, label=_system(system, writer_of[system], label))  # fmt: skip
        ax.set_xlim(-0.5, 2.5)
        ax.set_ylim(-0.03, 1.03)
        ax.set_xticks(range(3), [name.capitalize() for name in order])
        ax.grid(axis="y")
        ax.set_title(f"B = {budget:,}")
        if i % columns == 0:
            ax.set_ylabel("Accuracy")
        if i + columns >= len(budgets):
            ax.set_xlabel("Required units kept")
    # Not every system has a mark in every panel.
    marks = {text: mark for ax in fig.axes for mark, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    texts = [text for s in systems if (text := _system(s, writer_of[s], label)) in marks]
    ncols = legend_columns(texts, fig.get_figwidth())
    fig.legend([marks[t] for t in texts], texts, loc="outside lower left", ncols=ncols)
    title(fig, results, suite, "Accuracy by required units kept", answers_text(every))
    pooled = "; of all systems: bootstrap over queries" if ALL_SYSTEMS in systems else ""
    note(fig, [f"Bars: 95 % interval, Wilson's{pooled}.", *answer_notes(every, results.info.suite(suite).settings)])
    return fig


def _system(system: str, writer: str, label: Callable[[str], str]) -> str:
    """A system with the writer it is joined to."""
    if not writer:
        return system.capitalize()
    return label(writer) if system == writer else f"{system}: {label(writer)}"
