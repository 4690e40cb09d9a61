# `./dev release --check`: builds and checks what a release publishes. Sourced by ./dev.
#
# The set-up of packages and Python comes from setup.sh. docs/decisions/0119-release.md has the reasons.

release_usage() {
  cat <<'EOF'
usage: ./dev release --check [--tag vX.Y.Z] [--packages DIR]

Checks that VERSION and CHANGELOG.md agree and that the working tree is clean, builds all packages by `./dev wheels`, checks their
metadata, and writes SBOM files (SPDX) and SHA256SUMS beside them. Publishes nothing.

  --tag vX.Y.Z     the version must be X.Y.Z, and CHANGELOG.md must have its section with a date
  --packages DIR   check the packages in DIR instead of building them; default: build them in build/wheels
EOF
}

run_release() {
  local check="" tag="" packages="" built=build/wheels
  while [ $# -gt 0 ]; do
    case $1 in
      --check) check=1 ;;
      --tag) tag=${2:?"--tag takes a tag, for example v0.1.0"}; shift ;;
      --packages) packages=${2:?"--packages takes a folder"}; shift ;;
      -h | --help) release_usage; return ;;
      *) die "release takes --check, --tag TAG and --packages DIR, not '$1'" ;;
    esac
    shift
  done
  [ -n "$check" ] || { release_usage >&2; die "release needs --check: publishing is done by .github/workflows/release.yml"; }
  "${PENSTOCK_PYTHON:-python3}" tools/packages/release_files.py version ${tag:+--tag "$tag"} || exit 1
  local changed
  changed=$(git status --porcelain) || die "git status failed; a release needs a git checkout"
  [ -z "$changed" ] || die "the working tree has changes; commit or remove them:"$'\n'"$changed"
  if [ -n "$packages" ]; then
    [ -d "$packages" ] || die "--packages: '$packages' is not a folder"
    built=$packages
  else
    bash ./dev wheels || die "./dev wheels failed; its message is above"
  fi
  make_venv requirements-release.txt
  "$made/bin/python" -m twine check --strict "$built"/*.whl || die "the metadata of a package is not valid; see the message above"
  "$made/bin/python" tools/packages/release_files.py sbom "$built" || exit 1
  "$made/bin/python" tools/packages/release_files.py sums "$built" || exit 1
  say "the packages in $built are ready to be published"
}
