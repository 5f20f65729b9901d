"""symbols: where a name is, what each occurrence is, what a file defines; by tree-sitter, by `ast`, and by neither."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import ctx

pytestmark = pytest.mark.once

pytest_plugins = ["places"]

FIXTURES = Path(__file__).resolve().parent / "symbols"
KINDS = {name: i for i, name in enumerate(ctx.SITE_CLASSES)}


def expected():
    """What symbols/expected.txt says: of each file its definitions, calls, imports, and the classes of the lines that name `total`."""
    blocks = re.split(r"^== (.*)\n", (FIXTURES / "expected.txt").read_text(), flags=re.M)[1:]
    return dict(zip(blocks[::2], [block.strip().split("\n") for block in blocks[1::2]]))


EXPECTED = expected()


def told(extraction):
    lines = ["%s %s %d-%d" % (symbol.kind, symbol.path, symbol.first, symbol.last) for symbol in extraction.symbols]
    calls = {}
    for name, line in extraction.calls:
        calls.setdefault(line, []).append(name)
    lines += ["call %d %s" % (line, " ".join(names)) for line, names in calls.items()]
    return lines + [("import %s: %s" % (module, " ".join(names))).rstrip(": ") for module, names in extraction.imports]


def files(top, **texts):
    for name, text in texts.items():
        path = top / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def names_of(answer):
    return [(row["path"], row["line"], row["kind"]) for row in answer.rows]


@pytest.fixture
def no_parser(monkeypatch):
    """As where neither tree-sitter nor its grammars are installed."""
    monkeypatch.setattr(ctx, "by_tree_sitter", lambda *_: None)


# ── each language: a file, and what is in it


def test_every_language_with_a_query_has_a_fixture():
    queries = {path.stem for path in (FIXTURES.parent.parent / "grammars").glob("*.scm")}
    assert queries == set(ctx._WITH_GRAMMAR) == {ctx.kind_of_file(name).name for name in EXPECTED}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_query_finds_what_a_file_defines_calls_and_imports(home, name):
    language = ctx.kind_of_file(name).name
    pytest.importorskip("tree_sitter")
    pytest.importorskip("tree_sitter_" + ctx._GRAMMARS.get(language, language).split()[0].replace("-", "_"))
    found = ctx.extraction_of(name, (FIXTURES / name).read_bytes())
    assert (found.engine, found.broken) == ("tree-sitter", False)
    assert told(found) == EXPECTED[name][:-1]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_line_that_holds_a_name_is_of_the_right_class(name):
    words = [b"total"] if name == "shop.tsx" else [b"total", b"Total"]
    sites = ctx.name_finder(words)(name, (FIXTURES / name).read_bytes())
    assert "total: " + " ".join("%d=%s" % (site.line, ctx.SITE_CLASSES[site.kind]) for site in sites) == EXPECTED[name][-1]


def test_ast_finds_what_tree_sitter_finds(home, no_parser):
    found = ctx.extraction_of("shop.py", (FIXTURES / "shop.py").read_bytes())
    assert found.engine == "ast"
    wanted = [line for line in EXPECTED["shop.py"][:-1] if not line.endswith(" property")]  # a decorator is no call to `ast`
    assert sorted(told(found)) == sorted(wanted)


@pytest.mark.parametrize("name", EXPECTED)
def test_without_a_parser_functions_and_classes_are_found(home, no_parser, name, monkeypatch):
    monkeypatch.setattr(ctx, "by_ast", lambda data: None)
    found = ctx.extraction_of(name, (FIXTURES / name).read_bytes())
    assert found.engine == "lexical"
    defined = {(symbol.name, symbol.line) for symbol in found.symbols}
    wanted = [line.split() for line in EXPECTED[name][:-1] if line.split()[0] in ("function", "class", "struct", "interface", "trait", "enum")]
    missing = {path for _, path, _ in wanted} - {path for _, path, _ in wanted if path.rpartition(".")[2] in {name for name, _ in defined}}
    # one-liners of the fixtures, where a second definition stands on the line of a first
    assert missing <= {"inner", "Size.Small", "close", "Example.Shop.Shop.Total.Inner", "sum"}, missing


# ── the pins


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_the_pins_name_a_wheel_for_every_language_and_platform():
    text = (FIXTURES.parent.parent / "grammars" / "grammars.toml").read_bytes()
    pins = ctx.parse_toml("grammars.toml", text)
    required = (FIXTURES.parent.parent / "requirements.txt").read_text()
    assert {language for package in pins["packages"].values() for language in package["languages"]} == set(ctx._WITH_GRAMMAR)
    for name, package in pins["packages"].items():
        wheels = package["wheels"]
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in wheels.values())
        assert all(file.startswith("%s-%s-" % (name.replace("-", "_"), package["version"])) for file in wheels)
        for platform in pins["platforms"]:
            family, machine = platform.split()
            assert any(family in file and file.endswith("_%s.whl" % machine) for file in wheels), (name, platform)
        assert "%s==%s " % (name, package["version"]) in required  # what the tests run is what is shipped
        assert all(digest in required for digest in wheels.values())


# ── what a name is, lexically

CASES = [
    ("a.py", "x = 'NAME'", "string"),
    ("a.py", "x = f'{NAME}'", "use"),
    ("a.py", "x = f'{{NAME}}'", "string"),
    ("a.py", "x = rb'\\' # ' + NAME", "use"),
    ("a.py", "'''\n'\nNAME '''", "string"),
    ("a.py", "''' ' ''' + NAME", "use"),
    ("a.py", "x = '#' + NAME", "use"),
    ("a.py", "x = 'it\\'s' # NAME", "comment"),
    ("a.py", "don't\nNAME()", "use"),
    ("a.py", "async def NAME(): pass", "definition"),
    ("a.py", "class NAME: pass", "definition"),
    ("a.py", "NAME = 1", "definition"),
    ("a.py", "NAME: int", "definition"),
    ("a.py", "a = NAME = 1", "definition"),
    ("a.py", "NAME == 1", "use"),
    ("a.py", "f(NAME=1)", "use"),
    ("a.py", "def f():\n    NAME = 1", "use"),
    ("a.py", "class A:\n    x = 1\n\n    NAME = 1", "definition"),
    ("a.py", "from a import NAME", "use"),
    ("a.js", "const NAME = 1", "definition"),
    ("a.js", "x = a / b; NAME / 2", "use"),
    ("a.js", "x = /['\"]/.test(y) + NAME", "use"),
    ("a.js", "x = /[/]NAME/", "string"),
    ("a.js", "`${`a`} NAME`", "string"),
    ("a.js", "`a` + NAME + `b`", "use"),
    ("a.js", "// it's\nNAME()", "use"),
    ("a.js", "if (NAME(1)) {", "use"),
    ("a.js", "  NAME(a) {", "definition"),
    ("a.js", "  NAME = (a) => 1", "definition"),
    ("a.vue", "<!-- NAME -->", "comment"),
    ("a.go", "func (r *T[K]) NAME() {", "definition"),
    ("a.go", "x := `\n\\` + NAME", "use"),
    ("a.go", "r := '\"'; NAME()", "use"),
    ("a.rs", "fn f<'a>(x: &'a str) { NAME('\"') }", "use"),
    ("a.rs", "let s = r#\"\"NAME\"#;", "string"),
    ("a.rs", "let c = '\\''; NAME", "use"),
    ("a.rs", "/* a /* b */ NAME */", "comment"),
    ("a.rs", "/* a /* b */ c */ NAME", "use"),
    ("a.c", "static int NAME(int x) {", "definition"),
    ("a.c", "int NAME(int x);", "definition"),
    ("a.c", "#define NAME 1", "definition"),
    ("a.c", "struct NAME {", "definition"),
    ("a.c", "enum NAME", "definition"),
    ("a.c", "  struct NAME *x = f();", "use"),
    ("a.c", "int f(struct NAME x, int y);", "use"),
    ("a.java", "  class NAME<T> extends A {", "definition"),
    ("a.c", "NAME(1);", "use"),
    ("a.c", "NAME(\"x\")\n", "use"),
    ("a.c", "static int\nNAME(int x)\n{", "definition"),
    ("a.c", "  return NAME(1);", "use"),
    ("a.c", "\n  return NAME(1) # x\n", "use"),
    ("a.c", "  x = NAME(1);", "use"),
    ("a.c", "NAME(int x)\n{", "definition"),
    ("a.cpp", "auto x = R\"a(\" NAME )a\";", "string"),
    ("a.cpp", "void A::B::NAME() const {", "definition"),
    ("a.java", "  public static <T> List<T> NAME(T x) throws E {", "definition"),
    ("a.java", "  new NAME(1) {", "use"),
    ("a.java", "  else if (x) NAME(1);", "use"),
    ("a.cs", "var s = @\"\\\"; NAME();", "use"),
    ("a.cs", "var s = $\"{NAME}\";", "use"),
    ("a.rb", "def self.NAME", "definition"),
    ("a.rb", "x = <<~A\n NAME\nA", "string"),
    ("a.rb", "x << NAME", "use"),
    ("a.rb", "=begin\nNAME\n=end", "comment"),
    ("a.rb", "\"#{NAME}\"", "use"),
    ("a.php", "#[NAME]", "use"),
    ("a.php", "# NAME", "comment"),
    ("a.php", "private ?int $NAME;", "definition"),
    ("a.sh", "NAME() {", "definition"),
    ("a.sh", "function NAME {", "definition"),
    ("a.sh", "echo ${#x} NAME", "use"),
    ("a.sh", "x=1 # NAME", "comment"),
    ("a.sh", "cat <<'E'\nNAME\nE\n", "string"),
    ("a.sh", "echo \"a $NAME\"", "use"),
    ("a.lua", "--[[ NAME ]]", "comment"),
    ("a.sql", "CREATE TABLE IF NOT EXISTS NAME (", "definition"),
    ("a.kt", "fun NAME()", "definition"),
    ("README.md", "NAME", "document"),
    ("a.json", "{\"NAME\": 1}", "configuration"),
    ("Makefile", "NAME:", "configuration"),
    ("a.unknown", "NAME", "other"),
    ("noending", "#!/usr/bin/env python3\nNAME = 1", "definition"),
    ("a.py", "NAME = 1\0", "other"),
]


@pytest.mark.parametrize("path, text, kind", CASES, ids=["%s %s" % case[:2] for case in CASES])
def test_class(path, text, kind):
    sites = ctx.name_finder([b"NAME"])(path, text.encode())
    assert [ctx.SITE_CLASSES[site.kind] for site in sites] == [kind]


@given(st.lists(st.sampled_from(["NAME", "_", "a", "é", "“", "1", " ", "\n", "\r\n", "-", "$", "x NAME y", "ſ", "'", '"', "#", "/*", "`", "\\"]), max_size=40).map("".join))
@example("NAME\nNAME")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_lines_are_those_that_a_word_search_finds(text):
    data = text.encode()
    wanted = [i for i, line in enumerate(data.split(b"\n"), 1) if re.search(r"(?<!\w)NAME(?!\w)", line.decode())]
    for path in ("a.py", "a.js", "a.rs", "a.sh", "a.md", "a"):
        assert [site.line for site in ctx.name_finder([b"NAME"])(path, data)] == wanted


def test_classification_takes_linear_time():
    """No text makes an expression go back over itself: twice the text takes about twice the steps, so a large one ends."""
    for path in ("a.py", "a.js", "a.go", "a.rs", "a.java", "a.cpp", "a.cs", "a.rb", "a.php", "a.sh", "a.lua", "a.hs"):
        for piece in (b'"', b"'", b"`", b"/*", b"/", b"\\", b"#", b"<<A\n", b"(", b"*", b"a ", b"a::", b"${", b"{", b"= /", b"r#\"", b"a, "):
            ctx.name_finder([b"NAME"])(path, piece * (20_000 // len(piece)) + b" NAME = 1\n")


# ── many files


@pytest.mark.skipif(not shutil.which("rg"), reason="ripgrep is the oracle here")
def test_refs_finds_the_lines_that_ripgrep_finds(workspace):
    texts = ["x NAME y\n", "NAMES NAME_ éNAME\n", "NAME\r\n", "“NAME”\n", "-NAME-\nxNAME NAME\n", "NAME₁\nNAMEé\nNAMEⅣ NAME٣\nNAME\u0301\n", "\xff NAME\n".encode("latin-1")]
    for i, text in enumerate(texts * 3):
        files(workspace, **{"d%d__f%d_%s" % (i % 3, i, ("py", "md", "txt", "js")[i % 4]): text})
    shutil.rmtree(workspace / ".git")
    subprocess.run(["git", "init", "-q", "."], check=True)
    files(workspace, **{"_gitignore": "", "out__x_py": "NAME\n"})
    (workspace / ".gitignore").write_text("/out/\n")
    found = subprocess.run(["rg", "-n", "-w", "--no-heading", "NAME"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.decode("latin-1")
    wanted = sorted(tuple(line.split(":")[:2]) for line in found.split("\n")[:-1])
    assert wanted and sorted((row["path"], str(row["line"])) for row in ctx.find_refs(["NAME"]).rows) == wanted


def test_two_processes_find_what_one_finds(workspace, monkeypatch):
    for i in range(50):
        files(workspace, **{"f%d_py" % i: "NAME = %d\n# NAME\n" % i * (i % 3)})
    one = ctx.find_refs(["NAME"]).rows
    monkeypatch.setattr(ctx, "SCAN_SHARE", 2)
    monkeypatch.setattr(ctx, "processors", lambda: 2)
    assert ctx.find_refs(["NAME"]).rows == one


def test_a_large_file_is_read_whole(workspace):
    files(workspace, a_py=b"x = 1\n" * (ctx.SCAN_BUFFER // 6) + b"NAME = 1\n", b_py=b"#" * (ctx.SCAN_BUFFER - 4) + b"NAMES")
    found = ctx.find_refs(["NAME"])
    assert [(row["path"], row["class"]) for row in found.rows] == [("a.py", "definition")]  # in b.py a word goes on


def test_what_cannot_be_read_is_unknown_and_not_none(workspace, call, monkeypatch):
    monkeypatch.setattr(ctx, "SCAN_LIMIT", ctx.SCAN_BUFFER)
    files(workspace, a_py=b"x" * (ctx.SCAN_BUFFER + 1))
    done = call("refs", "NAME")
    assert done.status == 1 and "unknown: 1 file was not read (a.py)" in done.err


def test_a_binary_file_is_one_mention(workspace, call):
    files(workspace, a_py="NAME\n", b_bin=b"\0\nNAME\nNAME\x1b[31m\n")
    done = call("refs", "NAME")
    assert b"0 definitions, 1 use, 1 mention in 2 files" in done.out and b"  b.bin:2: (binary)" in done.out


def test_links_and_special_files_are_no_files(workspace):
    files(workspace, a_py="NAME\n")
    (workspace / "b.py").symlink_to("a.py")
    (workspace / "c.py").symlink_to("nowhere")
    os.mkfifo(str(workspace / "d.py"))
    assert [row["path"] for row in ctx.find_refs(["NAME"]).rows] == ["a.py"]


@pytest.mark.parametrize("name", ["", "a b", "a|b", "1", "a.b", "(", "a\nb", "a" * 256])
def test_what_is_no_name_is_refused(workspace, call, name):
    done = call("q", "refs '%s'" % name) if "|" not in name else call("refs", "a||b")
    assert done.status == 2 and done.out == b""


# ── refs


def test_refs_shows_definitions_then_uses_then_mentions(workspace, call):
    files(workspace, a_py="# NAME\nNAME()\n", b_py="def NAME():\n    pass\n", c_md="NAME\n")
    done = call("refs", "NAME")
    assert done.status == 0
    lines = done.out.decode().split("\n")
    assert lines[0] == "NAME: 1 definition, 1 use, 2 mentions in 3 files (of 3 searched)"
    assert lines[1].startswith("engine: lexical; ")
    at = [lines.index(heading + ":") for heading in ("definitions", "uses", "mentions")]
    assert at == sorted(at)
    assert any(re.fullmatch(r"  repo:b\.py:1-2@[0-9a-f]{8}  function NAME  est \d+ tokens", line) for line in lines)
    assert "  a.py:1: # NAME  · comment" in lines and "  c.md:1: NAME  · document" in lines


def test_several_names(workspace):
    files(workspace, a_py="A\nB\nA B\nC\n")
    assert [row["line"] for row in ctx.find_refs(["A", "B"]).rows] == [1, 2, 3]


def test_nothing_found(workspace, call):
    files(workspace, a_py="x\n")
    done = call("refs", "NAME")
    assert done.status == 1 and done.out.startswith(b"NAME: 0 definitions, 0 uses, 0 mentions in 0 files (of 1 searched)\n")


def test_every_address_can_be_read_and_holds_what_is_shown(workspace, call):
    files(workspace, **{"a b__c_py": "x = 1\n\n\ndef NAME():\n    return NAME\n"})
    done = call("refs", "NAME")
    addresses = re.findall(r"^  ('?repo:.*?@[0-9a-f]{8}'?)", done.out.decode(), re.M)
    assert len(addresses) == 1
    rows = json.loads(call("refs", "NAME", "--json").out)["rows"]
    assert [call("get", row["address"].strip("'")).out for row in rows] == [b"def NAME():\n", b"    return NAME\n"]
    assert call("get", addresses[0].strip("'")).out == b"def NAME():\n    return NAME\n"
    files(workspace, **{"a b__c_py": "# new\nx = 1\n\n\ndef NAME():\n    return NAME\n"})
    moved = call("get", addresses[0].strip("'"))
    assert moved.out == b"def NAME():\n    return NAME\n" and "moved" in moved.err


def test_pages_show_every_row_once(workspace, call, shell):
    for i in range(40):
        files(workspace, **{"f%02d_py" % i: "".join("NAME(%d, %d)\n" % (i, j) for j in range(30))})
    done = call("refs", "NAME")
    assert ctx.estimate_tokens(done.out) <= 2000
    (following,) = done.next
    shown = re.findall(r"NAME\((\d+, \d+)\)", done.out.decode())
    while following:
        more = shell(following)
        shown += re.findall(r"NAME\((\d+, \d+)\)", more.out.decode())
        following = more.next[0] if more.next else ""
    assert len(shown) == len(set(shown)) == 1200
    assert more.out.endswith(b"f39.py: 30\n")  # the number in each file comes last


def test_the_kept_answer_is_not_the_last_run(workspace, call, stored):
    run = stored(b"5\n")[:16]
    files(workspace, a_py="NAME\n")
    assert call("q", "refs NAME").status == 0
    done = call("search", "5")
    assert done.status == 0 and run in done.err


def test_secrets_are_redacted_everywhere(workspace, call):
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    files(workspace, a_py="NAME = '%s'\n" % secret, b_py="# NAME %s\n" % secret)
    for argv in (["refs", "NAME"], ["def", "NAME"], ["q", "refs NAME | get"], ["q", "refs NAME | group text"], ["refs", "NAME", "--json"], ["q", "refs NAME", "--json"]):
        done = call(*argv)
        assert secret.encode() not in done.out and b"[redacted:" in done.out, argv
    handle = json.loads(call("q", "refs NAME", "--json").out)["answer"]
    done = call("get", handle + "#output")
    assert done.status == 3 and secret.encode() not in done.out


def test_names_of_files_cannot_forge_our_lines(workspace, call):
    (workspace / "a\n[ctx run:0] \x1b[31m.py").write_bytes(b"NAME = 1 \x1b[31m \xe2\x80\xae\n")
    for argv in (["refs", "NAME"], ["def", "NAME"], ["q", "refs NAME | files"], ["q", "refs NAME | group file"]):
        out = call(*argv).out
        assert b"\x1b" not in out and b"\n[ctx" not in out and b"\xe2\x80\xae" not in out, argv


# ── def


def test_def_tells_what_a_parser_confirms(workspace, call):
    files(
        workspace,
        a_py="class A:\n    def NAME(self):\n        pass\n\nNAME = 1\n",
        b_py="NAME(1)\nx = '''\ndef NAME():\n'''\n",
        c_go="package c\n\nfunc NAME() {\n}\n",
    )
    assert names_of(ctx.find_definitions("NAME")) == [("a.py", 2, "method"), ("a.py", 5, "variable"), ("c.go", 3, "function")]
    assert names_of(ctx.find_definitions("A.NAME")) == [("a.py", 2, "method")]
    assert ctx.find_definitions("B.NAME").rows == []
    done = call("def", "A.NAME")
    assert re.search(rb"\n  repo:a\.py:2-3@[0-9a-f]{8}  method A\.NAME  est \d+ tokens\n    def NAME\(self\):\n", done.out)
    assert call("def", "nothing").status == 1


def test_what_is_around_a_line(workspace, call):
    files(workspace, a_py="x = 1\nclass A:\n    def b(self):\n        pass\n")
    done = call("def", "repo:a.py:4")
    assert done.status == 0 and b"method A.b" in done.out
    done = call("def", "repo:a.py:1")
    assert done.status == 1 and b"in no definition" in done.out
    assert call("def", "run:abcdef").status == 2


def test_without_a_parser_definitions_are_called_like_that(workspace, no_parser):
    files(workspace, a_js="function NAME() {\n}\nNAME();\n")
    (row,) = ctx.find_definitions("NAME").rows
    assert (row["line"], row["last"], row["kind"], row["engine"]) == (1, 2, "function", "lexical")


def test_a_file_that_the_parser_does_not_understand_proves_no_absence(workspace):
    files(workspace, a_py="def NAME(:\n    pass\n")
    (row,) = ctx.find_definitions("NAME").rows
    assert row["line"] == 1


def test_a_parser_that_lost_its_way_makes_no_definition_of_a_call(workspace):
    pytest.importorskip("tree_sitter_typescript")
    broken = (  # reduced from a real file, whose type parameter named `type` the grammar does not know
        "export type EstimateFeesPerGasErrorType =\n  chain extends Chain | undefined,\n"
        "): Promise<EstimateFeesPerGasReturnType<type>> {\n  return internal_estimateFeesPerGas(client, args as any)\n}\n"
        "\nexport async function internal_estimateFeesPerGas() {\n}\n"
    )
    files(workspace, a_ts=broken)
    assert [row["line"] for row in ctx.find_definitions("internal_estimateFeesPerGas").rows] == [7]


def test_members_that_do_not_look_like_definitions_are_found(workspace):
    pytest.importorskip("tree_sitter_go")
    pytest.importorskip("tree_sitter_rust")
    files(workspace, a_go="package a\n\ntype T struct {\n\tNAME int\n}\n", b_rs="enum E {\n    NAME,\n}\n", c_py="try:\n    NAME = 1\nexcept E:\n    NAME = 2\n")
    assert names_of(ctx.find_definitions("NAME")) == [("a.go", 4, "field"), ("b.rs", 2, "constant"), ("c.py", 2, "variable"), ("c.py", 4, "variable")]


# Found beside Universal Ctags on public packages: a definition of NAME, and what kind it is.
DEFINITIONS = [
    ("a.cs", "class A {\n    public bool NAME<T>(PyObject o, out T? v) => true;\n}\n", "method"),
    ("a.cs", "class A {\n    static (PyType, B.C?) NAME(IntPtr p) => p;\n}\n", "method"),
    ("a.cs", "class A {\n    static readonly D<P, (Q, R.S?)> NAME\n        = new();\n}\n", "field"),
    ("a.cs", "using NAME = System.Int32;\n", "type"),
    ("a.cs", "record A(int NAME);\n", "field"),
    ("a.java", "class A {\n    /*package*/ void NAME() {\n    }\n}\n", "method"),
    ("a.java", "class A {\n    /* package */ static final String NAME = \"x\";\n}\n", "field"),
    ("a.java", "record A(int NAME) {}\n", "field"),
    ("a.rs", "struct A {\n    pub(crate) NAME: Option<B>,\n}\n", "field"),
    ("a.rs", "fn f() {\n    struct A {\n        NAME: u8,\n    }\n}\n", "field"),
    ("a.rs", "fn f() {\n    static NAME: u8 = 1;\n}\n", "static"),
    ("a.go", "package a\n\ntype T struct {\n\tNAME <-chan Time\n}\n", "field"),
    ("a.go", "package a\n\ntype T struct{ NAME []int }\n", "field"),
    ("a.ts", "interface A {\n  NAME<T>(url: string): B<T>;\n}\n", "method"),
    ("a.ts", "interface A {\n  NAME?: boolean;\n}\n", "field"),
    ("a.ts", "class A {\n  constructor(public readonly NAME?: string, b = 1) {}\n}\n", "field"),
    ("a.ts", "class A {\n  constructor(\n    private NAME: B,\n  ) {}\n}\n", "field"),
    ("a.ts", "class A {\n  private NAME: B;\n}\n", "field"),
    ("a.ts", "class A {\n  #NAME = 1;\n}\n", "field"),
    ("a.ts", "namespace A.NAME {\n}\n", "namespace"),
    ("a.ts", "type A = { f: string; NAME(): void };\n", "method"),
    ("a.tsx", "class A {\n  constructor(protected NAME: B) {}\n}\n", "field"),
    ("a.js", "global.NAME = function(text) {\n};\n", "function"),
    ("a.rb", "class A\n  alias_method :NAME, :other\nend\n", "method"),
    ("a.rb", "class A\n  define_method(:NAME) { 1 }\nend\n", "method"),
    ("a.rb", "B, NAME = 1, 2\n", "constant"),
    ("a.rb", "NAME ||= 1\n", "constant"),
    ("a.rb", "A::NAME = 1\n", "constant"),
    ("a.php", "<?php\ndefine('NAME', 2);\n", "constant"),
    ("a.sh", "alias NAME='ls -l'\n", "alias"),
    ("a.sh", "lib::NAME() {\n  :\n}\n", "function"),
    ("a.py", "type NAME[T] = list[T]\n", "type"),
    ("a.py", "(b, NAME) = 1, 2\n", "variable"),
    ("a.py", "b, *NAME = 1, 2\n", "variable"),
    ("a.py", "def f():\n    class A:\n        NAME = 1\n", "field"),
    ("a.py", "def f():\n    NAME = lambda x: x\n", "function"),
    ("a.py", "class A:\n    NAME = lambda self: 1\n", "method"),
    ("a.c", "int (*NAME)(int);\n", "variable"),
    ("a.cpp", "using NAME = int;\n", "type"),
    ("a.cpp", "template <class T>\nusing NAME = std::vector<T>;\n", "type"),
    ("a.cpp", "typedef T& NAME;\n", "type"),
    ("a.cpp", "typedef int NAME;\n", "type"),
    ("a.cpp", "enum { B = 1, NAME = 2 };\n", "constant"),
    ("a.cpp", "enum A {\n  B=1, NAME=2\n};\n", "constant"),
    ("a.cpp", "template <> int NAME<float>(float* to) { return 1; }\n", "function"),
    ("a.cpp", "template <> T* NAME<float>(float* to) { return 0; }\n", "function"),
    ("a.cpp", "array<decltype(f(A())), N> NAME(array<A, N> a) { return a; }\n", "function"),
    ("a.cpp", "namespace a::NAME {\n}\n", "namespace"),
    ("a.cpp", "class A<B>::NAME {\n  int x;\n};\n", "class"),
]  # fmt: skip


@pytest.mark.parametrize("path, text, kind", DEFINITIONS)
def test_every_form_of_a_definition_is_found(workspace, path, text, kind):
    pytest.importorskip("tree_sitter")
    name = ctx.kind_of_file(path).name
    pytest.importorskip("tree_sitter_" + ctx._GRAMMARS.get(name, name).split()[0].replace("-", "_"))
    (workspace / path).write_text(text)
    line = text[: text.index("NAME")].count("\n") + 1
    assert names_of(ctx.find_definitions("NAME")) == [(path, line, kind)]


@pytest.mark.parametrize("path, text", [
    ("a.cpp", "using namespace NAME;\n"), ("a.cpp", "using NAME::x;\n"), ("a.ts", "f(public_, NAME);\n"), ("a.py", "f(NAME=1)\n"), ("a.js", "x.NAME(1);\n"),
    ("a.php", "<?php\necho 'NAME';\n"), ("a.py", "def f():\n    if x:\n        NAME = 1\n"), ("a.tsx", "const a = (\n  <B\n    NAME=\"c\"\n  />\n)\n"),
    ("a.ts", "function f(a: B) {\n  const NAME = 1;\n}\n"), ("a.rs", "fn f() {\n    let NAME = 1;\n}\n"),
])  # fmt: skip
def test_what_only_looks_like_one_is_none(workspace, path, text):
    pytest.importorskip("tree_sitter")
    name = ctx.kind_of_file(path).name
    pytest.importorskip("tree_sitter_" + ctx._GRAMMARS.get(name, name).split()[0].replace("-", "_"))
    (workspace / path).write_text(text)
    assert names_of(ctx.find_definitions("NAME")) == []


def test_what_was_not_parsed_is_unknown(workspace, monkeypatch):
    monkeypatch.setattr(ctx, "PARSE_FILES", 1)
    files(workspace, a_py="def NAME(): pass\n", b_py="if x:\n    NAME = 1\n")
    found = ctx.find_definitions("NAME")
    assert names_of(found) == [("a.py", 1, "function")]
    assert found.remarks == ["unknown: 1 file not parsed that may define it; name a path to look there"]


# ── the cache


def test_an_extraction_is_kept_by_content(home, workspace, monkeypatch):
    monkeypatch.setattr(ctx, "by_tree_sitter", lambda *_: None)
    first = ctx.extraction_of("a.py", b"def f(): pass\n")
    monkeypatch.setattr(ctx, "by_ast", lambda data: pytest.fail("parsed again"))
    again = ctx.extraction_of("b.py", b"def f(): pass\n")
    assert told(again) == told(first) == ["function f 1-1"] and again.engine == "ast"
    with pytest.raises(pytest.fail.Exception):
        ctx.extraction_of("a.py", b"def g(): pass\n")


@pytest.mark.parametrize("damage", [b"", b"{}", b"null", b'["ast",[["f"]],[],[],false]', b'["ast",[],[],[]]', b"[1,2"])
def test_a_damaged_cache_is_not_believed(home, workspace, damage):
    first = told(ctx.extraction_of("a.py", b"def f(): pass\n"))
    (slot,) = (home / "symbols").iterdir()
    slot.write_bytes(slot.read_bytes().split(b"\n")[0] + b"\n" + damage)
    assert told(ctx.extraction_of("a.py", b"def f(): pass\n")) == first


def test_the_cache_is_bounded(home, workspace, monkeypatch):
    monkeypatch.setattr(ctx, "CACHE_SLOTS", 4)
    for i in range(20):
        ctx.extraction_of("a.py", b"def f%d(): pass\n" % i)
    assert len(list((home / "symbols").iterdir())) <= 4


def test_the_store_of_last_resort_has_no_cache(home, workspace, monkeypatch, tmp_path):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(ctx, "state_roots", lambda: [ctx.temp_root()])
    ctx.extraction_of("a.py", b"def f(): pass\n")
    assert not list(tmp_path.rglob("symbols"))


def test_what_a_crash_left_in_the_cache_is_swept(home, workspace):
    ctx.extraction_of("a.py", b"def f(): pass\n")
    (slot,) = (home / "symbols").iterdir()
    stray = home / "symbols" / ".tmp-abc"
    stray.write_bytes(b"")
    for path in (stray, slot):
        os.utime(str(path), (1, 1))
    ctx.sweep(ctx.Store(str(home)))
    assert list((home / "symbols").iterdir()) == [slot]


# ── callers


IMPORTS = [
    ("a/b.py", "c", [], "a/c.py", True),
    ("a/b.py", "c", [], "x/c.py", False),
    ("a/b.py", "c", [], "c.py", True),
    ("a/b.py", "pkg.c", ["NAME"], "src/pkg/c.py", True),
    ("a/b.py", "pkg", ["c"], "src/pkg/c.py", True),
    ("a/b.py", "pkg", ["NAME"], "src/pkg/__init__.py", True),
    ("a/b.py", "pkg", ["NAME"], "src/pkg/c.py", False),
    ("a/b.py", ".c", ["NAME"], "a/c.py", True),
    ("a/b.py", ".", ["c"], "a/c.py", True),
    ("a/b.py", "..c", ["NAME"], "c.py", True),
    ("a/b.py", "..c", ["NAME"], "a/c.py", False),
    ("a/b.js", "./c.js", ["NAME"], "a/c.js", True),
    ("a/b.ts", "./c", ["NAME"], "a/c.ts", True),
    ("a/b.ts", "./c", ["NAME"], "a/c/index.ts", True),
    ("a/b.ts", "../d/c", ["NAME"], "d/c.ts", True),
    ("a/b.ts", "../d/c", ["NAME"], "a/d/c.ts", False),
    ("a/b.go", "example.com/x/c", [], "c/any.go", True),
    ("a/b.go", "example.com/x/c", [], "d/c.go", False),
    ("src/b.rs", "crate::c::NAME", [], "src/c.rs", True),
    ("src/b.rs", "crate::{c::NAME, d}", [], "src/c/mod.rs", True),
    ("src/b.rs", "super::c::NAME", [], "src/c.rs", False),
    ("src/x/b.rs", "super::c::NAME", [], "src/c.rs", True),
    ("A.java", "com.x.NAME", [], "src/com/x/NAME.java", True),
    ("A.java", "com.y.NAME", [], "src/com/x/NAME.java", False),
    ("a/b.c", "c.h", [], "a/c.c", True),
    ("a/b.c", "sub/c.h", [], "include/sub/c.h", True),
    ("a/b.rb", "c", [], "a/c.rb", True),
    ("b.php", "App\\Store\\Cart", [], "src/App/Store/Cart.php", True),
    ("b.sh", "./lib/c.sh", [], "lib/c.sh", True),
]


@pytest.mark.parametrize("path, module, names, home_file, is_import", IMPORTS)
def test_imports(path, module, names, home_file, is_import):
    assert ctx.imports_file(path, module, names, home_file, "NAME") == is_import


def test_a_call_is_a_fact_where_the_file_says_what_it_calls(workspace, call):
    files(
        workspace,
        pkg__a_py="def NAME():\n    return NAME\n\ndef f():\n    NAME()\n",
        pkg__b_py="from .a import NAME\n\ndef g():\n    return NAME()\n",
        c_py="def h(x):\n    x.NAME()\n",
        d_py="x = NAME\n",
    )
    found = ctx.find_callers("NAME")
    assert [(row["path"], row["line"], row["in"], row["link"]) for row in found.rows] == [
        ("pkg/a.py", 5, "f", "same file"),
        ("pkg/b.py", 4, "g", "imported"),
    ]
    done = call("callers", "NAME")
    assert done.status == 0 and b"2 calls, 1 candidate by name only" in done.out and "1 candidate held back: add --candidates" in done.err
    rows = ctx.find_callers("NAME", (), True).rows
    assert [(row["path"], row["link"]) for row in rows][2:] == [("c.py", "name only")]
    assert b"c.py" in call("callers", "NAME", "--candidates").out


def test_of_one_package(workspace):
    pytest.importorskip("tree_sitter_go")
    files(workspace, p__a_go="package p\n\nfunc NAME() {}\n", p__b_go="package p\n\nfunc f() { NAME() }\n", q__c_go="package q\n\nfunc g() { NAME() }\n")
    assert [(row["path"], row["link"]) for row in ctx.find_callers("NAME").rows] == [("p/b.go", "same package")]


# ── outline


def test_outline(workspace, call):
    files(workspace, a_py="class A:\n    x = 1\n\n    def b(self):\n        pass\n")
    done = call("outline", "a.py")
    assert done.status == 0
    assert re.search(rb"^a\.py: 3 symbols, 5 lines, est \d+ tokens\nengine: (tree-sitter|ast) 1 file\n", done.out)
    assert re.search(rb"\n  repo:a\.py:4-5@[0-9a-f]{8}  method A\.b  est \d+ tokens\n    def b\(self\):\n", done.out)
    (workspace / "sub").mkdir()
    assert call("outline", "repo:a.py").out == done.out


def test_an_outline_is_unknown_where_no_engine_reads_the_file(workspace, call):
    files(workspace, a_md="# x\n", b_py=b"def f(): pass\0\n", c_py=b"#" * (ctx.PARSE_LIMIT + 1))
    for name in ("a.md", "b.py", "c.py", ".", "nothing.py"):
        done = call("outline", name)
        assert done.status == 2 and done.out == b"", name
    assert "unknown" in call("outline", "a.md").err


def test_a_file_without_definitions_has_none(workspace, call):
    files(workspace, a_py="f()\n")
    done = call("outline", "a.py")
    assert done.status == 1 and b"0 symbols" in done.out and "unknown" not in done.err


def test_secret_paths_outside_are_refused(workspace, call, tmp_path):
    (tmp_path / "x.py").write_text("def f(): pass\n")
    (workspace / "l.py").symlink_to(tmp_path / "x.py")
    for name in (str(tmp_path / "x.py"), "../x.py", "l.py"):
        assert call("outline", name).status == 2


def test_json_tells_rows_counts_and_engines(workspace, call):
    files(workspace, a_py="NAME = 1\n")
    value = json.loads(call("refs", "NAME", "--json").out)
    assert (value["kind"], value["total"], value["shown"], value["rows"][0]["class"]) == ("sites", 1, 1, "definition")
    assert value["engine"].startswith("lexical; ")


def test_tree_sitter_of_another_version_is_done_without(workspace, monkeypatch):
    class Strange:
        """A module that has nothing of what is expected."""

    monkeypatch.setitem(sys.modules, "tree_sitter", Strange)
    monkeypatch.setattr(ctx, "_parsers", {})
    assert ctx.extraction_of("a.go", b"func f() {}\n").engine == "lexical"


@pytest.mark.parametrize("path, text, names", [
    ("a.rs", "pub const fn new(major: u64) -> Self {\n}\npub(crate) const fn empty() -> Self {\n}\n", ["new", "empty"]),
    ("a.php", "<?php\nclass A {\n    public function string(string $value)\n    {\n    }\n    static function static() {\n    }\n}\n", ["A", "string", "static"]),
    ("a.go", "func (d Directive) string() string {\n}\ntype T struct {\n}\n", ["string", "T"]),
    ("a.py", "class A:\n    def bool(self):\n        pass\n", ["A", "bool"]),
])  # fmt: skip
def test_without_a_parser_words_of_the_language_are_names_only_where_they_are_called_so(path, text, names):
    found = ctx.by_lexicon(ctx.language_of(path, text.encode()), text.encode())
    assert [symbol.name for symbol in found.symbols] == names


@pytest.mark.parametrize("name, fix", [("12", "NAME"), ("a.py:3", "py"), ("::", "NAME"), ("a b", "b")])
def test_what_is_no_name_is_answered_with_one(name, fix):
    with pytest.raises(ctx.CtxError) as error:
        ctx.check_name(name)
    assert "write one name, as in %s;" % fix in str(error.value)
