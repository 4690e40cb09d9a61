"""Prints a script that completes the options of `penstock-emulator` in a shell, from `penstock-emulator --help`.

./dev python tools/emulator_completion.py bash|zsh|fish
"""

from __future__ import annotations

import sys

from emulator_options import Option, help_text, options

FILES = {
    "config",
    "admin-token-file",
    "secret-key-file",
    "users",
    "faults",
    "limits",
    "tls-cert",
    "tls-key",
    "event-sink-ca",
    "log",
    "diagnostic-log",
}
DIRECTORIES = {"data"}
# Values that --help does not list as choices, because others are possible too.
VALUES = {"limits": ("aws-standard", "aws-strict", "aws-express")}

_BASH = """# bash completion for penstock-emulator
_penstock_emulator() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words
  if [[ $current = = ]]; then  # bash splits --option=value
    current=
  elif [[ $previous = = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  COMPREPLY=()
  if [[ ${{COMP_WORDS[1]}} = fsck ]]; then
    if [[ $current = -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "{fsck}" -- "$current")
    else
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
    fi
    return
  fi
  if [[ ${{COMP_WORDS[1]}} = health ]]; then
    mapfile -t COMPREPLY < <(compgen -W "{health}" -- "$current")
    return
  fi
  case $previous in
{cases}
  esac
  words="{options}"
  [[ $COMP_CWORD = 1 ]] && words+=" fsck health"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -F _penstock_emulator penstock-emulator
"""
_BASH_CASE = """    {names})
      {action}
      return ;;"""

_ZSH = """#compdef penstock-emulator
if [[ $words[2] == fsck ]]; then
  _arguments '1:command:(fsck)' '2:directory:_files -/' {fsck}
elif [[ $words[2] == health ]]; then
  _arguments '1:command:(health)' {health}
else
  _arguments '::command:(fsck health)' {options}
fi
"""


def _words(found: list[Option]) -> str:
    return " ".join(["--help", *(f"--{option.name}" for option in found)])


def bash(main: list[Option], fsck: list[Option], health: list[Option]) -> str:
    actions: dict[str, list[str]] = {}
    for option in main:
        steps = []
        if values := option.choices or VALUES.get(option.name):
            steps.append(f'mapfile -t COMPREPLY < <(compgen -W "{" ".join(values)}" -- "$current")')
        if option.name in FILES | DIRECTORIES:
            kind = "d" if option.name in DIRECTORIES else "f"
            steps += ["compopt -o filenames 2> /dev/null"]
            steps += [f'mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -{kind} -- "$current")']
        if option.value:
            actions.setdefault("\n      ".join(steps) or ":", []).append(f"--{option.name}")
    cases = "\n".join(_BASH_CASE.format(names="|".join(names), action=action) for action, names in actions.items())
    return _BASH.format(cases=cases, options=_words([*main, _VERSION]), fsck=_words(fsck), health=_words(health))


def zsh(main: list[Option], fsck: list[Option], health: list[Option]) -> str:
    def quoted(option: Option) -> str:
        meaning = "".join(f"\\{each}" if each in "[]:\\" else each for each in option.meaning)
        values = option.choices or VALUES.get(option.name, ())
        action = " "
        if option.name in FILES | DIRECTORIES:
            action = "_files -/" if option.name in DIRECTORIES else "_files"
        elif values:
            action = f"({' '.join(values)})"
        repeats = "*" if option.is_repeatable else ""
        equals, value = ("=", f":{option.value.lower()}:{action}") if option.value else ("", "")
        return "'" + f"{repeats}--{option.name}{equals}[{meaning}]{value}".replace("'", "'\\''") + "'"

    def lines(found: list[Option]) -> str:
        return " \\\n    ".join(map(quoted, found))

    return _ZSH.format(options=lines([*main, _HELP, _VERSION]), fsck=lines([*fsck, _HELP]), health=lines([*health, _HELP]))


def fish(main: list[Option], fsck: list[Option], health: list[Option]) -> str:
    lines = [
        "complete -c penstock-emulator -f -n __fish_is_first_token -a fsck -d 'check a data directory'",
        "complete -c penstock-emulator -f -n __fish_is_first_token -a health -d 'check that an emulator serves'",
        "complete -c penstock-emulator -f",
        "complete -c penstock-emulator -n '__fish_seen_subcommand_from fsck' -a '(__fish_complete_directories)'",
    ]
    for condition, found in (
        ("not __fish_seen_subcommand_from fsck health", [*main, _VERSION]),
        ("__fish_seen_subcommand_from fsck", fsck),
        ("__fish_seen_subcommand_from health", health),
    ):
        for option in [*found, _HELP]:
            values = " ".join(option.choices or VALUES.get(option.name, ()))
            if option.name in DIRECTORIES:
                values = "(__fish_complete_directories)"
            kind = " -r -F" if option.name in FILES else " -x" if option.value else ""
            more = f" -a '{values}'" if values else ""
            meaning = option.meaning.replace("\\", "\\\\").replace("'", "\\'")
            lines.append(f"complete -c penstock-emulator -n '{condition}' -l {option.name}{kind}{more} -d '{meaning}'")
    return "\n".join(lines) + "\n"


_HELP = Option("help", "", (), "", False, "print the options")
_VERSION = Option("version", "", (), "", False, "print the version")
SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def script(shell: str) -> str:
    """Returns the script for a shell, one of `SHELLS`."""
    return SHELLS[shell](*(options(help_text(*words)) for words in ((), ("fsck",), ("health",))))


if __name__ == "__main__":
    if sys.argv[1:] not in [[shell] for shell in SHELLS]:
        sys.exit(f"usage: emulator_completion.py {'|'.join(SHELLS)}")
    print(script(sys.argv[1]), end="")
