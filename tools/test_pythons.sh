#!/usr/bin/env bash
# Run the unit tests on every other supported Python that is installed, each in an environment of its own.
# Usage: tools/test_pythons.sh MAIN_PYTHON
# MEMAUDIT_PYTHONS ("3.11 3.12 3.13" by default) names the versions to look for.
set -euo pipefail
main=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
tested=$main missing=""

for version in ${MEMAUDIT_PYTHONS-3.11 3.12 3.13}; do
    [ "$version" != "$main" ] || continue
    if ! python=$(tools/find_python.sh "$version"); then
        missing="$missing $version"
        continue
    fi
    venv=.venv-$version
    if [ ! -e "$venv/.complete" ] || [ requirements.lock -nt "$venv/.complete" ]; then
        tools/make_venv.sh "$venv" "$python"
    fi
    echo "== unit tests on Python $version"
    "$venv/bin/python" -m pytest -n auto tests/unit
    tested="$tested $version"
done
echo "tested on Python: $tested; not installed here:${missing:- none}"
