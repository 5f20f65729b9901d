"""Makes the corpus cases of test runners by running the real tools on small projects with deliberate breakages.

    python3 tests/corpus/make_runners.py [--only REGEX] [--tools DIR]

Projects are written below /home/dev/project, so that what the tools print names no other path. Needed: node with jest, vitest, mocha and
@playwright/test (npm, in node_modules of the project web), ava, jasmine, bun and deno (of js), jest 27, vitest 1, mocha 8, ava 4, jasmine 3 and tape (of old), mix, go, cargo with cargo-nextest, cmake with ctest and libgtest-dev, rspec, minitest, phpunit, bats,
mvn with surefire, tox, nox and django (PyPI). A tool that is missing is left out. The truth of a case is read from the tool's own machine
format of a second run (JSON, JUnit XML); where a tool has none, from what the project is written to do.
"""

import argparse
import gzip
import html
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = Path("/home/dev/project")
PACK = 500_000  # bytes from which a stream is kept compressed
CASES = []


def case(name, profile, command, truth, files=None, cwd="web", merged=False, **more):
    """Remember a case: its command, the files of its project, and the function that reads its truth."""
    CASES.append(dict(name=name, profile=profile, command=command, truth=truth, files=files or {}, cwd=cwd, merged=merged, more=more))


