# SPDX-License-Identifier: GPL-2.0
"""build/tree: the kernel's source with our new files and patches, as a work tree of git. A second
run touches only what has changed since."""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil

from hyptrace import base, patches, process, repo, source
from hyptrace.machine import BUILD, Failure, need, note, option


def _source_name(path):
    """The branch of a source: of a package its version; of another file, whose name git may not
    take, a hash of its path, size and time."""
    if path.suffix == ".deb" and path.parent == source.DL:
        return path.name.split("_")[1].replace("~", "-")
    stat = path.stat()
    identity = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"
    return f"file-{hashlib.sha1(identity.encode()).hexdigest()[:7]}"


def originals(path):
    """The commit of a source."""
    if not path.is_file():
        raise Failure(f"no file {path}")
    name = _source_name(path)
    tree = base.read().tree
    if (tree / ".git").exists() and (found := repo.commit_of(f"source/{name}")):
        return found
    return repo.add_source(path, name, source.unpack)


def _check_new(commit):
    """No new file is in the source."""
    names = [name for name, (topic, _) in patches.assigned().items() if topic in patches.topics()]
    listed = repo.git("ls-tree", "-r", "--name-only", "--full-tree", commit, "--", *names) \
        if names else ""
    for name in listed.splitlines():
        raise Failure(f"{name} is in the kernel source: change it by a patch")


def _check_kept():
    """Nothing that a person committed in build/tree is lost."""
    for branch in base.read().topics + ["tree"]:
        now, was = repo.commit_of(branch), repo.commit_of(repo.laid(branch))
        if now and was and now != was:
            raise Failure(f"build/tree has commits on {branch} that are not here: make import")


def _version(commit):
    """Of a source, by its makefile."""
    text = repo.git("show", f"{commit}:Makefile")
    found = [re.search(rf"^{name} = *(\d+)", text, re.M)
             for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(each[1] for each in found if each)


def _topics(commit):
    """The commits of the topics on a source; why they do not apply."""
    _check_new(commit)
    return {topic: repo.apply(topic, commit) for topic in patches.topics()}


def _on_newest():
    """The newest source, and the topics on it; or if they do not apply to one that is newer than
    the one known to work, that one."""
    path = source.fetch()
    commit = originals(path)
    try:
        return commit, _topics(commit)
    except Failure as failure:
        version, last = _version(commit), base.read().known
        if base.numbers(version) <= base.numbers(last):
            raise
        note(f"{failure}\nhyptrace: the series no longer applies to Linux {version}; the newest "
             f"version that is known to work is {last}")
    older = source.known()
    if not older:
        raise Failure("apt offers no such version: SOURCE=file takes its .deb or a .tar.xz of "
                      f"Linux {last}")
    note(f"using {older}, which apt offers too")
    commit = originals(source.fetch(older))
    return commit, _topics(commit)


def make():
    """Make or update build/tree; its path."""
    need("tree")
    tree = base.read().tree
    with process.lock(tree.name):
        if (tree / ".git").exists():
            _check_kept()
        elif tree.exists():
            shutil.rmtree(tree)    # not of git
        if option("SOURCE"):
            commit = originals(pathlib.Path(option("SOURCE")))
            tips = _topics(commit)
        else:
            commit, tips = _on_newest()
        for topic, tip in tips.items():
            repo.set_branch(topic, tip)
        repo.git("update-ref", repo.laid("source"), commit)
        before = repo.commit_of("HEAD")
        tip = repo.merge(tips)
        _move(tip)
        changed = repo.git("diff", "--name-only", "--no-renames", before, tip).splitlines()
    count = sum(len(patches.series(topic)) for topic in tips)
    note(f"build/{tree.name}: {_version(commit)}, {count} patches, "
         f"{len(patches.new_files())} new files; {len(changed)} written")
    return tree


def _move(tip):
    """Move the work tree from the old tip to the new one: only what differs is written. Edits stay,
    or stop it."""
    done = repo.git("checkout", "-q", "-B", "tree", tip, "--", check=False)
    if done.returncode:
        raise Failure(f"build/tree has edits in the way: make import\n{done.stderr.strip()}")
    repo.git("update-ref", repo.laid("tree"), tip)


def topics():
    """The topics of the base."""
    return patches.topics()


def mails(topic):
    """The commits of a topic, in order."""
    return repo.git("rev-list", "--reverse", f"{repo.laid('source')}..{topic}").splitlines()


def checkout(name, topics=None, commit=None):    # pylint: disable=redefined-outer-name
    """Another work tree, build/tree-NAME: of these topics, without any the source, or of a commit.
    What has not changed
    since it was made keeps its time."""
    path = BUILD / f"tree-{name}"
    commit = commit or (repo.merge({each: repo.commit_of(each) for each in topics}) if topics
                        else repo.commit_of(repo.laid("source")))
    if not (path / ".git").exists():
        shutil.rmtree(path, ignore_errors=True)
        repo.git("worktree", "prune")
        repo.git("worktree", "add", "-q", "--detach", path, commit)
    repo.git("checkout", "-q", "--force", "--detach", commit, at=path)
    repo.git("clean", "-qfdx", at=path)
    return path


@contextlib.contextmanager
def edited(changes):
    """Files of build/tree with other texts, {path: text}; they are put back with their times."""
    tree = base.read().tree
    kept = {path: ((tree / path).read_bytes(), (tree / path).stat()) for path in changes}
    try:
        for path, text in changes.items():
            (tree / path).write_text(text, "utf-8")
        yield
    finally:
        for path, (text, stat) in kept.items():
            (tree / path).write_bytes(text)
            os.utime(tree / path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def more_events(entries):
    """For edited(): the event list with more entries, at its end."""
    path, end = "arch/arm64/include/asm/kvm_hypevents.h", "#undef HYP_EVENT\n"
    before, found, after = (base.read().tree / path).read_text("utf-8").partition(end)
    if not found:
        raise Failure(f"no end of the event list in {path}")
    return {path: before + entries + found + after}


new_files, touched, our_options = patches.new_files, patches.touched, patches.options


def c_files(arch="arm64"):
    """The kernel's .c files that are ours or that the patches change, for an architecture."""
    return sorted(name for name in {*new_files(), *touched()}
                  if name.endswith(".c") and not name.startswith("tools/")
                  and (not name.startswith("arch/") or name.startswith(f"arch/{arch}/")))


def objects(tree):
    """What kbuild makes of them. A file that another one includes has no object of its own."""
    files = [name for name in c_files() if not name.startswith("arch/arm64/kvm/")]
    included = {found.rpartition("/")[2] for name in c_files() if (tree / name).exists()
                for found in re.findall(r'^#include "(.*\.c)"$', (tree / name).read_text("utf-8"),
                                        re.M)}
    found = ["arch/arm64/kvm/"]
    for name in files:
        directory, _, leaf = name.rpartition("/")
        makefile = tree / directory / "Makefile"
        if leaf in included and not (makefile.exists() and re.search(
                rf"\b{re.escape(leaf[:-2])}\.o\b", makefile.read_text("utf-8"))):
            continue
        found.append(f"{name[:-2]}.o")
    return found


def main():
    """`make tree`"""
    make()
    return 0
