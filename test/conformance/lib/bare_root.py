# bare_root.py - Runs a Python program where there is nothing but Python
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A root folder with the base interpreter, its standard library and the shared libraries that
# these need, and chosen folders bound into it, in a mount namespace of its own. Where the
# system permits no namespaces, the program runs in the ordinary root; callers are told which.
"""A root folder like that of a bare container, for tests of what is installed."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

BASE = pathlib.Path(os.path.realpath(sys._base_executable))
STDLIB = pathlib.Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))

# What manylinux promises of every Linux.
PLATFORM = re.compile(r"(ld-linux|lib(c|m|dl|rt|pthread|util|resolv|nsl|gcc_s|stdc\+\+)\.so)")

ENTER = """
set -e
root=$1; shift
while [ "$1" != -- ]; do
  mkdir -p "$root$1"
  mount --rbind "$1" "$root$1"
  shift
done
shift
exec chroot "$root" "$@"
"""


def needed_by(files):
    """Paths, as ldd prints them, of all shared libraries that files need."""
    done = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True)
    return {pathlib.Path(path) for path in re.findall(r"(?:=> |^\s)(/\S+) \(0x", done.stdout, re.M)}


@functools.cache
def of_python():
    """The libraries of the interpreter, of its standard library, and those of every Linux."""
    modules = [path for path in (STDLIB / "lib-dynload").glob("*.so") if not path.name.startswith("_tkinter")]
    found = needed_by([BASE, *modules])
    system = next(path.parent for path in found if path.name == "libc.so.6")
    found.update(path for path in system.iterdir() if PLATFORM.match(path.name) and re.search(r"\.so\.\d+$", path.name))
    return frozenset(found)


@functools.cache
def namespace():
    """The command that gives a mount namespace; None if there may be none."""
    for flags in (["--mount"], ["--mount", "--map-root-user"]):
        command = ["unshare", *flags]
        probe = [*command, "sh", "-c", "mount --rbind /proc /mnt && chroot / true"]
        if shutil.which("unshare") and subprocess.run(probe, capture_output=True).returncode == 0:
            return command
    return None


def make(root):
    """Fills an empty folder with what a root has."""
    for name in ("lib", "lib64"):
        if os.path.islink(f"/{name}"):
            (root / os.readlink(f"/{name}")).mkdir(parents=True)
            (root / name).symlink_to(os.readlink(f"/{name}"))
    for path in (BASE, *of_python()):
        copy = root / path.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def run(root, folders, *command, env):
    """Runs a command that sees only the root and these folders; where that cannot be, that sees everything."""
    if namespace():
        seen = sorted({str(path) for path in (*folders, STDLIB, "/proc", "/dev")})
        command = [*namespace(), "sh", "-c", ENTER, "enter", root, *seen, "--", *command]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, env=env)