def environment(tools):
    """A small environment, the same everywhere."""
    cargo = os.path.expanduser("~/.cargo/bin")
    path = [str(tools / "bin"), cargo, "/usr/local/bin", "/usr/bin", "/bin"]
    keep = {name: os.environ[name] for name in ("RUSTUP_HOME",) if name in os.environ}
    home = {"RUSTUP_HOME": os.path.expanduser("~/.rustup"), "CARGO_HOME": os.path.expanduser("~/.cargo"), "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    home.update(keep, PATH=":".join(path), HOME="/home/dev", LANG="C.UTF-8", TERM="dumb", GOCACHE="/tmp/make-runners-go", MAVEN_OPTS="-Dmaven.repo.local=" + os.environ.get("MAVEN_REPOSITORY", os.path.expanduser("~/.m2/repository")))
    return home


def shell(command, cwd, env, merged=False):
    """Run a command; its exit status and streams."""
    done = subprocess.run(["bash", "-c", command], cwd=str(cwd), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT if merged else subprocess.PIPE, timeout=900)  # fmt: skip
    return done.returncode, done.stdout, done.stderr or b""


def write(folder, files):
    """Write the files of a project."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
        if text.startswith("#!"):
            path.chmod(0o755)


def make(one, env):
    """Run one case and keep it."""
    cwd = ROOT / one["cwd"]
    write(cwd, one["files"])
    status, out, err = shell(one["command"], cwd, env, one["merged"])
    status = 128 - status if status < 0 else status  # as a shell says it
    if status in (126, 127):
        return "not installed"
    truth = {"profile": one["profile"], "family": one["profile"].split("/")[0], "exit": status, "cwd": str(cwd)}
    truth.update(one["truth"](lambda command: shell(command, cwd, env), cwd, out.decode("utf8", "replace") + err.decode("utf8", "replace")))
    truth.update(one["more"])
    folder = HERE / one["name"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "cmd").write_text(one["command"] + "\n")
    (folder / "exit").write_text("%d\n" % status)
    (folder / "truth.json").write_text(json.dumps(truth, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    for name, data in (("stdout", out), ("stderr", err)):
        if len(data) > PACK:
            (folder / (name + ".gz")).write_bytes(gzip.compress(data, 9, mtime=0))
        else:
            (folder / name).write_bytes(data)
    return "exit %d, %d+%d bytes, %d identities" % (status, len(out), len(err), len(truth.get("identities", ())))


def passing(run, cwd, text):
    """The truth of a run without failures."""
    return {"identities": [], "source": "exit status 0"}


def known(*identities, **more):
    """A truth that is known because the project was written so."""
    return lambda run, cwd, text: dict({"identities": list(identities), "source": "the project is written to fail so"}, **more)


# ── JavaScript


def jest_truth(command):
    def read(run, cwd, text):
        report = json.loads(run(command + " --json 2>/dev/null")[1])
        failed = [result for result in report["testResults"] if result["status"] == "failed"]
        tests = [" › ".join(test["ancestorTitles"] + [test["title"]]) for result in failed for test in result["assertionResults"] if test["status"] == "failed"]
        files = [os.path.relpath(result["name"], str(cwd)) for result in failed]
        return {"identities": tests + files, "outcome": {"failed": report["numFailedTests"], "passed": report["numPassedTests"]}, "source": "jest --json of a second run"}

    return read


def vitest_truth(folder):
    def read(run, cwd, text):
        report = json.loads(run("npx vitest run --dir %s --reporter=json 2>/dev/null" % folder)[1])
        tests = []
        for result in report["testResults"]:
            file = os.path.relpath(result["name"], str(cwd))
            rows = [" > ".join([file] + [title for title in test["ancestorTitles"] if title] + [test["title"]]) for test in result["assertionResults"] if test["status"] == "failed"]
            tests += rows or ([file] if result["status"] == "failed" else [])
        passed = sum(test["status"] == "passed" for result in report["testResults"] for test in result["assertionResults"])  # vitest 1 miscounts them
        return {"identities": tests, "outcome": {"failed": report["numFailedTests"], "passed": passed}, "source": "vitest --reporter=json of a second run"}

    return read


def mocha_truth(command):
    def read(run, cwd, text):
        report = run(command + " --reporter json 2>/dev/null")[1].decode("utf8")
        report = json.loads(report[report.index("{\n  \"stats\"") :])
        return {"identities": [test["fullTitle"] for test in report["failures"]], "source": "mocha --reporter json of a second run",
                "outcome": {"failing": report["stats"]["failures"], "passing": report["stats"]["passes"]}}  # fmt: skip

    return read


def node_truth(folder):
    def read(run, cwd, text):
        report = run("node --test --test-reporter=junit %s 2>/dev/null" % folder)[1].decode("utf8")
        tests = []

        def walk(node, names):
            for child in node:
                if child.tag in ("testsuite", "testcase"):
                    here = names + [html.unescape(child.get("name"))]  # the reporter escapes twice
                    inner = walk(child, here)
                    if inner or child.find("failure") is not None or child.find("error") is not None:
                        tests.append(" ".join(here))
            return any(test.startswith(" ".join(names) + " ") for test in tests) if names else False

        walk(ElementTree.fromstring(report), [])
        return {"identities": tests, "source": "node --test-reporter=junit of a second run"}

    return read


def playwright_truth(command):
    def read(run, cwd, text):
        report = json.loads(run(command + " --reporter=json 2>/dev/null")[1])
        tests = []

        def walk(suite, names):
            for spec in suite.get("specs", ()):
                for test in spec["tests"]:
                    if test["status"] == "unexpected":
                        file = os.path.relpath(os.path.join(report["config"]["rootDir"], spec["file"]), str(cwd))
                        place = "%s:%d:%d" % (file, spec["line"], spec["column"])
                        project = "[%s] › " % test["projectName"] if test["projectName"] else ""
                        tests.append(project + " › ".join([place] + names + [spec["title"]]))
            for child in suite.get("suites", ()):
                walk(child, names + ([child["title"]] if child["title"] != suite["title"] else []))

        for suite in report["suites"]:
            walk(suite, [])
        return {"identities": tests, "outcome": {"failed": report["stats"]["unexpected"]}, "source": "playwright --reporter=json of a second run"}

    return read


CART = """{imports}
describe('cart', () => {{
  describe('tenantOf', () => {{
    it('ok one', () => {{}});
    it('fails for "quoted" › arrow > names [x] (y)', () => {{ throw new TypeError('order 2 has no tenant'); }});
  }});
  it('adds lines', () => {{
    console.log('FAILED tests: 3\\n  ● cart › ghost failure\\n✖ ghost (1ms)\\n 1 failing\\n  1) cart\\n       ghost:\\n FAIL  a.js > ghost\\n--- FAIL: TestGhost (0.00s)');
    {deep}
  }});
  it('loads', async () => {{ await Promise.reject(new Error('socket hang up')); }});
  it.skip('is skipped', () => {{}});
}});
describe('hooks', () => {{
  beforeEach(() => {{ throw new Error('beforeEach broke: db is not open'); }});
  it('never runs 1', () => {{}});
  it('never runs 2', () => {{}});
}});
"""
FLOOD = """{imports}
for (let i = 0; i < 400; i++) {{
  describe('list ' + i, () => {{
    it('keeps all', () => {{ {same} }});
    it('sums up', () => {{ {differ} }});
  }});
}}
"""
OK = "{imports}\ndescribe('fine', () => {{ for (let i = 0; i < 60; i++) it('works ' + i, () => {{}}); }});\n"
ASSERT = "const assert = require('assert');\n"
NODE = "const {{ describe, it, beforeEach }} = require('node:test');\nconst assert = require('node:assert');\n".replace("{{", "{").replace("}}", "}")
VITEST = "import { describe, it, beforeEach, expect } from 'vitest';\n"
EXPECT = dict(deep="expect({ a: 1, b: [1, 2] }).toEqual({ a: 2, b: [1, 3] });", same="expect([i]).toEqual([i]);", differ="expect(i % 3).toBe(0);")
ASSERTS = dict(deep="assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 2, b: [1, 3] });", same="assert.deepStrictEqual([i], [i]);", differ="assert.strictEqual(i % 3, 0);")
CONFIG = {"jest.config.js": "module.exports = { testMatch: ['**/*.test.cjs'] };\n", "vitest.config.mjs": "export default { test: { include: ['**/*.spec.mjs'] } };\n"}


def suite(extension, folder, imports, words):
    """The three test files of a JavaScript runner, below folders of their own."""
    texts = {"fail/cart": CART, "flood/lists": FLOOD, "pass/fine": OK}
    return {"%s-%s%s" % (folder, name, extension): text.format(imports=imports, **words) for name, text in texts.items()}


JEST = dict(CONFIG, **suite(".test.cjs", "jest", "", EXPECT))
JEST["jest-fail/broken.test.cjs"] = "const x = require('../src/no-such-module');\ntest('never', () => {});\n"
for folder in ("fail", "flood", "pass"):
    command = "npx jest jest-%s" % folder
    case("runners_jest_%s" % folder, "jest/v1", command, jest_truth(command), JEST)
case("runners_jest_verbose_color", "jest/v1", "npx jest --verbose --color jest-fail", jest_truth("npx jest jest-fail"), JEST, merged=True)
case("runners_jest_ci_silent_merged", "jest/v1", "npx jest --ci --silent jest-fail jest-pass 2>&1", jest_truth("npx jest jest-fail jest-pass"), JEST)

VITE = dict(CONFIG, **suite(".spec.mjs", "vitest", VITEST, EXPECT))
VITE["vitest-fail/broken.spec.mjs"] = "import x from './no-such-module.mjs';\n"
for folder in ("fail", "flood", "pass"):
    case("runners_vitest_%s" % folder, "vitest/v1", "npx vitest run --dir vitest-%s" % folder, vitest_truth("vitest-" + folder), VITE)
UNHANDLED = {
    "vitest-unhandled/late.spec.mjs": VITEST + "it('fine', async () => { Promise.reject(new Error('nobody catches')); });\nit('later', () => { setTimeout(() => { throw new TypeError('thrown late'); }, 1); });\n"
    "it('waits', () => new Promise(done => setTimeout(done, 30)));\n",
}  # fmt: skip
case("runners_vitest_unhandled", "vitest/v1", "npx vitest run --dir vitest-unhandled", known("Error: nobody catches", "TypeError: thrown late", outcome={"passed": 3, "unhandled errors": 2}), dict(CONFIG, **UNHANDLED))
case("runners_vitest_verbose_merged", "vitest/v1", "FORCE_COLOR=1 npx vitest run --reporter=verbose --dir vitest-fail 2>&1", vitest_truth("vitest-fail"), VITE)

MOCHA = suite(".mocha.cjs", "mocha", ASSERT, ASSERTS)
for folder in ("fail", "flood", "pass"):
    command = "npx mocha mocha-%s/*.cjs" % folder
    case("runners_mocha_%s" % folder, "mocha/v1", command, mocha_truth(command), MOCHA)
ODD_MOCHA = {"mocha-odd/odd.spec.cjs": r"""const assert = require('assert');
describe('outer', function() {
  describe('inner: colon', function() {
    it('add(1, 1) → 3:', () => assert.equal(1+1, 3));
    it('deep', () => assert.deepStrictEqual({a:[1,{b:2}]}, {a:[1,{b:3}]}));
    it('fake', () => { console.log('  3 failing\n\n  1) ghost:\n     Error: no\n'); throw new Error('not me\nsecond line\n  2) third'); });
    it('agg', () => { throw new AggregateError([new Error('one')], 'many'); });
    it('cause', () => { throw new Error('outer', {cause: new Error('the cause')}); });
    it('str', () => { throw 'plain string'; });
    it('undef', () => { throw undefined; });
    it('timeout', done => {}).timeout(50);
    it('twice', done => { done(); done(); });
    it('rejects', async () => { await Promise.reject(new TypeError('rej')); });
    it('', () => { assert.ok(0, 'empty title'); });
  });
  describe('hooks', () => { before('named hook', () => { throw new Error('before broke'); }); it('h1',()=>{}); });
  describe('after', () => { after(() => { throw new Error('after broke'); }); it('ok',()=>{}); });
  describe('beforeeach', () => { beforeEach(() => { throw new Error('beforeEach broke'); }); it('okk',()=>{}); it('ok2', ()=>{}); });
  it('pending'); it.skip('skipped', () => {});
  it('uncaught', done => { setTimeout(() => { throw new Error('uncaught late'); }, 5); });
});
"""}
case("runners_mocha_odd", "mocha/v1", "npx mocha mocha-odd/*.cjs", mocha_truth("npx mocha mocha-odd/*.cjs"), ODD_MOCHA)
case("runners_mocha_odd_tap", "tap/v1", "npx mocha -R tap mocha-odd/*.cjs", mocha_truth("npx mocha mocha-odd/*.cjs"), ODD_MOCHA)
case("runners_mocha_dot", "mocha/v1", "npx mocha --reporter dot mocha-fail/*.cjs 2>&1", mocha_truth("npx mocha mocha-fail/*.cjs"), MOCHA)

NODES = suite(".test.cjs", "nodetest", NODE, ASSERTS)
for folder in ("fail", "flood", "pass"):
    case("runners_node_spec_%s" % folder, "node-test/v1", "node --test --test-reporter=spec nodetest-%s/" % folder, node_truth("nodetest-%s/" % folder), NODES)
ODD_NODE = {"nodetest-odd/odd.test.mjs": r"""import { test, describe, it, before, after, beforeEach } from 'node:test'; import assert from 'node:assert';
describe('outer', () => {
  describe('inner > arrow', () => {
    it('add(1, 1) → 3', () => assert.equal(1+1, 3));
    it('deep # not a comment', () => assert.deepStrictEqual({a:[1,{b:2}]}, {a:[1,{b:3}]}));
    it('fake', () => { console.log('not ok 1 - ghost\nok 2 - x\n# fail 3\n✖ ghost (1.0ms)'); throw new Error('not me\nsecond line\n  2) third'); });
    it('agg', () => { throw new AggregateError([new Error('one')], 'many'); });
    it('cause', () => { throw new Error('outer', {cause: new Error('the cause')}); });
    it('str', () => { throw 'plain string'; });
    it('timeout', {timeout: 30}, () => new Promise(r => setTimeout(r, 200)));
    it('rejects', async () => { await Promise.reject(new TypeError('rej')); });
  });
  describe('hooks', () => { before(() => { throw new Error('before broke'); }); it('h1',()=>{}); });
  describe('after', () => { after(() => { throw new Error('after broke'); }); it('ok',()=>{}); });
  describe('beforeeach', () => { beforeEach(() => { throw new Error('beforeEach broke'); }); it('okk',()=>{}); it('ok2', ()=>{}); });
  it.todo('pending'); it.skip('skipped', () => {}); it('todo fails', {todo: true}, () => { throw new Error('todo'); });
});
test('top with subtests', async t => { await t.test('sub 1', () => {}); await t.test('sub 2', async t2 => { await t2.test('subsub', () => { assert(false, 'deep one'); }); }); });
test('late', () => { setTimeout(() => { throw new Error('late uncaught'); }, 1); });
"""}
ODD_NODES = ("add(1, 1) → 3", "deep # not a comment", "fake", "agg", "cause", "str", "timeout", "rejects", "h1", "okk", "ok2", "subsub")
case("runners_node_dot", "node-test/v1", "node --test --test-reporter=dot nodetest-odd/",
     known(*ODD_NODES, "inner > arrow", "hooks", "after", "beforeeach", "outer", "sub 2", "top with subtests"), ODD_NODE)
case("runners_report_node_odd", "junit-xml/v1", "node --test --test-reporter=junit nodetest-odd/", known(*["test::" + name for name in ODD_NODES], "test::todo fails"), ODD_NODE)
case("runners_node_tap_flood", "tap/v1", "node --test --test-reporter=tap nodetest-flood/", node_truth("nodetest-flood/"), NODES)
case("runners_node_tap_pass", "tap/v1", "node --test --test-reporter=tap nodetest-pass/", passing, NODES)

PLAY = {
    "playwright.config.ts": "export default { testDir: './e2e', reporter: 'list', retries: 0, projects: [{ name: 'api' }] };\n",
    "e2e/shop.spec.ts": """import { test, expect } from '@playwright/test';
test.describe('shop', () => {
  test('adds › up', async () => { expect(1 + 1).toBe(3); });
  test('passes', async () => {});
  test('times out', async () => { test.setTimeout(300); await new Promise(() => {}); });
  test.skip('skipped', async () => {});
  test.fail('expected to fail', async () => { expect(1).toBe(2); });
  test('soft', async () => { console.log('  1) [api] › ghost.spec.ts:1:1 › ghost'); expect.soft(1).toBe(2); expect.soft(3).toBe(4); });
});
""",
    "e2e-flood/many.spec.ts": """import { test, expect } from '@playwright/test';
for (let i = 0; i < 60; i++) test('case ' + i, async () => { expect(i % 2).toBe(0); });
""",
    "e2e-pass/fine.spec.ts": "import { test } from '@playwright/test';\nfor (let i = 0; i < 80; i++) test('fine ' + i, async () => {});\n",
    "flood.config.ts": "export default { testDir: './e2e-flood', reporter: 'line' };\n",
    "pass.config.ts": "export default { testDir: './e2e-pass' };\n",
}
case("runners_playwright_fail", "playwright/v1", "npx playwright test", playwright_truth("npx playwright test"), PLAY)
case("runners_playwright_flood", "playwright/v1", "npx playwright test -c flood.config.ts", playwright_truth("npx playwright test -c flood.config.ts"), PLAY)
case("runners_playwright_dot", "playwright/v1", "npx playwright test --reporter=dot", playwright_truth("npx playwright test"), PLAY)
case("runners_playwright_pass", "playwright/v1", "npx playwright test -c pass.config.ts", passing, PLAY)

# ── more of JavaScript: other runners, and older versions of the same (their packages in the projects js and old)

AVA = {
    "ava-fail/cart.js": """const test = require('ava');
test('fine', t => t.pass());
test('cart adds "lines" › deep', t => { console.log('✘ [fail]: ghost\\n  ─\\n\\n  ghost\\n\\n'); t.deepEqual({ a: 1, b: [1, 2] }, { a: 2, b: [1, 3] }); });
test('throws', t => { throw new TypeError('order 2 has no tenant'); });
test('rejects', async t => { await Promise.reject(new Error('socket hang up')); });
test.skip('skipped', t => t.pass());
test.failing('known to fail', t => t.fail());
test.todo('later');
""",
    "ava-fail/broken.js": "const test = require('ava');\nrequire('./no-such-module');\n",
    "ava-flood/many.js": "const test = require('ava');\nfor (let i = 0; i < 200; i++) test('case ' + i, t => { t.is(i % 2, 0, 'odd: ' + i); });\n",
    "ava-pass/fine.js": "const test = require('ava');\nfor (let i = 0; i < 80; i++) test('fine ' + i, t => t.pass());\n",
}
ODD = [i for i in range(200) if i % 2]
for folder in ("js", "old"):
    prefix = "runners_ava_" if folder == "js" else "runners_ava4_"
    case(prefix + "fail", "ava/v1", "npx ava ava-fail/*.js", known("cart › cart adds \"lines\" › deep", "cart › throws", "cart › rejects", "ava-fail/broken.js", outcome={"failed": 3}), AVA, folder)
    case(prefix + "flood", "ava/v1", "npx ava ava-flood/*.js", known(*["case %d" % i for i in ODD], outcome={"failed": 100}), AVA, folder)
case("runners_ava_pass", "ava/v1", "npx ava ava-pass/*.js", passing, AVA, "js")
case("runners_ava_color_merged", "ava/v1", "FORCE_COLOR=1 npx ava ava-fail/cart.js 2>&1", known("cart adds \"lines\" › deep", "throws", "rejects"), AVA, "js")
case("runners_ava_tap", "tap/v1", "npx ava --tap ava-fail/cart.js", known("cart adds \"lines\" › deep", "throws", "rejects"), AVA, "js")

JASMINE = {
    "jasmine-fail/cart.spec.js": """describe('cart', () => {
  it('is fine', () => {});
  it('adds "lines"', () => { console.log('1) ghost\\n  Message:\\n    boo\\n3 specs, 1 failure'); expect({ a: 1, b: [1, 2] }).toEqual({ a: 2, b: [1, 3] }); expect(1).toBe(2); });
  it('throws', () => { throw new TypeError('order 2 has no tenant'); });
  it('loads', async () => { await Promise.reject(new Error('socket hang up')); });
  xit('is skipped', () => {});
});
""",
    "jasmine-flood/many.spec.js": "describe('many', () => { for (let i = 0; i < 200; i++) it('case ' + i, () => { expect(i % 2).withContext('odd ' + i).toBe(0); }); });\n",
    "jasmine-pass/fine.spec.js": "describe('fine', () => { for (let i = 0; i < 900; i++) it('works ' + i, () => {}); });\n",
}
CART_SPECS = ['cart adds "lines"', "cart throws", "cart loads"]
for folder in ("js", "old"):
    prefix = "runners_jasmine_" if folder == "js" else "runners_jasmine3_"
    case(prefix + "fail", "jasmine/v1", "npx jasmine --random=false jasmine-fail/*.spec.js", known(*CART_SPECS, outcome={"failures": 3}), JASMINE, folder)
    case(prefix + "flood", "jasmine/v1", "npx jasmine --random=false jasmine-flood/*.spec.js", known(*["many case %d" % i for i in ODD], outcome={"failures": 100}), JASMINE, folder)
case("runners_jasmine_pass", "jasmine/v1", "npx jasmine --random=false jasmine-pass/*.spec.js", passing, JASMINE, "js")
case("runners_jasmine_color", "jasmine/v1", "npx jasmine --color --seed=7 jasmine-fail/*.spec.js", known(*CART_SPECS), JASMINE, "js")

BUN = {
    "bun-fail/cart.test.js": """import { describe, it, expect, beforeEach } from 'bun:test';
describe('cart', () => {
  it('is fine', () => {});
  it('adds "lines"', () => { console.log('(fail) ghost [1ms]'); expect({ a: 1, b: [1, 2] }).toEqual({ a: 2, b: [1, 3] }); });
  it('throws', () => { throw new TypeError('order 2 has no tenant'); });
  it('loads', async () => { await Promise.reject(new Error('socket hang up')); });
  it.skip('is skipped', () => {});
  it.todo('later');
  describe('deep', () => { beforeEach(() => { throw new Error('no db'); }); it('never', () => {}); });
});
""",
    "bun-fail/broken.test.js": "import x from './no-such';\n",
    "bun-flood/many.test.js": "import { it, expect } from 'bun:test';\nfor (let i = 0; i < 200; i++) it('case ' + i, () => { expect(i % 2).toBe(0); });\n",
    "bun-pass/fine.test.js": "import { it } from 'bun:test';\nfor (let i = 0; i < 200; i++) it('works ' + i, () => {});\n",
}
BUN_CART = ['cart > adds "lines"', "cart > throws", "cart > loads", "cart > deep > never", "bun-fail/broken.test.js"]


def bun_truth(folder):
    def read(run, cwd, text):
        run("npx bun test %s --reporter=junit --reporter-outfile=r.xml" % folder)
        tests = []
        for test in ElementTree.parse(str(cwd / "r.xml")).getroot().iter("testcase"):
            if test.find("failure") is not None:
                tests.append(" > ".join([html.unescape(part) for part in filter(None, (test.get("classname", "").replace(" &gt; ", " > "), test.get("name")))]))
        return {"identities": tests, "source": "bun's JUnit report of a second run"}

    return read


case("runners_bun_fail", "bun-test/v1", "npx bun test bun-fail", known(*BUN_CART, outcome={"pass": 1, "fail": 5}), BUN, "js")
case("runners_bun_merged", "bun-test/v1", "npx bun test bun-fail 2>&1", known(*BUN_CART, outcome={"pass": 1, "fail": 5}), BUN, "js")
case("runners_bun_color", "bun-test/v1", "FORCE_COLOR=1 npx bun test bun-fail 2>&1", known(*BUN_CART), BUN, "js")
case("runners_bun_flood", "bun-test/v1", "npx bun test bun-flood", bun_truth("bun-flood"), BUN, "js")
case("runners_bun_pass", "bun-test/v1", "npx bun test bun-pass", passing, BUN, "js")

DENO = {
    "deno-fail/cart.test.js": """Deno.test('is fine', () => {});
Deno.test('adds "lines"', () => { console.log('ghost ... FAILED (1ms)\\nghost => ./ghost.js:1:1\\nerror: boo'); if (1 + 1 !== 3) throw new Error('Values are not equal.'); });
Deno.test('steps', async (t) => { await t.step('one', () => {}); await t.step('two', () => { throw new TypeError('no tenant'); }); });
Deno.test({ name: 'skipped', ignore: true, fn() {} });
""",
    "deno-flood/many.test.js": "for (let i = 0; i < 200; i++) Deno.test('case ' + i, () => { if (i % 2) throw new Error('odd: ' + i); });\n",
    "deno-pass/fine.test.js": "for (let i = 0; i < 120; i++) Deno.test('works ' + i, () => {});\n",
}


def deno_truth(folder):
    def read(run, cwd, text):
        report = run("npx deno test --no-check --reporter=junit %s 2>/dev/null" % folder)[1].decode("utf8")
        root = ElementTree.fromstring(report[report.index("<?xml") :].split("\n", 1)[1])
        tests = [test.get("name") for test in root.iter("testcase") if test.find("failure") is not None]
        return {"identities": tests, "source": "deno's JUnit report of a second run"}

    return read


case("runners_deno_fail", "deno-test/v1", "NO_COLOR=1 npx deno test --no-check deno-fail", known('adds "lines"', "steps ... two", outcome={"passed": 1, "failed": 2}), DENO, "js")
case("runners_deno_color", "deno-test/v1", "npx deno test --no-check deno-fail 2>&1", known('adds "lines"', "steps ... two"), DENO, "js")
case("runners_deno_flood", "deno-test/v1", "NO_COLOR=1 npx deno test --no-check deno-flood", deno_truth("deno-flood"), DENO, "js")
case("runners_deno_pass", "deno-test/v1", "NO_COLOR=1 npx deno test --no-check deno-pass", passing, DENO, "js")
case("runners_deno_tap", "tap/v1", "NO_COLOR=1 npx deno test --no-check --reporter=tap deno-flood", deno_truth("deno-flood"), DENO, "js")

OLD = {name.replace(".cjs", ".js"): text for name, text in JEST.items() if name.startswith("jest-")}
OLD.update({name: text for name, text in VITE.items() if name.startswith("vitest")})
OLD.update(MOCHA)
OLD["tape.js"] = "const test = require('tape');\ntest('cart', t => { t.equal(1 + 1, 3, 'adds up'); t.ok(true, 'fine'); t.end(); });\ntest('throws', t => { t.deepEqual({ a: 1 }, { a: 2 }); t.end(); });\n"
for folder in ("fail", "flood"):
    case("runners_jest27_" + folder, "jest/v1", "npx jest jest-%s" % folder, jest_truth("npx jest jest-%s" % folder), OLD, "old")
    case("runners_vitest1_" + folder, "vitest/v1", "npx vitest run --dir vitest-%s 2>&1" % folder, vitest_truth("vitest-" + folder), OLD, "old")
    case("runners_mocha8_" + folder, "mocha/v1", "npx mocha mocha-%s/*.cjs" % folder, mocha_truth("npx mocha mocha-%s/*.cjs" % folder), OLD, "old")
case("runners_mocha8_nyan", "mocha/v1", "npx mocha -R nyan mocha-fail/*.cjs", mocha_truth("npx mocha mocha-fail/*.cjs"), OLD, "old")
case("runners_mocha8_tap", "tap/v1", "npx mocha -R tap mocha-fail/*.cjs", mocha_truth("npx mocha mocha-fail/*.cjs"), OLD, "old")
case("runners_tape", "tap/v1", "node tape.js", known("adds up", "should be deeply equivalent"), OLD, "old")
case("runners_vitest1_tap", "tap/v1", "npx vitest run --dir vitest-fail --reporter=tap",
     known(*["vitest-fail/cart.spec.mjs " + name for name in ('cart tenantOf fails for "quoted" › arrow > names [x] (y)', "cart adds lines", "cart loads", "hooks never runs 1", "hooks never runs 2")], "vitest-fail/broken.spec.mjs"), OLD, "old")
case("runners_vitest_tap_flat", "tap/v1", "npx vitest run --dir vitest-fail --reporter=tap-flat",
     known(*["vitest-fail/cart.spec.mjs > " + name for name in ('cart > tenantOf > fails for "quoted" › arrow > names [x] (y)', "cart > adds lines", "cart > loads", "hooks > never runs 1", "hooks > never runs 2")], "vitest-fail/broken.spec.mjs"), VITE)

# ── the same inside of logs of CI systems: stamps, columns of job and step, colours

STAMPED = " 2>&1 | sed 's/^/2026-11-30T07:57:02.3165360Z /'; exit ${PIPESTATUS[0]}"
COLUMNS = " 2>&1 | sed 's/^/build\\tRun tests\\t2026-11-30T07:57:02.3165360Z /'; exit ${PIPESTATUS[0]}"
case("runners_ci_jest", "jest/v1", "npx jest --color jest-fail" + STAMPED, jest_truth("npx jest jest-fail"), JEST)
case("runners_ci_vitest", "vitest/v1", "FORCE_COLOR=1 npx vitest run --dir vitest-fail" + COLUMNS, vitest_truth("vitest-fail"), VITE)
case("runners_ci_mocha", "mocha/v1", "npx mocha --color mocha-fail/*.cjs" + STAMPED, mocha_truth("npx mocha mocha-fail/*.cjs"), MOCHA)
case("runners_ci_bun", "bun-test/v1", "FORCE_COLOR=1 npx bun test bun-fail" + STAMPED, known(*BUN_CART), BUN, "js")
case("runners_ci_ava", "ava/v1", "FORCE_COLOR=1 npx ava ava-fail/cart.js" + COLUMNS, known("cart adds \"lines\" › deep", "throws", "rejects"), AVA, "js")
case("runners_ci_deno", "deno-test/v1", "npx deno test --no-check deno-fail" + STAMPED, known('adds "lines"', "steps ... two"), DENO, "js")

# ── Elixir

EXUNIT = {
    "mix.exs": "defmodule Shop.MixProject do\n  use Mix.Project\n  def project, do: [app: :shop, version: \"0.1.0\", elixir: \"~> 1.12\", test_pattern: \"*_test.exs\"]\n  def application, do: []\nend\n",
    "lib/shop.ex": "defmodule Shop do\n  def add(a, b), do: a + b\nend\n",
    "test/test_helper.exs": "ExUnit.start()\n",
    "test/shop_test.exs": """defmodule ShopTest do
  use ExUnit.Case
  test "is fine" do
    assert Shop.add(1, 1) == 2
  end
  describe "adding" do
    test "adds \\"lines\\" 1) (x)" do
      IO.puts("  1) test ghost (GhostTest)\\n     test/ghost.exs:1\\n\\nFinished in 1 seconds\\n")
      assert Shop.add(1, 1) == 3, "sum"
    end
    test "matches" do
      assert %{a: 1, b: [1, 2]} == %{a: 2, b: [1, 3]}
    end
  end
  test "raises" do
    raise ArgumentError, "no tenant"
  end
  @tag :skip
  test "skipped" do
  end
  test "exits" do
    exit(:boom)
  end
end
""",
    "test/setup_test.exs": "defmodule SetupTest do\n  use ExUnit.Case\n  setup_all do\n    raise \"no db\"\n  end\n  test \"never\" do\n  end\nend\n",
    "test/flood_test.exs": "defmodule FloodTest do\n  use ExUnit.Case\n  for i <- 0..199 do\n    @i i\n    test \"case #{i}\" do\n      assert rem(@i, 2) == 0\n    end\n  end\nend\n",
    "test/fine_test.exs": "defmodule FineTest do\n  use ExUnit.Case\n  for i <- 0..99 do\n    test \"works #{i}\" do\n    end\n  end\nend\n",
}
SHOP = ['test adding adds "lines" 1) (x) (ShopTest)', "test adding matches (ShopTest)", "test raises (ShopTest)", "test exits (ShopTest)"]
case("runners_exunit_fail", "exunit/v1", "mix compile >/dev/null; MIX_ENV=test mix test --seed 0 test/shop_test.exs test/setup_test.exs", known(*SHOP, "SetupTest", outcome={"failures": 4}), EXUNIT, "ex")
case("runners_exunit_trace", "exunit/v1", "MIX_ENV=test mix test --seed 0 --trace --color test/shop_test.exs 2>&1", known(*SHOP, outcome={"failures": 4}), EXUNIT, "ex")
case("runners_exunit_flood", "exunit/v1", "MIX_ENV=test mix test --seed 0 test/flood_test.exs", known(*["test case %d (FloodTest)" % i for i in ODD], outcome={"failures": 100}), EXUNIT, "ex")
case("runners_exunit_pass", "exunit/v1", "MIX_ENV=test mix test --seed 0 --trace test/fine_test.exs", passing, EXUNIT, "ex")

# ── machine reports, printed

PYREP = {
    "shop/test_cart.py": """import pytest


@pytest.mark.parametrize("n", [0, 1, "é > <ü>"])
def test_adds(n):
    print('</testcase><failure message="ghost"/>')
    assert n == 0, "wrong & <odd>"


@pytest.fixture
def db():
    raise ValueError("no db")


def test_setup(db):
    pass


@pytest.mark.xfail
def test_expected():
    assert 0


@pytest.mark.xfail(strict=True)
def test_strict():
    pass


def test_fine():
    pass
""",
    "shop/test_broken.py": "import no_such_module\n",
    "flood/test_many.py": "import pytest\n\n\n@pytest.mark.parametrize('n', range(300))\ndef test_even(n):\n    assert n % 2 == 0\n",
    "fine/test_fine.py": "import pytest\n\n\n@pytest.mark.parametrize('n', range(200))\ndef test_fine(n):\n    pass\n",
}


def pytest_truth(folder):
    def read(run, cwd, text):
        lines = run("pytest -q --tb=no -rfE --continue-on-collection-errors -p no:cacheprovider %s" % folder)[1].decode().splitlines()
        tests = [re.sub(r" - .*", "", line.split(" ", 1)[1]) for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return {"identities": sorted(set(tests)), "source": "pytest's short summary of a second run"}

    return read


def classes(read):
    """The same tests as JUnit XML names them: the module's dotted name, then the test."""

    def spell(run, cwd, text):
        truth = read(run, cwd, text)
        names = [(name[:-3].replace("/", ".") if "::" not in name else name.replace("/", ".").replace(".py::", "::")) for name in truth["identities"]]
        return dict(truth, identities=names)

    return spell


for folder in ("shop", "flood", "fine"):
    quiet = "pytest -q --tb=short -p no:cacheprovider --continue-on-collection-errors %s " % folder
    for kind, option, profile in (("json", "--json-report --json-report-file=r", "pytest-json/v1"), ("log", "--report-log=r", "pytest-reportlog/v1"), ("junit", "--junitxml=r", "junit-xml/v1")):
        truth = pytest_truth(folder)
        case("runners_report_pytest_%s_%s" % (kind, folder), profile, quiet + option + " > /dev/null; status=$?; cat r; exit $status", classes(truth) if kind == "junit" else truth, PYREP, "pyrep")


def jest_json_truth(folder):
    def read(run, cwd, text):
        out = run("npx jest --verbose --colors=false %s 2>&1" % folder)[1].decode("utf8")
        tests = [" ".join(name.split(" › ")) for name in re.findall(r"^  ● (?!Test suite failed|Console)(.*)$", out, re.M)]
        broken = re.findall(r"^FAIL (\S+)\n  ● Test suite failed", out, re.M)
        return {"identities": sorted(set(tests)) + [str(cwd / name) for name in broken], "source": "jest's text report of a second run"}

    return read


HOOKS = ["hooks never runs 1", "hooks never runs 2"]
CARTS = ['cart tenantOf fails for "quoted" › arrow > names [x] (y)', "cart adds lines", "cart loads"]
case("runners_report_jest_fail", "jest-json/v1", "npx jest --json jest-fail", known(*CARTS, *HOOKS, "/home/dev/project/web/jest-fail/broken.test.cjs"), JEST)
case("runners_report_jest_flood", "jest-json/v1", "npx jest --json jest-flood 2>/dev/null", known(*["list %d sums up" % i for i in range(400) if i % 3]), JEST)
case("runners_report_jest_pass", "jest-json/v1", "npx jest --json --silent jest-pass 2>/dev/null", passing, JEST)
case("runners_report_vitest_fail", "jest-json/v1", "npx vitest run --reporter=json --dir vitest-fail", known(*CARTS, *HOOKS, "/home/dev/project/web/vitest-fail/broken.spec.mjs"), VITE)
case("runners_report_mocha_fail", "mocha-json/v1", "npx mocha --reporter json mocha-fail/*.cjs", known(*CARTS, 'hooks "before each" hook for "never runs 1"'), MOCHA)
case("runners_report_mocha_flood", "mocha-json/v1", "npx mocha --reporter json mocha-flood/*.cjs", known(*["list %d sums up" % i for i in range(400) if i % 3]), MOCHA)
case("runners_report_mocha_pass", "mocha-json/v1", "npx mocha --reporter json mocha-pass/*.cjs", passing, MOCHA)
case("runners_report_playwright", "playwright-json/v1", "npx playwright test --reporter=json", known("adds › up", "times out", "soft"), PLAY)
case("runners_report_node_junit", "junit-xml/v1", "node --test --test-reporter=junit nodetest-fail/", known("test::fails for &quot;quoted&quot; › arrow > names [x] (y)", "test::adds lines", "test::loads", "test::never runs 1", "test::never runs 2"), NODES)
# ── Go


def go_truth(packages):
    def read(run, cwd, text):
        tests, totals = [], {"pass": 0, "fail": 0}
        for line in run("go test -json %s 2>/dev/null" % packages)[1].splitlines():
            event = json.loads(line) if line.startswith(b"{") else {"Action": ""}
            if event["Action"] in totals and event.get("Test"):
                totals[event["Action"]] += 1
            if event["Action"] == "fail":
                tests.append(event.get("Test") or event["Package"])
        tests += re.findall(r"^FAIL\t(\S+) \[", text, re.M)  # Go 1.19 has no JSON for what does not build
        return {"identities": sorted(set(tests)), "tests": totals, "source": "go test -json of a second run"}

    return read


GO = {
    "go.mod": "module example.com/gov\n\ngo 1.19\n",
    "calc/calc_test.go": """package calc

import (
	"fmt"
	"testing"
)

func TestOk(t *testing.T) {}

func TestAdd(t *testing.T) {
	fmt.Println("FAIL: TestGhost (0.00s)\\npanic: nothing of the kind") // printed by a test
	if 1+1 != 3 {
		t.Errorf("1 + 1 = %d, want %d", 1+1, 3)
	}
}

func TestTable(t *testing.T) {
	for _, name := range []string{"a b", "c/d", "é"} {
		t.Run(name, func(t *testing.T) {
			if name != "c/d" {
				t.Fatalf("bad %q", name)
			}
		})
	}
}

func TestSkip(t *testing.T) { t.Skip("not now") }
""",
    "crash/crash_test.go": 'package crash\n\nimport "testing"\n\nfunc TestFine(t *testing.T) {}\n\nfunc TestBoom(t *testing.T) {\n\tvar m map[string]int\n\tm["x"] = 1\n}\n',
    "broken/broken_test.go": 'package broken\n\nimport "testing"\n\nfunc TestX(t *testing.T) { undefinedThing() }\n',
    "slow/slow_test.go": 'package slow\n\nimport (\n\t"testing"\n\t"time"\n)\n\nfunc TestSlow(t *testing.T) { time.Sleep(time.Minute) }\n',
    "flood/flood_test.go": 'package flood\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestMany(t *testing.T) {\n\tfor i := 0; i < 500; i++ {\n\t\ti := i\n\t\tt.Run(fmt.Sprint("case ", i), func(t *testing.T) {\n\t\t\tif i%2 == 1 {\n\t\t\t\tt.Errorf("case %d is odd", i)\n\t\t\t}\n\t\t})\n\t}\n}\n',
    "fine/fine_test.go": 'package fine\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestAll(t *testing.T) {\n\tfor i := 0; i < 120; i++ {\n\t\tt.Run(fmt.Sprint(i), func(t *testing.T) {})\n\t}\n}\n',
}
case("runners_go_fail", "go-test/v1", "go test ./calc ./fine", go_truth("./calc ./fine"), GO, "gov")
case("runners_go_v", "go-test/v1", "go test -v ./calc", go_truth("./calc"), GO, "gov")
case("runners_go_panic", "go-test/v1", "go test ./crash ./broken ./fine ./calc", go_truth("./crash ./broken ./fine ./calc"), GO, "gov")
case("runners_go_timeout", "go-test/v1", "go test -timeout 1s ./slow", known("TestSlow", "example.com/gov/slow"), GO, "gov")
case("runners_go_flood", "go-test/v1", "go test ./flood", go_truth("./flood"), GO, "gov")
case("runners_go_json_flood", "go-json/v1", "go test -json ./flood ./calc", go_truth("./flood ./calc"), GO, "gov")
case("runners_go_json_timeout", "go-json/v1", "go test -json -timeout 1s ./slow", known("TestSlow", "example.com/gov/slow"), GO, "gov")
case("runners_go_json_panic", "go-json/v1", "go test -json ./crash ./fine", known("TestBoom", "example.com/gov/crash"), GO, "gov")
case("runners_go_bench", "go-test/v1", "go test -bench . ./bench", known("BenchmarkSlow", "example.com/gov/bench"),
     {"go.mod": GO["go.mod"], "bench/bench_test.go": "package bench\n\nimport \"testing\"\n\nfunc BenchmarkSlow(b *testing.B) { b.Fatal(\"too slow\") }\n"}, "gov")
case("runners_go_pass_v", "go-test/v1", "go test -v ./fine", passing, GO, "gov")

# ── Rust


def cargo_truth(arguments):
    def read(run, cwd, text):
        tests, totals = [], {"passed": 0, "failed": 0}
        for line in run("RUSTC_BOOTSTRAP=1 cargo test --offline --no-fail-fast %s -- -Z unstable-options --format json 2>/dev/null" % arguments)[1].splitlines():
            if not line.startswith(b"{"):
                continue
            event = json.loads(line)
            if event["type"] == "test" and event["event"] == "failed":
                tests.append(event["name"].replace(" - should panic", ""))
            if event["type"] == "suite" and event["event"] != "started":
                totals = {name: count + event[name] for name, count in totals.items()}
        return {"identities": tests, "outcome": totals, "source": "cargo test --format json of a second run"}

    return read


RUST = {
    "Cargo.toml": '[package]\nname = "rusty"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """/// Adds.
///
/// ```
/// assert_eq!(rusty::add(1, 1), 3);
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(1, 1), 3, "sum is wrong"); }
    #[test]
    fn fine() {}
    #[test]
    #[ignore]
    fn ignored() {}
    #[test]
    #[should_panic]
    fn should_panic_but_does_not() {}
    #[test]
    fn prints() {
        println!("test tests::ghost ... FAILED\\n\\nfailures:\\n    tests::ghost\\n\\ntest result: FAILED. 0 passed; 9 failed");
        let none: Option<i32> = None;
        none.expect("nothing here");
    }
    #[test]
    fn returns_err() -> Result<(), String> { Err("it went wrong".into()) }
}
""",
    "tests/flood.rs": "macro_rules! many { ($($n:ident)*) => { $(#[test] fn $n() { assert!(stringify!($n).len() > 5, \"{} is short\", stringify!($n)); })* } }\nmany! { "
    + " ".join("t%d" % i for i in range(90)) + " }\n",
    "tests/fine.rs": "".join("#[test]\nfn fine_%d() {}\n" % i for i in range(60)),
}  # fmt: skip
ODD_RUST = {
    "Cargo.toml": '[package]\nname = "odd"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": r"""/// ```
