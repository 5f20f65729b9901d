"""Section 4: classes, and insertions that change nothing but what is captured. The corpus is what real agents typed."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_shell import BASH, SHELLISH, commands, lines, needs_bash, steps

import ctx

pytestmark = pytest.mark.once  # much data: on the main Python only

CLAUDE = ctx.Facts(shadowed=frozenset(("grep", "find", "pkill")))
EAGER = ctx.Facts(program="python3 /opt/ctx.pyz", reads=True, unknown="capture")  # inserts wherever anything may be inserted
COLLAPSING = ctx.Facts(reads=True, unknown="capture", collapse=True, failed=True)


def rewritten(text, facts=CLAUDE):
    return ctx.with_edits(text, ctx.judge(text, facts).edits)


def kind(text):
    """The kind of the one command of a line."""
    (segment,) = [s for s in ctx.judge(text, CLAUDE).segments if s.argv]
    return segment.kind


@pytest.fixture(scope="module")
def corpus():
    """The corpus' rows that are short enough to be read."""
    return [row for row in commands() if len(row["command"]) <= ctx.COMMAND_LIMIT]


# insertions


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("pytest -q", "ctx run -- pytest -q"),
        ("cd src && pytest -q; echo $?", "cd src && ctx run -- pytest -q; echo $?"),
        ("pytest || echo failed", "ctx run -- pytest || echo failed"),
        ("make\npytest # now\n", "ctx run -- make\nctx run -- pytest # now\n"),
        ("pytest 2>&1", "ctx run -- pytest 2>&1"),
        ("pytest 2>/dev/null </dev/null", "ctx run -- pytest 2>/dev/null </dev/null"),
        ("FOO=1 BAR='a b' pytest", "FOO=1 BAR='a b' ctx run -- pytest"),
        ("env A=1 pytest", "ctx run -- env A=1 pytest"),
        ("timeout -k 5 60 nice -n 3 pytest", "ctx run -- timeout -k 5 60 nice -n 3 pytest"),
        ("time pytest", "time ctx run -- pytest"),
        ("! pytest", "! ctx run -- pytest"),
        ("set -e; ulimit -n 4096 && make", "set -e; ulimit -n 4096 && ctx run -- make"),
        ("env HOME=/x pytest; bash -xc make", "ctx run -- env HOME=/x pytest; ctx run -- bash -xc make"),
        ("nohup pytest", "ctx run -- nohup pytest"),
        ("command pytest", "command ctx run -- pytest"),
        ("uv run pytest", "ctx run -- uv run pytest"),
        ("python -m pytest", "ctx run -- python -m pytest"),
        ("bash -lc 'cd x && npm test'", "ctx run -- bash -lc 'cd x && npm test'"),
        ("/bin/zsh -lc \"/bin/zsh -lc 'pytest'\"", "ctx run -- /bin/zsh -lc \"/bin/zsh -lc 'pytest'\""),
        ("pytest $(git diff --name-only) 'a b' \"$x\"", "ctx run -- pytest $(git diff --name-only) 'a b' \"$x\""),
        ("source .venv/bin/activate && pytest", "source .venv/bin/activate && ctx run -- pytest"),
        ("export PATH=$PATH:/x; pytest", "export PATH=$PATH:/x; ctx run -- pytest"),
        ('~/v/bin/pytest; "$V/bin/python" -m pytest', 'ctx run -- ~/v/bin/pytest; ctx run -- "$V/bin/python" -m pytest'),
        ("if x; then y; fi && pytest", "if x; then y; fi && ctx run -- pytest"),
        ("cat > t.py <<'EOF'\npytest\nEOF\npytest t.py", "cat > t.py <<'EOF'\npytest\nEOF\nctx run -- pytest t.py"),
        ("printf 'y\\n' | npm test", "printf 'y\\n' | ctx run -- npm test"),
        ("git diff --name-only | xargs eslint", "git diff --name-only | ctx run -- xargs eslint"),
        ("pytest \\\n  -q", "ctx run -- pytest \\\n  -q"),
    ],
)
def test_what_is_captured(typed, expected):
    assert rewritten(typed) == expected


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("pytest 2>&1 | tail -30", "pytest 2>&1 | ctx tap --for 'pytest' | tail -30"),
        ("pytest |& tail", "pytest |& ctx tap --for 'pytest' | tail"),
        ("pytest|head -50", "pytest|ctx tap --for 'pytest' | head -50"),
        (
            "A=1 pytest -k 'a b' 2>&1 | grep -v x | tail",
            "A=1 pytest -k 'a b' 2>&1 | ctx tap --for 'A=1 pytest -k '\\''a b'\\''' | grep -v x | tail",
        ),
        ("cd w && npm test 2>&1 | tail -40; echo $?", "cd w && npm test 2>&1 | ctx tap --for 'npm test' | tail -40; echo $?"),
        ("make |\n tail -3 2>/dev/null", "make |\n ctx tap --for 'make' | tail -3 2>/dev/null"),
        ("go test ./... | grep FAIL", "go test ./... | ctx tap --for 'go test ./...' | grep FAIL"),
    ],
)
def test_what_is_tapped(typed, expected):
    assert rewritten(typed) == expected


