# SPDX-License-Identifier: GPL-2.0
"""The patches as they are sent: they apply, each prefix builds, and checkpatch finds nothing."""

import collections
import os
import re
import shutil
import sys

import pytest
from hyptrace import kernel as kernels, objects, patches, perf, process, repo, results, series
from hyptrace import source, tree
from hyptrace.machine import BASE, BUILD, MAIN, ROOT, TOOLS, Failure, need, number

# What is new is not in the source, which tar takes for an error.
EXTRACT = """dpkg-deb --fsys-tarfile "$1" | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
xz -dc | tar -x -C "$2" --strip-components=1 --wildcards --no-wildcards-match-slash -T "$3" || :
cd "$2" && git init -q && git add -Af && git commit -qm source && git tag source
"""
LINT, X86 = BUILD / "kernel-lint", BUILD / "kernel-x86-prefix"
OTHERS = sorted({path.name for path in (TOOLS / "bases").iterdir()} - {MAIN})
PARTS = [(topic, part.split()[0]) for topic in patches.base().topics
         for part in patches.listed(topic, "parts") or [topic]]


@pytest.fixture(name="mails", scope="session")
def fixture_mails(tmp_path_factory):
    """The exported mails of each topic."""
    tree.make()
    out = tmp_path_factory.mktemp("mails")
    for topic in patches.topics():
        series.export(topic, out / topic)
    return {topic: sorted(path for path in (out / topic).glob("*/*.patch")
                          if not path.name.startswith("0000-")) for topic in patches.topics()}


@pytest.mark.fast
@pytest.mark.series
@pytest.mark.alone
@pytest.mark.seconds(80)
def test_mails(checks, mails):
    """git am of each topic's mails gives that topic, and of all topics the tree."""
    tips, large = {}, {}
    for topic, paths in mails.items():
        with repo.replay(repo.laid("source")) as work:
            repo.git("am", "-q", *paths, at=work)
            tips[topic] = repo.git("rev-parse", "HEAD", at=work)
        checks.equals(f"git am gives {topic}", repo.git("diff", "--stat", tips[topic], topic), "")
        for path in paths:
            added = re.findall(r"^\+(?!\+\+ (?:b/|/dev/null))", path.read_text("utf-8"), re.M)
            large |= {path.name: len(added)} if len(added) > 800 else {}
    checks.equals("git am of all topics gives the tree",
                  repo.git("diff", "--stat", repo.merge(tips), "tree"), "")
    checks.equals("build/tree has these files", repo.git("status", "--porcelain"), "")
    checks.equals("no patch adds more than 800 lines", large, {})
    sizes = collections.Counter(f"{topic}/{path.parent.name}"
                                for topic, paths in mails.items() for path in paths)
    checks.equals("no series has more than 30 patches",
                  {name: size for name, size in sizes.items() if size > 30}, {})


@pytest.mark.series
@pytest.mark.alone
@pytest.mark.seconds(250)
def test_versions(checks, mails, tmp_path):
    """Each topic, and all of them, apply without fuzz to each source that apt offers."""
    checks("apt offers a version that is supported", source.versions())
    listed = tmp_path / "listed"
    listed.write_text("".join(f"*/{name}\n" for name in patches.touched()), "utf-8")
    for version in source.versions():
        had, deb, work = set(source.DL.glob("*")), source.fetch(version), tmp_path / version
        work.mkdir()
        process.run(["bash", "-c", EXTRACT, "extract", deb, work, listed],
                    env=os.environ | repo.ENV)
        for topics in *([topic] for topic in mails), list(mails):
            repo.git("checkout", "-q", "--detach", "source", at=work)
            done = repo.git("am", "-q", *(path for topic in topics for path in mails[topic]),
                            at=work, check=False)
            checks(f"{' '.join(topics)}: applies to {version}", not done.returncode, done.stderr)
            repo.git("am", "--abort", at=work, check=False)
        if deb not in had:
            deb.unlink()


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.seconds(140)
def test_checkpatch(checks, mails, tmp_path):
    """checkpatch --strict on each mail, where its cache is no new file of the tree. test_compile
    runs sparse."""
    for path in (path for paths in mails.values() for path in paths):
        said = process.run(["perl", BUILD / "tree/scripts/checkpatch.pl", "--strict", "--terse",
                            f"--root={BUILD}/tree", "--show-types", "--showfile", "--quiet",
                            "--no-summary", path], check=False, cwd=tmp_path,
                           env=kernels.clean_env()).stdout
        found = results.not_allowed(said.splitlines(), TOOLS / "lint.allow")
        checks(f"{path.parent.name}/{path.name}", not found, "\n".join(found))


