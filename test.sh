#!/usr/bin/env bash
# Checks and tests everything, from a fresh clone: needs Python >= 3.11 and bash. The last line says what passed.
# Arguments go to pytest, as in `bash test.sh tests/client -x`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

make_environment .venv-test test
python=$PWD/.venv-test/bin/python
# The tests start services of their own in folders of their own: nothing of the user's service may reach them.
for name in $(compgen -e SVC_ || true); do unset "$name"; done

failed=""
check() {
  local name=$1
  shift
  say "$name"
  "$@" || failed="$failed, $name"
}
check "ruff check" "$python" -m ruff check .
check "ruff format" "$python" -m ruff format --check .
check "mypy" "$python" -m mypy
check "import-linter" "$python" -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

# The JupyterLab extension, with the yarn and the Node.js of the environment.
lab() { (cd labextension && PATH="$(dirname "$python"):$PATH" jlpm "$@"); }
check "packages of the JupyterLab extension" lab install --immutable
check "eslint" lab lint
check "prettier" lab format:check
check "tsc" lab types
check "jest" lab test

# The browser tests drive the machine's Chromium, or Chrome.
find_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable; }
say "browser"
if ! find_browser; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null || true
  fi
  find_browser || die "the browser tests need Chromium or Chrome on the path, and it could not be installed here.
  Debian: sudo apt install chromium     Fedora: sudo dnf install chromium     elsewhere: https://www.google.com/chrome/"
fi

# Programs, notebooks and environments of R are tested with the machine's R, and a compiler for packages that hold C.
find_r() { command -v Rscript && command -v gcc && command -v make && Rscript -e 'invisible(loadNamespace("IRkernel"))'; }
say "R"
if ! find_r; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends r-base-core r-cran-irkernel gcc libc6-dev make >/dev/null || true
  fi
  find_r || die "the tests need R with its package IRkernel, gcc and make on the path, and they could not be installed here.
  Debian: sudo apt install r-base-core r-cran-irkernel gcc libc6-dev make
  elsewhere: R from https://www.r-project.org/, then install.packages('IRkernel')"
fi

# Services whose clock is set while they run: with a library that is preloaded into them, never the machine's own.
find_faketime() { "$python" -c 'from tests.support.stepped_clock import library; print(library())' 2>/dev/null; }
say "libfaketime"
if ! find_faketime; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends libfaketime >/dev/null || true
  fi
  find_faketime || die "the tests of stepped clocks need libfaketime, and it could not be installed here.
  Debian: sudo apt install libfaketime     Fedora: sudo dnf install libfaketime"
fi

say "engines (installed once, into the user's cache folder)"
"$python" -m svc_jupyter engines install all || die "the tests need them; svc-jupyter engines doctor says what is wrong"

say "pytest"
# Real daemons on a busy machine: a test that fails is run once more, and told as rerun; one that fails twice has failed.
code=0
"$python" -m pytest -n auto --dist loadgroup --reruns 1 "$@" || code=$?
[ -z "$failed" ] || die "failed before the tests: ${failed#, }"
exit "$code"