@pytest.mark.parametrize(
    "typed, why",
    [
        ("x=$(pytest)", "inside $("),
        ("x=`pytest`", "inside `"),
        ("for i in 1; do pytest; done", "inside for"),
        ("while :; do pytest; done", "inside while"),
        ("if pytest; then :; fi", "inside if"),
        ("(cd x && pytest)", "inside ("),
        ("{ pytest; }", "inside {"),
        ("f() { pytest; }", "inside {"),
        ("cat <(pytest)", "inside <("),
        ("cat <<E\n$(pytest)\nE", "inside $("),
        ("pytest &", "runs in the background"),
        ("cd x && pytest & sleep 1", "runs in the background"),
        ("pytest > out.txt 2>&1", "its output is redirected"),
        ("pytest &> out", "its output is redirected"),
        ("pytest 2> err", "its output is redirected"),
        ("pytest > /dev/null", "its output is redirected"),
        ("pytest 3>&1", "its output is redirected"),
        ("pytest | wc -l", "a program computes from its output"),
        ("pytest | tee log", "a program computes from its output"),
        ("pytest | grep -c FAILED", "a program computes from its output"),
        ("pytest | tail > f", "a program computes from its output"),
        ("pytest | tail | awk '{print $1}'", "a program computes from its output"),
        ("pytest | while read x; do :; done", "a program computes from its output"),
        ("set -o pipefail; pytest | tail", "the status of a pipeline is looked at"),
        ("pytest | tail; echo ${PIPESTATUS[0]}", "the status of a pipeline is looked at"),
        ("pytest <(echo a)", "has a process substitution"),
        ("CTX_OFF=1 pytest", "CTX_OFF is set"),
        ("export CTX_OFF=1; pytest", "CTX_OFF is set"),
        ("LD_PRELOAD=x.so pytest", "LD_PRELOAD would reach ctx too"),
        ("PATH=/x pytest", "PATH is replaced"),
        ("PATH=/x; pytest", "PATH is replaced"),
        ("unset PATH; pytest", "unset may change what names mean"),
        ("alias pytest=x; pytest", "alias may change what names mean"),
        ("hash -p ./x pytest; pytest", "hash may change what names mean"),
        ("shopt -s expand_aliases; pytest", "shopt may change what names mean"),
        ('eval "$x"; pytest', "eval may change what names mean"),
        ("set -x; pytest", "set has commands shown"),
        ("set -euxo pipefail\npytest", "set has commands shown"),
        ("set -o verbose; pytest", "set has commands shown"),
        ("ulimit -v 100000; pytest", "ulimit would bind ctx too"),
        ("ulimit -Sf 0; make", "ulimit would bind ctx too"),
        ("trap 'echo $BASH_COMMAND' DEBUG; make", "the text of commands is looked at"),
        ("HOME=$(mktemp -d) pytest", "HOME would reach ctx too"),
        ("export XDG_STATE_HOME=/x; pytest", "XDG_STATE_HOME would reach ctx too"),
        ("exec > log; pytest", "exec may change what names mean"),
        ("source ./x.sh; pytest", "a sourced file may change what names mean"),
        ("pytest() { :; }; pytest", "pytest may be no program here"),
        ("command -p pytest", "-p may be no program here"),
        ("ctx run -- pytest", "runs ctx already"),
        ("python3 /opt/ctx.pyz run -- pytest; make", "runs ctx already"),
        ("bash -lc 'ctx run -- pytest'; make", "runs ctx already"),
        ("x=$(ctx get run:8d83); make", "runs ctx already"),
        ("pytest 'a", "not understood: an open quote"),
        ("pytest (a)", "not understood: ( after a word"),
        ("ls", "prints little"),
        ("git commit -m pytest", "changes something"),
        ("./prog", "not known"),
        ("npm run dev", "runs until it is stopped, or elsewhere"),
        ("cat f", "a read, which this host keeps"),
        ("pytest " + "a" * ctx.COMMAND_LIMIT, "longer than 4 KiB"),
    ],
)
def test_what_is_left_alone(typed, why):
    verdict = ctx.judge(typed, CLAUDE)
    assert (verdict.edits, verdict.reason) == ([], why)


@pytest.mark.parametrize(
    "typed",
    [
        'MSG="fix: cargo test fails"; git commit -m "$MSG"',
        "case x in pytest) :;; esac",
        "[[ pytest == a ]]",
        "x=(pytest -q)",
        "for pytest in a; do :; done",
        "echo 'pytest; make'",
        "cat <<E\npytest\nmake\nE",
        ": # pytest",
        "((pytest = 1))",
    ],
)
def test_text_that_is_no_command_stays(typed):
    assert rewritten(typed, EAGER).replace("python3 /opt/ctx.pyz run -- ", "") == typed
    assert "-- pytest" not in rewritten(typed, EAGER)


def test_names_that_are_no_programs_here_are_never_prefixed():
    reads = ctx.Facts(shadowed=frozenset(("grep",)), reads=True)
    assert rewritten("grep -rn a .; command grep -rn a .; env grep -rn a .", reads) == (
        "grep -rn a .; command ctx run -- grep -rn a .; ctx run -- env grep -rn a ."
    )
    missing = ctx.Facts(executable=lambda name: name != "pytest")
    assert rewritten("pytest; tox; ./pytest", missing) == "pytest; ctx run -- tox; ctx run -- ./pytest"
    assert rewritten(". v/bin/activate; pytest", missing) == ". v/bin/activate; ctx run -- pytest"
    assert rewritten("PATH=v:$PATH pytest", missing) == "PATH=v:$PATH ctx run -- pytest"


@pytest.mark.parametrize("facts", [ctx.Facts(mode="plan"), ctx.Facts(mode="auto"), ctx.Facts(background=True)])
def test_modes_that_are_never_rewritten(facts):
    assert ctx.judge("pytest", facts).edits == []
    assert ctx.judge("pytest", facts).cls == "noisy"


def test_settings():
    assert rewritten("cat f; grep -rn a .; ./prog", ctx.Facts(reads=True)) == "ctx run -- cat f; ctx run -- grep -rn a .; ./prog"
    assert (
        rewritten("cat f; ./prog; python x.py", ctx.Facts(unknown="capture")) == "cat f; ctx run -- ./prog; ctx run -- python x.py"
    )
    assert rewritten("./prog", ctx.Facts(unknown="ask")) == "./prog"
    assert rewritten("npm run dev; sudo x; vim; ssh h make; tail -f x", EAGER) == "npm run dev; sudo x; vim; ssh h make; tail -f x"
    assert rewritten("pytest | tail", ctx.Facts(program="/o p/ctx")) == "pytest | /o p/ctx tap --for 'pytest' | tail"


# classes