def targets(path):
    """The directories of the topic's sources that are there, of kernel/, which is large, the
    objects, and the parts of EL2, which may be added before the patch that links them."""
    parts, new = {"arch/arm64/kvm/": "."}, patches.new_files()    # {target: what it is made of}
    for name in tree.c_files():
        directory = name.rpartition("/")[0] + "/"
        if directory == "kernel/":
            parts[f"{name[:-1]}o"] = name
        elif name.startswith(objects.NVHE) and name in new:
            parts[f"{name[:-1]}nvhe.o"] = name
        elif not name.startswith(("arch/arm64/kvm/", "virt/")):
            parts[directory] = f"{directory}Makefile"
    return sorted(target for target, source_of in parts.items() if (path / source_of).exists())


def build(path, names):
    """Build what a patch touches, on top of those before it; what is undefined at EL2."""
    touches = "\n".join(names)
    if re.search("^tools/(perf|arch)/", touches, re.M):
        perf.build("arm64", path)
        perf.build("host", path)
    if re.search("^arch/x86/", touches, re.M):
        X86.mkdir(exist_ok=True)
        config = f"KCONFIG_ALLCONFIG={ROOT}/kernel/configs/hyptrace-x86.config"
        for words in [config, "allnoconfig"], ["-j4", "arch/x86/kvm/", "arch/x86/events/core.o",
                                               "kernel/events/"]:
            kernels.make("x86_64", "-C", path, f"O={X86}", *words)
    if not re.search("^(?!(tools|Documentation|kernel/configs)/|MAINTAINERS$).", touches, re.M):
        return None
    kernels.build("lint", tree=path, unknown=tree.our_options(), targets=targets(path))
    return objects.undefined(LINT)


def clean():
    for path in LINT, X86, *BUILD.glob("perf*-own*"):
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.series
@pytest.mark.alone
@pytest.mark.seconds(600)
@pytest.mark.parametrize("topic, part", PARTS)
def test_prefix(checks, monkeypatch, topic, part):
    """Each prefix of a series builds what its last mail touches. EL2 lacks at most what the first
    or last one lacks."""
    need("kernel", "archs")
    tree.make()
    clean()
    monkeypatch.setenv("TOPIC", topic)
    built = []
    for commit in series.parts_of(topic)[part]:
        title, *names = repo.git("show", "--format=%s", "--name-only", commit).splitlines()
        try:
            built.append(build(tree.checkout("prefix", commit=commit), names))
            checks(f"up to {title}", True)
        except Failure as failure:
            checks(f"up to {title}", False, failure)
    built = [names for names in built if names is not None]
    lacking = [sorted(names - built[0] - built[-1]) for names in built]
    checks("EL2 links in each prefix", not any(lacking), lacking)
    clean()


@pytest.mark.series
@pytest.mark.alone
@pytest.mark.skipif(BASE != MAIN, reason="another base tests itself alone")
@pytest.mark.parametrize("base", OTHERS)
@pytest.mark.parametrize("named", [pytest.param("tests", marks=pytest.mark.seconds(600)),
                                   pytest.param("boots", marks=pytest.mark.seconds(1500))])
def test_base(checks, base, named):
    """Another base passes the tests that its file names: its topics apply, are mails, compile; its
    kernel runs them. Of those that take turns it runs one.

      ROTATE=n    which one
    """
    values = patches.base(base)
    tests, turns = getattr(values, named), values.turns.split()
    if named == "boots" and turns:
        tests += f" {turns[number('ROTATE', 0) % len(turns)]}"
    given = {"BASE": base, "SET": "", "TESTS": tests, "SOURCE": "", "TOPIC": ""}
    said = process.run([sys.executable, "-B", "-m", "hyptrace", "check"], cwd=ROOT, check=False,
                       env=os.environ | {"PYTHONPATH": str(TOOLS.parent)} | given).stdout
    checks(f"make check BASE={base} SET= TESTS=\"{tests}\"",
           re.search(r"^[1-9]\d* passed, 0 failed$", said, re.M), said)


@pytest.mark.variants
@pytest.mark.alone
@pytest.mark.seconds(150)
@pytest.mark.skipif(BASE == MAIN, reason="test_compile.py builds more of these")
@pytest.mark.parametrize("config, arch, options", [
    ("default", "arm64", ""), ("x86", "x86", "HYPERVISOR_GUEST=y PARAVIRT=y XEN=y XEN_PV=y")])
def test_objects(checks, config, arch, options):
    """Each file of the kernel's that topics of another base touch compiles without a warning."""
    need("kernel", "archs")
    tree.make()
    kernels.build(config, options=options.split(), targets=["W=1", *(
        each for each in tree.objects(BUILD / "tree", arch) if not each.startswith("virt/"))])
    out = BUILD / f"kernel-{config}"
    left = objects.not_compiled(out, arch)
    checks("each file is compiled", tree.c_files(arch) and not left, left)
    checks.equals("without a warning", objects.warnings(objects.log_of(out), objects.ours()), [])
