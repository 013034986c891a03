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
    identity = f"{path.resolve()} {path.stat().st_size} {path.stat().st_mtime_ns}"
    return f"file-{hashlib.sha1(identity.encode()).hexdigest()[:7]}"


def originals(path):
    """The commit of a source."""
    name = _source_name(path)
    found = (base.read().tree / ".git").exists() and repo.commit_of(f"source/{name}")
    return found or repo.add_source(path, name, source.unpack)


def _check_kept():
    """Nothing that a person committed in build/tree is lost."""
    for branch in base.read().topics + ["tree"]:
        now, was = repo.commit_of(branch), repo.commit_of(repo.laid(branch))
        if now and was and now != was:
            raise Failure(f"build/tree has commits on {branch} that are not here: make import")


def _version(commit):
    """The version of a source, by its makefile."""
    text = repo.git("show", f"{commit}:Makefile")
    return ".".join(re.findall(r"^(?:VERSION|PATCHLEVEL|SUBLEVEL) = *(\d+)", text, re.M))


def _on(path):
    """The commits of a source and of the topics on it."""
    commit = originals(path)
    return commit, {topic: repo.apply(topic, commit) for topic in patches.topics()}


def _on_newest():
    """The newest source, and the topics on it; or if they do not apply to one that is newer than
    the one known to work, that one."""
    path, last = source.fetch(), base.read().known
    try:
        return _on(path)
    except Failure as failure:
        version = _version(originals(path))
        if base.numbers(version) <= base.numbers(last):
            raise
        note(f"{failure}\nhyptrace: the series no longer applies to Linux {version}; the newest "
             f"version that is known to work is {last}")
    older = source.known()
    note(f"using {older}, which apt offers too")
    return _on(source.fetch(older))


def _move(tip):
    """Move the work tree to a new tip: only what differs is written. Edits stay, or stop it."""
    done = repo.git("checkout", "-q", "-B", "tree", tip, "--", check=False)
    if done.returncode:
        raise Failure(f"build/tree has edits in the way: make import\n{done.stderr.strip()}")
    repo.git("update-ref", repo.laid("tree"), tip)


def make():
    """Make or update build/tree; its path."""
    need("tree")
    tree = base.read().tree
    with process.lock(tree.name):
        if (tree / ".git").exists():
            _check_kept()
        given = option("SOURCE")
        commit, tips = _on(pathlib.Path(given)) if given else _on_newest()
        refs = {repo.laid("source"): commit}
        for topic, tip in tips.items():
            refs |= {f"refs/heads/{topic}": tip, repo.laid(topic): tip}
        for ref, value in refs.items():
            repo.git("update-ref", ref, value)
        before, tip = repo.commit_of("HEAD"), repo.merge(tips)
        _move(tip)
        changed = repo.git("diff", "--name-only", "--no-renames", before, tip).splitlines()
    count = sum(len(patches.series(topic)) for topic in tips)
    note(f"build/{tree.name}: {_version(commit)}, {count} patches, "
         f"{len(patches.new_files())} new files; {len(changed)} written")
    return tree


def mails(topic):
    """The commits of a topic, in order."""
    return repo.git("rev-list", "--reverse", f"{repo.laid('source')}..{topic}").splitlines()


def checkout(name, topics=None, commit=None):    # pylint: disable=redefined-outer-name
    """Another work tree, build/tree-NAME: of these topics, without any the source, or of a commit.
    What has not changed since it was made keeps its time."""
    path = BUILD / f"tree-{name}"
    if topics:
        commit = repo.merge({each: repo.commit_of(each) for each in topics})
    commit = commit or repo.laid("source")
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
    paths = {base.read().tree / name: text for name, text in changes.items()}
    kept = {path: (path.read_bytes(), path.stat()) for path in paths}
    try:
        for path, text in paths.items():
            path.write_text(text, "utf-8")
        yield
    finally:
        for path, (text, stat) in kept.items():
            path.write_bytes(text)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def more_events(entries):
    """For edited(): the event list with more entries, at its end."""
    path, end = "arch/arm64/include/asm/kvm_hypevents.h", "#undef HYP_EVENT\n"
    text = (base.read().tree / path).read_text("utf-8")
    return {path: text.replace(end, entries + end, 1)}


topics, new_files, our_options = patches.topics, patches.new_files, patches.options


def c_files(arch="arm64"):
    """The kernel's .c files that are ours or that the patches change, for an architecture."""
    return sorted(name for name in {*new_files(), *patches.touched()}
                  if re.match(rf"(?!tools/|arch/(?!{arch}/)).*\.c$", name))


def _is_named(tree, name):
    """The makefile beside a source has its object."""
    makefile, stem = tree / pathlib.Path(name).parent / "Makefile", pathlib.Path(name).stem
    return makefile.exists() and re.search(rf"\b{stem}\.o\b", makefile.read_text("utf-8"))


def objects(tree):
    """What kbuild makes of them. A file that another one includes has no object of its own."""
    files = c_files()
    text = "".join((tree / name).read_text("utf-8") for name in files if (tree / name).exists())
    included = re.findall(r'^#include "(?:.*/)?(.*\.c)"$', text, re.M)
    return ["arch/arm64/kvm/"] + [
        f"{name[:-2]}.o" for name in files if not name.startswith("arch/arm64/kvm/")
        and (pathlib.Path(name).name not in included or _is_named(tree, name))]


def main():
    """`make tree`"""
    make()
    return 0
