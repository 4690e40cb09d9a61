"""Writes the man pages and completion scripts of a distribution, for wheels and for the Debian package.

    install_manuals.py penstock|penstock-emulator PREFIX    PREFIX/share/man, ...; imports the packages of the distribution
    install_manuals.py --debian PREFIX                      those of the Debian package, which has no Python

For penstock-emulator, PENSTOCK_BUILD_DIR names the build folder that has the program.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import emulator_completion
import man_pages

COMPLETIONS = {
    "bash": "bash-completion/completions/penstock-emulator",
    "zsh": "zsh/site-functions/_penstock-emulator",
    "fish": "fish/vendor_completions.d/penstock-emulator.fish",
}
DEBIAN_ZSH = "zsh/vendor-completions/_penstock-emulator"


def pages_of(distribution: str) -> list[man_pages.Page]:
    if distribution == "penstock":
        return man_pages.client_pages()
    return man_pages.emulator_pages() + ([] if distribution == "--debian" else man_pages.added_pages(distribution))


def install(distribution: str, prefix: Path) -> None:
    manuals = prefix / "share/man/man1"
    man_pages.write(manuals, pages_of(distribution))
    if distribution == "--debian":
        for page in manuals.glob("*.1"):
            page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
            page.unlink()
    if distribution == "penstock":
        return  # `penstock completion` prints a script that belongs to the environment
    for shell, name in (COMPLETIONS | ({"zsh": DEBIAN_ZSH} if distribution == "--debian" else {})).items():
        target = prefix / "share" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(emulator_completion.script(shell))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("penstock", "penstock-emulator", "--debian"):
        sys.exit("usage: install_manuals.py penstock|penstock-emulator|--debian PREFIX")
    install(sys.argv[1], Path(sys.argv[2]))
