# SPDX-License-Identifier: GPL-2.0
"""build/tree: the kernel's source with our new files and patches, as a work tree of git."""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil

from hyptrace import patches, process, repo, source
from hyptrace.machine import BASE, BUILD, ROOT, Failure, need, note, option

# What each mail begins with
FROM = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# A pack in place of 86,000 files, written fast
PACKED = "-c core.bigFileThreshold=1 -c core.compression=1 -c core.fsync=none".split()
UNPACK = """set -o pipefail
case $1 in
*.deb) dpkg-deb --fsys-tarfile "$1" | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc ;;
*) xz -dcf "$1" ;;
esac | tar -x --no-same-owner --strip-components=1 -C "$2"
"""


def elsewhere(directory, index):
    """The environment for git to take another directory for the work tree of build/tree."""
    git = patches.base().tree / ".git"
    return {"GIT_DIR": str(git), "GIT_WORK_TREE": str(directory),
            "GIT_INDEX_FILE": str(git / f"index-{index}")}


def originals(path):
    """The commit of a source, on a branch of the version, or for another file of a hash."""
    identity = f"{path.resolve()} {path.stat().st_size} {path.stat().st_mtime_ns}"
    name = f"file-{hashlib.sha1(identity.encode()).hexdigest()[:7]}"
    if path.parent == source.DL:
        name = path.name.split("_")[1].replace("~", "-")
    if found := repo.commit_of(f"source/{name}"):
        return found
    note(f"unpacking {path.name}, and committing its files")
    new, env = BUILD / "tree-source", elsewhere(BUILD / "tree-source", "source")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    process.run(["bash", "-c", UNPACK, "unpack", path, new])
    repo.git(*PACKED, "add", "-Af", at=new, env=env)
    commit = repo.git("commit-tree", "-m", f"Linux of {path.name}",
                      repo.git("write-tree", at=new, env=env))
    repo.git("update-ref", f"refs/heads/source/{name}", commit)
    shutil.rmtree(new)
    return commit


def whole_mails(topic):
    """The patches of a topic as whole mails, with their new files: {name: text}."""
    env, owners, texts = elsewhere(ROOT, "new"), patches.assigned(), patches.texts(topic)
    names = [name for name, (of, _) in owners.items() if of == topic]
    repo.git("read-tree", "--empty", env=env)
    repo.git("add", "-f", "--pathspec-from-file=-", at=ROOT, env=env, input="\n".join(names))
    if (differs := patches.PATCHES / topic / BASE / "files.patch").exists():
        repo.git("apply", "--cached", "-p1", differs, at=ROOT, env=env)
    added = repo.git("diff-index", "--cached", "-p", "--full-index", EMPTY, env=env, strip=False)
    for part in re.split(r"^(?=diff --git )", added, flags=re.M)[1:]:
        path = re.match(r"diff --git a/(\S+) ", part)[1]
        texts[owners[path][1]] += part
    return texts


def made(commit, texts):
    """The ref of what mails give on top of a commit."""
    return f"refs/made/{hashlib.sha1(f'{commit} {texts}'.encode()).hexdigest()}"


def apply(topic, commit):
    """The commit that a topic's mails give on top of another one, by git am, once."""
    texts = whole_mails(topic)
    ref = made(commit, texts)
    if not repo.commit_of(ref):
        note(f"{topic}: {len(texts)} patches")
        with repo.replay(commit) as work:
            done = repo.git("am", "-q", "--committer-date-is-author-date", "--keep-cr", at=work,
                            check=False, input="\n".join(FROM + text.removeprefix(FROM)
                                                         for text in texts.values()))
            if done.returncode:
                failed = re.findall(r"Patch failed at (\d+)", done.stdout) or [1]
                name = patches.find(topic, list(texts)[int(failed[0]) - 1]).relative_to(ROOT)
                raise Failure(f"{name} does not apply\n{done.stderr}")
            repo.git("update-ref", ref, "HEAD", at=work)
    return repo.commit_of(ref)


def _check_kept():
    """Nothing that a person committed in build/tree is lost."""
    for branch in patches.base().topics + ["tree"]:
        now, was = repo.commit_of(branch), repo.commit_of(repo.laid(branch))
        if now and was and now != was:
            raise Failure(f"build/tree has commits on {branch} that are not here: make import")


