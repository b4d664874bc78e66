"""Gets packages of Debian without installing them: binaries with the libraries that are missing here, and sources.

They come from wherever this computer gets its packages; its own configuration stays as it is.
"""

import re
import subprocess
from pathlib import Path


class Missing(Exception):
    """A package cannot be had."""


def call(command, folder, log):
    """Runs a command; what it says goes to a log."""
    with open(log, "ab") as said:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False)
    if done.returncode != 0:
        last = Path(log).read_text(errors="replace").strip().splitlines()[-1:]
        raise Missing(f"{command[0]} failed: {' '.join(last)} (see {log})")


def unpack_binaries(names, folder):
    """Unpacks packages, and those that they depend on and that are not installed, into `folder`; gives the folder."""
    done = folder / ".packages"
    if done.exists() and done.read_text().split() == list(names):
        return folder
    cache = folder.with_name(folder.name + ".cache")
    (cache / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    log = cache / "log"
    options = ["-o", f"Dir::Cache={cache}", "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User="]
    call(["apt-get", *options, "-y", "--no-install-recommends", "--download-only", "install", *names], cache, log)
    # Those that are installed here already come by name.
    found = {file.name.split("_")[0] for file in (cache / "archives").glob("*.deb")}
    if rest := [name for name in names if name not in found]:
        call(["apt-get", *options, "download", *rest], cache / "archives", log)
    for file in sorted((cache / "archives").glob("*.deb")):
        call(["dpkg", "-x", str(file), str(folder)], cache, log)
        file.unlink()
    done.write_text(" ".join(names))
    return folder


def source_lists(scratch):
    """Options of apt-get that make it find sources: the lists of this computer, with `deb-src` for `deb`."""
    parts, lists = scratch / "parts", scratch / "lists"
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}"]
    options += ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={scratch / 'cache'}", "-o", "APT::Sandbox::User="]
    if lists.exists():
        return options
    (scratch / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    parts.mkdir(exist_ok=True)
    for file in Path("/etc/apt/sources.list.d").glob("*.sources"):
        (parts / file.name).write_text(re.sub(r"(?m)^Types:.*", "Types: deb-src", file.read_text()))
    for file in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")]:
        if file.exists():
            lines = re.findall(r"(?m)^deb( .*)", file.read_text())
            (parts / f"{file.stem}.list").write_text("".join(f"deb-src{line}\n" for line in lines))
    (lists / "partial").mkdir(parents=True)
    call(["apt-get", *options, "-qq", "update"], scratch, scratch / "log")
    return options


def fetch_source(name, scratch):
    """The file of a package's sources as their authors published them."""
    scratch.mkdir(parents=True, exist_ok=True)
    found = sorted(scratch.glob(f"{name}_*.orig.tar.*"))
    if not found:
        options = source_lists(scratch)
        call(["apt-get", *options, "-qq", "source", "--tar-only", "--download-only", name], scratch, scratch / "log")
        found = sorted(scratch.glob(f"{name}_*.orig.tar.*"))
    if not found:
        raise Missing(f"no sources of {name} came")
    return found[0]


def unpack_source(name, scratch, folder):
    """Unpacks the sources of a package anew; gives the folder that holds them."""
    file = fetch_source(name, scratch)
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir(parents=True)
    call(["tar", "-xf", str(file), "--strip-components=1"], folder, scratch / "log")
    return folder
