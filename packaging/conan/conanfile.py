"""Conan 2 recipe of Penstock's C++ libraries. Builds the checkout that contains it (README.md of this folder).

Consumers use find_package(penstock COMPONENTS ...) with the configuration files that `cmake --install` writes, as without Conan.
"""

import shutil
from pathlib import Path
from typing import ClassVar

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps

FILES = ("CMakeLists.txt", "LICENSE", "VERSION", "docs/faults.schema.json", "docs/limits.schema.json", "docs/users.schema.json")
FOLDERS = ("base", "client", "cmake", "emulator", "packaging/debian")  # the last: the build configures a Debian package


class PenstockRecipe(ConanFile):
    name = "penstock"
    package_type = "library"
    description = "S3 client in C++, and an S3 emulator for tests"
    license = "Apache-2.0"
    topics = ("s3", "aws", "object-storage", "emulator")
    settings = "os", "arch", "compiler", "build_type"
    options: ClassVar = {"shared": [True, False], "emulator": [True, False]}
    default_options: ClassVar = {"shared": False, "emulator": True}

    def set_version(self):
        self.version = (self._checkout / "VERSION").read_text().strip()

    @property
    def _checkout(self) -> Path:
        return Path(self.recipe_folder).resolve().parents[1]

    def export_sources(self):
        for name in FILES:  # not copy(), which would search the checkout with its build folders
            target = Path(self.export_sources_folder, name)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(self._checkout / name, target)
        for name in FOLDERS:
            copy(self, "*", self._checkout / name, Path(self.export_sources_folder, name))

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Penstock builds on Linux only")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("libcurl/[>=7.88 <9]")
        self.requires("openssl/[>=3.0 <4]")
        self.requires("pugixml/[>=1.13 <2]")
        self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
        if self.options.emulator:
            self.requires("sqlite3/[>=3.40 <4]")
            self.requires("cpp-httplib/[>=0.11]")
            self.requires("re2/[>=20220601]")
            self.requires("cli11/[>=2.1 <3]", visible=False)
            self.requires("tomlplusplus/[>=3.3 <4]", visible=False)
            self.requires("xxhash/[>=0.8 <1]", visible=False)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["PENSTOCK_TESTS"] = False
        toolchain.cache_variables["PENSTOCK_EMULATOR"] = bool(self.options.emulator)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        CMake(self).install(component="cpp")

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package has penstockConfig.cmake
        self.cpp_info.builddirs = ["lib/cmake/penstock"]
        self.cpp_info.libs = []
