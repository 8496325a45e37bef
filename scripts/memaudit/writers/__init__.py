"""Writers: importing this package fills the registry."""

from . import coverage_free, estimated, oracle, proxies

__all__ = ["coverage_free", "estimated", "oracle", "proxies"]
