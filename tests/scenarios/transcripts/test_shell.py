"""What shell commands do with files, by what POSIX and the programs' manuals say they do."""

import random

import pytest

from scenarios.transcripts.shell import Shelled, shelled

CWD = "/w"
HERE = "cat > {} <<'EOF'\none\n$two\nEOF"


def done(command, result="", cwd=CWD, plain="bash", **more):
    return shelled(plain, {"command": command, **more}, result, cwd)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat a.py", "/w/a.py"),
        ("cat -n 'my file.txt'", "/w/my file.txt"),
        ('cat "a b"/c.py', "/w/a b/c.py"),
        ("cat ./x/../a.py", "/w/a.py"),
        ("cat /etc/hosts", "/etc/hosts"),
        ("cd sub && cat a.py", "/w/sub/a.py"),
        ("cd sub && cd .. && cat a.py", "/w/a.py"),
        ("cd /r && cat a.py", "/r/a.py"),
        ("sed -n '1,20p' a.py", "/w/a.py"),
        ("sed -n 5p a.py", "/w/a.py"),
        ("sed -n '1,9p;20,$p' a.py", "/w/a.py"),
        ("head a.py", "/w/a.py"),
        ("head -n 5 a.py", "/w/a.py"),
        ("head -5 a.py", "/w/a.py"),
        ("tail -n +5 a.py", "/w/a.py"),
        ("tail -n5 a.py", "/w/a.py"),
        ("nl -ba a.py", "/w/a.py"),
        ("cat a#b", "/w/a#b"),
    ],
)
def test_what_reads_a_file(command, path):
    assert done(command, "text") == Shelled((path,), True)


@pytest.mark.parametrize(
    "command",
    [
        *("cat", "cat a b", "cat -", "cat -A a", "cat *.py", "cat ~/a", "cat $F", 'cat "$F"'),
        *("cat a; cat b", "cat a || cat b", "cat a &", "cat a\ncat b", "(cat a)", "cat $(ls)"),
        *("cat `ls`", "cat {a,b}", "cat a | head", "cat a | wc -l", "cat < a", "cat a 2>/dev/null"),
        *("cat a > b.txt && cat b.txt | sort", "! cat a", "time cat a", "cat a # b", "sudo cat a"),
        *(
            "sed -n '/x/p' a",
            "sed -n '1,5p;w b' a",
            "sed '1,5p' a",
            "sed -n 1,5p",
            "sed -n 1,5p a b",
        ),
        *(
            "head -c 5 a",
            "head -n a",
            "tail -f a",
            "tail -n 5 -f a",
            "less a",
            "grep x a",
            "nl -s: a",
        ),
        *("cat /dev/stdin", "cat /proc/cpuinfo", "cat .", "cat /", "ls && cat a", "cd && cat a"),
        *(
            "cd - && cat a",
            "cd $D && cat a",
            "cd ~ && cat a",
            'cd "x$D" && cat a',
            "cd a b && cat c",
        ),
        *("", " ", "'", '"', "cat 'a", "cat a &&", "&& cat a", "cat a |", "cat <<EOF", "cat a\\"),
        *(
            "cat $'a\\'b' a",
            'cat $"a"',
            "if true",
            "[[ a ]]",
            "cat <(ls)",
            "cat <<<a",
            "cat ${A:-b c}",
        ),
    ],
)
def test_what_surely_reads_no_single_file(command):
    found = done(command, "text")
    assert found is None or not found.reads


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo x > a", ["a"]),
        ("echo x >> a", ["a"]),
        ("echo x >| a", ["a"]),
        ("echo x >a 2>&1", ["a"]),
        ("echo x &> a", ["a"]),
        ("echo x 2> e", ["e"]),
        ("echo 2>e x", ["e"]),
        ("echo a2>f", ["f"]),  # 2 is part of the word, not the number of a stream
        ("echo '> no' > a", ["a"]),
        ("echo x > 'a b'", ["a b"]),
        ("echo x > a > b", ["a", "b"]),  # both are opened, a is left empty
        ("printf '%s' x | tee a b", ["a", "b"]),
        ("echo x | tee -a a", ["a"]),
        ("echo x | tee a | wc -l", ["a"]),
        ("rm a", ["a"]),
        ("rm -rf a b/c", ["a", "b/c"]),
        ("rm a *.tmp", ["a"]),
        ("mv a b", ["a", "b"]),
        ("mv a b c/", ["a", "b", "c/a", "c/b"]),
        ("mv a b c", ["a", "b", "c/a", "c/b"]),  # of several sources the last is a folder
        ("mv -f x/a .", ["x/a", "a"]),
        ("cp a b", ["b"]),
        ("cp a ..", ["/a"]),
        ("cp a b c/", ["c/a", "c/b"]),
        ("sed -i 's/a/b/' a", ["a"]),
        ("sed -i 's/a/b/g' a b", ["a", "b"]),
        ("sed -i '' 's/a/b/' a", ["a"]),
        ("sed -i.bak s/a/b/ a", ["a"]),
        ("sed -E -i -e 's/a/b/' -e 's/c/d/' a", ["a"]),
        ('sed -i "s/a/$B/" a', ["a"]),
        ("git checkout -- a b", ["a", "b"]),
        ("git checkout HEAD~1 -- a", ["a"]),
        ("git checkout main -- a", ["a"]),
        ("cd sub && rm a", ["sub/a"]),
        ("cd sub && rm a && cd .. && rm b", ["sub/a", "b"]),
        ("rm /x/a", ["/x/a"]),
        ("mkdir -p d && echo x > d/a", ["d/a"]),
        ("make > log 2>&1", ["log"]),
        ("A=1 make > log", ["log"]),
        ("ssh host cat a > b", ["b"]),
    ],
)
def test_what_writes_files(command, paths):
    found = done(command)
    paths = tuple(path if path.startswith("/") else f"/w/{path}" for path in paths)
    assert (found.paths, found.reads) == (paths, False)


