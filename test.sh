#!/usr/bin/env bash
# Checks and tests everything, from a fresh clone: needs Python >= 3.11 and bash. The last line says what passed.
# `bash test.sh --fast` takes minutes: it leaves out the tests marked engine, browser or slow (see pyproject.toml), and
# installs nothing but the environment. Other arguments go to pytest, as in `bash test.sh tests/client -x`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

# Everything, or the fast loop.
selection=()
if [ "${1:-}" = --fast ]; then
  selection=(-m "not engine and not browser and not slow")
  # None of these folders has a test for it: collecting them takes as long as a hundred tests.
  selection+=(--ignore=tests/browser --ignore=tests/integration --ignore=tests/notebooks)
  shift
fi

make_environment .venv-test test
python=$PWD/.venv-test/bin/python
# The tests start services of their own in folders of their own: nothing of the user's service may reach them.
for name in $(compgen -e SVC_ || true); do unset "$name"; done

# Built meanwhile, once; without a C compiler later, when one has been installed.
build=""
if [ ${#selection[@]} = 0 ] && command -v gcc >/dev/null; then
  "$python" -m scripts.check_prose --only-build >/dev/null 2>&1 &
  build=$!
fi

# check NAME COMMAND…: remembers the name of a check that fails.
checks=$(mktemp -d)
check() {
  local name=$1
  shift
  say "$name"
  "$@" || printf ', %s' "$name" >>"$checks/failed"
}
# The JupyterLab extension, with the yarn and the Node.js of the environment.
lab() { (cd labextension && PATH="$(dirname "$python"):$PATH" jlpm "$@"); }
check_extension() {
  check "packages of the JupyterLab extension" lab install --immutable
  check "eslint" lab lint
  check "prettier" lab format:check
  check "tsc" lab types
  check "jest" lab test
}
# Each check keeps one processor busy, so those of the extension run beside those of the package.
check_extension >"$checks/extension" 2>&1 &
extension=$!
trap 'jobs -p | xargs -r kill; rm -rf "$checks"' EXIT
check "ruff check" "$python" -m ruff check .
check "ruff format" "$python" -m ruff format --check .
check "mypy" "$python" -m mypy
check "import-linter" "$python" -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
wait "$extension"
cat "$checks/extension"

# provide NAME FIND PACKAGES ADVICE: what the tests marked engine or browser use. FIND succeeds when it is there; root on
# Debian gets PACKAGES installed, everybody else the advice.
provide() {
  say "$1"
  "$2" && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2086 # several packages
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $3 >/dev/null || true
  fi
  "$2" || die "the tests need $1 on the path, and it could not be installed here.
  Debian: sudo apt install $3
  elsewhere: $4"
}
find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable; }
# A compiler for packages of R that hold C.
find_r() { command -v Rscript && command -v gcc && command -v make && Rscript -e 'invisible(loadNamespace("IRkernel"))'; }
# Sets the clock of services while they run: preloaded into them, the machine's own clock stays as it is.
find_faketime() { "$python" -c 'from tests.support.stepped_clock import library; print(library())' 2>/dev/null; }

if [ ${#selection[@]} = 0 ]; then
  provide "Chromium or Chrome" find_browser chromium "https://www.google.com/chrome/"
  provide "R with its package IRkernel, gcc and make" find_r "r-base-core r-cran-irkernel gcc libc6-dev make" \
    "R from https://www.r-project.org/, then install.packages('IRkernel')"
  [ -z "$build" ] || wait "$build" || true
  check "vale (built once, into the user's cache folder)" "$python" -m scripts.check_prose
  provide libfaketime find_faketime libfaketime "https://github.com/wolfcw/libfaketime"
  say "engines (installed once, into the user's cache folder)"
  "$python" -m svc_jupyter engines install all || die "the tests need them; svc-jupyter engines doctor says what is wrong"
fi

# The fast tests' databases and services commit all the time: where memory has room, they wait for no disk.
has_room() {
  [ -w "$1" ] && [ "$(df -Pk "$1" | awk 'NR == 2 { print $4 }')" -gt 2000000 ] && ! grep -q " $1 .*noexec" /proc/mounts
}
if [ ${#selection[@]} != 0 ] && [ -z "${TMPDIR:-}" ] && has_room /dev/shm; then
  export TMPDIR=/dev/shm
  selection+=(-o tmp_path_retention_policy=failed)
fi
# One worker more than there are processors: a test often waits for a process that it started.
workers=$(($(getconf _NPROCESSORS_ONLN) + 1))

say "pytest"
# Real daemons on a busy machine: a test that fails is run once more, and reported as rerun; one that fails twice has failed.
code=0
"$python" -m pytest -n "$workers" --dist loadgroup --reruns 1 ${selection[@]+"${selection[@]}"} "$@" || code=$?
[ ! -s "$checks/failed" ] || die "failed before the tests: $(cut -c3- "$checks/failed")"
exit "$code"
