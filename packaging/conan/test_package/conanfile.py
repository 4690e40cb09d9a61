"""Builds and runs tests/package/consumer with the package, as a user would."""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class PenstockTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain", "PkgConfigDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    @property
    def _has_emulator(self):  # the program starts one
        return self.dependencies["penstock"].options.emulator

    def build(self):
        if not self._has_emulator:
            return
        cmake = CMake(self)
        cmake.configure(build_script_folder=str(Path(self.recipe_folder).resolve().parents[2] / "tests/package/consumer"))
        cmake.build()

    def test(self):
        if self._has_emulator and can_run(self):
            self.run(str(Path(self.build_folder, "consumer")), env="conanrun")
