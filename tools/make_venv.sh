#!/usr/bin/env bash
# Make the virtual environment FOLDER with PYTHON, hold exactly what requirements.lock says, and link the library.
# Usage: tools/make_venv.sh FOLDER PYTHON
# The stamp file is written last: an install that was interrupted does not count, and is done again from nothing.
set -euo pipefail
folder=$1 python=$2

if ! version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); then
    echo "error: $python does not run; install Python 3.11, 3.12 or 3.13, or say where it is: make PYTHON=..." >&2
    exit 1
fi
case $version in
3.11 | 3.12 | 3.13) ;;
*)
    echo "error: $python is Python $version; memaudit needs 3.11, 3.12 or 3.13: make PYTHON=..." >&2
    exit 1
    ;;
esac

# --clear would empty the folder that a link leads to, which others may use.
[ ! -L "$folder" ] || { echo "error: $folder is a symbolic link; remove it, or touch $folder/.complete" >&2; exit 1; }
echo "setting up $folder (Python $version, about a minute) ..."
"$python" -m venv --clear "$folder"
# connection-pool (a dependency of snakemake) and jsonpath-rw (of mlcroissant) are published as source only.
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --require-hashes --only-binary=:all: --no-binary=connection-pool,jsonpath-rw -r requirements.lock
"$folder/bin/python" tools/link_package.py
touch "$folder/.complete"
