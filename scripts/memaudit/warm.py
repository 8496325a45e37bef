"""Compiling every kernel once, so that no job does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .errors import InputError
from .kernel_cache import all_sources_digest


def warm() -> None:
    """Compile what this environment's kernel cache lacks, with a message; at once where it is complete."""
    cache = Path(os.environ["NUMBA_CACHE_DIR"])
    complete = cache / f"complete.{all_sources_digest()}"
    if complete.exists():
        return
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder for compiled kernels, {cache}, cannot be made ({error.strerror}); "
            f"set NUMBA_CACHE_DIR to a folder that can be written"
        ) from error
    print(f"memaudit: compiling kernels into {cache}, once (up to a minute) ...", file=sys.stderr, flush=True)
    _use_every_kernel()
    complete.touch()


def _use_every_kernel() -> None:
    """Kernels with declared types compile on import, the others on first use."""
    from .analysis.bootstrap import mean_interval
    from .analysis.scores import score_rows
    from .objective import scale
    from .solve.bnb import solve
    from .solve.dense import solve_dense
    from .solve.frontier import frontier
    from .synthetic import generate
    from .writers import rules  # noqa: F401
    from .writers.registry import RULES, Writer, run

    package = generate("warm", "base", 0)
    instance = scale(package)
    optimum = solve(instance, 4)
    frontier(instance, 4).selection(4)
    solve_dense(instance, 4)
    mean_interval([0.0, 1.0], resamples=2)
    for rule in RULES.values():
        if rule.function is not None:
            run(Writer(rule.name, rule), package, instance, 4, {})
    score_rows(
        [package],
        [instance],
        [optimum.selection],
        writer="opt",
        pool="full",
        cost_model="declared",
        k=1,
        saturation="cap1",
        budget_spec="4",
        budget=4,
        opt={package.package_id: (optimum.value_int, optimum.scale, optimum.status)},
    )