# Command lines by what they amount to.
EXAMPLES = {
    "report": r"""
        pytest; tox; nox; python -m unittest; python -Im pytest -q; python3.11 -mpytest; coverage run -m pytest
        manage.py test; npx jest; npx -y jest@29; yarn jest; npm t; pnpm -r test; pnpm --filter x run build
        yarn workspace x test; bun test; vitest; npm --prefix w run lint; npm run test:unit -- -t x; deno task build
        yarn lint; node --test; npx playwright test; mocha; go test ./...; go -C x vet; cargo +nightly test; cargo nextest run
        ctest; ./build/unit_tests; make; make -j 4 test; make -C d; ./mvnw -q clean install
        ./gradlew clean :app:testDebugUnitTest -x lint; ./gradlew assembleRelease; sbt 'testOnly *X'; mix test
        bundle exec rspec; bin/rails test; rake spec; vendor/bin/phpunit; php artisan test; php -l x.php; composer test
        dotnet test; swift test; xcodebuild test; flutter test; zig build; dune build; stack test; lein test; prove -r t
        bats t; busted; dart analyze; gcc -o a a.c; g++-12 a.cc; clang a.c; javac A.java; rustc a.rs; tsc --noEmit; webpack
        next build; vite build; cmake --build b; ruff check; flake8; mypy .; black --check .; eslint src; prettier -c .
        golangci-lint run; cargo clippy; shellcheck a.sh; rubocop; gofmt -l .; terraform plan; helm lint x; docker build .
        docker compose build; hadolint Dockerfile; ansible-lint; yamllint .; java -jar junit.jar
        java org.junit.runner.JUnitCore T; ./run_tests.sh; bash scripts/lint.sh; ./configure; python setup.py build
        sh -c 'cd x && make && ls'; poetry run python -m pytest; xvfb-run -a npm test; npx tsc; nx test app; turbo run test
        mise exec -- tox; mise exec node@20 -- npm test; mise run test; devbox run test; nix develop -c pytest; opam exec -- dune test
        uv run -m pytest -q; just --justfile x test; nx run-many --target=build --all; lerna run build --scope x
        lerna exec -- npm test; rush rebuild; yarn workspaces foreach -A run build; bun --filter '*' test; melos run test; fvm flutter test
        node node_modules/jest/bin/jest.js; deno run npm/x/test.sh; npx @angular/cli build; go tool staticcheck ./...
        go run github.com/golangci/golangci-lint/cmd/golangci-lint@latest run; cargo make test; cargo xtask test; cargo nextest r; cargo bloat
        cargo insta test; cargo lint; make -j $N test; make cleanall all; ./gradlew cleanTest test; sbt ';clean;test'
        mix format --check-formatted; mix check; mix do compile, test; cabal v2-test; lein kibit; clojure -M:test; bb test
        scala-cli test .; sail artisan test; bin/console lint:yaml config; bin/test; ./test; dart run test; R CMD check .
        julia --project=. test/runtests.jl; perl -Ilib t/foo.t; python tests/all.py; node ./test/index.js; elm-test; terragrunt run-all plan
        helm unittest c; prek run -a; cdk synth; pod lib lint; bundle exec fastlane ios test; xcrun xcodebuild test; sam build; npm run test:login
        vue-cli-service test:unit; xcbeautify
    """,
    "mutation": r"""
        rm x; mv a b; git add .; git -C x push; git branch new; git stash; git config a b; git tag v1; kill 1; chmod +x a
        tee f; npm ci; npm i x; yarn; yarn add x; pnpm install; pip install x; python -m pip install x; uv sync
        uv pip install x; cargo add x; go get x; go mod tidy; gofmt -w .; goimports -w .; cargo fmt; black .; ruff check --fix
        ruff format; eslint --fix .; prettier -w .; make install; make clean; make deploy; npm run lint:fix
        npm run lint -- --fix; npm publish; mvn deploy; mvn compile jib:build; sed -i s/a/b/ f; sed -ni.bak p f
        perl -pi -e s/a/b/ f; find . -delete; find . -exec rm {} +; fd x -x rm; docker push x; sort -o f f; sudo rm x
        timeout 5 rm x; bash -c 'ls && rm x'; env A=1 git commit; curl -X POST u; curl -o f u; wget u; npx prettier --write .
        kubectl apply -f x; terraform apply; gh pr create; gh api x -f a=b; docker compose up -d; systemctl restart x
        apt install x; tar xf a; jest -u; vitest run -u; bundle install; composer update; dotnet restore; rails db:migrate
        conda create -n x; rustup update; ./deploy.sh; make distclean; make clean-all; make mrproper; make clean-docs; make down
        make docker-down; make undeploy; make dropdb; make stop; make deps; make venv; make hooks; make backup; make restore
        ./gradlew cleanBuildCache; npm run clean:build; mvn versions:set -DnewVersion=1; hatch version minor; poetry version patch
        dart run build_runner build; cargo insta test --accept; kubectl apply --dry-run=none -f x; 7z x -p a; dmesg -C
    """,
    "live": r"""
        npm run dev; npm start; yarn dev; npm run test:watch; jest --watch; vitest --watch; tsc -w; next dev; vite; ng serve
        ng test; cargo watch; vim x; python; node; ssh h; sudo ls; tmux; top; watch ls; docker exec c ls; setsid make
        tail -f x; tail -F x; docker logs -f c; kubectl get -w p; journalctl -f; flask run; rails s; uvicorn a:b; bash
        python -i x.py; gdb a; nohup vite; make docker-run; make compose-up; make psql; make ssh; make tail; make train
        npm run test:ui; npm run test:debug; bun --watch test; deno run --watch tests/a.ts; bin/console; mix test --listen-on-stdin; mill -w foo.test; ember s; pytest -f
        less +F log; journalctl -fu x; dmesg -w; clojure -M:x
    """,
    "unknown": r"""
        ./prog; python x.py; python -c x; node x.js; java Main; go run .; cargo run; npm run weird; make-x; $X; "$X" y; curl u
        docker run x; xyz; eval x; source x; npm run $X; go $X; git $X; uv run main.py; poetry run tool; bash x.sh
        bash -c "$X"; docker compose $X; just weird; zig build run; make $X; bazel run //:test; docker run x pytest
    """,
    "bounded": r"""
        ls -la; sed -n 1,5p f; head f; tail -5 f; wc f; git status; git log -3; git log --oneline -n 5; git diff --stat
        git branch -a; echo x; cd x; pytest --version; npx tsc --help; rm --help; node -v; gradle -v; python -V; go version
        git tag -l 'v*'; grep -c x f; which x; export A=1; bash -n x.sh; git remote -v; git config --get x; crontab -l
        ping -c 1 h; nginx -t; . .venv/bin/activate; date; tput cols; clear
    """,
    "content": r"""
        cat f; find . -name x; tree; ls -R; git log; git diff; git show HEAD; git blame f; gh pr diff 1; kubectl get pods
        sort f; cut -d: -f1 f; uniq f; shuf f; base64 f; docker stats --no-stream; unzip -p a x; defaults read x; make help; tox -l
        kubectl apply --dry-run=client -f x; helm upgrade x --dry-run; go tool cover -func=c; cloc .; xcrun simctl list
        ps aux; env; jq . f; gofmt x; npm ls; pip list; cargo tree; apt list; docker ps; tar tf a; unzip -l a; terraform show
        awk 1 f; xargs cat; find . -exec cat {} +; make -n
    """,
    "search": r"""
        grep -rn a .; rg a; grep -escount f; rg -l a; git grep a; ag a; find . -exec grep a {} +; xargs grep a; bash -lc 'rg a'
        command grep a f; timeout 5 rg a
    """,
}


@pytest.mark.parametrize(
    "expected, typed", [(kind, typed) for kind, text in EXAMPLES.items() for typed in re.split("; |\n", text.strip())]
)
def test_kinds(expected, typed):
    assert kind(typed.strip()) == expected


