"""Compiled pieces shared by the solver and the writers that see coverage."""

from __future__ import annotations

from numba import int64, njit

# Of kernels that only kernels call: no wrappers for Python and C, which take up to half of a small kernel's compiling.
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_i1 = int64[::1]


@njit(int64(int64, _i1, _i1), cache=True)
def f_line(z, slope, intercept):
    """h at integer coverage z: the minimum of its lines."""
    h = slope[0] * z + intercept[0]
    for s in range(1, len(slope)):
        h = min(h, slope[s] * z + intercept[s])
    return h


@njit(int64(int64, _i1, _i1, _i1, _i1, _i1, _i1, _i1), cache=True)
def marginal_int(i, cov_ptr, cov_unit, cov, weight, slope, intercept, z):
    """Integer gain in F of adding candidate i at coverage state z (one entry a unit)."""
    gain = 0
    for r in range(cov_ptr[i], cov_ptr[i + 1]):
        u = cov_unit[r]
        gain += weight[u] * (f_line(z[u] + cov[r], slope, intercept) - f_line(z[u], slope, intercept))
    return gain
