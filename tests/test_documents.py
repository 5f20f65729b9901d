"""What no family explains: a file that was read has its start and an outline; a table or prose its start. Every number is the line's own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import receipts
from hypothesis import given
from hypothesis import strategies as st

import ctx

pytest_plugins = ["places"]

ROOT = Path(__file__).resolve().parent.parent

CODE = {
    "python": (b"import os\n\n\nclass Box(object):\n    def open(self):\n        pass\n\n    async def shut(self, hard=False) -> None:\n        pass\n\n\ndef main():\n    pass\n",
               [4, 5, 8, 12]),
    "javascript": (b"'use strict'\nclass Box extends Base {\n  static get lid () {\n    if (x) {\n    }\n  }\n  async open (a, b) {\n    for (const c of d) {\n    }\n  }\n}\n"
                   b"export function f(a) {\n}\nconst g = async (b) => {\n}\n", [2, 3, 7, 12, 14]),
    "go": (b"package main\n\ntype Box struct {\n}\n\nfunc (b *Box) Open() error {\n\tif b == nil {\n\t}\n}\n\nfunc main() {\n}\n\nfunc Generic[T any](x T) {\n}\n", [6, 11, 14]),
    "rust": (b"use std::fs;\n\npub struct Lid {\n}\n\nimpl Lid {\n    pub fn open(&self) -> u8 {\n        match x {\n        }\n    }\n}\n\npub(crate) fn f<T>(x: T) {\n}\n", [3, 6, 7, 13]),
    "c": (b"#include <a.h>\n#define B 1\n\nstatic int f(int a, char *b) {\n  while (a) {\n  }\n}\n\nstruct box {\n};\n\nint main(void) {\n}\n", [4, 9, 12]),
    "shell": (b"#!/bin/sh\nset -e\nusage() {\n  if [ x ]; then\n  fi\n}\n\nmain() {\n}\n", [3, 8]),
    "markdown": (b"# Title\n\ntext\n\n## One\n\ntext\n# no heading: text stands above\n\n### Two\n", [1, 5, 10]),
    "toml": (b"a = 1\n[tool.x]\nb = 2\n[[list]]\nc = 3\n", [2, 4]),
}  # fmt: skip


def text_of(data, status=0):
    return ctx.parse_content([ctx.Source.of_bytes("stdout", data)], status)


@pytest.mark.parametrize("language", CODE)
def test_an_outline_has_the_lines_that_define_something(language):
    data, expected = CODE[language]
    times = 40
    data += b"\n"
    lines = data.count(b"\n")
    (evidence,) = text_of(data * times)
    assert evidence.profile == "document/v1"
    want = {n + lines * k for k in range(times) for n in expected}
    shown = {quote.first for quote in evidence.quotes}
    assert want <= shown and shown - want <= set(range(1, ctx._START_LINES + 1))
    assert list(evidence.totals.values()) == [len(want)]


def test_every_definition_of_a_real_file(stored, call):
    data = (ROOT / "build.py").read_bytes()
    (evidence,) = text_of(data)
    defined = {node.lineno for node in ast.walk(ast.parse(data)) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))}
    shown = {quote.first for quote in evidence.quotes}
    assert defined <= shown and evidence.totals == {"definitions": len(defined)}


def test_numbered_lines_are_looked_through():
    data = b"".join(b"%6d\t%s\n" % (n, line) for n, line in enumerate((CODE["python"][0] * 40).split(b"\n"), 1))
    (evidence,) = text_of(data)
    assert evidence.totals == {"definitions": 160}


def test_prose_and_logs_are_no_documents():
    log = b"".join(b"def of step %d: the class of function (x) was called\nclass names were read\n" % n for n in range(300))
    assert "document/v1" not in [evidence.profile for evidence in text_of(log)]


def test_an_answer_of_no_family_begins_with_its_start():
    words = b"pears plums figs dates limes grapes kiwis mangos melons nuts berries quinces".split()
    data = b"".join(b"%s %s\n" % (word, b"apples" * (n % 7)) for n, word in enumerate(words * 100))
    evidence = ctx.parse_text([ctx.Source.of_bytes("stdout", data)], 0)
    values = {quote.first: quote.value for quote in evidence.quotes}
    assert all(values.get(n, 0.0) > 1.0 for n in range(1, 8))


@given(st.lists(st.sampled_from([b"", b"x = 1", b"-----BEGIN RSA PRIVATE KEY-----", b"MIIEowIBAAKCAQEAxyz", b"-----END RSA PRIVATE KEY-----", b"def f():", b"class A:"]), min_size=4, max_size=12))
def test_blank_lines_beside_a_key_keep_their_numbers(lines):
    data = b"\n".join(lines) + b"\n"
    source = ctx.Source.of_bytes("stdout", data)
    sheet = ctx.Sheet([source])
    for number in range(1, source.lines + 1):
        shown, _ = sheet.quote(ctx.Quote("stdout", number, source.line(number), 10.0), "")
        if not source.line(number):
            assert shown == "%d: " % number


def test_the_digest_of_a_file_that_holds_a_key(stored, call):
    lines = ["def f%d():" % n if n % 3 else "" for n in range(2000)]
    lines[20] = "KEY = '''-----BEGIN RSA PRIVATE KEY-----"
    handle = stored("\n".join(lines).encode() + b"\n")[:16]
    run = ctx.resolve_run(handle[4:])
    receipts.check(ctx.digest_of(run, ctx.default_settings(), "ctx")[0], run.sources())