@pytest.mark.parametrize("runner", ["npx ", "uv run ", "lerna exec -- ", "mise exec -- ", "nix develop -c ", "timeout 5 ", "env ", "make clean "])
def test_runners_in_runners_without_end_are_judged(runner):
    text = runner * (ctx.COMMAND_LIMIT // len(runner))
    assert ctx.judge(text, EAGER).cls in ("unknown", "noisy", "bounded", "mutation")
    assert ctx.permission("claude", text, ctx.scan(text), "default", ctx.Rules(deny=[["prefix", "rm", "rm"]], allow=[["any", "", "Bash"]])).decision


def test_where_a_command_stands_counts():
    def kinds(text):
        return [s.kind for s in ctx.judge(text, CLAUDE).segments if s.argv]

    assert kinds("cat f | grep a | head") == ["bounded", "bounded", "bounded"]
    assert kinds("rg a | head -5; find . | wc -l; cat f | sed -n 1,5p") == ["bounded"] * 6
    assert kinds("git log | grep a") == ["content", "bounded"]
    assert kinds("find . | xargs grep a") == ["content", "search"]
    assert kinds("fswatch . | tr a b | xargs make") == ["live", "live", "live"]
    assert kinds("yes | make") == ["live", "report"]
    assert kinds("echo a > f; cat a >> b; rg x 2>/dev/null >&2; make > log; cat > x <<E\nE") == [
        "mutation",
        "mutation",
        "search",
        "report",
        "mutation",
    ]


@pytest.mark.parametrize(
    "typed, cls",
    [
        ("", "bounded"),
        ("# just a comment", "bounded"),
        ("cd x && ls", "bounded"),
        ("ls; pytest", "noisy"),
        ("pytest; ./prog", "unknown"),
        ("pytest; ./prog; rm x", "mutation"),
        ("for i in 1 2; do rm $i; done", "mutation"),
        ('echo "$(git push)"', "mutation"),
        ("echo `a \\`b\\``", "unknown"),
        ("bash -eo pipefail -c 'make'", "noisy"),
        ("bash -lc 'git add . && pytest'", "mutation"),
        ("bash -lc 'npm test & sleep 3'", "unknown"),
        ("> f", "mutation"),
        ("'", "unknown"),
    ],
)
def test_a_line_is_of_the_class_of_its_heaviest_part(typed, cls):
    assert ctx.judge(typed, CLAUDE).cls == cls


@pytest.mark.parametrize(
    "typed, shape",
    [
        ("grep -rn Symbol src", "identifier-search"),
        ("grep -rn --include='*.py' 'a\\|b' . | head", "identifier-search"),
        ("rg -n -t py 'foo|bar'", "identifier-search"),
        ("rg -nw -e foo src lib", "identifier-search"),
        ("git grep -n foo", "identifier-search"),
        ("bash -lc 'rg -n foo src'", "identifier-search"),
        ("cd x && timeout 5 grep -rnE 'def (a|b)' .", "pattern-search"),
        ("rg 'a.b'", "pattern-search"),
        ("grep -n foo a.py", ""),
        ("rg foo a.py b.py", ""),
        ("grep -n 'foo\\|bar' a.py", "identifier-search"),
        ("grep -n 'foo b\\|bar' a.py", ""),
        ("grep 'foo\\|bar'", ""),
        ("cat f | grep foo", ""),
        ("pytest -q", "suite"),
        ("go test ./...", "suite"),
        ("npm test", "suite"),
        ("python -m pytest tests/ -x --tb=short", "suite"),
        ("pytest tests/test_a.py", ""),
        ("pytest -k foo", ""),
        ("go test -run TestX ./...", ""),
        ("make test", ""),
        ("ls", ""),
    ],
)
def test_shapes(typed, shape):
    verdict = ctx.judge(typed, CLAUDE)
    assert (verdict.shape, verdict.rung) == (shape, ctx.SHAPES.get(shape, ""))


@pytest.mark.parametrize(
    "typed, expected",
    [
        ("rg -n Symbol src", "ctx q 'refs Symbol | group file' --from -- rg -n Symbol src"),
        ("cd a && timeout 5 grep -rn 'a\\|b' .", "cd a && ctx q 'refs \"a|b\" | group file' --from -- timeout 5 grep -rn 'a\\|b' ."),
        ("rg -e 'a.b' || echo none", "ctx q 'search \"a.b\" | files' --from -- rg -e 'a.b' || echo none"),
        ("rg 'a\"\\.b' src", "ctx q 'search \"a\\\"\\\\.b\" | files' --from -- rg 'a\"\\.b' src"),
        ('rg -n "it\'s" .', "ctx q 'search \"it'\\''s\" | files' --from -- rg -n \"it's\" ."),
        ("rg -S 'a|b' x | head -n 50", "ctx q --lines 50 'refs \"a|b\" | group file' --from -- rg -S 'a|b' x | head -n 50"),
        *(("rg foo | head%s" % n, "ctx q --lines %d 'refs foo | group file' --from -- rg foo | head%s" % (lines, n))
          for n, lines in (("", 10), (" -20", 20), (" -n20", 20), (" -n 20 2>/dev/null", 20))),
        ("rg foo | tail -20", "ctx q --tail 20 'refs foo | group file' --from -- rg foo | tail -20"),
        ("rg foo / | tail", "ctx q --tail 10 'refs foo | group file' --from -- rg foo / | tail"),
        # behind the last stage that only leaves lines out
        ("grep -rn foo . | grep -v test", "grep -rn foo . | ctx q 'refs foo | group file' --from -- grep -v test"),
        ("grep -rn 'a b' . 2>/dev/null | grep -v x | grep -iE 'y|z' | head -40",
         "grep -rn 'a b' . 2>/dev/null | grep -v x | ctx q --lines 40 'search \"a b\" | files' --from -- grep -iE 'y|z' | head -40"),
        ("cd a && rg foo | grep -ve x -e y | tail -n 30", "cd a && rg foo | ctx q --tail 30 'refs foo | group file' --from -- grep -ve x -e y | tail -n 30"),
        *((typed, typed) for typed in ("rg foo | grep -n x", "rg foo | grep -c x", "rg foo | grep -o x", "rg foo | grep x f", "rg foo | grep -v x | wc -l",
                                       "rg foo > f | grep x", "cat f | grep x", "rg -c foo | grep x", "rg foo | sort | grep x", "rg foo | grep -A2 x", "rg foo / | grep x | head -20",
                                       "rg foo | rg x", "ls | grep x | grep y")),
        # some names in one file
        ("grep -n 'a\\|b' f.py | head -30", "ctx q --lines 30 'refs \"a|b\" \"f.py\" | group file' --from -- grep -n 'a\\|b' f.py | head -30"),
        ("rg -n 'a|b' f.py", "ctx q 'refs \"a|b\" \"f.py\" | group file' --from -- rg -n 'a|b' f.py"),
        ("grep -e a -e b f.py g.py", "ctx q 'refs \"a|b\" | group file' --from -- grep -e a -e b f.py g.py"),
        # what is sought, whatever options are ahead of it
        *(("%s" % typed, "ctx q 'refs foo | group file' --from -- %s" % typed) for typed in (
            "rg --sort path foo", "rg -n -A 3 -B2 foo src", "grep -rnA 3 foo .", "grep -rnefoo src", "grep -rn src -e foo", "rg -r X foo", "rg -tjs -m5 foo", "grep -rn --regexp=foo .",
            "grep -rn --include '*.py' -- foo .", "grep -rnE foo src", "grep -rnT foo ." )),
        ("grep -rn -f names .", "ctx run -- grep -rn -f names ."),
        ("rg -n -- -foo src", "ctx q 'search \"-foo\" | files' --from -- rg -n -- -foo src"),
        # what is no plain window, or may be long in coming, stays
        *((typed, typed) for typed in ("rg foo | head -4", "rg foo | head -n -9", "rg foo | head -c 99", "rg foo | head -20 f", "rg foo | head -5 0",
                                       "rg foo | tail -4", "rg foo | tail -n +20", "rg foo | head -20 | tail -9", "rg foo | sed -n 5,20p", "rg foo | head -20 | cat", "rg foo | wc -l", "rg foo / | head -20", "rg foo ../x | head -20",
                                       "rg foo ~ | head -20", "rg foo $X | head -20", "rg foo | head -20 > f", "set -o pipefail; rg foo | head -20",
                                       "rg -c foo src", "rg -c foo | head -20", "x=$(rg foo)", "cat f | grep -r foo", "rg foo &")),
        ("rg $X src", "ctx run -- rg $X src"),
        ("rg 'é' src", "ctx run -- rg 'é' src"),
        ("rg --files src", "ctx run -- rg --files src"),
        ("grep -n foo a.py", "ctx run -- grep -n foo a.py"),
        ("bash -lc 'rg foo'", "ctx run -- bash -lc 'rg foo'"),
        # the suite again
        ("pytest -q", "ctx q 'fails last | in-changed' --else -- pytest -q"),
        ("A=1 timeout 60 python -m pytest tests/", "A=1 ctx q 'fails last | in-changed' --else -- timeout 60 python -m pytest tests/"),
        ("python -m unittest", "ctx q 'fails last | in-changed' --else -- python -m unittest"),
        ("pytest | tail -30", "pytest | ctx tap --for 'pytest' | tail -30"),
        ("pytest tests/test_a.py", "ctx run -- pytest tests/test_a.py"),
        ("uv run pytest", "ctx run -- uv run pytest"),
        ("npm test", "ctx run -- npm test"),
        ("pytest --sw", "ctx run -- pytest --sw"),
    ],
)  # fmt: skip
def test_what_is_collapsed(typed, expected):
    verdict = ctx.judge(typed, COLLAPSING)
    assert ctx.with_edits(typed, verdict.edits) == expected
    assert verdict.fires == expected.count("ctx q ")


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1))
def test_a_pattern_is_one_word_of_the_query(pattern):
    verdict = ctx.judge("rg -e %s src" % ctx.shell_quote(pattern), COLLAPSING)
    ((_, inserted),) = verdict.edits
    (step, _) = ctx.check_query(shlex.split(inserted)[2])
    assert step.words == (["|".join(ctx.alternatives(pattern))] if step.stage.name == "refs" else [pattern])


