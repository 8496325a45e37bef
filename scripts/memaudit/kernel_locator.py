"""Where each compiled kernel is kept: one folder a module and state of the sources that it is compiled from.

numba's own places look only at the file that holds the kernel, though kernels of other modules are compiled
into it. Named to numba by kernel_cache.py; imported by numba.
"""

from __future__ import annotations

import os
from pathlib import Path

from numba import config
from numba.core.caching import UserProvidedCacheLocator

from .kernel_cache import in_library, sources_digest


class KernelLocator(UserProvidedCacheLocator):
    """Puts a kernel of the library's module `m` into NUMBA_CACHE_DIR/m.<digest of the sources it depends on>."""

    @classmethod
    def from_function(cls, py_func, py_file):
        """None, which leaves it to numba's own places, for files outside the library."""
        return super().from_function(py_func, py_file) if in_library(Path(py_file)) else None

    def __init__(self, py_func, py_file):
        super().__init__(py_func, py_file)
        source = Path(py_file)
        self._digest = sources_digest(source)
        self._cache_path = os.path.join(config.CACHE_DIR, f"{source.stem}.{self._digest}")

    def get_source_stamp(self):
        """Whatever the time of the file: equal sources make equal kernels."""
        return self._digest