@pytest.mark.parametrize(
    "command",
    [
        *("echo x", "echo '> a'", 'echo "x > a"', "echo x \\> a", "echo x > $F", 'echo x > "$F/a"'),
        *("echo x > ~/a", "echo x > *.py", "echo x > /dev/null", "echo x >&2", "echo x > a &"),
        *(
            "echo x > a; ls",
            "echo x > a || ls",
            "ls\nrm a",
            "(rm a)",
            "{ rm a",
            "if rm a",
            "! rm a",
        ),
        *("echo $(rm a)", "echo `rm a`", "[[ $a > b ]] && ls", "[[ a > b ]]", "# rm a", "ls # > a"),
        *(
            "rm -i a",
            "rm --force a",
            "rm",
            "rm $F",
            "rm -rf .",
            "rm -rf /",
            "rm ..",
            "mv a",
            "mv a $F",
        ),
        *(
            "mv -n a b",
            "mv -t d a b",
            "mv $OPT a b",
            "cp -r a b",
            "cp a $F",
            "cp $F a",
            "cp a b -n",
        ),
        *(
            "sed 's/a/b/' a",
            "sed -i",
            "sed -i 's/a/b/'",
            "sed -n -i",
            "sed -i -f s a",
            "sed -iE x a",
        ),
        *(
            "sed -i $OPT 's/x/y/'",
            "git checkout a",
            "git checkout -- '*.py'",
            "git checkout -p -- a",
        ),
        *("git checkout -- .", "git checkout -- :/", "git rm a", "git -C x checkout -- a", "tee"),
        *("find . -delete", "xargs rm a", "sudo rm a", "bash -c 'rm a'", 'bash -c "echo > a"'),
        *(
            "echo $'it\\'s > x' \"y'\"",
            "rm ${A:-> f}",
            "rm 2>/dev/null",
            "> a",
            "cat <<'EOF' > a\nx",
        ),
        *("rm <<EOF a\nx\nEOF\nls", "cat > a <<-EOF\nx\n\tEOF"),
    ],
)
def test_what_surely_writes_nothing_that_can_be_named(command):
    assert done(command) is None