def test_nothing_is_collapsed_unless_it_may_be():
    for typed in ("rg foo", "pytest"):
        assert rewritten(typed, ctx.Facts(reads=True, failed=True)) == "ctx run -- " + typed
        assert rewritten(typed, ctx.Facts(reads=True, collapse=True)).startswith("ctx q" if typed == "rg foo" else "ctx run")
    assert rewritten("rg foo", ctx.Facts(collapse=True)) == "rg foo"  # the host's results can be replaced: nothing need be rewritten


@pytest.mark.parametrize(
    "typed, suite, looks",
    [
        ("pytest -q", True, False), ("cd web && pytest -q 2>&1; git status", True, False), ("rg x | head; ls; cat f; ctx get run:123456", False, True),
        ("pytest; pytest", False, False), ("sed -i s/a/b/ f && pytest", False, False), ("git stash; pytest; git stash pop", False, False),
        ("pytest | tail -3", False, False), ("pytest > log", False, False), ("(pytest", False, False), ("x=$(pytest)", False, False),
        ("make", False, False), ("ctx run -- pytest", False, False), ("./unknown", False, False), ("pip install x", False, False), ("", False, True),
    ],
)  # fmt: skip
def test_what_a_line_means_for_a_suite(typed, suite, looks):
    verdict = ctx.judge(typed, CLAUDE)
    assert (verdict.suite, verdict.looks) == (suite, looks)


# the table


def names_in_rows():
    for row in ctx.ROWS.split("\n"):
        if row.startswith("    "):
            yield from filter(None, (name.strip() for name in row.split(",")))


def test_every_row_of_the_table_is_sound_and_in_reach():
    assert not [row for row in ctx.ROWS.split("\n") if "," in row and not row.startswith("    ")]
    names = list(names_in_rows())
    assert len(names) == len(set(names)) > 2_000
    for name in names:
        rule = ctx.rule_for(name)
        assert rule is not None, name
        assert rule.kind in ctx.KINDS or rule.kind in ctx.STRATEGIES, name
        assert set(rule.switches.values()) <= set(ctx.KINDS), name
        arity = {"sub": {2}, "targets": {2, 3}, "wrap": {2}, "exec": {0, 1}}.get(rule.kind, {0})
        assert len(rule.args) in arity, name
        if rule.kind in ("sub", "targets"):
            assert set(rule.args) <= {*ctx.KINDS, "script", "first"}, name
        parent = name.rpartition("/")[0]
        if parent != "-m" and parent:
            assert ctx.rule_for(parent).kind in ("sub", "targets"), name
        elif not parent:
            assert ctx.program_name(name) == name


@pytest.mark.parametrize("behind", [[], ["test"], ["-x", "test"], ["run", "test"], ["clean", "--", "x=1"]])
def test_whatever_stands_behind_a_name_of_the_table_is_of_a_kind(behind):
    for name in names_in_rows():
        argv = ["python", "-m", name[3:]] if name.startswith("-m/") else name.split("/")
        assert ctx.classify([*argv, *behind]).kind in ctx.KINDS, argv


