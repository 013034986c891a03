# SPDX-License-Identifier: GPL-2.0
"""What the repository has of a series: its base, a kernel of which Debian has the source; the mails
of patches/TOPIC, in the order of `series'; and the new files, which stand at their path in the
kernel: `files' says which patch adds which. A line of a list may end with the bases that have it.
patches/TOPIC/BASE is what one base has of its own: mails, which stand for those of the same name,
and `files.patch', which changes new files."""

import difflib
import functools
import re
from types import SimpleNamespace

from hyptrace import process
from hyptrace.machine import BASE, BUILD, MAIN, ROOT, TOOLS, Failure, option

PATCHES = ROOT / "patches"
# Where new files stand
TOPS = "arch", "include", "kernel", "tools", "virt", "Documentation"


@functools.cache
def base(name=BASE):
    """A base's file: package, suite, versions, tests, lists of topics and of an architecture's
    options; and its tree."""
    text = (TOOLS / "bases" / name).read_text("utf-8")
    values = dict.fromkeys(("suite", "arm64", "x86_64", "turns"), "")
    values |= dict(re.findall(r"^(\w+) = (.*)$", text, re.M))
    found = SimpleNamespace(**values, tree=BUILD / "tree")
    found.topics = found.topics.split()
    return found


def bases(topic):
    """All that have a topic, and this one."""
    names = (path.name for path in (TOOLS / "bases").iterdir())
    return sorted(name for name in names if name == BASE or topic in base(name).topics)


def numbers(version):
    return tuple(map(int, re.findall(r"\d+", version)))


def topics():
    """Those of the base, or the one that TOPIC names."""
    wanted = option("TOPIC").split()
    if unknown := [topic for topic in wanted if not (PATCHES / topic / "series").exists()]:
        raise Failure(f"no topic {unknown[0]}: there is no patches/{unknown[0]}/series")
    return wanted or base().topics


def rows(topic, name):
    """A list of a topic's: the text of each line, and its bases."""
    path = PATCHES / topic / name
    found = re.findall(r"^(.+?)((?: \d+\.\d+)*)$", path.read_text("utf-8"), re.M) \
        if path.exists() else []
    return [(text, named.split() or bases(topic)) for text, named in found]


def listed(topic, name):
    """The lines of a list that this base has."""
    return [text for text, having in rows(topic, name) if BASE in having]


def put_list(topic, name, new):
    """Write a list in which this base has these lines. What others have stays."""
    left, made, mine = iter(rows(topic, name)), [], listed(topic, name)
    for kind, first, last, *where in difflib.SequenceMatcher(None, mine, new, False).get_opcodes():
        for text in mine[first:last]:
            while (row := next(left)) != (text, row[1]) or BASE not in row[1]:
                made.append(row)
            made.append(row if kind == "equal" else (text, [one for one in row[1] if one != BASE]))
        if kind != "equal":
            made += [(text, [BASE]) for text in new[slice(*where)]]
    (PATCHES / topic / name).write_text("".join(
        " ".join([text, *having] if having != bases(topic) else [text]) + "\n"
        for text, having in [*made, *left] if having), "utf-8")


def series(topic):
    return listed(topic, "series")


def own(topic, name):
    """Where what this base alone has of a topic stands: MAIN's is what all have."""
    return PATCHES / topic / ("" if BASE == MAIN else BASE) / name


def find(topic, name):
    """The path of a mail or of a cover letter."""
    return path if (path := own(topic, name)).exists() else PATCHES / topic / name


def texts(topic):
    """The patches of a topic, without new files: {name: text}."""
    return {name: find(topic, name).read_text("utf-8") for name in series(topic)}


def repository_files():
    said = process.run(["git", "ls-files", "-co", "--exclude-standard", "--", *TOPS,
                        ":!tools/hyptrace"], cwd=ROOT).stdout.splitlines()
    return sorted(name for name in said if (ROOT / name).is_file())


def assigned():
    """Each new file with its topic and patch."""
    found, names = {}, repository_files()
    for topic in base().topics:
        for patch, path in map(str.split, listed(topic, "files")):
            if path not in names or patch not in series(topic):
                raise Failure(f"patches/{topic}/files: no such patch or file: {patch} {path}")
            if path in found:
                raise Failure(f"patches/*/files assign {path} to two patches")
            found[path] = topic, patch
    others = {text.split()[1] for path in PATCHES.glob("*/files")
              for text, _ in rows(path.parent.name, "files")}
    if lacking := [name for name in names if name not in others]:
        raise Failure(f"patches/*/files assign {lacking[0]} to no patch")
    return found


def new_files(topic=None):
    """The new files, of all topics or of one."""
    wanted = [topic] if topic else topics()
    return sorted(name for name, (of, _) in assigned().items() if of in wanted)


def touched():
    whole = "".join(text for topic in topics() for text in texts(topic).values())
    return sorted(set(re.findall(r"^diff --git a/(\S+) b/", whole, re.M)))


def options():
    kconfig = [ROOT / name for name in repository_files() if "/Kconfig" in name]
    return [option for path in [*PATCHES.rglob("*.patch"), *kconfig] for option in
            re.findall(r"^\+?(?:menu)?config (\w+)", path.read_text("utf-8"), re.M)]
