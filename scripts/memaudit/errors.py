"""The one exception type for bad input: it names the file, row or key, and the fix."""


class InputError(ValueError):
    """Bad input (a config key, a file, a row). The message says what is wrong, where, and how to fix it."""