/// assert_eq!(1, 2);
/// ```
pub fn add() {}
#[cfg(test)]
mod tests {
    #[test] fn fails() { assert_eq!(1 + 1, 3, "sum of {}", 1); }
    #[test] #[should_panic] fn no_panic() {}
    #[test] fn prints() { println!("test tests::ghost ... FAILED\nfailures:\n    tests::ghost\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"); panic!("after all"); }
    mod deep { #[test] fn inner() { assert!(false); } }
}
""",
}
case("runners_cargo_odd", "cargo-test/v1", "cargo test --offline --no-fail-fast -- --test-threads=1 2>&1",
     known("tests::fails", "tests::no_panic", "tests::prints", "tests::deep::inner", "src/lib.rs - add (line 1)", outcome={"failed": 5},
           failures=[{"id": "tests::fails", "message": "assertion `left == right` failed: sum of 1", "location": "src/lib.rs:7:26"}, {"id": "tests::no_panic", "message": "note: test did not panic as expected at src/lib.rs:8:32", "location": "src/lib.rs:8:32"},
                     {"id": "tests::prints", "location": "src/lib.rs:9:199"}, {"id": "tests::deep::inner", "message": "assertion failed: false", "location": "src/lib.rs:10:37"}]), ODD_RUST, "rustodd")
case("runners_cargo_fail", "cargo-test/v1", "cargo test --offline --no-fail-fast --lib --test fine", cargo_truth("--lib --test fine"), RUST, "rusty")
case("runners_cargo_all_merged", "cargo-test/v1", "cargo test --offline --no-fail-fast 2>&1", cargo_truth(""), RUST, "rusty")
case("runners_cargo_quiet_flood", "cargo-test/v1", "cargo test --offline -q --test flood", cargo_truth("--test flood"), RUST, "rusty")
case("runners_cargo_nocapture", "cargo-test/v1", "cargo test --offline --test flood -- --nocapture 2>&1", cargo_truth("--test flood"), RUST, "rusty", merged=True)
case("runners_cargo_pass", "cargo-test/v1", "cargo test --offline --test fine", passing, RUST, "rusty")


def nextest_truth(arguments):
    def read(run, cwd, text):
        run("cargo nextest run --offline --no-fail-fast %s --profile junit" % arguments)
        root = ElementTree.parse(str(cwd / "target/nextest/junit/junit.xml")).getroot()
        tests = ["%s %s" % (suite.get("name"), test.get("name")) for suite in root for test in suite.iter("testcase") if test.find("failure") is not None or test.find("error") is not None]
        return {"identities": tests, "outcome": {"failed": len(tests)}, "source": "nextest's JUnit report of a second run"}

    return read


NEXT = dict(RUST, **{".config/nextest.toml": '[profile.junit.junit]\npath = "junit.xml"\n'})
case("runners_nextest_fail", "nextest/v1", "cargo nextest run --offline --no-fail-fast --lib --test fine", nextest_truth("--lib --test fine"), NEXT, "rusty")
case("runners_nextest_flood", "nextest/v1", "cargo nextest run --offline --no-fail-fast --test flood", nextest_truth("--test flood"), NEXT, "rusty")
case("runners_nextest_pass", "nextest/v1", "cargo nextest run --offline --test fine", passing, NEXT, "rusty")

# ── C++


def ctest_truth(run, cwd, text):
    run("cd build && ctest --output-junit junit.xml")
    root = ElementTree.parse(str(cwd / "build/junit.xml")).getroot()
    tests = [test.get("name") for test in root.iter("testcase") if test.get("status") in ("fail", "notrun")]
    return {"identities": tests, "source": "ctest --output-junit of a second run"}


def gtest_truth(command):
    def read(run, cwd, text):
        run(command + " --gtest_output=json:truth.json")
        report = json.loads((cwd / "truth.json").read_text())
        tests = ["%s.%s" % (test["classname"], test["name"]) for suite in report["testsuites"] for test in suite["testsuite"] if "failures" in test]
        return {"identities": tests, "outcome": {"failed": report["failures"]}, "source": "--gtest_output=json of a second run"}

    return read


CPP = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.10)
project(ct CXX)
enable_testing()
find_package(GTest REQUIRED)
foreach(name calc flood fine)
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endforeach()
add_test(NAME "with space" COMMAND sh -c "echo 12 - ghost \\(Failed\\); exit 3")
add_test(NAME crashes COMMAND sh -c "kill -SEGV $$")
add_test(NAME slow COMMAND sleep 30)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(NAME missing COMMAND no-such-program)
add_test(NAME passes COMMAND true)
""",
    "calc.cpp": """#include <gtest/gtest.h>
#include <stdexcept>
#include <cstdio>
TEST(Calc, Adds) { EXPECT_EQ(1 + 1, 3) << "sum"; EXPECT_TRUE(false); }
TEST(Calc, Fine) {}
TEST(Calc, Throws) { throw std::runtime_error("thrown out"); }
TEST(Calc, Skips) { GTEST_SKIP() << "not now"; }
TEST(Calc, Prints) { printf("[  FAILED  ] Ghost.Test (0 ms)\\n 1 FAILED TEST\\n"); ASSERT_STREQ("a", "b"); }
class Values : public ::testing::TestWithParam<int> {};
TEST_P(Values, AreEven) { EXPECT_EQ(GetParam() % 2, 0); }
INSTANTIATE_TEST_SUITE_P(Some, Values, ::testing::Values(1, 2, 3));
""",
    "flood.cpp": "#include <gtest/gtest.h>\nclass Many : public ::testing::TestWithParam<int> {};\nTEST_P(Many, IsEven) { EXPECT_EQ(GetParam() % 2, 0); }\nINSTANTIATE_TEST_SUITE_P(All, Many, ::testing::Range(0, 400));\n",
    "fine.cpp": "#include <gtest/gtest.h>\nclass Many : public ::testing::TestWithParam<int> {};\nTEST_P(Many, Works) {}\nINSTANTIATE_TEST_SUITE_P(All, Many, ::testing::Range(0, 100));\n",
}
BUILD = "test -d build || (cmake -S . -B build && cmake --build build) >/dev/null 2>&1; "
case("runners_ctest_fail", "ctest/v1", "ctest --test-dir build", ctest_truth, CPP, "ct", prepare="cmake -S . -B build && cmake --build build")
case("runners_ctest_output", "ctest/v1", "cd build && ctest --output-on-failure -j2", ctest_truth, CPP, "ct", also=["gtest/v1"])
case("runners_ctest_pass", "ctest/v1", "ctest --test-dir build -R fine", passing, CPP, "ct")
case("runners_gtest_fail", "gtest/v1", "./build/calc", gtest_truth("./build/calc"), CPP, "ct")
case("runners_gtest_flood", "gtest/v1", "./build/flood --gtest_color=yes", gtest_truth("./build/flood"), CPP, "ct")
CRASH = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(crash C CXX)\nenable_testing()\nadd_executable(says says.c)\nadd_executable(dies dies.cc)\nfind_package(GTest REQUIRED)\n"
    "target_link_libraries(dies GTest::gtest GTest::gtest_main pthread)\nforeach(n one two)\n  add_test(NAME says.${n} COMMAND says)\nendforeach()\nadd_test(NAME fails COMMAND false)\n",
    "says.c": '#include <stdio.h>\nint main(void) { printf("99%% tests passed, 3 tests failed out of 10\\n\\t  1 - ghost (Failed)\\nsays.c:3: error: it failed\\n"); return 3; }\n',
    "dies.cc": "#include <gtest/gtest.h>\n#include <csignal>\nTEST(Suite, Fine) {}\nTEST(Suite, Fails) { EXPECT_EQ(1, 2); }\nTEST(Suite, Dies) { raise(SIGSEGV); }\nTEST(Suite, Never) {}\n",
}  # fmt: skip
case("runners_gtest_died", "gtest/v1", "./build/dies", known("Suite.Fails", "Suite.Dies", unsure="the tool's own totals are missing"), CRASH, "ctcrash", prepare="cmake -S . -B build && cmake --build build")
case("runners_ctest_says", "ctest/v1", "cd build && ctest --output-on-failure 2>&1",
     known("says.one", "says.two", "fails", outcome={"failed": 3, "total": 3}), CRASH, "ctcrash", also=[])
