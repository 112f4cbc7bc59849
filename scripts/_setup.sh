# Sourced by the scripts that need the workspace: brings uv if the machine has none and makes .venv match uv.lock.
# Needs bash, git and Python 3.11+ with venv. Sets ROOT and exports UV. Quiet unless something is installed.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
HB_UV_VERSION=0.13.9
HB_SETUP_SECONDS=900

hb_die() {
  echo "setup: $*" >&2
  exit 1
}

# hb_bounded SECONDS COMMAND...: run it with a deadline; a signal to us ends it and then us.
hb_bounded() {
  local seconds=$1 pid code=0 signum=0
  shift
  if command -v timeout >/dev/null; then
    timeout --kill-after=10 "$seconds" "$@" &
  else
    "$@" & # no coreutils (macOS): uv and pip bound their own network waits
  fi
  pid=$!
  trap 'signum=130; kill -TERM "$pid" 2>/dev/null' INT
  trap 'signum=143; kill -TERM "$pid" 2>/dev/null' TERM HUP
  wait "$pid" || code=$?
  while kill -0 "$pid" 2>/dev/null; do # a signal ended the wait above, not yet the command
    code=0
    wait "$pid" || code=$?
  done
  trap - INT TERM HUP
  [ "$signum" = 0 ] || exit "$signum"
  [ "$code" != 124 ] || echo "setup: gave up after $seconds s: $*" >&2
  return "$code"
}

hb_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  return 1
}

# A uv on PATH serves if it is new enough for our lock file; otherwise a pinned one goes to .cache/tools.
hb_find_uv() {
  local tools=$ROOT/.cache/tools python staging
  UV=$(command -v uv || true)
  if [ -n "$UV" ] && "$UV" version --project "$ROOT" >/dev/null 2>&1; then return; fi
  UV=$tools/uv-$HB_UV_VERSION/bin/uv
  if [ -x "$UV" ]; then return; fi
  python=$(hb_python) || hb_die "Python 3.11 or newer was not found on PATH. Install it and run this again."
  echo "setup: installing uv $HB_UV_VERSION into .cache/tools" >&2
  mkdir -p "$tools"
  staging=$(mktemp -d "$tools/staging.XXXXXX")
  hb_bounded "$HB_SETUP_SECONDS" "$python" -m venv "$staging" ||
    hb_die "'$python -m venv' failed. On Debian: apt-get install python3-venv."
  hb_bounded "$HB_SETUP_SECONDS" "$staging/bin/python" -m pip install --quiet --disable-pip-version-check \
    "uv==$HB_UV_VERSION" || hb_die "pip could not install uv $HB_UV_VERSION. Check the network and run this again."
  # Moved into place when whole, so that two first runs cannot meet in half an installation. uv is a plain binary.
  mkdir -p "$tools/uv-$HB_UV_VERSION/bin"
  mv -f "$staging/bin/uv" "$UV"
  rm -rf "$staging"
}

hb_find_uv
export UV
hb_bounded "$HB_SETUP_SECONDS" "$UV" sync --quiet --locked --project "$ROOT" ||
  hb_die "'uv sync --locked' failed, so nothing was run. Its message is above."
