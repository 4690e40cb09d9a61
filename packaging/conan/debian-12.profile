# Builds Penstock with the libraries of Debian 12 (tools/apt-packages.txt) instead of Conan's packages.
include(default)

[settings]
compiler.cppstd=20

[platform_requires]
libcurl/7.88.1
openssl/3.0.19
pugixml/1.13
nlohmann_json/3.11.2
sqlite3/3.40.1
cpp-httplib/0.11.4
re2/20220601
cli11/2.1.2
tomlplusplus/3.3.0
xxhash/0.8.1