def _on(path):
    """The commits of a source and of the topics on it."""
    commit = originals(path)
    return commit, {topic: apply(topic, commit) for topic in patches.topics()}


def _on_newest():
    """Topics on the newest source, or if they do not apply, on the newest one known to work."""
    path, known = source.newest(), patches.base().known
    try:
        return _on(path)
    except Failure as failure:
        if patches.numbers(path.name)[2:5] <= patches.numbers(known):
            raise
        note(f"{failure}\nhyptrace: the series no longer applies; using Linux {known} or older")
    return _on(source.newest(known))


def lay(commit, tips):
    """Move the work tree to the merge of topics: only what differs is written. Edits stay."""
    before, tip = repo.commit_of(repo.laid("tree")), repo.merge(tips)
    done = repo.git("checkout", "-q", *["-f"] * (not before), "-B", "tree", tip, "--", check=False)
    if done.returncode:
        raise Failure(f"build/tree has edits in the way: make import\n{done.stderr.strip()}")
    refs = {repo.laid("source"): commit, repo.laid("tree"): tip}
    for topic, value in tips.items():
        refs |= {repo.laid(topic): value, f"refs/heads/{topic}": value}
    repo.git("update-ref", "--stdin", input="".join(f"update {ref} {value}\n"
                                                    for ref, value in refs.items()))
    return repo.git("diff", "--name-only", "--no-renames", before or EMPTY, tip).splitlines()


def make():
    """Make or update build/tree; its path."""
    need("tree")
    tree, given = patches.base().tree, option("SOURCE")
    with process.lock("tree"):
        if not (tree / ".git").exists():
            repo.git("init", "-q", "-b", "tree", tree, at=BUILD)
            repo.git("config", "gc.auto", "0")
        _check_kept()
        commit, tips = _on(pathlib.Path(given)) if given else _on_newest()
        written = lay(commit, tips)
    version = ".".join(re.findall(r"^(?:VERSION|PATCHLEVEL|SUBLEVEL) = *(\d+)",
                                  (tree / "Makefile").read_text("utf-8"), re.M))
    count = sum(len(patches.series(topic)) for topic in tips)
    note(f"{tree.relative_to(ROOT)}: {version}, {count} patches, "
         f"{len(patches.new_files())} new files; {len(written)} written")
    return tree


def checkout(name, topics=None, commit=None):    # pylint: disable=redefined-outer-name
    """Another work tree, build/tree-NAME: of these topics, a commit, or the source."""
    path = BUILD / f"tree-{name}"
    if topics:
        commit = repo.merge({each: repo.commit_of(each) for each in topics})
    commit = commit or repo.laid("source")
    if not (path / ".git").exists():
        repo.add_worktree(path, commit)
    repo.git("checkout", "-q", "--force", "--detach", commit, at=path)
    repo.git("clean", "-qfdx", at=path)
    return path


@contextlib.contextmanager
def edited(changes):
    """Files of build/tree with other texts, {path: text}; they are put back with their times."""
    paths = {patches.base().tree / name: text for name, text in changes.items()}
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
    """For edited(): the event list with more entries, at its end, before the records of tracers."""
    path, end = "arch/arm64/include/asm/kvm_hypevents.h", \
        "#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER\n#include"
    text = (patches.base().tree / path).read_text("utf-8")
    return {path: text.replace(end, entries + end, 1)}


topics, new_files, our_options = patches.topics, patches.new_files, patches.options


def c_files(arch="arm64"):
    """The kernel's .c files that are ours or that the patches change, for an architecture."""
    return sorted(name for name in {*new_files(), *patches.touched()}
                  if re.match(rf"(?!tools/|arch/(?!{arch}/)).*\.c$", name))


def objects(tree, arch="arm64"):
    """What kbuild makes of them: an object of each that a makefile beside it names."""
    found = [f"arch/{arch}/kvm/"]
    for path in map(pathlib.PurePath, c_files(arch)):
        makefiles = (tree / path.parent).glob("Makefile*")
        if not str(path).startswith(found[0]) and re.search(
                rf"\b{path.stem}\.o\b", "".join(each.read_text("utf-8") for each in makefiles)):
            found.append(str(path.with_suffix(".o")))
    return found


def main():
    make()
