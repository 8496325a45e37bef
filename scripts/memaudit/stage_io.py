"""What a stage's files say of where they come from: one hash of the stage's inputs, one of its code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .manifest_io import sha256


def stage_metadata(inputs: Iterable[str | Path], params: Mapping[str, Any]) -> dict[str, str]:
    """Metadata for `write_table`: input_hash (contents of `inputs` in order, and `params`) and code_hash.

    `params` are a job's own parameters, with its code hash under "code"; paths take no part, so that the
    same input gives the same bytes wherever it lies.
    """
    own = {name: value for name, value in params.items() if name != "code"}
    digest = hashlib.sha256(json.dumps(own, sort_keys=True, default=list).encode())
    for path in inputs:
        digest.update(sha256(path).encode())
    return {"input_hash": digest.hexdigest(), "code_hash": params["code"]}