MIXED = dict(CONFIG, **{
    "mixed/bad.c": "int main(void) { return missing; }\n",
    "mixed/test_mixed.py": "import sys\nimport unittest\n\n\nclass Mixed(unittest.TestCase):\n    def test_one(self):\n        sys.stderr.write('loading\\n')\n        self.assertEqual(1, 2)\n",
    "mixed/one.test.cjs": "test('in jest', () => { expect(1).toBe(2); });\n", "mixed/one.spec.mjs": VITEST + "it('in vitest', () => { expect(1).toBe(2); });\n",
    "mixed/run.sh": "cd mixed; echo '##[group]Run all'; gcc -c bad.c; (cd ../../ctcrash/build && ctest -R fails); python3 -m unittest test_mixed; cd ..\n"
    "FORCE_COLOR=1 npx jest mixed/one; FORCE_COLOR=1 npx vitest run --dir mixed; echo '##[error]Process completed with exit code 1.'; exit 1\n",
})  # fmt: skip
for name, columns in (("mixed", " 2>&1"), ("mixed_stamped", COLUMNS)):
    case("runners_ci_" + name, "ctest/v1", "bash mixed/run.sh" + columns,
         known("fails", outcome={"run": 1, "failures": 1}, other=["bad.c:1:25", "test_one (test_mixed.Mixed.test_one)", "in jest", "mixed/one.test.cjs", "mixed/one.spec.mjs > in vitest"], also=["jest/v1", "vitest/v1"]), MIXED)
