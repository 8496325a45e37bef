"""Shared by all tests: puts this folder on the path (`from strategies import packages`), and makes
property tests repeatable: same examples every run, no deadline that a busy machine could miss."""

from hypothesis import settings

import memaudit.writers.rules  # noqa: F401  (registers the rules)

settings.register_profile("memaudit", deadline=None, derandomize=True, database=None)
settings.load_profile("memaudit")
