"""Section 3: the scanner of command lines, held against bash, tree-sitter-bash and lines whose structure is known beforehand."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ctx

pytestmark = pytest.mark.once  # much data: on the main Python only

CORPUS = Path(__file__).parent / "corpus" / "commands.jsonl.gz"
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is the oracle here")
X = ctx.DYNAMIC


def commands():
    """The command lines of the corpus: what real agents typed."""
    with gzip.open(CORPUS, "rt", encoding="utf8") as file:
        return [json.loads(row) for row in file]


def simple(text):
    """(argv, nest) of each simple command with words, in order."""
    line = ctx.scan(text)
    assert not line.unsure, (text, line.unsure)
    return [([word.text for word in c.words], c.nest) for c in line.commands if c.words]


def argvs(text):
    return [argv for argv, _ in simple(text)]


def run_bash(script):
    return subprocess.run(
        [BASH, "--norc", "--noprofile"], input=script.encode("utf8", "surrogatepass"), env={"LC_ALL": "C"}, capture_output=True
    )


# words


@pytest.mark.parametrize(
    "typed, words",
    [
        ("a  b\tc", ["a", "b", "c"]),
        ("a 'b  c' \"d e\" f\\ g", ["a", "b  c", "d e", "f g"]),
        ("a'b'\"c\"d", ["abcd"]),
        ("a '' \"\"", ["a", "", ""]),
        ('a "\\$x \\" \\\\ \\n \\`"', ["a", '$x " \\ \\n `']),
        ("a 'it'\\''s'", ["a", "it's"]),
        ("a b\\\nc \\\n d", ["a", "bc", "d"]),
        ("a $'b c' $'b\\n' $\"b\"", ["a", "b c", X, X]),
        ('a $x ${x} $1 $? "$x" b$x-c $', ["a", X, X, X, X, X, "b" + X + "-c", "$"]),
        ("a $(b c) `d` $((1 + 2)) <(e)", ["a", X, X, X, X]),
        (
            "a *.py a?c [ab] {a,b} {} ~/x a~b x=~/y",
            ["a", X + ".py", "a" + X + "c", X + "ab]", X + "a,b}", "{}", X + "/x", "a~b", "x=" + X + "/y"],
        ),
        ("[ a = b ]", ["[", "a", "=", "b", "]"]),
        ("a#b #c d", ["a#b"]),
        ("a 'x\ny'", ["a", "x\ny"]),
        ("a HEAD@{1}", ["a", "HEAD@" + X + "1}"]),
        ("é 日本 \u2028", ["é", "日本", "\u2028"]),
        ("a b\r", ["a", "b\r"]),
    ],
)
def test_words(typed, words):
    assert argvs(typed)[0] == words


def test_spans_and_quoting():
    line = ctx.scan("FOO=1 a 'b c' >out")
    (command,) = line.commands
    assert [line.text[w.start : w.end] for w in command.assigns] == ["FOO=1"]
    assert [line.text[w.start : w.end] for w in command.words] == ["a", "'b c'"]
    assert [w.quoted for w in command.words] == [False, True]
    assert command.words[1].value == "b c"
    assert ctx.scan("a $x").commands[0].words[1].value is None
    assert (command.start, command.end) == (0, len(line.text))


@pytest.mark.parametrize(
    "raw, name", [("A=1", "A"), ("A+=1", "A"), ("a[1]=x", "a"), ("A=", "A"), ("1A=x", ""), ("A", ""), ("=x", ""), ("--a=b", "")]
)
def test_assignments(raw, name):
    assert ctx.assigned_name(raw) == name


# commands, operators, nesting


def test_operators_and_pipelines():
    line = ctx.scan("a; b && c || ! d | e |& f\ng & time -p h")
    got = [(c.words[0].text, c.before, c.after, c.stage, len(c.pipe), c.background, c.negated, c.timed) for c in line.commands]
    assert got == [
        ("a", "", ";", 0, 1, False, False, False),
        ("b", ";", "&&", 0, 1, False, False, False),
        ("c", "&&", "||", 0, 1, False, False, False),
        ("d", "||", "|", 0, 3, False, True, False),
        ("e", "|", "|&", 1, 3, False, True, False),
        ("f", "|&", "\n", 2, 3, False, True, False),
        ("g", "\n", "&", 0, 1, True, False, False),
        ("h", "&", "", 0, 1, False, False, True),
    ]


def test_a_background_list_is_wholly_in_the_background():
    line = ctx.scan("cd x && (a; b) | c & d")
    assert {c.words[0].text: c.background for c in line.commands if c.words} == {
        "cd": True,
        "a": True,
        "b": True,
        "c": True,
        "d": False,
    }


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("if a; then b; elif c; then d; else e; fi; f", "a:if b:if c:if d:if e:if f:"),
        ("for x in 1 2; do a; done && b", "a:for b:"),
        ("for ((i=0; i<3; i++)); do a; done; b", "a:for b:"),
        ("for x\ndo a\ndone", "a:for"),
        ("V=\\[ a; b[1] c; [ d ]", "a: b" + X + "1]: [:"),
        ("select x in 1; do a; done", "a:select"),
        ("while a; do b; done < f | c", "a:while b:while c:"),
        ("until a; do b; done", "a:until b:until"),
        ("case $x in a|b) c;; (d) e;& *) f;;& esac; g", "c:case e:case f:case g:"),
        ("case x in a) b\nesac", "b:case"),
        ("{ a; }; (b; c) && d", "a:{ b:( c:( d:"),
        ("f() { a; }; function g { b; }; function h() ( c ); d", "a:function,{ b:function,{ c:function,( d:"),
        ('a $(b `c` "$(d)")', "a: b:$( c:$(,` d:$(,$("),
        ("a <(b) > >(c) | d", "a: b:<( c:>( d:"),
        ("[[ $(a) == b && -f c || ! x =~ ^(y|z)$ ]] && d", "a:$( d:"),
        ("((x = 1 < 2)) && a", "a:"),
        ("x=$(a) y=(b $(c) d) e", "e: a:$( c:$("),
        ("x=(a b\n c)\nd", "d:"),
        ("a <<E\n$(b) `c`\nE\nd", "a: b:$( c:` d:"),
        ("a <<'E'\n$(b)\nE\nd", "a: d:"),
        ("a <<-E\n\tx\n\tE\nb", "a: b:"),
        ("a <<E <<F; b\n1\nE\n2\nF\nc", "a: b: c:"),
        ("a <<E\nx\\\nE\nE\nb", "a: b:"),
        ("a \"$(b <<'E'\n\")'\nE\n)\"; c", "a: b:$( c:"),
        ("a; # b; c\nd", "a: d:"),
        ("echo if then }; a do done", "echo: a:"),
        ("a &> f & b &>> g; c >| h <> i <<< j 2>&1 3>&-", "a: b: c:"),
    ],
)
def test_structure(typed, expected):
    assert " ".join("%s:%s" % (argv[0], ",".join(nest)) for argv, nest in simple(typed)) == expected


def test_redirections():
    line = ctx.scan("2>err a <in >>out 2>&1 &>all <<'E' b\nbody\nE\n")
    (command,) = line.commands
    assert [(r.fd, r.op, r.target.text) for r in command.redirects] == [
        ("2", ">", "err"),
        ("", "<", "in"),
        ("", ">>", "out"),
        ("2", ">&", "1"),
        ("", "&>", "all"),
        ("", "<<", "E"),
    ]
    assert line.text[slice(*command.redirects[-1].body)] == "body\n"
    assert argvs("a2>f b 22>g") == [["a2", "b"]]


def test_a_function_has_a_name_and_no_words():
    (definition, body, inner) = ctx.scan("f () { a; }").commands
    assert (definition.kind, definition.name, definition.words) == ("function", "f", [])
    assert (body.kind, inner.words[0].text) == ("{", "a")


@pytest.mark.parametrize(
    "typed",
    [
        "a 'b", 'a "b', "a $(b", "a `b", "a ${b", "a $((1", "a <<E\nb", "a <<E", "a (b)", "a )", "a; }", "if a; fi", "fi",
        "a && ", "| a", "a;;", "for x in a; b; done", "case x a) b;; esac", "[[ a", "a > ", "a > | b", "a\0b", "{fd}>f a",
        "coproc a", "a <<$x\nb\n$x", "((a; b) | c)", "a &\\\n& b", "x=(a", "a ${x:-'}'} \"${x:-'}'}\"", "a $[1]",
        "( " * 60 + "a" + " )" * 60, "!(a|b) c(d)", "a ${ b; }", "cat <<E $(a\nb)\nE\n", "a[b c]=1 d", "time\\\n a",
        "else\\\n a", ">&-n a", "a > 2>&1", "in", "]] a", "a | time b", "a || }", "a `b \\`c\\`` d", "function f", "f() a",
        "[[ a\n# b\n]]",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_unsure(typed):
    line = ctx.scan(typed)
    assert line.unsure
    assert 0 <= line.at <= len(typed)


# oracles


@needs_bash
@pytest.mark.once
def test_bash_accepts_what_the_scanner_understands():
    rejected = []
    for row in commands():
        if (
            not ctx.scan(row["command"]).unsure
            and subprocess.run([BASH, "-n"], input=row["command"].encode("utf8"), capture_output=True).returncode
        ):
            rejected.append(row["command"])
    assert rejected == []


def test_nearly_all_real_lines_are_understood():
    lines = [ctx.scan(row["command"]) for row in commands()]
    assert sum(bool(line.unsure) for line in lines) <= len(lines) * 0.002


@needs_bash
def test_static_words_are_the_words_that_bash_sees():
    script, expected = ['p() { printf "%s\\0" $# "$@"; }'], []
    for row in commands():
        line = ctx.scan(row["command"])
        for command in line.commands:
            if command.words and all(word.value is not None for word in command.words) and not line.unsure:
                script.append("p " + " ".join(line.text[word.start : word.end] for word in command.words))
                expected += [str(len(command.words)), *(word.text for word in command.words)]
    assert len(script) > 10_000
    assert run_bash("\n".join(script)).stdout.decode("utf8").split("\0")[:-1] == expected


def tree_sitter_starts(parser, text):
    """The offsets of the first words of the simple commands that tree-sitter-bash finds; None where it finds an error."""
    data = text.encode("utf8")
    root = parser.parse(data).root_node
    if root.has_error:
        return None
    starts, nodes = set(), [root]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        bracket = (
            node.type == "test_command"
            and data[node.start_byte : node.start_byte + 1] == b"[" != data[node.start_byte + 1 : node.start_byte + 2]
        )
        if bracket or node.type in ("command_name", "declaration_command", "unset_command"):
            starts.add(len(data[: node.start_byte].decode("utf8")))
    return starts


@pytest.mark.once
def test_tree_sitter_finds_the_same_commands():
    tree_sitter = pytest.importorskip("tree_sitter", reason="tree-sitter is the oracle here")
    grammar = pytest.importorskip("tree_sitter_bash", reason="tree-sitter-bash is the oracle here")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    compared, different = 0, []
    for row in commands():
        line = ctx.scan(row["command"])
        theirs = tree_sitter_starts(parser, line.text)
        if line.unsure or theirs is None or any(c.timed for c in line.commands):  # it takes `time` for a program
            continue
        compared += 1
        if theirs != {c.words[0].start for c in line.commands if c.words}:
            different.append(line.text)
    assert compared > 5_100
    # It joins a line that follows a pipeline behind an empty one; bash -x does not.
    assert len(different) <= 8 and all("\n\n" in text or "| grep" in text or "| head" in text for text in different), different


# lines whose structure is known

PLAIN = st.text("abcxyzABC019_./:,@%+-=", min_size=1, max_size=6)
INNER = st.characters(exclude_characters="\0", exclude_categories=["Cs"])


def escaped(text):
    return "".join("\\" + c if c in '"$`\\' else c for c in text)


STATIC = st.one_of(
    PLAIN.map(lambda t: (t, t)),
    st.text(INNER, max_size=8).filter(lambda t: "'" not in t).map(lambda t: ("'%s'" % t, t)),
    st.text(INNER, max_size=8).map(lambda t: ('"%s"' % escaped(t), t)),
    st.sampled_from("$\"'`\\ ;&|<>()#*?[]{}~!a").map(lambda c: ("\\" + c, c)),
    st.just(("\\\n", "")),
)
EXPANDED = st.sampled_from(["${x}", "${x:-y z}", '"$x"', "*", "?", "$((1 + (2)))", "$?", '"${x#"a b"}"', "$'\\n'"])
NAMES = st.sampled_from(["alpha", "./b-1", "g++", "e.sh", "_f"])


@st.composite
def lines(draw):
    """(text of a line, [(argv, nest)] of the simple commands in it)."""
    found = []

    def word(nest, depth):
        pieces = []
        for _ in range(draw(st.integers(1, 3))):
            choice = draw(st.integers(0, 9))
            if choice == 0:
                pieces.append((draw(EXPANDED), X))
            elif choice == 1 and depth:
                opening, closing = draw(st.sampled_from([("$( ", ")"), ('"$( ', ')"')]))
                pieces.append((opening + body(nest + ("$(",), depth - 1) + closing, X))
            else:
                pieces.append(draw(STATIC))
        return "".join(typed for typed, _ in pieces), "".join(text for _, text in pieces)

    def command(nest, depth):
        place = len(found)
        found.append(None)
        typed = ["V%d=%s" % (i, word(nest, depth)[0]) for i in range(draw(st.integers(0, 2)))]
        name = draw(NAMES)
        typed.append(name)
        argv = [name]
        for _ in range(draw(st.integers(0, 3))):
            raw, text = word(nest, depth)
            if draw(st.integers(0, 5)) == 0:
                typed.append(draw(st.sampled_from(["> ", "2>", ">>", "< ", "&>", "<<< "])) + "f" + raw)
            else:
                typed.append("w" + raw)
                argv.append("w" + text)
        found[place] = (argv, nest)
        return draw(st.sampled_from([" ", "  ", "\t", " \\\n "])).join(typed)

    def compound(nest, depth):
        kind = draw(st.sampled_from(["if", "for", "while", "case", "{", "(", "function", "[[", "(("]))
        if kind == "[[":
            return "[[ -f %s && a =~ ^(b|c)$ ]]" % draw(PLAIN)
        if kind == "((":
            return "((i = (1 + 2) * 3))"
        inner = nest + ((kind,) if kind != "function" else ("function", "{"))
        form = {
            "if": "if %s then %s else %s fi",
            "for": "for v in a 'b c' $d; do %s done",
            "while": "while %s do %s done",
            "case": "case $v in a|'b') %s ;; *) %s esac",
            "{": "{ %s }",
            "(": "( %s )",
            "function": "f() { %s }",
        }[kind]
        return form % tuple(body(inner, depth - 1) for _ in range(form.count("%s")))

    def stage(nest, depth):
        return compound(nest, depth) if depth and draw(st.integers(0, 4)) == 0 else command(nest, depth)

    def item(nest, depth):
        prefix = ["", "", "! "] + ["time "] * (nest[-1:] != ("$(",))  # bash 5.2 itself rejects $(time { a; })
        parts = [draw(st.sampled_from(prefix)) + stage(nest, depth)]
        for _ in range(draw(st.integers(0, 2))):
            parts += [draw(st.sampled_from([" | ", "|", " |& ", " && ", "||", " &&\n", " | # c\n"])), stage(nest, depth)]
        return "".join(parts)

    def body(nest, depth):
        """A list whose every item is ended, so that a closing word may follow."""
        text = ""
        for _ in range(draw(st.integers(1, 2))):
            if draw(st.integers(0, 9)) == 0:
                name = draw(NAMES)
                found.append(([name], nest))
                text += "%s <<'E' # c\n%s\nE\n" % (name, draw(st.sampled_from(["", "it's", "$(x", "`", "a\nb"])))
            else:
                text += item(nest, depth) + draw(st.sampled_from(["; ", "\n", " &\n", " # it's\n", ";\n\n"]))
        return text

    return body((), draw(st.integers(0, 2))), found


@pytest.mark.timeout(900)
@given(lines())
def test_generated_lines_are_read_as_they_were_built(case):
    text, expected = case
    assert simple(text) == expected


@needs_bash
@pytest.mark.once
@settings(max_examples=200)
@given(lines())
def test_generated_lines_are_bash(case):
    text, _ = case
    done = subprocess.run([BASH, "-n"], input=text.encode("utf8"), capture_output=True)
    assert done.returncode == 0, done.stderr


@needs_bash
@given(st.lists(st.lists(STATIC, min_size=1, max_size=3), min_size=1, max_size=4))
def test_generated_words_are_those_that_bash_sees(words):
    typed = ["w" + "".join(raw for raw, _ in pieces) for pieces in words]
    line = ctx.scan("p " + " ".join(typed))
    assert [word.value for word in line.commands[0].words[1:]] == ["w" + "".join(text for _, text in pieces) for pieces in words]
    done = run_bash('p() { printf "%s\\0" "$@"; }\n' + line.text)
    assert done.stdout.decode("utf8").split("\0")[:-1] == [word.value for word in line.commands[0].words[1:]]


# robustness


def check_spans(line):
    text, last = line.text, 0
    assert 0 <= line.at <= len(text)
    for command in line.commands:
        assert last <= command.start <= len(text)
        last = command.start
        if line.unsure:
            continue
        assert command.start <= command.end <= len(text)
        parts = sorted([*command.assigns, *command.words, *command.redirects], key=lambda part: part.start)
        for part, following in itertools.zip_longest(parts, parts[1:]):
            assert command.start <= part.start < part.end <= (following.start if following else command.end)
        assert command.pipe[command.stage] is command


TOKENS = """a b 1 # $ ' " ` \\ ; & | < > ( ) { } [ ] ! = * ? ~ - << <<E E $( ${ $(( (( )) [[ ]] if then else fi for in do done while
case esac function time ;; && || |& &> >& 2>&1 <( >( x= x=( é""".split()
SHELLISH = st.lists(st.sampled_from([*TOKENS, " ", "\n", "\t", "\0", "\ud800"]), max_size=60).map("".join)


@given(SHELLISH | st.text(st.characters(), max_size=200))
def test_any_text_gives_a_line(text):
    check_spans(ctx.scan(text))


@pytest.mark.slow
@given(st.data())
def test_any_mutation_of_a_real_line_gives_a_line(data):
    text = data.draw(st.sampled_from(LINES))["command"]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    check_spans(ctx.scan(text[:start] + data.draw(SHELLISH) + text[end:]))


# Without `>& word`: bash itself expands that word twice.
RUNNABLE = """a b a b a 1 x "a b" 'c d' # $x "$x" ${x:-y} \\ ; & | < > >f ( ) { } [[ ]] ! = * ~ -n << <<E E $(a) $( `a` ` ${
$((1)) (( )) if then else fi for x in do done case esac function time ;; && || |& &> 2>&1 <( x= x=( é a; a| b'
"b $'a 2>f b>f a) (a {a a} !a a=b""".split()
STUBS = r"""
a() { printf '%s\0' $(($# + 1)) a "$@" >> "$LOG"; }
b() { printf '%s\0' $(($# + 1)) b "$@" >> "$LOG"; }
enable -n kill cd source . exec eval wait
ulimit -t 5
"""


@needs_bash
@pytest.mark.slow
@pytest.mark.timeout(900)
@given(st.lists(st.tuples(st.sampled_from([*RUNNABLE, "\n", "\\\n"]), st.sampled_from([" ", " ", " ", ""])), max_size=14))
def test_what_bash_runs_is_what_the_scanner_found(tmp_path_factory, pieces):
    """Lines of random tokens, in which only the functions a and b can run: each argv they get is that of a command we found."""
    line = ctx.scan("".join(itertools.chain.from_iterable(pieces)))
    assume(not line.unsure and line.commands)
    folder = tmp_path_factory.mktemp("runs")
    (folder / "stubs").write_text(STUBS)
    (folder / "log").touch()
    env = {
        "BASH_ENV": str(folder / "stubs"),
        "LOG": str(folder / "log"),
        "PATH": "/nonexistent",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    shell = [BASH, "--norc", "--noprofile", "-c", "--", line.text]
    (folder / "w").mkdir()
    subprocess.run(shell, cwd=folder / "w", env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    found = [joined([re.escape(word.text).replace(re.escape(X), ".*") for word in c.words]) for c in line.commands if c.words]
    ran = (folder / "log").read_text("utf8").split("\0")[:-1]
    while ran:
        argv, ran = ran[1 : int(ran[0]) + 1], ran[int(ran[0]) + 1 :]
        assert any(re.match(pattern, "\0".join(argv), re.S) for pattern in found), argv


def joined(patterns):
    """A pattern of an argv, joined by NUL, in which a word that is not known may be any number of words."""
    return "\0?".join("(?:%s)?" % pattern if ".*" in pattern else pattern for pattern in patterns) + r"\Z"


LINES = commands()[::50]


def test_every_cut_of_a_real_line_gives_a_line():
    for row in LINES[:40]:
        for end in range(len(row["command"])):
            check_spans(ctx.scan(row["command"][:end]))


def steps(function, *arguments):
    """How many lines of Python `function` executes."""
    count = 0

    def tick(frame, event, argument):
        nonlocal count
        count += event == "line"
        return tick

    outer = sys.gettrace()
    sys.settrace(tick)
    try:
        function(*arguments)
    finally:
        sys.settrace(outer)
    return count


FLOODS = [
    "a;", "a|", "a&", "a && ", "a\n", "'a'", '"a"', "\\a", "\\\n", "#a\n", "$a", '"$a"', "$(a)", "`a`", "${a}", "$((1))",
    "a=(b) ", ">f ", "2>&1 ", "a 2>f;", "{ a; };", "(a);", "if a; then b; fi;", "case a in b) c;; esac;", "[[ a ]];", "((a));",
    "f() { a; };", "a <<E\nb\nE\n", "<(a) ", "a=(", "$(", "${a:-", '"$(', "`", "((", "{ ", "( ", "if ", "[[ ", "a <<E;", "*",
    "a=b ", "time ", "! ", "<", "((a)",
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
def test_time_is_linear(flood):
    short, long = flood * (2_000 // len(flood)), flood * (4_000 // len(flood))
    assert steps(ctx.scan, long) <= 2.1 * steps(ctx.scan, short) + 500
