#!/usr/bin/env bash
# Checks and tests the project from a fresh clone: needs Python >= 3.11 and bash. The last lines say what passed.
#
#   bash test.sh           the gate: all checks, the fast tests, one real path per part; nothing is run twice
#   bash test.sh --fast    for somebody who edits: all checks, the tests without service, database server, engine, browser
#   bash test.sh --all     everything: all engines, all browser views, R, both databases, prose, documentation
#   bash test.sh --all --newest
#                          the same with the newest versions that pyproject.toml allows, instead of the locked ones
#   bash test.sh --campaign [MINUTES]
#                          services under load are killed and lose their database, disk or clock, again and again for
#                          that many minutes (one round without), with another seed each round
#
# Other arguments go to pytest, as in `bash test.sh tests/client -x`. CONTRIBUTING.md says which test is in which set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/environment.sh
. scripts/environment.sh
# With the time since the start, which tells where a slow run is.
say() { printf '\n==> %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

selected=gate
minutes=0
case "${1:-}" in
  --all | --fast) selected=${1#--}; shift ;;
  --campaign)
    selected=campaign
    shift
    case "${1:-}" in [1-9]*) minutes=$1; shift ;; esac
    ;;
  --help | -h) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit ;;
esac
versions=locked
if [ "$selected" = all ] && [ "${1:-}" = --newest ]; then
  versions=newest
  shift
fi
whole_set=yes
[ $# = 0 ] || whole_set=no
# Print the hash of the tree, or nothing where a file differs from it.
committed_tree() { [ -n "$(git status --porcelain 2>&1)" ] || git rev-parse 'HEAD^{tree}'; }
tree=$(committed_tree)

if [ "$versions" = newest ]; then
  environment=.venv-newest
  newest_environment "$environment" test
else
  environment=.venv-test
  make_environment "$environment" test
fi
python=$PWD/$environment/bin/python
# The tests start services of their own in folders of their own: nothing of the user's service may reach them.
for name in $(compgen -e SVC_ || true); do unset "$name"; done
# They start services by the hundred, and each would compile the package again.
unset PYTHONDONTWRITEBYTECODE

checks=$(mktemp -d)
trap 'jobs -p | xargs -r kill; rm -rf "$checks"' EXIT
# Made meanwhile, once: the engines, which are downloads most of all, and vale, later where a C compiler is still missing.
engines="" build=""
if [ "$selected" = gate ] || [ "$selected" = all ]; then
  "$python" -m svc_jupyter engines install all >"$checks/engines" 2>&1 &
  engines=$!
fi
if [ "$selected" = all ] && command -v gcc >/dev/null; then
  "$python" -m scripts.check_prose --only-build >/dev/null 2>&1 &
  build=$!
fi

# check NAME COMMAND…: remembers the name of a check that fails.
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
if [ "$selected" != campaign ]; then
  # Each check keeps one processor busy, so those of the extension run beside those of the package.
  check_extension >"$checks/extension" 2>&1 &
  extension=$!
  check "ruff check" "$python" -m ruff check .
  check "ruff format" "$python" -m ruff format --check .
  check "mypy" "$python" -m mypy
  check "import-linter" "$python" -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
  wait "$extension"
  cat "$checks/extension"
fi

# provide NAME FIND PACKAGES ADVICE: what some tests use. FIND succeeds when it is there; root on Debian gets PACKAGES
# installed, everybody else the advice.
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
find_bubblewrap() { "$python" -c 'from svc_jupyter.service.isolation import bubblewrap as b; raise SystemExit(isinstance(b.found(), b.Fault))'; }
find_mariadb() { PATH="$PATH:/usr/sbin" command -v mariadbd && command -v mariadb-install-db; }
find_nginx() { command -v nginx || [ -x /usr/sbin/nginx ]; }

[ -z "$engines" ] || provide "Chromium or Chrome" find_browser chromium "https://www.google.com/chrome/"
if [ "$selected" = all ]; then
  provide "R with its package IRkernel, gcc and make" find_r "r-base-core r-cran-irkernel gcc libc6-dev make" \
    "R from https://www.r-project.org/, then install.packages('IRkernel')"
  provide "bubblewrap, allowed to make namespaces" find_bubblewrap bubblewrap "bubblewrap of the distribution"
  [ -z "$build" ] || wait "$build" || true
  check "vale (built once, into the user's cache folder)" "$python" -m scripts.check_prose
  check "documentation" "$python" -m scripts.make_docs "$checks/docs"
  provide nginx find_nginx nginx-light "https://nginx.org/en/download.html"
  provide "MariaDB's server" find_mariadb mariadb-server "https://mariadb.org/download/"
fi
if [ -n "$engines" ]; then
  say "engines (installed once, into the user's cache folder)"
  installed=0
  wait "$engines" || installed=$?
  cat "$checks/engines"
  [ "$installed" = 0 ] || die "the tests need them; svc-jupyter engines doctor says what is wrong"
fi

options=(--durations 10 --durations-min 1)
case $selected in
  gate)
    options+=(-m "not all" --hypothesis-profile gate)
    ;;
  fast)
    options+=(-m "not all and not gate and not service")
    # None of these folders has a test for it: collecting them takes as long as a hundred tests.
    options+=(--ignore=tests/browser --ignore=tests/integration --ignore=tests/notebooks --ignore=tests/paths)
    ;;
  all)
    # Real daemons on a busy machine: what fails is run once more, and reported as flaky; what fails twice has failed.
    options+=(-m "not campaign and not gate_only" --reruns 1)
    ;;
  campaign)
    options+=(-m campaign)
    ;;
