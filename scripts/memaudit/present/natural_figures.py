"""The figures of natural suites only: by type of question, under label noise, where labels disagree, downstream."""

from __future__ import annotations

import textwrap

import pandas as pd

from . import style
from .drawing import grid, label_ends, legend_columns, note, panels_of, rows_of, title, writers_in
from .natural_tables import having
from .registry import figure
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
    """Share of queries with all required units covered, at the third budget; a panel a type of question."""
    frame = _rows(results, "categories", suite)
    frame = frame[frame["share_all"].notna()]
    if frame.empty:
        raise NothingToShow(f"suite {suite!r}: no query requires a unit; there is no share to draw")
    budget = focus_budget(frame["budget"])
    at = frame[frame["budget"] == budget]
    names = [n for n in sorted(set(at["category"])) if n != "all"] + [n for n in ["all"] if n in set(at["category"])]
    rows = rows_of(writers_in(results.info.suite(suite), at))
    n_rows, columns = grid(len(names), 4)
    panel = max(1.25, min(2.4, 5.2 / columns))
    fig, axes = style.new_figure(1.95 + panel * columns, (rows.height + 0.75) * n_rows + 0.75, n_rows, columns)
    for i, (ax, name) in enumerate(zip(panels_of(axes, len(names)), names, strict=True)):
        part = at[at["category"] == name].set_index("writer")
        for writer, y in zip(rows.writers, rows.at, strict=True):
            if writer.name not in part.index:
                continue
            r = part.loc[writer.name]
            colour = style.writer_colour(writer)
            ax.plot([r["share_low"], r["share_high"]], [y, y], color=colour, linewidth=1.1, solid_capstyle="butt")
            ax.plot([r["share_all"]], [y], "o", color=colour, markersize=3.4)
        rows.frame(ax, labelled=i % columns == 0)
        ax.set_xlim(-0.03, 1.03)
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.grid(axis="x")
        asked = int((part["queries"] - part["without_requirement"]).max())
        head = f"{style.prettify(name)} (n\u00a0=\u00a0{asked})"
        ax.set_title("\n".join(textwrap.wrap(head, int(panel / 0.075))))
    fig.supxlabel("Share of queries with all required units covered", fontsize=7.5)
    queries = int((at["queries"] - at["without_requirement"])[at["category"] == names[-1]].max())
    title(fig, results, suite, f"Results by type of question at B = {budget}", f"n = {queries} queries")
    return fig


@figure(having("robustness"))
def robustness(results: Results, suite: str):
    """The ranking under label noise: Kendall's tau by rate, a line a budget; mean ratios at the third budget."""
    ranking = _rows(results, "robustness", suite)
    ranking = ranking[ranking["kendall_tau"].notna()]
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
        ends[f"B = {b}"] = (y[-1], colour)
    label_ends(left, ends, height - 1.1)
    left.set_ylabel("Kendall's tau of the writers' ranking")
    left.set_title("Ranking against that without noise")
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
    right.set_title(f"Mean ratios at B = {budget}")
    flips = ranking["flips"].iloc[0]
    share = "positive cells lost, and as many gained" if flips == "balanced" else "cells flipped"
    for ax in (left, right):
        ax.grid(axis="y")
        ax.set_xlim(-0.02 * rates[-1], 1.02 * rates[-1])
        ax.set_xticks([0, *rates], [f"{100 * r:g} %" for r in [0, *rates]])
        ax.set_xlabel(f"Share of {share}")
    n = int(ranking["packages"].max())
    title(fig, results, suite, "Label noise", f"n = {n} packages, {int(ranking['draws'].max())} draws a rate")
    note(fig, [
        "Packages with OPT > 0 without and with noise. Band: least and largest draw. What writers kept stays; values "
        "and optima are computed anew."
    ])  # fmt: skip
    return fig


