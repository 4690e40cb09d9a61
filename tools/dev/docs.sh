# `./dev docs`: builds the documentation site in build/site, or serves it. Sourced by ./dev.

# Creates the environment of the site and exports PENSTOCK_DOCS_PYTHON. Does nothing if Python is older than the site needs.
ensure_docs() {
  "${PENSTOCK_PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || return 0
  make_venv requirements-docs.txt
  export PENSTOCK_DOCS_PYTHON="$made/bin/python"
}

# run_docs [--serve]: a warning of the build is a failure.
run_docs() {
  local log
  case "$#:${1:-}" in
    0: | 1:--serve) ;;
    *) die "docs takes --serve or nothing, not '$*'" ;;
  esac
  ensure_docs
  [ -n "${PENSTOCK_DOCS_PYTHON:-}" ] || die "the documentation site needs Python 3.11 or newer; set PENSTOCK_PYTHON to one"
  [ "${1:-}" != --serve ] || exec "$PENSTOCK_DOCS_PYTHON" -m zensical serve
  command -v doxygen >/dev/null || ensure_packages
  command -v doxygen >/dev/null || die "doxygen is missing, which makes the C++ reference; install Debian's package doxygen"
  log=$(log_file docs)
  rm -rf build/site
  # Zensical's --strict does not count the warnings of docstrings (griffe).
  if ! NO_COLOR=1 "$PENSTOCK_DOCS_PYTHON" -m zensical build --clean --strict >"$log" 2>&1 || grep -Eiq '^griffe: |warning' "$log"; then
    cat "$log" >&2
    die "building the documentation site failed; the warnings are above"
  fi
  doxygen tools/docs/Doxyfile >"$log" 2>&1 || { cat "$log" >&2; die "building the C++ reference failed; the warnings are above"; }
  say "built build/site/index.html"
}
