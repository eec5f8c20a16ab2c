# shellcheck shell=bash
# Sourced by quickstart.sh and test.sh: finds a Python and creates a virtual environment with the package.

# Without bytecode files every process compiles its imports: a service would start in 2.5 s instead of 1.
unset PYTHONDONTWRITEBYTECODE

say() { printf '\n==> %s\n' "$*"; }

die() {
  printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Print the path of a Python >= 3.11: the one of $PYTHON, else the first on the path.
find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11)); ' >/dev/null 2>&1; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  die "needs Python 3.11 or newer, and there is none on the path ($(python3 --version 2>/dev/null || echo "no python3 at all")).
  Debian, Ubuntu: sudo apt install python3 python3-venv     Fedora: sudo dnf install python3
  macOS: brew install python3     elsewhere: https://www.python.org/downloads/
  One that is not on the path is named by PYTHON=/path/to/python3 bash $(basename "$0")"
}

# Print the sources of the package that an editable installation does not pick up by itself.
build_inputs() {
  cat pyproject.toml locks/*.txt hatch_*.py javascript.lock.json
  (cd labextension && LC_ALL=C find package.json rspack.config.js yarn.lock schema src style -type f ! -name '*.spec.*' -exec cksum {} + | sort)
}

# make_environment FOLDER EXTRA
# Install the package of this folder, editable, with one of its extras. Fast when nothing has changed.
make_environment() {
  local folder=$1 extra=$2 python wanted
  python=$(find_python) || exit 1
  wanted="$PWD $extra $("$python" --version) $(build_inputs | cksum)"
  if "$folder/bin/python" -c 'import svc_jupyter' >/dev/null 2>&1 && [ "$(cat "$folder/made-from" 2>/dev/null)" = "$wanted" ]; then
    say "environment $folder is there"
    return
  fi
  say "environment $folder with $("$python" --version): installing (a few minutes the first time)"
  if [ -e "$folder" ] && ! "$folder/bin/python" -c '' >/dev/null 2>&1; then
    [ -e "$folder/pyvenv.cfg" ] || die "$folder is in the way and is no virtual environment: move it"
    rm -rf "$folder"
  fi
  install_locked "$python" "$folder" "$extra"
  printf '%s\n' "$wanted" >"$folder/made-from"
}

# newest_environment FOLDER EXTRA
# The same with the newest versions that pyproject.toml allows today instead of those of the locks.
newest_environment() {
  local folder=$1 extra=$2 python
  python=$(find_python) || exit 1
  say "environment $folder with $("$python" --version) and the newest versions that pyproject.toml allows"
  make_venv "$python" "$folder"
  uv_settings "$(find_uv "$folder")" pip install --compile-bytecode --upgrade --python "$folder/bin/python" \
    --editable ".[$extra]" || cannot_install
}

# Print the path of uv: the machine's, else the one in the environment FOLDER.
find_uv() { command -v uv || printf '%s\n' "$PWD/$1/bin/uv"; }

# Run uv with pip's settings for a mirror and its certificate, under uv's names.
uv_settings() (
  [ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"
  [ -z "${PIP_FIND_LINKS:-}" ] || export UV_FIND_LINKS="${UV_FIND_LINKS:-$PIP_FIND_LINKS}"
  [ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"
  exec "$@"
)

# Make a virtual environment in FOLDER, with uv in it where the machine has none.
make_venv() {
  local python=$1 folder=$2
  if ! [ -x "$folder/bin/python" ]; then
    if command -v uv >/dev/null; then
      uv venv --quiet --python "$python" "$folder" || die "no virtual environment could be made in $PWD/$folder: see above"
    else
      "$python" -c 'import venv, ensurepip' 2>/dev/null || die "this Python makes no virtual environments. Do one of:
  Debian, Ubuntu: sudo apt install python3-venv     elsewhere: install uv (https://docs.astral.sh/uv/)"
      "$python" -m venv "$folder" || die "no virtual environment could be made in $PWD/$folder: see above"
    fi
  fi
  [ -x "$(find_uv "$folder")" ] ||
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/uv.txt || cannot_install
}

# Install the package editable into FOLDER, with the versions that the lock of EXTRA says (scripts/lock.sh renews it).
install_locked() {
  local python=$1 folder=$2 extra=$3 uv
  make_venv "$python" "$folder"
  uv=$(find_uv "$folder")
  uv_settings "$uv" pip install --compile-bytecode --python "$folder/bin/python" --require-hashes \
    --build-constraints locks/build.txt -r "locks/$extra.txt" || cannot_install
  uv_settings "$uv" pip install --python "$folder/bin/python" --build-constraints locks/build.txt --no-deps --editable . ||
    cannot_install
}

cannot_install() {
  die "the installation failed: see above.
  No network? A proxy is set by HTTPS_PROXY, a mirror by PIP_INDEX_URL, a certificate of your own by SSL_CERT_FILE
  and, for npm, NODE_EXTRA_CA_CERTS. What is downloaded already is kept: run $(basename "$0") again."
}
