#!/usr/bin/env bash
# Put uv, the tool that makes and checks the lock file, into an environment of its own: .cache/uv.
# Usage: tools/make_uv.sh PYTHON
set -euo pipefail
[ ! -x .cache/uv/bin/uv ] || exit 0
"$1" -m venv --clear .cache/uv
.cache/uv/bin/python -m pip --quiet --disable-pip-version-check --no-input --timeout 20 --retries 1 install uv