@figure(having("label_ratios"))
def label_agreement(results: Results, suite: str):
    """Share of cells on which two label sources disagree, by stratum of the frame and by representation type."""
    from matplotlib.patches import Patch

    frame = _rows(results, "disagreements", suite)
    frame = frame[frame["agreed_with"] == ""]
    pairs = sorted(set(frame[["first", "second"]].itertuples(index=False, name=None)))
    groups = [
        (by, g) for by in ("stratum", "representation_type") for g in sorted(set(frame["group"][frame["by"] == by]))
    ]
    at = {group: i + 0.35 * (group[0] != "stratum") for i, group in enumerate(groups)}
    colours = {pair: style.CYCLE[i % len(style.CYCLE)] for i, pair in enumerate(pairs)}
    names = [f"{a}, {b}" for a, b in pairs]
    bar = 0.8 / len(pairs)
    across = legend_columns(names, 5.0)
    height = 0.12 * len(pairs) * len(groups) + 0.16 * len(groups) + 1.3 + 0.16 * -(-len(pairs) // across)
    fig, axes = style.new_figure(5.2, height)
    ax = axes[0, 0]
    for p, pair in enumerate(pairs):
        own = frame[(frame["first"] == pair[0]) & (frame["second"] == pair[1])].set_index(["by", "group"])
        for group, y in at.items():
            if group not in own.index:
                continue
            r = own.loc[group]
            share = (r["only_first"] + r["only_second"]) / r["cells"]
            place = y - 0.4 + bar * (p + 0.5)
            ax.barh(place, share, height=bar * 0.9, color=colours[pair])
            ax.text(share, place, f" {100 * share:.1f} % of {int(r['cells']):,}", va="center", fontsize=6,
                    color=style.DARK_GREY)  # fmt: skip
    ax.set_yticks(list(at.values()), [style.prettify(g) for _, g in groups])
    ax.set_ylim(max(at.values()) + 0.6, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.28)
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    ax.set_xlabel("Share of cells with different labels")
    handles = [Patch(color=colours[pair], label=name) for pair, name in zip(pairs, names, strict=True)]
    fig.legend(handles=handles, loc="outside lower left", ncols=across)
    most = int(frame.groupby(["first", "second", "by"])["cells"].sum().max())
    what = "Disagreement of label sources"
    title(fig, results, suite, what, f"n = {most:,} cells at most", of_setting=False)
    return fig


@figure(having("downstream"))
def downstream(results: Results, suite: str):
    """Accuracy of downstream systems given all, some or none of the required units; a panel a budget."""
    frame = _rows(results, "downstream", suite)
    order = ["all", "some", "none"]
    frame = frame[frame["covered"].isin(order)]
    if frame.empty:
        raise NothingToShow(f"suite {suite!r}: no answered query requires a unit; there is nothing to draw")
    systems = sorted(set(frame["system"]))
    budgets = sorted(set(frame["budget"]))
    rows, columns = grid(len(budgets), 4)
    fig, axes = style.new_figure(max(1.75 * columns + 0.5, 3.6), 1.75 * rows + 1.0, rows, columns, sharey=True)
    for i, (ax, budget) in enumerate(zip(panels_of(axes, len(budgets)), budgets, strict=True)):
        for s, system in enumerate(systems):
            own = frame[(frame["budget"] == budget) & (frame["system"] == system)].set_index("covered")
            shown = [name for name in order if name in own.index]
            x = [order.index(name) + 0.6 * ((s + 0.5) / len(systems) - 0.5) for name in shown]
            own = own.loc[shown]
            colour = style.CYCLE[s % len(style.CYCLE)]
            ax.vlines(x, own["ci_low"], own["ci_high"], color=colour, linewidth=1)
            ax.plot(x, own["accuracy"], style.MARKERS[s % len(style.MARKERS)], color=colour, label=system)
        ax.set_xlim(-0.5, 2.5)
        ax.set_ylim(-0.03, 1.03)
        ax.set_xticks(range(3), [name.capitalize() for name in order])
        ax.grid(axis="y")
        ax.set_title(f"B = {budget}")
        if i % columns == 0:
            ax.set_ylabel("Accuracy")
        if i + columns >= len(budgets):
            ax.set_xlabel("Required units kept")
    handles = fig.axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower left", ncols=legend_columns(handles[1], fig.get_figwidth()))
    n = frame.groupby(["system", "budget"])["n"].sum()
    title(fig, results, suite, "Accuracy by required units kept", f"n = {int(n.max())} answers at most")
    note(fig, ["Bars: Wilson 95 % interval."])
    return fig
