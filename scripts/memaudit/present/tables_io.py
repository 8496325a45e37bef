"""Writing a registered table: tidy numbers as CSV, the laid out one as Markdown, some also as LaTeX."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..errors import InputError
from ..table_io import write_text
from . import compared_tables, natural_tables, store_tables, tables  # noqa: F401  (fill the registry)
from .quoting import markdown, visible
from .registry import TABLES
from .results import NothingToShow, Results
from .tables import Document
from .wanted import index_file, table_files


def make(results: Results, name: str, suite: str | None) -> Document:
    """Table `name` of a suite (None: of the whole run); InputError where it is unknown or has no data."""
    if name not in TABLES:
        raise InputError(f"unknown table {name!r}; there are {sorted(TABLES)}")
    document = TABLES[name].function(results, suite)
    about = results.info.suite(suite).about if suite is not None else ""
    return replace(document, notes=(*document.notes, about)) if about else document


def _made_or_empty(results: Results, name: str, suite: str | None) -> Document:
    """The table, or one without rows that says why."""
    try:
        return make(results, name, suite)
    except NothingToShow as why:
        return Document(f"{name}: nothing to show; {why}.", pd.DataFrame({"nothing_to_show": [str(why)]}), ())


def write(results: Results, name: str, suite: str | None, folder: str | Path) -> list[Path]:
    """Write the files of `table_files(name, suite)` below `folder`; returns their paths."""
    document = _made_or_empty(results, name, suite)
    label = f"tab:{name}" if suite is None else f"tab:{suite}-{name}"
    texts = {".csv": to_csv(document), ".md": to_markdown(document), ".tex": to_latex(document, label)}
    paths = [Path(folder) / file for file in table_files(name, suite)]
    for path in paths:
        write_text(path, texts[path.suffix])
    return paths


def write_index(names: Sequence[str], suite: str, folder: str | Path) -> Path:
    """Write the page below `folder` that says which of the tables `names` of a suite answers what; returns its path."""
    path = Path(folder) / index_file(suite)
    write_text(path, to_index(names, suite))
    return path


def to_index(names: Sequence[str], suite: str) -> str:
    """Markdown: a line a table with what it shows, those of exported stores apart."""
    blocks = [f"# Tables of suite {markdown(suite)}"]
    stores = [name for name in names if TABLES[name].of_stores]
    for title, own in (("Exported stores", stores), ("Packages and writers", [n for n in names if n not in stores])):
        first = "What to read first: [store_diagnosis](store_diagnosis.md).\n\n" if "store_diagnosis" in own else ""
        lines = "\n".join(f"- [{name}]({name}.md): {markdown(_shows(name))}" for name in own)
        blocks += [f"## {title}\n\n{first}{lines}"] if own else []
    return "\n\n".join([*blocks, "Each page stands beside its numbers as computed (`.csv`)."]) + "\n"


def _shows(name: str) -> str:
    """The first paragraph of a table's docstring, on one line."""
    return " ".join(inspect.getdoc(TABLES[name].function).split("\n\n")[0].split())


def to_csv(document: Document) -> str:
    """The tidy numbers as computed (shortest exact decimals); a missing one is an empty field."""
    return document.tidy.to_csv(index=False, lineterminator="\n")


def to_markdown(document: Document) -> str:
    """Caption, leading remarks, sections, remarks; all of it quoted, since any of it may name what others wrote."""
    blocks = [f"**{markdown(document.caption)}**"]
    if document.lead:
        blocks.append("\n".join(f"- {markdown(remark)}" for remark in document.lead))
    for section in document.sections:
        blocks += [f"### {markdown(section.heading)}"] if section.heading else []
        blocks.append(_markdown_table(section.frame))
    if document.notes:
        blocks.append("\n".join(f"- {markdown(remark)}" for remark in document.notes))
    return "\n\n".join(blocks) + "\n"


def _markdown_table(frame: pd.DataFrame) -> str:
    rows = [[str(c) for c in frame.columns], *(list(row) for row in frame.itertuples(index=False, name=None))]
    rows = [[markdown(cell) for cell in row] for row in rows]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    numeric = _numeric_columns(frame)
    rule = [f"{'-' * (w - 1)}:" if right else "-" * w for w, right in zip(widths, numeric, strict=True)]
    lines = [rows[0], rule, *rows[1:]]
    return "\n".join("| " + " | ".join(_pad(line, widths, numeric)) + " |" for line in lines)


def _pad(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    return [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True)]


def _numeric_columns(frame: pd.DataFrame) -> list[bool]:
    """Columns whose cells all start like a number (or are missing) stand to the right."""
    return [all(re.match(r"[+-]?\d|n/a", str(cell)) for cell in frame.iloc[:, i]) for i in range(frame.shape[1])]


def to_latex(document: Document, label: str) -> str:
    """A booktabs `table` environment a section, labelled `label`, `label-2`, ..."""
    return "\n".join(
        _latex_section(document, section.heading, section.frame, label if i == 1 else f"{label}-{i}")
        for i, section in enumerate(document.sections, start=1)
    )


def _latex_section(document: Document, heading: str, frame: pd.DataFrame, label: str) -> str:
    caption = " ".join(
        part for part in (document.caption, heading and f"{heading}.", *document.lead, *document.notes) if part
    )
    columns = "".join("r" if right else "l" for right in _numeric_columns(frame))
    rows = [" & ".join(map(_escape, row)) + r" \\" for row in frame.itertuples(index=False, name=None)]
    return "\n".join([
        "% needs \\usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{_escape(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(_escape(str(c)) for c in frame.columns) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ])  # fmt: skip


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _escape(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in visible(text))