@pytest.mark.parametrize(
    ("command", "sure"),
    [
        ("make && rm a", ()),  # whether make succeeded is not said
        ("grep -q x b && rm a", ()),
        ("rm a && make", ("/w/a",)),
        ("make > log && rm a", ("/w/log",)),
        ("rm a && make && rm b", ("/w/a",)),
        ("false | tee a && rm b", ("/w/a", "/w/b")),  # the status is tee's
        ("cd s 2>/dev/null && rm a", ()),
        ("cd s >/dev/null 2>&1 && rm a", ()),
        ("rm a 2>/dev/null", ()),
        ("rm a 2>&1", ("/w/a",)),
        ("mv a b 2>/dev/null && rm c", ()),
        ("echo x > a 2>/dev/null && rm b", ("/w/a",)),
    ],
)
def test_behind_what_may_fail_in_silence_only_a_told_success_counts(command, sure):
    found = done(command)
    assert (() if found is None else found.paths) == sure
    told = done(command, "ok\n[The command completed with exit code 0.]")
    everything = {path for path in told.paths if path.rpartition("/")[2] in "abc"}
    assert everything >= {f"/w/{n}" for n in "abc" if f"rm {n}" in command and "cd" not in command}


@pytest.mark.parametrize(
    "result",
    [
        "rm: cannot remove 'a': No such file or directory",
        "rm : Cannot find path",
        "/bin/rm: a: is a directory",
        "echoed first\nrm: a: Permission denied",
        "bash: line 1: rm: command not found",
        "/bin/bash: line 3: cd: x: No such file or directory",
        "zsh:cd:1: no such file or directory: x",
        "(eval):cd:1: no such file or directory: x",
        "error: pathspec 'a' did not match",
        "fatal: not a git repository",
        "Exit code 1\nwhatever",
        "Exit code: 2\nWall time: 0.1 seconds\nOutput:\n",
        "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n",
        "x\n[The command completed with exit code 1.]\n[Current working directory: /w]",
        "x\n\nCommand exited with code 1",
        "Command executed in terminal within working directory '/w'. Exit code: 1\nOutput:\n",
        "Command timed out after 2m",
        "The user doesn't want to proceed with this tool use",
        "aborted by user after 1.0s",
        "The user denied this operation.",
        "Process running with session ID 3",
        "Command is still running in the user's terminal.",
        "<tool_use_error>no</tool_use_error>",
        "'rm' is not recognized as an internal or external command",
        "[The command has no new output after 30 seconds.]",
    ],
)
def test_what_failed_or_goes_on_did_nothing_for_certain(result):
    assert done("rm a", result) is None
    assert done("cat rm", result) is None or result.startswith(("rm", "/bin/rm", "echoed"))


def test_a_file_may_speak_of_failures_behind_its_first_lines():
    text = "import os\n\n\nrm: cannot\ncat: no\nbash: x\n"
    assert done("cat a", text) == Shelled(("/w/a",), True)
    assert done("cat a", "cat: a: Is a directory") is None


@pytest.mark.parametrize("key", ["run_in_background", "is_background", "background", "is_input"])
def test_a_command_that_goes_on_or_is_typed_elsewhere_did_nothing_yet(key):
    assert done("rm a", **{key: True}) is None
    assert done("rm a", **{key: "true"}) is None
    assert done("rm a", **{key: False}) is not None


def test_the_text_that_a_here_document_holds():
    assert done(HERE.format("a")) == Shelled(("/w/a",), False, "one\n$two\n")
    assert done(f"cd s && {HERE.format('a')}") == Shelled(("/w/s/a",), False, "one\n$two\n")
    # unquoted, the shell expands it; appended, it is not the whole; a program between may change it
    assert done(HERE.format("a").replace("'", "")).content is None
    assert done("cat > a <<EOF\nplain\nEOF").content == "plain\n"
    assert done(HERE.format("a").replace(">", ">>")).content is None
    assert done("tee a <<'EOF'\nx\nEOF").content is None
    assert done("cat > a <<'EOF' > b\nx\nEOF").content is None
    assert done("cat > a <<'EOF' && rm a\nx\nEOF").content is None
    assert done("cat > a <<'EOF'\nEOF").content == ""
    unsure = done("make > log && cat > a <<'EOF'\nx\nEOF")
    assert (unsure.paths, unsure.content) == (("/w/log",), None)


@pytest.mark.parametrize(
    ("command", "aside"),
    [
        ("rm a", False),
        ("cd s && sed -i s/a/b/ a", False),
        ("echo x | tee a", False),
        ("make > log", True),
        ("make | tee log", True),
        ("mv a b && ls -l b", True),
    ],
)
def test_whether_the_result_is_that_of_the_edit(command, aside):
    assert done(command).aside is aside