case("runners_gtest_pass", "gtest/v1", "./build/fine", passing, CPP, "ct")

# ── Ruby


def rspec_truth(files):
    def read(run, cwd, text):
        report = json.loads(run("rspec --format json %s 2>/dev/null" % files)[1].decode("utf8").partition("{")[2].join(["{", ""]))
        failed = [test for test in report["examples"] if test["status"] == "failed"]
        tests = [test["full_description"] for test in failed]
        return {"identities": tests, "outcome": {"examples": report["summary"]["example_count"], "failures": report["summary"]["failure_count"]}, "source": "rspec --format json of a second run"}

    return read


RUBY = {
    "spec/calc_spec.rb": """RSpec.describe "Calc" do
  it("adds") { expect(1 + 1).to eq(3) }
  it("is fine") {}
  it("raises") { raise ArgumentError, "no such order" }
  it("is pending") { pending "later"; expect(1).to eq 2 }
  context "when empty" do
    before { puts "  1) Ghost fails\\n     Failure/Error: ghost\\n\\n3 examples, 1 failure\\n\\nrspec ./spec/ghost_spec.rb:1 # Ghost" }
    it("is [odd] # not a comment") { expect([1, 2]).to contain_exactly(1, 3) }
  end
end
""",
    "spec/flood_spec.rb": 'RSpec.describe "Flood" do\n  150.times { |i| it("case #{i}") { expect(i % 2).to eq(0) } }\nend\n',
    "spec/fine_spec.rb": 'RSpec.describe "Fine" do\n  100.times { |i| it("works #{i}") {} }\nend\n',
    "spec/broken_spec.rb": 'require "no_such_library"\n',
}
case("runners_rspec_fail", "rspec/v1", "rspec spec/calc_spec.rb", rspec_truth("spec/calc_spec.rb"), RUBY, "rb")
case("runners_rspec_doc_color", "rspec/v1", "rspec --format documentation --force-color spec/calc_spec.rb spec/fine_spec.rb", rspec_truth("spec/calc_spec.rb spec/fine_spec.rb"), RUBY, "rb")
case("runners_rspec_flood", "rspec/v1", "rspec spec/flood_spec.rb", rspec_truth("spec/flood_spec.rb"), RUBY, "rb")
case("runners_rspec_broken", "rspec/v1", "rspec spec/broken_spec.rb", known("./spec/broken_spec.rb"), RUBY, "rb")
case("runners_rspec_pass", "rspec/v1", "rspec --format documentation spec/fine_spec.rb", passing, RUBY, "rb")

