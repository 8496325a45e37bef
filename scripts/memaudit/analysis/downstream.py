"""Do kept memories predict answers? Answers of downstream systems, by how much of what a query requires was kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from ..errors import InputError
from ..schemas import DOWNSTREAM

# How much of a query's required units a writer covers; ANY: all queries together.
COVERED = ("all", "some", "none", "nothing required")
ANY = "any"
_SETTING = ["cost_model", "k", "saturation", "budget_spec", "budget"]
_TRUE, _FALSE = {"1", "1.0", "true", "yes"}, {"0", "0.0", "false", "no"}
_Z = 1.959963984540054  # 97.5 percentile of the normal distribution


def wilson(correct: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share (Wilson 1927)."""
    if not 0 <= correct <= n or n < 1:
        raise InputError(f"a share of {correct} in {n} is none; needs 0 <= correct <= n and n >= 1")
    share, z2 = correct / n, _Z * _Z
    centre = share + z2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At the ends the formula gives 0 and 1 exactly; its rounding does not.
    low = 0.0 if correct == 0 else (centre - half) / (1 + z2 / n)
    high = 1.0 if correct == n else (centre + half) / (1 + z2 / n)
    return low, high


def parse_answers(table: pd.DataFrame, where: str) -> pd.DataFrame:
    """Columns query_id, system, budget (Int64, null: any), correct (bool) of a table of downstream answers.

    `correct` is 1/true/yes or 0/false/no. Raises InputError naming `where`, the row (1 is the first below the
    header) and the fix on a missing column, an empty or unknown value, or a repeated answer.
    """
    missing = [c for c in ("query_id", "system", "correct") if c not in table]
    if missing:
        raise InputError(f"{where}: no column {', '.join(missing)}; needs query_id, system and correct")
    rows = []
    for number, row in enumerate(table.to_dict("records"), start=1):
        for column in ("query_id", "system"):
            if pd.isna(row[column]) or not str(row[column]).strip():
                raise InputError(f"{where}, row {number}: {column} is empty; fill it in, or remove the row")
        rows.append({
            "query_id": str(row["query_id"]),
            "system": str(row["system"]),
            "budget": _budget(row.get("budget"), where, number),
            "correct": _correct(row["correct"], where, number),
        })  # fmt: skip
    answers = pd.DataFrame(rows, columns=["query_id", "system", "budget", "correct"]).astype({"budget": "Int64"})
    twice = answers[answers.duplicated(["query_id", "system", "budget"])]
    if len(twice):
        row = twice.iloc[0]
        raise InputError(
            f"{where}, row {twice.index[0] + 1}: query {row['query_id']} of system {row['system']} is answered "
            f"twice; keep one answer a query, system and budget"
        )
    return answers


def _correct(value: object, where: str, number: int) -> bool:
    text = "" if pd.isna(value) else str(value).strip().lower()
    if text not in _TRUE | _FALSE:
        raise InputError(
            f"{where}, row {number}: correct is {text or 'empty'!r}; write 1, true or yes, or 0, false or no"
        )
    return text in _TRUE


def _budget(value: object, where: str, number: int) -> int | None:
    if value is None or pd.isna(value) or str(value).strip() == "":
        return None
    try:
        budget = float(value)
    except (TypeError, ValueError):
        budget = math.nan
    if not budget >= 1 or budget != int(budget):
        raise InputError(f"{where}, row {number}: budget {value!r} is no whole number >= 1 (an absolute budget)")
    return int(budget)


def downstream(
    suite: str, queries: pd.DataFrame, answers: pd.DataFrame, writer_of: Mapping[str, str], where: str
) -> pd.DataFrame:
    """Schema DOWNSTREAM: accuracy of each system by what its writer kept, at every setting and budget.

    `queries`: schema QUERY_SCORES; `answers`: of `parse_answers`, read from `where`; an answer with a budget
    counts there only. `writer_of`: system -> writer, where the two are not named alike. covered: all (each
    required unit has coverage >= 1), none (no mass of any), some (else), "nothing required", and "any" for
    all together. Raises InputError on a system without a writer, an unknown query, or a budget not scored.
    """
    answers = answers.assign(writer=[writer_of.get(s, s) for s in answers["system"]])
    _refuse_unknown(suite, queries, answers, where)
    joined = queries.merge(answers, on=["query_id", "writer"], suffixes=("", "_given"), validate="many_to_many")
    given = joined["budget_given"]
    joined = joined[given.isna() | (given == joined["budget"]).fillna(False)]
    joined = joined.assign(covered=_classes(joined))
    rows = []
    for (system, writer, *setting), part in joined.groupby(["system", "writer", *_SETTING], sort=True):
        head = {"suite": suite, "system": system, "writer": writer, **dict(zip(_SETTING, setting, strict=True))}
        rows += [head | numbers for numbers in _accuracies(part)]
    table = pd.DataFrame(rows, columns=DOWNSTREAM.schema.names)
    return table.sort_values(list(DOWNSTREAM.key), ignore_index=True)


def _refuse_unknown(suite: str, queries: pd.DataFrame, answers: pd.DataFrame, where: str) -> None:
    twice = queries.groupby("query_id")["package_id"].nunique()
    if len(twice) and twice.max() > 1:
        raise InputError(f"suite {suite}: query {twice.idxmax()} stands in several packages; answers name queries")
    for column, known, fix in (
        ("writer", set(queries["writer"]), "name its writer under downstream_systems, or remove the rows"),
        ("query_id", set(queries["query_id"]), "remove the row: unscored queries have no required units"),
        ("budget", set(queries["budget"]), "give an absolute budget of the suite, or leave it empty"),
    ):
        bad = answers[answers[column].notna() & ~answers[column].isin(known)]
        if len(bad):
            row = bad.iloc[0]
            name = f"system {row['system']}: no scored writer {row['writer']!r}"
            what = name if column == "writer" else f"{column} {row[column]} is not of suite {suite}"
            raise InputError(f"{where}, row {bad.index[0] + 1}: {what}; {fix}")


def _classes(joined: pd.DataFrame) -> np.ndarray:
    every = joined["all_covered"].eq(True).to_numpy(dtype=bool)
    nothing, none = (joined["required"] == 0).to_numpy(), (joined["covered"] == 0).to_numpy()
    return np.select([nothing, every, none], ["nothing required", "all", "none"], "some")


def _accuracies(part: pd.DataFrame) -> Iterator[dict]:
    for name in (*COVERED, ANY):
        own = part["correct"] if name == ANY else part.loc[part["covered"] == name, "correct"]
        if len(own):
            correct, n = int(own.sum()), len(own)
            low, high = wilson(correct, n)
            yield {"covered": name, "n": n, "correct": correct, "accuracy": correct / n, "ci_low": low, "ci_high": high}
