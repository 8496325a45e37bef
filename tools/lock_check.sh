#!/usr/bin/env bash
# Check that requirements.lock resolves, with its hashes, for Python 3.11, 3.12 and 3.13, installed here or not.
# Usage: tools/lock_check.sh PYTHON [--if-online]
# Nothing is installed. With --if-online it says so and succeeds where the package registry is out of reach.
set -euo pipefail
python=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! tools/make_uv.sh "$python" 2>"$scratch/why"; then
    if [ "${2:-}" = --if-online ]; then
        echo "lock file: resolution NOT checked, no package registry in reach: $(tail -n 1 "$scratch/why")"
        exit 0
    fi
    cat "$scratch/why" >&2
    exit 1
fi
for version in 3.11 3.12 3.13; do
    # connection-pool (a dependency of snakemake) and jsonpath-rw (of mlcroissant) are published as source only.
    .cache/uv/bin/uv pip install --quiet --dry-run --require-hashes --python-version "$version" \
        --target "$scratch/$version" --only-binary :all: --no-binary connection-pool --no-binary jsonpath-rw -r requirements.lock
    .cache/uv/bin/uv pip compile --quiet --python-version "$version" --all-extras \
        --constraint requirements.lock pyproject.toml >"$scratch/resolved"
    echo "lock file: resolves for Python $version"
done