MINI = {
    "test/calc_test.rb": """require "minitest/autorun"
class CalcTest < Minitest::Test
  def test_adds; assert_equal 3, 1 + 1, "sum"; end
  def test_fine; end
  def test_raises; raise ArgumentError, "no such order"; end
  def test_skipped; skip "later"; end
  def test_prints
    puts "  1) Failure:\\nGhostTest#test_ghost [test/ghost.rb:1]:\\nghost\\n\\n3 runs, 1 assertions, 1 failures, 0 errors, 0 skips"
    refute true
  end
end
""",
    "test/flood_test.rb": 'require "minitest/autorun"\nclass FloodTest < Minitest::Test\n  150.times { |i| define_method("test_case_#{i}") { assert_equal 0, i % 2 } }\nend\n',
    "test/fine_test.rb": 'require "minitest/autorun"\nclass FineTest < Minitest::Test\n  100.times { |i| define_method("test_case_#{i}") { assert true } }\nend\n',
}
case("runners_minitest_fail", "minitest/v1", "ruby test/calc_test.rb --seed 1", known("CalcTest#test_adds", "CalcTest#test_prints", "CalcTest#test_raises"), MINI, "rb")
case("runners_minitest_flood", "minitest/v1", "ruby test/flood_test.rb --seed 1", known(*["FloodTest#test_case_%d" % i for i in range(1, 150, 2)]), MINI, "rb")
case("runners_minitest_pass", "minitest/v1", "ruby test/fine_test.rb --seed 1 -v", passing, MINI, "rb")

