# Sourced. Reads Debian packages with a private configuration of apt, without a change to the system's.
#
# apt_here FOLDER SUITE... -- TYPE: prepares FOLDER for the suites ("-": those of this system) with packages of TYPE (deb, deb-src)
# from the mirrors that this system uses, and sets APT_CONFIG for the apt commands that follow.
apt_here() {
  local folder suites=() type mirror
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
  shift
  while [ "$1" != -- ]; do suites+=("$1"); shift; done
  type=$2
  mkdir -p "$folder"/{lists/partial,cache/archives/partial,none}
  if [ "${suites[*]}" = - ]; then
    apt-get indextargets --format "$type"' $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian'
  else
    mirror=$(debian_mirror)
    printf "$type $mirror %s main\n" "${suites[@]}"
  fi | sort -u >"$folder/sources.list"
  [ -s "$folder/sources.list" ] || { echo "packages: apt knows no Debian mirror; run apt-get update first" >&2; return 1; }
  cat >"$folder/apt.conf" <<CONF
Dir::Etc::SourceList "$folder/sources.list";
Dir::Etc::SourceParts "$folder/none";
Dir::Etc::Preferences "$folder/none/none";
Dir::Etc::PreferencesParts "$folder/none";
Dir::State::Lists "$folder/lists";
Dir::Cache "$folder/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
APT::Architectures { "$(dpkg --print-architecture)"; "arm64"; };
CONF
  export APT_CONFIG=$folder/apt.conf
  apt-get update -qq
}

# unpack_packages FOLDER ARCHITECTURE SUITE PACKAGE...: unpacks packages of the suite ("-": of this system) in FOLDER. Installs nothing.
unpack_packages() (
  set -e
  mkdir -p "$1/packages"
  folder=$(cd "$1" && pwd) architecture=$2
  apt_here "$folder/apt" "$3" -- "deb [arch=$architecture]"
  cd "$folder/packages"
  apt-get download -qq -o "APT::Architecture=$architecture" "${@:4}"
  for package in *.deb; do dpkg-deb --extract "$package" "$folder"; done
  rm -rf "$folder"/{packages,apt}
)

# Prints the address of the main archive of Debian that this system uses.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' 'Origin: Debian' | awk '$2 == "Debian" {print $1; exit}'
}
