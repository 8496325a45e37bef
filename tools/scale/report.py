"""Tables and figures of FOLDER/runs.jsonl (run.py): who proved what in what time, as ratios pair by pair.

python tools/scale/report.py [FOLDER]     default results/scale
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from memaudit.present import style  # noqa: E402
from memaudit.table_io import atomic_path, write_text  # noqa: E402

OURS = "memaudit"
NAMES = {
    "memaudit": "MEMAUDIT, one budget",
    "memaudit_curve": "MEMAUDIT, all budgets",
    "highs": "HiGHS",
    "cbc": "CBC",
    "scip": "SCIP",
    "cp_sat": "CP-SAT, tuned",
    "plain_python": "plain Python",
}
INSTANCE = ["family", "size", "fraction", "seed"]


def read(folder: Path) -> pd.DataFrame:
    """One row a solve; of several limits of one solve all rows. gap: (bound - value) / bound, NaN without both."""
    rows = [json.loads(line) for line in (folder / "runs.jsonl").read_text("utf-8").splitlines()]
    frame = pd.DataFrame(rows)
    value, bound = (
        frame[column].map(lambda x: float(Fraction(x)) if isinstance(x, str) else math.nan)
        for column in ("value", "bound")
    )
    frame["gap"] = np.where(frame["status"] == "optimal", 0.0, (bound - value) / bound)
    frame["solved"] = frame["status"] == "optimal"
    return frame


def disagreements(frame: pd.DataFrame) -> list[str]:
    """Instances on which two solvers proved different optima (there must be none)."""
    proven = frame[frame["solved"] & (frame["solver"] != "plain_python")]
    values = proven.groupby(INSTANCE)["value"].agg(lambda column: sorted(set(column)))
    return [f"{key}: {found}" for key, found in values.items() if len(found) > 1]


def times(frame: pd.DataFrame) -> pd.DataFrame:
    """Per family, size, fraction and solver: seeds, proofs, seconds (median), memory, and the ratio to ours."""
    ours = frame[(frame["solver"] == OURS) & frame["solved"]].set_index([*INSTANCE, "limit"])["seconds"]
    frame = frame.assign(ratio=frame["seconds"] / frame.set_index([*INSTANCE, "limit"]).index.map(ours).to_numpy(float))
    frame.loc[~frame["solved"], "ratio"] = math.nan  # of proofs only
    rows = []
    for key, part in frame.groupby(["family", "size", "fraction", "limit", "solver"], sort=True):
        solved = part[part["solved"]]
        rows.append({
            **dict(zip(["family", "size", "fraction", "limit", "solver"], key, strict=True)),
            "groups": part["groups"].max(), "candidates": part["candidates"].max(),
            "solves": len(part), "proven": len(solved),
            "skipped": int((part["status"] == "skipped").sum()),
            "seconds_median": solved["seconds"].median(), "seconds_max": solved["seconds"].max(),
            "ratio_min": part["ratio"].min(), "ratio_median": part["ratio"].median(), "ratio_max": part["ratio"].max(),
            "gap_max": part["gap"].max(), "peak_mib": part["peak_mib"].max(),
            "noise_spread": part["noise"].max() / part["noise"].min(),
        })  # fmt: skip
    order = {name: i for i, name in enumerate(NAMES)}
    return pd.DataFrame(rows).sort_values(
        ["family", "size", "fraction", "limit", "solver"], key=lambda c: c.map(order) if c.name == "solver" else c
    )


def losses(frame: pd.DataFrame) -> pd.DataFrame:
    """Where another solver was faster to the proof, proved what ours did not, or ended with a smaller gap."""
    ours = frame[frame["solver"] == OURS].set_index([*INSTANCE, "limit"])
    others = frame[~frame["solver"].isin([OURS, "memaudit_curve"])]
    rows = []
    for row in others.itertuples():
        mine = ours.loc[(row.family, row.size, row.fraction, row.seed, row.limit)]
        if row.solved and not mine["solved"]:
            how = "proved, ours did not"
        elif row.solved and row.seconds < mine["seconds"]:
            how = f"faster, {mine['seconds'] / row.seconds:.2f} times"
        elif not mine["solved"] and row.gap < mine["gap"]:
            how = f"gap {100 * row.gap:.3g} % against {100 * mine['gap']:.3g} %"
        else:
            continue
        rows.append({**{key: getattr(row, key) for key in [*INSTANCE, "limit", "solver"]}, "how": how})
    return pd.DataFrame(rows, columns=[*INSTANCE, "limit", "solver", "how"])


def growth(frame: pd.DataFrame) -> pd.DataFrame:
    """Slope of log seconds and log memory against log groups, per family and solver (1 = proportional)."""
    rows = []
    for (family, solver), part in frame[frame["solved"]].groupby(["family", "solver"]):
        large = part[part["groups"] >= 50]
        if large["groups"].nunique() >= 3:
            x = np.log(large["groups"].astype(float))
            slopes = {c: np.polyfit(x, np.log(large[c].astype(float)), 1)[0] for c in ("seconds", "peak_mib")}
            rows.append({"family": family, "solver": solver, "sizes": large["groups"].nunique(), **slopes})
    return pd.DataFrame(rows, columns=["family", "solver", "sizes", "seconds", "peak_mib"])


def figure_times(frame: pd.DataFrame, path: Path) -> None:
    """Seconds to the proof against groups, a panel a family with several sizes."""
    import matplotlib.pyplot as plt

    at_limit = frame[frame["limit"] == frame["limit"].max()]
    families = [f for f, part in at_limit.groupby("family") if part["groups"].nunique() > 1]
    with plt.rc_context(style.RC):
        figure, axes = plt.subplots(1, len(families), figsize=(style.PAGE_WIDTH, 2.7), sharey=True, squeeze=False)
        for ax, family in zip(axes[0], families, strict=True):
            for solver, colour, marker in _looks():
                part = at_limit[(at_limit["family"] == family) & (at_limit["solver"] == solver) & at_limit["solved"]]
                line = part.groupby("groups")["seconds"].median()
                ax.plot(line.index, line, color=colour, marker=marker, label=NAMES[solver])
            ax.set(xscale="log", yscale="log", title=family.replace("_", " "), xlabel="groups")
        axes[0][0].set_ylabel("seconds to the proof (median of seeds)")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        _save(figure, path)


def figure_profile(frame: pd.DataFrame, path: Path) -> None:
    """Performance profile (Dolan and More 2002): share of instances proven within t times the fastest solver."""
    import matplotlib.pyplot as plt

    at_limit = frame[(frame["limit"] == frame["limit"].max()) & (frame["solver"] != "memaudit_curve")]
    seconds = at_limit.assign(s=at_limit["seconds"].where(at_limit["solved"])).pivot(
        index=INSTANCE, columns="solver", values="s"
    )
    ratio = seconds.div(seconds.min(axis=1), axis=0)
    with plt.rc_context(style.RC):
        figure, ax = plt.subplots(figsize=(style.PAGE_WIDTH / 2, 2.7))
        for solver, colour, _ in _looks():
            if solver in ratio:
                found = np.sort(ratio[solver].dropna().to_numpy())
                ax.step([1, *found], [0, *(np.arange(1, len(found) + 1) / len(ratio))], where="post", color=colour,
                        label=NAMES[solver])  # fmt: skip
        ax.set(xscale="log", ylim=(0, 1.02), xlabel="t", ylabel="share proven within t times the fastest")
        ax.set_title(f"{len(ratio)} instances")
        figure.legend(loc="outside lower center", ncols=3)
        _save(figure, path)


def figure_gaps(frame: pd.DataFrame, path: Path) -> None:
    """Gap left on the dense family against the time given: the largest over seeds."""
    import matplotlib.pyplot as plt

    part = frame[(frame["family"] == "dense") & (frame["solver"] != "plain_python") & frame["gap"].notna()]
    panels = sorted(set(zip(part["size"], part["fraction"], strict=True)))
    with plt.rc_context(style.RC):
        columns = 4
        lines = max(1, math.ceil(len(panels) / columns))
        figure, axes = plt.subplots(lines, columns, figsize=(style.PAGE_WIDTH, 1.9 * lines + 0.5), squeeze=False)
        for ax, (size, fraction) in zip(axes.flat, panels, strict=False):
            own = part[(part["size"] == size) & (part["fraction"] == fraction)]
            for solver, colour, marker in _looks():
                line = own[own["solver"] == solver].groupby("limit")["gap"].max()
                ax.plot(line.index, 100 * line, color=colour, marker=marker, label=NAMES[solver])
            ax.set(xscale="log", title=f"{size} groups, {100 * fraction:g} %", xlabel="seconds given")
            ax.set_yscale("symlog", linthresh=0.01)
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        axes[0][0].set_ylabel("largest gap, %")
        if panels:
            figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        _save(figure, path)


def _looks():
    return zip(NAMES, style.CYCLE, style.MARKERS, strict=True)


def _save(figure, path: Path) -> None:
    import matplotlib.pyplot as plt

    for suffix in (".png", ".pdf"):
        with atomic_path(path.with_suffix(suffix)) as temporary:
            figure.savefig(temporary, format=suffix[1:], metadata={} if suffix == ".png" else {"CreationDate": None})
    plt.close(figure)


def write(folder: Path) -> None:
    frame = read(folder)
    wrong = disagreements(frame)
    if wrong:
        raise SystemExit("solvers proved different optima:\n" + "\n".join(wrong))
    tables = {"times": times(frame), "losses": losses(frame), "growth": growth(frame)}
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        write_text(folder / f"{name}.md", table.to_markdown(index=False, floatfmt=".3g") + "\n")
    figure_times(frame, folder / "times")
    figure_profile(frame, folder / "profile")
    figure_gaps(frame, folder / "gaps")
    asked = frame.groupby(INSTANCE)["solver"].nunique()
    print(f"{len(asked)} instances, {(asked == len(NAMES)).sum()} of them by every solver; "
          f"{len(tables['losses'])} solves in which another solver was ahead (losses.md)")  # fmt: skip


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results" / "scale")