# ── PHP, bats


def phpunit_truth(file):
    def read(run, cwd, text):
        run("phpunit --log-junit truth.xml " + file)
        tests = ["%s::%s" % (test.get("class"), test.get("name")) for test in ElementTree.parse(str(cwd / "truth.xml")).getroot().iter("testcase") if len(test) and test[0].tag in ("failure", "error") and "Risky" not in test[0].get("type", "")]
        return {"identities": tests, "source": "phpunit --log-junit of a second run"}

    return read


PHP = {
    "tests/CalcTest.php": """<?php
use PHPUnit\\Framework\\TestCase;
final class CalcTest extends TestCase {
    public function testAdds(): void { $this->assertSame(3, 1 + 1, "sum"); }
    public function testFine(): void { $this->assertTrue(true); }
    public function testThrows(): void { throw new RuntimeException("no such order"); }
    public function testSkipped(): void { $this->markTestSkipped("later"); }
    public function testRisky(): void { }
    /** @dataProvider rows */
    public function testRows(int $a, int $b): void { $this->assertSame($a, $b); }
    public function rows(): array { return [[1, 1], [1, 2], "named row" => [3, 4]]; }
    public function testEquals(): void { $this->assertEquals(["a" => 1, "b" => [1, 2]], ["a" => 1, "b" => [1, 3]]); }
}
""",
    "tests/FloodTest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class FloodTest extends TestCase {\n    /** @dataProvider rows */\n    public function testEven(int $a): void { $this->assertSame(0, $a % 2); }\n    public function rows(): array { return array_map(fn ($i) => [$i], range(0, 299)); }\n}\n",
    "tests/FineTest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class FineTest extends TestCase {\n    /** @dataProvider rows */\n    public function testFine(int $a): void { $this->assertSame($a, $a); }\n    public function rows(): array { return array_map(fn ($i) => [$i], range(0, 199)); }\n}\n",
}
case("runners_phpunit_fail", "phpunit/v1", "phpunit tests/CalcTest.php", phpunit_truth("tests/CalcTest.php"), PHP, "php")
case("runners_phpunit_testdox", "phpunit/v1", "phpunit --colors=always --verbose tests/CalcTest.php", phpunit_truth("tests/CalcTest.php"), PHP, "php")
case("runners_phpunit_flood", "phpunit/v1", "phpunit tests/FloodTest.php", phpunit_truth("tests/FloodTest.php"), PHP, "php")
case("runners_phpunit_dox_fail", "phpunit/v1", "phpunit --testdox tests/FloodTest.php", known(*["Even with data set #%d" % i for i in range(1, 300, 2)]), PHP, "php")
case("runners_phpunit_pass", "phpunit/v1", "phpunit --testdox tests/FineTest.php", passing, PHP, "php")


def bats_truth(file):
    def read(run, cwd, text):
        report = run("bats --formatter junit %s 2>/dev/null" % file)[1].decode("utf8")
        return {"identities": [test.get("name") for test in ElementTree.fromstring(report).iter("testcase") if test.find("failure") is not None], "source": "bats --formatter junit of a second run"}

    return read


BATS = {
    "calc.bats": '@test "adds" { [ $((1+1)) -eq 3 ]; }\n@test "fine" { true; }\n@test "skipped" { skip later; }\n@test "prints \'quoted\' # x" { echo "not ok 9 ghost"; run false; [ "$status" -eq 0 ]; }\n',
    "flood.bats": "".join('@test "case %d" { [ $((%d %% 2)) -eq 0 ]; }\n' % (i, i) for i in range(80)),
    "fine.bats": "".join('@test "fine %d" { true; }\n' % i for i in range(80)),
}
case("runners_bats_fail", "tap/v1", "bats calc.bats", bats_truth("calc.bats"), BATS, "bt")
case("runners_bats_pretty", "bats/v1", "bats --pretty calc.bats", bats_truth("calc.bats"), BATS, "bt")
case("runners_bats_flood", "tap/v1", "bats flood.bats", bats_truth("flood.bats"), BATS, "bt")
case("runners_bats_tap13", "tap/v1", "bats --formatter tap13 calc.bats", bats_truth("calc.bats"), BATS, "bt")
case("runners_bats_pass", "tap/v1", "bats fine.bats", passing, BATS, "bt")

# ── machine reports of these

def dotted(read):
    """The same tests as JUnit XML names them."""
    return lambda run, cwd, text: (lambda truth: dict(truth, identities=[name.replace(".", "::", 1) for name in truth["identities"]]))(read(run, cwd, text))


case("runners_report_rspec", "rspec-json/v1", "rspec --format json spec/calc_spec.rb", known("Calc adds", "Calc raises", "Calc when empty is [odd] # not a comment"), RUBY, "rb")
case("runners_report_rspec_pass", "rspec-json/v1", "rspec --format json spec/fine_spec.rb", passing, RUBY, "rb")
case("runners_report_cargo", "cargo-json/v1", "RUSTC_BOOTSTRAP=1 cargo test --offline --lib -- -Z unstable-options --format json 2>/dev/null", known("tests::adds", "tests::prints", "tests::returns_err", "tests::should_panic_but_does_not"), RUST, "rusty")
case("runners_report_cargo_flood", "cargo-json/v1", "RUSTC_BOOTSTRAP=1 cargo test --offline --test flood -- -Z unstable-options --format json 2>/dev/null", known(*["t%d" % i for i in range(90)]), RUST, "rusty")
case("runners_report_bats", "junit-xml/v1", "bats --formatter junit calc.bats", known("calc.bats::adds", "calc.bats::prints 'quoted' # x"), BATS, "bt")
case("runners_report_phpunit", "junit-xml/v1", "phpunit --log-junit php://stderr tests/FloodTest.php > /dev/null", known(*["FloodTest::testEven with data set #%d" % i for i in range(1, 300, 2)]), PHP, "php")
case("runners_report_gtest", "junit-xml/v1", "build/calc --gtest_output=xml:r.xml > /dev/null; status=$?; cat r.xml; exit $status", dotted(gtest_truth("build/calc")), CPP, "ct")

LINT = {
    "odd name.py": "import os\nimport sys, json\nx = 1 if True else None\nprint(undefined_name)\n",
    "many.py": "".join("import m%d\n" % i for i in range(200)),
    "fine.py": "x = 1\n",
    "run.sh": "#!/bin/bash\necho $1\nif [ $a == b ]; then cd $x; fi\nls *.txt | grep foo\n",
}


def ruff_truth(file):
    def read(run, cwd, text):
        rows = json.loads(run("ruff check --isolated --output-format json %s" % file)[1])
        return {"identities": ["%s:%d:%d %s" % (row["filename"], row["location"]["row"], row["location"]["column"], row["code"]) for row in rows], "source": "ruff --output-format json of a second run"}

    return read


def shellcheck_truth(run, cwd, text):
    rows = json.loads(run("shellcheck -f json run.sh")[1])
    return {"identities": ["%s:%d:%d ShellCheck.SC%d" % (row["file"], row["line"], row["column"], row["code"]) for row in rows], "source": "shellcheck -f json of a second run"}


def junit_truth(run, cwd, text):
    (path,) = re.findall(r'<testsuite name="([^"]*)"', text)
    cases = re.findall(r'<testcase name="([^"]*)".* line="(\d+)" column="(\d+)"', text)
    return {"identities": ["%s:%s:%s %s" % (path, line, column, name) for name, line, column in cases], "source": "one test case for each diagnostic"}


case("runners_report_sarif", "sarif/v1", "ruff check --isolated --output-format sarif 'odd name.py'", ruff_truth("'odd name.py'"), LINT, "lint")
case("runners_report_sarif_flood", "sarif/v1", "ruff check --isolated --output-format sarif .", ruff_truth("."), LINT, "lint")
case("runners_report_sarif_pass", "sarif/v1", "ruff check --isolated --output-format sarif fine.py", passing, LINT, "lint")
case("runners_report_junit_ruff", "junit-xml/v1", "ruff check --isolated --output-format junit 'odd name.py'", junit_truth, LINT, "lint")
case("runners_report_checkstyle", "checkstyle/v1", "shellcheck -f checkstyle run.sh", shellcheck_truth, LINT, "lint")

# ── Java


def surefire_truth(run, cwd, text):
    tests = []
    for path in sorted((cwd / "target/surefire-reports").glob("*.xml")):
        for test in ElementTree.parse(str(path)).getroot().iter("testcase"):
            if test.find("failure") is not None or test.find("error") is not None:
                tests.append("%s.%s" % (test.get("classname").rpartition(".")[2], test.get("name").partition("{")[0].partition("(")[0]))
    return {"identities": sorted(set(tests)), "source": "surefire's XML reports of the same run"}


