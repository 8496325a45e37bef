"""MEMAUDIT: exact package-oracle evaluation of budgeted long-term memory writing."""

__version__ = "0.1.0"
