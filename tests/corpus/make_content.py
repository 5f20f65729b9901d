#!/usr/bin/env python3
"""Make the cases of version control, searches, listings and data: real tools on a small repository written here, in a scratch directory.

    python3 make_content.py OUT [NAME …]

Needs git, grep, rg, ag, fd, tree, find, ls, du, sqlite3, xxd, od, hexdump, kubectl (without a cluster) and PostgreSQL 15. Each case gets OUT/NAME/{cmd,stdout,stderr,exit,truth.json}. `rows` are the true identities with their
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
    listings(files)
    more_data()
    lists()
    # what is none of these
    for name, text in (
        ("ct_none_prose", "Usage: tool [options]\n\nThis is: a text, with commas, and 12:30:45 times\n  and: lists\n\n- one\n- two\n" * 30),
        ("ct_none_times", "".join("10:%02d:%02d: worker %d did its work\n" % (i // 60 + 10, i % 60 + 10, i) for i in range(40))),
        ("ct_none_compiler", "".join("src/a.c:%d:5: warning: unused variable 'x%d'\n" % (i, i) for i in range(1, 40))),
        ("ct_none_trace", "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: x:3: y\n" * 10),
    ):
        case(name, "cat notes", {"none": True, "source": "by hand"}, (text.encode(), b"", 0))


def searches(files):
    """The same searches as other programs and options print them; what is searched are the outputs of other tools, too."""
    write("logs/build.log", "src/a.c:3:5: error: expected ';'\n/usr/bin/ld: a.o: undefined reference to `tenant'\nFAILED tests/test_a.py::test_tenant - AssertionError\n")
    write("logs/lint.txt", "".join("src/x%d.py:%d:1: F401 tenant imported but unused\n" % (i, i) for i in range(1, 31)))
    sh("git add -A; git commit -qm Logs", True)
    files = files + ["logs/build.log", "logs/lint.txt"]
    tenant = hits(rb"tenant", files)
    truth = {"profile": "search/v1", "rows": {name: "%d hits" % count if count > 1 else "1 hit" for name, count in tenant.items()}, "totals": {"hits": sum(tenant.values()), "files": len(tenant)}, "source": "reading the files"}
    where = "src odd logs"
    plain = {"profile": "search/v1", "rows": {name: row for name, row in truth["rows"].items() if ":" not in name}, "source": "reading the files"}
    case("ct_rg_pipe", "rg --sort path tenant src logs", plain)
    case("ct_rg_pipe_context", "rg --sort path -C2 tenant src logs", plain)
    case("ct_grep_r", "grep -r tenant src logs", plain)
    case("ct_rg_quotes_tools", "rg -n --no-heading --sort path tenant logs src", plain)
    case("ct_ag", "ag tenant " + where, truth)
    case("ct_ag_group", "ag --group tenant src logs", plain)
    case("ct_rg_vimgrep", "rg --vimgrep --sort path tenant logs src", {"profile": "search/v1", "rows": dict.fromkeys(plain["rows"]), "source": "reading the files"})


def listings(files):
    """tree, fd, find and git as they list the same files; git blame in its formats; a merge that is shown."""
    searches(files)
    folders = sorted(os.path.relpath(folder, REPO) for folder, _, _ in os.walk(os.path.join(REPO, "src")) if folder != os.path.join(REPO, "src"))
    below = {os.path.basename(folder): len(os.listdir(os.path.join(REPO, folder))) for folder in folders}
    files = sum(len(names) for _, _, names in os.walk(os.path.join(REPO, "src")))
    rows = {name: "%d entries below" % count for name, count in below.items()}
    rows.update((name, None) for name in os.listdir(os.path.join(REPO, "src")) if name.endswith(".py"))
    tree = {"profile": "listing/v1", "rows": rows, "totals": {"files": files, "directories": len(folders) + 1}, "source": "os.walk"}
    case("ct_tree", "tree src", tree)
    case("ct_tree_charset", "tree --charset=ascii -s -p src", tree)
    case("ct_tree_size", "tree --du -h -C src", tree)
    paths = {"profile": "listing/v1", "rows": {**{"src/" + name: "%d paths" % count for name, count in below.items()}, "src": None}, "source": "os.walk"}
    case("ct_fd", "fdfind . src", {**paths, "totals": {"paths": files + len(folders)}, "rows": dict.fromkeys(list(paths["rows"]))})
    case("ct_fd_absolute", "fdfind --type f . /home/dev/project", {"profile": "listing/v1", "rows": {"/home/dev/" + name: row for name, row in {"project/" + key: value for key, value in paths["rows"].items() if key != "src"}.items()}, "totals": {"paths": files - 1}, "source": "os.walk, unverified prefix", "unverified": True},
         (b"".join(b"/home/dev/project/" + line + b"\n" for line in sh("fdfind --type f . src | grep /part | sort")[0].split(b"\n") if line), b"", 0))
    case("ct_find_ls", "find src -type f -ls", {"profile": "listing/v1", "rows": dict.fromkeys(list(paths["rows"])), "totals": {"paths": files}, "source": "os.walk"})
    case("ct_git_ls_files_s", "git ls-files -s src", {"profile": "listing/v1", "rows": dict.fromkeys(list(paths["rows"])), "totals": {"paths": files}, "source": "os.walk"})
    lines = sh("git blame -p src/part-2/module_2.py", True)[0].decode().splitlines()
    commits = {line.split()[0][:8] for line in lines if re.match("[0-9a-f]{40} ", line)}
    blame = {"profile": "git-blame/v1", "rows": {"Dev One": "25 lines in %d commits" % len(commits)}, "totals": {"lines": 25, "authors": 1, "commits": len(commits)}, "source": "git blame -p"}
    case("ct_git_blame_porcelain", "git blame --line-porcelain src/part-2/module_2.py", blame)
    case("ct_git_blame_p", "git blame -p src/part-2/module_2.py", blame)
    case("ct_git_blame_s", "git blame -s src/part-2/module_2.py", {"profile": "git-blame/v1", "rows": None, "totals": {"lines": 25, "commits": len(commits)}, "source": "git blame -p"})
    sh("git checkout -q --detach v1 && sed -i 's/return total/return 1/' src/part-1/module_1.py src/part-1/module_8.py && git commit -qam Ours && git branch ours", True)
    sh("git checkout -q --detach v1 && sed -i 's/return total/return 2/' src/part-1/module_1.py && git commit -qam Theirs; git merge ours; sed -i '/^[<=>]\\{7\\}/d' src/part-1/module_1.py; git add -A; git commit -qm 'Merge ours'", True)
    case("ct_git_show_merge", "git show", {"profile": "git-log/v1", "diff": {"src/part-1/module_1.py": None}, "rows": {sh("git rev-parse HEAD", True)[0].decode().strip(): "Merge ours"}, "source": "git rev-parse"})
    case("ct_git_show_merge_first", "git show -m --first-parent HEAD", {"profile": "git-log/v1", "diff": numstat("show -m --first-parent --format= HEAD"), "source": "numstat"})
    sh("git checkout -q main", True)


def more_data():
    """Tables, streams of YAML, logs and bytes whose one odd part is known."""
    text = "id,who,note,state\n" + "".join('%d,"Doe, %s","line one\nline ""two"" of %d",%s\n' % (i, "ABC"[i % 3], i, "broken" if i == 777 else "fine") for i in range(1500))
    write("notes.csv", text)
    case("ct_csv_quoted", "cat notes.csv", {"profile": "table/v1", "odd": {"state: broken": 2 + 2 * 777}, "totals": {"rows": 1500, "columns": 4}, "source": "by hand"})
    write("notes.tsv", "".join("%d\tuser %d\t%s\t%.1f\n" % (i, i % 9, "" if i == 55 else "eu", i / 3) for i in range(400)))
    case("ct_tsv_bare", "cat notes.tsv", {"profile": "table/v1", "odd": {"column 3: (empty)": 56}, "totals": {"rows": 400, "columns": 4}, "source": "by hand"})
    write("ragged.csv", "a;b;c\n" + "".join("%d;x;%s\n" % (i, "y;z" if i == 30 else "y") for i in range(100)))
    case("ct_csv_ragged", "cat ragged.csv", {"profile": "table/v1", "odd": {"line 32": 32}, "totals": {"rows": 100, "columns": 3, "odd rows": 1}, "source": "by hand"})
    kinds = {"Deployment": 12, "Service": 9, "ConfigMap": 5}
    write("kust/kustomization.yaml", "resources:\n" + "".join("- %s-%d.yaml\n" % (kind.lower(), i) for kind, count in kinds.items() for i in range(count)))
    for kind, count in kinds.items():
        for i in range(count):
            made = {"Deployment": "deployment d%d --image=app:%d --replicas=%d" % (i, i % 2, 7 if i == 3 else 2), "Service": "service clusterip s%d --tcp=80:%d" % (i, 8080), "ConfigMap": "configmap c%d --from-literal=a=b" % i}[kind]
            write("kust/%s-%d.yaml" % (kind.lower(), i), sh("kubectl create %s --dry-run=client -o yaml" % made, True)[0])
    rows = {"%s/%s%d" % (kind, kind[0].lower(), i): None for kind, count in kinds.items() for i in range(count)}
    case("ct_kubectl_kustomize", "kubectl kustomize kust", {"profile": "yaml/v1", "objects": rows, "totals": kinds, "source": "the resources written"})
    case("ct_kubectl_dry_run", "cat kust/deployment-*.yaml", {"profile": "yaml/v1", "objects": {"Deployment/d%d" % i: None for i in range(12)}, "totals": {"Deployment": 12}, "source": "the resources written"},
         (b"---\n".join(sh("cat kust/deployment-%d.yaml" % i)[0] for i in range(12)), b"", 0))
    pods = "NAMESPACE     NAME                       READY   STATUS             RESTARTS        AGE\n" + "".join(
        "%-13s %-26s %-7s %-18s %-15s %s\n" % ("team-%d" % (i % 3), "app-7d4b9c6f5-%05d" % i, "1/1" if i != 88 else "0/1", "Running" if i != 88 else "CrashLoopBackOff", "0" if i != 88 else "12 (3m4s ago)", "4d2h") for i in range(300))
    case("ct_kubectl_pods", "kubectl get pods -A", {"profile": "table/v1", "odd": {"READY: 0/1": 90, "STATUS: CrashLoopBackOff": 90, "RESTARTS: 12 (3m4s ago)": 90}, "totals": {"rows": 300, "columns": 6}, "source": "by hand", "unverified": True}, (pods.encode(), b"", 0))
    postgres()
    logs()
    write("blob.bin", bytes((i * 7 + i // 256) % 256 for i in range(50_000)))
    for name, command in (("xxd", "xxd blob.bin"), ("xxd_p", "xxd -p blob.bin"), ("hexdump_C", "hexdump -C blob.bin"), ("hexdump", "hexdump blob.bin"), ("od", "od blob.bin"), ("od_c", "od -c blob.bin"), ("od_d", "od -A d -t x1 blob.bin")):
        case("ct_hex_" + name, command, {"profile": "bytes/v1", "rows": {"hex dump": "50,000 bytes"}, "source": "size"})
    write("app.min.js", "!function(){" + ";".join("var a%d=function(b){return b+%d}" % (i, i) for i in range(3000)) + "}();\n")
    case("ct_minified", "cat app.min.js", {"profile": "bytes/v1", "rows": {"1 long line": None}, "source": "by hand"})
    case("ct_gzip", "gzip -nc items.json", {"profile": "bytes/v1", "rows": {"gzip data": "%s bytes" % format(len(sh("gzip -nc items.json")[0]), ",d")}, "source": "size"})
    case("ct_progress_curl", "for i in $(seq 60); do printf '\\r%3d%% [%s]' $i done; done; echo; echo ready", {"profile": "progress/v1", "rows": None, "totals": {"redraws": 60}, "source": "by hand"})


def postgres():
    """psql on a server of its own."""
    for folder in ("/usr/lib/postgresql/15/bin",):
        run = "cd /tmp && D=$(mktemp -d) && chown postgres $D && U='runuser -u postgres --' && $U {0}/initdb -A trust -D $D/db >/dev/null && $U {0}/pg_ctl -w -D $D/db -o \"-k $D -h ''\" -l $D/log start >/dev/null && {{ {1}; }}; S=$?; $U {0}/pg_ctl -m fast -D $D/db stop >/dev/null; rm -rf $D; exit $S"
        make = "$U psql -qh $D -c \"create table o as select i as id, 't'||(i%4) as tenant, i*1.5 as amount, null::text as note from generate_series(0,299) i; update o set note='odd one' where id=205\""
        VERSIONS["psql"] = sh("psql --version")[0].decode().strip()
        for name, options in (("aligned", ""), ("border", "-P border=2"), ("csv", "--csv"), ("unaligned", "-A -F $'\\t'"), ("unicode", "-P border=2 -P linestyle=unicode")):
            query = "$U psql -h $D %s -c 'select * from o order by id'" % options
            line = {"aligned": 208, "border": 209, "csv": 207, "unaligned": 207, "unicode": 209}[name]
            truth = {"profile": "table/v1", "odd": {"note: odd one": line}, "totals": {"rows": 300, "columns": 4}, "source": "generate_series"}
            case("ct_psql_" + name, "psql %s -c 'select * from o order by id'" % options, truth, sh(run.format(folder, make + " && " + query)))


def logs():
    """Logs as servers write them, with what is odd in them."""
    access = "".join('10.0.%d.%d - - [30/Nov/2026:10:%02d:%02d +0000] "GET /p/%d HTTP/1.1" %d %d "-" "curl/8"\n' % (i % 3, i % 250, i // 60 % 60, i % 60, i, 503 if i in (700, 1900) else 404 if i % 50 == 0 else 200, i) for i in range(2500))
    status = {"5xx": 2, "4xx": sum(1 for i in range(2500) if i % 50 == 0 and i not in (700, 1900))}
    case("ct_log_access", "cat access.log", {"profile": "log/v1", "rows": None, "quoted": [701, 1901], "totals": {"lines": 2500, **status}, "source": "by hand"}, (access.encode(), b"", 0))
    syslog = "".join("Nov 30 10:%02d:%02d host app[%d]: request %d done in %d ms\n" % (i // 60 % 60, i % 60, 400 + i % 3, i, i % 90) if i != 1234 else "Nov 30 10:20:34 host kernel: Out of memory: Killed process 4242 (app)\n" for i in range(2500))
    case("ct_log_syslog", "cat syslog", {"profile": "log/v1", "rows": None, "totals": {"lines": 2500}, "source": "by hand"}, (syslog.encode(), b"", 0))
    records = "".join(json.dumps({"ts": 1700000000 + i, "level": "error" if i == 900 else "info", "msg": "request %d" % i, "ms": i % 70}) + "\n" for i in range(1500))
    case("ct_log_json", "cat app.jsonl", {"profile": "log/v1", "rows": None, "totals": {"records": 1500, "error": 1, "info": 1499}, "source": "by hand"}, (records.encode(), b"", 0))


def lists():
    """gh and glab, as their documentation and sources show what they print to a terminal and into a pipe."""
    numbers = list(range(400, 340, -2))
    piped = "".join("%d\tFix the %d. thing, at last\tbranch-%d\t%s\t2026-11-%02dT10:00:00Z\n" % (n, n, n, "DRAFT" if n == 380 else "OPEN", n % 28 + 1) for n in numbers)
    rows = {str(n): "Fix the %d. thing, at last" % n for n in numbers}
    case("ct_gh_pr_list", "gh pr list | cat", {"profile": "list/v1", "rows": rows, "totals": {"items": 30}, "source": "by hand", "unverified": True}, (piped.encode(), b"", 0))
    shown = "\nShowing 30 of 74 open pull requests in dev/project\n\n%-6s%-30s%-13s%s\n" % ("ID", "TITLE", "BRANCH", "CREATED AT") + "".join("%-6s%-30s%-13s%s\n" % ("#%d" % n, "Fix the %d. thing, at last" % n, "branch-%d" % n, "about %d hours ago" % n) for n in numbers)
    case("ct_gh_pr_list_tty", "gh pr list", {"profile": "list/v1", "rows": {"#" + name: row for name, row in rows.items()}, "totals": {"items": 30, "in all": 74}, "source": "by hand", "unverified": True}, (shown.encode(), b"", 0))
    runs = "".join("completed\t%s\tChange %d\tCI\tmain\tpush\t%d\t3m%ds\t2026-11-30T10:00:00Z\n" % ("failure" if n == 360 else "success", n, 7000000000 + n, n % 60) for n in numbers)
    case("ct_gh_run_list", "gh run list | cat", {"profile": "list/v1", "rows": {str(7000000000 + n): "%s: Change %d" % ("failure" if n == 360 else "success", n) for n in numbers}, "totals": {"items": 30, "success": 29, "failure": 1}, "source": "by hand", "unverified": True}, (runs.encode(), b"", 0))
    merges = "Showing 30 open merge requests on dev/project. (Page 1)\n\n" + "".join("!%d\tdev/project!%d\tFix the %d. thing, at last\t(main) \u2190 (branch-%d)\n" % (n, n, n, n) for n in numbers)
    case("ct_glab_mr_list", "glab mr list", {"profile": "list/v1", "rows": {"!" + name: row for name, row in rows.items()}, "totals": {"items": 30}, "source": "by hand", "unverified": True}, (merges.encode(), b"", 0))


main()
shutil.rmtree(WORK)
