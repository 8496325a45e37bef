"""The label sources of a suite, from its tables, the files of a cell audit, and suites it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .analysis.agreement import Source, package_source, sources_of
from .errors import InputError
from .natural.audit import Audit
from .natural.audit_io import load_audit
from .objective import quantize
from .package import Package
from .package_io import read_packages
from .table_io import read_table


def read_sources(
    packages: Sequence[Package],
    labels: str | Path,
    audit: Sequence[str] = (),
    others: Iterable[str | Path] = (),
    grid: int | None = None,
) -> list[Source]:
    """Sources over the cells of `packages`: their own first (`agreement.sources_of`), then each labeller of the
    audit, then each suite of `others` (folders of package tables) as "suite {name}".

    `labels`: the suite's table of labels; `audit`: files of `audit_io.audit_files`; `grid`: the suite's quantize.
    Raises InputError on an audit or suite that has no cell of these packages, on an audited cell that they do not
    have or that was covered otherwise, and on two sources of one name.
    """
    external = _audited(list(audit), packages, grid) if audit else []
    for folder in others:
        name = Path(folder).name
        source = package_source(read_packages(folder), f"suite {name}").restricted(packages)
        if not source.whole:
            raise InputError(f"suite {name} has none of the packages it is compared with; remove it from compare_with")
        external.append(source)
    sources = sources_of(packages, read_table(labels, "labels").to_pandas(), external, grid)
    own = [source for source in sources if source not in external]
    # A compared suite may be made of labels that stand here too, cell by cell: the same labels under another name.
    return [s for s in sources if s not in external or not any(_same_labels(s, named) for named in own)]


def _same_labels(suite: Source, named: Source) -> bool:
    """Whether the suite covers just what the labeller `named` labelled as covered, by the same values."""
    covered = {cell: value for cell, value in named.values.items() if value > 0}
    return not named.whole and {cell: v for cell, v in suite.values.items() if v > 0} == covered


def _audited(files: list[str], packages: Sequence[Package], grid: int | None) -> list[Source]:
    audit = load_audit(files)
    sources = [Source(name, values, where=audit.files[name]) for name, values in audit.labels.items()]
    for source in sources:
        _refuse_unknown_cells(Path(files[0]).parent, source, packages)
    _refuse_another_version(files[0], audit, packages, grid)
    return sources


def _refuse_unknown_cells(folder: Path, source: Source, packages: Sequence[Package]) -> None:
    """A label of a cell that no package has is of another package."""
    unknown = source.values.keys() - source.restricted(packages).values.keys()
    if unknown:
        raise InputError(
            f"{folder}: {source.name} labels {len(unknown)} cells that no scored package has, the first "
            f"{min(unknown)}; audit the package that the suite is made of, or remove them"
        )


def _refuse_another_version(file: str, audit: Audit, packages: Sequence[Package], grid: int | None) -> None:
    """Labels of a package that covered its cells otherwise say nothing of this one."""
    own = package_source(packages).values
    said = {cell: quantize(value, grid or 0) for cell, value in audit.coverage.items()}
    other = sorted(cell for cell, value in said.items() if value != own.get(cell, 0.0))
    if other:
        raise InputError(
            f"{file}: gemini_coverage of {len(other)} cells is not the package's, the first {other[0]}: "
            f"{said[other[0]]}, and {own.get(other[0], 0.0)} here; name the audit of this package, or leave the column "
            f"out to audit another version on purpose"
        )