esac
# Databases and services of tests commit all the time: where memory has room, they wait for no disk.
has_room() {
  [ -w "$1" ] && [ "$(df -Pk "$1" | awk 'NR == 2 { print $4 }')" -gt "$2" ] && ! grep -q " $1 .*noexec" /proc/mounts
}
if [ "$selected" = fast ] && [ -z "${TMPDIR:-}" ] && has_room /dev/shm 2000000; then
  export TMPDIR=/dev/shm
  options+=(-o tmp_path_retention_policy=failed)
fi
# More workers than processors: a test often waits for a process that it started, of the slow ones the most.
workers=$(($(getconf _NPROCESSORS_ONLN) + 1))
[ "$selected" != all ] || workers=$((workers + 1))

code=0
until=$((SECONDS + minutes * 60))
export CAMPAIGN_SEED=16
while :; do
  say "pytest"
  "$python" -m pytest -n "$workers" --dist loadgroup "${options[@]}" "$@" || code=$?
  [ "$code" = 0 ] && [ "$SECONDS" -lt "$until" ] || break
  CAMPAIGN_SEED=$((CAMPAIGN_SEED + 1))
done
[ ! -s "$checks/failed" ] || die "failed before the tests: $(cut -c3- "$checks/failed")"
[ "$code" = 0 ] || die "tests failed. One of them alone, with what it prints:
  $environment/bin/python -m pytest -n0 -x TEST    with the name after FAILED or ERROR above, as far as the first @"

# The tree that has passed, for a hook before a push (CONTRIBUTING.md).
if [ "$selected$whole_set" = gateyes ] && [ -n "$tree" ] && [ "$(committed_tree)" = "$tree" ]; then
  printf '%s\n' "$tree" >"$(git rev-parse --git-dir)/tested-tree"
fi
case $selected in
  gate) what="the gate: all checks, the fast tests, and one real path of each part" ;;
  fast) what="all checks, and the tests without service, database server, engine and browser" ;;
  all) what="all checks and all tests but the campaigns, with the $versions versions" ;;
  campaign) what="the campaigns, the last one with seed $CAMPAIGN_SEED" ;;
esac
[ "$whole_set" = yes ] || what="what was named of $what"
printf '\n==> passed in %d min %02d s: %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$what"