def test_rules_are_found_only_under_their_names():
    for name in (
        "",
        "ls list",
        "--fix",
        "rm|clean",
        "sub",
        "report",
        "pytest, py.test",
        "wrap 1 bounded",
        "git/",
        "/git",
        "nosuchprogram",
        "run",
    ):
        assert ctx.rule_for(name) is None, name


def test_shell_texts():
    assert ctx.shell_text(["bash", "-lc", "a b"]) == "a b"
    assert ctx.shell_text(["sh", "-e", "-c", "a", "x"]) == "a"
    assert ctx.shell_text(["bash", "-euo", "pipefail", "-c", "a"]) == "a"
    assert ctx.shell_text(["bash", "x.sh", "-c"]) is None
    assert ctx.shell_text(["bash", "-c"]) is None
    assert ctx.shell_text(["bash"]) is None
    (segment,) = ctx.judge("bash -lc 'cd x && pytest'", CLAUDE).segments
    assert [s.argv for s in segment.inside] == [["cd", "x"], ["pytest"]]


def test_nothing_is_imported_here():
    source = Path(ctx.__file__).read_text("utf8")
    first, last = (source[: source.index(mark)].count("\n") for mark in ("# 3 · shell", "def search_shape"))
    imports = [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not [line for line in imports if first < line < last]


# properties


def undone(text, edits):
    """A rewritten line with the insertions taken out again."""
    for offset, inserted in reversed(list(shifted(edits))):
        assert text[offset : offset + len(inserted)] == inserted
        text = text[:offset] + text[offset + len(inserted) :]
    return text


def shifted(edits):
    moved = 0
    for offset, inserted in edits:
        yield offset + moved, inserted
        moved += len(inserted)


def check(text, facts):
    verdict = ctx.judge(text, facts)
    assert verdict.cls in ("bounded", "noisy", "mutation", "unknown")
    offsets = [offset for offset, _ in verdict.edits]
    assert offsets == sorted(set(offsets))
    assert undone(ctx.with_edits(text, verdict.edits), verdict.edits) == text
    assert verdict.reason or verdict.edits
    return verdict


def test_without_its_insertions_every_real_line_is_what_it_was():
    edited = 0
    for row in commands():
        for facts in (CLAUDE, EAGER, COLLAPSING):
            edited += bool(check(row["command"], facts).edits)
    assert edited > 2_500


@pytest.mark.timeout(900)
@given(lines())
def test_without_its_insertions_every_generated_line_is_what_it_was(case):
    for facts in (EAGER, COLLAPSING):
        check(case[0], facts)


@given(SHELLISH | st.text(st.characters(), max_size=200))
def test_any_text_is_judged(text):
    for facts in (CLAUDE, EAGER, COLLAPSING):
        check(text, facts)


@pytest.mark.slow
@given(st.data())
def test_any_mutation_of_a_real_line_is_judged(data):
    text = data.draw(st.sampled_from(SAMPLE))["command"]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    check(text[:start] + data.draw(SHELLISH) + text[end:], EAGER)


SAMPLE = commands()[::20]


@needs_bash
@pytest.mark.once
def test_bash_accepts_every_rewritten_line(corpus):
    for row in corpus:
        for facts in (EAGER, COLLAPSING):
            verdict = ctx.judge(row["command"], facts)
            if verdict.edits and (facts is EAGER or verdict.fires) and not accepted(ctx.with_edits(row["command"], verdict.edits)):
                assert not accepted(row["command"]), row["command"]


def accepted(text):
    return subprocess.run([BASH, "-n"], input=text.encode("utf8"), capture_output=True).returncode == 0


WORDY = [
    ("make", " a", ""), ("", "a;", "a"), ("", "a|", "a"), ("", "pytest|", "tail"), ("", "timeout 1 ", "ls"),
    ("find .", " -exec a ;", ""), ("", "bash -c 'bash -c \"bash -c ls;\";';", ""), ("grep", " -e a", ""), ("", "A=1 ", "a"),
    ("ls -", "x", ""), ("npm run ", "a:", ""), ("a", " > f", ""), ("", "python -m ", "a"), ("", "sudo ", "a"),
    ("rg ", "a|", "a"), ("cd x", " && pytest", ""), ("", "f() { a; };", "f"),
]  # fmt: skip


@pytest.mark.parametrize("before, unit, behind", WORDY)
def test_time_is_linear(before, unit, behind):
    short, long = (before + unit * (length // len(unit)) + behind for length in (1_500, 3_000))
    ctx.judge(long, EAGER)  # rules that are looked up once
    assert steps(ctx.judge, long, EAGER) <= 2.1 * steps(ctx.judge, short, EAGER) + 500


# the corpus' labels

# An oracle of its own: what must never be found behind an insertion.
MUTATES = re.compile(
    r"""(?x) ^ (?:\S*/)? (?:
        (?:rm|mv|cp|mkdir|rmdir|touch|chmod|chown|ln|dd|tee|install|kill|pkill|killall|sudo|doas|ssh|scp|rsync|wget|truncate) \b
      | tar \s+ -?[^t]*[xc] | unzip \s+ (?!-l)
      | git \s+ (?:-C\s+\S+\s+|-\S+\s+)* (?:add|commit|push|pull|fetch|merge|rebase|reset|checkout|switch|restore|clean) \b
      | git \s+ (?:-C\s+\S+\s+|-\S+\s+)* (?:stash|rm|mv|cherry-pick|revert|tag\s+v|init|clone) \b
      | (?:npm|pnpm|yarn|bun) \s+ (?:i|install|add|ci|remove|uninstall|publish|update|link|version|init) \b
      | (?:pip3?|uv\ pip|conda|apt|apt-get|brew|gem|snap|dnf|yum) \s+ (?:install|uninstall|remove|update|upgrade|create) \b
      | go \s+ (?:get|install|mod\ tidy|fmt|generate|clean) \b | cargo \s+ (?:add|install|update|publish|fmt|clean) \b
      | (?:gofmt|goimports|prettier) \s .* -w \b | sed \s .* -i | .* \s --(?:fix|write) \b
      | make \s .* (?:install|clean|deploy) | docker \s+ (?:push|rm|rmi|stop|run|exec|compose\ up) \b
      | \S+ \s .* (?:deploy|jib:build) \b
      | curl \s .* (?:-X\s*(?:POST|PUT|DELETE)|\s-o\s|\s-d\s) | kubectl \s+ (?:apply|delete)
      | black \s+ (?!.*--check) | ruff \s+ format
    )"""
)


def inserted_for(verdict, facts):
    for segment in verdict.segments:
        if ctx.wants_capture(segment, facts) and not segment.why:
            yield from leaves(segment)


def leaves(segment):
    if segment.inside:
        for inner in segment.inside:
            yield from leaves(inner)
    elif segment.argv:
        yield " ".join(segment.argv)


def test_the_oracle_for_mutations_sees_them():
    assert all(
        MUTATES.match(text) for text in ("rm -rf x", "git -C x push", "gofmt -l -w .", "/usr/bin/sudo ls", "npm run lint --fix")
    )
    assert not any(MUTATES.match(text) for text in ("pytest", "git log", "npm test", "make", "go build ./..."))


@pytest.mark.parametrize("facts", [CLAUDE, ctx.Facts(reads=True)])
def test_no_mutation_is_captured(corpus, facts):
    wrapped = [text for row in corpus for text in inserted_for(ctx.judge(row["command"], facts), facts)]
    assert len(wrapped) > 500
    assert [text for text in wrapped if MUTATES.match(text)] == []


def test_single_commands_labelled_mutations_are_left(corpus):
    for row in corpus:
        verdict = ctx.judge(row["command"], EAGER if "pip" in row["family"] else CLAUDE)
        if row["cls"].startswith("5") and len([s for s in verdict.segments if s.argv]) == 1 and not verdict.segments[0].inside:
            assert not verdict.edits, row["command"]


PASSIVE = frozenset(("cd", "echo", "export", "true", "source", ".", "printf", "pwd", "set"))


def captured(rows):
    return sum(bool(ctx.judge(row["command"], CLAUDE).edits) for row in rows) / len(rows)


def test_noisy_runs_are_captured(corpus):
    noisy = [row for row in corpus if row["cls"] == "3 noisy run"]
    single, alone = [], []
    for row in noisy:
        segments = [s for s in ctx.judge(row["command"], CLAUDE).segments if s.argv]
        active = [s for s in segments if s.argv[0] not in PASSIVE]
        if len(segments) == 1:
            single.append(row)
        if len(active) == 1:  # behind `cd X &&`, `source …`, before `; echo $?`
            alone.append(row)
    assert len(single) > 150 and captured(single) >= 0.97
    assert len(alone) > 190 and captured(alone) >= 0.97
    assert captured(noisy) >= 0.95


FORMS = (
    "{}", "cd x && {}", "cd x; {}", "FOO=1 {}", "env A=1 B=2 {}", "timeout 60 {}", "timeout -k 5 1m {}", "nice -n 5 {}",
    "time {}", "{} 2>&1", "{}; echo $?", "{} || true", "{} && echo ok", "{}\necho done", "{} 2>/dev/null", "set -e\n{}",
    "source .venv/bin/activate && {}", "nohup {}", "stdbuf -oL {}",
)  # fmt: skip


def test_every_form_of_a_noisy_run_is_captured(corpus):
    runs = []
    for row in corpus:
        verdict = ctx.judge(row["command"], CLAUDE)
        if (
            row["cls"] == "3 noisy run"
            and len(verdict.segments) == len(verdict.edits) == 1
            and not verdict.segments[0].command.assigns
        ):
            command = verdict.segments[0].command
            runs.append(row["command"][command.start : command.end])
    assert len(set(runs)) > 100
    for run in sorted(set(runs)):
        for form in FORMS:
            assert len(ctx.judge(form.format(run), CLAUDE).edits) == 1, form.format(run)
        for shell in ("bash -lc", "/bin/zsh -lc", "sh -c"):
            assert len(ctx.judge("%s %s" % (shell, shlex.quote("cd x && " + run)), CLAUDE).edits) == 1, run


def test_reads_and_mutations_agree_with_the_labels(corpus):
    """Somebody else labelled the corpus. These are shares of agreement, not of truth: a label is one for a whole line."""
    seen = {}
    for row in corpus:
        seen.setdefault(row["cls"][:2].strip(), []).append(ctx.judge(row["command"], CLAUDE).cls)
    share = {label: {cls: found.count(cls) / len(found) for cls in set(found)} for label, found in seen.items()}
    assert share["4a"]["bounded"] >= 0.98
    assert share["4b"]["noisy"] >= 0.93
    assert share["5"]["mutation"] >= 0.98
    assert share["1"].get("mutation", 0) == 0
    assert share["2"].get("mutation", 0) <= 0.01


# what runs is what would have run

STUB = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$@"; } > "$LOGS/$$.${0##*/}"
case ${0##*/} in
head | tail | cat | grep | sed | sort | tr | cut | uniq | awk | nl | jq | wc | tee | rg)
    while IFS= read -r line; do printf '%s\\n' "$line"; done ;;
*)
    printf '%s %s\\n' "${0##*/}" "$#"
    while IFS= read -r line; do :; done ;;
esac
case "$*" in *fail* | *x*z*) exit 3 ;; esac
"""
STUB_CTX = """#!/bin/sh
printf '%s\\0' "$@" > "$LOGS/ctx.$$.$1"
case $1 in
run) shift 2; exec "$@" ;;
q) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
tap) while IFS= read -r line; do printf '%s\\n' "$line"; done ;;
esac
"""
# Builtins that could reach outside become stubs on PATH.
PROLOGUE = "enable -n cd pushd popd kill source . exec ulimit umask trap wait fg bg history suspend logout\n"
DISABLED = frozenset(("cd", "kill", "source", "pushd", "popd", "exec", "wait", "trap"))
BARE = re.compile(r"[\w.+@-]+\Z")
PATHLIKE = re.compile(r"[.\w][\w./@+-]*/[\w.+-]+\Z")
UNTAME = re.compile(
    r"/dev/(tcp|udp)|\bwhile\b|\buntil\b|\beval\b|\$!|\$\$|PPID|RANDOM|SECONDS|BASH_ENV|LOGS|\benable\b|\$'|\bcoproc\b"
)


class Sandbox:
    """Runs command lines in which every program is a stub that logs its argv. Nothing on PATH is real, no path leads outside."""

    def __init__(self, root, names):
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        (root / "prologue").write_text(PROLOGUE)
        self.stub = self.program(root / "stub", STUB)
        for name in sorted(names):
            os.link(self.stub, self.bin / name)
        self.program(self.bin / "ctx", STUB_CTX)

    @staticmethod
    def program(path, text):
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run(self, text, place, programs):
        """(status, output, the stubs' argvs, ctx's argvs, files left behind) of one line run in a fresh directory `place`."""
        logs, cwd = self.root / ("logs%s" % place), self.root / "a/b/c/d/e/f/g/h" / place
        for folder in (logs, cwd):
            folder.mkdir(parents=True)
        for name in programs:
            (cwd / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(self.stub, cwd / name)
        env = {
            "PATH": str(self.bin),
            "HOME": str(cwd),
            "LOGS": str(logs),
            "BASH_ENV": str(self.root / "prologue"),
            "LC_ALL": "C.UTF-8",
        }
        shell = [BASH, "--norc", "--noprofile", "-c", "--", text]
        done = subprocess.run(
            shell, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30
        )
        argvs = {False: [], True: []}
        for log in logs.iterdir():
            argvs[log.name.startswith("ctx.")].append(log.read_bytes())
        files = {
            str(path.relative_to(cwd)): path.read_bytes()
            for path in cwd.rglob("*")
            if path.is_file() and not path.samefile(self.stub)
        }
        shutil.rmtree(logs)
        shutil.rmtree(cwd)
        output = (
            sorted(done.stdout.split(b"\n")) if "&" in text else done.stdout
        )  # what runs in the background prints when it likes
        return done.returncode, output, sorted(argvs[False]), sorted(argvs[True]), files


def confined(text):
    """The line with absolute paths made relative."""
    return re.sub(r"(?<![\w./~*\\-])/(?!dev/(null|stdout|stderr)\b)(?=[\w*])", "./", text)


def tame(line):
    """The line ends by itself and writes only where it stands."""
    if line.unsure or UNTAME.search(line.text):
        return False
    programs = set(local_programs(line))
    for redirect in (redirect for command in line.commands for redirect in command.redirects if ">" in redirect.op):
        target = redirect.target.text
        if (
            ctx.DYNAMIC in target
            or target.startswith("~")
            or target.startswith("/")
            and target not in ctx.SINKS
            or os.path.normpath(target) in programs
        ):
            return False
    return True


def local_programs(line):
    """Relative paths that the line runs as programs."""
    found = {
        os.path.normpath(c.words[0].value)
        for c in line.commands
        if c.words and c.words[0].value and PATHLIKE.match(c.words[0].value)
    }
    found = {path for path in found if ".." not in path}
    return sorted(path for path in found if not any(other.startswith(path + "/") for other in found))


def settled(before, sandbox, *run):
    """The original line does the same each time: no stage of a pipeline depends on when another one ends."""
    return all(sandbox.run(*run) == before for _ in range(6))


def differences(root, texts):
    """[(line, rewritten, what it did, what the rewritten one did)] of those that differ, and how many insertions were executed."""
    scanned = [line for line in map(ctx.scan, texts) if tame(line)]
    names = {
        c.words[0].value for line in scanned for c in line.commands if c.words and c.words[0].value and BARE.match(c.words[0].value)
    }
    sandbox = Sandbox(root, (names - ctx.BUILTINS - {".", "..", "ctx"}) | DISABLED)

    def compare(job):
        number, line = job
        programs, place, before, found, executed = local_programs(line), "w%d" % number, None, [], 0
        for facts in (CLAUDE, ctx.Facts(reads=True, unknown="capture"), COLLAPSING):
            edits = ctx.judge(line.text, facts).edits
            if not edits:
                continue
            changed = ctx.with_edits(line.text, edits)
            before = before or sandbox.run(line.text, place, programs)
            after = sandbox.run(changed, place, programs)
            executed += len(after[3])
            ran = [argv.split(b"\0--\0", 1)[1].split(b"\0") for argv in after[3] if argv.startswith((b"run\0", b"q\0"))]
            logged = [argv.split(b"\0") for argv in after[2]]
            known = [
                argv for argv in ran if argv[0].decode("utf8") in names or os.path.normpath(argv[0].decode("utf8")) in programs
            ]
            honest = all([os.path.basename(argv[0]), *argv[1:]] in logged for argv in known)
            same = before[:3] + before[4:] == after[:3] + after[4:]
            if not honest or not same and settled(before, sandbox, line.text, place, programs):
                found.append((line.text, changed, before, after))
        return found, executed

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(compare, enumerate(scanned)))
    return [case for found, _ in results for case in found], sum(executed for _, executed in results)


@needs_bash
@pytest.mark.once
def test_rewritten_lines_do_what_the_lines_do(corpus, tmp_path):
    different, executed = differences(tmp_path, [confined(row["command"]) for row in corpus[::8]])
    assert different == []
    assert executed > 300


@needs_bash
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_rewritten_lines_do_what_the_lines_do(corpus, tmp_path):
    different, executed = differences(tmp_path, [confined(row["command"]) for row in corpus])
    assert different == []
    assert executed > 3_000


@needs_bash
@pytest.mark.once
def test_hard_lines_do_what_they_did(tmp_path):
    texts = [
        "pytest fail || echo failed; echo $?", "pytest fail | tail -3; echo $?", "pytest fail; echo $? $_", "! pytest; echo $?",
        "A=1 B='x y' make \"$A\" '' \"a b\" *", "x='a  b'; pytest $x \"$x\" ${x:-y} $(echo p q)",
        "make | tail -1 | grep make; make |& head -5", "make <<E | cat\n$(echo hi)\nE\npytest {a,b} ~ 'it'\\''s'",
        "go test ./... 2>&1 | grep -E 'a|b' | tail -2 || echo none", "cat <<'E' > f; pytest < f\nline\nE\nmake f",
        "pytest \\\n -q \\\n  # c\n", "pytest;make&&tox||true",
        "if pytest; then make; else tox; fi; gcc a.c; [ -f x ] && make; case a in a) make;; esac",
        "echo a | make; printf '%s\\n' b c | pytest - | head -1",
        "f() { pytest \"$@\"; }; f 1 2; (make; exit 4); echo $?; { tox; } | cat",
        "command pytest; time -p pytest; time make | tail", "make 2>&1 | cat 2>/dev/null",
        "set -o pipefail; pytest fail | tail; echo ${PIPESTATUS[@]}",
        "export X=1; make; unset X; pytest >/dev/null; make 2>/dev/null", "for i in 1 2; do make $i; done | tail",
        "bash -lc 'cd x && pytest'; sh -c \"make $HOME\"", "x=$(make); echo \"$x\"; echo `tox`; diff <(make) <(tox)",
        "exit 5; make", "make; exit 6", "pytest & wait; make",
    ]  # fmt: skip
    different, executed = differences(tmp_path, texts)
    assert different == []
    assert executed > 50


@needs_bash
@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=100)
@given(case=lines())
def test_generated_lines_do_what_they_did(case, tmp_path_factory):
    assume(" &\n" not in case[0])  # two programs at once may print in either order
    different, _ = differences(tmp_path_factory.mktemp("sandbox"), [case[0]])
    assert different == []


def test_the_differential_sees_a_difference(tmp_path, monkeypatch):
    if BASH is None:
        pytest.skip("bash is the oracle here")
    monkeypatch.setattr(ctx, "with_edits", lambda text, edits: text.replace("a b", "ab"))
    different, _ = differences(tmp_path, ["pytest 'a b'"])
    assert len(different) == 3
