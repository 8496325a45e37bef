"""The judges that a configuration may name, and the parameters of the proxy as a file (proxy.json beside this module,
made by tools/fit_judge.py)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..natural.strict_json import loads
from ..table_io import write_text
from .judge import FEATURES, Judge, Parameters, Proxy, Score, Vocabulary

# Package data: it goes wherever the library is installed.
SHIPPED = Path(__file__).resolve().parent / "proxy.json"


def proxy_judge(path: str | Path | None = None) -> Proxy:
    """The proxy judge with the parameters that ship, or those of another file of their form.

    Raises InputError where the file is missing, is no such file, or is of other features.
    """
    file = SHIPPED if path is None else Path(path)
    try:
        content = loads(file.read_text("utf-8"))
        parameters = _parameters(content["parameters"])
        return Proxy(parameters, content["provenance"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file}: no parameters of the proxy judge ({error!r}); make them with `make judge`"
        ) from error


# Name in the configuration (config.py) -> how the judge is made, and the file that holds all it knows.
JUDGES: Mapping[str, tuple[Callable[[], Judge], Path]] = {"proxy": (proxy_judge, SHIPPED)}


def judge_named(name: str) -> Judge:
    """A judge of JUDGES; InputError where there is none of that name."""
    if name not in JUDGES:
        raise InputError(f"judge {name!r}: there is none of that name; known: {', '.join(JUDGES)}")
    return JUDGES[name][0]()


def judge_hash(name: str) -> str:
    """sha256 of the file that the judge's word depends on, besides its code."""
    return hashlib.sha256(JUDGES[name][1].read_bytes()).hexdigest()


def _parameters(content: Mapping[str, Any]) -> Parameters:
    if tuple(content["features"]) != FEATURES:
        raise ValueError(f"features {content['features']}, not {list(FEATURES)}")
    any_, full = (_score(content[name]) for name in ("any", "full"))
    vocabulary = Vocabulary(content["vocabulary"]["documents"], content["vocabulary"]["counts"])
    return Parameters(vocabulary, any_, full, content["far"], content["low"])


def _score(content: Mapping[str, Any]) -> Score:
    coefficients = tuple(content["coefficients"][name] for name in FEATURES)
    return Score(content["intercept"], coefficients, content["threshold"])


def write_proxy(path: str | Path, parameters: Parameters, provenance: Mapping[str, Any]) -> None:
    """Write the file that `proxy_judge` reads."""
    content = {"features": list(FEATURES)}
    for name in ("any", "full"):
        score = asdict(getattr(parameters, name))
        content[name] = score | {"coefficients": dict(zip(FEATURES, score["coefficients"], strict=True))}
    content |= {"far": parameters.far, "low": parameters.low}
    text = json.dumps({"provenance": dict(provenance), "parameters": content}, indent=1, ensure_ascii=False)
    # The words on one line: there are many, and nobody reads them one by one.
    words = {"documents": parameters.vocabulary.documents, "counts": dict(parameters.vocabulary.counts)}
    end = "\n }\n}"
    write_text(path, f'{text.removesuffix(end)},\n  "vocabulary": {json.dumps(words, ensure_ascii=False)}{end}\n')
