#!/usr/bin/env python3
"""Make the cases of version control, searches, listings and data: real tools on a small repository written here, in a scratch directory.

    python3 make_content.py OUT [NAME …]

Needs git, grep, rg, find, ls, du, jq, sqlite3, xxd or od. Each case gets OUT/NAME/{cmd,stdout,stderr,exit,truth.json}. `rows` are the true identities with their
counts, made from another format of a second run of the same tool (numstat, porcelain -z, rev-list, COUNT(*)) or from the files themselves.
`source` says which; "unverified" marks formats that were written down from documentation because the tool does not install here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1"}
for who in ("AUTHOR", "COMMITTER"):
    ENV.update({"GIT_%s_NAME" % who: "Dev One", "GIT_%s_EMAIL" % who: "dev@example.com", "GIT_%s_DATE" % who: "2024-06-01T10:00:00Z"})
WORK = tempfile.mkdtemp()
REPO = os.path.join(WORK, "project")


def sh(command, check=False):
    """Run a command in the repository: (stdout, stderr, status)."""
    done = subprocess.run(["bash", "-c", command], cwd=REPO, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert not check or done.returncode == 0, (command, done.stderr)
    return done.stdout, done.stderr, done.returncode


def write(name, text):
    path = os.path.join(REPO, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def case(name, command, truth, made=None):
    """Record a command, or bytes made for it."""
    if len(sys.argv) > 2 and name not in sys.argv[2:]:
        return
    out, err, status = made or sh(command)
    folder = os.path.join(sys.argv[1], name)
    os.makedirs(folder, exist_ok=True)
    for part, data in (("cmd", command.encode() + b"\n"), ("stdout", out), ("stderr", err), ("exit", b"%d\n" % status)):
        with open(os.path.join(folder, part), "wb") as file:
            file.write(data)
    truth = {"exit": status, "identities": sorted(truth.get("rows") or {}), **truth, "versions": VERSIONS}
    with open(os.path.join(folder, "truth.json"), "w", encoding="utf8") as file:
        json.dump(truth, file, indent=1, ensure_ascii=False)
        file.write("\n")


VERSIONS = {}


def numstat(arguments):
    """{path: "+N −M" or "binary"} from `git diff --numstat -z`, renames by their new name."""
    fields, rows = sh("git %s --numstat -z" % arguments, True)[0].decode().split("\0")[:-1], {}
    while fields:
        plus, minus, path = fields.pop(0).split("\t")
        if not path:
            fields.pop(0)
            path = fields.pop(0)
        rows[path] = "binary" if plus == "-" else "+%s −%s" % (plus, minus)
    return rows


def quoted(rows):
    """Names as git quotes them."""
    out = {}
    for name, value in rows.items():
        if not name.isascii():
            name = '"' + "".join(chr(b) if 32 <= b < 127 else "\\%03o" % b for b in name.encode()) + '"'
        out[name] = value
    return out


def hits(pattern, names):
    """{path: number of lines that hold `pattern`} by reading the files."""
    rows = {}
    for name in names:
        with open(os.path.join(REPO, name), "rb") as file:
            count = sum(1 for line in file.read().splitlines() if re.search(pattern, line))
        if count:
            rows[name] = count
    return rows


def main():
    os.makedirs(REPO)
    for tool in ("git", "rg", "grep", "jq", "sqlite3", "find", "du"):
        text = sh("%s --version | head -1" % tool)[0].decode().strip()
        VERSIONS[tool] = text
    sh("git init -q -b main .", True)
    for i in range(40):
        body = "".join("def work_%d_%d(order):\n    total = order.total  # tenant %d:12: see a.py:3:\n    return total\n\n" % (i, j, j) for j in range(6))
        write("src/part-%d/module_%d.py" % (i % 7, i), body)
    write("src/old name.py", "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n")
    write("docs/übersicht.txt", "eins\nzwei\n")
    write("logo.bin", bytes(range(256)) * 4)
    write("query.sql", "-- a comment\n-- another\nselect 1;\n")
    write("odd/x:12:y.py", "tenant = 1\nother\ntenant = 2\n")
    write("gone.txt", "gone\n" * 9)
    sh("git add -A && git commit -qm 'First import'", True)
    for i in range(32):
        write("src/part-%d/module_%d.py" % (i % 7, i), open(os.path.join(REPO, "src/part-%d/module_%d.py" % (i % 7, i))).read() + "X = %d\n" % i)
        sh("git commit -qam 'Change %d: commit 1234567 and a (parenthesis)'" % i, True)
    sh("git checkout -qb side HEAD~5 && echo side >> gone.txt && git commit -qam 'Side work' && git checkout -q main && git merge -q --no-ff -m \"Merge branch 'side'\" side", True)
    sh("git tag v1")
    subjects = dict(line.split(" ", 1) for line in sh("git log --format='%H %s'", True)[0].decode().splitlines())
    short = dict(line.split(" ", 1) for line in sh("git log --format='%h %s'", True)[0].decode().splitlines())
    log = {"profile": "git-log/v1", "rows": subjects, "totals": {"commits": len(subjects)}, "source": "git log --format"}
    case("ct_git_log_merge", "git log", {**log, "first": next(iter(subjects))})
    case("ct_git_log_graph", "git log --graph", {**log, "first": next(iter(subjects))})
    case("ct_git_log_oneline", "git log --oneline --graph --decorate", {**log, "rows": dict.fromkeys(short), "first": next(iter(short))})
    case("ct_git_log_p", "git log -p -5", {**log, "rows": None, "totals": {"commits": 5}})
    case("ct_git_log_color", "git log --color=always --stat", {**log, "first": next(iter(subjects))})
    case("ct_git_format_patch", "git format-patch --stdout HEAD~3..HEAD~1", {"profile": "git-diff/v1", "rows": None, "source": "none"})
    show = numstat("show --format= HEAD~2")
    case("ct_git_show", "git show HEAD~2", {"profile": "git-log/v1", "diff": show, "source": "numstat"})
    # a work tree with every kind of change
    sh("git mv 'src/old name.py' 'src/new name.py' && git rm -q gone.txt && chmod +x src/part-1/module_1.py", True)
    write("query.sql", "select 2;\n++ plus\n-- minus\n")
    write("docs/übersicht.txt", "eins\ndrei\n")
    write("logo.bin", bytes(range(255, -1, -1)) * 4)
    write("src/part-3/module_3.py", "new\n")
    write("empty.txt", "")
    write("no newline.txt", "x")
    for i in range(30):
        write("build/out/file %d.o" % i, "o")
    sh("git add -N empty.txt && git add 'no newline.txt' && git add query.sql", True)
    write("query.sql", "select 3;\n++ plus\n-- minus\n")
    diff = numstat("diff HEAD -M")
    truth = {"profile": "git-diff/v1", "diff": quoted(diff), "source": "git diff --numstat -z"}
    case("ct_git_diff_mixed", "git diff HEAD -M", truth)
    case("ct_git_diff_color", "git diff --color=always HEAD -M --binary", truth)
    case("ct_git_diff_noprefix", "git diff --no-prefix HEAD -M", truth)
    case("ct_git_diff_mnemonic", "git -c diff.mnemonicPrefix=true diff HEAD -M", truth)
    case("ct_git_diff_stat", "git diff --stat HEAD~20 -- src", {"profile": "git-diff/v1", "rows": dict.fromkeys(numstat("diff HEAD~20 -- src")), "rows_spelt": "stat", "source": "numstat"})
    case("ct_git_diff_numstat", "git diff --numstat HEAD~20 -- src/part-1 src/part-2", {"profile": "git-diff/v1", "rows": dict.fromkeys(numstat("diff HEAD~20 -- src/part-1 src/part-2")), "source": "-z"})
    case("ct_git_diff_names", "git diff --name-status HEAD~20 -- src/part-1 src/part-2", {"profile": "git-diff/v1", "rows": dict.fromkeys(numstat("diff HEAD~20 -- src/part-1 src/part-2")), "source": "-z"})
    status = [entry for entry in sh("git status --porcelain -z --no-renames", True)[0].decode().split("\0") if entry]
    names = {entry[3:]: entry[:2] for entry in status if entry[3:] != "src/old name.py"}
    rows = quoted(dict.fromkeys(names))
    case("ct_git_status_long", "git status", {"profile": "git-status/v1", "rows": rows, "source": "git status --porcelain -z"})
    short_rows = {('"%s"' % name if " " in name else name): None for name in rows}
    case("ct_git_status_short", "git status -sb", {"profile": "git-status/v1", "rows": short_rows, "source": "git status --porcelain -z"})
    case("ct_git_status_v2", "git status --porcelain=v2 --branch", {"profile": "git-status/v1", "rows": rows, "source": "git status --porcelain -z"})
    case("ct_git_blame", "git blame src/part-2/module_2.py", {"profile": "git-blame/v1", "rows": {"Dev One": None}, "totals": {"lines": 25, "commits": 2, "authors": 1}, "source": "by hand"})
    sh("git reset -q --hard && git clean -qfd && git checkout -qb topic HEAD~3 && sed -i 's/return total/return total + 1/' src/part-*/module_1*.py && git commit -qam Topic", True)
    sh("git checkout -q main && sed -i 's/return total/return total + 2/' src/part-*/module_1*.py && git rm -qf src/part-5/module_12.py && git commit -qam Main", True)
    merge = sh("git merge topic")
    unmerged = sorted({line.split("\t")[1] for line in sh("git ls-files -u", True)[0].decode().splitlines()})
    case("ct_git_merge_conflict", "git merge topic", {"profile": "git-merge/v1", "rows": dict.fromkeys(unmerged), "source": "git ls-files -u"}, merge)
    both = [name for name in unmerged if name != "src/part-5/module_12.py"]
    case("ct_git_diff_combined", "git diff", {"profile": "git-diff/v1", "rows": dict.fromkeys(unmerged), "source": "git ls-files -u"})
    case("ct_git_status_unmerged", "git status", {"profile": "git-status/v1", "rows": dict.fromkeys(unmerged), "source": "git ls-files -u"})
    assert both
    sh("git merge --abort && git reset -q --hard v1", True)
    # searches
    files = sh("git -c core.quotePath=false ls-files", True)[0].decode().splitlines()
    tenant = hits(rb"tenant", files)
    search = {"profile": "search/v1", "rows": {name: "%d hits" % count if count > 1 else "1 hit" for name, count in tenant.items()}, "totals": {"hits": sum(tenant.values()), "files": len(tenant)}, "source": "reading the files"}
    case("ct_grep_rn", "grep -rn tenant src odd", search)
    case("ct_grep_context", "grep -rn -A2 -B1 tenant src odd", search)
    case("ct_grep_color", "grep -rn --color=always tenant src odd", search)
    case("ct_rg_plain", "rg -n --no-heading --sort path tenant src odd", search)
    case("ct_rg_heading", "rg -n --heading --sort path -C1 tenant src odd", search)
    case("ct_git_grep", "git grep -n tenant", search)
    case("ct_grep_c", "grep -rc tenant src odd", search)
    case("ct_grep_windows", "rg -n tenant C:\\project", {**search, "source": "made from grep's output, unverified", "rows": {"C:\\project\\" + name.replace("/", "\\"): row for name, row in search["rows"].items() if ":" not in name}, "totals": {"hits": 240, "files": 40}, "unverified": True},
         (b"".join(b"C:\\project\\" + line.split(b":", 1)[0].replace(b"/", b"\\") + b":" + line.split(b":", 1)[1] + b"\r\n" for line in sh("grep -rn tenant src")[0].splitlines()), b"", 0))
    # listings
    case("ct_grep_l", "grep -rl tenant src", {"profile": "listing/v1", "rows": {"src/part-%d" % i: None for i in range(7)}, "totals": {"paths": 40}, "source": "by hand"})
    found = sh("find . -path ./.git -prune -o -print0", True)[0].decode().split("\0")[:-1]
    case("ct_find", "find . -path ./.git -prune -o -print", {"profile": "listing/v1", "rows": None, "totals": {"paths": len(found)}, "source": "-print0"})
    case("ct_ls_R", "ls -R src", {"profile": "listing/v1", "rows": {"src": None, **{"src/part-%d" % i: None for i in range(7)}}, "totals": {"directories": 8, "entries": 48}, "source": "by hand"})
    case("ct_ls_la", "ls -la src/part-0", {"profile": "listing/v1", "rows": {".": None}, "totals": {"entries": 8, "files": 6}, "source": "by hand"})
    case("ct_du", "du -a src", {"profile": "listing/v1", "rows": dict.fromkeys(sh("find src", True)[0].decode().splitlines()), "source": "find"})
    # data
    items = [{"id": i, "status": "ok", "user": {"name": "u%d" % i}} for i in range(300)]
    items[204]["status"] = "failed"
    items[17]["error"] = "E_TENANT"
    items[250]["id"] = "250"
    odd = {"/204/status": None, "/17/error": None, "/250/id": None}
    for name, text in (("ct_json_array", json.dumps(items, indent=2)), ("ct_json_min", json.dumps(items, separators=(",", ":")))):
        write("items.json", text + "\n")
        case(name, "cat items.json", {"profile": "json/v1", "odd": odd, "totals": {"items": 300}, "source": "by hand"})
    write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items))
    case("ct_json_lines", "cat items.jsonl", {"profile": "json/v1", "odd": {"/205/status": None, "/18/error": None, "/251/id": None}, "totals": {"records": 300}, "source": "by hand"})
    sh("sqlite3 o.db \"create table o(id integer, tenant text, amount real); with recursive c(i) as (select 0 union all select i+1 from c where i<299) insert into o select i, 't'||(i%4), i*1.5 from c; update o set tenant=null where id=207\"", True)
    for mode in ("column", "table", "csv", "tabs", "markdown"):
        case("ct_sqlite_" + mode, "sqlite3 -header -%s o.db 'select * from o'" % mode, {"profile": "table/v1", "odd": {"tenant: (empty)": 209 if mode in ("csv", "tabs") else 210 if mode != "table" else 211}, "totals": {"rows": 300, "columns": 3}, "source": "COUNT(*)"})
    psql = " id  | tenant | amount \n-----+--------+--------\n" + "".join(" %3d | t%d     | %6.2f\n" % (i, i % 4, i * 1.5) for i in range(60)) + "(60 rows)\n\n"
    case("ct_psql", "psql -c 'select * from o'", {"profile": "table/v1", "odd": {}, "totals": {"rows": 60, "columns": 3}, "source": "by hand", "unverified": True}, (psql.encode(), b"", 0))
    docker = "CONTAINER ID   IMAGE          COMMAND                  CREATED       STATUS                    PORTS                    NAMES\n"
    for i in range(40):
        state = "Exited (137) 3 hours ago" if i == 31 else "Up 2 hours"
        docker += "%012x   app:%-10s %-24s %-13s %-25s %-24s app-%d\n" % (0xABCDEF000000 + i, i % 3, '"docker-entrypoint.s…"', "2 hours ago", state, "0.0.0.0:80%02d->80/tcp" % i, i)
    case("ct_docker_ps", "docker ps -a", {"profile": "table/v1", "odd": {"STATUS: Exited (137) 3 hours ago": 33}, "totals": {"rows": 40, "columns": 7}, "source": "by hand", "unverified": True}, (docker.encode(), b"", 0))
    case("ct_hex", "od -A x -t x1z logo.bin", {"profile": "bytes/v1", "rows": {"hex dump": "1,024 bytes"}, "source": "size"})
    # what is none of these
    for name, text in (
        ("ct_none_prose", "Usage: tool [options]\n\nThis is: a text, with commas, and 12:30:45 times\n  and: lists\n\n- one\n- two\n" * 30),
        ("ct_none_times", "".join("10:%02d:%02d: worker %d did its work\n" % (i // 60 + 10, i % 60 + 10, i) for i in range(40))),
        ("ct_none_compiler", "".join("src/a.c:%d:5: warning: unused variable 'x%d'\n" % (i, i) for i in range(1, 40))),
        ("ct_none_trace", "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: x:3: y\n" * 10),
    ):
        case(name, "cat notes", {"none": True, "source": "by hand"}, (text.encode(), b"", 0))


main()
shutil.rmtree(WORK)
