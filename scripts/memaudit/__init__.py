"""MEMAUDIT: exact package-oracle evaluation of budgeted long-term memory writing."""

from .kernel_cache import use_kernel_cache

__version__ = "0.1.0"

# Before any module of the library imports numba.
use_kernel_cache()
