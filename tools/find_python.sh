#!/usr/bin/env bash
# Print the path of a working Python of one of the given versions (3.11 3.12 ...), the first that is found.
# Usage: tools/find_python.sh VERSION...
# A name on PATH is only believed once it has run: pyenv leaves shims for versions that are not active. pyenv's own
# folder is searched too. Status 1 where there is none.
set -euo pipefail

is_version() { # PYTHON VERSION
    [ "$("$1" -c 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$2" ]
}

# Names on PATH first, for every version, so that an active interpreter goes before one in a folder.
for version in "$@"; do
    for name in "python$version" python3 python; do
        if command -v "$name" >/dev/null && is_version "$name" "$version"; then
            command -v "$name"
            exit 0
        fi
    done
done
for version in "$@"; do
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
        if [ -x "$candidate" ] && is_version "$candidate" "$version"; then
            printf '%s\n' "$candidate"
            exit 0
        fi
    done
done
exit 1