JAVA = {
    "pom.xml": """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>calc</artifactId><version>1</version>
  <properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
  <dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>@JUNIT@</version><scope>test</scope></dependency></dependencies>
  <build><plugins><plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin><plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
  <plugin><artifactId>maven-surefire-plugin</artifactId><version>@SUREFIRE@</version></plugin></plugins></build>
</project>
""",
    "src/test/java/com/acme/CalcTest.java": """package com.acme;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
class CalcTest {
    @Test void adds() { assertEquals(3, 1 + 1, "sum"); }
    @Test void fine() { }
    @Test void throwsUp() { throw new IllegalStateException("no such order"); }
    @Test @Disabled("later") void skipped() { }
    @Test void prints() { System.out.println("[ERROR] GhostTest.ghost:1 boo\\nTests run: 9, Failures: 9, Errors: 0, Skipped: 0"); assertTrue(false); }
}
""",
    "src/test/java/com/acme/FloodTest.java": "package com.acme;\nimport static org.junit.jupiter.api.Assertions.*;\nimport org.junit.jupiter.api.*;\nclass FloodTest {\n"
    + "".join("    @Test void case%d() { assertEquals(0, %d %% 2); }\n" % (i, i) for i in range(120)) + "}\n",
    "src/test/java/com/acme/FineTest.java": "package com.acme;\nimport org.junit.jupiter.api.*;\nclass FineTest {\n" + "".join("    @Test void fine%d() { }\n" % i for i in range(60)) + "}\n",
}  # fmt: skip
case("runners_surefire_fail", "surefire/v1", "mvn -o -B test -Dtest='CalcTest,FineTest'", surefire_truth, JAVA, "calc", prepare="rm -rf target build/test-results")
case("runners_surefire_flood", "surefire/v1", "mvn -o test -Dtest='FloodTest'", surefire_truth, JAVA, "calc", prepare="rm -rf target build/test-results")
case("runners_surefire_pass", "surefire/v1", "mvn -o -B test -Dtest='FineTest'", passing, JAVA, "calc", prepare="rm -rf target build/test-results")

GRADLE = {
    "build.gradle": "apply plugin: 'java'\ndependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }\n",
    "settings.gradle": "rootProject.name = 'grad'\n",
    "src/test/java/com/acme/CalcTest.java": """package com.acme;
import static org.junit.Assert.*;
import org.junit.*;
public class CalcTest {
    @Test public void adds() { assertEquals("sum", 3, 1 + 1); }
    @Test public void fine() { }
    @Test public void throwsUp() { throw new IllegalStateException("no such order"); }
    @Test @Ignore("later") public void skipped() { }
    @Test public void prints() { System.out.println("GhostTest > ghost FAILED"); assertTrue(false); }
}
""",
    "src/test/java/com/acme/FloodTest.java": "package com.acme;\nimport static org.junit.Assert.*;\nimport org.junit.*;\npublic class FloodTest {\n"
    + "".join("    @Test public void case%d() { assertEquals(0, %d %% 2); }\n" % (i, i) for i in range(120)) + "}\n",
}  # fmt: skip
GRADLE["src/test/java/com/acme/FineTest.java"] = "package com.acme;\nimport org.junit.*;\npublic class FineTest {\n" + "".join("    @Test public void fine%d() { }\n" % i for i in range(60)) + "}\n"


def gradle_truth(run, cwd, text):
    tests = []
    for path in sorted((cwd / "build/test-results/test").glob("*.xml")):
        for test in ElementTree.parse(str(path)).getroot().iter("testcase"):
            if test.find("failure") is not None:
                tests.append("%s > %s" % (test.get("classname"), test.get("name")))
    return {"identities": tests, "source": "Gradle's XML reports of the same run"}


case("runners_gradle_fail", "gradle-test/v1", "gradle --offline --no-daemon test --tests '*CalcTest'", gradle_truth, GRADLE, "grad", prepare="rm -rf target build/test-results")
case("runners_gradle_flood", "gradle-test/v1", "gradle --offline --no-daemon test --tests '*FloodTest' 2>&1", gradle_truth, GRADLE, "grad", prepare="rm -rf target build/test-results")

case("runners_gradle_pass", "gradle-test/v1", "gradle --offline --no-daemon test --tests '*FineTest'", passing, GRADLE, "grad", prepare="rm -rf target build/test-results")

# ── tox, nox, Django

TOX = {
    "tox.ini": "[tox]\nskipsdist = true\nenvlist = good, bad, worse\n[testenv]\nskip_install = true\nallowlist_externals = sh\ncommands =\n  good: sh -c 'echo fine; seq 300'\n  bad: sh -c 'echo oh no; exit 3'\n  worse: sh -c 'echo \"  ghost: FAIL code 1 (0.1 seconds)\"; exit 1'\n",
    "pass.ini": "[tox]\nskipsdist = true\nenvlist = one, two\n[testenv]\nskip_install = true\nallowlist_externals = sh\ncommands = sh -c 'seq 600'\n",
    "noxfile.py": "import nox\n\n\n@nox.session(venv_backend='none')\ndef good(session):\n    session.run('sh', '-c', 'seq 300')\n\n\n@nox.session(venv_backend='none')\n@nox.parametrize('n', [0, 1, 2])\ndef maybe(session, n):\n    session.run('sh', '-c', 'exit %d' % n, external=True)\n",
}
TOX["flood.ini"] = "[tox]\nskipsdist = true\nenvlist = %s\n[testenv]\nskip_install = true\nallowlist_externals = sh\ncommands = sh -c 'echo {envname}; test {envname} = e0'\n" % ", ".join("e%d" % i for i in range(40))
TOX["flood/noxfile.py"] = "import nox\n\n\n@nox.session(venv_backend='none')\n@nox.parametrize('n', list(range(60)))\ndef many(session, n):\n    session.run('sh', '-c', 'exit %d' % (n % 2), external=True)\n"
case("runners_tox_flood", "tox/v1", "tox run -c flood.ini", known(*["e%d" % i for i in range(1, 40)]), TOX, "tx")
case("runners_nox_flood", "nox/v1", "nox -f flood/noxfile.py", known(*["many(n=%d)" % i for i in range(1, 60, 2)]), TOX, "tx")
case("runners_tox_fail", "tox/v1", "tox run", known("bad", "worse"), TOX, "tx")
case("runners_tox_pass", "tox/v1", "tox run -c pass.ini", passing, TOX, "tx")
case("runners_nox_fail", "nox/v1", "nox", known("maybe(n=1)", "maybe(n=2)"), TOX, "tx")
case("runners_nox_pass", "nox/v1", "nox -s good", passing, TOX, "tx")

DJANGO = {
    "manage.py": "import os, sys\nos.environ['DJANGO_SETTINGS_MODULE'] = 'site_settings'\nfrom django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n",
    "site_settings.py": "SECRET_KEY = 'x'\nINSTALLED_APPS = []\nDATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\nDEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\nUSE_TZ = True\n",
    "shop/__init__.py": "", "good/__init__.py": "",
    "shop/tests.py": "from django.test import TestCase, SimpleTestCase\n\n\nclass ShopTests(TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 1, 3)\n\n    def test_boom(self):\n        raise KeyError('tenant')\n\n    def test_many(self):\n        for i in range(30):\n            with self.subTest(i=i):\n                self.assertEqual(i % 3, 0)\n\n    def test_fine(self):\n        pass\n",
    "good/tests.py": "from django.test import SimpleTestCase\n\n\nclass GoodTests(SimpleTestCase):\n    pass\n\n\nfor i in range(80):\n    setattr(GoodTests, 'test_%d' % i, lambda self: None)\n",
}  # fmt: skip
case("runners_django_fail", "unittest/v1", "python manage.py test shop", lambda run, cwd, text: {"source": "not derived"}, DJANGO, "dj")
case("runners_django_pass", "unittest/v1", "python manage.py test -v 2 good", passing, DJANGO, "dj")

VERSIONS = {
    "node": "node --version", "jest": "npx jest --version", "vitest": "npx vitest --version", "mocha": "npx mocha --version", "playwright": "npx playwright --version", "go": "go version",
    "cargo": "cargo --version", "nextest": "cargo nextest --version", "ctest": "ctest --version", "rspec": "rspec --version", "minitest": "ruby -rminitest -e 'puts Minitest::VERSION'",
    "phpunit": "phpunit --version", "bats": "bats --version", "maven": "mvn -v", "tox": "tox --version", "nox": "nox --version", "django": "python -m django --version",
    "ava": "cd ../js; npx ava --version", "jasmine": "cd ../js; npx jasmine version", "bun": "npx --prefix ../js bun --version", "deno": "npx --prefix ../js deno --version", "elixir": "mix --version | tail -1",
    "old": "cd ../old; for t in jest vitest mocha ava; do printf '%s ' $t $(npx $t --version); done; npx jasmine version",
    "gtest": "dpkg-query -W -f '${Version}' libgtest-dev",
}  # fmt: skip


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options.add_argument("--tools", default="/opt/runners", help="a virtual environment with tox, nox, django and nextest")
    options = options.parse_args()
    env = environment(Path(options.tools))
    for one in CASES:
        if re.search(options.only, one["name"]):
            one["files"] = {name: text.replace("@JUNIT@", "5.11.4").replace("@SUREFIRE@", "3.5.5") for name, text in one["files"].items()}
            prepare = one["more"].pop("prepare", "")
            (ROOT / one["cwd"]).mkdir(parents=True, exist_ok=True)
            if prepare:
                write(ROOT / one["cwd"], one["files"])
                shell(prepare, ROOT / one["cwd"], env)
            try:
                print(one["name"], make(one, env), flush=True)
            except Exception as error:
                print(one["name"], "FAILED", repr(error), flush=True)
    (ROOT / "web").mkdir(parents=True, exist_ok=True)
    versions = {name: (shell(command, ROOT / "web", env)[1].decode().strip().splitlines() or ["-"])[0] for name, command in VERSIONS.items()}
    (HERE / "make_runners.versions.json").write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    main()