def test_where_a_relative_path_lies():
    assert done("cat a", "x", cwd=None) is None
    assert done("rm /v/a", cwd=None).paths == ("/v/a",)
    assert done("cd /v && rm a", cwd=None).paths == ("/v/a",)
    assert done("cd v && rm a", cwd=None) is None
    assert done("cat a", "x", cwd="C:\\w") is None
    # a tool that starts a shell for each command is in one and the same folder
    fresh = {"plain": "execcommand", "cwd": None}
    assert done("cat a", "x", **fresh).paths == ("a",)
    assert done("cat a", "x", workdir="s", **fresh).paths == ("s/a",)
    assert done("cat a", "x", workdir="/s", **fresh).paths == ("/s/a",)
    assert done("cat a", "x", workdir="s", plain="shell").paths == ("/w/s/a",)
    # a shell that stays open says where it is, behind the last command that moved it
    told = "x\n[Current working directory: /v]"
    assert done("cat a", told, cwd=None).paths == ("/v/a",)
    assert done("rm a && cd v", told, cwd=None) is None
    assert done("cd v && rm a", told, cwd=None).paths == ("/v/a",)
    assert done("source env && rm a", told, cwd="/w") is None
    assert done("cat a", "x\n(Current directory: /v) bash-$", cwd=None).paths == ("/v/a",)


@pytest.mark.parametrize(
    ("plain", "arguments", "path"),
    [
        ("shell", {"command": ["cat", "a b"]}, "/w/a b"),
        ("shell", {"command": ["cat", "*"]}, "/w/*"),
        ("shell", {"command": ["bash", "-lc", "cat a"]}, "/w/a"),
        ("shell", {"command": ["/bin/zsh", "-c", "cat a"]}, "/w/a"),
        ("shell", {"command": ["bash", "-x", "-c", "cat a"]}, None),
        ("shell", {"command": ["fish", "-c", "cat a"]}, None),
        ("shell", {"command": ["cat", 7]}, None),
        ("shell", {"command": []}, None),
        ("shell", {"command": None}, None),
        ("shell", {}, None),
        ("shell", None, None),
        ("bash", "cat a", "/w/a"),
        ("cat", "a", "/w/a"),
        ("cat", {"path": "a"}, None),
        ("execcommand", {"cmd": "cat a"}, "/w/a"),
        ("python", {"command": "cat a"}, None),
        ("grep", {"command": "cat a"}, None),
    ],
)
def test_where_tools_have_their_command(plain, arguments, path):
    found = shelled(plain, arguments, "text", CWD)
    assert found == (None if path is None else Shelled((path,), True))


PIECES = (
    *(
        "cat",
        "rm",
        "mv",
        "cp",
        "sed",
        "-i",
        "-n",
        "tee",
        "git",
        "checkout",
        "--",
        "cd",
        "echo",
        "a",
    ),
    *(
        " ",
        " ",
        " ",
        "\n",
        "\\",
        "'",
        '"',
        "`",
        "$",
        "$(",
        "${",
        "(",
        ")",
        "{",
        "}",
        "[[",
        "#",
        "!",
    ),
    *(
        "&&",
        "||",
        "|",
        "&",
        ";",
        ">",
        ">>",
        "<",
        "<<",
        "<<'EOF'",
        "EOF",
        "2>",
        ">&",
        "1",
        "\0",
        "é",
    ),
    *("\ud800", "\u2028", "~", "*", "/", "..", "\r\n", "\t", "-", "=", "'EOF'\nx\nEOF"),
)


@pytest.mark.parametrize("seed", range(20))
def test_no_text_ends_in_a_traceback(seed):
    draw = random.Random(seed)
    for _ in range(400):
        command = "".join(draw.choices(PIECES, k=draw.randrange(1, 14)))
        result = "".join(draw.choices(PIECES, k=draw.randrange(4)))
        arguments = draw.choice([{"command": command}, {"command": command.split(" ")}, command])
        plain = draw.choice(["bash", "shell", "cat", "execcommand"])
        found = shelled(plain, arguments, result, draw.choice([None, CWD, "", "C:\\w"]))
        assert found is None or (found.paths and all(found.paths))
        assert found is None or not any("\0" in path for path in found.paths)


def test_a_long_line_is_told_at_once():
    for command in ("a" * 10**6, "cat " + "'" * 10**5, "x " * 10**5, "((" * 10**5, '"$' * 10**5):
        done(command, "y" * 10**6)
