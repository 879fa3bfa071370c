"""What is said of shell commands against what a shell does: random lines, run in a folder of files.

Whatever is called written must be another file than before, whatever is called read must be what
was printed, though the result is all that is told and holds no exit code.
"""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from scenarios.transcripts.shell import shelled

BASH = shutil.which("bash")

FILES = ("a", "b", "c d", "s/a", "s/e")
NAMES = (
    "a",
    "b",
    "'c d'",
    '"c d"',
    "s/a",
    "s/e",
    "e",
    "none",
    "./a",
    "s/../b",
    "n#m",
    "$F",
    '"$F"',
)
WORDS = (*NAMES, *("a", "b", "e") * 4, "*", "[ab]", "{a,b}", "s", "s/", ".", "..", "''", "#x")
COMMANDS = (
    *("cat {}", "cat -n {}", "head -n 2 {}", "tail -1 {}", "sed -n 1,2p {}", "sed -n '2p;3p' {}"),
    *("rm {}", "rm -f {} {}", "mv {} {}", "mv -f {} {} s/", "cp {} {}", "cp {} {} s"),
    *("mv -n {} {}", "echo '> {}' $'it\\'s > a' b", "test -f {}", "[[ a > {} ]]", "grep -q zz a"),
    *("sed -i 's/l/L/' {}", "sed -i -e s/l/L/ {}", 'sed -i "s/l/$F/" {}', "sed -i $F {}"),
    *("echo x{}", "echo new > {}", "echo more >> {}", "printf p >| {}", "true", "false", "! true"),
    *(
        "echo x | tee {}",
        "cat {} | tee {}",
        "cat {} | head -1",
        "cd s",
        "cd none",
        "cd ..",
        "cd {}",
    ),
    *("cd s 2>/dev/null", "cd none >/dev/null 2>&1", "eval cd s", "rm {} 2>/dev/null"),
    *("mkdir {}", "touch t{}", "cat {} > {}", "ls {} > {}", "cat <<'E' > {}\nbody\nE"),
    *("sh -c 'exit 1'", "sh -c 'exit 1' > {}", "mv {} {} 2>&1", "cat {} # {}", "rm {} # {}"),
    *("git checkout -- {}", "(rm {})", "echo `rm {}`", "echo $(rm {})"),
)
JOINTS = (*(" && ",) * 12, " ; ", " || ", " | ", "\n", " & ")


def line(draw):
    parts = []
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3))):
        command = draw.choice(COMMANDS)
        while "{}" in command:
            command = command.replace("{}", draw.choice(WORDS), 1)
        parts += [command, draw.choice(JOINTS)]
    return "".join(parts[:-1])


def state(root):
    """Return what each path below *root* is: where it lies, when it changed, what it holds."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            text = Path(path).read_bytes() if name in files else b""
            found[path] = facts.st_ino, facts.st_mtime_ns, text
    return found


def fresh(top, root):
    """Make *root* anew, and what a line that left it put above."""
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(f"{root}/s")
    for number, name in enumerate(FILES):
        with open(f"{root}/{name}", "w") as file:
            file.write("".join(f"line {n} of {number}\n" for n in range(4)))
    for name in (*FILES, "s"):
        os.utime(f"{root}/{name}", (1, 1))


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize("seed", range(2))
def test_what_is_called_certain_is_what_happens(tmp_path, seed):
    draw = random.Random(seed)
    top, root = str(tmp_path / "u"), str(tmp_path / "u/v/w")
    told = {"read": 0, "write": 0}
    for _ in range(100):
        command = line(draw)
        fresh(top, root)
        before = state(top)
        ran = subprocess.run(
            [BASH, "-c", command],
            cwd=root,
            env={"PATH": os.environ["PATH"], "F": draw.choice(("a", "a b", "", "-n"))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=20,
        )
        result = ran.stdout.decode(errors="replace")
        found = shelled("bash", {"command": command}, result, root)
        if found is None:
            continue
        told["read" if found.reads else "write"] += 1
        after = state(top)
        if found.reads:
            (path,) = found.paths
            lines = before[path][2].decode().splitlines()
            assert {shown.split("\t")[-1] for shown in result.splitlines()} <= set(lines), command
            assert after == before, command
        else:
            for path in found.paths:
                gone = path not in before and path not in after
                assert gone or before.get(path) != after.get(path), (command, path, result)
            if found.content is not None:
                assert after[found.paths[0]][2].decode() == found.content, command
    assert told["read"] and told["write"] >= 10
