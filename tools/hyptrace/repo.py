# SPDX-License-Identifier: GPL-2.0
"""git in build/tree: a commit of each source, a branch of each topic, and `tree', their merge."""

import contextlib
import os
import shutil
import subprocess

from hyptrace import patches, process
from hyptrace.machine import BUILD, Failure

ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_EDITOR": "true", "LC_ALL": "C",
       "GIT_AUTHOR_NAME": "hyptrace", "GIT_AUTHOR_EMAIL": "hyptrace@localhost",
       "GIT_COMMITTER_NAME": "hyptrace", "GIT_COMMITTER_EMAIL": "hyptrace@localhost",
       "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z"}


def git(*words, at=None, check=True, strip=True, env=None, **options):
    """What git says in build/tree or another work tree, without the user's configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = process.run(["git", *words], cwd=at or patches.base().tree, env=kept | ENV | (env or {}),
                       check=check, stderr=subprocess.PIPE, **options)
    if not check:
        return done
    return done.stdout.rstrip("\n") if strip else done.stdout


def commit_of(ref):
    """The commit of a name; None if there is no such."""
    done = git("rev-parse", "-q", "--verify", f"{ref}^{{commit}}", check=False)
    return done.stdout.strip() or None


def laid(branch):
    """The ref that keeps what `make tree' made a branch of."""
    return f"refs/hyptrace/{branch}"


def add_worktree(path, *words):
    shutil.rmtree(path, ignore_errors=True)
    git("worktree", "prune")
    git("worktree", "add", "-q", "--detach", path, *words)


@contextlib.contextmanager
def replay(at):
    """A work tree to make commits in, on top of a commit: without files, but in git's index."""
    path = BUILD / "tree-replay"
    with process.lock("replay"):
        add_worktree(path, "--no-checkout", at)
        git("sparse-checkout", "set", "--no-cone", "/none/", at=path)
        git("checkout", "-q", "--detach", at, at=path)
        yield path


def merge(commits):
    """The commit that merges several, {name: commit}: the same one each time. One is itself."""
    (names, whole), *others = commits.items()
    if not others:
        return whole
    for name, commit in others:
        done = git("merge-tree", "--write-tree", "--name-only", "--no-messages", whole, commit,
                   check=False)
        tree, *conflicts = done.stdout.split()
        if done.returncode:
            raise Failure(f"the topics {names} and {name} conflict in {' '.join(conflicts)}")
        names += f" {name}"
        whole = git("commit-tree", "-m", "Merge topics", "-p", whole, "-p", commit, tree)
    parents = [word for commit in commits.values() for word in ("-p", commit)]
    return git("commit-tree", "-m", f"Merge {', '.join(commits)}", *parents, f"{whole}^{{tree}}")
