#!/usr/bin/env python3
"""ctx: complete evidence outside the prompt, decision-relevant facts inside it, exact addresses between them.

    python3 ctx.py run -- pytest -q       run a command; a flood becomes a digest, small output is not touched
    python3 ctx.py get run:8d83…          read the evidence behind a digest
    python3 ctx.py help                   every verb, with examples

One file, standard library only, read from top to bottom: a section uses only names of the sections above it.

     1  prelude      version, limits, errors
     2  state        where things live: the store's roots, the workspace, the session
     3  shell        the surface of one bash command line: words, operators, spans
     4  guard        tables of programs, classes, and what is put in front of which command
     5  permissions  a host's own rules, applied to an original command
     6  hosts        the dialect of each host, and what the hook answers it
     7  text         lines, terminal clean-up, token estimate, sizes
     8  address      the grammar of handles and selectors, anchors
     9  config       ctx.toml: reading, checking
    10  redact       secret patterns
    11  store        blobs, runs, locks, retention
    12  capture      child processes, streams, signals, partial output
    13  evidence     facts, contracts, coverage receipts
    14  profiles     one per output family: bytes to evidence
    15  render       evidence and a budget to digest bytes
    16  retrieve     get, search, diff
    20  plans        seq: several steps, one answer
    22  gates        what the hook answers after a tool, at a session's start, before a compaction
    23  install      doctor, init, why
    24  cli          argument grammar, dispatch, help
"""
from __future__ import annotations

import posix  # what `os` is made of; `os` itself would cost a millisecond
import sys

TYPE_CHECKING = False  # typing costs more than the interpreter's own start, so only checkers import it
if TYPE_CHECKING:
    from typing import (
        Any,
        BinaryIO,
        Callable,
        Dict,
        FrozenSet,
        Iterable,
        Iterator,
        List,
        Match,
        Optional,
        Pattern,
        Sequence,
        Set,
        Tuple,
        Union,
    )

# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 1 · prelude
# Knows the version, the limits and the one error type. Never knows anything about the world.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

VERSION = "0.1.0"

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

CHUNK = 256 * KIB  # one read of a pipe or a stored stream
INDEX_FROM = MIB  # a stored stream at least this large gets a line index beside it
RUN_LIMIT = GIB  # bytes one run may keep
RING_LIMIT = 64 * MIB  # of these, the tail that survives once the limit is reached

BUDGET_INLINE = 4 * KIB  # output up to here is replayed, not digested (DESIGN §4.3)
BUDGET_CONTENT = 16 * KIB  # content families pass whole up to here
BUDGET_PASS = 120  # tokens of a passing run's digest
BUDGET_FAIL = 900  # tokens of a failing run's digest
BUDGET_PAGE = 2000  # tokens of one page of `get` and `search`

EXIT_SAME, EXIT_DIFFERS, EXIT_USAGE, EXIT_REDACTED = 0, 1, 2, 3
EXIT_TIMEOUT, EXIT_INTERNAL, EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND = 124, 125, 126, 127


class CtxError(Exception):
    """Something the user can mend: `what` is wrong and `fix` says what to type; `exit_code` is the status to leave with."""

    def __init__(self, what: str, fix: str = "", exit_code: int = EXIT_USAGE) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.exit_code = exit_code

    def __str__(self) -> str:
        return "%s: %s" % (self.what, self.fix) if self.fix else self.what


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 2 · state
# Knows where things live (the store's roots, the workspace, the host session), and how files are read, written and locked so that
# nobody sees half of one. Never knows what is in them.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def fsdecode(name: bytes) -> str:
    """A path or argument as text; bytes that are not UTF-8 survive the way back."""
    return name.decode("utf-8", "surrogateescape")


def fsencode(name: str) -> bytes:
    """The bytes behind `fsdecode`."""
    return name.encode("utf-8", "surrogateescape")


def insist_on_utf8() -> None:
    """Start this program again in UTF-8 mode where the locale has another encoding: names and arguments are bytes to us, and only
    UTF-8 with its escapes gives all of them back."""
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        flags = ["-I"] * sys.flags.isolated + ["-S"] * sys.flags.no_site
        posix.execv(sys.executable, [sys.executable, "-X", "utf8", *flags, *sys.argv])


def getenv(name: str) -> str:
    """An environment variable, "" when it is unset."""
    return fsdecode(posix.environ.get(name.encode(), b""))


def urandom_hex(count: int = 6) -> str:
    """`count` random bytes in hex. Names come from here and never from a pid, which containers share."""
    return posix.urandom(count).hex()


def is_dir(path: str) -> bool:
    """Whether `path` is a directory, links followed."""
    try:
        return posix.stat(path).st_mode & 0o170000 == 0o040000
    except (OSError, ValueError):
        return False


def exists(path: str) -> bool:
    """Whether anything is at `path`, a dangling link included."""
    try:
        posix.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def is_same(one: str, two: str) -> bool:
    """Whether two paths lead to the same file."""
    try:
        first, second = posix.stat(one), posix.stat(two)
    except (OSError, ValueError):
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def make_dirs(path: str) -> None:
    """Create `path` and its parents, 0700; an existing directory is fine. Raises OSError."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        if not is_dir(path):
            raise
    except FileNotFoundError:
        parent = path.rsplit("/", 1)[0]
        if not parent or parent == path:
            raise
        make_dirs(parent)
        try:
            posix.mkdir(path, 0o700)
        except FileExistsError:  # somebody else was quicker
            pass


def write_all(fd: int, data: Union[bytes, memoryview]) -> None:
    """Write all of `data`: a short write goes on, a full non-blocking pipe is waited for. Raises OSError."""
    view = memoryview(data)
    while view:
        try:
            view = view[posix.write(fd, view) :]
        except BlockingIOError:
            import select

            poller = select.poll()
            poller.register(fd, select.POLLOUT)
            poller.poll()


def read_file(path: str) -> bytes:
    """All bytes of a small file. Raises OSError."""
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        parts: List[bytes] = []
        while True:
            part = posix.read(fd, 64 * KIB)
            if not part:
                return b"".join(parts)
            parts.append(part)
    finally:
        posix.close(fd)


def write_atomic(path: str, data: Union[bytes, Iterable[bytes]], mode: int = 0o600) -> None:
    """Put bytes, or chunks of them, at `path` by a temporary file and a rename: readers see the old bytes or the new ones.
    Raises OSError and whatever the chunks raise, leaving no temporary."""
    temporary = temporary_beside(path)
    fd = posix.open(temporary, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, mode)
    try:
        try:
            for chunk in [data] if isinstance(data, bytes) else data:
                write_all(fd, chunk)
        finally:
            posix.close(fd)
        posix.rename(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def temporary_beside(path: str) -> str:
    """A name that nobody uses, in the directory of `path`, for a file that is to be renamed."""
    return "%s/.tmp-%s" % (path.rsplit("/", 1)[0], urandom_hex())


def append_line(path: str, line: str) -> None:
    """Add one line to a file that many processes append to. Raises OSError."""
    fd = posix.open(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
    try:
        posix.write(fd, line.encode() + b"\n")
    finally:
        posix.close(fd)


def remove(path: str) -> bool:
    """Delete a file; False when it was not there or cannot be deleted."""
    try:
        posix.unlink(path)
    except OSError:
        return False
    return True


def list_dir(path: str) -> List[str]:
    """Sorted names in a directory; none when it cannot be read."""
    try:
        return sorted(posix.listdir(path))
    except OSError:
        return []


def now() -> float:
    """Seconds since the epoch."""
    import time

    return time.time()


def lock_file(fd: int, exclusive: bool = True, wait: bool = False) -> bool:
    """Take flock(2) on an open file; False when somebody holds it or the file system has none."""
    import fcntl

    try:
        fcntl.flock(fd, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


class Lock:
    """An advisory lock on a file, for a `with`: several share it, or one has it exclusively. `held` tells whether it was taken."""

    __slots__ = ("path", "exclusive", "wait", "held", "fd")

    def __init__(self, path: str, exclusive: bool = False, wait: bool = True) -> None:
        self.path = path
        self.exclusive = exclusive
        self.wait = wait
        self.held = False
        self.fd = -1

    def __enter__(self) -> Lock:
        self.fd = posix.open(self.path, posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        self.held = lock_file(self.fd, self.exclusive, self.wait)
        return self

    def __exit__(self, *_: object) -> None:
        posix.close(self.fd)


class OpenFile:
    """An open file that is read by spans and closed with its last user."""

    __slots__ = ("fd", "size")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.size = posix.fstat(fd).st_size

    def __del__(self) -> None:
        posix.close(self.fd)

    def read(self, start: int, end: int) -> bytes:
        """Bytes start to end, whole unless the file is shorter."""
        return read_span(self.fd, start, end)

    def chunks(self) -> Iterator[bytes]:
        """All bytes, by windows."""
        for start in range(0, self.size, CHUNK):
            yield self.read(start, min(self.size, start + CHUNK))

    def append(self, data: bytes) -> None:
        """Write behind the end. Raises OSError."""
        write_all(self.fd, data)
        self.size += len(data)


def open_file(path: str) -> OpenFile:
    """Open a file for reading. Raises OSError."""
    return OpenFile(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC))


def nameless_file(folder: str) -> OpenFile:
    """An empty file, in `folder` or a temporary directory, that vanishes with its last user. Raises CtxError."""
    for place in (folder, getenv("TMPDIR") or "/tmp", "/var/tmp"):
        path = temporary_beside(place + "/")
        try:
            fd = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        except OSError:
            continue
        remove(path)
        return OpenFile(fd)
    raise CtxError("no room for a temporary file", "free some space in %s, or set TMPDIR" % folder)


def read_span(fd: int, start: int, end: int) -> bytes:
    """Bytes start to end of an open file, whole unless the file is shorter."""
    data = posix.pread(fd, end - start, start)
    while len(data) < end - start:
        more = posix.pread(fd, end - start - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def hold_standard_descriptors() -> None:
    """Put /dev/null where standard descriptors are closed, lest a file of ours gets their number; for a child they stay closed."""
    for fd in (0, 1, 2):
        try:
            posix.fstat(fd)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)  # takes the lowest free number, which is this one


def home() -> str:
    """The user's home directory, "" when there is none."""
    path = getenv("HOME")
    if not path:
        try:
            import pwd

            path = pwd.getpwuid(posix.getuid()).pw_dir
        except (ImportError, KeyError):
            return ""
    return path if path.startswith("/") else ""


def temp_root() -> str:
    """The store of last resort, in the temporary directory: maybe memory, maybe shared, so it is small, and trusted if ours."""
    return "%s/ctx-%d" % ((getenv("TMPDIR") or "/tmp").rstrip("/"), posix.getuid())


def state_roots() -> List[str]:
    """Where a store may be, best first. Writers use the first that can be written, readers the union of those that exist."""
    if getenv("CTX_HOME"):
        first = absolute(getenv("CTX_HOME"))
    elif getenv("XDG_STATE_HOME").startswith("/"):
        first = getenv("XDG_STATE_HOME").rstrip("/") + "/ctx"
    else:
        first = home().rstrip("/") + "/.local/state/ctx" if is_dir(home()) else ""
    return [root for root in (first, temp_root()) if root]


def is_ours(path: str) -> bool:
    """Whether `path` is a real directory, no link, that belongs to this user and nobody else can write."""
    try:
        info = posix.lstat(path)
    except OSError:
        return False
    return info.st_mode & 0o170000 == 0o040000 and info.st_uid == posix.getuid() and not info.st_mode & 0o022


def cwd() -> str:
    """The working directory as the shell names it; "/" when it has been deleted."""
    logical = getenv("PWD")
    try:
        actual = posix.getcwd()
        if logical.startswith("/") and not {".", ".."}.intersection(logical.split("/")):
            here, there = posix.stat(logical), posix.stat(actual)
            if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino):
                return logical
        return actual
    except OSError:
        return "/"


def absolute(path: str) -> str:
    """`path` seen from the working directory, without `.`, `..` and doubled slashes; links are left alone."""
    parts: List[str] = []
    for part in (path if path.startswith("/") else "%s/%s" % (cwd(), path)).split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def workspace(start: str = "") -> str:
    """The top of the git work tree around `start` (default: the working directory), else the nearest directory with a ctx.toml,
    else `start` itself; "" where that would be the root or a home directory."""
    here = start or cwd()
    never = ("/", home().rstrip("/"))
    for mark in ("/.git", "/ctx.toml"):
        path = here
        while path and path not in never:
            if exists(path + mark):
                return path
            path = path.rsplit("/", 1)[0]
    return "" if here in never else here


def relative_to(root: str, path: str) -> str:
    """`path` below `root` ("." for the root itself), or `path` unchanged when it is not below."""
    if root and path == root:
        return "."
    return path[len(root) + 1 :] if root and path.startswith(root + "/") else path


# What hosts put into their shell's environment to name the session.
_SESSION_VARIABLES = (
    "CTX_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "GEMINI_SESSION_ID", "COPILOT_SESSION_ID",
)  # fmt: skip


def session() -> str:
    """The host session that this process belongs to, "" when none is known."""
    for name in _SESSION_VARIABLES:
        if getenv(name):
            return getenv(name)
    return ""


def to_json(value: Any) -> str:
    """JSON in ASCII, keys sorted, no spaces, so that equal values are equal bytes; without the cost of the `json` module."""
    if isinstance(value, str):
        if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
            return '"%s"' % value
        try:
            from _json import encode_basestring_ascii
        except ImportError:
            from json.encoder import encode_basestring_ascii
        return encode_basestring_ascii(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (to_json(key), to_json(value[key])) for key in sorted(value))
    return "[%s]" % ",".join(to_json(item) for item in value)


class _PlainJson:
    """How JSON's scanner treats what is not text: no hooks, and only numbers that another reader would read alike."""

    strict = True
    object_hook = object_pairs_hook = None

    @staticmethod
    def parse_int(text: str) -> int:
        if len(text) > 4000:  # reading takes the square of that
            raise ValueError("a number of %d digits" % len(text))
        return int(text)

    @staticmethod
    def parse_float(text: str) -> float:
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise ValueError("%s is out of range" % text)
        return value

    @staticmethod
    def parse_constant(text: str) -> None:
        raise ValueError("%s is not JSON" % text)


def from_json(data: Union[bytes, str]) -> Any:
    """The value of a JSON text, without the cost of the `json` module. Raises ValueError on anything that is not JSON."""
    try:
        from _json import make_scanner
    except ImportError:
        from json.scanner import make_scanner
    text = (data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")).strip(" \t\r\n")
    try:
        value, end = make_scanner(_PlainJson)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, SystemError):  # the latter up to Python 3.11, whose scanner takes its error from `json` if that is loaded
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(text):
        raise ValueError("more than one value")
    return value


def config_files(start: str = "") -> List[str]:
    """Where settings are read from, weakest first: the user's file, then that of the workspace around `start`."""
    base = getenv("XDG_CONFIG_HOME")
    if not base.startswith("/"):
        base = home() and home().rstrip("/") + "/.config"
    top = workspace(start)
    return [path for path in (base and base.rstrip("/") + "/ctx/config.toml", top and top + "/ctx.toml") if path]


class Snapshot:
    """What was made of some files once, kept so that the hook need not make it again.

    `files` are those that exist, by path, times of change and size; another of these is another snapshot.
    """

    __slots__ = ("files", "path")

    def __init__(self, kind: str, paths: Iterable[str]) -> None:
        self.files: List[List[Any]] = []
        name = kind
        for path in paths:
            try:
                info = posix.stat(path)
            except (OSError, ValueError):
                continue
            self.files.append([path, info.st_mtime_ns, info.st_ctime_ns, info.st_size])
            name += "-%x" % info.st_ino
        root = next(iter(own_roots()), "")
        self.path = root and "%s/compiled/%s" % (root, name)

    def load(self) -> Any:
        """What was kept, None when there is nothing, or of other files."""
        try:
            kept = from_json(read_file(self.path))
            return kept["made"] if kept["files"] == self.files else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, made: Any) -> bool:
        """Keep `made`, which is anything that JSON can say; False when that is not possible."""
        try:
            make_dirs(self.path.rsplit("/", 1)[0])
            write_atomic(self.path, to_json({"files": self.files, "made": made}).encode())
        except OSError:
            return False
        return bool(self.path)


def own_roots() -> List[str]:
    """The roots of stores in which nobody else can have put anything."""
    return [root for root in state_roots() if root != temp_root() or is_ours(root)]


LEDGER_LIMIT = MIB  # bytes of the ledger's newer half; then it becomes the older one


def note(entry: Dict[str, Any]) -> None:
    """Add one decision to the ledger, a line of JSON; what cannot be noted is not."""
    for root in own_roots()[:1]:
        path = root + "/ledger"
        try:
            make_dirs(root)
            append_line(path, to_json(dict(entry, time=int(now()))))
            if posix.stat(path).st_size > LEDGER_LIMIT:
                posix.rename(path, path + ".old")
        except OSError:
            pass


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 3 · shell
# Knows bash's surface: words, operators and spans of one command line. Never knows programs or files.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

DYNAMIC = "\0"  # in a word's text: a part that only running the line can tell (an expansion, a pattern, braces, a tilde)
NESTING = 40  # deeper lines are unsure

METACHARACTERS = frozenset(" \t\n;&|<>()")
WORD_ENDS = frozenset(" \t\n;&|)")
WORD_SPECIALS = METACHARACTERS | frozenset("'\"\\$`*?[{~")
QUOTE_SPECIALS = frozenset('"\\$`')
BRACE_SPECIALS = frozenset("\"\\$`'}")
DIGITS = frozenset("0123456789")
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") | DIGITS
QUOTES = ("'", '"', "\\", "$'", '$"')
SPECIAL_PARAMETERS = frozenset("@*#?-$!") | DIGITS

CLOSING = {  # the words that may end a list, by the word before it
    "{": ("}",), "(": (")",), "if": ("then",), "elif": ("then",), "then": ("elif", "else", "fi"), "else": ("fi",), "while": ("do",),
    "until": ("do",), "do": ("done",),
}  # fmt: skip
CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
OPENERS = frozenset(("{", "if", "while", "until", "for", "select", "case", "function", "[[", "coproc"))
RESERVED = OPENERS | CLOSERS | {"!", "time", "in", "]]"}
RESERVED_STARTS = frozenset(word[0] for word in RESERVED)
CASE_ENDS = (";;", ";&", ";;&")
DOUBLE_CONTROLS = frozenset((";;", ";&", "&&", "||", "|&"))
REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">")  # longest first


class Word:
    """One word, typed as `line.text[start:end]`.

    `text` is what bash makes of it, quotes removed, with DYNAMIC for what is not known. `quoted` says that a part of it was quoted,
    which keeps bash from taking it for a reserved word or an alias.
    """

    __slots__ = ("start", "end", "text", "quoted")

    def __init__(self, start: int, end: int, text: str, quoted: bool) -> None:
        self.start, self.end, self.text, self.quoted = start, end, text, quoted

    @property
    def value(self) -> Optional[str]:
        """The one argument that this word becomes, None when that is not known."""
        return None if DYNAMIC in self.text else self.text


class Redirect:
    """`fd` `op` `target`, typed as `line.text[start:end]`; `fd` may be "". `body` is the span of a here-document's lines."""

    __slots__ = ("start", "end", "fd", "op", "target", "body")

    def __init__(self, start: int, fd: str, op: str, target: Word) -> None:
        self.start, self.end, self.fd, self.op, self.target, self.body = start, target.end, fd, op, target, (0, 0)


class Command:
    """One command: a simple one (`kind` is "") or a compound one (`kind` is what opens it; "function": it defines `name`).

    `before` and `after` are the operators around it ("" at the ends of the text, the opening word first in a compound). `pipe`
    holds all stages of its pipeline, `stage` is its place there. `nest` names what encloses it, outermost first: () is a list
    position.
    """

    __slots__ = (
        *("start", "end", "kind", "name", "assigns", "words", "redirects", "before", "after", "pipe", "stage"),
        *("nest", "background", "negated", "timed"),
    )

    def __init__(self, start: int, before: str, nest: Tuple[str, ...]) -> None:
        self.start = self.end = start
        self.kind = self.name = ""
        self.assigns: List[Word] = []
        self.words: List[Word] = []
        self.redirects: List[Redirect] = []
        self.before, self.after, self.nest = before, "", nest
        self.pipe: List[Command] = [self]
        self.stage = 0
        self.background = self.negated = self.timed = False


class Line:
    """A scanned command line: its `commands` in the order in which they start, those inside others included.

    `unsure` says why the scan gave up at offset `at`, "" when all was understood. In an unsure line nothing may be edited, and
    `commands` is only what was seen so far.
    """

    __slots__ = ("text", "commands", "unsure", "at")

    def __init__(self, text: str) -> None:
        self.text, self.unsure, self.at = text, "", len(text)
        self.commands: List[Command] = []


class Unsure(Exception):
    """The scanner met something that it does not read with certainty."""


def assigned_name(raw: str) -> str:
    """The variable that the word typed as `raw` assigns (`NAME=…`, `NAME+=…`, `NAME[…]=…`), "" if it is no assignment."""
    i = 0
    while i < len(raw) and raw[i] in NAME_CHARACTERS:
        i += 1
    rest = raw[i:]
    if rest.startswith("["):
        rest = rest[rest.find("]") + 1 :]
    return raw[:i] if i and raw[0] not in DIGITS and rest.startswith(("=", "+=")) else ""


_scanned: Dict[str, Line] = {}  # the last command line: one call of the hook looks at the same one several times


def scan(text: str) -> Line:
    """Read a bash command line. Total and linear: any text gives a Line, at worst an unsure one. Nobody changes a Line afterwards."""
    if text in _scanned:
        return _scanned[text]
    line = Line(text)
    scanner = Scanner(line)
    try:
        if DYNAMIC in text:
            raise Unsure("a NUL byte")
        if scanner.list():
            raise Unsure("a closing word that nothing opened")
        if scanner.pending:
            raise Unsure("a here-document without its end")
    except Unsure as reason:
        line.unsure, line.at = str(reason), min(scanner.at, len(text))
    _scanned.clear()
    _scanned[text] = line
    return line


class Scanner:
    """Recursive descent over `text[at:end]`. Each method reads one construct of bash's grammar and leaves `at` behind it."""

    __slots__ = ("line", "text", "end", "at", "nest", "before", "pending", "depth")

    def __init__(self, line: Line) -> None:
        self.line, self.text, self.end, self.at = line, line.text, len(line.text), 0
        self.nest: Tuple[str, ...] = ()
        self.before = ""  # the operator last read
        self.pending: List[Redirect] = []  # here-documents whose bodies start behind the next newline
        self.depth = 0

    # blanks, operators, reserved words

    def peek(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at, self.end)

    def blank(self) -> None:
        """Skip blanks, line continuations and a comment."""
        text, i, end = self.text, self.at, self.end
        while i < end:
            c = text[i]
            if c == " " or c == "\t":
                i += 1
            elif c == "\\" and text.startswith("\n", i + 1, end):
                i += 2
            elif c == "#":
                i = text.find("\n", i, end)
                i = end if i < 0 else i
            else:
                break
        self.at = i

    def newlines(self) -> None:
        self.blank()
        while self.peek("\n"):
            self.at += 1
            if self.pending:
                self.bodies()
            self.blank()

    def control(self) -> str:
        """The control operator ahead, "" if there is none."""
        self.blank()
        text, i = self.text, self.at
        c = text[i : i + 1] if i < self.end else ""
        if c == "" or c not in ";&|\n()":
            return ""
        j = i + 1
        while c in ";&|" and text.startswith("\\\n", j):
            j += 2
        if j > i + 1 and text.startswith((";", "&", "|", ">"), j):
            raise Unsure("an operator broken over two lines")
        double = text[i : min(i + 2, self.end)]
        if double in DOUBLE_CONTROLS:
            return ";;&" if self.peek(";;&") else double
        return "" if double == "&>" else c

    def reserved(self) -> str:
        """The reserved word ahead, "" if the next word is none."""
        self.blank()
        i = j = self.at
        if i >= self.end or self.text[i] not in RESERVED_STARTS:
            return ""
        stop = min(self.end, i + 9)
        while j < stop and self.text[j] not in METACHARACTERS:
            j += 1
        word = self.text[i:j]
        return word if word in RESERVED else ""

    def expect(self, sign: str, what: str) -> None:
        if not self.peek(sign):
            raise Unsure(what)
        self.at += len(sign)

    def within(self, nest: Tuple[str, ...], read: Callable[[], Any]) -> Any:
        """What `read` reads one level deeper, inside `nest`."""
        if self.depth == NESTING:
            raise Unsure("nested too deeply")
        outer, self.nest, self.depth = self.nest, self.nest + nest, self.depth + 1
        result = read()
        self.nest, self.depth = outer, self.depth - 1
        return result

    # lists, pipelines, compound commands

    def list(self) -> str:
        """Commands up to the word or sign that closes them, which is returned and not consumed ("" at the end of the text)."""
        while True:
            self.newlines()
            word = self.reserved()
            op = "" if word else self.control()
            if word in CLOSERS or op == ")" or op in CASE_ENDS or self.at >= self.end:
                return word or op
            first = len(self.line.commands)
            last = self.and_or()
            op = self.control()
            if op == ";" or op == "&" or op == "\n":
                last.after = self.before = op
                self.at += op != "\n"
                if op == "&":
                    for command in self.line.commands[first:]:
                        command.background = True
            elif not (op or self.at >= self.end or self.reserved() in CLOSERS):
                raise Unsure("no operator between two commands")

    def and_or(self) -> Command:
        while True:
            last = self.pipeline()
            op = self.control()
            if op != "&&" and op != "||":
                return last
            last.after = self.before = op
            self.at += 2
            self.newlines()

    def pipeline(self) -> Command:
        negated = timed = False
        word = self.reserved()
        while word == "!" or word == "time":
            negated, timed = negated != (word == "!"), timed or word == "time"
            self.at += len(word)
            self.blank()
            if word == "time" and self.peek("-p "):
                self.at += 2
            word = self.reserved()
        pipe: List[Command] = []
        while True:
            command = self.command()
            command.pipe, command.stage, command.negated, command.timed = pipe, len(pipe), negated, timed
            pipe.append(command)
            op = self.control()
            if op != "|" and op != "|&":
                return command
            command.after = self.before = op
            self.at += len(op)
            self.newlines()

    def command(self) -> Command:
        word = self.reserved()
        command = Command(self.at, self.before, self.nest)
        self.line.commands.append(command)
        if word in OPENERS:
            command.kind = word
        elif word:
            raise Unsure("%s in the place of a command" % word)
        elif self.peek("("):
            command.kind = "((" if self.peek("((") else "("
        if command.kind:
            self.at += len(command.kind)
            self.compound(command, command.kind)
            command.end = self.at
        self.simple(command)
        return command

    def compound(self, command: Command, kind: str) -> None:
        word = kind
        while word in CLOSING:
            word = self.body(kind, CLOSING[word])
        if kind == "((":
            self.arithmetic()
        elif kind == "[[":
            self.test()
        elif kind == "for" or kind == "select":
            self.loop(kind)
        elif kind == "case":
            self.case()
        elif kind == "function":
            self.blank()
            self.function(command, self.word())
        elif kind == "coproc":
            raise Unsure("a coprocess")

    def body(self, kind: str, closers: Sequence[str]) -> str:
        """A list inside `kind`, up to and with one of `closers`, which is returned."""
        self.before = kind
        closer: str = self.within((kind,), self.list)
        if closer not in closers:
            raise Unsure("%s without %s" % (kind, " or ".join(closers)))
        self.at += len(closer)
        return closer

    def loop(self, kind: str) -> None:
        self.blank()
        if self.peek("(("):
            self.at += 2
            self.arithmetic()
        else:
            self.words(self.blank)
        if self.control() == ";":
            self.at += 1
        self.newlines()
        word = self.reserved()
        if word != "do" and word != "{":
            raise Unsure("a loop without do")
        self.at += len(word)
        self.body(kind, CLOSING[word])

    def words(self, between: Callable[[], None]) -> None:
        """Words that are no command, with what `between` skips around them."""
        between()
        while self.at < self.end and (self.text[self.at] not in METACHARACTERS or self.substituted()):
            self.word()
            between()

    def case(self) -> None:
        self.blank()
        self.word()
        self.newlines()
        self.expect("in", "case without in")
        self.newlines()
        while self.reserved() != "esac":
            self.at += self.peek("(")
            self.words(self.blank)
            while self.peek("|"):
                self.at += 1
                self.words(self.blank)
            self.expect(")", "a case pattern without )")
            if self.body("case", ("esac", *CASE_ENDS)) == "esac":
                return
            self.newlines()
        self.at += 4

    def test(self) -> None:
        """`[[ … ]]`, behind its opening."""
        raw = ""
        while raw != "]]":
            while self.at < self.end and self.text[self.at] in METACHARACTERS and not self.peek(";"):
                self.at += 1
            start = self.at
            if start >= self.end or self.text[start] in ";#":
                raise Unsure("[[ without ]]")
            self.word()
            raw = self.text[start : self.at]

    def function(self, command: Command, name: Word) -> None:
        """The rest of a definition, from the optional `()` on."""
        command.kind, command.name, command.words = "function", name.text, []
        self.blank()
        if self.peek("("):
            self.at += 1
            self.blank()
            self.expect(")", "( after a word")
        self.newlines()
        if not self.within(("function",), self.command).kind:
            raise Unsure("a function without a body")

    # simple commands, redirections, here-documents

    def simple(self, command: Command) -> None:
        """Assignments, words and redirections; behind a compound command only the last of these."""
        text = self.text
        while True:
            self.blank()
            start = self.at
            c = text[start] if start < self.end else "\n"
            if c in METACHARACTERS and not self.substituted():
                if c == "(" and not command.kind:
                    if len(command.words) != 1 or command.assigns or command.redirects:
                        raise Unsure("( after a word")
                    self.function(command, command.words[0])
                    command.end = self.at
                elif c in "<>" or self.peek("&>"):
                    self.redirect(command, start)
                    continue
                break
            word = self.word()
            raw = text[start : self.at]
            redirecting = self.at < self.end and text[self.at] in "<>"
            if redirecting and not raw.strip("0123456789"):
                self.redirect(command, start)
            elif redirecting and raw[0] + raw[-1] == "{}":
                raise Unsure("a redirection to a variable")
            elif command.kind:
                self.at = start
                break
            elif command.words:
                command.words.append(word)
            elif raw.count("[") > raw.count("]") and NAME_CHARACTERS.issuperset(raw[: raw.find("[")] or "["):
                raise Unsure("a subscript with blanks")
            elif word.text in RESERVED and not word.quoted:
                raise Unsure("a reserved word over two lines")
            elif assigned_name(raw):
                command.assigns.append(word)
            else:
                command.words.append(word)
            command.end = self.at
        if command.end == command.start:
            raise Unsure("an operator without a command")

    def redirect(self, command: Command, start: int) -> None:
        """A redirection whose descriptor, if it has one, stands at `start`."""
        fd = self.text[start : self.at]
        op = next(op for op in REDIRECTIONS if self.peek(op))
        self.at += len(op)
        if self.peek("\\\n"):
            raise Unsure("an operator broken over two lines")
        self.blank()
        if self.at >= self.end or self.text[self.at] in METACHARACTERS and not self.substituted():
            raise Unsure("a redirection without a target")
        redirect = Redirect(start, fd, op, self.word())
        target = self.text[redirect.target.start : self.at]
        if target[0] == "-" != target and "&" in op or self.at < self.end and self.text[self.at] in "<>" and target.isdigit():
            raise Unsure("an unusual target of a redirection")
        command.redirects.append(redirect)
        command.end = self.at
        if op == "<<" or op == "<<-":
            self.pending.append(redirect)

    def bodies(self) -> None:
        """The here-documents that the newline just read starts."""
        for redirect in self.pending:
            delimiter, start, i = redirect.target, self.at, self.at
            if delimiter.value is None:
                raise Unsure("a here-document with an unusual end")
            joined = False  # the line before ends in a continuation, so this one cannot be the end
            while True:
                if i >= self.end:
                    raise Unsure("a here-document without its end")
                j = self.text.find("\n", i, self.end)
                j = self.end if j < 0 else j
                row = self.text[i:j]
                if not joined and (row.lstrip("\t") if redirect.op == "<<-" else row) == delimiter.text:
                    break
                joined = not delimiter.quoted and (len(row) - len(row.rstrip("\\"))) % 2 == 1
                i = j + 1
            redirect.body = (start, i)
            if not delimiter.quoted:
                self.inside(start, i, self.expansions)
            self.at = min(j + 1, self.end)
        self.pending = []

    # words and what they expand

    def substituted(self) -> bool:
        """A process substitution is ahead."""
        return self.peek("<(") or self.peek(">(")

    def closing(self, quote: str, i: int) -> int:
        """The offset of the next unescaped `quote` from `i` on."""
        while i < self.end and self.text[i] != quote:
            i += 2 if self.text[i] == "\\" else 1
        if i >= self.end:
            raise Unsure("an open quote")
        return i

    def word(self) -> Word:
        text, end, start = self.text, self.end, self.at
        i = start
        while i < end and text[i] not in WORD_SPECIALS:
            i += 1
        if i >= end or text[i] in WORD_ENDS:  # as most words are
            self.at = i
            return Word(start, i, text[start:i], False)
        parts: List[str] = []
        quoted = False
        i = start
        while i < end and text[i] not in WORD_ENDS:
            j = i
            while j < end and text[j] not in WORD_SPECIALS:
                j += 1
            known: Optional[str] = text[i:j]
            if j == i:
                self.at = i
                known = self.piece(text[i], parts)
                quoted = quoted or text.startswith(QUOTES, i) and not text.startswith("\\\n", i)
                j = self.at
            if known is None:
                break
            parts.append(known)
            i = j
        self.at = i
        raw = text[start : self.at]
        return Word(start, self.at, raw if raw == "[" or raw == "{" else "".join(parts), quoted)

    def piece(self, c: str, parts: Sequence[str]) -> Optional[str]:
        """The part of a word that starts with the special character `c`, behind `parts`; None if that ends the word."""
        i = self.at
        self.at += 1
        following = self.text[i + 1 : min(i + 2, self.end)]
        if c == "'":
            self.at = self.text.find("'", i + 1, self.end) + 1
            if not self.at:
                self.at = i
                raise Unsure("an open quote")
            return self.text[i + 1 : self.at - 1]
        if c == '"':
            return self.double_quoted()
        if c == "\\":
            self.at += len(following)
            return "" if following == "\n" else following or c
        if c == "$" or c == "`":
            self.at = i
            return self.expansion(False)
        if c == "{" and following == "}" or c == "~" and (parts and parts[-1][-1:] not in ("=", ":")):
            return c
        if c in "<>" and following == "(":
            self.at += 1
            self.substitution(c + "(")
        elif c == "(" and len(parts) == 1 and parts[0][-1:] == "=" and assigned_name(parts[0]):
            self.within((), lambda: self.words(self.newlines))
            self.expect(")", "an open array")
        elif c in METACHARACTERS:
            self.at = i
            return None
        return DYNAMIC

    def double_quoted(self) -> str:
        """The rest of a double-quoted string, its closing quote included."""
        known = self.expansions('"')
        self.expect('"', "an open quote")
        return known

    def expansions(self, stop: str = "", specials: FrozenSet[str] = QUOTE_SPECIALS) -> str:
        """Text in which only `specials` are special, up to an unescaped `stop` or the end."""
        text, end, i = self.text, self.end, self.at
        parts: List[str] = []
        while i < end:
            j = i
            while j < end and text[j] not in specials:
                j += 1
            parts.append(text[i:j])
            i = j
            if i >= end or text[i] == stop:
                break
            c, self.at = text[i], i
            if c == "\\":
                following = text[i + 1 : i + 2]
                if following != "\n":
                    parts.append(following if following in QUOTE_SPECIALS else c + following)
                i += 2
            elif c == "$" or c == "`":
                parts.append(self.expansion(True))
                i = self.at
            elif c == '"' and stop == "}":
                self.at += 1
                self.double_quoted()
                i = self.at
            elif c == "'":
                raise Unsure("a quote inside ${")
            else:
                parts.append(c)
                i += 1
        self.at = min(i, end)
        return "".join(parts)

    def expansion(self, quoted: bool) -> str:
        """What starts with `$` or a backquote; returns its known text, or DYNAMIC."""
        known: str = self.within((), lambda: self.expanded(quoted))
        return known

    def expanded(self, quoted: bool) -> str:
        text, i = self.text, self.at
        following = text[i + 1 : min(i + 2, self.end)]
        self.at = i + 2
        if text[i] == "`":
            self.backquoted(i + 1)
        elif text.startswith("$((", i, self.end):
            self.at = i + 3
            self.arithmetic()
        elif following == "(":
            self.substitution("$(")
        elif following == "{":
            if text[i + 2 : i + 3] in (" ", "\t", "\n", "|"):
                raise Unsure("a command inside ${")
            self.expansions("}", BRACE_SPECIALS)
            self.expect("}", "an open ${")
        elif following == "'" and not quoted:
            self.at = self.closing("'", i + 2) + 1
            raw = text[i + 2 : self.at - 1]
            return DYNAMIC if "\\" in raw else raw
        elif following == '"' and not quoted:
            self.double_quoted()
        elif following in NAME_CHARACTERS and following not in DIGITS:
            while self.at < self.end and text[self.at] in NAME_CHARACTERS:
                self.at += 1
        elif following == "[" or text.startswith("\\\n", i + 1, self.end):
            raise Unsure("an unusual expansion")
        elif following not in SPECIAL_PARAMETERS:
            self.at = i + 1
            return "$"
        return DYNAMIC

    def arithmetic(self) -> None:
        """The rest of `((…))`."""
        depth = 0
        while self.at < self.end:
            c = self.text[self.at]
            if c == "$" or c == "`":
                self.expansion(True)
                continue
            if c in "'\"\\\n":
                raise Unsure("a quote or newline inside ((")
            if c == ")" and not depth:
                break
            depth += (c == "(") - (c == ")")
            self.at += 1
        self.expect("))", "(( that is no arithmetic")

    def substitution(self, kind: str) -> None:
        """The rest of `$(…)`, `<(…)` or `>(…)`."""
        start, outer, before, self.pending = self.at, self.pending, self.before, []
        self.body(kind, (")",))
        if self.pending or outer and self.text.find("\n", start, self.at) >= 0:
            raise Unsure("a here-document across a substitution")
        self.pending, self.before = outer, before

    def backquoted(self, start: int) -> None:
        """The rest of a backquoted command. An escape would change what is read inside."""
        end, outer, before, self.before = self.closing("`", start), self.nest, self.before, "`"
        if self.text.find("\\", start, end) >= 0:
            raise Unsure("a backslash inside backquotes")
        self.nest = outer + ("`",)
        self.inside(start, end, self.list)
        self.nest, self.before, self.at = outer, before, end + 1

    def inside(self, start: int, end: int, read: Callable[[], str]) -> None:
        """Run `read` over text[start:end] alone."""
        outer, pending, self.at, self.end, self.pending = self.end, self.pending, start, end, []
        read()
        if self.at < end or self.pending or pending and read == self.list:
            raise Unsure("an unusual command")
        self.end, self.pending = outer, pending


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 4 · guard
# Knows programs: what class a command is of, which shape it has, what may be put in front of it. Never does I/O of any kind.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

COMMAND_LIMIT = 4 * KIB  # longer commands are not read

# What running a command amounts to, lightest first: a line is as heavy as its heaviest part. Then its class in the words of
# DESIGN §7, and what `reason` says when nothing is captured.
KINDS = ("bounded", "content", "search", "report", "live", "unknown", "mutation")
CLASSES = {"content": "noisy", "search": "noisy", "report": "noisy", "live": "unknown"}  # the others are classes themselves
REASONS = {
    "bounded": "prints little", "content": "a read, which this host keeps", "search": "a search, which this host keeps",
    "report": "", "live": "runs until it is stopped, or elsewhere", "unknown": "not known", "mutation": "changes something",
}  # fmt: skip

# The table of programs: rules, each followed by the indented names it holds for. A name is a program, `program/subcommand` or, for
# Python modules, `-m/module`. It is searched as text: a dictionary of this size takes longer to load than a command to judge.
#
# A rule starts with one of
#   KIND                  what running it amounts to
#   sub BARE OTHER        a subcommand decides; BARE is the kind without one, OTHER of those not listed (`script`: see `by_name`)
#   wrap N BARE           runs the command behind its own options and N operands (`=`: behind assignments); BARE if there is none
#   left                  the same, but nothing may be put in front of it
#   exec N                the same, and what it runs may also be a file or a script of the project
#   targets BARE OTHER    operands are targets, whose names decide: BARE without any, OTHER of names that say nothing; `first`: the
#                         others are no targets
#   script                runs the file that its first operand names
#   python, shell, java, find, xargs, ctx    what these do
# then come options that take a value (they hide an operand), then WORD|WORD>KIND: with one of these words it is KIND instead. Of
# the words, `-x` is an option, `-x*` a letter in a group of short options, `-#` a dash and digits, `@` any operand, `@2` a second
# one, anything else that operand. What agents run most stands first.
ROWS = """\
bounded:
    uniq, cut, tr, tsort, shuf, nproc, seq, factor, base64, base32, md5sum, sha1sum, sha256sum, sha512sum, shasum, md5, cksum,
    sum, b2sum, wc, stat, file, which, whereis, basename, dirname, realpath, readlink, pwd, cal, whoami, id, groups, who, last,
    uname, hostname, uptime, free, df, arch, tty, echo, printf, true, false, test, expr, sleep, pgrep, pidof, nslookup, dig, host,
    whois, ifconfig, getconf, lscpu, sw_vers, numfmt, tput, clear, bc, dc, iconv, envsubst, mktemp, vmstat, iostat, lsb_release,
    apt-cache, java_home, pkg-config, llvm-config, python-config, cygpath, wslpath,
search -c*|-q*|--count|--quiet|--silent|--count-matches>bounded --files>content:
    grep, egrep, fgrep, zgrep, ugrep, ag, ack, rg, git/grep,
bounded -R*|--recursive|--tree|-T>content:
    ls, gls, exa, eza, lsd, dir, vdir,
content -q|--brief|-s>bounded -i|--in-place>mutation:
    cat, bat, batcat, nl, tac, less, more, zcat, gzcat, bzcat, xzcat, xxd, od, hexdump, hd, strings, nm, objdump, readelf, otool,
    size, ldd, diff, colordiff, sdiff, cmp, comm, column, pr, fold, fmt, rev, paste, join, expand, man, info, tldr, difft, delta,
    xmllint, pdfinfo, ffprobe, mediainfo, identify, csvlook, csvcut, csvstat, xsv, mlr, gron,
bounded -f*|-F*|--follow|--retry>live:
    head, tail,
content -i*|--in-place>mutation -n*|--quiet|--silent>bounded:
    sed, gsed,
find:
    find, gfind, bfs, fd, fdfind,
sub bounded unknown -C -c --git-dir --work-tree --namespace --exec-path --config-env:
    git,
bounded -d|--delete>mutation:
    git/status, git/rev-parse, git/describe, git/merge-base, git/symbolic-ref, git/check-ignore, git/var, git/name-rev,
    git/count-objects, git/diff-files, git/diff-index, git/check-attr, git/show-branch, git/help, git/version, git/verify-commit,
    git/cherry, git/merge-tree,
content -#|-n|-n*|--max-count|--count|-q|--quiet>bounded expire|delete>mutation --output>mutation:
    git/log, git/shortlog, git/whatchanged, git/reflog, git/rev-list,
content --stat|--name-only|--name-status|--shortstat|--numstat|--quiet|--check|-s|--no-patch|--summary|--dirstat>bounded
  --output>mutation:
    git/diff, git/show, git/range-diff, git/diff-tree,
shell:
    bash, sh, dash, zsh, ksh, mksh, ash,
python -W -X --check-hash-based-pycs:
    python, pypy,
report --pdb|--trace|--looponfail>live --snapshot-update>mutation:
    pytest, py.test, nose2, nosetests, green, stestr, trial, behave, robot, ward, -m/unittest, -m/doctest, -m/test, runtests.py,
    run_tests.py, runtests,
sub bounded script -C --dir --prefix -w --workspace --loglevel --userconfig --registry --filter -F --cache --reporter:
    npm, pnpm,
targets content unknown first -w --workspace --prefix -C --filter -F --cwd --fix|--write|-u|--updateSnapshot>mutation
  --watch|--watchAll>live:
    npm/run, npm/run-script, npm/rum, npm/urn, pnpm/run, pnpm/run-script, yarn/run, bun/run, deno/task, composer/run,
    composer/run-script,
sub bounded unknown -C:
    go,
report -fix>mutation:
    staticcheck, revive, golint, gosec, govulncheck, errcheck, ineffassign, gocyclo, gocritic, nilaway, misspell, go/test,
    go/build, go/vet,
targets report report -C --directory -f --file --makefile -I --include-dir -o -W -n|--dry-run|--just-print|-p>content:
    make, remake, nmake, mingw32-make, bmake,
xargs -I -n -P -L -d -s -a -E --max-args --max-procs --delimiter --replace --arg-file:
    xargs, gxargs,
wrap 1 bounded -k --kill-after -s --signal:
    timeout, gtimeout,
mutation:
    rm, rmdir, unlink, mv, cp, install, ln, mkdir, touch, chmod, chown, chgrp, truncate, shred, split, csplit, dd, scp, rclone,
    bunzip2, unxz, unzstd, zip, cpio, ar, strip, ranlib, objcopy, codesign, mkfifo, mknod, setfacl, chattr, aria2c, yt-dlp,
    ffmpeg, convert, magick, kill, pkill, killall, reboot, shutdown, poweroff, halt, useradd, usermod, userdel, groupadd, adduser,
    deluser, chsh, mkfs, fdisk, parted, umount, swapon, insmod, modprobe, iptables, ufw, nft, defaults, ldconfig,
    update-alternatives, add-apt-repository, apt-key, ssh-keygen, ssh-copy-id, ssh-add, certbot, mkcert, createdb, dropdb, initdb,
    pg_restore, pg_dump, mysqldump, mongodump, mongorestore, tee, sponge, rename, dos2unix, unix2dos, write, mail, sendmail,
    logger, pbcopy, xclip, xsel,
script --test|--run>report --check|-c>report -e|-p|--eval|--print|-pe>unknown -v>bounded
  --watch|-i|--interactive|--inspect-brk>live -r --require --import --loader --experimental-loader -C --conditions --env-file:
    node,
content -i>mutation:
    awk, gawk, mawk, nawk,
content -i|--in-place|--inplace>mutation:
    jq, yq, xq, tomlq,
report --watch|--watchAll|--ui|--debug>live -u|--updateSnapshot|--update-snapshots|--update>mutation:
    jest, ava, tap, tape, jasmine, karma, qunit, uvu, tsd, wdio, testcafe, stryker, web-test-runner, wtr, vitest/run,
    vitest/bench, vitest/related, vitest/list, playwright/test, cypress/run, ng/e2e, react-scripts/test, craco/test, npm/test,
    npm/t, npm/tst, pnpm/test, pnpm/t, yarn/test, bun/test, deno/test, deno/bench, bats, shellspec, gotestsum, rspec, cucumber,
    phpunit, pest, paratest, codecept, infection, prove, ctest, busted,
report release|publish|deploy>mutation:
    tox, nox,
report --watch|-w|--inspect|--inspect-brk>live:
    mocha, _mocha,
sub report report --watch|-w|--ui>live -u|--update>mutation:
    vitest,
sub report report --watch>live:
    ginkgo,
live:
    vitest/watch, vitest/dev, ginkgo/watch, playwright/codegen, playwright/show-report, playwright/show-trace, playwright/open,
    cypress/open, pytest-watch, ptw, nodemon, concurrently, http-server, serve, live-server, json-server, browser-sync,
    ts-node-dev, tsnd, node-dev, forever, pm2, entr, watchexec, watchman, fswatch, inotifywait, onchange, air, reflex, bacon,
    guard, foreman, honcho, overmind, sphinx-autobuild, uvicorn, gunicorn, hypercorn, daphne, waitress-serve, streamlit, locust,
    ipython, bpython, ptpython, irb, pry, jshell, iex, erl, ghci, utop, evcxr, gore, anvil, ganache, dlv, gdb, lldb, pdb, pudb,
    rdbg,
sub bounded unknown:
    playwright, cypress, manage.py, django-admin, setup.py, biome, rome, dprint, taplo, lefthook, pre-commit, golangci-lint,
    sqlfluff, redocly, buf, spectral, conftest, bazel, buck, buck2, pants, goreleaser, cargo/nextest, wasm-pack, trunk, dx,
    prisma, drizzle-kit, knex, supabase, mix, rebar3, gleam, stack, cabal, spago, opam, nimble, shards, crystal, dub, raco, zig,
    forge, hardhat, truffle, anchor, scarb, lake, moon, dune, dotnet, ansible-galaxy, nix, jupyter, dbt, alembic, celery, mlflow,
    dvc, fnm, volta,
mutation:
    playwright/install, playwright/uninstall, playwright/install-deps, cypress/install, manage.py/migrate,
    manage.py/makemigrations, manage.py/loaddata, manage.py/flush, manage.py/collectstatic, manage.py/createsuperuser,
    django-admin/startproject, setup.py/install, setup.py/develop, setup.py/upload, setup.py/clean, biome/init, biome/migrate,
    pre-commit/install, pre-commit/autoupdate, pre-commit/clean, pre-commit/gc, lefthook/install, lint-staged, husky,
    golangci-lint/migrate, golangci-lint/cache, sqlfluff/fix, sqlfluff/format, buf/generate, buf/push, buf/format, bazel/clean,
    bazel/sync, bazel/fetch, pants/fmt, pants/fix, goreleaser/release, prisma/migrate, prisma/db, prisma/format, prisma/init,
    drizzle-kit/push, drizzle-kit/migrate, drizzle-kit/generate, knex/migrate:latest, supabase/db, -m/venv, -m/virtualenv,
    virtualenv, -m/ensurepip, -m/zipapp, wrangler/deploy, wrangler/publish, ng/add, ng/update, ng/generate, ng/new, turbo/login,
    turbo/link, nx/generate, nx/g, nx/migrate, nx/reset, nx/release, lerna/publish, lerna/version, rush/install, rush/update,
    rush/publish, changeset, semantic-release, np, release-it, standard-version, create-react-app, degit, ginkgo/bootstrap,
    ginkgo/generate, meson/install, meson/dist, meson/wrap, meson/init, meson/rewrite, meson/subprojects, alembic/upgrade,
    alembic/downgrade, alembic/revision,
live:
    manage.py/runserver, manage.py/shell, manage.py/dbshell, django-admin/runserver, biome/start, prisma/studio,
    drizzle-kit/studio, supabase/start, flask/run, flask/shell, celery/worker, mlflow/ui, mlflow/server, jupyter/notebook,
    jupyter/lab, jupyter-lab, jupyter-notebook, -m/http.server, -m/pdb, -m/code, -m/asyncio, -m/idlelib, -m/uvicorn, -m/streamlit,
    -m/notebook, -m/IPython, next/dev, next/start, vite/dev, vite/serve, vite/preview, ng/serve, nuxt/dev, nuxt/preview, nuxi/dev,
    astro/dev, astro/preview, storybook/dev, start-storybook, react-scripts/start, craco/start, vue-cli-service/serve, expo/start,
    wrangler/dev, gatsby/develop, gatsby/serve, remix/dev, react-router/dev, docusaurus/start, docusaurus/serve, vitepress/dev,
    vuepress/dev, trunk/serve, dx/serve, mix/phx.server, mix/run, stack/ghci, stack/repl, cabal/repl, rebar3/shell, hardhat/node,
report:
    coverage/report, coverage/html, coverage/xml, coverage/json, coverage/lcov, coverage/combine, coverage/annotate,
    manage.py/test, manage.py/check, django-admin/test, django-admin/check, setup.py/test, setup.py/build, setup.py/build_ext,
    setup.py/check, setup.py/sdist, setup.py/bdist_wheel, -m/compileall, -m/py_compile, -m/tabnanny, -m/build, -m/timeit,
    pyproject-build, cibuildwheel, auditwheel, pyinstaller, nuitka, cython, cythonize, mypyc, check-manifest, validate-pyproject,
    pre-commit/run, lefthook/run, dprint/check, taplo/check, taplo/lint, mdl, golangci-lint/config, golangci-lint/linters,
    sqlfluff/lint, redocly/lint, redocly/bundle, buf/lint, buf/build, buf/breaking, spectral/lint, conftest/test, conftest/verify,
    trivy, grype, snyk, osv-scanner, cppcheck, cpplint, cmakelint, include-what-you-use, flawfinder, splint, gcovr, lcov, gcov,
    hyperfine, bazel/build, bazel/test, bazel/coverage, buck/build, buck/test, buck2/build, buck2/test, pants/test, pants/lint,
    pants/check, pants/package, autoreconf, autoconf, automake, configure, autogen.sh, qmake, goreleaser/check, goreleaser/build,
    cargo/nextest/run, cargo/nextest/list, wasm-pack/test, wasm-pack/build, trunk/build, dx/build, prisma/validate, dbt/test,
    dbt/compile, dbt/parse, jupyter/nbconvert, npm/doctor, pip/check, twine/check, nunit3-console, vstest.console, xunit.console,
    mstest, make/all, poetry/check, poetry/build, pdm/build, hatch/build, hatch/test, rye/test, rye/lint, rye/build, pipenv/check,
    flit/build, uv/build, bundle/check, vitepress/build, vuepress/build,
report --fix|--autofix|--write-changes|--install-types|--init>mutation --watch|-w>live:
    mypy, dmypy, pyright, basedpyright, pyre, pytype, ty, pylint, flake8, pyflakes, pycodestyle, pydocstyle, bandit, vulture,
    radon, xenon, prospector, pylama, interrogate, refurb, deptry, lint-imports, safety, pip-audit, codespell, semgrep, pydoclint,
    eslint, oxlint, tslint, standard, xo, stylelint, markdownlint, markdownlint-cli2, htmlhint, jshint, semistandard, textlint,
    solhint, ls-lint, commitlint, cspell, alex, knip, depcheck, madge, ts-prune, publint, attw, size-limit, dpdm, license-checker,
    shellcheck, checkbashisms, yamllint, hadolint, actionlint, zizmor, ansible-lint, tflint, tfsec, checkov, terrascan, kubeval,
    kubeconform, kube-linter, kube-score, cfn-lint, dockle, vale, proselint, lychee, markdown-link-check, protolint, jsonlint,
    ajv, squawk, editorconfig-checker, checkmake, gitleaks, trufflehog, lizard, jscpd, hlint, luacheck, selene, perlcritic,
    statix, deadnix, slither, next/lint, typos,
sub report report --fix|--add-noqa>mutation --watch|-w>live:
    ruff,
report --fix|--fix-only|--add-noqa>mutation --watch|-w>live:
    ruff/check,
mutation:
    ruff/clean,
content:
    ruff/rule, ruff/linter, ruff/config,
mutation --check|--check-only|--diff|-c|-d|--lint|--dry-run|--test|--set-exit-if-changed|--verify-no-changes>report
  --in-place|-i>mutation:
    ruff/format, hatch/fmt, black, isort, yapf, autopep8, autoflake, docformatter, pyupgrade, djlint, mdformat, usort, ufmt,
    dprint/fmt, taplo/fmt, taplo/format, golangci-lint/fmt, stylua, ormolu, fourmolu, nixfmt, alejandra, rustfmt, leptosfmt,
    scalafmt, ktfmt, google-java-format, cmake-format, gersemi, buildifier, csharpier, elm-format, pint, ecs, rector, phpcbf,
    cargo/fmt, dotnet/format, deno/fmt, mix/format, gleam/format, zig/fmt, forge/fmt, dune/fmt, dart/format, scarb/fmt,
mutation check|--dry-run>report:
    php-cs-fixer,
mutation -check>report:
    terraform/fmt,
report --write|--fix|--apply|--apply-unsafe|--apply-suggested|--unsafe>mutation:
    biome/check, biome/lint, biome/ci, biome/format, rome/check, rome/ci,
report --fix>mutation:
    golangci-lint/run, cargo/clippy,
content -w>mutation -l|-d>report:
    gofmt, goimports, gofumpt, golines, shfmt,
content --write|-w>mutation --check|-c|-l|--list-different>report:
    prettier, prettierd,
report --fix|-fix|--fix-errors|-fix-errors>mutation:
    clang-tidy,
content -i>mutation --dry-run|-n>report:
    clang-format, astyle,
report -a|-A|-x|--autocorrect|--autocorrect-all|--auto-correct|--auto-correct-all|--fix|--auto-gen-config>mutation:
    rubocop, standardrb, erblint, erb_lint, haml-lint, reek, brakeman, steep, srb, bundler-audit, bundle-audit,
report --alter|--generate-baseline|--set-baseline>mutation:
    phpstan, psalm, phpcs, phpmd, phan, deptrac, parallel-lint, phpmetrics,
report -F|--format|--auto-correct>mutation:
    ktlint, detekt, checkstyle, pmd, spotbugs, scalafix, scalastyle,
report --fix|--autocorrect|autocorrect|fix|--in-place|-i>mutation:
    swiftlint,
mutation --lint|lint>report:
    swiftformat, swift-format,
report -E|-dM>content -dumpversion|-dumpmachine|-print-search-dirs>bounded:
    gcc, g++, cc, c++, clang, clang++, clang-cl, icc, icx, nvcc, hipcc, tcc, ld, ld.lld, mold, emcc, em++, gfortran, gnatmake, as,
    nasm, yasm, dmd, ldc2, gdc, fpc, ghc, valac, odin, nim, ccache, sccache, rustc, swiftc, kotlinc, scalac, groovyc, csc, mcs,
    fsharpc, javac, ecj, javadoc, protoc, flatc, thrift, capnp, bison, yacc, flex, elm, ocamlopt, ocamlc, ocamlbuild, erlc,
    elixirc, solc, vyper, coqc,
targets report report -C -f -k -d -buildfile -file -t>content:
    ninja, samu, scons, waf, xmake, tup, redo, premake5, b2, ant,
live:
    make/run, make/up, make/logs, make/bash, ant/run,
report --install|-E|-P>unknown install>mutation --open>live -N|-LA|-L>content:
    cmake,
sub report report -C:
    meson,
content:
    meson/introspect, bazel/query, bazel/cquery, bazel/aquery, bazel/info, bazel/version, manage.py/showmigrations,
    manage.py/sqlmigrate, manage.py/diffsettings, manage.py/inspectdb, -m/json.tool, -m/dis, -m/tokenize, -m/ast, -m/inspect,
    -m/site, -m/sysconfig, -m/platform, -m/calendar, -m/pydoc, -m/zipfile, -m/tarfile, -m/base64, nx/graph, nx/show, nx/report,
    nx/list, turbo/ls, go/doc, go/list, cargo/tree, cargo/metadata, cargo/search, cargo/info, cargo/locate-project, cargo/pkgid,
    cargo/expand, go/mod/graph, go/mod/why, go/mod/verify, dotnet/list, dotnet/help, alembic/history, alembic/current,
    flask/routes,
wrap 0 unknown -o --output --log-file --suppressions -e:
    valgrind, scan-build, strace, ltrace,
report --watch|-w|-watch>live --init>mutation --showConfig|--listFilesOnly>content:
    tsc, tsgo, vue-tsc, svelte-check, ngc, api-extractor,
report --watch|-w|--serve|--servedir|--open|watch|serve|server|dev|start>live
  publish|generate|g|new|install|add|init|deploy>mutation:
    webpack, webpack-cli, rspack, rollup, rolldown, esbuild, tsup, tsdown, unbuild, microbundle, swc, babel, ncc, sass, lessc,
    postcss, tailwindcss, stylus, browserify, uglifyjs, terser, electron-builder, build-storybook, rsbuild, electron-vite, vinxi,
    svelte-kit, eleventy, father, umi, stencil, quasar, ember, ionic,
sub live unknown -c --config -m --mode --port --host:
    vite, next, nuxt, nuxi, astro, parcel, storybook, gatsby, remix, react-router, docusaurus, vitepress, vuepress, expo, ng,
    wrangler, react-scripts, craco, vue-cli-service,
report --watch|-w>live --fix>mutation:
    vite/build, next/build, next/typegen, nuxt/build, nuxt/generate, nuxt/typecheck, nuxi/build, nuxi/typecheck, astro/build,
    astro/check, parcel/build, storybook/build, gatsby/build, remix/build, remix/vite:build, react-router/build,
    react-router/typecheck, docusaurus/build, expo/export, ng/build, ng/lint, wrangler/types, react-scripts/build, craco/build,
    vue-cli-service/build,
live --watch=false|--no-watch>report:
    ng/test,
sub bounded script --cwd --filter -F:
    turbo,
targets bounded unknown first -c --configuration:
    nx,
targets bounded unknown -C -f --file -p --project --base --head --cwd -d --dir:
    lerna, rush, lage, gulp, grunt, jake, mage, task, just, invoke, inv, doit, poe, nps, run-s, run-p, npm-run-all, fab, thor,
targets report unknown -f -I -r:
    rake,
targets unknown unknown -F --filter --projects --scope --base --head:
    turbo/run, nx/run, nx/run-many, nx/affected, lerna/run, moon/run,
wrap = bounded -f -e:
    cross-env, cross-env-shell, env-cmd,
report serve|server|preview|watch|--watch|-w|-s>live deploy|gh-deploy|publish|new>mutation:
    sphinx-build, mkdocs, jekyll, hugo, zola, mdbook, doxygen, jupyter-book, quarto, asciidoctor, antora,
report -pvc|watch>live:
    pdflatex, xelatex, lualatex, latex, tectonic, bibtex, biber, latexmk, typst, makeindex,
sub bounded unknown:
    coverage,
python --source --omit --include --rcfile --context --concurrency --data-file:
    coverage/run,
wrap 0 bounded -r --reporter -x --exclude -n --include:
    c8, nyc,
sub bounded mutation --python --proxy --log --cache-dir:
    pip, pipx,
content set|unset|edit>mutation:
    pip/list, pip/show, pip/freeze, pip/index, pip/debug, pip/config, pip/inspect, pip/hash, pipx/list, pipx/environment,
exec --spec --python --index-url:
    pipx/run,
sub bounded mutation --directory --project --config-file --cache-dir --color:
    uv,
exec --with --with-editable --with-requirements --extra --group --only-group --no-group -p --python --package --env-file
  --directory --project --index --index-url --extra-index-url --from -e --env --environment -m|--module|--script|-s>unknown:
    uv/run, uvx, uv/tool/run, rye/run, pdm/run, pixi/run, pipenv/run, poetry/run, hatch/run,
sub bounded mutation:
    uv/tool, uv/python, uv/cache, uv/self, uv/pip, rustup, gh/pr, gh/issue, gh/run, gh/repo, gh/release, gh/workflow, gh/auth,
    gh/secret, gh/label, gh/gist, gh/cache, gh/project, gh/variable, gh/org, gh/codespace, gh/extension, gh/alias, gh/config,
    glab/mr, glab/issue, glab/ci, glab/repo, glab/release, git/remote, git/worktree, git/submodule, git/lfs, git/notes,
    git/bundle, git/bisect, git/sparse-checkout, git/rerere, git/svn, git/maintenance, git/subtree, go/mod, go/work, hg, svn, jj,
    fossil, p4, sl, gem,
content:
    uv/tool/list, uv/tool/dir, uv/python/list, uv/python/find, uv/python/dir, uv/cache/dir, uv/tree, uv/version, uv/self/version,
    uv/pip/list, uv/pip/show, uv/pip/freeze, uv/pip/tree, uv/pip/check, rustup/show, rustup/which, rustup/doc, rustup/check,
sub bounded mutation -C --directory -P --project -p:
    poetry, pdm, hatch, rye, pixi, pipenv, flit,
content --unset|create|remove|prune|use>mutation @2>mutation:
    poetry/show, poetry/env, poetry/config, poetry/version, poetry/about, pdm/list, pdm/info, pdm/show, pdm/config, hatch/env,
    hatch/version, hatch/status, rye/show, rye/list, pixi/list, pixi/info, pipenv/graph,
live:
    poetry/shell, pipenv/shell, hatch/shell, pixi/shell,
sub bounded mutation:
    maturin, twine,
report:
    maturin/build,
sub bounded unknown --app -A:
    flask,
script --test>report -e|-p|--eval>unknown watch|--watch>live -r --require --import --tsconfig -P -O:
    tsx, ts-node, esno, jiti, vite-node, babel-node,
sub mutation script --cwd --registry --cache-folder:
    yarn,
sub live script --cwd -c --config --env-file:
    bun,
sub live unknown --config -c:
    deno,
report --watch>live:
    deno/check, deno/lint, deno/compile, deno/doc, deno/coverage, bun/build,
exec --include --from --exclude -j --jobs:
    yarn/workspaces/foreach, yarn/workspaces/run, pnpm/recursive/run, composer/exec,
sub bounded script --include --from --exclude -j:
    yarn/workspaces, pnpm/recursive,
exec 1:
    yarn/workspace,
wrap 1 bounded:
    direnv/exec, aws-vault/exec,
exec -p --package -w --workspace --prefix -c|--call>unknown:
    npm/exec, npm/x, npx, pnpm/exec, pnpm/dlx, pnpx, yarn/exec, yarn/dlx, bunx, bun/x,
report fix|--fix>mutation:
    npm/audit, pnpm/audit, yarn/audit, npm/outdated, pnpm/outdated, yarn/outdated,
content set|delete|fix|edit|add|rm|clean|remove|prune>mutation:
    npm/ls, npm/list, npm/ll, npm/la, npm/view, npm/info, npm/show, npm/v, npm/search, npm/explain, npm/why, npm/help, npm/root,
    npm/prefix, npm/bin, npm/config, npm/get, npm/query, npm/whoami, npm/ping, npm/pkg, npm/dist-tag, npm/diff, npm/cache,
    npm/fund, pnpm/ls, pnpm/list, pnpm/why, pnpm/config, pnpm/root, pnpm/bin, pnpm/store, pnpm/licenses, yarn/list, yarn/why,
    yarn/info, yarn/config, yarn/bin, yarn/licenses, bun/pm, bun/outdated, bun/why, bun/info, bun/audit, deno/info, deno/outdated,
    deno/types,
mutation:
    npm/install, npm/i, npm/in, npm/add, npm/ci, npm/clean-install, npm/uninstall, npm/remove, npm/rm, npm/r, npm/un, npm/update,
    npm/up, npm/upgrade, npm/link, npm/ln, npm/unlink, npm/publish, npm/unpublish, npm/version, npm/deprecate, npm/init,
    npm/create, npm/pack, npm/dedupe, npm/ddp, npm/prune, npm/rebuild, npm/login, npm/logout, npm/adduser, npm/owner, npm/access,
    npm/token, npm/set, npm/shrinkwrap, npm/edit, npm/install-test, npm/it, pnpm/install, pnpm/i, pnpm/add, pnpm/remove, pnpm/rm,
    pnpm/uninstall, pnpm/un, pnpm/update, pnpm/up, pnpm/upgrade, pnpm/link, pnpm/unlink, pnpm/publish, pnpm/import, pnpm/init,
    pnpm/create, pnpm/pack, pnpm/prune, pnpm/rebuild, pnpm/rb, pnpm/fetch, pnpm/deploy, pnpm/patch, pnpm/patch-commit, pnpm/setup,
    pnpm/env, pnpm/self-update, pnpm/dedupe, yarn/install, yarn/add, yarn/remove, yarn/up, yarn/upgrade, yarn/upgrade-interactive,
    yarn/link, yarn/unlink, yarn/publish, yarn/init, yarn/create, yarn/pack, yarn/version, yarn/set, yarn/plugin, yarn/import,
    yarn/cache, yarn/global, yarn/dedupe, yarn/rebuild, yarn/npm, yarn/patch, yarn/login, yarn/logout, bun/install, bun/i,
    bun/add, bun/a, bun/remove, bun/rm, bun/update, bun/link, bun/unlink, bun/create, bun/c, bun/init, bun/publish, bun/upgrade,
    bun/patch, deno/install, deno/add, deno/remove, deno/cache, deno/upgrade, deno/init, deno/publish, deno/uninstall, deno/clean,
live:
    npm/start, npm/restart, npm/stop, pnpm/start, yarn/start, bun/repl, deno/repl, deno/serve, deno/jupyter,
content -w|-u>mutation:
    go/env,
bounded:
    go/version, go/help,
mutation:
    go/get, go/install, go/fmt, go/generate, go/clean, go/fix,
sub bounded unknown --manifest-path -C --config -Z --color --target-dir:
    cargo, cross,
report --fix>mutation --open>live init>mutation:
    cargo/test, cargo/t, cargo/build, cargo/b, cargo/check, cargo/c, cargo/bench, cargo/doc, cargo/d, cargo/rustc, cargo/rustdoc,
    cargo/tarpaulin, cargo/llvm-cov, cargo/miri, cargo/audit, cargo/deny, cargo/outdated, cargo/machete, cargo/udeps,
    cargo/semver-checks, cargo/hack, cargo/package, cargo/vet, cargo/geiger, cargo/mutants, cross/test, cross/build, cross/check,
mutation:
    cargo/fix, cargo/add, cargo/remove, cargo/rm, cargo/install, cargo/uninstall, cargo/update, cargo/publish, cargo/yank,
    cargo/owner, cargo/login, cargo/logout, cargo/new, cargo/init, cargo/clean, cargo/vendor, cargo/generate-lockfile,
    cargo/fetch, cargo/release, cargo/upgrade, cargo/generate, cargo/binstall,
live:
    cargo/watch,
targets report report -f --file -pl --projects -P --activate-profiles -s --settings -gs -t --toolchains -l --log-file -rf
  --resume-from -T --threads -b -v>bounded:
    mvn,
report:
    mvn/install, mvn/package, mvn/verify, mvn/site, mvn/validate, mvn/initialize, gradle/installDist, gradle/assembleDist,
mutation:
    mvn/deploy, mvn/release:prepare, mvn/release:perform, mvn/jib:build, mvn/jib:dockerBuild, mvn/archetype:generate,
    mvn/wrapper:wrapper, mvn/spotless:apply, gradle/wrapper, gradle/init, gradle/spotlessApply, gradle/ktlintFormat,
live:
    mvn/spring-boot:run, mvn/jetty:run, mvn/tomcat7:run, mvn/quarkus:dev, gradle/run, gradle/bootRun, gradle/quarkusDev,
targets content report -p --project-dir -b --build-file -c --settings-file -x --exclude-task --tests -I --init-script -g
  --project-cache-dir --max-workers --console -v>bounded --stop>mutation -t|--continuous>live:
    gradle,
content:
    gradle/tasks, gradle/projects, gradle/dependencies, gradle/properties, gradle/help, gradle/dependencyInsight,
targets live unknown -J -D:
    sbt, lein, mill, bleep,
java -cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports -m --module
  -version|-fullversion>bounded:
    java,
script -e>unknown -cp -classpath:
    scala, kotlin, groovy,
mutation tf|tvf|-tf|-tvf|--list|-t>content:
    jar,
report:
    dotnet/test, dotnet/build, dotnet/msbuild, dotnet/vstest, dotnet/publish, dotnet/pack, msbuild, xbuild,
mutation list>content:
    dotnet/restore, dotnet/add, dotnet/remove, dotnet/new, dotnet/tool, dotnet/nuget, dotnet/clean, dotnet/sln, dotnet/workload,
    dotnet/ef, dotnet/dev-certs, dotnet/user-secrets, nuget, paket,
live:
    dotnet/watch, dotnet/fsi,
script -c>report -e>unknown -v>bounded -I -r -C -E -W:
    ruby,
sub bounded script:
    rails,
report:
    rails/test, rails/test:all, rails/test:system, rails/spec, rails/zeitwerk:check, rails/assets:precompile, artisan/test,
    artisan/dusk, composer/validate, composer/audit, composer/diagnose, composer/check-platform-reqs, composer/test,
live:
    rails/server, rails/s, rails/console, rails/c, rails/dbconsole, rails/db, artisan/serve, artisan/tinker, artisan/queue:work,
    artisan/queue:listen, artisan/schedule:work, artisan/horizon,
mutation:
    rails/generate, rails/g, rails/destroy, rails/d, rails/new, rails/runner, rails/db:migrate, rails/db:rollback, rails/db:seed,
    rails/db:setup, rails/db:reset, rails/db:create, rails/db:drop, rails/db:prepare, artisan/migrate, artisan/db:seed,
    artisan/config:cache, artisan/cache:clear, artisan/key:generate, artisan/vendor:publish, artisan/storage:link,
content:
    rails/routes, rails/about, rails/stats, rails/notes, rails/db:version, rails/db:migrate:status, artisan/route:list,
    artisan/about,
sub mutation mutation --gemfile:
    bundle,
wrap 0 bounded:
    bundle/exec,
content set|unset|--global|--local|--delete>mutation:
    bundle/list, bundle/show, bundle/info, bundle/outdated, bundle/config, bundle/env, bundle/platform, bundle/doctor, gem/list,
    gem/search, gem/info, gem/which, gem/env, gem/environment, gem/contents, gem/dependency, gem/outdated, gem/specification,
    gem/help,
script -l>report -v>bounded -S|-a>live -r|-B|-R>unknown -i|-m|--ini>content -d -c -f -z:
    php,
sub content script:
    artisan,
sub bounded script -d --working-dir:
    composer,
mutation --list|-l>content:
    composer/install, composer/update, composer/require, composer/remove, composer/dump-autoload, composer/dumpautoload,
    composer/create-project, composer/init, composer/global, composer/self-update, composer/config, composer/i, composer/u,
    composer/upgrade, composer/bump,
content:
    composer/show, composer/info, composer/outdated, composer/why, composer/depends, composer/licenses, composer/list,
    composer/search, composer/status, composer/suggests, composer/fund, composer/prohibits, composer/why-not,
script -c>report -i*>mutation -e*|-E*>unknown -d>live -I -M -m:
    perl,
sub live unknown --package-path:
    swift,
report -exportArchive|-downloadPlatform>mutation -list|-showBuildSettings|-showsdks>content --fix|--update-goldens>mutation:
    swift/test, swift/build, xcodebuild, xctest, flutter/test, flutter/analyze, flutter/build, flutter/doctor, flutter/drive,
    dart/test, dart/analyze, dart/compile, dart/doc,
mutation list|outdated|describe|dump-package|show-dependencies|deps>content plugin>unknown:
    swift/package, pod, carthage, flutter/pub, flutter/clean, flutter/create, flutter/upgrade, flutter/config, flutter/install,
    dart/pub, dart/fix, dart/create, flutter/gen-l10n,
sub live unknown:
    flutter, dart,
live:
    flutter/run, flutter/attach, flutter/logs, dart/devtools,
report --watch|-w|--file-watch>live --fix|--auto-promote|--auto>mutation:
    mix/test, mix/compile, mix/credo, mix/dialyzer, mix/sobelow, mix/docs, mix/coveralls, rebar3/eunit, rebar3/ct, rebar3/compile,
    rebar3/dialyzer, rebar3/xref, gleam/test, gleam/build, gleam/check, stack/test, stack/build, stack/bench, stack/haddock,
    cabal/test, cabal/build, cabal/bench, cabal/check, cabal/haddock, spago/test, spago/build, nimble/test, nimble/build,
    shards/build, dub/test, dub/build, dub/lint, raco/test, raco/make, zig/build, zig/test, zig/ast-check, zig/build-exe,
    zig/build-lib, forge/test, forge/build, forge/coverage, forge/lint, hardhat/test, hardhat/compile, hardhat/coverage,
    truffle/test, truffle/compile, anchor/test, anchor/build, scarb/test, scarb/build, lake/build, lake/test, dune/build,
    dune/test, dune/runtest, crystal/spec, crystal/build, moon/test, moon/check, moon/build,
mutation list|show>content:
    mix/deps.get, mix/deps.update, mix/ecto.migrate, mix/ecto.create, mix/ecto.drop, mix/ecto.reset, mix/ecto.setup, mix/new,
    mix/phx.new, mix/hex.publish, mix/clean, mix/archive.install, mix/local.hex, rebar3/clean, rebar3/upgrade, rebar3/new,
    gleam/add, gleam/publish, stack/install, stack/upgrade, stack/clean, cabal/install, cabal/update, cabal/init, cabal/clean,
    opam/install, opam/update, opam/upgrade, opam/init, opam/switch, nimble/install, shards/install, shards/update, dub/add,
    dub/fetch, zig/init, zig/fetch, forge/install, forge/script, forge/create, dune/clean, dune/promote, dune/install, raco/pkg,
    anchor/deploy,
content:
    mix/deps, mix/help, mix/hex.info, mix/phx.routes, mix/app.tree, mix/deps.tree, opam/list, opam/show, dune/describe,
    forge/tree,
script -e*|-c|-E*|--eval|--command|-Command>unknown -L -J:
    R, Rscript, julia, lua, luajit, tclsh, guile, racket, sbcl, octave, osascript, pwsh, powershell, swipl, fennel, nu, raku,
sub bounded unknown -H --host -c --context --config -l --log-level:
    docker,
report --push>mutation:
    docker/build, docker/buildx/build, docker/buildx/bake, docker/compose/build, docker/image/build, docker-compose/build,
    docker/compose/config, docker-compose/config, buildah/bud, buildah/build, packer/validate,
content prune>mutation -f|--follow>live:
    docker/ps, docker/images, docker/version, docker/info, docker/port, docker/diff, docker/history, docker/search,
    docker/inspect, docker/system, docker/top, docker/logs, docker/compose/logs, docker-compose/logs, docker/compose/ps,
    docker/compose/images, docker/compose/top, docker/compose/ls, docker/compose/version, docker-compose/ps,
unknown ls|list|inspect>content
  rm|remove|prune|create|connect|disconnect|push|pull|tag|kill|stop|start|restart|deploy|update|scale>mutation:
    docker/container, docker/volume, docker/network, docker/context, docker/builder, docker/manifest, docker/plugin,
    docker/service, docker/stack, docker/node, docker/secret, docker/config,
sub unknown unknown:
    docker/image, docker/buildx, buildah, packer,
mutation:
    docker/pull, docker/push, docker/rm, docker/rmi, docker/stop, docker/kill, docker/restart, docker/cp, docker/tag,
    docker/commit, docker/create, docker/load, docker/save, docker/import, docker/login, docker/logout, docker/rename,
    docker/update, docker/pause, docker/unpause, docker/start, docker/compose/down, docker/compose/stop, docker/compose/start,
    docker/compose/restart, docker/compose/rm, docker/compose/pull, docker/compose/push, docker/compose/create,
    docker/compose/kill, docker-compose/down, docker-compose/stop, docker-compose/restart, docker-compose/pull, docker/image/rm,
    docker/image/prune, docker/image/pull,
content:
    docker/image/ls, docker/image/inspect, docker/image/history, docker/buildx/ls, docker/buildx/inspect,
sub bounded unknown -f --file -p --project-name --profile --env-file --project-directory --context:
    docker/compose, docker-compose,
live -d|--detach>mutation:
    docker/compose/up, docker-compose/up,
sub bounded unknown -n --namespace --context --kubeconfig:
    kubectl, oc, helm, istioctl, argocd, flux, kustomize, skaffold, minikube, kind,
content -w|--watch|-f|--follow>live use-context|set-context|set|unset|delete-context>mutation:
    kubectl/get, kubectl/describe, kubectl/explain, kubectl/api-resources, kubectl/version, kubectl/cluster-info, kubectl/top,
    kubectl/auth, kubectl/config, kubectl/logs, kubectl/diff, oc/get, oc/describe, oc/logs, helm/list, helm/ls, helm/status,
    helm/get, helm/history, helm/show, helm/search, helm/template, helm/version, helm/env, kustomize/build, minikube/status,
mutation status|history|list>content:
    kubectl/apply, kubectl/delete, kubectl/create, kubectl/patch, kubectl/edit, kubectl/scale, kubectl/rollout, kubectl/label,
    kubectl/annotate, kubectl/drain, kubectl/cordon, kubectl/taint, kubectl/cp, kubectl/replace, kubectl/set, kubectl/expose,
    kubectl/run, oc/apply, oc/delete, helm/install, helm/upgrade, helm/uninstall, helm/rollback, helm/repo, helm/dependency,
    helm/push, helm/pull, helm/package, helm/create, flux/reconcile, minikube/start, minikube/delete,
report:
    helm/lint,
sub bounded unknown -chdir:
    terraform, terragrunt,
report -out>mutation:
    terraform/plan, terraform/validate, terragrunt/plan, terragrunt/validate,
mutation list|show>content:
    terraform/apply, terraform/destroy, terraform/init, terraform/import, terraform/taint, terraform/untaint, terraform/state,
    terraform/workspace, terraform/get, terragrunt/apply, terragrunt/destroy,
content:
    terraform/show, terraform/output, terraform/providers, terraform/graph, terraform/version,
live:
    terraform/console,
mutation --check|--syntax-check|--list-tasks|--list-hosts>report status|global-status|list>content ssh>live:
    ansible-playbook, ansible, salt, puppet, chef-client, vagrant, cdk, pulumi, serverless, sls, vercel, netlify, firebase,
    heroku, fly, flyctl, eas, surge, gh-pages,
report update|lock>mutation show|metadata>content:
    nix-build, nix/build, nix/flake,
content:
    git/blame, git/annotate, git/ls-files, git/ls-tree, git/ls-remote, git/cat-file, git/for-each-ref, git/show-ref, git/fsck,
    git/stash/show,
bounded -a|-r|-v|-vv|--all|--remotes|--list|-l|--contains|--merged|--no-merged|--show-current|--points-at>bounded
  -d|-D|-m|-M|-c|-C|-u|-f|--delete|--move|--copy|--set-upstream-to|--unset-upstream|--force|--edit-description>mutation
  @>mutation:
    git/branch,
bounded -l|--list|-n|--contains|--points-at|--merged>bounded -d|-a|-s|-f|--delete>mutation @>mutation:
    git/tag,
bounded --get|--get-all|--get-regexp|--list|-l|get|list>bounded
  --unset|--unset-all|--add|--replace-all|-e|--edit|set|unset>mutation @2>mutation:
    git/config,
bounded:
    git/remote/show, git/remote/get-url, git/worktree/list, git/submodule/status, git/submodule/summary, git/stash/list,
    git/bundle/verify, git/lfs/ls-files, git/lfs/status, git/notes/show, git/notes/list, git/bisect/log,
unknown:
    git/submodule/foreach, git/bisect/run,
sub mutation mutation:
    git/stash,
mutation:
    git/add, git/commit, git/push, git/pull, git/fetch, git/clone, git/checkout, git/switch, git/restore, git/reset, git/revert,
    git/merge, git/rebase, git/cherry-pick, git/rm, git/mv, git/init, git/gc, git/prune, git/clean, git/am, git/apply,
    git/format-patch, git/archive, git/filter-branch, git/filter-repo, git/update-index, git/update-ref, git/replace, git/repack,
    git/hash-object, git/mergetool, git/difftool, git/read-tree, git/write-tree, git/commit-tree, git/pack-refs, git/send-email,
sub bounded unknown -R --repo:
    gh, glab, hub,
content --watch|--web|-w>live:
    gh/pr/list, gh/pr/view, gh/pr/diff, gh/pr/status, gh/pr/checks, gh/issue/list, gh/issue/view, gh/issue/status, gh/run/list,
    gh/run/view, gh/repo/list, gh/repo/view, gh/release/list, gh/release/view, gh/workflow/list, gh/workflow/view, gh/auth/status,
    gh/secret/list, gh/label/list, gh/gist/list, gh/gist/view, gh/cache/list, gh/project/list, gh/project/view, gh/variable/list,
    gh/org/list, gh/extension/list, gh/alias/list, gh/config/list, gh/config/get, gh/status, gh/search, glab/mr/list,
    glab/mr/view, glab/mr/diff, glab/issue/list, glab/issue/view, glab/ci/list, glab/ci/view, glab/ci/status, glab/repo/view,
    glab/release/list,
live:
    gh/run/watch, gh/browse, gh/codespace/ssh, glab/ci/trace,
content -X|--method|-f|-F|--field|--raw-field|--input>mutation:
    gh/api, glab/api,
bounded @2>mutation:
    hg/status, hg/st, hg/summary, hg/branch, hg/branches, hg/id, svn/status, svn/st, svn/info, jj/status, jj/st, sl/status,
content -l|--limit|--stat>bounded:
    hg/log, hg/diff, hg/annotate, hg/cat, hg/grep, hg/files, svn/log, svn/diff, svn/blame, svn/cat, svn/list, svn/ls, jj/log,
    jj/diff, jj/show, sl/log, sl/diff,
search -U|--update-all>mutation:
    ast-grep,
content -L|-s*|--summarize|--max-depth|-d>bounded add|del|set>mutation:
    tree, locate, plocate, du, dust, lsof, ps, pstree, printenv, ss, netstat, ip, lsblk, mount, dmesg, lspci, lsusb, lsmod,
    getent,
content -o|--output>mutation:
    pandoc,
bounded -o|--output>mutation:
    sort,
bounded -s|--set>mutation:
    date,
wrap 0 bounded -n --adjustment:
    nice,
wrap 0 bounded -c --class -n --classdata -p|--pid>unknown:
    ionice,
wrap 1 bounded -p|--pid>unknown:
    taskset,
wrap 0 bounded:
    nohup, unbuffer, eatmydata, catchsegv, chronic, caffeinate, dbus-run-session, setarch, linux64, linux32,
wrap 0 bounded -i --input -o --output -e --error:
    stdbuf,
wrap 0 bounded -f --format -o --output:
    time, gtime,
wrap 0 bounded -e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args -w --wait:
    xvfb-run,
wrap 1 bounded -f:
    faketime,
wrap 0 bounded -v|-V>bounded:
    command,
wrap = content -u --unset -C --chdir -S|--split-string>unknown:
    env,
sub bounded unknown -n --name -p --prefix -C --cd:
    mise, rtx, asdf, rbenv, pyenv, nodenv, jenv, goenv, direnv, devbox, conda, doppler, op, infisical, dotenvx, aws-vault,
wrap 0 bounded -f --env-file -e --env -c --config -p --project --using -n --name --prefix --cwd:
    mise/exec, mise/x, rbenv/exec, pyenv/exec, nodenv/exec, asdf/exec, devbox/run, doppler/run, op/run, infisical/run,
    dotenvx/run, volta/run, fnm/exec, conda/run, dotenv,
content create|remove|update|--set|--add|--remove>mutation:
    conda/list, conda/info, conda/env, conda/config, conda/search, pyenv/versions, pyenv/version, rbenv/versions, mise/ls,
    mise/current, asdf/list, asdf/current, volta/list, fnm/list,
mutation:
    conda/install, conda/create, conda/update, conda/remove, conda/uninstall, conda/clean, conda/init, pyenv/install,
    rbenv/install, mise/install, mise/use, asdf/install, asdf/plugin, asdf/global, asdf/local, volta/install, fnm/install,
    devbox/add,
left -u --user -g --group -h --host -p --prompt -C -T -U -r -t -c -w:
    sudo, doas, su, runuser, setsid, flock, script, unshare, nsenter, chroot, fakeroot, firejail, bwrap, systemd-run, parallel,
    rlwrap,
live:
    watch, screen, tmux, zellij, ssh, mosh, telnet, ftp, sftp, nc, ncat, netcat, socat, top, htop, btop, atop, glances, vi, vim,
    nvim, view, nano, emacs, emacsclient, ed, ex, micro, helix, hx, pico, code, cursor, subl, gedit, kate, idea, zed, mc, ranger,
    lf, nnn, lazygit, lazydocker, tig, gitk, fzf, dialog, whiptail, passwd, visudo, yes, open, xdg-open, claude, codex, gemini,
    aider, copilot, opencode, traceroute, mtr, tcpdump, redis-server, mongod, postgres, mysqld, apache2, httpd, caddy, dockerd,
    containerd, etcd, minio, ngrok, cloudflared,
live:
    docker/exec, docker/attach, docker/stats, docker/events, docker/compose/exec, docker/compose/run, docker-compose/exec,
    docker-compose/run, kubectl/exec, kubectl/attach, kubectl/port-forward, kubectl/proxy, kubectl/debug, oc/exec, oc/rsh,
live -t|-v|-V|-T>bounded -s>mutation:
    nginx,
live -c>bounded:
    ping,
ctx:
    ctx, ctx.py, ctx.pyc, ctx.pyz,
sub bounded mutation -t -o -c:
    apt, apt-get, aptitude, yum, dnf, microdnf, zypper, apk, yay, paru, emerge, brew, port, snap, flatpak, choco, scoop, winget,
    pkg, opkg,
content start|stop|restart|run>mutation:
    apt/list, apt/search, apt/show, apt/policy, apt/depends, apt/changelog, dnf/list, dnf/search, dnf/info, dnf/repolist,
    yum/list, yum/search, yum/info, apk/info, apk/search, apk/list, brew/list, brew/ls, brew/info, brew/search, brew/outdated,
    brew/deps, brew/config, brew/doctor, brew/leaves, brew/uses, brew/desc, brew/cat, brew/services, snap/list, snap/info,
    snap/find, flatpak/list, flatpak/search, zypper/search, zypper/info, choco/list, winget/list, winget/search, port/installed,
    port/search,
mutation -Q*|-Ss|-Si>content:
    pacman,
mutation -l|-L|-s|-S|--list|--listfiles|--status|--search|-c|-I|--print-architecture|--get-selections>content:
    dpkg,
mutation -q*>content:
    rpm,
mutation list|search|show|info>content:
    luarocks, cpan, cpanm, vcpkg, conan, tlmgr,
mutation -l|-Z|-t|-v|l|t>content:
    unzip, 7z, 7za, unrar,
mutation --list|-t|-tf|-tvf|-tzf|-tzvf|-tjf|-tJf|tf|tvf|tzf|tzvf|tjf|tJf>content:
    tar, bsdtar, gtar,
mutation -c|-l|-t|--stdout|--list|--test|-dc|-cd>content:
    gunzip, gzip, bzip2, xz, zstd,
mutation -n|--dry-run|--list-only>content:
    rsync,
mutation --dry-run>report:
    patch,
mutation status|is-active|is-enabled|list-units|list-unit-files|list|show|cat|--status-all>content:
    systemctl, service, launchctl, supervisorctl, loginctl,
content -f|--follow>live -n*|--lines>bounded --vacuum-size|--vacuum-time|--rotate>mutation:
    journalctl,
mutation -l>bounded:
    crontab,
unknown
  -o|-O|--output|--remote-name|-T|--upload-file|-d|--data|--data-raw|--data-binary|--data-urlencode|--json|-F|--form|POST|PUT|PATCH|DELETE>mutation:
    curl, http, https, xh,
mutation --spider>bounded -O-|-qO->unknown:
    wget,
"""

# Programs that go by several names.
ALIASES = {
    "mvnw": "mvn", "mvnd": "mvn", "gradlew": "gradle", "gmake": "make", "nodejs": "node", "py": "python", "podman": "docker",
    "nerdctl": "docker", "mamba": "conda", "micromamba": "conda", "bazelisk": "bazel", "ninja-build": "ninja", "ripgrep": "rg",
    "ggrep": "grep", "rgrep": "grep", "ug": "ugrep", "sg": "ast-grep", "tofu": "terraform", "eslint_d": "eslint",
    "phpunit.phar": "phpunit", "composer.phar": "composer",
}  # fmt: skip

# Words in the names of targets, scripts and script files (`make build-docs`, `npm run test:unit`, `./run_tests.sh`). One of the
# first two sets decides wherever it stands; of LEADING the first word that occurs does.
MUTATING = frozenset(
    "deploy publish push upload install uninstall migrate migration migrations seed drop destroy delete remove commit"
    " bump upgrade update fix write apply fmt format prettify generate gen codegen init create new scaffold reset sync"
    " download fetch setup bootstrap provision rollback tag purge".split()
)
WATCHING = frozenset("watch serve server".split())
LEADING = dict.fromkeys("start dev develop preview storybook repl shell console".split(), "live")
LEADING["release"] = "mutation"
LEADING.update(
    dict.fromkeys(
        "test tests testing spec specs unittest unittests unit e2e integration functional acceptance smoke regression"
        " build compile bundle dist package assemble jar lint linter linting check checks typecheck tsc type types"
        " verify validate ci coverage cov cover bench benchmark benchmarks pytest jest vitest mocha eslint mypy ruff"
        " clippy vet analyze analyse audit doc docs javadoc runtests".split(),
        "report",
    )
)
CHECKING = frozenset("check checks verify diff dry ci".split())  # with one of these, those of REVISING only look
REVISING = frozenset("fmt format prettify fix update write".split())
SCRIPT_ENDINGS = frozenset(("", "sh", "bash", "zsh", "rb", "bat", "cmd", "ps1"))  # files whose names are read as targets' are
SCRIPT_RULE = "unknown --fix|--write>mutation --watch|--watchAll>live"

BUILTINS = frozenset(
    ". : [ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs"
    " disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile"
    " popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type"
    " typeset ulimit umask unalias unset wait print whence where rehash setopt unsetopt autoload emulate zmodload vared"
    " noglob nocorrect repeat foreach".split()
)
BUILTIN_KINDS = dict.fromkeys(("eval", ".", "source", "exec", "noglob", "nocorrect", "repeat", "foreach"), "unknown")
DECLARING = frozenset("export declare typeset local readonly".split())
UNSETTLING = frozenset("eval exec alias unalias enable emulate autoload setopt".split())  # nothing behind these is certain
UNSETTLING_WITH = {"shopt": "expand_aliases", "unset": "PATH", "hash": "-p"}  # nor behind these, with that word
ACTIVATING = frozenset("conda mamba micromamba nvm sdk workon module deactivate".split())  # shell functions that change PATH
SOURCEABLE = frozenset("activate nvm.sh conda.sh env env.sh .env .envrc .env.local .env.test".split())  # define no program's name
REACHING = frozenset("LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PYTHONHOME".split())

SINKS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))  # targets that are no files
TRIMS = frozenset("head tail cat grep egrep fgrep rg ag ack ugrep sed gsed cut less more".split())  # only shorten a stream of lines
CUTS = frozenset("head tail wc sed gsed".split())  # leave little of any stream
ASKING = frozenset(("-h", "-V", "-version"))  # alone behind a program
EXECUTING = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
EXECUTING_FD = frozenset(("-x", "-X", "--exec", "--exec-batch"))

# Loop-shapes, each with the rung that it is for.
SHAPES = {"identifier-search": "reuse-index", "pattern-search": "bounded-search", "suite": "failure-slice"}
SEARCHES = frozenset("grep egrep fgrep ugrep rg ag ack git/grep".split())
SEARCH_VALUES = frozenset(
    "-e -f -A -B -C -m -d -D -g -t -T -j -M --regexp --file --include --exclude --exclude-dir --glob --type --max-count --context"
    " --after-context --before-context --max-depth".split()
)
SUITES = frozenset(
    "pytest -m/unittest tox nox jest vitest vitest/run mocha npm/test pnpm/test yarn/test bun/test deno/test go/test cargo/test"
    " cargo/nextest/run ctest rspec phpunit pest dotnet/test swift/test mix/test flutter/test playwright/test rails/test bats"
    " prove".split()
)
SELECTORS = tuple("-k -m -t -run --lf --ff --last-failed --grep -g --filter --tests -E -R --test --testNamePattern".split())
WHOLE = frozenset(". ./... tests tests/ test test/ spec spec/ discover ./tests ./test".split())  # operands that select nothing


class Facts:
    """What the hook knows without looking far.

    `program` is the text that starts ctx in the executing shell. `shadowed` are names that this shell takes for functions or
    aliases, and `executable(name)` says whether it finds a program on its PATH. `mode` is the host's permission mode, `background`
    its flag for a command that it does not wait for. `unknown` is the setting `[guard] unknown`. `reads` says that on this host
    reads and searches, too, must be captured before they run.
    """

    __slots__ = ("program", "shadowed", "executable", "mode", "background", "unknown", "reads")

    def __init__(self, program: str = "ctx", shadowed: FrozenSet[str] = frozenset(), executable: Callable[[str], bool] = bool,
                 mode: str = "", background: bool = False, unknown: str = "leave", reads: bool = False) -> None:  # fmt: skip
        self.program, self.shadowed, self.executable = program, shadowed, executable
        self.mode, self.background, self.unknown, self.reads = mode, background, unknown, reads


class Reading:
    """What an argv amounts to: its `kind`, the `rule` (a name in ROWS) that says so, the segments `inside` a shell text it runs."""

    __slots__ = ("kind", "rule", "inside")

    def __init__(self, kind: str, rule: str = "", inside: Sequence[Segment] = ()) -> None:
        self.kind, self.rule, self.inside = kind, rule, inside


class Segment:
    """One command of a line.

    `argv` holds its words, DYNAMIC for what is not known (none for a compound command); `program` is the first as ROWS knows it.
    `behind` tells what takes its output: "" nothing, "trims" filters that only shorten it, "computes" anything else; `cut`, that
    little of it is left then. `why` says what kept an insertion away, "" where none was wanted or one was made.
    """

    __slots__ = ("command", "argv", "program", "kind", "rule", "inside", "behind", "cut", "why")

    def __init__(self, command: Command, reading: Reading) -> None:
        self.command = command
        self.argv = [word.text for word in command.words]
        self.program = program_name(self.argv[0]) if self.argv else ""
        self.kind, self.rule, self.inside = reading.kind, reading.rule, reading.inside
        self.behind = self.why = ""
        self.cut = False


class Verdict:
    """The judgment of one command line.

    `cls` is its class, `shape` the loop-shape that it has ("" for none) and `rung` the rung for that shape. `edits` are insertions
    (offset, text) in ascending order; `reason` says in a few words what they do, or why there are none.
    """

    __slots__ = ("cls", "shape", "rung", "edits", "reason", "segments")

    def __init__(self, cls: str, reason: str, segments: Sequence[Segment] = (), shape: str = "") -> None:
        self.cls, self.reason, self.segments = cls, reason, segments
        self.shape, self.rung = shape, SHAPES.get(shape, "")
        self.edits: List[Tuple[int, str]] = []


# the table


class Rule:
    """A rule of ROWS: its `kind`, further `args`, options that take a value (`valued`), the kinds that words `switch` it to.

    `groups` says that letters in groups of short options are among these words.
    """

    __slots__ = ("kind", "args", "valued", "switches", "groups")

    def __init__(self, text: str) -> None:
        self.kind, *tokens = text.split()
        self.args: List[str] = []
        self.valued: List[str] = []
        self.switches: Dict[str, str] = {}
        for token in tokens:
            words, switch, kind = token.partition(">")
            if switch:
                self.switches.update(dict.fromkeys(words.split("|"), kind))
            elif token.startswith("-"):
                self.valued.append(token)
            else:
                self.args.append(token)
        self.groups = any(word.endswith("*") for word in self.switches)

    def operand(self, argv: Sequence[str], i: int) -> int:
        """The index of the first operand at or behind argv[i]; len(argv) if there is none."""
        while i < len(argv):
            word = argv[i]
            if word == "--":
                return i + 1
            if word == "-" or not word.startswith(("-", "+")):
                return i
            i += 2 if word in self.valued else 1
        return len(argv)

    def switched(self, words: Sequence[str]) -> str:
        """The heaviest kind that `words` switch this rule to, "" if they don't."""
        if not self.switches:
            return ""
        kinds: List[str] = []
        operands = 0
        skip = False
        for word in words:
            if skip:
                skip = False
                continue
            option, equals, value = word.partition("=")
            found = [word, option] if equals and value != "false" else [word]
            if word.startswith("-") and word != "-":
                skip = word in self.valued
                if word[1:].isdigit():
                    found.append("-#")
                elif self.groups and word[1] != "-":
                    found.extend("-%s*" % letter for letter in word[1:])
            else:
                operands += 1
            kinds.extend(self.switches[key] for key in found if key in self.switches)
        return heaviest(kinds) or operands > 1 and self.switches.get("@2") or operands and self.switches.get("@") or ""


def heaviest(kinds: Sequence[str]) -> str:
    """The heaviest of some kinds, "" of none."""
    return max(kinds, key=KINDS.index) if kinds else ""


RULES: Dict[str, Optional[Rule]] = {}  # those of the names that were asked for


def rule_for(name: str) -> Optional[Rule]:
    """The rule that ROWS has for `name`."""
    if name not in RULES:
        hit = -1 if " " in name or "," in name else ROWS.find(" %s," % name)
        stop = ROWS.rfind(":\n", 0, hit + 1)
        RULES[name] = Rule(ROWS[ROWS.rfind(",\n", 0, stop) + 1 : stop]) if hit >= 0 else None
    return RULES[name]


def program_name(word: str) -> str:
    """The name under which ROWS knows a program: no directory, ending, version or alias. "" if it cannot be known."""
    name = word[word.rfind("/") + 1 :]
    if DYNAMIC in name:
        return ""
    if name.endswith((".exe", ".cmd", ".bat")):
        name = name[:-4]
    name = ALIASES.get(name, name)
    if name[-1:] in DIGITS and rule_for(name) is None:
        bare = name.rstrip("0123456789.").rstrip("-")
        name = ALIASES.get(bare, bare)
    return name


# what an argv amounts to


def classify(argv: Sequence[str], depth: int = 0) -> Reading:
    """What running `argv` amounts to. Words hold DYNAMIC where they are not known; aliases and functions are not considered."""
    name = program_name(argv[0])
    if not name or depth > 8:
        return Reading("unknown")
    reading = by_rule(name, argv, depth)
    if reading is None:
        if "/" not in argv[0] and name in BUILTINS:
            return Reading(builtin_kind(argv), name)
        reading = script_file(argv)
    if "--help" in argv or reading.kind != "mutation" and ("--version" in argv or len(argv) == 2 and argv[1] in ASKING):
        reading.kind = "bounded"
    return reading


def by_rule(name: str, argv: Sequence[str], depth: int) -> Optional[Reading]:
    """`argv` read by the rule for `name`, None if ROWS has none."""
    rule = rule_for(name)
    if rule is None:
        return None
    strategy = STRATEGIES.get(rule.kind)
    return strategy(name, rule, argv, depth + 1) if strategy else Reading(rule.switched(argv[1:]) or rule.kind, name)


def by_subcommand(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """A program with subcommands."""
    i = rule.operand(argv, 1)
    bare, other = rule.args
    if i == len(argv):
        return Reading(rule.switched(argv[1:]) or bare, name)
    if DYNAMIC in argv[i]:
        return Reading("unknown", name)
    if argv[i] == "help":
        return Reading("bounded", name)
    reading = by_rule("%s/%s" % (name, argv[i]), argv[i:], depth)
    if reading is None and other == "script":
        return by_name(argv[i:], depth)
    return reading or Reading(rule.switched(argv[1:]) or other, name)


def inner_command(rule: Rule, argv: Sequence[str]) -> int:
    """The index of the command that the wrapper argv[0] runs; len(argv) if there is none."""
    i = rule.operand(argv, 1)
    skipped = rule.args[0] if rule.args else "0"
    if skipped == "=":
        while i < len(argv) and (argv[i] == "-" or "=" in argv[i]):
            i += 1
        return i
    return min(i + int(skipped), len(argv))


def by_wrapper(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """A program that runs another one as it is."""
    i = inner_command(rule, argv)
    kind = rule.switched(argv[1:i]) or (rule.args[1] if i == len(argv) else "")
    return Reading(kind, name) if kind else classify(argv[i:], depth)


def by_exec(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """A runner of projects, such as `npx` or `poetry run`."""
    i = inner_command(rule, argv)
    kind = rule.switched(argv[1:i]) or ("bounded" if i == len(argv) else "")
    return Reading(kind, name) if kind else by_name(argv[i:], depth)


def by_left(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """A wrapper that nothing may be put in front of."""
    i = inner_command(rule, argv)
    inner = classify(argv[i:], depth).kind if i < len(argv) else ""
    return Reading("mutation" if inner == "mutation" else "live", name)


def by_xargs(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """xargs: what it runs."""
    i = inner_command(rule, argv)
    return Reading(classify(argv[i:], depth).kind if i < len(argv) else "bounded", name)


def by_targets(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """A program whose operands are targets: as heavy as the heaviest of them."""
    bare, other = rule.args[:2]
    kinds: List[str] = []
    i = rule.operand(argv, 1)
    cleans = False
    while i < len(argv):
        target = argv[i]
        if target == "clean":
            cleans = True
        elif "=" not in target:
            listed = rule_for("%s/%s" % (name, target))
            kinds.append(listed.kind if listed else target_kind(target, other))
        i = len(argv) if "first" in rule.args else rule.operand(argv, i + 1)
    kind = heaviest(kinds) or ("mutation" if cleans else bare)
    return Reading(kind if kind == "mutation" else rule.switched(argv[1:]) or kind, name)


def by_name(argv: Sequence[str], depth: int) -> Reading:
    """What a runner of projects (`npx`, `poetry run`, `yarn`) runs: a program, a file, or a script that only the project knows."""
    name = argv[0]
    bare = program_name(name[: name.find("@", 1)] if "@" in name[1:] else name)  # npx tool@version
    reading = by_rule(bare, [bare, *argv[1:]], depth) if bare and bare not in BUILTINS else None
    if reading is None and ("/" in name or "." in name or not bare):
        reading = script_file(argv)
    return reading or Reading(Rule(SCRIPT_RULE).switched(argv[1:]) or target_kind(name, "unknown"), "script")


def by_script(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """An interpreter, by its options or the file that it runs."""
    i = rule.operand(argv, 1)
    kind = rule.switched(argv[1 : i + 1])
    if kind or i == len(argv):
        return Reading(kind or "live", name)
    return run_file(argv[i:], depth)


def run_file(argv: Sequence[str], depth: int) -> Reading:
    """A file that an interpreter runs."""
    return by_rule(program_name(argv[0]), argv, depth) or script_file(argv)


def by_python(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """Python: a module, a text or a file."""
    i = 1
    while i < len(argv) and argv[i].startswith("-") and argv[i] != "-":
        word = argv[i]
        letter = "" if word.startswith(("--", "-W", "-X")) else next((c for c in word[1:] if c in "cmiV"), "")
        if letter == "m":
            attached = word[word.index("m") + 1 :]
            rest = [attached, *argv[i + 1 :]] if attached else argv[i + 1 :]
            module = rest[0] if rest else ""
            return by_rule("-m/" + module, rest, depth) or by_rule(module, rest, depth) or Reading("unknown", name)
        if letter:
            return Reading({"c": "unknown", "i": "live", "V": "bounded"}[letter], name)
        i += 2 if word in rule.valued else 1
    if i >= len(argv):
        return Reading("live", name)
    return Reading("unknown", name) if argv[i] == "-" else run_file(argv[i:], depth)


def by_java(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """Java: a test runner if its class or archive is called so."""
    i = rule.operand(argv, 1)
    main = argv[i].lower() if i < len(argv) else ""
    return Reading(rule.switched(argv[1:]) or ("report" if "junit" in main or "testng" in main else "unknown"), name)


def by_find(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """find and fd: a listing, unless they delete or run something."""
    kinds = ["content"]
    executing = EXECUTING_FD if name.startswith("fd") else EXECUTING
    i = 1
    while i < len(argv):
        if argv[i] in executing:
            j = i + 1
            while j < len(argv) and argv[j] not in (";", "+"):
                j += 1
            kinds.append(classify(argv[i + 1 : j], depth).kind if j > i + 1 else "unknown")
            i = j
        elif argv[i] == "-delete" or argv[i].startswith(("-fprint", "-fls")):
            kinds.append("mutation")
        i += 1
    return Reading(heaviest(kinds), name)


def by_ctx(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """ctx itself: a verb that executes is what it executes."""
    i = argv.index("--") + 1 if "--" in argv else len(argv)
    if i < len(argv):
        return Reading(classify(argv[i:], depth).kind, "ctx")
    return Reading("unknown" if argv[1:2] and argv[1] in ("run", "seq", "plan", "q") else "bounded", "ctx")


def shell_options(argv: Sequence[str]) -> Tuple[str, int]:
    """The short options of a shell's call, and the index of its first operand."""
    letters, i = "", 1
    while i < len(argv) and argv[i].startswith(("-", "+")) and argv[i] not in ("-", "--"):
        short = "" if argv[i].startswith("--") else argv[i][1:]
        letters += short
        i += 2 if "o" in short or "O" in short else 1
    return letters, min(i, len(argv))


def shell_text(argv: Sequence[str]) -> Optional[str]:
    """The command line that `sh -c TEXT` runs, None if argv is no such call. It may hold DYNAMIC."""
    letters, i = shell_options(argv)
    return argv[i] if "c" in letters and i < len(argv) else None


def by_shell(name: str, rule: Rule, argv: Sequence[str], depth: int) -> Reading:
    """A shell: the text it is given, or the file."""
    letters, i = shell_options(argv)
    if "n" in letters:
        return Reading("bounded", name)
    if i == len(argv):
        return Reading("live", name)
    if "c" not in letters:
        return run_file(argv[i:], depth)
    line = scan(argv[i])
    if line.unsure:
        return Reading("unknown", name)
    segments = read_line(line, depth)
    kind = "live" if any(segment.command.background for segment in segments) else heaviest_part(segments)
    return Reading(kind, "ctx" if any(segment.rule == "ctx" for segment in segments) else name, segments)


STRATEGIES: Dict[str, Callable[[str, Rule, Sequence[str], int], Reading]] = {
    "sub": by_subcommand, "wrap": by_wrapper, "left": by_left, "exec": by_exec, "targets": by_targets, "script": by_script,
    "python": by_python, "java": by_java, "find": by_find, "xargs": by_xargs, "ctx": by_ctx, "shell": by_shell,
}  # fmt: skip


def builtin_kind(argv: Sequence[str]) -> str:
    """The kind of a builtin that ROWS does not know."""
    name = argv[0]
    if name in (".", "source") and len(argv) > 1 and argv[1][argv[1].rfind("/") + 1 :] in SOURCEABLE:
        return "bounded"
    return BUILTIN_KINDS.get(name, "bounded")


def words_of(name: str) -> List[str]:
    """The words of a target's name, lower case: `:app:testDebug` → app, test, debug."""
    spaced = "".join(c if c.isalnum() and not c.isupper() else " " + c.lower() if c.isalnum() else " " for c in name)
    return spaced.split() if not name.isupper() else [name.lower()]


def target_kind(name: str, other: str) -> str:
    """What a target or script called `name` promises, `other` if its name says nothing."""
    if DYNAMIC in name:
        return "unknown"
    words = words_of(name)
    mutating = [word for word in words if word in MUTATING]
    if mutating and not (CHECKING.intersection(words) and REVISING.issuperset(mutating)):
        return "mutation"
    if name.startswith("~") or WATCHING.intersection(words):
        return "live"
    return next((LEADING[word] for word in words if word in LEADING), "report" if mutating else other)


def script_file(argv: Sequence[str]) -> Reading:
    """A file that ROWS does not know. A shell script is what its name promises."""
    path = argv[0]
    stem, dot, ending = path[path.rfind("/") + 1 :].rpartition(".")
    if not dot:
        stem, ending = ending, ""
    readable = ending in SCRIPT_ENDINGS and (dot or "/" in path)
    return Reading(target_kind(stem, "unknown") if readable else "unknown", "script" if readable else "")


# what a line amounts to


def read_line(line: Line, depth: int = 0) -> List[Segment]:
    """The commands of a line, each with what it amounts to where it stands."""
    segments = []
    for command in line.commands:
        argv = [word.text for word in command.words]
        segments.append(Segment(command, classify(argv, depth) if argv else Reading("bounded")))
    stages = {id(segment.command): segment for segment in segments}
    for segment in reversed(segments):  # the last stage of a pipeline first
        pipe, place = segment.command.pipe, segment.command.stage + 1
        if place < len(pipe):
            later = stages[id(pipe[place])]
            segment.behind = "trims" if only_trims(later) and later.behind != "computes" else "computes"
            segment.cut = later.cut or later.program in CUTS
    for segment in segments:
        filters = segment.command.stage and segment.rule not in ("find", "xargs")
        if segment.kind in ("content", "search") and (segment.cut or filters):
            segment.kind = "bounded"
        if segment.kind not in ("report", "live") and writes_file(segment.command):
            segment.kind = "mutation"
    return segments


def only_trims(segment: Segment) -> bool:
    """A pipeline's stage that passes lines on, only fewer or shorter."""
    if segment.program not in TRIMS or not plain_output(segment.command, ()):
        return False
    return (
        segment.kind in ("content", "search")
        or segment.kind == "bounded"
        and segment.program in ("head", "tail", "cut", "sed", "gsed")
    )


def writes_file(command: Command) -> bool:
    """A redirection writes something that stays."""
    for redirect in command.redirects:
        target = redirect.target.text
        if ">" in redirect.op and target not in SINKS and not (redirect.op == ">&" and (target.isdigit() or target == "-")):
            return True
    return False


def plain_output(command: Command, inputs: Sequence[str] = ("<", "<<", "<<-", "<<<")) -> bool:
    """The output of `command` goes where the line's goes. Errors may join it or be dropped, input may come by one of `inputs`."""
    for redirect in command.redirects:
        whole = redirect.fd + redirect.op + redirect.target.text
        if redirect.op not in inputs and whole not in ("2>&1", "2>/dev/null", "2>>/dev/null"):
            return False
    return True


def heaviest_part(segments: Sequence[Segment]) -> str:
    """The kind of a whole line."""
    return heaviest([segment.kind for segment in segments]) or "bounded"


def judge(text: str, facts: Facts) -> Verdict:
    """Judge a command line and say what to insert. Pure, total, linear in `text`."""
    if len(text) > COMMAND_LIMIT or not text.isascii() and len(text.encode("utf8", "surrogatepass")) > COMMAND_LIMIT:
        return Verdict("unknown", "longer than 4 KiB")
    line = scan(text)
    if line.unsure:
        return Verdict("unknown", "not understood: " + line.unsure)
    segments = read_line(line)
    kind = heaviest_part(segments)
    verdict = Verdict(CLASSES.get(kind, kind), "", segments, loop_shape(segments))
    if any(segment.rule == "ctx" for segment in segments):
        verdict.reason = "runs ctx already"
    elif facts.mode in ("plan", "auto"):
        verdict.reason = "the host is in mode " + facts.mode
    elif facts.background:
        verdict.reason = "runs in the background"
    else:
        find_insertions(line, facts, verdict)
        verdict.reason = verdict.reason or REASONS[kind]
    return verdict


def with_edits(text: str, edits: Sequence[Tuple[int, str]]) -> str:
    """`text` with the insertions made."""
    parts: List[str] = []
    done = 0
    for offset, inserted in edits:
        parts += (text[done:offset], inserted)
        done = offset
    return "".join(parts) + text[done:]


# what may be inserted


def find_insertions(line: Line, facts: Facts, verdict: Verdict) -> None:
    """Fill in `edits` and `reason` of a verdict on a line that may be edited."""
    surroundings = Surroundings(line, facts)
    done: List[str] = []
    for segment in verdict.segments:
        if wants_capture(segment, facts):
            segment.why = surroundings.obstacle(segment)
            if not segment.why:
                verdict.edits.append(surroundings.insertion(segment))
                done.append(segment.rule.replace("/", " ") or segment.argv[0])
        surroundings.follow(segment)
    reasons = [segment.why for segment in verdict.segments if segment.why]
    verdict.reason = "captures " + ", ".join(done) if done else "".join(reasons[:1])


def wants_capture(segment: Segment, facts: Facts) -> bool:
    """Its output is worth keeping, on this host and with these settings."""
    kind = segment.kind
    return kind == "report" or facts.reads and kind in ("search", "content") or facts.unknown == "capture" and kind == "unknown"


class Surroundings:
    """What the commands of a line, read in order, do to those behind them."""

    __slots__ = ("line", "facts", "functions", "unsettled", "path_changed", "status_read")

    def __init__(self, line: Line, facts: Facts) -> None:
        self.line = line
        self.facts = facts
        self.functions = frozenset(command.name for command in line.commands if command.kind == "function")
        self.unsettled = ""  # why nothing is certain any more
        self.path_changed = False  # so that asking for executables would ask in the wrong place
        self.status_read = any(word in line.text for word in ("PIPESTATUS", "pipestatus", "pipefail"))

    def follow(self, segment: Segment) -> None:
        """Note what `segment` changes for the rest of the line."""
        command, argv = segment.command, segment.argv
        name = argv[0] if argv else ""
        if name in UNSETTLING or UNSETTLING_WITH.get(name) in argv:
            self.unsettled = "%s may change what names mean" % name
        elif name in (".", "source"):
            self.path_changed = True
            if segment.kind != "bounded":
                self.unsettled = "a sourced file may change what names mean"
        elif name in ACTIVATING:
            self.path_changed = True
        elif not name or name in DECLARING:
            for word in command.words[1:] if name else command.assigns:
                self.unsettled = self.unsettled or self.assignment(word)
                self.path_changed = self.path_changed or word.text.startswith("PATH=")

    def assignment(self, word: Word) -> str:
        """Why a command that sees this assignment is left, "" if it may be edited."""
        raw = self.line.text[word.start : word.end]
        name = assigned_name(raw)
        if name == "CTX_OFF":
            return "CTX_OFF is set"
        if name in REACHING:
            return "%s would reach ctx too" % name
        return "PATH is replaced" if name == "PATH" and "$PATH" not in raw and "${PATH" not in raw else ""

    def obstacle(self, segment: Segment) -> str:
        """Why nothing may be inserted for `segment`, "" if it may."""
        command, raw = segment.command, self.line.text[segment.command.start : segment.command.end]
        if command.nest:
            return "inside " + command.nest[-1]
        if command.background:
            return "runs in the background"
        if self.unsettled:
            return self.unsettled
        assignments = next(filter(None, map(self.assignment, command.assigns)), "")
        if assignments:
            return assignments
        if "<(" in raw or ">(" in raw:
            return "has a process substitution"
        if not plain_output(command):
            return "its output is redirected"
        if segment.behind == "computes":
            return "a program computes from its output"
        if not segment.behind:
            return self.unprefixable(segment)
        if segment.kind != "report":
            return "its output is trimmed"
        return "the status of a pipeline is looked at" if self.status_read else ""

    def unprefixable(self, segment: Segment) -> str:
        """Why no program may be put in front of these words, "" if one may."""
        forced = segment.argv[0] == "command"
        name = segment.argv[1] if forced else segment.argv[0]
        if "/" in name:
            return ""
        ours = not forced and (name in self.functions or name in self.facts.shadowed)
        if ours or name in BUILTINS or DYNAMIC in name or name.startswith("-"):
            return "%s may be no program here" % name.replace(DYNAMIC, "…")
        changed = self.path_changed or any(word.text.startswith("PATH=") for word in segment.command.assigns)
        return "" if changed or self.facts.executable(name) else "no program %s here" % name

    def insertion(self, segment: Segment) -> Tuple[int, str]:
        command = segment.command
        if not segment.behind:
            first = command.words[1 if segment.argv[0] == "command" else 0]
            return first.start, self.facts.program + " run -- "
        text = " ".join(self.line.text[word.start : word.end] for word in command.assigns + command.words)
        return command.pipe[command.stage + 1].start, "%s tap --for %s | " % (self.facts.program, shell_quote(text))


def shell_quote(text: str) -> str:
    """`text` as one word of any POSIX shell."""
    return "'%s'" % text.replace("'", "'\\''")


# loop-shapes


def loop_shape(segments: Sequence[Segment]) -> str:
    """The first loop-shape among `segments` and those inside them, "" if there is none."""
    for segment in segments:
        if segment.inside:
            found = loop_shape(segment.inside)
        elif segment.rule in SEARCHES and not segment.command.stage:
            found = search_shape(segment)
        else:
            found = "suite" if segment.rule in SUITES and whole_suite(segment) else ""
        if found:
            return found
    return ""


def arguments_of(segment: Segment) -> List[str]:
    """The words behind the program, or the subcommand, that gave a segment its rule."""
    last = segment.rule[segment.rule.rfind("/") + 1 :]
    for i, word in enumerate(segment.argv):
        if program_name(word) == last:
            return segment.argv[i + 1 :]
    return []


def whole_suite(segment: Segment) -> bool:
    """A test run that selects nothing."""
    words = arguments_of(segment)
    return all(word in WHOLE or word.startswith("-") and not word.startswith(SELECTORS) for word in words)


def search_shape(segment: Segment) -> str:
    """The shape of a search through files: "" if it reads a stream or only files named one by one."""
    recursive = segment.rule not in ("grep", "egrep", "fgrep")
    pattern: Optional[str] = None
    paths: List[str] = []
    skip = ""
    for word in arguments_of(segment):
        if skip:
            pattern = word if skip in ("-e", "--regexp") else pattern
            skip = ""
        elif word.startswith("-") and word != "-":
            short = word[1:] if word[1:2] != "-" else ""
            recursive = recursive or "r" in short or "R" in short or word == "--recursive"
            skip = word if word in SEARCH_VALUES else "-e" if short.endswith("e") and len(short) > 1 else ""
        elif pattern is None:
            pattern = word
        else:
            paths.append(word)
    if pattern is None or not recursive or paths and all("." in path[path.rfind("/") + 1 :].lstrip(".") for path in paths):
        return ""
    names = pattern.replace("\\b", "").replace("\\|", "|").split("|")
    return "identifier-search" if all(name and NAME_CHARACTERS.issuperset(name) for name in names) else "pattern-search"


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 5 · permissions
# Knows a host's rules for what runs unasked, and applies them to an original command, more strictly than the host would. Never knows
# the JSON of a hook.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

SYSTEM = "/etc"  # where the machine's own settings stand, but for
CLAUDE_SYSTEM = "/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else ""
RULE_FILE_LIMIT = 256 * KIB  # a larger file of rules is not read
PARTS_LIMIT = 20  # commands of a line that may run unasked
LAYERS = 8  # shells inside shells that are looked into


class Permission:
    """What the host would do with a command line as it was typed.

    `decision` is "deny" or "ask" where a rule says so, about any part of the line or what its wrappers and shells run; "allow"
    where the user's own rules allow every part of it; "free" where the host runs it unasked by itself; "none" where the host would
    ask, judge for itself, or run it because its mode asks nobody. `rule` is what decided, as the user wrote it.
    """

    __slots__ = ("decision", "rule")

    def __init__(self, decision: str, rule: str = "") -> None:
        self.decision, self.rule = decision, rule


class Rules:
    """A host's rules for shell commands: `deny`, `ask` and `allow` hold [form, what it is compared with, what the user wrote].

    `unreadable` says that there is, or may be, a rule that is not known here, so that nothing may be allowed; `locked`, that no
    further rule may allow anything. `top` is the directory whose files the host reads unasked, `where` the working directory.
    """

    __slots__ = ("deny", "ask", "allow", "unreadable", "locked", "where", "top")

    def __init__(self, deny: Sequence[List[Any]] = (), ask: Sequence[List[Any]] = (), allow: Sequence[List[Any]] = (),
                 unreadable: bool = False, where: str = "", top: str = "") -> None:  # fmt: skip
        self.deny, self.ask, self.allow = list(deny), list(ask), list(allow)
        self.unreadable, self.locked, self.where, self.top = unreadable, False, where, top

    def inside(self, path: str, base: str) -> bool:
        """Whether `path`, seen from the directory `base`, lies below `top` with no link and no `..` on the way: only then do all
        who resolve it agree where it leads."""
        parts = [part for part in joined(base, path).split("/") if part not in ("", ".")]
        full = "/" + "/".join(parts)
        if not self.top or ".." in parts or full != self.top and not full.startswith(self.top + "/"):
            return False
        at = self.top
        for part in full[len(self.top) :].split("/")[1:]:
            at = "%s/%s" % (at, part)
            try:
                if posix.lstat(at).st_mode & 0o170000 == 0o120000:
                    return False
            except FileNotFoundError:
                break
            except (OSError, ValueError):
                return False
        return True


class RuleFile:
    """A file of rules by its path, or its text where a command line holds that. `counts` says whether it may allow anything;
    `reader` adds what it says to Rules and raises ValueError where that is not understood."""

    __slots__ = ("path", "counts", "reader")

    def __init__(self, path: str, counts: bool, reader: Callable[[bytes, Rules, bool], None]) -> None:
        self.path, self.counts, self.reader = path, counts, reader


# reading rule files


def host_rules(host: str, where: str, home: str) -> Rules:
    """The rules of a host for a session in the directory `where`. Never raises: what cannot be read makes them `unreadable`."""
    find = RULE_FILES.get(host)
    if find is None:
        return Rules(unreadable=True)
    try:
        top, files = find(where, home)
        snapshot = Snapshot("rules-" + host, [file.path for file in files if file.path.startswith("/")])
        snapshot.files.append([[file.path, file.counts] for file in files])
        safe = not snapshot.path.startswith(temp_root() + "/")  # there, a sandboxed command may write too
        made = snapshot.load() if safe else None
        if made is None:
            settled = all(changed < (now() - 2) * 1e9 for _, *times, _ in snapshot.files[:-1] for changed in times)
            made = read_rules(files)
            if safe and settled:  # else the next change may bear the same time
                snapshot.keep(made)
        deny, ask, allow, unreadable = made
    except (OSError, ValueError, TypeError):
        return Rules(unreadable=True)
    return Rules(deny, ask, allow, unreadable, where.rstrip("/"), top)


def read_rules(files: Sequence[RuleFile]) -> List[Any]:
    """What files say: the parts of a Rules that a snapshot keeps."""
    rules = Rules()
    for file in files:
        try:
            data = read_file(file.path) if file.path.startswith("/") else fsencode(file.path)
            data.decode()
            if len(data) > RULE_FILE_LIMIT:
                raise ValueError("too many rules")
            file.reader(data, rules, file.counts)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            rules.unreadable = True
    return [rules.deny, rules.ask, rules.allow, rules.unreadable]


def files_in(folder: str, ending: str) -> List[str]:
    """The files in `folder` with this ending."""
    return ["%s/%s" % (folder, name) for name in list_dir(folder) if name.endswith(ending)]


def joined(folder: str, path: str) -> str:
    """`path` as seen from `folder`."""
    return path if path.startswith("/") else "%s/%s" % (folder, path)


def texts_in(table: Any, key: str) -> List[str]:
    """The list of texts at table[key], none if there is no such key. Raises ValueError on anything else."""
    found = table.get(key, []) if isinstance(table, dict) else None
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError("%s is no list of texts" % key)
    return found


def table_in(table: Any, key: str) -> Dict[str, Any]:
    """The table at table[key], an empty one if there is no such key. Raises ValueError on anything else."""
    found = table.get(key, {}) if isinstance(table, dict) else None
    if not isinstance(found, dict):
        raise ValueError("%s is no table" % key)
    return found


# Claude Code: `permissions` in its settings; the lists of all files are merged

CLAUDE_FLAGS = {  # options of the client that bring rules, or leave out files
    "--settings": "settings", "--setting-sources": "sources", "--allowedTools": "allow", "--allowed-tools": "allow",
    "--disallowedTools": "deny", "--disallowed-tools": "deny",
}  # fmt: skip


def claude_files(where: str, home: str) -> Tuple[str, List[RuleFile]]:
    """The project's directory, and where Claude Code's rules stand, managed ones first, since they may lock out all others."""
    top = getenv("CLAUDE_PROJECT_DIR").rstrip("/") or workspace(where) or where
    managed = (CLAUDE_SYSTEM or SYSTEM + "/claude-code") + "/managed-settings"
    user = getenv("CLAUDE_CONFIG_DIR") or home.rstrip("/") + "/.claude"
    flags = claude_flags()
    named = next((value.split(",") for kind, value in flags if kind == "sources"), ["user", "project", "local"])
    files = [RuleFile(path, True, read_claude_settings) for path in [managed + ".json", *files_in(managed + ".d", ".json")]]
    for kind, value in flags:
        if kind != "sources":
            text = joined(top, value) if kind == "settings" else to_json({"permissions": {kind: split_rules(value)}})
            files.append(RuleFile(value if value.lstrip().startswith("{") else text, True, read_claude_settings))
    for name, path in (("user", user), ("project", top + "/.claude"), ("local", top + "/.claude")):
        path += "/settings.local.json" if name == "local" else "/settings.json"
        files.append(RuleFile(path, name in named, read_claude_settings))
    return top, files


def claude_flags() -> List[Tuple[str, str]]:
    """(kind, value) of what the running client was told about rules on its command line, where that can be seen."""
    pid = getenv("CLAUDE_PID")
    try:
        words = fsdecode(read_file("/proc/%s/cmdline" % pid)).split("\0") if pid.isdigit() else []
    except OSError:
        return []
    found: List[Tuple[str, str]] = []
    kind = ""
    for word in words:
        if word.startswith("--"):
            option, _, word = word.partition("=")
            kind = CLAUDE_FLAGS.get(option, "")
        if kind and word:
            found.append((kind, word))
            kind = kind if kind in ("allow", "deny") else ""  # these take several values
    return found


def split_rules(text: str) -> List[str]:
    """The rules in a list such as `Bash(git log:*),Edit Read`."""
    found = [""]
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c in ", " and not depth:
            found.append("")
        else:
            found[-1] += c
    return [rule for rule in found if rule]


def read_claude_settings(data: bytes, rules: Rules, counts: bool) -> None:
    """Add the permissions of one of Claude Code's settings files. Raises ValueError."""
    settings = from_json(data)
    listed = table_in(settings, "permissions")
    for text in texts_in(listed, "deny"):
        rules.deny.extend(claude_rule(text, False))
    for text in texts_in(listed, "ask"):
        rules.ask.extend(claude_rule(text, False))
    for text in texts_in(listed, "allow"):
        rules.allow.extend(claude_rule(text, True) if counts and not rules.locked else [])
    rules.locked = rules.locked or bool(settings.get("allowManagedPermissionRulesOnly"))


def claude_rule(text: str, allows: bool) -> List[List[Any]]:
    """A rule such as `Bash(git log:*)` as it is compared; none if it is not about commands. Where it is unclear, one that `allows`
    does not count, and another counts for more than it says."""
    tool, bracket, content = text.strip().partition("(")
    content = content[:-1] if content.endswith(")") else content
    if tool in ("Read", "Edit", "Write") and not allows:
        return [["path", content, text]]
    if tool != "Bash" and (allows or "*" not in tool or not matches_glob(tool, Invocation(["Bash"]))):
        return []
    if not bracket or content == "*":
        return [["any", "", text]]
    if allows and ("\\" in content or not text.endswith(")")):
        return []
    content = content.replace("\\", "")
    if content.endswith(":*") and "*" not in content[:-1]:
        return [["prefix", content[:-2], text]]
    if "*" in content:
        return [["glob", content[:-2] + "*" if content.endswith(":*") else content, text]]
    name, colon, value = content.partition(":")
    if colon and name.isidentifier() and not allows:  # a field of the call; those that run in the background are never touched
        return [] if (name, value) == ("run_in_background", "true") else [["any", "", text]]
    return [["exact", content, text]]


# Codex: `prefix_rule(…)` in rules/*.rules, a closed form of Starlark

CODEX_DECISIONS = {"allow": "allow", "prompt": "ask", "prompt-user": "ask", "forbidden": "deny"}
CODEX_ARGUMENTS = frozenset(("pattern", "decision", "justification", "match", "not_match"))


def codex_files(where: str, home: str) -> Tuple[str, List[RuleFile]]:
    """The project's directory, and where Codex's rules stand. A project's own hold only if it is trusted, which is not seen here. They
    count: no answer of a hook lifts what Codex itself would ask, and what a rule allows there runs outside the sandbox, as typed."""
    top = workspace(where) or where
    user = getenv("CODEX_HOME") or home.rstrip("/") + "/.codex"
    folders = [SYSTEM + "/codex", user]
    folder = where
    while folder and folder.startswith(top):
        folders.append(folder + "/.codex")
        folder = folder.rsplit("/", 1)[0]
    files = [RuleFile(path, True, read_codex_rules) for folder in folders for path in files_in(folder + "/rules", ".rules")]
    return top, [*files, RuleFile(SYSTEM + "/codex/requirements.toml", False, read_nothing)]


def read_nothing(data: bytes, rules: Rules, counts: bool) -> None:
    """A file that may hold rules in a form that is not read here."""
    raise ValueError("not read")


def read_codex_rules(data: bytes, rules: Rules, counts: bool) -> None:
    """Add the rules of one of Codex's .rules files. Raises ValueError on all but plain calls of what it knows."""
    reader = Reader(data.decode())
    reader.skip("\n;")
    while reader.peek():
        name = reader.take("name")
        values = call_values(reader)
        if reader.peek():
            reader.take(";" if reader.peek() == ";" else "\n")
            reader.skip("\n;")
        if name == "prefix_rule":
            add_codex_rule(values, rules, counts)
        elif name not in ("network_rule", "host_executable"):  # which are about no command
            raise ValueError("%s is not known" % name)


def call_values(reader: Reader) -> Dict[str, Any]:
    """The arguments of a call by name; the one without a name is the pattern."""
    values: Dict[str, Any] = {}
    reader.take("(")
    reader.skip("\n")
    while reader.peek() != ")":
        name = "pattern"
        if values or reader.peek() == "name":
            name = reader.take("name")
            reader.take("=")
        if name in values:
            raise ValueError("%s twice" % name)
        reader.skip("\n")
        values[name] = reader.value("string")
        reader.skip("\n")
        if reader.peek() != ")":
            reader.take(",")
            reader.skip("\n")
    reader.take(")")
    return values


def add_codex_rule(values: Dict[str, Any], rules: Rules, counts: bool) -> None:
    """Add `prefix_rule(pattern = …, decision = …)`. Raises ValueError."""
    decision = values.get("decision", "allow")
    kept = CODEX_DECISIONS.get(decision) if isinstance(decision, str) else None
    pattern = values.get("pattern")
    if kept is None or not isinstance(pattern, list) or not pattern or not CODEX_ARGUMENTS.issuperset(values):
        raise ValueError("an unknown rule")
    spec = [item if isinstance(item, list) else [item] for item in pattern]
    if not all(words and all(isinstance(word, str) for word in words) for words in spec):
        raise ValueError("an unknown pattern")
    if kept != "allow" or counts:
        getattr(rules, kept).append(["words", spec, " ".join("|".join(words) for words in spec)])


# Gemini CLI: `tools` in its settings, and policies in TOML

GEMINI_TOOLS = frozenset(("run_shell_command", "ShellTool", "*"))
GEMINI_DECISIONS = {"allow": "allow", "deny": "deny", "ask_user": "ask"}
GEMINI_KEYS = frozenset(("toolName", "decision", "priority", "commandPrefix"))  # of a rule that may allow something


def gemini_files(where: str, home: str) -> Tuple[str, List[RuleFile]]:
    """The project's directory, and where Gemini CLI's rules stand. A project's own may but restrict, since it may not be trusted."""
    top = workspace(where) or where
    files = [RuleFile(SYSTEM + "/gemini-cli/system-defaults.json", False, read_gemini_settings)]
    for folder, counts in ((SYSTEM + "/gemini-cli", True), (home.rstrip("/") + "/.gemini", True), (top + "/.gemini", False)):
        files.append(RuleFile(folder + "/settings.json", counts, read_gemini_settings))
        files += [RuleFile(path, counts, read_gemini_policy) for path in files_in(folder + "/policies", ".toml")]
    return top, files


def read_gemini_settings(data: bytes, rules: Rules, counts: bool) -> None:
    """Add the rules of one of Gemini CLI's settings files. Raises ValueError."""
    settings = from_json(data)
    tools = table_in(settings, "tools")
    for text in texts_in(tools, "exclude") + texts_in(settings, "excludeTools"):
        rules.deny.extend(gemini_rule(text))
    for text in texts_in(tools, "allowed") + texts_in(settings, "allowedTools"):
        rules.allow.extend(gemini_rule(text) if counts else [])
    if "core" in tools or "coreTools" in settings:
        raise ValueError("a list of the only tools there are")


def gemini_rule(text: str) -> List[List[Any]]:
    """A tool such as `run_shell_command(git log)` as it is compared; none if it is another tool."""
    tool, bracket, content = text.strip().partition("(")
    if tool not in GEMINI_TOOLS:
        return []
    return [["prefix", content.rstrip(")"), text] if bracket else ["any", "", text]]


def read_gemini_policy(data: bytes, rules: Rules, counts: bool) -> None:
    """Add the rules of one of Gemini CLI's policy files: TOML of a closed form. Raises ValueError on anything else."""
    reader = Reader(data.decode())
    reader.skip("\n")
    while reader.peek():
        opening = "".join(reader.take("[") for _ in range(2) if reader.peek() == "[")
        table = reader.take("name")
        for _ in opening:
            reader.take("]")
        if not opening:
            raise ValueError("a key outside the tables")
        row = table_rows(reader)
        if opening + table == "[[rule":
            add_gemini_rule(row, rules, counts)


def table_rows(reader: Reader) -> Dict[str, Any]:
    """The keys and values behind the heading of a TOML table."""
    row: Dict[str, Any] = {}
    while reader.peek():
        reader.take("\n")
        reader.skip("\n")
        if reader.peek() in ("[", ""):
            break
        key = reader.take("name")
        reader.take("=")
        if key in row:
            raise ValueError("%s twice" % key)
        row[key] = reader.value("name")
    return row


def add_gemini_rule(row: Dict[str, Any], rules: Rules, counts: bool) -> None:
    """Add one `[[rule]]`, if it is about shell commands. One that restricts some of them only restricts all. Raises ValueError."""
    tools, prefix = as_list(row.get("toolName", "*")), as_list(row.get("commandPrefix", ""))
    if "mcpName" in row or not GEMINI_TOOLS.intersection(tools):
        return
    decision = GEMINI_DECISIONS.get(str(row.get("decision")))
    if decision is None:
        raise ValueError("an unknown decision")
    if decision != "allow" or counts and GEMINI_KEYS.issuperset(row):
        kept = [["prefix" if text else "any", text, ("%s %s" % (decision, text)).strip()] for text in prefix]
        getattr(rules, decision).extend(kept)


def as_list(value: Any) -> List[str]:
    """A text, or a list of texts, as a list. Raises ValueError on anything else."""
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in found):
        raise ValueError("neither a text nor a list of texts")
    return found


# what Starlark and TOML have in common


def tokens(text: str) -> Iterator[Tuple[str, str]]:
    """(kind, text) of each token: "name" (numbers too), "string", a sign, "\\n". Comments are skipped. Raises ValueError on anything
    else."""
    i, end = 0, len(text)
    while i < end:
        c = text[i]
        start = i
        if c in " \t\r":
            i += 1
        elif c == "#":
            i = text.find("\n", i) % (end + 1)
        elif c in "()[]=,;\n":
            yield c, c
            i += 1
        elif c in "\"'":
            quote = c * 3 if text.startswith(c * 3, i) else c
            i += len(quote)
            while not text.startswith(quote, i):
                i += 2 if text[i : i + 1] == "\\" else 1
                if i >= end:
                    raise ValueError("an open string")
            yield "string", unescaped(text[start + len(quote) : i], quote)
            i += len(quote)
        else:
            while i < end and (text[i] in NAME_CHARACTERS or text[i] in ".-+:"):
                i += 1
            if i == start:
                raise ValueError("an unknown sign")
            yield "name", text[start:i]


def unescaped(raw: str, quote: str) -> str:
    """What stands between quotes. Raises ValueError where the two languages differ."""
    if "\n" in raw and len(quote) == 1 or "\\" in raw and quote != '"':
        raise ValueError("an unusual string")
    parts = raw.split("\\\\")
    for escape, meant in (('\\"', '"'), ("\\n", "\n"), ("\\t", "\t")):
        parts = [part.replace(escape, meant) for part in parts]
    if any("\\" in part for part in parts):
        raise ValueError("an unusual escape")
    return "\\".join(parts)


class Reader:
    """A cursor over tokens. Every method raises ValueError on what does not fit."""

    __slots__ = ("tokens", "at")

    def __init__(self, text: str) -> None:
        self.tokens = [*tokens(text), ("", "")]
        self.at = 0

    def peek(self) -> str:
        """The kind of the next token, "" at the end."""
        return self.tokens[self.at][0]

    def take(self, kind: str) -> str:
        """The next token, which must be of this kind."""
        found, text = self.tokens[self.at]
        if found != kind:
            raise ValueError("%s where %s belongs" % (found or "the end", kind))
        self.at += 1
        return text

    def skip(self, kinds: str) -> None:
        """Skip tokens of these kinds, which are signs."""
        while self.peek() and self.peek() in kinds:
            self.at += 1

    def value(self, other: str, depth: int = 0) -> Any:
        """A string, a token of the kind `other` (as its text in a tuple, so that it is no string), or a list of values."""
        if self.peek() != "[":
            return self.take("string") if self.peek() == "string" else (self.take(other),)
        if depth == 4:
            raise ValueError("nested too deeply")
        self.take("[")
        found: List[Any] = []
        self.skip("\n")
        while self.peek() != "]":
            found.append(self.value(other, depth + 1))
            self.skip("\n")
            if self.peek() != "]":
                self.take(",")
                self.skip("\n")
        self.take("]")
        return found


RULE_FILES: Dict[str, Callable[[str, str], Tuple[str, List[RuleFile]]]] = {
    "claude": claude_files, "codex": codex_files, "gemini": gemini_files,
}  # fmt: skip


# what a line runs


class Invocation:
    """A command that a line runs: its words, its `text` as it was typed, or in plain words where it stands inside another, and the
    files that it may name, as seen from the project's directory."""

    __slots__ = ("argv", "text", "names")

    def __init__(self, argv: Sequence[str], text: str = "", names: Sequence[str] = ()) -> None:
        self.argv, self.text, self.names = argv, text or " ".join(argv), names


def runs_of(line: Line, below: str, depth: int = 0) -> Iterator[Invocation]:
    """Every command of a line and, as far as the tables of programs know, what these run. `below` leads from the project's
    directory to the working directory."""
    for command in line.commands:
        argv = [word.text for word in command.words]
        files = [redirect.target.text for redirect in command.redirects]
        if argv or files:
            names = ["%s/%s" % (below, file_named(word)) for word in [*argv[1:], *files]]
            yield Invocation(argv or [""], line.text[command.start : command.end], names)
        if argv:
            yield Invocation(argv, line.text[command.words[0].start : command.words[-1].end])
            yield from runs_inside(argv, below, depth)


def file_named(word: str) -> str:
    """The file that a word may name: itself, or the value of an option."""
    return word if not word.startswith("-") else word.partition("=")[2] or (word[2:] if word[1:2] != "-" else "")


def runs_inside(argv: Sequence[str], below: str, depth: int) -> Iterator[Invocation]:
    """`argv`, and what it runs when its programs are wrappers, shells or ctx itself."""
    found, ahead = {0}, [0]
    while ahead:
        words = argv[ahead.pop() :]
        yield Invocation(words)
        if "/" in words[0]:
            yield Invocation([words[0][words[0].rfind("/") + 1 :], *words[1:]])
        if ";" in words[1:]:  # behind find's -exec
            yield Invocation(words[: words.index(";", 1)])
        text = inner_text(words)
        if text is not None and depth < LAYERS:
            yield from runs_of(scan(text), below, depth + 1)
        for start in inner_starts(words):
            start += len(argv) - len(words)
            if start < len(argv) and start not in found:
                found.add(start)
                ahead.append(start)


def inner_starts(argv: Sequence[str]) -> Sequence[int]:
    """Where in `argv` a command may start that it runs. The options of wrappers are not all known, so there may be several."""
    name = program_name(argv[0])
    rule, at = rule_for(name), 0
    if rule and rule.kind == "sub":
        at = rule.operand(argv, 1)
        rule = rule_for("%s/%s" % (name, argv[at])) if at < len(argv) else None
    kind = rule.kind if rule else "builtin" if name in PASSING else ""
    if rule and kind in ("wrap", "left", "exec", "xargs"):
        return range(at + 1, at + inner_command(rule, argv[at:]) + 2)
    if kind == "builtin":
        return (1, 2)
    if kind == "ctx":
        return [i + 1 for i, word in enumerate(argv) if word == "--"]
    if kind == "find":
        return [i + 1 for i, word in enumerate(argv) if word in EXECUTING or word in EXECUTING_FD]
    return [i for i, word in enumerate(argv) if i and is_ctx(word)] if kind == "python" else ()


def inner_text(argv: Sequence[str]) -> Optional[str]:
    """The command line that a shell, `eval` or `ctx run --shell` is given as a text, None if `argv` is none of these."""
    name = program_name(argv[0])
    rule = rule_for(name)
    if rule and rule.kind == "shell":
        return shell_text(argv)
    if name == "eval":
        return " ".join(argv[1:])
    if rule and rule.kind == "ctx":
        for i, word in enumerate(argv):
            if word.startswith("--shell"):
                return word[8:] or " ".join(argv[i + 1 : i + 2])
    return None


def is_ctx(word: str) -> bool:
    """Whether a word names this program."""
    rule = rule_for(program_name(word))
    return rule is not None and rule.kind == "ctx"


def executes(argv: Sequence[str]) -> bool:
    """Whether `argv` is ctx, asked to run something."""
    verb = next((word for word in argv[1:] if not word.startswith("-")), "")
    return is_ctx(argv[0]) and ("--" in argv or verb in EXECUTING_VERBS or DYNAMIC in verb)


PASSING = frozenset("command builtin exec nocorrect noglob time".split())  # builtins that run what stands behind them
UNRULED = "no rule for what ctx is asked to run"
EXECUTING_VERBS = frozenset(("run", "seq", "plan"))


# comparing


def matches_prefix(spec: str, run: Invocation) -> bool:
    """The text starts with the words of `spec`."""
    return run.text.startswith(spec) and run.text[len(spec) : len(spec) + 1] in ("", " ")


def matches_glob(spec: str, run: Invocation) -> bool:
    """`*` in `spec` stands for any characters; a single one at the end, behind a space, also for nothing with that space."""
    text = run.text
    first, *pieces = spec.split("*")
    last = pieces.pop()
    if not last and not pieces and first.endswith(" ") and text == first[:-1]:
        return True
    at = len(first)
    if not text.startswith(first):
        return False
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return text.endswith(last) and len(text) - len(last) >= at


def matches_words(spec: Sequence[Sequence[str]], run: Invocation) -> bool:
    """The command starts with one word of each set in `spec`."""
    return len(run.argv) >= len(spec) and all(run.argv[i] in words for i, words in enumerate(spec))


def matches_path(spec: str, run: Invocation) -> bool:
    """The command may name a file of the pattern `spec`, in a generous reading: the part of the pattern that says most occurs."""
    for sign in "?[]{}!~":
        spec = spec.replace(sign, "*")
    parts = [part for part in spec.split("/") if part not in ("", ".", "..")]
    whole = max([part for part in parts if "*" not in part], key=len, default="")
    piece = max("*".join(parts).split("*"), key=len)
    if not piece:
        return any(not name.endswith("/") for name in run.names) and program_name(run.argv[0]) in READING_FILES
    return any(whole in name.replace(":", "/").split("/") if whole else piece in name for name in run.names)


MATCHERS: Dict[str, Callable[[Any, Invocation], bool]] = {
    "any": lambda spec, run: True, "exact": lambda spec, run: bool(run.text == spec), "prefix": matches_prefix,
    "glob": matches_glob, "words": matches_words, "path": matches_path,
}  # fmt: skip


def first_match(rules: Sequence[List[Any]], runs: Iterable[Invocation]) -> Optional[str]:
    """The first rule that one of `runs` matches, as the user wrote it; None if there is none."""
    for form, spec, label in rules:
        matches = MATCHERS[form]
        for run in runs:
            if matches(spec, run):
                return str(label)
    return None


# judging

# Modes in which rules and read-only commands decide. In others the host judges by itself, or plans.
RULED_MODES = frozenset(("", "default", "acceptEdits", "dontAsk", "bypassPermissions"))


def permission(host: str, text: str, line: Line, mode: str, rules: Rules) -> Permission:
    """What `host` would do with the command line `text`, scanned as `line`, in its permission mode `mode`.

    What ctx is asked to run is judged as if it had been typed, whatever rule there is for ctx: where nothing allows it, the answer
    is "ask". So it is for hosts whose rules cannot be read, since one of these may forbid it.
    """
    if len(text) > COMMAND_LIMIT:
        return Permission("ask", "too long to be judged") if "ctx" in text else Permission("none")
    runs = [Invocation([""], text), *runs_of(line, rules.where[len(rules.top) :] if rules.where.startswith(rules.top) else "")]
    for decision, listed in (("deny", rules.deny), ("ask", rules.ask)):
        rule = first_match(listed, runs) if listed else None
        if rule is not None:
            return Permission(decision, rule)
    if rules.unreadable and host in RULE_FILES:
        return Permission("ask", "a rule that ctx cannot read")
    practice = PRACTICES.get(host)
    if practice and mode in RULED_MODES and not rules.unreadable:
        granted = Grant(practice, line, rules).decision()
        if granted.decision != "none":
            return granted
    if mode != "bypassPermissions" and (any(executes(run.argv) for run in runs) or line.unsure and "ctx" in text):
        return Permission("deny" if mode == "dontAsk" else "ask", UNRULED)
    return Permission("none")


class Practice:
    """What a host lets pass: redirections it does not ask about, variables that may stand in front, wrappers it looks behind, and
    `free`, which says of the words of a command whether it runs them unasked."""

    __slots__ = ("redirections", "variables", "wrappers", "free", "files")

    def __init__(self, free: Callable[[Sequence[str]], bool], redirections: Sequence[str] = (), variables: Optional[Dict[str, str]] = None,
                 wrappers: FrozenSet[str] = frozenset(), files: bool = False) -> None:  # fmt: skip
        self.free, self.redirections, self.wrappers, self.files = free, redirections, wrappers, files
        self.variables = variables or {}


class Grant:
    """The search for what lets a line run unasked. Every method is sure of a yes, and says no otherwise."""

    __slots__ = ("practice", "line", "rules", "bases", "programs")

    def __init__(self, practice: Practice, line: Line, rules: Rules) -> None:
        self.practice, self.line, self.rules = practice, line, rules
        self.bases = [rules.where]  # the directories in which a command of the line may run
        self.programs: List[str] = []  # of the commands read so far

    def decision(self) -> Permission:
        """The permission for the whole line: as strong as that of its weakest command."""
        commands = self.line.commands
        if self.line.unsure or not 0 < len(commands) <= PARTS_LIMIT or not self.is_plain():
            return Permission("none")
        found = Permission("free")
        for command in commands:
            part = self.part(command)
            if part is None:
                return Permission("none")
            if part and found.decision == "free":
                found = Permission("allow", part)
        return Permission("none") if "cd" in self.programs and "git" in self.programs else found

    def is_plain(self) -> bool:
        """Nothing in the line but commands in a list, of words that are known, and redirections that the host does not mind."""
        text, typed = self.line.text, []
        for command in self.line.commands:
            if command.kind or command.nest or command.background or command.negated or not command.words:
                return False
            if command.timed and not self.practice.wrappers:
                return False
            redirections = [redirect.fd + redirect.op + redirect.target.text for redirect in command.redirects]
            words = command.assigns + command.words
            if not set(redirections).issubset(self.practice.redirections) or any(not self.is_plain_word(word) for word in words):
                return False
            typed += [text[word.start : word.end] for word in words]
        hidden = any(text.count(sign) != "".join(typed).count(sign) for sign in "\\#")  # in a comment, or over a line's end
        timed = any(command.timed for command in self.line.commands)
        return not hidden and not (timed and "time -p" in text) and text.replace("\n", "").isprintable()

    def is_plain_word(self, word: Word) -> bool:
        """A word that everybody reads alike."""
        raw = self.line.text[word.start : word.end]
        single = raw[0] + raw[-1] == "''" and raw.count("'") == 2
        double = raw[0] + raw[-1] == '""' and raw.count('"') == 2 and all(part[:1] in KEPT_ESCAPES for part in raw.split("\\")[1:])
        known = word.value is not None and "\n" not in raw and raw[0] != "="
        return known and (single or "$" not in raw and (double or "\\" not in raw))

    def part(self, command: Command) -> Optional[str]:
        """The rule that lets one command run, "" if the host runs it by itself, None if it would ask."""
        argv = [word.text for word in command.words]
        for word in command.assigns:
            name, _, value = self.line.text[word.start : word.end].partition("=")
            if value not in self.practice.variables.get(name, "").split(" ") or not value:
                return None
        at = 3 if argv[0] == "ctx" and argv[1:3] == ["run", "--"] else 0
        starts = [at]
        while at < len(argv) and argv[at] in self.practice.wrappers:
            at = behind_wrapper(argv, at)
            starts.append(at)
        if at >= len(argv) or not self.harmless(argv[at:]):
            return None
        end = command.words[-1].end
        rule = self.listed([Invocation(argv[i:], self.line.text[command.words[i].start : end]) for i in starts])
        bare = len(starts) == 1 and not command.assigns and not command.timed
        return rule if rule is not None else "" if bare and self.practice.free(argv[at:]) else None

    def listed(self, runs: Sequence[Invocation]) -> Optional[str]:
        """The rule that allows one of `runs`; one that names a group does not count for programs that run anything."""
        argv = runs[-1].argv
        closed = argv[0] in NEVER_BY_PREFIX or any(word.startswith(FIND_ACTIONS) for word in argv if "find" in argv[0])
        return first_match([rule for rule in self.rules.allow if not closed or rule[0] == "exact"], runs)

    def harmless(self, argv: Sequence[str]) -> bool:
        """No rule is enough for a program that means another, or for files that are not the project's."""
        name = argv[0][argv[0].rfind("/") + 1 :]
        self.programs.append(name)
        if name in BUILTINS and name not in SIMPLE_BUILTINS or name in NEVER_BY_RULE or name in WRITING_FILES:
            return False
        if is_ctx(name) or any(executes(run.argv) for run in runs_inside(argv, "", 0)):
            return False
        if not self.practice.files or name not in READING_FILES:
            return True
        if any(not self.rules.inside(word, base) for word in argv[1:] if not word.startswith("-") for base in self.bases):
            return False
        if name == "cd":
            self.bases.append(joined(self.bases[0], argv[-1]))
            return len(argv) == 2 and not argv[1].startswith("-") and self.programs.count("cd") == 1
        return not any("/" in word or ".." in word for word in argv[1:] if word.startswith("-"))


def behind_wrapper(argv: Sequence[str], at: int) -> int:
    """The index of the command that the wrapper argv[at] runs; len(argv) where its options are not plain."""
    rule = rule_for(argv[at])
    i = at + inner_command(rule, argv[at:]) if rule else len(argv)
    plain = all(word.isalnum() or word in WRAPPER_OPTIONS or word[1:].isdigit() for word in argv[at + 1 : i])
    return i if plain else len(argv)


# What Claude Code 2.1.332 was seen to run unasked: a part of what it does (tests/corpus/claude_permissions.json). Of each program, the
# letters of options that take no value, `#` for a dash and digits; then whole options, `=` where any value may be attached, `#` where
# a number may be, or follow. `-` alone: it takes no operands.
CLAUDE_READS = {
    "echo": "neE", "pwd": " -", "true": " -", "whoami": " -", "basename": "", "dirname": "", "which": "a", "cd": "", "sleep": "", "date": "u -",
    "ls": "1aAlhrtRSFGdinosp", "cat": "nbsETvA", "head": "qv# -n# -c#", "tail": "qv# -n# -c#", "wc": "lwcmL", "stat": "", "nl": "", "tac": "",
    "grep": "inrlLcvwxoEFshHP -A# -B# -C# -m# -e --include= --exclude= --exclude-dir= --count --files-with-matches --line-number",
    "egrep": "inrlLcvwxoshH -A# -B# -C# -m#", "fgrep": "inrlLcvwxoshH -A# -B# -C# -m#", "tr": "dsc", "cut": " -d= -f= -c=",
    "rg": "inlcwvFoS -A# -B# -C# -m# --count --line-number", "sort": "nrufVhgb", "uniq": "cdui -", "diff": "uqrbwBN", "du": "shcak",
    "find": " -name -iname -path -type -maxdepth -mindepth -not -print -newer -size -empty",
    "git/status": "bsv --porcelain --short", "git/diff": "ps --cached --staged --name-only --name-status --no-color --numstat --shortstat --stat",
    "git/log": "ps# --all --decorate --graph --name-only --name-status --no-color --numstat --oneline --shortstat --stat",
    "git/show": "ps --decorate --name-only --name-status --no-color --numstat --oneline --shortstat --stat", "git/branch": "arv --all -",
    "git/blame": "ps", "git/ls-files": "s --cached", "git/rev-parse": "", "git/shortlog": "s --all", "git/describe": " -",
}  # fmt: skip
CLAUDE_VARIABLES = {
    "CI": "1 true", "NODE_ENV": "test development production", "PYTHONUNBUFFERED": "1", "RUST_BACKTRACE": "0 1 full", "RUST_LOG": "debug info",
    "NO_COLOR": "1", "FORCE_COLOR": "0 1", "LANG": "C C.UTF-8 en_US.UTF-8", "LC_ALL": "C C.UTF-8 en_US.UTF-8", "TERM": "dumb", "TZ": "UTC",
    "COLUMNS": "80 120 200",
}  # fmt: skip


def claude_free(argv: Sequence[str]) -> bool:
    """Claude Code runs it unasked."""
    name = "/".join(argv[:2]) if argv[0] == "git" else argv[0]
    row = CLAUDE_READS.get(name)
    strange = "$`~{}" if "grep" in name or name in ("echo", "rg") else "$`~{}*?[]"  # which are asked about even in quotes
    if row is None or any(sign in word for word in argv for sign in strange):
        return False
    letters, *whole = row.split(" ")
    words = list(argv[1 + name.count("/") :])
    options = [word for word in words if word.startswith("-") and (name != "echo" or word == words[0])]
    for word, value in zip(words, [*words[1:], ""]):
        if word + "#" in whole and not value.lstrip("+").isdigit():
            return False
    return all(is_listed(word, letters, whole) for word in options) and (len(words) == len(options) or "-" not in whole)


def is_listed(option: str, letters: str, whole: Sequence[str]) -> bool:
    """An option is one of `letters`, or several, or one of those that are `whole`."""
    digits = option.lstrip("-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if option[1:].isdigit():
        return "#" in letters
    if digits.isdigit() or option + "#" in whole:
        return option[: len(option) - len(digits)] + "#" in whole
    return option in whole or set(option[1:]).issubset(letters) or any(o[-1:] == "=" and option.startswith(o[:-1]) for o in whole)


# Codex, whatever its approval policy is: a part of its own list.
CODEX_READS = frozenset("cat cd cut echo false grep head ls nl pwd rev seq stat tail tr true uname uniq wc which whoami".split())
CODEX_GIT = frozenset(("git/status", "git/diff", "git/log", "git/show"))


def codex_free(argv: Sequence[str]) -> bool:
    """Codex runs it unasked."""
    return argv[0] in CODEX_READS or "/".join(argv[:2]) in CODEX_GIT and claude_free(argv)


PRACTICES = {
    "claude": Practice(
        claude_free, ("2>&1", ">/dev/null", "2>/dev/null", "1>/dev/null", "&>/dev/null", ">&2", "1>&2"), CLAUDE_VARIABLES,
        frozenset(("timeout", "nice", "nohup", "stdbuf")), True,
    ),
    "codex": Practice(codex_free),
    "gemini": Practice(lambda argv: False),
}  # fmt: skip

KEPT_ESCAPES = frozenset("|.()+bdswBDSW")  # which mean nothing to a shell: those of regular expressions
SIMPLE_BUILTINS = frozenset("cd echo false printf pwd test true".split())
WRAPPER_OPTIONS = frozenset("-k -s -n -oL -o0 -eL -e0 -iL -i0".split())
NEVER_BY_PREFIX = frozenset("watch setsid ionice flock".split())
FIND_ACTIONS = ("-exec", "-ok", "-delete", "-fprint", "-fls")
NEVER_BY_RULE = frozenset("env sudo doas su xargs parallel".split())
READING_FILES = frozenset(
    "cat cd column cut diff du egrep fgrep file find grep head hexdump jq less ls md5sum more nl od paste rg sha1sum sha256sum sort stat"
    " strings tac tail tr tree uniq wc xxd".split()
)
WRITING_FILES = frozenset("awk base64 cp dd install ln mkdir mv rm rmdir rsync sed shred tee touch truncate".split())


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 6 · hosts
# Knows the dialect of each host: what it tells a hook, what it lets a hook answer, and which gate is the weakest that loses nothing.
# Never knows how a digest is made.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

HOOK_SECONDS = 2.0  # then the neutral answer is given, whatever is going on
HOOK_INPUT = 64 * MIB  # what a host says beyond this is not read

# The settings that the hook looks at, and their values where no ctx.toml has others.
HOOK_SETTINGS: Dict[str, Any] = {
    "budget.inline": BUDGET_INLINE, "budget.content": BUDGET_CONTENT, "budget.read": 64 * KIB,
    "guard.unknown": "leave", "guard.collapse": True, "guard.rewrite_before_prompt": False,
}  # fmt: skip
LIMITS = {"shell": "budget.inline", "file": "budget.read"}  # the setting above which a result of a kind is oversized; of others:
LIMIT_ELSE = "budget.content"


class Host:
    """What is particular to one host. These are the values of most of them; HOSTS has what differs.

    A place in JSON is written as its keys with dots between. `events` maps the host's names of events to gates: "pre" before a tool
    runs, "post" after it, "failed" after it failed, "start" of a session, "compact" before a compaction.
    """

    events: Dict[str, str] = {}
    # what it tells: the tool's name, its input, its result, the session, and the permission mode
    tool, input, result, session, mode = "tool_name", "tool_input", "tool_response", "session_id", "permission_mode"
    shell: Dict[str, str] = {}  # tools that run a command line → where in their input it stands
    background: Tuple[str, Any] = ("run_in_background", True)  # the input that says that a command is not waited for
    shadowed: FrozenSet[str] = frozenset()  # names that its shell takes for functions
    searches: Dict[str, str] = {}  # tools that search: for content, or for files
    results: Dict[str, str] = {}  # tools (or, with a * at the end, beginnings of names) → the kind of their results
    saved = ("", "")  # where a result's text stands, and how it begins when the whole is in a file that the text names
    # what it lets a hook answer: a decision before the tool runs, its reason, the new input, what the model is told besides, what the
    # user is, and after the tool has run its new result, with the decision that goes with it
    answers = {
        "decision": "hookSpecificOutput.permissionDecision", "reason": "hookSpecificOutput.permissionDecisionReason",
        "input": "hookSpecificOutput.updatedInput", "context": "hookSpecificOutput.additionalContext", "message": "systemMessage",
        "result": "hookSpecificOutput.updatedToolOutput", "outcome": "decision",
    }  # fmt: skip
    outcome = ""  # the decision that makes it show a reason instead of a result
    replaces: FrozenSet[str] = frozenset()  # the kinds of results that can be replaced with nothing lost
    whole_input = True  # the new input replaces the old one, instead of being laid over it
    neutral: Dict[str, bytes] = {}  # by event, where it is not silence
    # The decision that goes with a rewritten command ("": none is needed), by what the host's rules make of the original. What is
    # missing is not rewritten.
    rewrites: Dict[str, str] = {}
    unasked: FrozenSet[str] = frozenset()  # modes without prompts, in which a rewritten command needs no decision
    grants = True  # its deny rules hold against a hook's `allow`
    asks = False  # a hook may make it ask
    reads = False  # it cuts results for good, so that reads, too, are captured before they run

    def __init__(self, name: str, **differs: Any) -> None:
        self.name = name
        self.__dict__.update(differs)


_NATIVE = {
    "decision": "permissionDecision", "reason": "permissionDecisionReason", "context": "additionalContext", "input": "modifiedArgs",
    "result": "modifiedResult",
}  # fmt: skip
_PLAIN = {"decision": "decision", "reason": "reason"}

HOSTS = {
    "claude": Host(
        "claude",
        events={"PreToolUse": "pre", "PostToolUse": "post", "PostToolUseFailure": "failed", "SessionStart": "start", "PreCompact": "compact"},
        shell={"Bash": "command"},
        shadowed=frozenset(("grep", "find", "pkill", "rg")),
        searches={"Grep": "content", "Glob": "files"},
        results={"Bash": "shell", "Read": "file", "Grep": "search", "WebFetch": "page", "mcp__*": "parts"},
        replaces=frozenset(("shell", "file", "search", "page", "parts")),
        rewrites={"allow": "allow", "free": "allow"},
        unasked=frozenset(("bypassPermissions",)),
        asks=True,
    ),
    "codex": Host(
        "codex",
        events={"PreToolUse": "pre", "PostToolUse": "post", "SessionStart": "start"},
        shell={"Bash": "command"},
        results={"Bash": "shell", "mcp__*": "parts"},
        answers=dict(Host.answers, result="reason"),
        outcome="block",
        replaces=frozenset(("parts",)),  # of a command the exit status would be lost, and the text is cut already
        # Without `allow` it ignores the new input; with it, approvals and the sandbox hold for the new input as they would for any.
        # What a rule allows runs outside the sandbox, which the new input would not.
        rewrites={"free": "allow", "none": "allow"},
        reads=True,
    ),
    "gemini": Host(
        "gemini",
        events={"BeforeTool": "pre", "AfterTool": "post", "SessionStart": "start"},
        shell={"run_shell_command": "command"},
        background=("is_background", True),
        searches={"grep_search": "content", "search_file_content": "content", "glob": "files"},
        results={"run_shell_command": "shell", "grep_search": "search", "web_fetch": "page", "mcp_*": "parts"},
        answers=dict(_PLAIN, input="hookSpecificOutput.tool_input", context="hookSpecificOutput.additionalContext", message="systemMessage",
                     result="reason", outcome="decision"),
        outcome="deny",  # its policy would ask about a rewritten command; every result can be replaced instead, with all its bytes
        replaces=frozenset(("shell", "search", "page", "parts")),
    ),
    "antigravity": Host(
        "antigravity",
        events={"PreToolUse": "pre"},
        tool="toolCall.name", input="toolCall.args", session="conversationId",
        shell={"run_command": "CommandLine"},
        background=("WaitMsBeforeAsync", 0),
        searches={"grep_search": "content", "find_by_name": "files"},
        answers=dict(_PLAIN, input="overwrite"),
        whole_input=False,
        neutral={"PreToolUse": b'{"decision":"ask"}', "": b'{"decision":"ask"}', "PostToolUse": b"{}", "SessionStart": b"{}", "PreInvocation": b"{}"},
        rewrites={"allow": "ask", "free": "ask", "none": "ask"},  # which is what it does by itself
        asks=True,
        reads=True,
    ),
    "copilot": Host(
        "copilot",
        events={"preToolUse": "pre", "postToolUse": "post"},
        tool="toolName", input="toolArgs", result="toolResult", session="sessionId",
        shell={"bash": "command"},
        background=("mode", "async"),
        searches={"grep": "content", "glob": "files"},
        results={"bash": "shell", "grep": "search", "web_fetch": "page"},
        saved=("textResultForLlm", "Output too large to read at once ("),
        answers=_NATIVE,
        replaces=frozenset(("shell", "search", "page")),
        grants=False,
        asks=True,
    ),
    # Copilot's events under the names that Claude has for them
    "copilot-pascal": Host(
        "copilot",
        events={"PreToolUse": "pre", "PostToolUse": "post"},
        result="tool_result",
        shell={"Bash": "command", "bash": "command"},
        background=("mode", "async"),
        searches={"Grep": "content", "grep": "content", "Glob": "files", "glob": "files"},
        grants=False,
        asks=True,
    ),
}  # fmt: skip


class Call:
    """One call of a hook: which host, at which gate, and what it tells."""

    __slots__ = ("host", "event", "gate", "payload", "environ", "tool", "input", "mode", "where", "session", "message")

    def __init__(self, host: Host, event: str, payload: Dict[str, Any], environ: Dict[bytes, bytes]) -> None:
        self.host, self.event, self.payload, self.environ = host, event, payload, environ
        self.gate = host.events.get(event, "")
        self.tool = text_at(payload, host.tool)
        self.input = inside(payload, host.input)
        self.mode = text_at(payload, host.mode)
        self.session = text_at(payload, host.session)
        told = (text_at(payload, "cwd"), text_at(self.input, "Cwd"))
        self.where = next((path for path in told if path.startswith("/")), "") or cwd()
        self.message = ""  # what the user is to be told along with any answer

    @property
    def command(self) -> str:
        """The command line that a shell tool was given, "" where there is none."""
        return text_at(self.input, self.host.shell.get(self.tool, ""))

    @property
    def kind(self) -> str:
        """The kind of the tool's results, "" for those that are left as they are."""
        results = self.host.results
        named = [kind for name, kind in results.items() if name == self.tool or name[-1] == "*" and self.tool.startswith(name[:-1])]
        return named[0] if named else ""

    @property
    def neutral(self) -> bytes:
        """The answer that changes nothing."""
        return self.host.neutral.get(self.event, b"")

    def answer(self, **parts: Any) -> bytes:
        """An answer in the host's dialect, of the parts that Host.answers names; those that it has no place for, or that are empty,
        are left out."""
        found: Dict[str, Any] = {}
        for name, value in dict(parts, message=self.message).items():
            keys = self.host.answers.get(name, "").split(".")
            if value and keys[0]:
                place = found
                for key in keys[:-1]:
                    place = place.setdefault(key, {})
                place[keys[-1]] = value
        if "hookSpecificOutput" in found:
            found["hookSpecificOutput"]["hookEventName"] = self.event
        return to_json(found).encode() if found else self.neutral


def inside(value: Any, path: str) -> Any:
    """What stands at a place in JSON, None if nothing does."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: Any, path: str) -> str:
    """The text at a place in JSON, "" if none stands there."""
    found = inside(value, path)
    return found if isinstance(found, str) else ""


# which host is it


def recognised(payload: Dict[str, Any]) -> str:
    """The name in HOSTS of the host that tells this. What nobody else tells comes from Claude."""
    event = text_at(payload, "hook_event_name")
    if "toolCall" in payload or "conversationId" in payload:
        return "antigravity"
    if "toolName" in payload or "sessionId" in payload:
        return "copilot"
    if "turn_id" in payload or "/.codex/" in text_at(payload, "transcript_path"):
        return "codex"
    if "timestamp" in payload:
        return "copilot-pascal" if event in HOSTS["copilot-pascal"].events else "gemini"
    return "claude"


def event_of(host: str, payload: Dict[str, Any]) -> str:
    """The event that a payload tells of where it does not say so, "" if it cannot be known."""
    if host == "antigravity" and "toolCall" in payload:
        return "PostToolUse" if "error" in payload or "result" in payload else "PreToolUse"
    if host == "copilot" and "toolName" in payload:
        return "postToolUse" if "toolResult" in payload else "preToolUse"
    return ""


def read_call(host: str, event: str, payload: bytes, environ: Dict[bytes, bytes]) -> Call:
    """What a host tells, understood. Raises ValueError on anything that is not its JSON."""
    value = from_json(payload.decode())
    if not isinstance(value, dict):
        raise ValueError("not an object")
    host = host if host in HOSTS else recognised(value)
    event = text_at(value, "hook_event_name") or event or event_of(host, value)
    if host == "copilot" and event in HOSTS["copilot-pascal"].events:
        host = "copilot-pascal"
    return Call(HOSTS[host], event, value, environ)


def neutral_answer(host: str, event: str, payload: bytes = b"") -> bytes:
    """What to say where nothing was understood."""
    row = HOSTS.get(host) or HOSTS["antigravity" if b'"toolCall"' in payload else "claude"]
    return row.neutral.get(event, b"")


# the program that is put in front of commands


def own_words() -> List[str]:
    """The words that start this program in any shell: an installed one by its launcher, others by the interpreter that runs them."""
    path = absolute(__file__)
    return [path] if path.endswith("/ctx") else [sys.executable, absolute(sys.argv[0])]


def program_words() -> List[str]:
    """The same, none where they would not start it: the program has gone, or cannot be run."""
    words = own_words()
    return words if posix.access(words[0], posix.X_OK) and posix.access(words[-1], posix.R_OK) else []


def finds_program(name: str, environ: Dict[bytes, bytes]) -> str:
    """Where PATH has the program `name`, "" if nowhere."""
    for folder in fsdecode(environ.get(b"PATH", b"")).split(":"):
        path = "%s/%s" % (folder or ".", name)
        if posix.access(path, posix.X_OK) and not is_dir(path):
            return path
    return ""


def shell_line(words: Sequence[str]) -> str:
    """Words as a shell reads them, quoted where they must be."""
    plain = NAME_CHARACTERS | frozenset("/.-+=,:@%")
    return " ".join(word if word and plain.issuperset(word) else shell_quote(word) for word in words)


# before a tool runs

READERS = frozenset(("get", "search", "diff", "runs"))  # verbs that read the store, and nothing else
DID = {"allow": "allowed", "ask": "asked", "deny": "denied"}


def before_tool(call: Call, settings: Dict[str, Any]) -> bytes:
    """The answer before a tool runs, and its line in the ledger."""
    if call.command:
        return before_command(call, settings)
    if call.tool in call.host.searches and settings["guard.collapse"] and isinstance(call.input, dict):
        return before_search(call)
    return call.neutral


def before_command(call: Call, settings: Dict[str, Any]) -> bytes:
    """The answer before a command line runs: the line with ctx in it, where that is nobody's loss and changes nobody's authority."""
    host, text, words, (name, value) = call.host, call.command, program_words(), call.host.background
    facts = Facts(
        shell_line(words), host.shadowed, lambda program: bool(finds_program(program, call.environ)), call.mode,
        call.input.get(name) == value, settings["guard.unknown"], host.reads,
    )  # fmt: skip
    verdict = judge(text, facts)
    entry = {"class": verdict.cls, "shape": verdict.shape, "rung": verdict.rung, "why": verdict.reason}
    decision, why = about_ctx(call, words) if "ctx" in text else ("", "")
    if not decision and verdict.cls == "unknown" and facts.unknown == "ask" and host.asks:
        decision, why = "ask", '[guard] unknown = "ask" in ctx.toml, and ctx does not know this command'
    if decision:
        return decided(call, DID[decision], dict(entry, why=why), decision=decision, reason=why)
    if not verdict.edits:
        return decided(call, "left", entry)
    granting, why = authority(call, settings) if words else (None, "ctx is not where it was set up")
    if granting is None:
        return decided(call, "left", dict(entry, why=why))
    changed = {host.shell[call.tool]: with_edits(text, verdict.edits)}
    return decided(call, "rewritten", entry, decision=granting, input=dict(call.input, **changed) if host.whole_input else changed)


def decided(call: Call, did: str, entry: Dict[str, Any], **parts: Any) -> bytes:
    """Note a decision in the ledger; its answer, which is neutral where there are no parts."""
    note(dict(entry, host=call.host.name, event=call.event, tool=call.tool, session=call.session, did=did))
    return call.answer(**parts)


def granted(call: Call, text: str) -> Permission:
    """What the host's rules make of a command line."""
    return permission(call.host.name, text, scan(text), call.mode, host_rules(call.host.name, call.where, home()))


def authority(call: Call, settings: Dict[str, Any]) -> Tuple[Optional[str], str]:
    """The decision that goes with a rewritten command ("": none is needed), None and why if it must stay as it was typed."""
    host, found = call.host, granted(call, call.command)
    if found.decision in ("deny", "ask"):
        return None, "a rule of the host says %s" % found.decision
    if call.mode in host.unasked:
        return "", ""
    if found.decision in host.rewrites:
        return host.rewrites[found.decision], ""
    if found.decision == "none":
        return ("", "") if settings["guard.rewrite_before_prompt"] else (None, "the host asks the user first")
    return None, "the host's rule is about the command as it was typed"


def about_ctx(call: Call, words: Sequence[str]) -> Tuple[str, str]:
    """The decision about a command line in which ctx itself is called, and why; "" where the host decides alone.

    What reads our own store may pass. What ctx is asked to run is judged as if it had been typed without it, since the host's rules
    only see ctx; where a host cannot be made to ask, it is typed without it.
    """
    found = granted(call, call.command)
    if reads_store(call.command, words, call.environ):
        return ("allow", "ctx reads its own store") if call.host.grants and found.decision not in ("deny", "ask") else ("", "")
    ruled = found.decision in ("deny", "ask") and not (found.rule == UNRULED and "none" in call.host.rewrites)
    if not ruled or not any(executes(run.argv) for run in runs_of(scan(call.command), "")):
        return "", ""
    decision = found.decision if call.host.asks else "deny"
    return decision, "%s; typed without ctx, the host's own rules hold" % (found.rule or "the host's rules cannot be seen")


def reads_store(text: str, words: Sequence[str], environ: Dict[bytes, bytes]) -> bool:
    """Whether a command line is one plain call of a verb that reads our own store."""
    commands = scan(text).commands
    if len(commands) != 1 or not words:
        return False
    command = commands[0]
    argv = [word.value or "" for word in command.words]
    own = [list(words)] + [["ctx"]] * (argv[:1] == ["ctx"] and is_same(finds_program("ctx", environ), words[-1]))
    rest = next((argv[len(start) :] for start in own if argv[: len(start)] == start), [])
    plain = not (command.kind or command.assigns or command.redirects or command.background) and "" not in argv
    return plain and bool(READERS.intersection(rest[:1])) and not any(word == "--raw" or word.startswith("repo:") for word in rest)


# What a search tool's input holds, by the names that hosts have for it.
SEARCH_FIELDS = {
    "pattern": ("pattern", "Query", "Pattern"),
    "path": ("path", "dir_path", "SearchPath", "SearchDirectory"),
    "glob": ("glob", "include", "include_pattern"),
    "caseless": ("-i", "CaseInsensitive"),
    "literal": ("IsRegex",),
    "mode": ("output_mode",),
    "type": ("type",),
    "multiline": ("multiline",),
}
SEARCH_MODES = {"files_with_matches": "l", "count": "c"}
SEARCH_TYPES = {"py": "*.py", "js": "*.js", "ts": "*.ts", "go": "*.go", "rust": "*.rs", "java": "*.java", "md": "*.md", "c": "*.[ch]"}


def before_search(call: Call) -> bytes:
    """The answer before a host's own search tool runs: the shell's equivalent, which passes where results are kept whole."""
    text = find_line(call.input) if call.host.searches[call.tool] == "files" else grep_line(call.input)
    entry = {"class": "noisy", "shape": "search-tool", "rung": "bounded-search", "why": "no equivalent"}
    found = granted(call, text).decision if text else ""
    if not text or found in ("deny", "ask"):
        return decided(call, "left", dict(entry, why="a rule of the host says %s" % found if found else "has no equivalent"))
    tool = next(iter(call.host.shell))
    reason = "Search with the %s tool instead, where ctx keeps the complete result: %s" % (tool, text)
    return decided(call, "denied", dict(entry, why="the shell's search is kept whole"), decision="deny", reason=reason)


def search_fields(given: Dict[str, Any]) -> Dict[str, Any]:
    """What a search tool was asked, by the names of SEARCH_FIELDS."""
    return {name: next((given[key] for key in keys if key in given), "") for name, keys in SEARCH_FIELDS.items()}


def find_line(given: Dict[str, Any]) -> str:
    """The command line that finds the files that a search tool was asked for, "" where there is none."""
    fields = search_fields(given)
    pattern, path = fields["pattern"], fields["path"] or "."
    if not isinstance(pattern, str) or not pattern or "{" in pattern or pattern.startswith("/") or not isinstance(path, str):
        return ""
    folder, _, name = pattern.rpartition("/")
    folder = folder.replace("/**/", "*/").strip("*/")
    return shell_line(["find", path, *(["-path", "*/%s/*" % folder] if folder else []), "-name", name])


def grep_line(given: Dict[str, Any]) -> str:
    """The command line that searches for what a search tool was asked, "" where there is none."""
    fields = search_fields(given)
    pattern, path, glob = fields["pattern"], fields["path"] or ".", fields["glob"] or SEARCH_TYPES.get(str(fields["type"]), "")
    texts = isinstance(pattern, str) and isinstance(path, str) and isinstance(glob, str)
    if not texts or not pattern or fields["multiline"] or fields["type"] and not glob or "/" in glob or "{" in glob:
        return ""
    dialect = "F" if fields["literal"] is False else "P" if "\\" in pattern or "(?" in pattern else "E"
    letters = "-r%s%s%s" % (SEARCH_MODES.get(str(fields["mode"]), "n"), "i" if fields["caseless"] is True else "", dialect)
    context = ["%s%d" % (key, given[key]) for key in ("-A", "-B", "-C") if isinstance(given.get(key), int)]
    return shell_line(["grep", letters, *context, *(["--include=" + glob] if glob else []), "-e", pattern, path])


# after a tool has run


def oversized(call: Call, settings: Dict[str, Any]) -> bool:
    """Whether a result is larger than what passes as it is. Most are not, and this is all that is done for them."""
    kind = "shell" if call.gate == "failed" else call.kind
    if not kind:
        return False
    result = inside(call.payload, "error" if call.gate == "failed" else call.host.result)
    size, (place, start) = inside(result, "persistedOutputSize"), call.host.saved
    if start and text_at(result, place).startswith(start):
        return True
    limit: int = settings[LIMITS.get(kind, LIMIT_ELSE)]
    return text_size(result) > limit or isinstance(size, int) and size > limit


def text_size(value: Any) -> int:
    """How much text a value holds, in characters."""
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(text_size, parts))


# the way in


def hook(host: str, event: str, payload: bytes, environ: Dict[bytes, bytes]) -> Optional[bytes]:
    """The answer to one call of a hook, b"" for none, None where it takes the gates of section 22.

    Raises whatever goes wrong: the neutral answer is for who called.
    """
    call = read_call(host, event, payload, environ)
    if environ.get(b"CTX_OFF") == b"1":
        return call.neutral
    files = Snapshot("settings", config_files(call.where))
    made = files.load() if files.files else {}
    return None if made is None else answer(call, dict(HOOK_SETTINGS, **made))


def answer(call: Call, settings: Dict[str, Any]) -> Optional[bytes]:
    """The answer to a call under these settings, None where it takes the gates of section 22."""
    if call.gate == "pre":
        return before_tool(call, settings)
    if call.gate in ("post", "failed"):
        return None if oversized(call, settings) else call.neutral
    if call.gate == "start":
        return None if text_at(call.payload, "source") in ("compact", "resume") else call.neutral
    return None if call.gate == "compact" else call.neutral


def hook_main(argv: Sequence[str], gates: Callable[[], Callable[..., bytes]]) -> None:
    """`ctx hook [HOST [EVENT]]`: answer on stdout and leave with status 0, within HOOK_SECONDS, whatever happens. `argv` is what
    follows `hook`; `gates` gets the function of section 22 that answers what `hook` does not."""
    host, event = [*argv, "", ""][:2]
    payload = b""

    def leave(data: bytes, problem: str = "") -> None:
        set_alarm(0)
        if problem:
            note({"host": host, "event": event, "did": "failed", "why": problem})
        try:
            write_all(1, data)
        except OSError:
            pass
        posix._exit(0)

    def late(*_: object) -> None:
        leave(neutral_answer(host, event, payload), "took longer than %d s" % HOOK_SECONDS)

    try:
        set_alarm(HOOK_SECONDS, late)
        payload = read_input()
        data = hook(host, event, payload, posix.environ)
        if data is None:
            data = gates()(host, event, payload, posix.environ)
    except BaseException as error:
        line = error.__traceback__ and error.__traceback__.tb_lineno
        leave(neutral_answer(host, event, payload), "%s (line %s)" % (type(error).__name__, line))
    leave(data or b"")


def set_alarm(seconds: float, act: Optional[Callable[..., None]] = None) -> None:
    """Have `act` called after so many seconds; 0 takes that back."""
    import _signal

    if act:
        _signal.signal(_signal.SIGALRM, act)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def read_input() -> bytes:
    """All of stdin. Raises ValueError when it is larger than HOOK_INPUT; the rest is read then, too, lest the host gets SIGPIPE."""
    parts: List[bytes] = []
    size = 0
    while True:
        data = posix.read(0, MIB)
        if not data:
            break
        size += len(data)
        parts = [*parts, data] if size <= HOOK_INPUT else []
    if size > HOOK_INPUT:
        raise ValueError("more than %d bytes" % HOOK_INPUT)
    return b"".join(parts)


# — end of the hook path —


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 7 · text
# Knows bytes as lines: windows, line numbers, terminal clean-up, sizes, tokens. Never opens a file.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

_COMPILED: Dict[Tuple[bytes, int], Pattern[bytes]] = {}


def rx(pattern: bytes, flags: int = 0) -> Pattern[bytes]:
    """Compile `pattern` on its first use and keep it: `re` costs more than a small verb, so nothing is compiled at import."""
    found = _COMPILED.get((pattern, flags))
    if found is None:
        import re

        found = _COMPILED[pattern, flags] = re.compile(pattern, flags)
    return found


BLOCK = 64 * KIB  # bytes between two entries of a line index


class Source:
    """The bytes of one stream, read by windows so that memory stays bounded whatever the size.

    `name` is the stream's name in addresses (stdout, stderr, output); `read(start, end)` returns exactly those bytes.
    Lines end at LF and nowhere else; they are numbered from 1, and a last line without LF counts.
    """

    __slots__ = ("name", "size", "read", "_counts")

    def __init__(self, name: str, size: int, read: Callable[[int, int], bytes], counts: Optional[Sequence[int]] = None) -> None:
        self.name = name
        self.size = size
        self.read = read
        self._counts = counts

    @classmethod
    def of_bytes(cls, name: str, data: bytes) -> Source:
        """A source over bytes in memory."""
        return cls(name, len(data), lambda start, end: data[start:end])

    @property
    def counts(self) -> Sequence[int]:
        """Number of LFs before each block of 64 KiB, with the total as last entry; counted once, on first use."""
        if self._counts is None:
            counts, total = [], 0
            for _, data in self.chunks(BLOCK):
                counts.append(total)
                total += data.count(b"\n")
            counts.append(total)
            self._counts = counts
        return self._counts

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.counts[-1] + (1 if self.size and self.read(self.size - 1, self.size) != b"\n" else 0)

    def chunks(self, step: int = CHUNK, start: int = 0) -> Iterator[Tuple[int, bytes]]:
        """(offset, bytes) of one window after the other, cut anywhere."""
        for at in range(start, self.size, step):
            yield at, self.read(at, min(self.size, at + step))

    def line_windows(self, start: int = 0, end: Optional[int] = None, step: int = CHUNK) -> Iterator[Tuple[int, bytes]]:
        """(offset, bytes) of windows that end at line ends; a line longer than four windows is cut."""
        stop = self.size if end is None else min(end, self.size)
        rest, at = b"", start
        for pos in range(start, stop, step):
            data = rest + self.read(pos, min(stop, pos + step))
            cut = data.rfind(b"\n") + 1
            if not cut and len(data) > 4 * step:
                cut = len(data)
            if cut:
                yield at, data[:cut]
                at += cut
            rest = data[cut:]
        if rest:
            yield at, rest

    def line_at(self, offset: int) -> int:
        """Number of the line that holds the byte at `offset`."""
        offset = min(max(offset, 0), self.size)
        block = min(offset // BLOCK, max(len(self.counts) - 2, 0))
        return self.counts[block] + self.read(block * BLOCK, offset).count(b"\n") + 1

    def start_of(self, line: int) -> int:
        """Offset of the first byte of `line`; the size when there are fewer lines."""
        skip = line - 1  # LFs that stand before it
        if skip <= 0:
            return 0
        counts = self.counts
        if skip > counts[-1]:
            return self.size
        low, high = 0, len(counts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if counts[middle] < skip else (low, middle)
        at, left = low * BLOCK, skip - counts[low]
        data = self.read(at, min(self.size, at + BLOCK))
        return at + nth_newline(data, left) + 1

    def slice(self, first: int, last: int) -> bytes:
        """The bytes of lines `first` to `last`, their LFs included."""
        return self.read(self.start_of(first), self.start_of(last + 1))

    def line(self, number: int) -> bytes:
        """One line without its LF."""
        data = self.slice(number, number)
        return data[:-1] if data.endswith(b"\n") else data

    def holds(self, literals: Sequence[bytes]) -> bool:
        """Whether one of the literals occurs; reads no further than the first of them."""
        keep = max(map(len, literals)) - 1
        before = b""
        for _, data in self.chunks():
            window = before + data
            if any(literal in window for literal in literals):
                return True
            before = window[-keep:] if keep else b""
        return False

    def find_all(self, literals: Sequence[bytes], limit: int = 100_000) -> List[List[int]]:
        """Offsets of every literal, in one pass over all bytes; at most `limit` for each (so `limit` found means: maybe more)."""
        found: List[List[int]] = [[] for _ in literals]
        keep = max([len(literal) for literal in literals] or [1]) - 1
        before, base = b"", 0
        for at, data in self.chunks():
            window, base = before + data, at - len(before)
            for literal, hits in zip(literals, found):
                if len(hits) >= limit:
                    continue
                # a hit that ends inside `before` was seen with the window that brought it
                pos = window.find(literal, max(0, len(before) - len(literal) + 1))
                while pos >= 0 and len(hits) < limit:
                    hits.append(base + pos)
                    pos = window.find(literal, pos + 1)
            before = window[-keep:] if keep else b""
        return found


def nth_newline(data: bytes, n: int) -> int:
    """Index of the n-th LF (n ≥ 1) of `data`, which must hold that many."""
    low, high = 0, len(data)
    while high - low > 512 and n > 8:
        middle = (low + high) // 2
        here = data.count(b"\n", low, middle)
        if here >= n:
            high = middle
        else:
            low, n = middle, n - here
    at = low - 1
    for _ in range(n):
        at = data.index(b"\n", at + 1)
    return at


# Control sequences of ECMA-48 (CSI, OSC, two-byte escapes), and the two characters ^[ that some logs print for ESC.
_ANSI = rb"(?:\x1b|\^\[)(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[()*+][A-Za-z0-9])|\x1b[ -/]*[0-~]"


def strip_ansi(data: bytes) -> bytes:
    """`data` without terminal control sequences; nothing else changes."""
    if b"\x1b" not in data and b"^[" not in data:
        return data
    return rx(_ANSI).sub(b"", data)


def clean(line: bytes) -> bytes:
    """One line as a terminal would finally show it: no control sequences, of a redrawn line the last state, no trailing blanks."""
    line = strip_ansi(line).rstrip(b"\r\n \t")
    if b"\r" in line:
        line = line[line.rfind(b"\r") + 1 :] or line.replace(b"\r", b"")
    if b"\b" in line:
        line = rx(rb"[^\x08]\x08").sub(b"", line)
    return line


# Characters that change how a reader sees the text around them: C0/C1 controls, line and paragraph separators, bidi and zero-width marks.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"


def visible(data: bytes) -> str:
    """Captured bytes as text that is safe to show inside our own structure: controls and bidi overrides spelt out, a fake header defused."""
    text = data.decode("utf-8", "backslashreplace")
    if not text.isascii() or not text.isprintable():
        import re

        text = re.sub(_UNSAFE, lambda m: ascii(m.group())[1:-1], text.replace("\n", "\\n"))
    return text.replace("[ctx ", "\\[ctx ")


# What differs between two runs of the same thing: (literals that must occur, expression, replacement).
_VOLATILE: List[Tuple[bytes, bytes, bytes]] = [
    (b"0x", rb"\b0x[0-9a-fA-F]{5,16}\b", rb"0x\xe2\x80\xa6"),
    (b"pytest-", rb"(/pytest-of-[^/\s]+/pytest-)\d+", rb"\1\xe2\x80\xa6"),
    (b"/tmp", rb"(/tmp[\w.-]*/)(?:tmp[\w.-]*|[\w.-]*\.[A-Za-z0-9]{6,12}|[\w-]*[0-9][\w-]*)(?=[/\s'\":;,)\]]|$)", rb"\1\xe2\x80\xa6"),
    (b"/var/folders/", rb"/var/folders/[\w/+.-]+?/T/[\w.-]+", rb"/var/folders/\xe2\x80\xa6"),
    (b"pid", rb"(\bpid[ =:]+)\d+", rb"\1\xe2\x80\xa6"),
    (b":", rb"(\b(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\]):)(?:3[2-9]|[4-6]\d)\d{3}\b", rb"\1\xe2\x80\xa6"),
    (b"in ", rb"(\b(?:in|took|after) )\d+(?:\.\d+)? ?(m?s|sec|seconds|minutes)\b", rb"\1\xe2\x80\xa6\2"),
]


def steady(line: bytes) -> bytes:
    """`line` with addresses in memory, temporary paths, process ids, ephemeral ports and timings masked, so that two runs read alike."""
    for literal, pattern, by in _VOLATILE:
        if literal in line:
            line = rx(pattern).sub(by.replace(rb"\xe2\x80\xa6", "…".encode()), line)
    return line


def commas(n: int) -> str:
    """4102 → '4,102'."""
    return format(n, ",d")


def human(n: int) -> str:
    """Bytes for people, three significant digits: 512 B, 3.98 KiB, 402 KiB, 1.21 GiB."""
    size, unit = float(n), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 999.5 or unit == "TiB":
            break
        size /= 1024
    return "%d B" % n if unit == "B" else "%s %s" % (format(size, ".3g"), unit)


def plural(n: int, one: str, many: str = "") -> str:
    """'1 line', '4,102 lines'."""
    return "%s %s" % (commas(n), one if n == 1 else many or one + "s")


def sha256(data: bytes = b"") -> Any:
    """A SHA-256 object, from the interpreter's own small module where it has one: OpenSSL's takes 2 ms to load (MEASURED §5)."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as new
        else:
            from _sha256 import sha256 as new
    except ImportError:
        from hashlib import sha256 as new
    return new(data)


# Token estimate. Tokens mostly begin where the kind of character changes, so the estimate is a sum over adjacent bytes: what a byte
# of one class costs after a byte of another. Costs are in hundredths of a token; `python3 evals/tokens.py --fit` prints them.

TOKEN_CLASSES = (                                       # the first class also stands for what precedes the text
    b"\n",                                              # newline
    b" ",                                               # space
    bytes(range(10)) + bytes(range(11, 32)) + b"\x7f",  # tab and controls
    b"0123456789",                                      # digit
    b"aeiou",                                           # vowel
    b"bcdfghjklmnpqrstvwxyz",                           # consonant
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",                      # capital
    b"-=*#~_",                                          # dash: what rulers are drawn with
    b".,;:!?",                                          # stop
    b"()[]{}<>\"'`/\\|&%$@^+",                          # other punctuation
    bytes(range(0x80, 0x100)),                          # not ASCII
)

TOKEN_PAIRS = (                         # a row: the byte before; a column: the byte that costs
    # newline   space control   digit   vowel consont capital    dash    stop   other  beyond
    (       4,      91,     125,      90,      37,     109,     154,      80,      86,     111,     128),    # newline
    (      30,       4,     102,     100,       0,      15,       0,       0,      12,      32,       0),    # space
    (       7,      21,      69,     102,      15,      64,      60,      99,      85,      80,      12),    # control
    (     142,      98,      83,      23,      77,     119,     191,      82,      92,      79,      98),    # digit
    (     104,     146,      98,      92,      15,       0,      89,     105,     101,      95,      52),    # vowel
    (     134,      56,      98,     109,       6,      10,      93,      89,      82,      78,     113),    # consont
    (     118,      38,      86,     176,       0,      42,      12,     124,     107,     125,     103),    # capital
    (       0,      82,     101,      88,      57,      66,      41,       1,      27,      41,      87),    # dash
    (      13,      78,      60,      95,      58,      45,      77,      29,       0,       0,      99),    # stop
    (      27,      54,      70,      75,     103,      89,      52,      51,      35,       9,      85),    # other
    (     106,      84,     116,     101,     102,     101,      99,     100,      86,       9,       0),    # beyond
)

TOKEN_BLOCKS = (                        # a character beyond ASCII, by the high byte of its UTF-16 unit: from each to the next
    (0x00, 4), (0x01, 84), (0x03, 75), (0x04, 39), (0x05, 89), (0x06, 63), (0x09, 81), (0x0a, 174), (0x0b, 125),
    (0x0c, 147), (0x0d, 143), (0x0e, 114), (0x0f, 218), (0x10, 116), (0x11, 186), (0x1d, 67), (0x20, 10), (0x21, 78),
    (0x25, 65), (0x26, 101), (0x30, 101), (0x32, 94), (0xac, 89), (0xd8, 161), (0xdc, 0), (0xe0, 43),
)

TOKEN_SAFETY = 1.2                      # so many times the estimate covers the true count of 95% of texts of a digest's size
TOKEN_WINDOW = 64 << 10                 # bytes of one sample
TOKEN_WINDOWS = 16                      # samples taken of a text that is longer than all of them

_TOKEN_CLASS = bytes.maketrans(b"".join(TOKEN_CLASSES), b"".join(bytes([at]) * len(m) for at, m in enumerate(TOKEN_CLASSES)))
_TOKEN_PAIR = b"".join(bytes(row).ljust(16, b"\0") for row in TOKEN_PAIRS).ljust(256, b"\0")
_TOKEN_BLOCK = b"".join(bytes([cost]) * (end - at) for (at, cost), (end, _) in zip(TOKEN_BLOCKS, TOKEN_BLOCKS[1:] + ((256, 0),)))
_ASCII = bytes(range(0x80))


def estimate_tokens(data: bytes) -> int:
    """How many tokens a language model's tokenizer makes of these bytes, roughly: 0 for b"", else at least 1.

    The reference is the mean of three BPE vocabularies (cl100k, o200k, Claude's of 2023). On text that was never fitted on the
    error is 4% in the median for pages of 4,000 characters and 5% for pieces of 300 to 1,500; 95% of code, logs and tool output
    are within 13%, of other languages than English within 35% (evals/tokens.py; its tables: evals/results/tokens.md).
    Appending never lowers it, and the estimates of a text's parts add up to that of the whole but for 4 tokens a seam; texts over
    1 MiB are sampled, so there both hold roughly.
    """
    return estimate_tokens_of(lambda start, end: data[start:end], len(data))


def estimate_tokens_of(read: Callable[[int, int], bytes], size: int) -> int:
    """`estimate_tokens` of `size` bytes that need not be in memory; `read(start, end)` returns those from start up to end.

    Reads everything up to 1 MiB; beyond it, 16 windows of 64 KiB at even distances, head and tail among them.
    """
    if size <= TOKEN_WINDOW * TOKEN_WINDOWS:
        return max((token_cost(read(0, size)) + 50) // 100, min(size, 1))
    seen = cost = 0
    for at in range(TOKEN_WINDOWS):
        start = at * (size - TOKEN_WINDOW) // (TOKEN_WINDOWS - 1)
        window = read(start, start + TOKEN_WINDOW)
        seen, cost = seen + len(window), cost + token_cost(window)
    return max((cost * size // max(seen, 1) + 50) // 100, 1)


def token_cost(data: bytes) -> int:
    """The estimate in hundredths of a token."""
    classes = int.from_bytes(data.translate(_TOKEN_CLASS), "big")
    # Each byte holds its class in four bits; shifting the whole text by four bits sets the class of the byte before beside it.
    pairs = (classes | classes >> 4).to_bytes(len(data), "big")
    cost = byte_sum(pairs.translate(_TOKEN_PAIR))
    return cost if data.isascii() else cost + byte_sum(utf16_blocks(data).translate(_TOKEN_BLOCK))


def utf16_blocks(data: bytes) -> bytes:
    """The high byte of each UTF-16 unit of the characters outside ASCII; a character that the end cuts off is left out."""
    text = data.translate(None, _ASCII).decode("utf-8", "replace")
    return (text[:-1] if text.endswith("\ufffd") else text).encode("utf-16-le")[1::2]


def byte_sum(data: bytes) -> int:
    """The sum of the bytes' values: the low half of Adler-32 is that sum modulo 65521, which 256 bytes cannot reach."""
    from zlib import adler32
    return sum([adler32(data[at:at + 256], 0) & 0xFFFF for at in range(0, len(data), 256)])


def round2(n: int) -> int:
    """n to two significant digits, halves up: 98,432 → 98,000."""
    unit: int = 10 ** max(len(str(n)) - 2, 0)
    return (n + unit // 2) // unit * unit


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 8 · address
# Knows the grammar of handles, selectors and anchors. Never knows what they resolve to.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

STREAMS = ("stdout", "stderr", "output")
HANDLE_DIGITS = 12  # printed
PREFIX_DIGITS = 6  # accepted

_ADDRESS_HELP = "an address is run:HEX[#stdout|#stderr|#output], blob:HEX or repo:PATH, each with :A-B for lines A to B"


class Lines:
    """Lines `first` to `last` (1-based, inclusive; `last` 0 means to the end), with an anchor to their content or ""."""

    __slots__ = ("first", "last", "anchor")

    def __init__(self, first: int, last: int, anchor: str = "") -> None:
        self.first = first
        self.last = last
        self.anchor = anchor

    def __str__(self) -> str:
        return "%d-%s%s" % (self.first, self.last or "", "@" + self.anchor if self.anchor else "")


class Address:
    """`kind` is run, blob or repo; `name` the hex digits or the path; `stream` a run's stream or ""; `lines` the selected lines or None."""

    __slots__ = ("kind", "name", "stream", "lines")

    def __init__(self, kind: str, name: str, stream: str = "", lines: Optional[Lines] = None) -> None:
        self.kind = kind
        self.name = name
        self.stream = stream
        self.lines = lines

    def __str__(self) -> str:
        stream, lines = "#" + self.stream if self.stream else "", ":%s" % self.lines if self.lines else ""
        return "%s:%s%s%s" % (self.kind, self.name, stream, lines)

    def at(self, first: int, last: int, anchor: str = "") -> Address:
        """The same place, lines `first` to `last`."""
        return Address(self.kind, self.name, self.stream, Lines(first, last, anchor))


def parse_address(text: str) -> Address:
    """Read one address in its one-token form. Raises CtxError that says what is wrong with it.

    A path may hold colons; what stands behind its last one is lines if it consists of digits and `-`. So `repo:a:5` is line 5 of `a`,
    and all of a file named `a:5` is `repo:a:5:1-`.
    """
    kind, _, rest = text.partition(":")
    if kind not in ("run", "blob", "repo") or kind == text:
        digits = kind.partition("#")[0]
        is_handle = is_hex(digits) and len(digits) >= PREFIX_DIGITS
        raise CtxError("%s: not an address" % quoted(text), "write run:%s" % visible(fsencode(text)) if is_handle else _ADDRESS_HELP)
    name, colon, span = rest.rpartition(":") if kind == "repo" else rest.partition(":")
    if kind == "repo" and (not colon or span.partition("@")[0].strip("0123456789-") or span[:1] in ("", "@")):
        name, colon = rest, ""
    lines = parse_lines(span) if colon else None
    if kind == "repo":
        if not name:
            raise CtxError("%s: no path" % quoted(text), "write repo:PATH, relative to the workspace")
        return Address(kind, name, "", lines)
    digits, mark, stream = name.partition("#")
    if mark and (kind != "run" or stream not in STREAMS):
        raise CtxError("%s: no such stream" % quoted(text), "a run has #stdout and #stderr, or #output; a blob has none")
    if not is_hex(digits) or len(digits) > 64:
        raise CtxError("%s: %s is not a hexadecimal handle" % (quoted(text), quoted(digits)), _ADDRESS_HELP)
    if len(digits) < PREFIX_DIGITS:
        raise CtxError("%s: too short" % quoted(text), "give at least %d digits of the handle" % PREFIX_DIGITS)
    return Address(kind, digits, stream, lines)


def parse_lines(text: str) -> Lines:
    """Read A-B or A:B (from 1, inclusive), A- to the end, :B from the start, A alone; A-B also with @anchor. Raises CtxError."""
    body, mark, anchor = text.partition("@")
    if mark and (len(anchor) != 8 or not is_hex(anchor)):
        raise CtxError("lines %s: %s is not an anchor" % (quoted(text), quoted(anchor)), "an anchor is 8 hexadecimal digits, as printed")
    span = "%s-%s" % (body, body) if whole_number(body) is not None else body
    first, last = parse_pair(span, "lines", "write A-B, counted from 1; the last N lines are --tail N")
    if first == 0 or last == 0:
        raise CtxError("lines %s: lines are numbered from 1" % quoted(text), "write 1-%d" % (last or 10))
    if last is not None and last < (first or 1):
        raise CtxError("lines %s: the last line is before the first" % quoted(text), "write %d-%d" % (last, first or 1))
    if anchor and not (first and last):
        raise CtxError("lines %s: an anchor needs both ends" % quoted(text), "write A-B@%s" % anchor)
    return Lines(first or 1, last or 0, anchor)


def parse_pair(text: str, name: str, fix: str) -> Tuple[Optional[int], Optional[int]]:
    """Read A:B or A-B; a side may be left out (None), but `-B` is no range, because it reads like one from the end. Raises CtxError."""
    one, mark, two = text.partition(":" if ":" in text else "-")
    first, last = whole_number(one), whole_number(two)
    if not mark or (one and first is None) or (two and last is None) or not (one or two and mark == ":"):
        raise CtxError("%s %s: not a range" % (name, quoted(text)), fix)
    return first, last


def whole_number(text: str) -> Optional[int]:
    """The number that up to 18 ASCII digits spell, None for anything else."""
    return int(text) if text.isdigit() and text.isascii() and len(text) <= 18 else None


def is_hex(text: str) -> bool:
    """Whether `text` is one or more lower-case hexadecimal digits."""
    return bool(text) and not text.strip("0123456789abcdef")


def quoted(text: str) -> str:
    """What the user typed, in quotes and safe to show in an error, cut when long."""
    return "'%s'" % visible(fsencode(text if len(text) <= 120 else text[:117] + "…"))


# An anchor hashes lines one by one and folds the hashes like digits of a number, so that a window can roll down a file in linear time.
_PRIME = (1 << 61) - 1
_BASE = 0x1F3D5B79A2C4E687 % _PRIME


def line_hashes(lines: Iterable[bytes]) -> Iterator[int]:
    """32 bits of each line's content, never 0; the LF or CRLF that ends it does not count."""
    from zlib import crc32

    for line in lines:
        yield crc32(line.rstrip(b"\r\n")) + 1


def anchor_of(lines: Iterable[bytes]) -> str:
    """The anchor of consecutive lines: 8 hexadecimal digits."""
    value = 0
    for this in line_hashes(lines):
        value = (value * _BASE + this) % _PRIME
    return fold_anchor(value)


def fold_anchor(value: int) -> str:
    """61 bits to the 8 digits that are printed."""
    return "%08x" % ((value ^ value >> 32) & 0xFFFFFFFF)


def find_anchored(lines: Iterable[bytes], count: int, anchor: str, limit: int = 3) -> List[int]:
    """First line numbers (from 1) of the places where `count` (at least 1) lines with this anchor stand, at most `limit` of them."""
    from collections import deque

    top = pow(_BASE, count, _PRIME)
    recent: Any = deque()
    value, found = 0, []
    for number, this in enumerate(line_hashes(lines), 1):
        recent.append(this)
        value = (value * _BASE + this) % _PRIME
        if number > count:
            value = (value - recent.popleft() * top) % _PRIME
        if number >= count and fold_anchor(value) == anchor:
            found.append(number - count + 1)
            if len(found) == limit:
                break
    return found


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 9 · config
# Knows ctx.toml: its keys, their defaults, and how to say what is wrong with a file. Never knows what the values do.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

if TYPE_CHECKING:
    Settings = Dict[Tuple[str, str], Any]

# (table, key): (default, smallest value or None, what it means)
SETTINGS: Dict[Tuple[str, str], Tuple[Any, Optional[int], str]] = {
    ("budget", "inline"): (BUDGET_INLINE, 0, "bytes of output that are replayed untouched; half as much again when the command failed"),
    ("budget", "content"): (BUDGET_CONTENT, 0, "bytes up to which output that is the answer (a file, a diff) passes whole"),
    ("budget", "pass"): (BUDGET_PASS, 60, "tokens of the digest of a passing run"),
    ("budget", "read"): (HOOK_SETTINGS["budget.read"], 0, "bytes up to which a file passes whole that a host's own tool reads"),
    ("budget", "fail"): (BUDGET_FAIL, 200, "tokens of the digest of a failing run"),
    ("budget", "page"): (BUDGET_PAGE, 100, "tokens of one page of get and search"),
    ("budget", "hold"): (30, 1, "seconds for which output is held back at most"),
    ("budget", "delta"): (True, None, "whether a digest ends with what changed since the last run of the same command"),
    ("guard", "unknown"): (HOOK_SETTINGS["guard.unknown"], None, "what becomes of commands that ctx does not know: leave, capture or ask"),
    ("guard", "collapse"): (HOOK_SETTINGS["guard.collapse"], None, "whether searches are answered by what ctx makes of them"),
    ("guard", "rewrite_before_prompt"): (
        HOOK_SETTINGS["guard.rewrite_before_prompt"], None, "whether a command is captured about which the host asks the user first"
    ),
    ("store", "days"): (14, 1, "days that a run is kept unless it is pinned"),
    ("store", "quota_mib"): (2048, 16, "MiB that the store may take"),
    ("store", "run_mib"): (RUN_LIMIT // MIB, 1, "MiB that one run may keep: its head, and a ring of its tail"),
    ("redact", "raw"): (False, None, "whether get --raw may show stored bytes without redaction"),
    ("redact", "at_rest"): (False, None, "whether secrets are redacted before they are stored"),
}
CHOICES = {("guard", "unknown"): ("leave", "capture", "ask")}
LARGEST = 10**9  # of any number: what is larger is a slip, and would overflow somewhere


def default_settings() -> Settings:
    """Every setting with its default."""
    return {name: row[0] for name, row in SETTINGS.items()}


def load_config(where: str = "") -> Settings:
    """Every setting with its value in a directory (default: this one). Raises CtxError that names file, line and the nearest valid key."""
    values = default_settings()
    for path in config_files(where):
        values.update(read_config(path))
    return values


def read_config(path: str) -> Settings:
    """The settings of one file, {} when there is none. Raises CtxError."""
    try:
        data = read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise CtxError("%s: cannot be read (%s)" % (path, error.strerror), "make it readable, or remove it") from None
    text = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    found = {}
    for table, keys in parse_toml(path, text).items():
        if not isinstance(keys, dict):
            fix = "write it below %s" % " or ".join("[%s]" % name for name in table_names())
            raise config_error(path, text, ("", table), "%s stands outside a table" % quoted(table), fix)
        if table not in table_names():
            raise config_error(path, text, (table, ""), "unknown table [%s]" % table, nearest(table, table_names(), "tables are"))
        for key, value in keys.items():
            problem, fix = judge_setting(table, key, value)
            if problem:
                raise config_error(path, text, (table, key), problem, fix)
            found[table, key] = value
    return found


def judge_setting(table: str, key: str, value: Any) -> Tuple[str, str]:
    """What is wrong with one setting, and how to mend it; "" when nothing is."""
    if (table, key) not in SETTINGS:
        return "[%s] has no key %s" % (table, quoted(key)), nearest(key, [name for other, name in SETTINGS if other == table], "its keys are")
    default, least, _ = SETTINGS[table, key]
    if type(value) is not type(default):
        kind = {"bool": "true or false", "str": "text in quotes"}.get(type(default).__name__, "a whole number")
        return "[%s] %s must be %s" % (table, key, kind), "as in %s = %s" % (key, to_json(default))
    choices = CHOICES.get((table, key))
    if choices and value not in choices:
        return "[%s] %s must be one of %s" % (table, key, ", ".join(choices)), nearest(value, choices, "choose from")
    if least is not None and not least <= value <= LARGEST:
        return "[%s] %s must be from %d to %d" % (table, key, least, LARGEST), "the default is %d" % default
    return "", ""


def config_error(path: str, text: bytes, name: Tuple[str, str], what: str, fix: str) -> CtxError:
    """An error about the line on which a table or a key of it is named."""
    number = line_of_setting(text.decode("utf-8", "replace"), ".".join(filter(None, name)))
    return CtxError("%s%s: %s" % (path, ":%d" % number if number else "", what), fix)


def line_of_setting(text: str, wanted: str) -> int:
    """The line that names a setting (`table.key`, `table` or `key`), else the one that opens its table, else 0."""
    table, fallback = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        name = line.partition("=")[0].partition("#")[0].translate({ord(mark): None for mark in " \t\r\"'"})
        if name.startswith("["):
            table = name = name.strip("[]")
        elif table and name:
            name = "%s.%s" % (table, name)
        if name == wanted:
            return number
        if name and not fallback and wanted.startswith(name + "."):
            fallback = number
    return fallback


def parse_toml(path: str, data: bytes) -> Dict[str, Any]:
    """TOML to tables, by the interpreter's own parser or a vendored tomli. Raises CtxError."""
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib
        except ImportError:
            what = "%s: this Python (%d.%d) cannot read TOML" % ((path,) + sys.version_info[:2])
            raise CtxError(what, "use Python 3.11 or newer, or remove the file") from None
    try:
        tables: Dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        return tables
    except UnicodeDecodeError as error:
        raise CtxError("%s:%d: not UTF-8" % (path, data.count(b"\n", 0, error.start) + 1), "save it as UTF-8") from None
    except RecursionError:
        raise CtxError("%s: nested too deeply" % path, "write plain settings, as ctx init does") from None
    except ValueError as error:
        what, _, place = str(error).rstrip(")").partition(" (at ")
        number = place[5:].partition(",")[0]  # "line 3, column 7", or "end of document"
        line = int(number) if number.isdigit() else len(data.rstrip().split(b"\n"))
        raise CtxError("%s:%d: not TOML (%s)" % (path, line, what), "mend that line") from None


def table_names() -> List[str]:
    """The tables of ctx.toml."""
    return sorted({table for table, _ in SETTINGS})


def settings_text(values: Settings) -> List[str]:
    """Settings as lines of a ctx.toml, each with what it means."""
    lines = []
    for table in table_names():
        lines += ["", "[%s]" % table]
        lines += ["%s = %s  # %s" % (key, to_json(value), SETTINGS[name, key][2]) for (name, key), value in values.items() if name == table]
    return lines[1:]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """'did you mean X?' for the nearest of `known`, "" when none is near."""
    import difflib

    near = difflib.get_close_matches(word[:100], list(known), 1, 0.6)
    return "did you mean %s?" % near[0] if near else ""


def nearest(word: str, known: Sequence[str], label: str) -> str:
    """What to write instead of an unknown word: the nearest of `known`, else all of them behind a label."""
    return did_you_mean(word, known) or "%s %s" % (label, ", ".join(known))


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 10 · redact
# Knows the patterns of secrets. Never knows what they are found in.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

# Which families there are and what their tokens look like is taken from the public documentation of their issuers and of the
# scanners gitleaks, trufflehog, detect-secrets and GitHub secret scanning; lengths are kept a little wider, since issuers change
# them. All repeats are bounded: that keeps matching linear, and no match is longer than _REACH.
#
# A rule is tried only where the sieve (below) reports one of its windows: four bytes that it cannot do without. In a window `[...]`
# is a set, `#` a letter or digit, `?` a byte that is neither, `*` any byte, `+` a blank; `abc^defg` is the window `defg` of a match
# that starts three bytes before it.

# Tokens that give themselves away: (kind, check, windows, expression of the whole token). Case matters.
_TOKENS: Tuple[Tuple[str, str, bytes, bytes], ...] = (
    ("private-key", "", b"LS0t",
     rb"LS0tLS1CRUdJTiB(?:QUklWQVRF|SU0Eg|FQy|PUEVOU1NI|FTkNSWVBU|EU0Eg|QR1AgUFJJ)[A-Za-z0-9+/=]{60,12000}"),
    ("aws-access-key", "", b"AKIA ASIA ABIA ACCA", rb"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}"),
    ("github-token", "", b"gh[pousr]_", rb"gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github-token", "", b"gith^ub_p", rb"github_pat_[A-Za-z0-9_]{22,255}"),
    ("gitlab-token", "mixed", b"gl[pdrcfias][atbmgof] g^loas",
     rb"gl(?:pat|ptt|rtr?|dt|cbt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_-]{16,255}(?:\.[A-Za-z0-9]{2}\.[A-Za-z0-9]{7,12})?"),
    ("gitlab-token", "", b"GR13", rb"GR1348941[A-Za-z0-9_-]{20}"),
    ("slack-token", "mixed", b"xox[abeoprs]", rb"xox[abeoprs](?:\.xox[abp])?-[A-Za-z0-9-]{10,512}"),
    ("slack-token", "mixed", b"xapp", rb"xapp-[0-9]-[A-Za-z0-9-]{20,512}"),
    ("stripe-key", "mixed", b"[rs]k_[lt]", rb"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("stripe-key", "mixed", b"whse", rb"whsec_[A-Za-z0-9+/]{24,255}={0,2}"),
    ("google-api-key", "", b"AIza", rb"AIza[A-Za-z0-9_-]{32,40}"),
    ("google-oauth-token", "mixed", b"ya29", rb"ya29\.[A-Za-z0-9_.-]{20,2048}"),
    ("google-oauth-token", "mixed", b"1//0", rb"1//0[A-Za-z0-9_-]{40,200}"),
    ("google-oauth-secret", "", b"GOCS", rb"GOCSPX-[A-Za-z0-9_-]{20,40}"),
    ("npm-token", "", b"npm_", rb"npm_[A-Za-z0-9]{30,48}"),
    ("pypi-token", "", b"py^pi-A", rb"pypi-AgE[A-Za-z0-9_-]{16,1024}"),
    ("docker-token", "", b"dckr", rb"dckr_[op]at_[A-Za-z0-9_-]{20,64}"),
    ("huggingface-token", "", b"hf_#", rb"hf_[A-Za-z0-9]{30,64}"),
    ("huggingface-token", "", b"ap^i_or", rb"api_org_[A-Za-z0-9]{30,64}"),
    ("anthropic-key", "mixed", b"sk-a", rb"sk-ant-[A-Za-z0-9_-]{20,256}"),
    ("openai-key", "mixed", b"sk-#", rb"sk-[A-Za-z0-9_-]{20,256}"),
    ("groq-key", "", b"gsk_", rb"gsk_[A-Za-z0-9]{40,64}"),
    ("xai-key", "", b"xai-", rb"xai-[A-Za-z0-9]{60,100}"),
    ("perplexity-key", "", b"pplx", rb"pplx-[A-Za-z0-9]{40,64}"),
    ("replicate-token", "", b"r8_#", rb"r8_[A-Za-z0-9]{37,40}"),
    ("langsmith-key", "", b"lsv2", rb"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("sendgrid-key", "mixed", b"SG.#", rb"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    ("brevo-key", "", b"xkey xsmt", rb"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("mailgun-key", "mixed", b"key-", rb"(?<![_-])key-[0-9a-z]{32}"),
    ("twilio-key", "", b"SK[0-9a-f][0-9a-f]", rb"SK[0-9a-f]{32}"),
    ("discord-token", "", b"[MNO][DTjz][AEIMQUYcgk][0-5w-z]",
     rb"(?:[MNO][DTjz][AEIMQUYcgk][0-5w-z]){5}[A-Za-z0-9]{3,8}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ("digitalocean-token", "", b"do[opr]_", rb"do[opr]_v1_[0-9a-f]{40,80}"),
    ("vault-token", "mixed", b"hv[bsr].", rb"hv[bsr]\.[A-Za-z0-9_-]{20,512}"),
    ("age-secret-key", "", b"AGE-", rb"AGE-SECRET-KEY-1[A-Z0-9]{40,70}"),
    ("jwt", "", b"eyJ#",
     rb"eyJ[A-Za-z0-9_-]{8,1024}\.[A-Za-z0-9_-]{8,10000}\.[A-Za-z0-9_-]{8,1024}(?:\.[A-Za-z0-9_-]{8,2000}){0,2}"),
    ("1password-token", "", b"ops_", rb"ops_eyJ[A-Za-z0-9+/_-]{100,2048}={0,2}"),
    ("azure-secret", "mixed", b"***^[0-9]Q~#", rb"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("alibaba-access-key", "mixed", b"LTAI", rb"LTAI[A-Za-z0-9]{16,24}"),
    ("databricks-token", "", b"dapi", rb"dapi[0-9a-f]{32}(?:-[0-9])?"),
    ("dynatrace-token", "", b"dt0[cs]", rb"dt0[cs][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    ("openshift-token", "", b"sha2^56~#", rb"sha256~[A-Za-z0-9_-]{43}"),
    ("artifactory-token", "", b"AKCp", rb"AKCp[A-Za-z0-9]{69}"),
    ("atlassian-token", "mixed", b"ATAT ATCT ATBB", rb"AT(?:[AC]TT3|BB)[A-Za-z0-9_=-]{24,400}"),
    ("shopify-token", "", b"shp[acps]", rb"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("square-token", "", b"sq0[acis]", rb"sq0[a-z]{3}-[A-Za-z0-9_-]{22,64}"),
    ("linear-key", "", b"lin_", rb"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("notion-token", "", b"ntn_", rb"ntn_[A-Za-z0-9]{40,50}"),
    ("notion-token", "mixed", b"sec^ret_", rb"secret_[A-Za-z0-9]{43}"),
    ("figma-token", "", b"figd", rb"figd_[A-Za-z0-9_-]{40,64}"),
    ("grafana-token", "", b"glsa", rb"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("grafana-token", "", b"glc_", rb"glc_eyJ[A-Za-z0-9+/]{30,400}={0,2}"),
    ("sentry-token", "", b"sntr", rb"sntry[su]_[A-Za-z0-9+/=_-]{40,400}"),
    ("newrelic-key", "mixed", b"NR[AIJR][AIKS]", rb"NR(?:AK|II|JS|RA)-[A-Za-z0-9_-]{19,42}"),
    ("doppler-token", "", b"dp.[acps]", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("postman-key", "", b"PMAK", rb"PMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34}"),
    ("rubygems-key", "", b"rubyg^ems_", rb"rubygems_[0-9a-f]{48}"),
    ("clojars-token", "", b"CLOJ", rb"CLOJARS_[0-9a-z]{60}"),
    ("tailscale-key", "mixed", b"tske", rb"tskey-[a-z]{2,12}-[A-Za-z0-9-]{10,80}"),
    ("pulumi-token", "", b"pul-", rb"pul-[0-9a-f]{40}"),
    ("planetscale-token", "", b"psca", rb"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,64}"),
    ("supabase-key", "", b"sbp_", rb"sbp_[0-9a-f]{40}"),
    ("supabase-key", "mixed", b"sb_s", rb"sb_secret_[A-Za-z0-9_-]{20,64}"),
    ("heroku-key", "", b"HRKU", rb"HRKU-[A-Za-z0-9_-]{36,64}"),
    ("netlify-token", "", b"nfp_", rb"nfp_[A-Za-z0-9]{36,64}"),
    ("fly-token", "", b"fo1_", rb"fo1_[A-Za-z0-9_-]{43}"),
    ("fly-token", "", b"fm[12]_", rb"fm[12]_[A-Za-z0-9+/]{100,2048}={0,2}"),
    ("buildkite-token", "", b"bkua", rb"bkua_[0-9a-z]{40}"),
    ("circleci-token", "", b"CCIP", rb"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
)

# The words that a setting's name ends with when its value is a secret, and the kinds by their first letters.
_WORDS = rb"(?:pass(?:w(?:or)?d|phrase)?|pwd|secret|token|key|credentials?|auth)"
_KIND_OF = {
    **{b"pas": "password", b"pwd": "password", b"sec": "secret", b"tok": "token"},
    **{b"key": "api-key", b"cre": "credential", b"aut": "credential"},
}
# What may stand between word and value: `=`, `: `, `":"`, `\": \"`, `'] = `, ` => `, `: str = `, `_PROD=`, `>` of an element.
_ASSIGN = (
    rb"(?:[_.-]?(?:base|value|prod(?:uction)?|dev(?:elopment)?|test|staging|live|local|root|admin|db|new|old|v?[0-9]{1,3})){0,2}"
    rb"[\"'\\\]]{0,4}[ \t]{0,40}(?::[ ]{0,2}[a-z](?:[a-z0-9_.\[\]]| \| ){0,40}[ ]{0,2}=(?![=>~])|=>|:=|[:=](?![:=~])"
    rb"|>(?=[^<>\s]{4,512}</))[ \t]{0,40}"
)
# A value is quoted, quoted inside a quoted text, or bare. Of an expression whose last group matched the value is bare.
_VALUE = (
    rb"(?:[bru@]{0,2}(?:\"([^\"\n]{4,4096})\"|'([^'\n]{4,4096})'|`([^`\n]{4,4096})`|\\{1,3}\"([^\"\\\n]{4,4096})\\"
    rb"|\\{1,3}'([^'\\\n]{4,4096})\\)|[\"']?([^\s\"'`,;&|<>(){}\[\]\\]{4,4096}))"
)
_ARGUMENT = rb"[\"']?([^\s\"'`\\$-][^\s\"'`\\]{2,512})"

# Secrets that only the text around them gives away: (kind, check, windows, what stands before a match, the match). Both expressions
# see lower-case text. The secret is from the first one's group on, if it has one, else the group of the second, else all of it.
# Without a kind, it is that of the word.
_CONTEXTS: Tuple[Tuple[str, str, bytes, bytes, bytes], ...] = (
    ("private-key", "key", b"-----^begi", b"", rb"-----begin [a-z0-9 ]{0,32}private key(?: block)?-----"
     rb"(?:[a-z0-9+/=\\ :,]{0,80}-(?!-)){0,4}[a-z0-9+/=\\ :,]{0,8000}(?:-----end [a-z0-9 ]{0,32}private key(?: block)?-----)?"),
    ("url-password", "filled", b"://* :\\/\\", b"", rb":(?:\\?/){2}[^\s/?#:@\"'<>\\`|(){}\[]{0,128}:(?![0-9]{1,5}(?:[/?#]|\\/))"
     rb"(?:([^\s/?#\"'<>\\`]{1,256})|([^\s/?#\"'<>\\`@][^\s?#\"'<>\\`@]{0,255}))@(?!sha[0-9]{1,3}:)(?=[a-z0-9\[_$%{-])"),
    ("telegram-token", "", b":aa#", rb"(?<![0-9a-z])([0-9]{8,10})\Z", rb":aa[a-z0-9_-]{32,34}(?![a-z0-9_-])"),
    ("mailchimp-key", "", b"-us[0-9]", rb"(?<![0-9a-z])([0-9a-f]{32})\Z", rb"-us[0-9]{1,2}(?![0-9a-z])"),
    ("terraform-token", "", b".atl", rb"(?<![0-9a-z])([0-9a-z]{14})\Z", rb"\.atlasv1\.[a-z0-9_=-]{50,90}"),
    ("slack-webhook", "", b"ho^oks.", b"",
     rb"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([a-z0-9+/_-]{20,160})"),
    ("discord-webhook", "", b"/web", rb"discord(?:app)?\.com/api(?:/v[0-9]{1,2})?\Z",
     rb"/webhooks/([0-9]{16,20}/[a-z0-9_-]{60,80})"),
    ("teams-webhook", "", b".off", rb"webhook\Z", rb"\.office\.com/webhookb2/([0-9a-z@/-]{60,300})"),
    ("url-signature", "mixed", b"sig= signa^ture", rb"(?:[?&;]|, ?|\\u0026)(?:x-(?:amz|goog)-)?\Z",
     rb"sig(?:nature)?=([a-z0-9%+/_=~-]{32,1024})"),
    ("aws-secret-key", "", b"secr", b"",
     rb"secret[_ -]?access[_ -]?key(?: \[[^\]\n]{0,24}\])?[^a-z0-9\n/+]{1,24}([a-z0-9/+]{40})(?![a-z0-9/+=])"),
    ("azure-key", "mixed", b"accou^ntke", b"", rb"accountkey[\"'\\ ]{0,4}[:=][\"'\\ ]{0,4}([a-z0-9+/]{40,100}={0,2})"),
    ("azure-key", "mixed", b"share^dacc", b"", rb"sharedaccesskey[\"'\\ ]{0,4}[:=][\"'\\ ]{0,4}([a-z0-9+/]{40,100}={0,2})"),
    ("authorization", "credential", b"aut^hori", b"",
     rb"(?<![a-z0-9])authorization[\"'\\\]]{0,4}[ \t]{0,3}(?:=>|[:=,])[ \t]{0,3}[fbru]{0,2}[\[\"'\\]{0,4}(?!aws4-|digest )"
     rb"(?:[a-z][a-z0-9-]{1,20}[ ]{1,3})?([^\s\"'\\,;<>(){}\[\]]{8,4096})"),
    ("authorization", "mixed", b"bear", b"", rb"bearer(?:[ \t]{1,3}|%20|\+)[\"'\\]{0,2}([a-z0-9_.~+/=-]{16,4096})"),
    ("cookie", "mixed", b"set-^cook", b"",
     rb"set-cookie[\"'\\]{0,4}[ \t]{0,2}[:=,][ \t]{0,2}[\[\"'\\]{0,4}[^\s=;\"'\\]{1,128}=([^\s;\"'\\,]{8,4096})"),
    ("cookie", "cookie", b"cook", b"",
     rb"(?<!set-)cookie[\"'\\]{0,4}(?:[ \t]{0,2}[:=][ \t]{0,2}|(?<=--cookie) )[\[\"'\\]{0,4}"
     rb"([^\s=;\"'\\]{1,128}=(?:[^\s\"'\\,]|(?<=;) ){8,4096})"),
    ("password", "filled", b"+-u+ +--u", rb"(?:curl|wget|https?|xh)\b(?:[^\n;|&]|&(?!&)){0,400}\Z",
     rb" (?:-u|--user)[ =]{1,2}[\"']?[^\s:\"'$]{1,128}:([^\s\"'$]{1,256})"),
    ("password", "filled", b"+-p*", rb"(?:sshpass|(?:docker|podman|registry) login)\b[^\n|;&]{0,200}\Z", rb" -p ?" + _ARGUMENT),
    ("password", "filled", b"+-p#", rb"\b(?:mysql|mariadb)(?:dump|admin|check|import)?\b[^\n|;&]{0,200}\Z", rb" -p" + _ARGUMENT),
    ("password", "filled", b"+-a+", rb"redis-cli\b[^\n|;&]{0,200}\Z", rb" -a " + _ARGUMENT),
    ("password", "filled", b"identi^fied", b"", rb"identified (?:with [a-z0-9_'\"]{1,40} )?by (?:password )?'([^'\n]{3,256})'"),
    ("password", "filled", b"p^assw", rb"\b(?:with|role|user|encrypted|login) [^\n;]{0,200}\Z", rb"password '([^'\n]{3,256})'"),
    ("password", "filled", b"p^assw",
     rb"\b(?:machine[ \t]{1,8}[^\s]{1,128}|default)[ \t]{1,8}login[ \t]{1,8}[^\s]{1,128}[ \t]{1,8}\Z",
     rb"password[ \t]{1,8}" + _ARGUMENT),
    ("", "argument", b"p^assw p^ass? toke secr key?", b"",
     rb"(?:(?<=[-_])|(?<=-api)|(?<=-auth)|(?<=store))" + _WORDS + rb"(?:[ ]{1,2}|[\"'],[ ]{0,2})" + _ARGUMENT),
    ("", "assigned", b"p^assw p^assp p^ass? pwd? secr toke key? key[0-9] cred a^uth?", b"", _WORDS + _ASSIGN + _VALUE),
)

# Which windows are looked for together. Any window may stand in any of the eight lanes; this grouping was found by a local search
# over ordinary output of tools, for the fewest places that look like a window and are none.
_LANES: Tuple[bytes, ...] = (
    b"AGE- CLOJ ap^i_or cook cred dckr figd identi^fied key- secr set-^cook share^dacc sig= xai- ya29",
    b".atl 1//0 LTAI a^uth? accou^ntke gith^ub_p ntn_ sec^ret_ signa^ture",
    b".off GR13 dt0[cs] glsa psca sntr toke tske whse xox[abeoprs]",
    b"-us[0-9] ACCA AKCp ATAT ATBB ATCT LS0t PMAK g^loas gsk_ ho^oks. lsv2 npm_ ops_ p^ass? p^assp p^assw pplx pul- pwd? xsmt",
    b"+--u ABIA AKIA ASIA CCIP HRKU NR[AIJR][AIKS] aut^hori dapi do[opr]_ fm[12]_ fo1_ gh[pousr]_ lin_ py^pi-A rubyg^ems_",
    b"/web AIza SK[0-9a-f][0-9a-f] [MNO][DTjz][AEIMQUYcgk][0-5w-z] gl[pdrcfias][atbmgof] glc_ hv[bsr]. shp[acps] sq0[acis] xkey",
    b"***^[0-9]Q~# +-a+ +-p# +-p* +-u+ -----^begi :aa# bear bkua eyJ# key? key[0-9] sha2^56~# xapp",
    b"://* :\\/\\ GOCS SG.# [rs]k_[lt] dp.[acps] hf_# nfp_ r8_# sb_s sbp_ sk-# sk-a",
)

_BLOCK = 64 * KIB  # sieved at a time: the long integers of one block stay in the cache
_WINDOW = 64 * KIB  # a line at least this long is redacted by windows, so that it need not be held whole
_REACH = 16 * KIB  # no match is longer: what lies that far before the end of a window is settled
_BEFORE = 512  # how far the text before a match is looked at
_CONTEXT = 2 * KIB  # what a window sees of the one before: more than lies between a secret and the start of all that gives it away
_KEY_LIMIT = 16 * KIB  # of a private key, what is held back to hash it; an RSA key of 8192 bits has 6.4 KB

_CSI = rb"(?:\x1b|\^\[)\[[0-?]*[ -/]*[@-~]"
_MARKER = rb"\[redacted(?::[a-z0-9-]{1,40}:[0-9a-f]{6})?\]"

# Where a token may start: not inside a word, except after what an escape ends with: \n, %3D, \u003d, \x1b, [32m.
_EDGE = (
    rb"(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\[m)"
    rb"|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m))"
)

_DECIMAL, _ALPHA = b"0123456789", b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Value:
    """A value that an expression found: `text[start:end]`. The match starts at `at`; `bare` says that the value is not quoted."""

    __slots__ = ("text", "at", "start", "end", "bare")

    def __init__(self, text: bytes, at: int, start: int, end: int, bare: bool) -> None:
        self.text = text
        self.at = at
        self.start = start
        self.end = end
        self.bare = bare

    @property
    def value(self) -> bytes:
        """What was found, as much of it as is needed to judge it."""
        return self.text[self.start : min(self.end, self.start + 256)]

    @property
    def word(self) -> bytes:
        """The first three letters of the match, in lower case."""
        return self.text[self.at : self.at + 3].lower()

    @property
    def prefix(self) -> bytes:
        """What stands in a setting's name before the word that the match starts with."""
        before = self.text[max(0, self.at - 64) : self.at]
        return before[len(before.rstrip(_ALPHA + _DECIMAL + b"_-.$")) :]

    @property
    def equals(self) -> bool:
        """Whether an equals sign stands before the value."""
        return b"=" in self.text[self.at : self.start]


# ── what a value must look like ──

# What stands for a value that is elsewhere, or is no secret: variables, templates, code, hashes, addresses, URLs, dates.
_TEMPLATE = (
    rb"(?i)\$[a-z_{(]|[<{]|%[({]|@[{(]|#\{|0x[0-9a-f]{1,16}\Z|(?:sha[0-9]{1,3}|md5)[-:=]|[a-z][a-z0-9+.-]{1,20}://"
    rb"|(?:run|blob|repo|arn|urn|ssh-[a-z0-9]{1,20})[: ]|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]"
    rb"|(?:env|secrets?|vars?|config|settings|self|this|process|os|args|params|req|request|options|opts)[.\[]"
)
_PLACEHOLDER = (
    rb"(?i)\*{3}|\.{3}|\xe2\x80\xa6|\[redacted|x{4}|change.?me|replace.?(?:me|this|with)|place.?holder|dummy|redacted|masked|hidden"
    rb"|your[-_.]?(?:api|pass|secret|token|key|own|access|auth)|^your"
    rb"|insert[-_]|goes[-_]?here|%[sdrv](?![a-z0-9])|\$\{|\{[a-z0-9_.]{0,40}\}"
)
_NO_SECRET = frozenset(
    b"none null nil undefined true false yes no on off unset missing required optional invalid valid expired empty default example"
    b" string text input password passwd passphrase pass secret token key credentials basic bearer digest enabled disabled changed"
    b" username user admin auth authentication test unknown incorrect wrong value hash plain plaintext prompt ask".split()
)
_LABEL = (
    rb"(?i)pass|pwd|secret|token|key|hash|user|name|arg|param|field|input|value|str|type|text|data|env|conf|opt|len|min|max|match"
    rb"|id\Z"
)
_WORDLIKE = (
    rb"(?:(?:[A-Z]?[a-z\x80-\xff]{2,}(?![a-z\x80-\xff])|[A-Z]{2,}(?![a-z])|[A-Z](?=[A-Z][a-z])){1,8}|[A-Za-z]?)[0-9]{0,4}\Z"
    rb"|[0-9]{1,20}\Z"
)
_DOTTED, _SNAKE = rb"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z", rb"[a-z]+[0-9]?(?:_[a-z0-9]+)+\Z"
_CONSTANT = rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z"

# Whose key is a secret, unlike that of a cache, a table or a dictionary; which tokens are none; which words only end like `pass`.
_SECRET_KEYS = tuple(
    b"api access secret private auth account encryption encrypt signing sign master license subscription service admin app client"
    b" consumer session shared storage webhook jwt hmac aes fernet deploy functions bot project".split()
)
_OPEN_TOKENS = tuple(
    b"next page forward backward starting continuation sequence change lock sync cancellation cursor eos bos pad unk sep mask cache"
    b" public".split()
)
_OTHER_PASSES = tuple(b"com by ask mini sur tres over under low high band all multi single one two first second -r".split())


def _is_words(value: bytes) -> bool:
    """Whether a value consists of words and numbers, as names, paths and sentences do and random text does not."""
    word = rx(_WORDLIKE)
    return all(word.match(piece) for piece in rx(rb"[A-Za-z0-9\x80-\xff]+").findall(value))


def _is_random(value: bytes) -> bool:
    """Whether a value has the make-up of random text."""
    letters, digits = (len(value) - len(value.translate(None, kind)) for kind in (_ALPHA, _DECIMAL))
    cases = value != value.lower() and value != value.upper()
    return len(set(value)) > 5 and letters > 1 and (digits > 1 or cases and len(value) > 19) and not _is_words(value)


def _is_template(value: bytes) -> bool:
    """Whether a value stands for one that is elsewhere, or for none."""
    return value.lower() in _NO_SECRET or len(set(value)) == 1 or bool(rx(_TEMPLATE).match(value) or rx(_PLACEHOLDER).search(value))


def _varied(found: _Value) -> bool:
    return len(set(found.text[found.start : found.end][-16:])) > 1


def _mixed(found: _Value) -> bool:
    return _is_random(found.value) and not rx(_PLACEHOLDER).search(found.value)


def _key(found: _Value) -> bool:
    return bool(rx(rb"[A-Za-z0-9+/]{32}").search(found.text, found.start, found.end))


def _filled(found: _Value) -> bool:
    return not (rx(_TEMPLATE).match(found.value) or rx(_PLACEHOLDER).search(found.value))


def _credential(found: _Value) -> bool:
    value = found.value
    if b"basic" in found.text[found.at : found.start].lower() and (value == value.lower() and not value.endswith(b"=")):
        return False
    return len(set(value)) > 5 and not _is_words(value) and not _is_template(value)


def _cookie(found: _Value) -> bool:
    pairs = found.text[found.start : found.end].split(b";")
    values = [pair.partition(b"=")[2].strip()[:256] for pair in pairs]
    return any(len(value) > 11 and _is_random(value) for value in values)


def _in_path(found: _Value) -> bool:
    """Whether the name is part of a path of names: `test_a.py::test_b[token=…]`, `AWS::IAM::AccessKey`, `arn:…:secret:…`."""
    path = rx(rb"(?:::(?:[^\s\[]{1,200}\[[^\s\]]{0,200}|\w{0,64})|\barn:[^\s]{1,200})\Z")
    first = max(0, found.at - 256)
    return b":" in found.text[first : found.at] and bool(path.search(found.text, first, found.at))


def _is_code(found: _Value) -> bool:
    """Whether what is assigned is a call, a sentence, a path, or no value at all."""
    value = found.value
    called = found.bare and found.text[found.end : found.end + 1] in (b"(", b"[", b"{")
    path = value[:1] in (b"/", b"~", b".") and (_is_words(value) or found.word == b"pwd")
    return called or path or _is_template(value) or bool(rx(rb"\s").search(value)) or _in_path(found)


def _is_setting(found: _Value) -> bool:
    """Whether the form is that of a setting, not of code: `DB_PASSWORD=…`, `"DB_PASSWORD": "…"`, `--password=…`, `?password=…`."""
    prefix = found.prefix
    if (prefix + found.text[found.at : found.at + 3]).isupper():
        return found.equals or not found.bare
    before = found.text[max(0, found.at - len(prefix) - 2) : found.at - len(prefix)]
    return found.equals and (prefix[:1] == b"-" or before[-1:] in (b"?", b"&") and before != b"&&")


def _password(found: _Value) -> bool:
    """People choose passwords, so many are not random; but names and words of code are none."""
    value, prefix = found.value, found.prefix
    if found.bare and len(value) < 6 and value.isdigit() or _is_code(found):
        return False
    if rx(rb"(?i)pass\W").match(found.text, found.at) and (not prefix and found.bare or prefix.lower().endswith(_OTHER_PASSES)):
        return False
    if _is_setting(found):
        return not (found.bare and (rx(_CONSTANT).match(value) or prefix[:1] == b"-" and value.isupper() and _is_words(value)))
    if rx(_LABEL).search(value) and _is_words(value):
        return False
    odd = value.translate(None, _ALPHA + b"_-.")
    if found.bare:
        return len(value) > 5 and b"" != odd != value and not rx(_DOTTED).match(value)
    return odd != b"" or len(value) > 7 and value.isalpha() and value.islower()


def _token(found: _Value) -> bool:
    """Machines make tokens and keys, so they look random."""
    value, prefix, word = found.value, found.prefix.lower().rstrip(b"_-."), found.word
    if word == b"key" and not prefix.endswith(_SECRET_KEYS) or word == b"tok" and prefix.endswith(_OPEN_TOKENS):
        return False
    if word == b"aut" and (found.prefix[-1:].isalnum() or found.bare and not found.prefix):
        return False
    cases = word == b"aut" and value != value.lower() and not _is_words(value)
    if len(value) < (12 if found.bare and not found.equals else 10) or not (cases or _is_random(value)) or _is_code(found):
        return False
    return not found.bare or _is_setting(found) or not (rx(_DOTTED).match(value) or rx(_SNAKE).match(value))


def _secret(found: _Value) -> bool:
    """Both are called secrets; so are names of secrets, which are words with dashes."""
    chosen = found.end - found.start > 7 and _is_setting(found) and b"-" not in found.value and not _is_code(found)
    return chosen or _token(found)


def _assigned(found: _Value) -> bool:
    kind = _KIND_OF[found.word]
    return (_password if kind == "password" else _secret if kind == "secret" else _token)(found)


def _argument(found: _Value) -> bool:
    return found.prefix[:1] == b"-" and _assigned(found)


# Column `check`: what must hold for the value besides the expression.
_CHECKS: Dict[str, Callable[[_Value], bool]] = {
    "": _varied,
    "mixed": _mixed,
    "key": _key,
    "filled": _filled,
    "credential": _credential,
    "cookie": _cookie,
    "argument": _argument,
    "assigned": _assigned,
}


# ── the sieve ──


class _Rule:
    """One row of the tables. `rank` orders kinds where secrets overlap; `folded` expressions see lower-case text."""

    __slots__ = ("rank", "kind", "check", "head", "tail", "folded", "_match")

    def __init__(self, rank: int, kind: str, check: str, head: bytes, tail: bytes, folded: bool) -> None:
        self.rank = rank
        self.kind = kind
        self.check = check
        self.head = head
        self.tail = tail
        self.folded = folded
        self._match: Optional[Callable[[bytes, int], Any]] = None

    def find(self, text: bytes, low: bytes, at: int) -> Optional[Tuple[int, int]]:
        """The span of the secret of a match that starts at `at`."""
        if self._match is None:
            self._match = rx(self.tail).match
        seen = low if self.folded else text
        match = self._match(seen, at)
        if match is None or not self.folded and not rx(_EDGE).match(text, at):
            return None
        start, end = match.span(match.lastindex or 0)
        if self.head:
            before = rx(self.head).search(seen, max(0, at - _BEFORE), at)
            if before is None:
                return None
            start = before.start(1) if before.lastindex else start
        found = _Value(text, at, start, end, match.lastindex == match.re.groups)
        return (start, end) if _CHECKS[self.check](found) else None


def _rules() -> Iterator[Tuple[_Rule, bytes]]:
    """Every rule, with its windows."""
    for rank, (kind, check, windows, token) in enumerate(_TOKENS):
        yield _Rule(rank, kind, check, b"", token + rb"(?![A-Za-z0-9])", False), windows
    for rank, (kind, check, windows, head, tail) in enumerate(_CONTEXTS, len(_TOKENS)):
        yield _Rule(rank, kind, check, head, tail, True), windows


def _places(window: bytes, folded: bool) -> List[bytes]:
    """The bytes that a window allows at each of its four places."""
    every = bytes(range(256))
    named = {b"#": _ALPHA + _DECIMAL, b"?": every.translate(None, _ALPHA + _DECIMAL), b"*": every, b"+": b" "}
    places = []
    for place in rx(rb"\[[^\]]+\]|.").findall(window.partition(b"^")[2] or window):
        if place in named:
            places.append(named[place])
        else:
            allowed = rx(rb"(.)-(.)").sub(lambda ends: bytes(range(ends[1][0], ends[2][0] + 1)), place.strip(b"[]"))
            places.append(allowed.lower() + allowed.upper() if folded else allowed)
    return places


class _Sieve:
    """Finds the few places of a text where some rule may match, for all rules at once.

    For each byte value and each place of a window, a mask says in which of eight lanes that value may stand there. The masks of
    four successive bytes, ANDed, keep a bit where all four agree. A block of text, read as one long integer, is masked, shifted and
    ANDed by a few calls into C, at a cost that does not grow with the number of rules: that of about ten calls of `bytes.find`.
    """

    __slots__ = ("masks", "rules")

    def __init__(self) -> None:
        lanes = {window: 1 << number for number, lane in enumerate(_LANES) for window in lane.split()}
        masks = [bytearray(256) for _ in range(4)]
        self.rules: Dict[bytes, List[Tuple[int, int, _Rule]]] = {}
        for rule, windows in _rules():
            for window in windows.split():
                lane, places = lanes[window], _places(window, rule.folded)
                for mask, allowed in zip(masks, places):
                    for byte in allowed:
                        mask[byte] |= lane
                entry = lane, max(0, window.find(b"^")), rule
                for pair in (bytes((first, second)) for first in places[0] for second in places[1]):
                    entries = self.rules.setdefault(pair, [])
                    if entry not in entries:
                        entries.append(entry)
        self.masks = [bytes(mask) for mask in masks]

    def candidates(self, text: bytes) -> Iterator[Tuple[int, _Rule]]:
        """(where a match would start, its rule), in the order of the windows."""
        some = bytes([0] + [1] * 255)
        for base in range(0, len(text), _BLOCK):
            block = text[base : base + _BLOCK + 3]
            agreed = -1
            for place, mask in enumerate(self.masks):
                agreed &= int.from_bytes(block.translate(mask), "little") >> 8 * place
            if not agreed:
                continue
            lanes = agreed.to_bytes(len(block), "little")
            marks = lanes.translate(some)
            at = marks.find(1)
            while at >= 0:
                for lane, offset, rule in self.rules.get(block[at : at + 2], ()):
                    if lane & lanes[at] and base + at >= offset:
                        yield base + at - offset, rule
                at = marks.find(1, at + 1)


_sieve: Optional[_Sieve] = None


def _touches(markers: List[Tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span shares a byte with one of the markers, which are in order."""
    from bisect import bisect_left

    before = bisect_left(markers, (end, 0))
    return before > 0 and markers[before - 1][1] > start


def _secrets(text: bytes) -> List[Tuple[int, int, str]]:
    """Where the secrets of a text are, and of what kind; in order, apart from each other. What is redacted already stays."""
    global _sieve
    if _sieve is None:
        _sieve = _Sieve()
    low = b""
    markers = [match.span() for match in rx(_MARKER).finditer(text)] if b"[redacted" in text else []
    found: List[Tuple[int, int, int, str]] = []
    for at, rule in _sieve.candidates(text):
        low = low or text.lower()
        span = rule.find(text, low, at)
        if span and not (markers and _touches(markers, min(at, span[0]), span[1])):
            found.append((*span, rule.rank, rule.kind or _KIND_OF[low[at : at + 3]]))
    apart: List[Tuple[int, int, int, str]] = []
    for start, end, rank, kind in sorted(found):
        if apart and start < apart[-1][1]:
            first, last, best, name = apart.pop()
            start, end, (rank, kind) = first, max(last, end), min((best, name), (rank, kind))
        apart.append((start, end, rank, kind))
    return [(start, end, kind) for start, end, _, kind in apart]


# ── redacting ──


def short_hash(secret: bytes) -> str:
    """Six hex digits that equal secrets share."""
    return str(sha256(secret).hexdigest()[:6])


def _marker(kind: str, secret: bytes, salt: bytes) -> bytes:
    if kind == "private-key":  # one key has many spellings: in one line or several, indented, escaped
        secret = rx(rb"-----[A-Z0-9 ]*-----|\\+[nrt]|[^A-Za-z0-9+/=]").sub(b"", secret)
    return b"[redacted:%s:%s]" % (kind.encode(), short_hash(salt + secret).encode())


class _Plain:
    """A text without its colours, and the way back from places in it to places in the raw text."""

    __slots__ = ("raw", "text", "_plain", "_raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = self.text = raw
        if b"\x1b" in raw or b"^" in raw and b"^[" in raw:  # one byte is found ten times faster than two
            self.text = rx(_CSI).sub(b"", raw)
        self._plain: List[int] = []  # where in the text a stretch without control sequences starts
        self._raw: List[int] = []  # where it starts in the raw text

    def start(self, at: int) -> int:
        """Where the byte at `at` of the text stands in the raw text."""
        if self.text is self.raw:
            return at
        from bisect import bisect_right

        if not self._plain:
            self._plain, self._raw, gone = [0], [0], 0
            for match in rx(_CSI).finditer(self.raw):
                gone += match.end() - match.start()
                self._plain.append(match.end() - gone)
                self._raw.append(match.end())
        index = bisect_right(self._plain, at) - 1
        return self._raw[index] + at - self._plain[index]

    def colours(self, start: int, end: int) -> bytes:
        """The control sequences in a span of the raw text."""
        return b"" if self.text is self.raw else b"".join(rx(_CSI).findall(self.raw, start, end))


_KEY_BEGIN = rb"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = rb"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
_KEY_AFTER = rb"[ \t\r\"'`\\nr+;,)|]{0,12}"
_KEY_OPENS = _KEY_BEGIN + _KEY_AFTER + rb"(?:(?:\x1b|\^\[)\[[0-9;]{0,12}[A-Za-z]){0,4}\r?$"
_KEY_BODY = rb"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{1,200}={0,3}|=[A-Za-z0-9+/]{4})(?=" + _KEY_AFTER + rb"\Z)"
_KEY_HEADER = rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|x-[a-z-]{1,40}): "


class _KeyBlock:
    """A private key over several lines, each perhaps behind an indent, a line number or the name of a container.

    Lines are held until the key ends, or until there is enough of it for its hash. It ends with END, or with a line that cannot be
    part of it: then it was cut off, or there never was a key but only its first line.
    """

    __slots__ = ("before", "lines", "sure", "size", "full", "marked", "ended")

    def __init__(self, line: bytes) -> None:
        self.before = b""
        self.lines: List[Tuple[bytes, bytes, bytes, bytes]] = []  # raw; the part that belongs to the key, between before and after
        self.sure = 0  # that many of the lines are part of a key beyond doubt
        self.size = 0
        self.full = False  # whether the last line was as long as those inside a key are
        self.marked = False
        self.ended = False
        plain = rx(_CSI).sub(b"", line)
        begin = rx(_KEY_BEGIN).search(plain)
        if begin:
            self.before = plain[: begin.start()]
            self._hold(line, plain, begin.start(), begin.end())

    def _hold(self, line: bytes, plain: bytes, start: int, end: int) -> None:
        self.lines.append((line, plain[:start], plain[start:end], plain[end:]))
        self.size += len(line)

    def _leads(self, before: bytes) -> bool:
        """Whether a line of this key may begin like that."""
        numbers = rx(rb" *[0-9]+")
        alike = numbers.sub(b"0", before).replace(b":", b"-") == numbers.sub(b"0", self.before).replace(b":", b"-")
        return alike or not before.strip(b" \t>|+\"'`#*")

    def take(self, line: bytes) -> int:
        """Add a line; return how much of it belongs to the key. With END, which may stand inside a line, the key is `ended`."""
        plain = rx(_CSI).sub(b"", line) if len(line) < 512 else b"-"
        text = plain.rstrip(b"\n")
        end = rx(_KEY_END).search(plain)
        if end and self._leads(plain[: end.start()]):
            raw = rx(_KEY_END).search(line)
            taken = raw.end() if raw else len(line)
            self._hold(line[:taken], plain[: end.end()] if raw else plain, *end.span())
            self.sure = len(self.lines) if self.marked or any(part for _, _, part, _ in self.lines[1:-1]) else 0
            self.ended = True
            return taken
        body = rx(_KEY_BODY).search(text)
        if body and self._leads(plain[: body.start()]):
            self._hold(line, plain, *body.span())
            full, self.full = self.full, len(body.group()) > 39
            if full or self.full or self.marked:
                self.sure = len(self.lines)
            return len(line)
        header = rx(_KEY_HEADER).search(text)
        if self._leads(text[: header.start()] if header else text) or self._leads(text.rstrip(b" \t\r\"'\\nr+;,)")):
            self._hold(line, plain, 0, 0)
            return len(line)
        self.ended = True
        return 0

    def secret(self) -> bytes:
        """The key itself, as far as it is held."""
        return b"".join(part for _, _, part, _ in self.lines[1 : self.sure])


class Redactor:
    """Redacts a stream: `feed` it chunks cut anywhere, `finish` it; what both return, joined, is `redact` of the whole.

    Held back are the unfinished line, of a long one at most 64 KiB, and the lines of an unfinished private key, at most 16 KiB.
    `count` is the number of secrets replaced so far.
    """

    __slots__ = ("count", "_salt", "_line", "_done", "_key")

    def __init__(self, salt: bytes = b"") -> None:
        self.count = 0
        self._salt = salt
        self._line = bytearray()  # the unfinished line
        self._done = 0  # its first bytes that were emitted, and stay for what follows to be seen in its context
        self._key: Optional[_KeyBlock] = None

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes; return all that is settled by now."""
        self._line += chunk
        if b"\n" not in chunk and len(self._line) - self._done < _WINDOW:
            return b""
        return self._advance(False)

    def finish(self) -> bytes:
        """The stream has ended: return the rest."""
        return self._advance(True) + self._end_key()

    def _advance(self, final: bool) -> bytes:
        """Redact all whole lines, and of an unfinished long line the windows that are full."""
        data, out, at = bytes(self._line), [], 0
        while True:
            start = 0 if self._done else _long_line(data, at)
            if start < 0:
                base = len(data) if final else data.rfind(b"\n", at) + 1 or at
                out.append(self._lines(data[at:base]))
                break
            out += [self._lines(data[at:start]), self._end_key()]
            end = data.find(b"\n", start + self._done)
            base, stop = start, len(data) if end < 0 else end
            while stop - base - self._done >= _WINDOW:
                text, cut = self._text(data[base : base + self._done + _WINDOW], self._done, self._done + _WINDOW - _REACH)
                out.append(text)
                self._done = min(cut, _CONTEXT)
                base += cut - self._done
            if end < 0 and not final:
                break
            at = min(stop + 1, len(data))
            out.append(self._text(data[base:at], self._done, at - base)[0])
            self._done = 0
        self._line = bytearray(data[base:])
        return b"".join(out)

    def _lines(self, data: bytes) -> bytes:
        """Redact whole lines, none of them long."""
        out: List[bytes] = []
        at = 0
        while at < len(data):
            if self._key:
                end = data.find(b"\n", at) + 1 or len(data)
                at += self._key.take(data[at:end])
                out.append(self._end_key() if self._key.ended else self._emit_key() if self._key.size > _KEY_LIMIT else b"")
                continue
            opens = rx(_KEY_OPENS, 8).search(data, at) if b"PRIVATE KEY" in data else None  # 8 is re.MULTILINE
            stop = data.rfind(b"\n", at, opens.start()) + 1 or at if opens else len(data)
            out.append(self._settled(data[at:stop]))
            if opens:
                at = data.find(b"\n", stop) + 1 or len(data)
                self._key = _KeyBlock(data[stop:at])
            else:
                at = stop
        return b"".join(out)

    def _emit_key(self) -> bytes:
        """The lines held of a private key, redacted: the first as the marker. Those that are no part of it as any text."""
        key = self._key
        if key is None:
            return b""
        out = []
        secret = b"" if key.marked else key.secret()
        for raw, before, part, after in key.lines[: key.sure]:
            marker = b"[redacted]" if key.marked else _marker("private-key", secret, self._salt)
            out.append(before + marker + after if part else raw)
            self.count += not key.marked
            key.marked = True
        text = b"".join(out + [raw for raw, _, _, _ in key.lines[key.sure :]])
        key.lines, key.sure, key.size = [], 0, 0
        if not key.marked:
            self._key = None
        return self._settled(text)

    def _end_key(self) -> bytes:
        """Let go of a private key that ended."""
        out = self._emit_key()
        self._key = None
        return out

    def _settled(self, text: bytes) -> bytes:
        """Redact lines until nothing is left: a word that was too far from a value may be nearer once a marker stands between."""
        before = b""
        while text != before:
            before, text = text, self._text(text, 0, len(text))[0]
        return text

    def _text(self, raw: bytes, done: int, cut: int) -> Tuple[bytes, int]:
        """Redact `raw` from `done` to `cut`, or to the end of a secret that goes on there: (redacted, up to where)."""
        plain = _Plain(raw)
        out = []
        for first, last, kind in _secrets(plain.text):
            start, end = max(done, plain.start(first)), plain.start(last - 1) + 1
            if start >= cut:
                break
            if end > start:
                out += [raw[done:start], _marker(kind, plain.text[first:last], self._salt), plain.colours(start, end)]
                done = end
                self.count += 1
        cut = max(cut, done)
        return b"".join(out) + raw[done:cut], cut


def _long_line(data: bytes, at: int) -> int:
    """Where the next line of at least _WINDOW bytes starts; -1: none."""
    while len(data) - at >= _WINDOW:
        newline = data.rfind(b"\n", at, at + _WINDOW)
        if newline < 0:
            return at
        at = newline + 1
    return -1


def redact(data: bytes, salt: bytes = b"") -> Tuple[bytes, int]:
    """(`data` with each secret replaced by `[redacted:KIND:xxxxxx]`, how many were).

    Equal secrets have equal digits; with a `salt`, only where the salt is the same. Lines stay lines: of a private key the first
    becomes the marker, each other `[redacted]`. What is redacted already stays as it is.
    """
    redactor = Redactor(salt)
    return redactor.feed(data) + redactor.finish(), redactor.count


def redact_text(text: str) -> str:
    """`redact` for argv, paths and messages."""
    return redact(text.encode("utf-8", "surrogateescape"))[0].decode("utf-8", "surrogateescape")


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 11 · store
# Knows blobs, runs, locks and retention, as plain files that survive kill -9 and shared volumes. Never knows what the bytes mean.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # the hash of no bytes, which need no file
FORMAT = 1  # of the layout; a store with a higher number is read, never written
HASH_HEAD = MIB  # streams up to here are hashed by the interpreter's small module; beyond, OpenSSL's faster one pays for its load
VERIFY_UP_TO = 4 * MIB  # a blob up to here is hashed at every reading
ORDER_LIMIT = 256 * KIB  # bytes that the record of arrival order may take
GRACE = 3600  # seconds for which nothing is collected
COLD = 86400  # seconds after which a stream is compressed
COLD_FROM = 64 * KIB  # and the size from which it is worth it
TEMP_QUOTA = 64 * MIB  # of the store of last resort, which may be memory
LAST_LOOK = 2000  # occurrences that --last looks back at most


def new_hash() -> Any:
    """The SHA-256 for large data: OpenSSL's, which uses the processor's own instructions."""
    try:
        from _hashlib import openssl_sha256
    except ImportError:
        return sha256()
    return openssl_sha256()


def hash_of(file: OpenFile) -> str:
    """SHA-256 of a whole file, in hex."""
    check = new_hash() if file.size > HASH_HEAD else sha256()
    for chunk in file.chunks():
        check.update(chunk)
    return str(check.hexdigest())


def short(digest: str) -> str:
    """blob:<12 digits>."""
    return "blob:" + digest[:HANDLE_DIGITS]


class Store:
    """One root: `objects/` (bytes by hash), `runs/` (occurrences), `spool/` (runs that are not over), `pins/`, `journal`, `format`.

    Beside a blob may stand `.z` (its bytes compressed) and `.lines` (its line index), beside a manifest `.order` (how its two
    streams arrived) and `.keeps` (hashes of what was derived from the run).
    """

    __slots__ = ("root",)

    def __init__(self, root: str) -> None:
        self.root = root

    # writing

    def prepare(self) -> None:
        """Make the root ready for writing. Raises OSError when it cannot be written, or is not ours, or belongs to a newer ctx."""
        try:
            version = read_file(self.root + "/format").strip()
        except FileNotFoundError:
            version = self.create()
        self.check_owner()
        if not version.isdigit() or int(version) > FORMAT:
            raise PermissionError(1, "%s was written by a newer ctx (format %s)" % (self.root, visible(version[:20])))

    def create(self) -> bytes:
        """Make the root's directories; the format comes last, so that a root which has it is whole. Raises OSError."""
        make_dirs(self.root)
        self.check_owner()
        for name in ("objects", "spool", "pins", "runs"):
            make_dirs("%s/%s" % (self.root, name))
        write_atomic(self.root + "/format", b"%d\n" % FORMAT)
        return b"%d" % FORMAT

    def check_owner(self) -> None:
        """Below a shared temporary directory, anybody may have made the root. Raises OSError."""
        if self.root == temp_root() and not is_ours(self.root):
            raise PermissionError(1, "%s is not a directory of this user alone" % self.root)

    def lock(self, exclusive: bool = False, wait: bool = True) -> Lock:
        """The store's lock, to be entered with `with`: shared by those who commit, exclusive to one who deletes."""
        return Lock(self.root + "/lock", exclusive, wait)

    def path(self, digest: str) -> str:
        """Where a blob's bytes are while they are warm."""
        return "%s/objects/%s/%s" % (self.root, digest[:2], digest)

    def put(self, data: bytes) -> str:
        """Keep small bytes; their hash. What is stored already becomes young again, so that no collection takes it before its run
        is written. Raises OSError."""
        digest = str(sha256(data).hexdigest())
        path = self.path(digest)
        try:
            if read_file(path) == data:
                posix.utime(path)
                return digest
        except OSError:
            pass
        make_dirs(path.rsplit("/", 1)[0])
        write_atomic(path, data, 0o400)
        return digest

    def put_file(self, path: str, digest: str) -> None:
        """Keep a finished file of the spool under its hash, over a damaged one that may be there. It also stays where it is, so
        that a crash before the commit loses nothing. Raises OSError."""
        target = self.path(digest)
        temporary = temporary_beside(target)
        make_dirs(target.rsplit("/", 1)[0])
        try:
            posix.link(path, temporary)
        except OSError:  # a file system without hard links
            return self.put_copy(open_file(path), digest)
        posix.chmod(temporary, 0o400)
        posix.utime(temporary)
        posix.rename(temporary, target)
        remove(temporary)  # which is still there when both were the same file already

    def put_copy(self, file: OpenFile, digest: str) -> None:
        """Keep a copy of a file under its hash. Raises OSError."""
        make_dirs(self.path(digest).rsplit("/", 1)[0])
        write_atomic(self.path(digest), file.chunks(), 0o400)

    def record(self, name: str, occurrence: Dict[str, Any]) -> None:
        """Write one occurrence, then its line in the journal. Raises OSError."""
        write_atomic("%s/runs/%s" % (self.root, name), to_json(occurrence).encode())
        self.note(name)

    def note(self, line: str) -> None:
        """Append one line to the journal, which is a hint: it may fail."""
        try:
            append_line(self.root + "/journal", line)
        except OSError:
            pass

    # reading

    def occurrences(self) -> List[str]:
        """Names of all occurrences, oldest first: <UTC time>-<random>-<run>."""
        return [name for name in list_dir(self.root + "/runs") if len(name) == 44 and name[18] == name[31] == "-"]

    def journal(self) -> List[str]:
        """Lines of the journal; a torn last line is left out."""
        try:
            return read_file(self.root + "/journal").decode("utf-8", "replace").split("\n")[:-1]
        except OSError:
            return []

    def blobs(self, prefix: str) -> List[str]:
        """Hashes of the stored blobs that begin with `prefix` (at least two digits)."""
        names = list_dir("%s/objects/%s" % (self.root, prefix[:2]))
        return sorted({name[:64] for name in names if name.startswith(prefix) and name[64:] in ("", ".z") and len(name) >= 64})

    def source(self, digest: str, size: int = -1, name: str = "output") -> Source:
        """The bytes of a blob. Raises CtxError when they are gone or damaged: damaged bytes are never returned as good."""
        if digest == EMPTY:
            return Source.of_bytes(name, b"")
        try:
            file = open_file(self.path(digest))
        except FileNotFoundError:
            file = self.thaw(digest)
        except OSError as error:
            raise CtxError("%s: %s" % (short(digest), error.strerror), "make %s readable" % self.root) from None
        if (size >= 0 and file.size != size) or (file.size <= VERIFY_UP_TO and hash_of(file) != digest):
            raise self.damaged(digest)
        return Source(name, file.size, file.read, self.index(digest, file) if file.size >= INDEX_FROM else None)

    def damaged(self, digest: str) -> CtxError:
        """The error for a blob whose bytes are not those that were stored."""
        return CtxError("%s: the stored bytes are damaged" % short(digest), "run the command again; see ctx doctor --store")

    def thaw(self, digest: str) -> OpenFile:
        """The bytes of a compressed blob, unpacked into a file without a name that is as old as it. Raises CtxError."""
        import zlib

        try:
            packed = open_file(self.path(digest) + ".z")
        except OSError:
            raise CtxError("%s: not in the store" % short(digest), "it was collected, or belongs to another machine") from None
        unpacker, plain = zlib.decompressobj(), nameless_file(self.root)
        try:
            for data in packed.chunks():
                while data and not unpacker.eof:
                    plain.append(unpacker.decompress(data, CHUNK))
                    data = unpacker.unconsumed_tail
        except zlib.error:
            raise self.damaged(digest) from None
        except OSError as error:
            raise CtxError("%s: cannot be unpacked: %s" % (short(digest), error.strerror), "set TMPDIR to some room") from None
        mtime = posix.fstat(packed.fd).st_mtime_ns
        posix.utime(plain.fd, ns=(mtime, mtime))
        return plain

    def index(self, digest: str, file: OpenFile) -> Sequence[int]:
        """Numbers of LFs before each block of a large blob, kept beside it once counted. The pass that counts checks the hash, and
        is made again when the file has been written since. Raises CtxError."""
        path = self.path(digest) + ".lines"
        head = b"ctx lines 1 %s %d %d " % (sys.byteorder.encode(), file.size, posix.fstat(file.fd).st_mtime_ns)
        try:
            stamp, _, packed = read_file(path).partition(b"\n")
            if stamp == head + sha256(packed).hexdigest().encode():
                return memoryview(packed).cast("Q")
        except OSError:
            pass
        counts, total, check = [0], 0, new_hash()
        for start in range(0, file.size, BLOCK):
            block = file.read(start, min(file.size, start + BLOCK))
            check.update(block)
            total += block.count(b"\n")
            counts.append(total)
        if check.hexdigest() != digest:
            raise self.damaged(digest)
        packed = b"".join(n.to_bytes(8, sys.byteorder) for n in counts)
        try:
            self.prepare()
            write_atomic(path, head + sha256(packed).hexdigest().encode() + b"\n" + packed)
        except OSError:
            pass  # a store that cannot be written is counted again next time
        return counts


def stores() -> List[Store]:
    """The stores that exist, best root first."""
    return [Store(root) for root in state_roots() if is_dir(root + "/runs") and (root != temp_root() or is_ours(root))]


def writable_store() -> Store:
    """The first root that can be written. Raises OSError, the first root's, when there is none."""
    first: Optional[OSError] = None
    for root in state_roots():
        store = Store(root)
        try:
            store.prepare()
            if not posix.access(root + "/spool", posix.W_OK | posix.X_OK):
                raise PermissionError(13, "Permission denied", root)
            return store
        except OSError as error:
            first = first or error
    raise first or OSError(2, "neither a home nor a temporary directory")


# ── runs that are kept


class Run:
    """One captured command: its manifest, and how to read its streams. `streams` maps a name to [hash, size]."""

    __slots__ = ("store", "digest", "manifest", "alias")

    def __init__(self, store: Store, digest: str, manifest: Dict[str, Any], alias: str = "") -> None:
        self.store = store
        self.digest = digest
        self.manifest = manifest
        self.alias = alias

    @property
    def handle(self) -> str:
        """run:<12 digits>."""
        return "run:" + (self.digest[:HANDLE_DIGITS] or self.alias)

    @property
    def streams(self) -> List[str]:
        """Names of the streams that were captured, in the order of STREAMS."""
        return [name for name in STREAMS if name in self.manifest["streams"]]

    @property
    def status(self) -> Optional[int]:
        """Exit status, None when it is unknown."""
        status = self.manifest["exit"]
        return status if isinstance(status, int) else None

    @property
    def partial(self) -> str:
        """Why the output may end early; "" when it is whole."""
        return str(self.manifest.get("partial", ""))

    def source(self, name: str) -> Source:
        """One stream; `output` of a run with two pipes is both in the order of arrival. Raises CtxError."""
        if name in self.manifest["streams"]:
            digest, size = self.manifest["streams"][name]
            return self.store.source(digest, size, name) if digest else self.live(name)
        if name != "output":
            raise CtxError("%s has no #%s" % (self.handle, name), "it has %s" % " and ".join("#" + s for s in self.streams))
        return self.interleaved(*(self.source(s) if s in self.streams else Source.of_bytes(s, b"") for s in ("stdout", "stderr")))

    def live(self, name: str) -> Source:
        """A stream of a run that is not over: what has been written so far. Raises CtxError."""
        try:
            file = open_file("%s/spool/%s.%s" % (self.store.root, self.alias, name))
        except OSError:
            if exists("%s/spool/%s.meta" % (self.store.root, self.alias)):  # nothing has come yet
                return Source.of_bytes(name, b"")
            return resolve_run(self.alias).source(name)  # it has just ended
        return Source(name, file.size, file.read)

    def sources(self) -> List[Source]:
        """Every captured stream."""
        return [self.source(name) for name in self.streams]

    def interleaved(self, stdout: Source, stderr: Source) -> Source:
        """Two streams in the order in which they arrived, as far as that was recorded; the rest of each follows."""
        if not stdout.size or not stderr.size:
            only = stdout if stdout.size else stderr
            return Source("output", only.size, only.read, only.counts)
        try:
            packed = read_file(self.store.path(self.digest) + ".order")
        except OSError:
            packed = b""
        # an entry for each segment: where it begins in the whole, and twice where it begins in its stream plus which stream that is
        begins, places, done, both = [], [], [0, 0], (stdout, stderr)
        for which, length in [*unpack_order(packed), (0, stdout.size), (1, stderr.size)]:
            begins.append(done[0] + done[1])
            places.append(done[which] * 2 + which)
            done[which] = min(both[which].size, done[which] + length)
        begins.append(done[0] + done[1])

        def read(start: int, end: int) -> bytes:
            at, parts = last_at_most(begins, start), []
            while start < end:
                stop = min(end, begins[at + 1])
                offset = places[at] // 2 + start - begins[at]
                parts.append(both[places[at] & 1].read(offset, offset + stop - start) if stop > start else b"")
                start, at = stop, at + 1
            return b"".join(parts)

        return Source("output", begins[-1], read)


def last_at_most(values: Sequence[int], wanted: int) -> int:
    """Index of the last of the ascending values that is not above `wanted`; the first value must not be."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if values[middle] <= wanted else (low, middle)
    return low


def pack_segment(which: int, length: int) -> bytes:
    """One segment of the order of arrival as a number of seven bits a byte: twice its length, plus the index of its stream."""
    value, out = length * 2 + which, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def unpack_order(data: bytes) -> Iterator[Tuple[int, int]]:
    """The segments (index of the stream, length) that `pack_segment` packed; a torn last one is left out."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value & 1, value >> 1
            value = shift = 0
        elif shift > 63:  # no length that ever was
            break


def read_manifest(store: Store, digest: str) -> Optional[Run]:
    """The run behind a manifest's full hash, None when its bytes are not in this store. Raises CtxError when they are damaged."""
    try:
        source = store.source(digest)
    except CtxError:
        if store.blobs(digest):
            raise
        return None
    try:
        manifest = from_json(source.read(0, source.size))
    except ValueError:
        manifest = None
    if not is_manifest(manifest):
        raise store.damaged(digest)
    return Run(store, digest, manifest)


_MANIFEST = (("kind", str), ("argv", list), ("cwd", str), ("streams", dict))
_GAP = ("at", "bytes", "lines")
_OCCURRENCE = (("run", str), ("time", int), ("ms", int), ("workspace", str), ("session", str))


def is_manifest(value: Any) -> bool:
    """Whether JSON from a store, which another machine may have sent, has what the rest of the program takes for granted."""
    if not isinstance(value, dict) or not all(type(value.get(key)) is kind for key, kind in _MANIFEST):
        return False
    streams, gaps = value["streams"], value.get("gaps", {})
    good = set(streams) in ({"output"}, {"stdout"}, {"stdout", "stderr"}) and all(type(word) is str for word in value["argv"])
    good = good and all(type(pair) is list and [type(part) for part in pair] == [str, int] for pair in streams.values())
    good = good and all(is_digest(digest) for digest, _ in streams.values())
    good = good and type(gaps) is dict and all(type(gap.get(key)) is int for gap in gaps.values() for key in _GAP)
    return good and type(value.get("exit")) in (int, type(None)) and type(value.get("partial", "")) is str


def is_digest(value: Any) -> bool:
    """Whether a value is a whole SHA-256 in hex."""
    return isinstance(value, str) and len(value) == 64 and is_hex(value)


def sound_record(store: Store, name: str) -> Dict[str, Any]:
    """One occurrence's record, {} when it is torn or does not fit its name. Raises OSError."""
    try:
        record = from_json(read_file("%s/runs/%s" % (store.root, name)))
    except ValueError:
        return {}
    return record if is_record(name, record) else {}


def is_record(name: str, value: Any) -> bool:
    """Whether JSON is the record of the occurrence of that name."""
    fits = isinstance(value, dict) and all(type(value.get(key)) is kind for key, kind in _OCCURRENCE) and is_digest(value["run"])
    return fits and bool(name[32:]) and value["run"].startswith(name[32:])


def read_occurrence(store: Store, name: str) -> Dict[str, Any]:
    """One occurrence's record, {} when it is gone. Of a torn one the name still tells the run."""
    try:
        record = sound_record(store, name)
        if not record:
            (digest,) = store.blobs(name[32:])
            written = posix.stat("%s/runs/%s" % (store.root, name)).st_mtime
            record = {"run": digest, "time": int(written * 1000), "ms": 0, "workspace": "", "session": ""}
    except (OSError, ValueError):
        return {}
    return record


def all_occurrences() -> List[Tuple[str, Store]]:
    """(name, store) of every occurrence in every root, oldest first."""
    return sorted(((name, store) for store in stores() for name in store.occurrences()), key=lambda pair: pair[0])


def load_occurrence(store: Store, name: str) -> Optional[Run]:
    """The run of one occurrence, None when either is gone. Raises CtxError when it is damaged."""
    digest = read_occurrence(store, name).get("run")
    return read_manifest(store, digest) if digest else None


def resolve_run(prefix: str) -> Run:
    """The run whose id, or whose occurrence's random part, begins with `prefix`. Raises CtxError: ambiguous, damaged, collected, or
    never captured here."""
    live = {run.alias: run for run in live_runs(prefix)}  # first: one that ends meanwhile is among the occurrences then
    found: Dict[str, List[Tuple[Store, str]]] = {}
    for name, store in all_occurrences():
        alias, run = name[19:31], name[32:]
        if run.startswith(prefix[:HANDLE_DIGITS]) or alias.startswith(prefix):
            found.setdefault(run, []).append((store, name))
            live.pop(alias, None)
    if len(found) + len(live) > 1:
        raise ambiguous("run", prefix, [*found, *live])
    for only in live.values():
        return only
    for places in found.values():
        return newest_whole(prefix, places)
    for store in stores():
        if any("-" + prefix[:HANDLE_DIGITS] in line for line in store.journal()):
            raise CtxError("run:%s: collected" % prefix, "it was older than the store keeps; run the command again")
    raise CtxError("run:%s: never captured here" % prefix, "ctx runs lists what was")


def ambiguous(kind: str, prefix: str, found: Iterable[str]) -> CtxError:
    """The error for a prefix of several handles."""
    names = ["%s:%s" % (kind, name[:HANDLE_DIGITS]) for name in sorted(found)[:8]]
    return CtxError("%s:%s: ambiguous" % (kind, prefix), "did you mean %s?" % " or ".join(names))


def newest_whole(prefix: str, places: Sequence[Tuple[Store, str]]) -> Run:
    """The run behind one of several occurrences of it, of which some may be damaged. Raises CtxError when all are."""
    problem = CtxError("run:%s: its record is damaged" % prefix, "run the command again; see ctx doctor --store")
    for store, name in reversed(places):
        try:
            run = load_occurrence(store, name)
        except CtxError as error:
            problem = error
            continue
        if run and len(prefix) > HANDLE_DIGITS and not run.digest.startswith(prefix):
            raise CtxError("run:%s: never captured here" % prefix, "did you mean %s?" % run.handle)
        if run:
            return run
    raise problem


def resolve_blob(prefix: str) -> Tuple[Store, str]:
    """Store and full hash of the blob that begins with `prefix`. Raises CtxError: ambiguous, collected, or never stored here."""
    found: Dict[str, Store] = {}
    for store in reversed(stores()):
        for digest in store.blobs(prefix):
            found[digest] = store
    if len(found) > 1:
        raise ambiguous("blob", prefix, found)
    for digest, store in found.items():
        return store, digest
    for store in stores():
        if any(line.startswith("blob " + prefix[:HANDLE_DIGITS]) for line in store.journal()):
            raise CtxError("blob:%s: collected" % prefix, "no kept run needed it; run the command again")
    raise CtxError("blob:%s: never captured here" % prefix, "ctx runs lists what was")


def live_runs(prefix: str = "") -> List[Run]:
    """Runs that are not in the store yet, whose random part begins with `prefix`: they go on, or their ctx was killed."""
    found = []
    for store in stores():
        for name in list_dir(store.root + "/spool"):
            if name.endswith(".meta") and name.startswith(prefix):
                base = "%s/spool/%s" % (store.root, name[:-5])
                try:
                    meta = open_file(base + ".meta")
                    partial = "killed" if lock_file(meta.fd, exclusive=False) else "running"
                    manifest = dict(from_json(meta.read(0, meta.size))["manifest"], exit=None, partial=partial)
                except (OSError, ValueError, KeyError, TypeError):
                    continue
                names = ("output",) if exists(base + ".output") else ("stdout", "stderr")
                manifest["streams"] = {stream: ["", 0] for stream in names}
                found.append(Run(store, "", manifest, name[:-5]))
    return found


def last_run() -> Tuple[Run, str]:
    """The newest run of this host session, else of this workspace, and which of the two it was. Raises CtxError."""
    mine, top = session(), workspace() or cwd()
    fallback: Optional[Run] = None
    for name, store in reversed(all_occurrences()[-LAST_LOOK:]):
        record = read_occurrence(store, name)
        if mine and record.get("session") == mine:
            run = read_manifest(store, record["run"])
            if run:
                return run, "session"
        if fallback is None and record.get("workspace") == top:
            fallback = read_manifest(store, record["run"])
            if fallback and not mine:
                break
    if fallback:
        return fallback, "workspace"
    raise CtxError("--last: nothing was captured in this workspace", "ctx runs --all lists what was captured elsewhere")


# ── runs that become part of the store


def commit_run(store: Store, base: str, manifest: Dict[str, Any], order: bytes, record: Dict[str, Any], alias: str,
               started: float) -> Run:  # fmt: skip
    """Put a finished run's files, manifest and occurrence into the store, each after what it names. Raises OSError."""
    with store.lock():
        for name, (digest, size) in manifest["streams"].items():
            if size:
                store.put_file("%s.%s" % (base, name), digest)
        run = Run(store, store.put(to_json(manifest).encode()), manifest, alias)
        if order:
            keep_order(store, run.digest, order)
        occurrence = dict(record, run=run.digest, time=int(started * 1000), ms=int((now() - started) * 1000))
        store.record(occurrence_name(started, alias, run.digest), occurrence)
    return run


def occurrence_name(started: float, alias: str, digest: str) -> str:
    """<UTC time to the millisecond>-<random part>-<run>: sorts by time, and tells run and alias without being opened."""
    import time

    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(started))
    return "%s%03d-%s-%s" % (stamp, int(started * 1000) % 1000, alias, digest[:HANDLE_DIGITS])


def keep_order(store: Store, digest: str, packed: bytes) -> None:
    """Keep the order in which a run's two streams arrived. The first one stays, for an address always means the same bytes.
    Raises OSError."""
    path = store.path(digest) + ".order"
    if exists(path):
        return
    temporary = temporary_beside(path)
    write_atomic(temporary, packed)
    try:
        posix.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        posix.rename(temporary, path)
    remove(temporary)


def keep_derived(run: Run, data: bytes) -> str:
    """Store bytes that were derived from a run (the census behind a digest), for as long as the run is kept; their hash. Where its
    store cannot be written, another root has them, for an hour at least. Raises OSError."""
    try:
        run.store.prepare()
        with run.store.lock():
            digest = run.store.put(data)
            if digest not in derived_from(run.store, run.digest):
                append_line(run.store.path(run.digest) + ".keeps", digest)
        return digest
    except OSError:
        return writable_store().put(data)


def derived_from(store: Store, digest: str) -> List[str]:
    """Hashes of what was derived from a run; a line that a full disk has torn holds the next one at its end."""
    try:
        lines = read_file(store.path(digest) + ".keeps").decode("ascii", "replace").split("\n")
    except OSError:
        return []
    return [line[-64:] for line in lines if is_digest(line[-64:])]


# ── retention


def collect(store: Store, days: int, quota: int, compress: int = -1) -> Dict[str, int]:
    """Delete runs over age or quota and blobs that no kept run names, compress cold streams (at most `compress` bytes, -1 for all);
    the counts.

    Pinned runs, and anything younger than an hour, stay. Only one collection runs at a time; others return at once. Raises OSError.
    """
    done = {"runs": 0, "blobs": 0, "bytes": 0, "compressed": 0}
    store.prepare()
    with Lock(store.root + "/gc.lock", exclusive=True, wait=False) as mine:
        if not mine.held:
            return done
        write_atomic(store.root + "/collected", b"")
        quota = min(quota, TEMP_QUOTA) if store.root == temp_root() else quota
        sizes = stored_sizes(store)
        free = removable(store)
        if compress < 0 or sum(sizes.values()) > quota or any(age > days * 86400 for _, age in free):
            expire(store, days * 86400, quota, sizes, free, done)
        sweep(store)
        done["compressed"] = freeze(store, compress)
        shorten_journal(store)
    return done


def stored_sizes(store: Store) -> Dict[str, int]:
    """Bytes on disk of every blob, with what stands beside it."""
    sizes: Dict[str, int] = {}
    for folder in list_dir(store.root + "/objects"):
        for name in list_dir("%s/objects/%s" % (store.root, folder)):
            try:
                if is_digest(name[:64]):
                    sizes[name[:64]] = sizes.get(name[:64], 0) + posix.stat("%s/objects/%s/%s" % (store.root, folder, name)).st_size
            except OSError:
                continue
    return sizes


def pinned(store: Store) -> Set[str]:
    """Runs that are pinned, by their 12 digits."""
    return {name for name in list_dir(store.root + "/pins") if is_hex(name)}


def removable(store: Store) -> List[Tuple[str, float]]:
    """(occurrence, seconds since it was written) of all that are neither pinned nor young, oldest first."""
    keep, present, found = pinned(store), now(), []
    for name in store.occurrences():
        try:
            age = present - posix.stat("%s/runs/%s" % (store.root, name)).st_mtime
        except OSError:
            continue
        if age >= GRACE and name[32:] not in keep:
            found.append((name, age))
    return found


def expire(store: Store, limit: float, quota: int, sizes: Dict[str, int], free: Sequence[Tuple[str, float]],
           done: Dict[str, int]) -> None:  # fmt: skip
    """Delete blobs that nobody names, then occurrences older than `limit` seconds, and the oldest while all take more than the
    quota. Raises OSError when a record cannot be read: what it names must not be taken for garbage."""
    names = {name: named_by(store, name) for name in store.occurrences()}
    users: Dict[str, int] = {}
    for digest in [digest for digests in names.values() for digest in digests]:
        users[digest] = users.get(digest, 0) + 1
    total = sum(sizes.values())

    def drop(digest: str) -> int:
        freed = delete_blob(store, digest)
        done["blobs"] += freed > 0
        done["bytes"] += freed
        return freed

    for digest in sorted(sizes):
        if digest not in users:
            total -= drop(digest)
    for name, age in free:
        if (age > limit or total > quota) and remove("%s/runs/%s" % (store.root, name)):
            done["runs"] += 1
            store.note("collected-" + name[32:])
            for digest in sorted(names.get(name, ())):
                users[digest] -= 1
                total -= drop(digest) if not users[digest] else 0


def named_by(store: Store, name: str) -> Set[str]:
    """Hashes that an occurrence keeps: its manifest, that one's streams, and what was derived from them. Raises OSError."""
    try:
        record = sound_record(store, name) or read_occurrence(store, name)
    except FileNotFoundError:
        return set()
    if not record:
        return set()
    digest = record["run"]
    try:
        run = read_manifest(store, digest)
    except CtxError:
        run = None
    return {digest, *derived_from(store, digest), *(pair[0] for pair in (run.manifest["streams"].values() if run else ()))}


def delete_blob(store: Store, digest: str) -> int:
    """Delete one blob unless it is young, and what stands beside it; the bytes freed. One who commits it holds the lock, or has
    just made it young; a lock that somebody holds is not waited for."""
    freed = 0
    with store.lock(exclusive=True, wait=False) as mine:
        paths = [store.path(digest) + suffix for suffix in ("", ".z", ".lines", ".order", ".keeps")]
        if not mine.held or any(now() - modified(path) < GRACE for path in paths[:2]):
            return 0
        for path in paths:
            try:
                size = posix.stat(path).st_size
            except OSError:
                continue
            freed += size if remove(path) else 0
    store.note("blob " + digest[:HANDLE_DIGITS])
    return freed


def modified(path: str) -> float:
    """When a file was last written, 0 when it is not there."""
    try:
        return posix.stat(path).st_mtime
    except OSError:
        return 0.0


def sweep(store: Store) -> None:
    """Delete temporaries and spool files that a crash left, once they are old."""
    folders = [store.root, store.root + "/runs", store.root + "/spool", store.root + "/pins"]
    folders += ["%s/objects/%s" % (store.root, folder) for folder in list_dir(store.root + "/objects")]
    for folder in folders:
        for name in list_dir(folder):
            path = "%s/%s" % (folder, name)
            stray = ".tmp-" in name or (folder.endswith("/spool") and not exists("%s/%s.meta" % (folder, name.split(".")[0])))
            if stray and now() - modified(path) > GRACE:
                remove(path)


def freeze(store: Store, limit: int) -> int:
    """Compress streams that have been cold for a day, at most `limit` bytes of them unless that is negative; how many they were."""
    done = 0
    for folder in list_dir(store.root + "/objects"):
        for name in list_dir("%s/objects/%s" % (store.root, folder)):
            try:
                info = posix.stat("%s/objects/%s/%s" % (store.root, folder, name))
                fits = limit < 0 or done + info.st_size <= limit
                if is_digest(name) and info.st_size >= COLD_FROM and now() - info.st_mtime > COLD and fits:
                    freeze_blob(store, name, info.st_mtime_ns)
                    done += info.st_size
            except OSError:
                continue
    return done


def freeze_blob(store: Store, digest: str, mtime: int) -> None:
    """Put a compressed file of the same age in the place of a blob's. Damaged bytes stay, for doctor to find. Raises OSError."""
    import zlib

    path = store.path(digest)
    file, packer, check = open_file(path), zlib.compressobj(1), new_hash()

    def packed() -> Iterator[bytes]:
        for chunk in file.chunks():
            check.update(chunk)
            yield packer.compress(chunk)
        yield packer.flush()
        if check.hexdigest() != digest:
            raise OSError(5, "damaged", path)

    write_atomic(path + ".z", packed(), 0o400)
    with store.lock(exclusive=True, wait=False) as mine:
        if mine.held and posix.stat(path).st_mtime_ns == mtime:  # else a new run has just named it
            posix.utime(path + ".z", ns=(mtime, mtime))
            remove(path)


def shorten_journal(store: Store, limit: int = 4 * MIB) -> None:
    """Keep the newer half of a journal that has grown too long. Lines appended meanwhile may be lost: it is a hint."""
    lines = store.journal()
    if sum(map(len, lines)) > limit:
        write_atomic(store.root + "/journal", "".join(line + "\n" for line in lines[len(lines) // 2 :]).encode())


def verify_store(store: Store) -> Tuple[Dict[str, int], List[str]]:
    """Check every hash of a store: (counts, one line for each problem)."""
    counts, problems = {"runs": 0, "blobs": 0, "bytes": 0}, []
    for folder in list_dir(store.root + "/objects"):
        for digest in store.blobs(folder):
            counts["blobs"] += 1
            try:
                file = open_file(store.path(digest)) if exists(store.path(digest)) else store.thaw(digest)
                good = hash_of(file) == digest
                counts["bytes"] += file.size
            except (OSError, CtxError):
                good = False
            if not good:
                problems.append(store.damaged(digest).what)
    for name in store.occurrences():
        counts["runs"] += 1
        try:
            if not sound_record(store, name):
                problems.append("runs/%s: torn record" % name)
            missing = [digest for digest in named_by(store, name) if digest != EMPTY and not store.blobs(digest)]
            problems += ["run:%s: %s is missing" % (name[32:], short(digest)) for digest in sorted(missing)]
        except FileNotFoundError:
            continue  # collected meanwhile
        except OSError as error:
            problems.append("runs/%s: %s" % (name, error.strerror))
    return counts, problems


# ── other machines


def export_runs(runs: Sequence[Run], file: BinaryIO, raw: bool, tell: Callable[[str], None]) -> int:
    """Write runs to a tar file: blobs by hash, and occurrences. Unless `raw`, secrets are redacted, which changes hashes and so
    handles; how many were. Raises OSError, CtxError."""
    import tarfile

    secrets = 0
    with tarfile.open(fileobj=file, mode="w|") as tar:
        add_member(tar, "ctx-export", b"1\n")
        for run in runs:
            manifest, found = dict(run.manifest, streams={}), 0
            for name in run.streams:
                kept, count = export_stream(run, name, manifest, raw)
                add_member(tar, "objects/" + manifest["streams"][name][0], kept)
                found += count
            if not raw:
                words = [redact(fsencode(word)) for word in manifest["argv"]]
                manifest["argv"] = [fsdecode(word) for word, _ in words]
                found += sum(count for _, count in words)
            digest = export_records(tar, run, to_json(manifest).encode(), found == 0)
            if found:
                tell("%s redacted in %s, which is run:%s there" % (plural(found, "secret"), run.handle, digest[:HANDLE_DIGITS]))
            secrets += found
    return secrets


def export_stream(run: Run, name: str, manifest: Dict[str, Any], raw: bool) -> Tuple[OpenFile, int]:
    """A stream as it leaves the machine, noted in its manifest, and how many secrets were redacted in it."""
    source, kept, secrets = run.source(name), nameless_file(run.store.root), 0
    gap = manifest.get("gaps", {}).get(name)
    for start, end in [(0, gap["at"]), (gap["at"], source.size)] if gap else [(0, source.size)]:
        if gap and start:
            manifest["gaps"] = dict(manifest["gaps"], **{name: dict(gap, at=kept.size)})
        redactor = Redactor()
        for at in range(start, end, CHUNK):
            data = source.read(at, min(end, at + CHUNK))
            kept.append(data if raw else redactor.feed(data))
        kept.append(redactor.finish())
        secrets += redactor.count
    manifest["streams"][name] = [hash_of(kept), kept.size]
    return kept, secrets


def export_records(tar: Any, run: Run, manifest: bytes, same: bool) -> str:
    """Write a run's manifest, the order of its streams where they are the same bytes, and its occurrences; its hash there."""
    digest = str(sha256(manifest).hexdigest())
    add_member(tar, "objects/" + digest, manifest)
    if same and exists(run.store.path(run.digest) + ".order"):
        add_member(tar, "orders/" + digest, open_file(run.store.path(run.digest) + ".order"))
    for name in run.store.occurrences():
        record = read_occurrence(run.store, name) if name[32:] == run.digest[:HANDLE_DIGITS] else {}
        if record:
            add_member(tar, "runs/" + name[:32] + digest[:HANDLE_DIGITS], to_json(dict(record, run=digest)).encode())
    return digest


def add_member(tar: Any, name: str, data: Union[bytes, OpenFile]) -> None:
    """Write one member of a tar file, the same bytes whenever it is written."""
    import io
    import tarfile

    info = tarfile.TarInfo(name)
    info.mode = 0o600
    if isinstance(data, bytes):
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    else:
        info.size = data.size
        posix.lseek(data.fd, 0, 0)
        with open(data.fd, "rb", closefd=False) as reader:
            tar.addfile(info, reader)


def import_runs(store: Store, file: BinaryIO) -> List[str]:
    """Take in what `export_runs` wrote, every hash checked; the handles. Raises OSError, and CtxError for any other file."""
    import tarfile

    occurrences: Dict[str, Any] = {}
    try:
        with tarfile.open(fileobj=file, mode="r|*") as tar, store.lock():
            members = iter(tar)
            first = next(members, None)
            if first is None or first.name != "ctx-export":
                raise ValueError("it does not begin as one")
            for member in members:
                plain = member.isreg() and not member.issparse()
                import_member(store, member.name, tar.extractfile(member) if plain else None, occurrences)
            for name, record in occurrences.items():
                if not is_occurrence(name) or not is_record(name, record) or not is_complete(store, record["run"]):
                    raise CtxError("%s: its run is not in the file" % quoted(name), "export the runs again")
            for name, record in occurrences.items():
                store.record(name, record)
    except (tarfile.TarError, ValueError, EOFError) as error:
        raise CtxError("not a file that ctx export wrote: %s" % visible(fsencode(str(error))), "export the runs again") from None
    return list(dict.fromkeys("run:" + name[32:] for name in sorted(occurrences)))


def import_member(store: Store, path: str, reader: Any, occurrences: Dict[str, Any]) -> None:
    """Take in one regular file of a tar file: into the store, but occurrences into a dictionary, until all is there.
    Raises OSError, ValueError, CtxError."""
    folder, _, name = path.partition("/")
    if reader is not None and folder == "objects":
        import_blob(store, name, reader)
    elif reader is not None and folder == "orders" and is_digest(name):
        keep_order(store, name, reader.read(ORDER_LIMIT))
    elif reader is not None and folder == "runs":
        occurrences[name] = from_json(reader.read(MIB))
    else:
        raise CtxError("%s: not a member that ctx export writes" % quoted(path), "import only what ctx export wrote")


def is_occurrence(name: str) -> bool:
    """Whether a name from elsewhere is one that `occurrence_name` makes."""
    marks, digits = name[8:9] + name[18:19] + name[31:32], name[:8] + name[9:18]
    return len(name) == 44 and marks == "T--" and digits.isdigit() and digits.isascii() and is_hex(name[19:31] + name[32:])


def is_complete(store: Store, digest: str) -> bool:
    """Whether a run's manifest and all of its streams are in the store. Raises CtxError when one is damaged."""
    run = read_manifest(store, digest)
    return run is not None and all(key == EMPTY or store.blobs(key) for key, _ in run.manifest["streams"].values())


def import_blob(store: Store, digest: str, reader: Any) -> None:
    """Store one blob of a tar file under its hash. Raises OSError, CtxError when the bytes are others."""
    kept = nameless_file(store.root)
    while True:
        data = reader.read(CHUNK)
        if not data:
            break
        kept.append(data)
    if hash_of(kept) != digest:
        raise CtxError("blob:%s: its bytes are others than its name says" % quoted(digest[:64]), "export the runs again")
    store.put_copy(kept, digest)


def set_pin(run: Run, keep: bool) -> None:
    """Keep a run for ever, or no longer so. Raises OSError."""
    path = "%s/pins/%s" % (run.store.root, run.digest[:HANDLE_DIGITS])
    run.store.prepare()
    if keep:
        write_atomic(path, b"")
    elif exists(path):
        posix.unlink(path)


PREVIOUS_LOOK = 200  # occurrences that are looked at for an earlier run of the same command


def previous_run(run: Run, record: Dict[str, Any]) -> Optional[Run]:
    """The newest earlier run of the same command (argv, kind, directory) in the same host session, else in the same workspace; None
    when none is near."""
    fallback: Optional[Run] = None
    for name in reversed(run.store.occurrences()[-PREVIOUS_LOOK:]):
        if name.split("-")[1] == run.alias:
            continue
        other = read_occurrence(run.store, name)
        if other.get("workspace") != record["workspace"]:
            continue
        try:
            earlier = read_manifest(run.store, other["run"])
        except CtxError:
            continue
        if earlier and all(earlier.manifest.get(key) == run.manifest.get(key) for key in ("argv", "kind", "cwd")):
            if other.get("session") == record["session"]:
                return earlier
            fallback = fallback or earlier
    return fallback


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 12 · capture
# Knows child processes: their streams, signals, time, and how much of their output a reader has been given. Never knows what the
# output means.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

HELD = 64 * KIB  # bytes kept in memory for a replay
HOLD_TERMINAL = 2.0  # seconds that output is held back when stdin is a terminal, so that prompts are seen
DRAIN = 0.2  # seconds to wait for end of file once the child has ended: a grandchild may hold the pipe for ever
PIPE_SIZE = MIB  # of the child's pipes, once it proves noisy; none is larger
PATIENCE = 1.0  # seconds of silence after which an interrupt counts as not received, and a line without end as a prompt
KILL_AFTER = 2.0  # seconds between the TERM and the KILL of a timeout
PROMPT = 400  # bytes of a prompt that are shown
GC_EVERY = 3600  # seconds between two collections that nobody asked for
GC_COMPRESS = 16 * MIB  # bytes that such a collection compresses at most

_FORWARDED = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_TERMINAL = ("SIGINT", "SIGQUIT")  # what a terminal sends to the whole group, the child included
_HARMLESS = ("SIGUSR1", "SIGUSR2")  # what a program may be sent without being asked to end
_DISK_FULL = (27, 28, 122)  # EFBIG, ENOSPC, EDQUOT: the reader has not gone, the bytes have


# ── what is kept of a run while it goes on


class StreamFile:
    """One stream on its way into the store: a file of the spool, its hash as it grows, past `limit` bytes a ring of the newest."""

    __slots__ = ("path", "fd", "size", "head", "limit", "ring", "_hash", "ring_fd", "ring_size", "ring_lines")

    def __init__(self, path: str, limit: int) -> None:
        self.path = path
        self.fd = posix.open(path, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        self.size = 0  # bytes in the file
        self.head = bytearray()  # of these, the first MiB
        self.ring = min(RING_LIMIT, limit // 4)
        self.limit = limit - self.ring
        self._hash: Any = None
        self.ring_fd = -1
        self.ring_size = 0  # bytes that ever went into the ring
        self.ring_lines = 0

    def write(self, view: memoryview) -> None:
        """Keep the next bytes. Raises OSError."""
        if self.ring_fd < 0 and self.size + len(view) > self.limit:
            room = self.limit - self.size
            cut = bytes(view[:room]).rfind(b"\n") + 1 or room  # the gap stands between lines where that is possible
            self.append(view[:cut])
            view = view[cut:]
            self.ring_fd = posix.open(self.path + ".ring", posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        if self.ring_fd >= 0:
            self.rotate(view)
        else:
            self.append(view)

    def append(self, view: memoryview) -> None:
        """Bytes that stay: to the file, and into the hash."""
        write_all(self.fd, view)
        if self._hash is not None:
            self._hash.update(view)
        elif self.size + len(view) > HASH_HEAD:
            self._hash = new_hash()
            self._hash.update(self.head)
            self._hash.update(view)
            self.head = bytearray()
        else:
            self.head += view
        self.size += len(view)

    def rotate(self, view: memoryview) -> None:
        """Bytes that stay only if the run ends soon: into the ring, over the oldest."""
        self.ring_lines += bytes(view).count(b"\n")
        while view:
            at = self.ring_size % self.ring
            part = view[: self.ring - at]
            posix.lseek(self.ring_fd, at, 0)
            write_all(self.ring_fd, part)
            self.ring_size += len(part)
            view = view[len(part) :]

    def finish(self) -> Tuple[str, Optional[Dict[str, int]]]:
        """End the file: its hash, and the gap between head and tail ({at, bytes, lines} dropped there) or None. Raises OSError."""
        gap = self.join_ring() if self.ring_fd >= 0 else None
        return str((self._hash or sha256(bytes(self.head))).hexdigest()), gap

    def join_ring(self) -> Optional[Dict[str, int]]:
        """Put the ring's bytes, oldest first, behind the head; the gap that lies between, None when nothing was dropped."""
        dropped = max(0, self.ring_size - self.ring)
        at, kept, left = self.size, 0, min(self.ring_size, self.ring)
        pos, start = dropped % self.ring, dropped > 0
        while left:
            data = read_span(self.ring_fd, pos, min(pos + min(left, CHUNK), self.ring))
            left, pos = left - len(data), (pos + len(data)) % self.ring
            if start:
                cut = data.find(b"\n") + 1
                dropped, data, start = dropped + cut, data[cut:], False
            kept += data.count(b"\n")
            self.append(memoryview(data))
        return {"at": at, "bytes": dropped, "lines": self.ring_lines - kept} if dropped else None

    def discard(self) -> None:
        """Close and remove what the spool has of it."""
        posix.close(self.fd)
        remove(self.path)
        if self.ring_fd >= 0:
            posix.close(self.ring_fd)
            remove(self.path + ".ring")


class Spool:
    """A run while it is captured: `meta` (locked while its ctx lives, so that an orphan is known), a file for each stream.

    Files appear with the first output. A run without output has none.
    """

    __slots__ = ("store", "alias", "manifest", "record", "streams", "limit", "order", "turn", "meta", "started", "redactors")

    def __init__(self, store: Store, manifest: Dict[str, Any], record: Dict[str, Any], limit: int = RUN_LIMIT,
                 at_rest: bool = False) -> None:  # fmt: skip
        self.store = store
        self.alias = urandom_hex()
        self.manifest = manifest  # argv, cwd, kind
        self.record = record  # workspace, session
        self.streams: Dict[str, StreamFile] = {}
        self.limit = min(limit, TEMP_QUOTA // 2) if store.root == temp_root() else limit
        self.order = bytearray()  # the segments that have ended, packed
        self.turn = (0, 0)  # the segment that grows: its stream's index, its bytes
        self.meta = -1
        self.started = now()
        self.redactors: Optional[Dict[str, Redactor]] = {} if at_rest else None

    @property
    def base(self) -> str:
        """Path of the spool's files, without what follows the dot."""
        return "%s/spool/%s" % (self.store.root, self.alias)

    def open(self) -> None:
        """Create the locked `meta`, which must exist, locked, before any stream does. Raises OSError."""
        temporary = temporary_beside(self.base)
        self.meta = posix.open(temporary, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        try:
            lock_file(self.meta)
            write_all(self.meta, to_json({"manifest": self.manifest, "record": self.record, "started": self.started}).encode())
            posix.rename(temporary, self.base + ".meta")
        except OSError:
            remove(temporary)
            raise

    def write(self, name: str, view: memoryview) -> None:
        """Keep bytes that arrived on a stream. Raises OSError."""
        if self.redactors is not None:
            view = memoryview(self.redactors.setdefault(name, Redactor()).feed(bytes(view)))
        self.keep(name, view)

    def keep(self, name: str, view: memoryview) -> None:
        """Write bytes to the stream's file. Raises OSError."""
        if not view:
            return
        if self.meta < 0:
            self.open()
        stream = self.streams.get(name)
        if stream is None:
            limit = self.limit if name == "output" else self.limit // 2
            stream = self.streams[name] = StreamFile("%s.%s" % (self.base, name), limit)
        stream.write(view)
        if name != "output":
            self.arrived(0 if name == "stdout" else 1, len(view))

    def arrived(self, which: int, length: int) -> None:
        """Note the order of two pipes, as far as its record may grow."""
        before, grown = self.turn
        if which == before:
            self.turn = (which, grown + length)
        elif len(self.order) < ORDER_LIMIT:
            self.order += pack_segment(before, grown)
            self.turn = (which, length)

    def in_order(self) -> Iterator[Tuple[str, bytes]]:
        """(stream, bytes) as they arrived: what is still owed to the reader when capture must give way."""
        names = ["output"] if "output" in self.streams else ["stdout", "stderr"]
        done = [0, 0]
        rest = [(i, self.streams[name].size) for i, name in enumerate(names) if name in self.streams]
        for which, length in [*unpack_order(bytes(self.order)), self.turn, *rest]:
            stream = self.streams.get(names[which])
            if stream is not None:
                start, end = done[which], min(stream.size, done[which] + length)
                for at in range(start, end, CHUNK):
                    yield names[which], read_span(stream.fd, at, min(end, at + CHUNK))
                done[which] = end

    def commit(self, names: Sequence[str], status: Optional[int], partial: str) -> Run:
        """Make the run part of the store: blobs, manifest, occurrence, in this order. The spool stays until `discard`.
        Raises OSError."""
        for name, redactor in (self.redactors or {}).items():
            self.keep(name, memoryview(redactor.finish()))
        streams: Dict[str, List[Any]] = {name: [EMPTY, 0] for name in names}
        gaps = {}
        for name, stream in self.streams.items():
            digest, gap = stream.finish()
            streams[name] = [digest, stream.size]
            if gap:
                gaps[name] = gap
        manifest = dict(self.manifest, streams=streams, exit=status, v=1)
        manifest.update((key, value) for key, value in (("partial", partial), ("gaps", gaps)) if value)
        order = bytes(self.order) + pack_segment(*self.turn) if self.order else b""
        return commit_run(self.store, self.base, manifest, order, self.record, self.alias, self.started)

    def discard(self) -> None:
        """Remove the spool's files, those last by which an orphan would be known."""
        for stream in self.streams.values():
            stream.discard()
        self.streams = {}
        if self.meta >= 0:
            remove(self.base + ".meta")
            posix.close(self.meta)
            self.meta = -1


# ── what is done behind a run


def collect_if_due(store: Store, days: int, quota: int) -> None:
    """Retention as it runs by itself, behind a command: rarely, briefly, and never in anybody's way."""
    try:
        adopt_orphans(store)
        if now() - modified(store.root + "/collected") > GC_EVERY:
            collect(store, days, quota, GC_COMPRESS)
    except (OSError, CtxError):
        pass  # the next run tries again


def adopt_orphans(store: Store) -> int:
    """Commit what a killed ctx left in the spool, marked partial; how many runs that were. An owner that lives holds its lock."""
    adopted = 0
    for name in list_dir(store.root + "/spool"):
        if name.endswith(".meta") and name[0] != ".":
            try:
                adopted += adopt(store, name[:-5])
            except (OSError, ValueError, KeyError, TypeError, CtxError):
                continue  # another one adopts it, or the next call does
    return adopted


def adopt(store: Store, alias: str) -> bool:
    """Commit one orphan; False when its owner lives, or it was committed before, or had no output yet. Raises OSError, CtxError,
    and ValueError, KeyError or TypeError when its `meta` is garbage."""
    base = "%s/spool/%s" % (store.root, alias)
    file = OpenFile(posix.open(base + ".meta", posix.O_RDWR | posix.O_CLOEXEC))
    if not lock_file(file.fd) or posix.fstat(file.fd).st_nlink == 0:
        return False
    store.prepare()
    found = [stream for stream in STREAMS if exists("%s.%s" % (base, stream))]
    orphan = bool(found) and not any(name[19:31] == alias for name in store.occurrences())
    if orphan:
        meta = from_json(file.read(0, file.size))
        streams = {stream: [EMPTY, 0] for stream in (("output",) if "output" in found else ("stdout", "stderr"))}
        for stream in found:
            data = open_file("%s.%s" % (base, stream))
            streams[stream] = [hash_of(data), data.size]
        manifest = dict(meta["manifest"], streams=streams, exit=None, v=1, partial="killed")
        commit_run(store, base, manifest, b"", meta["record"], alias, meta["started"])
    for stream in STREAMS:
        remove("%s.%s" % (base, stream))
        remove("%s.%s.ring" % (base, stream))
    remove(base + ".meta")
    return orphan


# ── starting a program


def child_environment() -> Dict[bytes, bytes]:
    """The environment as we got it: in the C locale the interpreter sets its own LC_CTYPE (PEP 538), which no child must see."""
    environment = dict(posix.environ)
    if environment.get(b"LC_CTYPE") in (b"C.UTF-8", b"C.utf8", b"UTF-8") and not environment.get(b"LC_ALL"):
        try:
            given = [line[9:] for line in read_file("/proc/self/environ").split(b"\0") if line.startswith(b"LC_CTYPE=")]
        except OSError:
            return environment
        del environment[b"LC_CTYPE"]
        environment.update((b"LC_CTYPE", value) for value in given)
    return environment


def spawn(argv: Sequence[str], stdout: int, stderr: int, group: bool) -> int:
    """Start `argv` with these descriptors as its stdout and stderr; its pid. Everything else is inherited. Raises OSError."""
    import _signal

    words = [fsencode(word) for word in argv]
    options: Dict[str, Any] = {
        "file_actions": [(posix.POSIX_SPAWN_DUP2, fd, to) for fd, to in ((stdout, 1), (stderr, 2)) if is_inherited(to)],
        # the interpreter ignores these two for itself, and ignored signals are inherited
        "setsigdef": [getattr(_signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(_signal, name)],
    }
    if group:
        options["setpgroup"] = 0
    environment = child_environment()
    try:
        return posix.posix_spawnp(words[0], words, environment, **options)
    except OSError as error:
        if error.errno != 8:  # ENOEXEC
            raise
    words = script_words(words)
    return posix.posix_spawn(words[0], words, environment, **options)


def is_inherited(fd: int) -> bool:
    """Whether a standard descriptor was open when we came (see hold_standard_descriptors); else it stays closed for the child."""
    try:
        return posix.get_inheritable(fd)
    except OSError:
        return False


def become(argv: Sequence[str]) -> None:
    """Run `argv` in the place of this process. Returns only by raising OSError."""
    import _signal

    words = [fsencode(word) for word in argv]
    program = find_program(words[0])
    if b"/" not in program:
        raise FileNotFoundError(2, "No such file or directory")
    for name in ("SIGPIPE", "SIGXFSZ"):
        _signal.signal(getattr(_signal, name), _signal.SIG_DFL)
    try:
        posix.execve(program, words, child_environment())
    except OSError as error:
        if error.errno != 8:
            raise
    words = script_words(words)
    posix.execve(words[0], words, child_environment())


def script_words(words: Sequence[bytes]) -> List[bytes]:
    """How a shell runs a script whose first line names no interpreter: bash by bash, others by sh. Raises OSError when not text."""
    program = find_program(words[0])
    if b"\0" in open_file(fsdecode(program)).read(0, 128):
        raise OSError(8, "Exec format error")
    shell = posix.environ.get(b"SHELL", b"")
    return [shell if shell.endswith(b"/bash") and posix.access(shell, posix.X_OK) else b"/bin/sh", program, *words[1:]]


def find_program(name: bytes, mode: int = posix.X_OK) -> bytes:
    """Where PATH has `name`, executable unless another mode is asked for; `name` itself when it names a place, or PATH has none."""
    if b"/" not in name and name:
        for folder in posix.environ.get(b"PATH", b"/bin:/usr/bin").split(b":"):
            path = (folder or b".") + b"/" + name
            if not is_dir(fsdecode(path)) and posix.access(path, mode):
                return path
    return name


# Builtins that no PATH has, and what they would have to be written as.
_BUILTINS = frozenset(
    "cd source . export alias unalias set unset eval exec shopt declare local typeset pushd popd ulimit umask trap wait fg".split()
)


def spawn_error(argv: Sequence[str], error: OSError) -> CtxError:
    """What a shell would say about a program that cannot be started, with the status that a shell would give it."""
    name, place = argv[0], fsdecode(find_program(fsencode(argv[0]), posix.F_OK))
    line = "'%s'" % visible(fsencode(" ".join(argv)[:200].replace("'", "'\\''")))
    if "/" not in place or (error.errno == 2 and not exists(place)):
        if name in _BUILTINS:
            fix = "it is a shell builtin: ctx run --shell %s" % line
        elif len(argv) == 1 and any(c in name for c in " |&;<>$"):
            fix = "if it is a line for the shell: ctx run --shell %s" % line
        else:
            fix = "check the spelling and PATH; an alias or function of your shell needs ctx run --shell %s" % line
        return CtxError("%s: command not found" % quoted(name), fix, EXIT_NOT_FOUND)
    if error.errno == 2:
        return CtxError("%s: its interpreter was not found" % quoted(name), "check the first line of the script", EXIT_NOT_FOUND)
    if is_dir(place):
        return CtxError("%s: is a directory" % quoted(name), "name a program", EXIT_NOT_EXECUTABLE)
    fix = "chmod +x it, or run it with its interpreter" if error.errno == 13 else "the system refused to start it"
    return CtxError("%s: %s" % (quoted(name), (error.strerror or "cannot be run").lower()), fix, EXIT_NOT_EXECUTABLE)


def shell_argv(text: str) -> List[str]:
    """The caller's shell, running `text`: $SHELL if it is bash or zsh, else bash, else sh."""
    shell = getenv("SHELL")
    if shell.rsplit("/", 1)[-1] in ("bash", "zsh") and posix.access(shell, posix.X_OK):
        return [shell, "-c", text]
    return ["bash" if find_program(b"bash") != b"bash" else "sh", "-c", text]


def same_file(one: int, two: int) -> bool:
    """Whether two descriptors are the same open file, as far as the system tells: the same pipe, terminal or file."""
    try:
        first, second = posix.fstat(one), posix.fstat(two)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def captured_streams() -> List[str]:
    """One stream where stdout and stderr are the same file, else both; but what the caller throws away is not captured either."""
    if same_file(1, 2):
        return ["output"]
    try:
        thrown_away = posix.fstat(2).st_rdev == posix.stat("/dev/null").st_rdev
    except OSError:
        thrown_away = False
    return ["stdout"] if thrown_away else ["stdout", "stderr"]


def is_pipe(fd: int) -> bool:
    """Whether a descriptor is a pipe or a socket."""
    try:
        return posix.fstat(fd).st_mode & 0o170000 in (0o010000, 0o140000)
    except OSError:
        return False


def widen(fd: int) -> None:
    """Give a noisy child a larger pipe, where the system can (Linux)."""
    import fcntl

    try:
        fcntl.fcntl(fd, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_SIZE)
    except OSError:
        pass


def is_terminal_group() -> bool:
    """Whether this process is in the foreground of a terminal, so that the terminal itself signals the child."""
    try:
        fd = posix.open("/dev/tty", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return False
    try:
        return posix.tcgetpgrp(fd) == posix.getpgrp()
    except OSError:
        return False
    finally:
        posix.close(fd)


def descendants(pid: int) -> List[int]:
    """Processes below `pid`, parents first, where /proc tells."""
    children: Dict[int, List[int]] = {}
    for name in list_dir("/proc"):
        if name.isdigit():
            try:
                fields = read_file("/proc/%s/stat" % name).rpartition(b")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


def send(pid: int, name: str) -> None:
    """Send a signal to a process, or with a negative pid to a group; gone is fine."""
    import _signal

    try:
        posix.kill(pid, getattr(_signal, name))
    except OSError:
        pass


def signal_name(number: int) -> str:
    """15 → 'SIGTERM'."""
    import _signal

    for name in sorted(dir(_signal)):
        if name.startswith("SIG") and name[3] != "_" and getattr(_signal, name) == number:
            return name
    return "signal %d" % number


def monotonic() -> float:
    """Seconds on a clock that never jumps."""
    import time

    return time.monotonic()


def wait_until(times: Sequence[float]) -> float:
    """Milliseconds for poll(2) until the earliest of some moments, -1 (for ever) when there are none."""
    return max(0.0, (min(times) - monotonic()) * 1000 + 1) if times else -1


def store_problem(error: OSError) -> str:
    """Why the store cannot be written, and what to do."""
    where = "" if error.filename is None else " (%s)" % visible(fsencode(str(error.filename)))
    return "%s%s; set CTX_HOME to a directory that can be written" % (error.strerror or error, where)


# ── the command while it runs


class Capture:
    """One command while it runs: its bytes go to the spool, and to the reader as the hold rule says (DESIGN §4.5).

    `mode` is hold (nothing shown yet), flow (shown as it comes, while the inline budget lasts), quiet (a status line now and then),
    or pass (everything is shown: `--stream`, or the store failed).
    """

    __slots__ = ("spool", "inline", "keep", "mode", "held", "total", "shown", "tail", "log", "deaf", "complaint", "undelivered",
                 "interactive", "hold", "next_status", "started", "last_arrival", "stop", "ended", "pid", "group", "doomed",
                 "partial", "status", "names", "readers", "drained", "signals", "interrupts", "wake", "poller",
                 "buffer")  # fmt: skip

    def __init__(self, spool: Optional[Spool], inline: int, hold: float, stream: bool = False, log: int = -1, limit: float = 0.0,
                 keep: int = HELD) -> None:  # fmt: skip
        self.spool = spool
        self.inline = inline
        self.keep = max(keep, 2 * inline, HELD)
        self.mode = "pass" if stream or spool is None else "hold"
        self.held: List[Tuple[str, bytes]] = []
        self.total = 0
        self.shown = 0
        self.tail = b""  # in quiet mode, what may be a prompt: the end of the output, not shown
        self.log = log
        self.deaf: Set[int] = set()
        self.complaint = ""
        self.undelivered = False
        self.interactive = posix.isatty(0)
        self.hold = min(hold, HOLD_TERMINAL) if self.interactive else hold
        self.started = self.last_arrival = monotonic()
        self.next_status = self.started + self.hold
        self.stop = self.started + limit if limit else 0.0
        self.ended = 0.0
        self.pid = 0
        self.group = limit > 0 and not is_terminal_group()
        self.doomed: List[int] = []
        self.partial = ""
        self.status = EXIT_INTERNAL
        self.names = captured_streams()
        self.readers: Dict[int, str] = {}
        self.drained: Dict[int, int] = {}  # bytes read from each pipe since the child ended
        self.signals: List[int] = []
        self.interrupts: List[Tuple[float, float, str]] = []
        self.wake = -1
        self.poller: Any = None
        self.buffer = memoryview(b"")

    def outcome(self) -> int:
        """The status to leave with: the child's own, unless a full disk behind our stdout swallowed what the child could write."""
        return EXIT_INTERNAL if self.undelivered and not self.status else self.status

    # bytes

    def feed(self, name: str, view: memoryview) -> None:
        """Take bytes that arrived: keep them, and show what may be shown."""
        if self.log >= 0:
            self.write_log(view)
        if self.spool is not None:
            try:
                self.spool.write(name, view)
            except OSError as error:
                self.give_way(error)
        self.total += len(view)
        self.last_arrival = monotonic()
        if self.mode != "pass" and self.total <= self.keep:
            self.held.append((name, bytes(view)))
        if self.mode == "pass" or (self.mode == "flow" and self.total <= self.inline):
            self.emit(name, view)
        elif self.mode == "flow":
            self.mode = "quiet"
            self.say_status()
        if self.interactive:
            self.tail = (self.tail + bytes(view[-PROMPT:]))[-PROMPT:]

    def write_log(self, view: memoryview) -> None:
        """Copy to the --log file; a file that fails is given up, once said."""
        try:
            write_all(self.log, view)
        except OSError as error:
            self.log = -1
            self.complain("--log: %s; the rest of the log is missing there" % error.strerror)

    def emit(self, name: str, data: Union[bytes, memoryview]) -> None:
        """Show bytes on the stream they came from."""
        self.shown += len(data)
        self.show(2 if name == "stderr" else 1, data)

    def show(self, fd: int, data: Union[bytes, memoryview]) -> None:
        """Write to the reader. One that has gone is remembered, not an error; a full disk is."""
        if fd not in self.deaf:
            try:
                self.push(fd, memoryview(data))
            except OSError as error:
                self.deaf.add(fd)
                if error.errno in _DISK_FULL:
                    self.undelivered = True
                    self.complain("std%s: %s" % ("err" if fd == 2 else "out", error.strerror))

    def push(self, fd: int, view: memoryview) -> None:
        """Write all; a reader that makes us wait keeps neither signals nor the time limit from the child. Raises OSError."""
        if self.wake < 0:
            write_all(fd, view)
            return
        import select

        gate = select.poll()
        gate.register(fd, select.POLLOUT)
        gate.register(self.wake, select.POLLIN)
        while view and fd not in self.deaf:
            if fd in dict(gate.poll(wait_until(self.duties()))):
                try:
                    view = view[posix.write(fd, view[: select.PIPE_BUF]) :]  # so much never blocks
                except BlockingIOError:
                    continue
            else:
                self.attend()

    def emit_rest(self) -> None:
        """Show everything that was captured and not shown yet."""
        owed: Iterable[Tuple[str, bytes]] = self.held
        if self.total > sum(len(data) for _, data in self.held) and self.spool is not None:
            owed = self.spool.in_order()
        skip, left = self.shown, self.total - self.shown
        for name, data in owed:
            piece = data[skip : skip + left]
            skip, left = max(0, skip - len(data)), left - len(piece)
            if piece:
                self.emit(name, piece)

    def commit(self) -> Optional[Run]:
        """Make what was captured a run of the store; None where nothing could be kept, which has been said."""
        if self.spool is None:
            return None
        try:
            return self.spool.commit(self.names, self.status, self.partial)
        except OSError as error:
            self.give_way(error)
            return None

    def give_way(self, error: OSError) -> None:
        """The store failed: show what is owed, and from now on everything; the command goes on."""
        if self.mode != "pass":
            self.emit_rest()
        self.mode = "pass"
        if self.spool is not None:
            self.spool.discard()
        self.spool = None
        self.complain("nothing is kept of this run: %s" % store_problem(error))

    def complain(self, text: str) -> None:
        """Say something on stderr that is wrong with ctx itself; once, because one line is what a reader has room for."""
        if not self.complaint:
            self.complaint = text
            self.show(2, fsencode("ctx run: %s\n" % text))

    def say_status(self) -> None:
        """One line for a host that looks, or gives up, before the end; the next one after twice the time."""
        elapsed = monotonic() - self.started
        self.next_status = self.started + max(2 * elapsed, self.hold)
        if self.spool is not None:
            self.show(1, fsencode("[ctx run:%s running · %d s · %s so far]\n" % (self.spool.alias, elapsed, human(self.total))))

    def tick(self) -> None:
        """Act on the time: end the hold, repeat the status line, show a prompt."""
        present = monotonic()
        if self.mode == "quiet" and self.tail and present - self.last_arrival >= PATIENCE:
            line, self.tail = self.tail[self.tail.rfind(b"\n") + 1 :], b""
            self.show(1, line)
        if present < self.next_status or self.mode == "pass":
            return
        if self.mode == "hold" and self.total <= self.inline:
            self.mode = "flow"
            self.emit_rest()
            self.next_status = self.started + 2 * self.hold
        elif self.mode == "flow":
            self.next_status = present + self.hold
        else:
            self.mode = "quiet"
            self.say_status()

    # the child

    def run(self, argv: Sequence[str]) -> None:
        """Run the command to its end; `status` and `partial` tell how it ended. Raises CtxError when it cannot be started."""
        import select

        pipes = [new_pipe() for _ in self.names]
        self.wake, wake_in = new_pipe()
        posix.set_blocking(self.wake, False)
        posix.set_blocking(wake_in, False)
        restore = self.listen(wake_in)
        try:
            self.readers = {read_end: name for (read_end, _), name in zip(pipes, self.names)}
            self.drained = dict.fromkeys(self.readers, 0)
            try:
                self.pid = spawn(argv, pipes[0][1], 2 if self.names == ["stdout"] else pipes[-1][1], self.group)
            except OSError as error:
                raise spawn_error(argv, error) from None
            finally:
                for _, write_end in pipes:
                    posix.close(write_end)
            self.poller = select.poll()
            for fd in (self.wake, *self.readers):
                self.poller.register(fd, select.POLLIN)
            for fd in (1, 2):
                if is_pipe(fd):
                    self.poller.register(fd, 0)  # POLLERR: the reader has gone
            self.loop()
        finally:
            restore()
            for fd in (self.wake, wake_in, *self.readers):
                posix.close(fd)
            self.wake = -1

    def loop(self) -> None:
        """Read until the child has ended and its pipes are empty."""
        import fcntl  # noqa: F401

        sha256()  # what the end needs is loaded while the child starts
        self.buffer = memoryview(bytearray(CHUNK))
        while not self.is_over():
            for fd, _ in self.poller.poll(self.patience()):
                if fd in self.readers:
                    self.read(fd)
                elif fd in (1, 2):
                    self.deafen(fd)
            self.attend()
            self.tick()
        for pid in self.doomed:
            if pid != self.pid:
                send(pid, "SIGKILL")
        if self.readers and not self.doomed:
            self.leave_open()

    def attend(self) -> None:
        """Serve what happened and what is due: signals, the child's end, the time limit."""
        try:
            while posix.read(self.wake, 512):
                pass
        except BlockingIOError:
            pass
        self.pass_on()
        if not self.ended and self.reap():
            self.ended, self.interrupts = monotonic(), []
            self.stop = self.stop if self.doomed else 0.0
        if self.stop and monotonic() >= self.stop:
            self.expire()

    def duties(self) -> List[float]:
        """When `attend` has something to do that no signal tells."""
        return [due for due, _, _ in self.interrupts] + ([self.stop] if self.stop else [])

    def patience(self) -> float:
        """Milliseconds until the loop has something to do, -1 for ever."""
        times = self.duties()
        if self.ended:
            times.append(self.last_wait())
        if self.mode != "pass":
            times.append(self.next_status)
        if self.mode == "quiet" and self.tail:
            times.append(self.last_arrival + PATIENCE)
        return wait_until(times)

    def last_wait(self) -> float:
        """Until when, after the child's end, its pipes may stay open: after a timeout those below it have time to end, too."""
        return max(self.ended + DRAIN, self.stop if self.doomed else 0.0)

    def read(self, fd: int) -> None:
        """One read of a pipe; end of file closes it."""
        count = posix.readv(fd, [self.buffer])
        if not count:
            self.close(fd)
            return
        if self.total < 64 * KIB <= self.total + count:
            widen(fd)
        if self.ended:
            self.drained[fd] += count
        self.feed(self.readers[fd], self.buffer[:count])

    def close(self, fd: int) -> None:
        """Read no more from a pipe."""
        self.poller.unregister(fd)
        del self.readers[fd]
        posix.close(fd)

    def is_over(self) -> bool:
        """Whether all that the child itself wrote has been read: its pipes are closed, or after a while empty, or have given all
        that they can hold."""
        if not self.ended or not self.readers:
            return self.ended > 0
        if monotonic() <= self.last_wait():
            return False
        full = {fd for fd, event in self.poller.poll(0) if event & 1}  # POLLIN
        return all(fd not in full or self.drained[fd] >= PIPE_SIZE for fd in self.readers)

    def leave_open(self) -> None:
        """A program that the child left behind holds its pipe: let something read on, or its next line would be its death."""
        for fd in self.readers:
            null = (posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0)
            actions = [(posix.POSIX_SPAWN_DUP2, fd, 0), null, (posix.POSIX_SPAWN_DUP2, 1, 2)]
            try:
                posix.posix_spawnp("cat", ["cat"], child_environment(), file_actions=actions, setpgroup=0)
            except OSError:
                pass

    def deafen(self, fd: int) -> None:
        """The reader of our stdout or stderr has gone: the child's next write there must fail as it would have without us."""
        self.poller.unregister(fd)
        self.deaf.add(fd)
        for read_end, name in list(self.readers.items()):
            if (name == "stderr") == (fd == 2) or name == "output":
                self.partial = self.partial or "reader gone"
                self.close(read_end)

    def reap(self) -> bool:
        """Collect the child's exit status; False while it runs."""
        try:
            pid, status = posix.waitpid(self.pid, posix.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            return False
        if posix.WIFSIGNALED(status):
            number = posix.WTERMSIG(status)
            self.status = 128 + number
            self.partial = self.partial or "killed by %s" % signal_name(number)
        else:
            self.status = posix.WEXITSTATUS(status)
        if self.partial == "timeout":
            self.status = EXIT_TIMEOUT
        return True

    def expire(self) -> None:
        """The time is over: TERM, and later KILL, for the child and all below it; for our reader, if the child has ended."""
        if self.ended:
            self.deaf.update(() if self.doomed else (1, 2))
            self.stop = 0.0
            return
        name = "SIGKILL" if self.partial == "timeout" else "SIGTERM"
        self.partial = "timeout"
        self.stop += KILL_AFTER
        self.doomed = [-self.pid] if self.group else sorted({self.pid, *self.doomed, *descendants(self.pid)})
        for pid in self.doomed:
            send(pid, name)

    # signals

    def listen(self, wake: int) -> Callable[[], None]:
        """Let signals that reach us wake the loop; how to undo that. What was ignored when we came stays so, for the child too."""
        import _signal

        before = {}
        for name in _FORWARDED + ("SIGCHLD",):
            number = getattr(_signal, name)
            if _signal.getsignal(number) != _signal.SIG_IGN or name == "SIGCHLD":
                before[number] = _signal.signal(number, self.note_signal)
        old = _signal.set_wakeup_fd(wake)

        def restore() -> None:
            _signal.set_wakeup_fd(old)
            for number, handler in before.items():
                _signal.signal(number, handler)

        return restore

    def note_signal(self, number: int, _: object) -> None:
        """Remember a signal for the loop."""
        import _signal

        if number != _signal.SIGCHLD and number not in self.signals:
            self.signals.append(number)

    def pass_on(self) -> None:
        """Send the child what was sent to us.

        A terminal signals the whole group, and so do most programs that interrupt; a second interrupt would break off the child's
        report. So one is passed on only if the child is still there, and silent, some time later, or much later in any case.
        """
        present = monotonic()
        while self.signals:
            name = signal_name(self.signals.pop(0))
            if self.ended:  # it is meant for us, whom a reader may keep waiting
                self.stop = self.stop if name in _HARMLESS else present + KILL_AFTER
                continue
            if name not in _HARMLESS:
                self.partial = self.partial or "interrupted"
            if name not in _TERMINAL or self.group:
                send(-self.pid if self.group else self.pid, name)
            elif not is_terminal_group():
                self.interrupts.append((present + PATIENCE, present + 5 * PATIENCE, name))
        for item in [item for item in self.interrupts if item[0] <= present]:
            self.interrupts.remove(item)
            if present - self.last_arrival >= PATIENCE or present >= item[1]:
                send(self.pid, item[2])
            else:
                self.interrupts.append((present + PATIENCE, item[1], item[2]))


def new_pipe() -> Tuple[int, int]:
    """A pipe whose ends are above the three standard descriptors even when some of these are closed."""
    ends = list(posix.pipe())
    if min(ends) <= 2:
        import fcntl

        low = ends
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in low]
        for fd in low:
            posix.close(fd)
    return ends[0], ends[1]


def tap(spool: Optional[Spool], complain: Callable[[OSError], None]) -> Tuple[int, str, Optional[Spool]]:
    """Copy stdin to stdout, unchanged and at once, and keep it: (bytes, why it ended early or "", the spool unless it failed)."""
    buffer = memoryview(bytearray(CHUNK))
    total = 0
    while True:
        try:
            count = read_stdin(buffer)
        except OSError as error:
            say_of_tap("stdin: %s" % error.strerror)
            return total, "stdin cannot be read", spool
        if not count:
            return total, "", spool
        if total < CHUNK <= total + count:
            widen(0)
        total += count
        if spool is not None:
            try:
                spool.write("output", buffer[:count])
            except OSError as error:
                spool.discard()
                spool = None
                complain(error)
        try:
            write_all(1, buffer[:count])
        except OSError as error:
            if error.errno in _DISK_FULL:
                say_of_tap("stdout: %s" % error.strerror)
            return total, "reader gone", spool


def say_of_tap(text: str) -> None:
    """Say on stderr what is wrong with the pipe itself, which the exit status of tap never tells."""
    try:
        write_all(2, fsencode("ctx tap: %s\n" % text))
    except OSError:
        pass


def read_stdin(buffer: memoryview) -> int:
    """One read of stdin into `buffer`; a non-blocking one is waited for. 0 at the end. Raises OSError."""
    while True:
        try:
            return posix.readv(0, [buffer])
        except BlockingIOError:
            import select

            poller = select.poll()
            poller.register(0, select.POLLIN)
            poller.poll()


# ── what is captured, and where it goes


def open_spool(kind: str, argv: Sequence[str], settings: Settings, where: str = "", told_session: str = "") -> Spool:
    """A spool, for a run (`kind`: run, shell, tap, file, tool) of this command line here, or `where` a host says, in the first store that
    can be written. Raises OSError."""
    where = where or cwd()
    top = workspace(where)
    manifest = {"kind": kind, "argv": list(argv), "cwd": relative_to(top, where)}
    record = {"workspace": top or where, "session": told_session or session()}
    return Spool(writable_store(), manifest, record, settings["store", "run_mib"] * MIB, settings["redact", "at_rest"])


def keep_file(fd: int, name: str, settings: Settings) -> Run:
    """Keep all that can be read from an open file. Raises OSError, the reader's or the store's; and CtxError when it is the store's."""
    try:
        spool = open_spool("file", [name], settings)
    except OSError as error:
        raise CtxError("nothing can be kept", store_problem(error)) from None
    try:
        while True:
            data = posix.read(fd, CHUNK)
            if not data:
                break
            try:
                spool.write("output", memoryview(data))
            except OSError as error:
                raise CtxError("nothing can be kept", store_problem(error)) from None
        return spool.commit(["output"], None, "")
    finally:
        spool.discard()


def house_keeping(store: Store, settings: Settings) -> None:
    """What a capture does for the store behind itself."""
    collect_if_due(store, settings["store", "days"], settings["store", "quota_mib"] * MIB)


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 13 · evidence
# Knows what a profile can find (facts, quotes, totals), what a digest owes of it (contracts), and how to count it (receipts). Never
# knows layout.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Quote:
    """Lines of a stream that are worth showing word for word.

    `first`–`last` (1-based, inclusive) of `stream`. `text` holds the bytes of line `first` without LF, as stored; when `last` is
    larger, lines first..last all read the same and are shown once with their count. `value` ranks quotes against each other: 10 is
    a line without which the failure cannot be understood, 1 is decoration.
    """

    __slots__ = ("stream", "first", "last", "text", "value")

    def __init__(self, stream: str, first: int, text: bytes, value: float = 1.0, last: int = 0) -> None:
        self.stream = stream
        self.first = first
        self.last = last or first
        self.text = text
        self.value = value


class Fact:
    """One typed thing that a profile found.

    `kind` is a row of the profile's contract (failed, error, diagnostic …). `identity` names the fact as the tool spells it (a
    test's node id, `path:line:col` + code); `location` is `path:line[:col]` or empty; `message` is the first line of the
    explanation, without the tool's margin. `stream`, `first`, `last` span the section that tells about it (0 when the output has
    none); `quoted` is the number of the line whose words `message` gives whole (0 when it is composed or cut). `context` are quotes
    that explain this fact, bought only after it, in the stream's order. `value` ranks facts of one kind; facts of equal value keep
    their order.
    """

    __slots__ = ("kind", "identity", "location", "message", "stream", "first", "last", "quoted", "context", "value")

    def __init__(self, kind: str, identity: bytes, location: bytes = b"", message: bytes = b"", stream: str = "", first: int = 0, last: int = 0,
                 quoted: int = 0, value: float = 1.0, context: Optional[List[Quote]] = None) -> None:  # fmt: skip
        self.kind = kind
        self.identity = identity
        self.location = location
        self.message = message
        self.stream = stream
        self.first = first
        self.last = last or first
        self.quoted = quoted
        self.value = value
        self.context = context or []


class Evidence:
    """All that one profile found in one output, or in one tool's part of it.

    `facts` is the census: every required fact, each once. `totals` are the tool's own counts in its own words and order ({"failed":
    3, "passed": 12}). `claimed` is the number of required facts by the tool's own summary, -1 when it gives none. `outcome` is what
    the tool itself says: "passed", "failed", or "" when it does not say. `summary` quotes the tool's closing line. `notes` are
    lines about the run as a whole that must be seen (interrupted, usage error, coverage below its threshold). `quotes` are further
    lines worth their price, any order. `unsure` says in a few words why the parse cannot be trusted; empty means certain. `span` is
    the part of each stream that was read: [(stream, first line, last line)].
    """

    __slots__ = ("profile", "facts", "totals", "claimed", "outcome", "summary", "notes", "quotes", "unsure", "span")

    def __init__(self, profile: str) -> None:
        self.profile = profile
        self.facts: List[Fact] = []
        self.totals: Dict[str, int] = {}
        self.claimed = -1
        self.outcome = ""
        self.summary: Optional[Quote] = None
        self.notes: List[Quote] = []
        self.quotes: List[Quote] = []
        self.unsure = ""
        self.span: List[Tuple[str, int, int]] = []


class Contract:
    """What a digest owes of one family's evidence.

    `policy` is "report" (a digest in any case), "content" (the output is the answer, and passes whole while it is not too large) or
    "verbatim" (the notes are a digest already, and pass as they are). Facts of the `required` kinds, each with the heading it
    stands under, are never dropped: inline, or in the census that the digest addresses. Those of the `failing` kinds mean that
    something is wrong. Of the `brief` kinds the message is a few words and stands in the identity's line. Quotes and messages are
    elastic: bought by value while the budget lasts. Everything else is retrievable by its address.
    """

    __slots__ = ("policy", "required", "failing", "brief")

    def __init__(self, policy: str, required: Dict[str, str], failing: Sequence[str] = (), brief: Sequence[str] = ()) -> None:
        self.policy = policy
        self.required = required
        self.failing = failing
        self.brief = brief


_TEST_CONTRACT = Contract(
    "report", {"failed": "failures", "error": "errors", "suite": "failed suites"}, ("failed", "error", "suite")
)

_TEST_RUNNERS = """
    pytest unittest
    ava bats bun-test cargo-json cargo-test ctest deno-test dotnet-test exunit go-json go-test gradle-test gtest jasmine jest jest-json junit-xml minitest mocha mocha-json munit nextest
    node-test nox phpunit playwright playwright-json pytest-json pytest-reportlog rspec rspec-json scalatest surefire swift-testing tap tox vitest xctest
"""

_DIAGNOSTIC_CONTRACT = Contract(
    "report",
    {
        "error": "errors",
        "step": "failed steps",
        "package": "packages",
        "unformatted": "not formatted",
        "warning": "warnings",
        "style": "style",
    },
    ("error", "step", "package", "unformatted"),
)
_DIAGNOSTIC_TOOLS = """
    apt biome black bundler cargo checkstyle cmake codequality composer diagnostics docker dotnet esbuild eslint flake8 gcc go go-mod
    golangci-lint gradle hadolint javac kotlinc linker make markdownlint maven mypy ninja npm phpstan pip pnpm poetry
    prettier pylint pyright python rollup rubocop ruff ruff-format rustc sarif shellcheck stylelint swiftc tsc uv vite webpack
    yamllint yarn
"""

CONTRACTS: Dict[str, Contract] = {
    "ctx": Contract("verbatim", {}),
    **dict.fromkeys(_TEST_RUNNERS.split(), _TEST_CONTRACT),
    **dict.fromkeys(_DIAGNOSTIC_TOOLS.split(), _DIAGNOSTIC_CONTRACT),
    "git-log": Contract("content", {"commit": "commits"}, (), ("commit",)),
    "git-diff": Contract("content", {"file": "files"}, (), ("file",)),
    "git-status": Contract("content", {"path": "paths"}, (), ("path",)),
    "git-blame": Contract("content", {"author": "authors", "commit": "commits"}, (), ("author", "commit")),
    "git-merge": Contract("report", {"conflict": "conflicts"}, ("conflict",)),
    "search": Contract("content", {"file": "files with hits"}, (), ("file",)),
    "list": Contract("content", {"item": "items"}, (), ("item",)),
    "listing": Contract("content", {"directory": "directories", "entry": "entries"}, (), ("directory", "entry")),
    "json": Contract("content", {"odd": "odd values", "place": "shape"}, (), ("odd", "place")),
    "yaml": Contract("content", {"odd": "odd values", "object": "objects"}, (), ("odd", "object")),
    "table": Contract("content", {"odd": "odd values"}, (), ("odd",)),
    "log": Contract("content", {"template": "templates"}, (), ("template",)),
    "bytes": Contract("content", {"format": "format"}, (), ("format",)),
    "document": Contract("content", {}),
    "progress": Contract("content", {}),
    "text": Contract("content", {}),
}


def contract_of(evidence: Evidence) -> Contract:
    """The contract of the profile that found `evidence`."""
    return CONTRACTS[evidence.profile.partition("/")[0]]


def required_facts(evidence: Evidence) -> List[Fact]:
    """The census that the contract requires, in order of value, then as found."""
    kinds = contract_of(evidence).required
    return sorted((fact for fact in evidence.facts if fact.kind in kinds), key=lambda fact: -fact.value)


def failing_facts(evidence: Evidence) -> List[Fact]:
    """The facts that mean that something is wrong."""
    kinds = contract_of(evidence).failing
    return [fact for fact in evidence.facts if fact.kind in kinds]


class Receipt:
    """How much of the evidence a digest shows. `known` identities were parsed, `claimed` is the tool's own count of them where it
    gives one.

    Every known identity is inline or retrievable; `unrepresented` is what is left, and must be 0. Lines are counted over all
    streams: a line is shown when its words stand in the digest whole.
    """

    __slots__ = ("known", "claimed", "inline", "retrievable", "stored", "shown")

    def __init__(self, known: int, claimed: int, stored: int) -> None:
        self.known = known
        self.claimed = max(known, claimed)
        self.inline = 0
        self.retrievable = 0
        self.stored = stored
        self.shown: Set[Tuple[str, int]] = set()

    @property
    def unrepresented(self) -> int:
        """Identities that the digest neither shows nor addresses."""
        return self.known - self.inline - self.retrievable

    @property
    def omitted(self) -> int:
        """Stored lines that the digest does not show whole."""
        return self.stored - len(self.shown)

    def show(self, quote: Quote) -> None:
        """Count the lines of a quote that is printed whole."""
        self.shown.update((quote.stream, number) for number in range(quote.first, quote.last + 1))

    def lines(self) -> List[str]:
        """The receipt as it stands in the digest."""
        out = []
        if self.claimed > 0:
            parts = ["%d/%d" % (self.known, self.claimed), "%d inline" % self.inline, "%d retrievable" % self.retrievable]
            parts.append("%d unrepresented" % self.unrepresented)
            if self.claimed > self.known:
                parts.append("%d not named in the output" % (self.claimed - self.known))
            out.append("identities: " + " · ".join(parts))
        return out + ["omitted: " + plural(self.omitted, "line")]


# ── the evidence of two runs beside each other


def summary_of(found: Sequence[Evidence]) -> Dict[str, Any]:
    """Evidence as plain data, as it is listed and kept beside its run: facts with their spans, totals, and what is unsure."""
    facts = [
        {
            "profile": evidence.profile,
            "kind": fact.kind,
            "identity": fsdecode(fact.identity),
            "location": fsdecode(fact.location),
            "message": fsdecode(fact.message),
            "stream": fact.stream,
            "lines": [fact.first, fact.last],
            "failing": fact.kind in contract_of(evidence).failing,
        }
        for evidence in found
        for fact in sorted(evidence.facts, key=lambda fact: -fact.value)
    ]
    totals: Dict[str, int] = {}
    for evidence in found:
        for label, count in evidence.totals.items():
            totals[label] = totals.get(label, 0) + count
    return {"v": 1, "facts": facts, "totals": totals, "unsure": [evidence.unsure for evidence in found if evidence.unsure]}


class Change:
    """What differs between two runs of a command: identities by what became of them, and the totals that changed."""

    __slots__ = ("groups", "totals", "unsure")

    def __init__(self, before: Dict[str, Any], after: Dict[str, Any]) -> None:
        old, new = failing_by_key(before), failing_by_key(after)
        gone, come = remaining(old, new), remaining(new, old)
        still = [fact for key, facts in new.items() for fact in facts[: len(old.get(key, ()))]]
        self.groups: Dict[str, List[Dict[str, Any]]] = {"fixed": gone, "new": come, "still": still}
        known = {fact["identity"] for fact in before["facts"] if fact["kind"] == "skipped"}
        self.groups["newly skipped"] = [
            fact for fact in after["facts"] if fact["kind"] == "skipped" and fact["identity"] not in known
        ]
        labels = list(dict.fromkeys([*after["totals"], *before["totals"]]))
        pairs = [(label, before["totals"].get(label, 0), after["totals"].get(label, 0)) for label in labels]
        self.totals = [pair for pair in pairs if pair[1] != pair[2]]
        self.unsure = bool(before["unsure"] or after["unsure"])

    def __bool__(self) -> bool:
        return bool(self.totals or any(facts for name, facts in self.groups.items() if name != "still"))


def failing_by_key(summary: Dict[str, Any]) -> Dict[Tuple[str, str, str], List[Dict[str, Any]]]:
    """A run's failing facts by what names them across edits: a test by its identity, a diagnostic by file, code and message, since
    its line moves."""
    found: Dict[Tuple[str, str, str], List[Dict[str, Any]]] = {}
    for fact in summary["facts"]:
        if fact["failing"]:
            identity, location = fact["identity"], fact["location"]
            moves = location and identity.startswith(location)
            key = (
                (location.partition(":")[0], identity[len(location) :], fact["message"]) if moves else (fact["kind"], identity, "")
            )
            found.setdefault(key, []).append(fact)
    return found


def remaining(
    these: Dict[Tuple[str, str, str], List[Dict[str, Any]]], those: Dict[Tuple[str, str, str], List[Dict[str, Any]]]
) -> List[Dict[str, Any]]:
    """Facts that one run has and the other has not, or has fewer of."""
    return [fact for key, facts in these.items() for fact in facts[len(those.get(key, ())) :]]


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 14 · profiles
# Knows one output family each: bytes to evidence. Never knows budgets or layout.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

PYTEST_MARKERS = (
    *(b" passed", b" failed", b" error", b" skipped", b" deselected", b" xfailed", b" xpassed", b"no tests ", b" collected in "),
    *(b" test session starts =", b"test summary info =", b"FAILURES =", b"ERRORS =", b"while loading conftest", b"INTERNALERROR> "),
)
UNITTEST_MARKERS = (b"\nRan ", b"=\nERROR: ", b"=\nFAIL: ", b"=\r\nERROR: ", b"=\r\nFAIL: ", b" ... FAIL\n", b" ... ERROR\n")

_PYTEST_RICH, _PYTEST_TOLD = 100, 5000  # facts with context; with location and whole message; the rest of a flood is only named
_PYTEST_PART, _PYTEST_PART_OF_FLOOD = 48 * KIB, 3 * KIB  # of a failure's traceback, the end that is read
_PYTEST_FAILING = {"failed": b"failed", "error": b"errors"}  # kind of fact: how the totals call it


class _View:
    """A stream as the tool wrote it: lines without the prefix a log collector put before each, without colour and CR."""

    __slots__ = ("source", "prefix", "colour", "_at", "_line")

    def __init__(self, source: Source, prefix: bytes = b"", colour: bool = False) -> None:
        self.source = source
        self.prefix = prefix
        self.colour = colour
        self._at, self._line = 0, 1

    def text(self, raw: bytes) -> bytes:
        return clean(raw[len(self.prefix) :])

    def lines(self, start: int, end: int) -> List[bytes]:
        """The lines between two offsets that are starts of lines."""
        data = self.source.read(start, max(start, end))
        rows = data.split(b"\n")
        if not rows[-1]:
            rows.pop()
        if self.colour or self.prefix or b"\r" in data or b"\b" in data or b"\x1b" in data:
            return [self.text(row) for row in rows]
        return [row.rstrip() for row in rows]

    def number(self, at: int) -> int:
        """Number of the line at an offset; cheap when offsets come in order."""
        if 0 <= at - self._at <= BLOCK:
            self._line += self.source.read(self._at, at).count(b"\n")
        else:
            self._line = self.source.line_at(at)
        self._at = at
        return self._line

    def span(self, start: int, end: int) -> Tuple[str, int, int]:
        """(stream, first line, last line) between two offsets."""
        return self.source.name, self.source.line_at(start), self.source.line_at(max(start, end - 1))

    def back(self, at: int) -> int:
        """Start of the line that an offset stands in."""
        at = max(0, at)
        return at - len(self.source.read(max(0, at - 4 * KIB), at).rpartition(b"\n")[2])

    def starts(self, words: Tuple[bytes, ...], start: int, end: int) -> Iterator[Tuple[int, bytes]]:
        """(offset, text) of the lines that begin with one of `words`."""
        tail = self.prefix[-2:] or b"\n"
        for base, data in self.source.line_windows(start, end):
            window = b"\n" + data
            if self.colour:
                either = b"|".join(word.replace(b"[", rb"\[").replace(b"(", rb"\(") for word in words)
                hits = [m.start() for m in rx(b"\n.{%d}(?:\x1b\\[[0-9;]*m)*(?:%s)" % (len(self.prefix), either)).finditer(window)]
            else:
                hits = sorted(window.rfind(b"\n", 0, at + 1) for word in words for at in find_each(window, tail + word))
            last = -1
            for at in hits:
                if at > last:
                    text = self.text(window[at + 1 : (window.find(b"\n", at + 1) + 1 or len(window) + 1) - 1])
                    if text.startswith(words):
                        yield base + at, text
                    last = at


def find_each(data: bytes, literal: bytes) -> Iterator[int]:
    """Indexes of a literal in `data`."""
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + 1)


# ── pytest: what delimits a session ─────────────────────────────────────────────────────────────────────────────────────────────

_PYTEST_TITLES = (b"test session starts =", b"test summary info =", b"S =")  # how the titles below end
_PYTEST_SECTIONS = (
    *(b"FAILURES", b"ERRORS", b"PASSES", b"XFAILURES", b"XPASSES"),
    *(b"short test summary info", b"rerun test summary info"),
)
_PYTEST_HEADER = (b"platform ", b"collect", b"created: ", b"bringing up", b"gw0", b"rootdir", b"cachedir")  # below a start
_PYTEST_QUIET = {
    *(b"passed", b"failed", b"skipped", b"deselected", b"xfailed", b"xpassed", b"errors", b"warnings", b"rerun", b"collected"),
    *(b"subtests passed", b"subtests failed", b"subtests skipped"),
}
_PYTEST_PLURAL = {b"error": b"errors", b"warning": b"warnings", b"test collected": b"collected", b"tests collected": b"collected"}


class _Event:
    """A ruler or closing line: `kind` is start, section or close."""

    __slots__ = ("at", "end", "kind", "title", "totals", "ruled", "prefix", "text", "colour")

    def __init__(self, at: int, line: bytes, prefix: bytes, title: bytes, totals: Optional[Dict[bytes, int]], ruled: bool) -> None:
        self.at, self.end = at, at + len(line) + 1
        self.prefix, self.title, self.totals, self.ruled = prefix, title, totals, ruled
        self.kind = "close" if totals is not None else "start" if title == b"test session starts" else "section"
        self.text = clean(line)[len(prefix) :]
        self.colour = b"\x1b" in line

    @property
    def ran(self) -> int:
        """Tests that came to an outcome."""
        totals = self.totals or {}
        return sum(totals.get(word, 0) for word in (b"failed", b"passed", b"skipped", b"xfailed", b"xpassed"))


def _pytest_totals(text: bytes) -> Optional[Dict[bytes, int]]:
    """Counts of a closing line ('2 failed, 1 passed in 0.12s'), or None."""
    m = rx(rb"^(.+) in \d+\.\d+ ?s(?:econds)?(?: \([^()]*\))?$").match(text)
    totals: Dict[bytes, int] = {}
    for part in m.group(1).split(b", ") if m else ():
        count = rx(rb"^(?:\d+/|(?=no tests ))?(\d+|no) ([a-z]+(?: [a-z]+)?)(?: \((\d+) deselected\))?$").match(part)
        if not count:
            return None
        if count.group(1) != b"no":
            totals[_PYTEST_PLURAL.get(count.group(2), count.group(2))] = int(count.group(1))
        if count.group(3):
            totals[b"deselected"] = int(count.group(3))
    return totals if m else None


def _pytest_event(at: int, line: bytes) -> Optional[_Event]:
    text = clean(line)
    m = rx(rb"^(.*?)(=+) (\S.*) (=+)$").match(text)
    if m:
        prefix, title, ruled = m.group(1), m.group(3), True
        totals = _pytest_totals(title)
        if totals is None and title != b"test session starts" and title not in _PYTEST_SECTIONS:
            return None
    else:
        m = rx(rb"^(|.*?[\t |>])((?:\d+(?:/\d+)? [a-z]|no tests ).* in \d+\.\d+ ?s.*)$").match(text)
        totals = _pytest_totals(m.group(2)) if m else None
        if m is None or totals is None or not _PYTEST_QUIET.issuperset(totals):
            return None
        prefix, title, ruled = m.group(1), m.group(2), False
    if prefix and (len(prefix) > 200 or not rx(rb"^(?!E |[>|+ \t]).*[\t |>]$").match(prefix)):
        return None  # an excerpt of source or of a message, not a line of a log
    return _Event(at, line, prefix, title, totals, ruled)


def _pytest_events(source: Source) -> Dict[bytes, List[_Event]]:
    """Rulers and closing lines by the shape of the prefix of their lines, in one pass over all bytes."""
    groups: Dict[bytes, List[_Event]] = {}
    seconds, counts = rx(rb" in \d+\.\d\d ?s"), rx(rb"(?:\d [a-z]+(?: [a-z]+)?|no tests [a-z]+|deselected\))(?:\x1b\[[0-9;]*m)*$")
    for base, data in source.line_windows():
        hits = [at for title in _PYTEST_TITLES for at in find_each(data, title)]
        for at in find_each(data, b" in "):
            if data[at + 4 : at + 5].isdigit() and seconds.match(data, at) and counts.search(data[max(0, at - 48) : at]):
                hits.append(at)
        for at in sorted({data.rfind(b"\n", 0, at) + 1 for at in hits}):
            line, _, after = data[at : at + 4000].partition(b"\n")
            event = _pytest_event(base + at, line) if len(line) < 2000 else None
            below = clean(after.partition(b"\n")[0][len(event.prefix) :]) if event else b""
            if event and (event.kind != "start" or below.startswith(_PYTEST_HEADER)):
                groups.setdefault(rx(rb"\d").sub(b"0", event.prefix), []).append(event)
    return groups


class _Session:
    """One run of pytest: its extent, the rulers in it, the closing line; `doubts` says why it may be read wrongly."""

    __slots__ = ("view", "start", "end", "close", "events", "doubts", "quiet", "seen", "_verbose")

    def __init__(self, view: _View, start: int, end: int, close: Optional[_Event], events: List[_Event], quiet: bool) -> None:
        self.view, self.start, self.end, self.close, self.events, self.quiet = view, start, end, close, events, quiet
        self.doubts: List[str] = []
        self.seen = 2  # how much of its progress there is: 0 nothing, 1 less than the totals say, 2 enough
        self._verbose: Optional[List[_Item]] = None

    @property
    def stop(self) -> int:
        """Offset of the closing line, or of where it would be."""
        return self.close.at if self.close else self.end

    @property
    def body(self) -> int:
        """Offset of the first section after the progress lines, or of what ends them."""
        return next((event.at for event in self.events if event.kind == "section"), self.stop)

    @property
    def verbose(self) -> List[_Item]:
        """Failing tests by the progress lines of -v."""
        if self._verbose is None:
            self._verbose = _verbose_items(self)
        return self._verbose

    def titled(self, title: bytes) -> List[_Event]:
        """The sections whose title ends so."""
        return [event for event in self.events if event.kind == "section" and event.title.endswith(title)]

    def failing(self, kind: str) -> List[bytes]:
        """The file of each test whose progress letter says that it failed; empty words where no file is printed."""
        letter, rows = b"F" if kind == "failed" else b"E", _pytest_progress(self.view, self.start, self.body)[1]
        return [path for path, letters in rows for _ in range(letters.count(letter))]


_PYTEST_COLLECTED = (
    rb"collected (\d+) items?(?: / (?:\d+ errors?|(\d+) deselected|\d+ skipped))*(?: / (\d+) selected)?|\[(\d+)(?: items)?\]"
)


def _agree(view: _View, start: _Event, close: _Event) -> bool:
    """Whether a closing line can belong to a header: as wide, no more tests than selected, no fewer unless the run was stopped."""
    totals, source, width = close.totals or {}, view.source, len(start.text)
    if len(close.text) != width and not close.text.startswith(b"= "):
        return False
    head = strip_ansi(source.read(start.at, start.at + 16 * KIB))
    m = rx(_PYTEST_COLLECTED).search(head)
    if not m or b"collected" in totals or not close.ran + totals.get(b"errors", 0):
        return True
    selected = int(m.group(3) or m.group(4) or int(m.group(1)) - int(m.group(2) or 0))
    before = source.read(max(start.at, close.at - 64 * KIB), close.at)
    around = [view.text(raw) for raw in before.split(b"\n")[-6:] + source.read(close.end, close.end + 200).split(b"\n")[:1]]
    stops = [row for row in around if row.startswith(b"!") and row.endswith(b"!") and len(row.decode("utf-8", "replace")) >= width]
    stopped = stops or b"! KeyboardInterrupt !" in before or any(row.startswith(b"INTERNALERROR>") for row in around)
    extra = totals.get(b"skipped", 0) + (MIB if b"SUBFAIL" in before or b"subtests-" in head or b"subtests passed" in totals else 0)
    return close.ran <= selected + extra and (bool(stopped) or close.ran + totals.get(b"errors", 0) >= selected)


def _nested(view: _View, chunk: List[_Event]) -> bool:
    """Whether a session that starts after these events is part of the output of their session (a test that runs pytest)."""
    if not chunk or chunk[-1].kind != "close":
        return bool(chunk)
    if chunk[0].kind != "start":  # -q: what follows its last closing line, or the end of a session whose header is cut
        quiet = max([i for i, event in enumerate(chunk) if event.kind == "close" and not event.ruled], default=-1)
        chunk = chunk[quiet + 1 :]
    ruled = [event for event in chunk if event.kind == "close" and event.ruled]
    starts = sum(event.kind == "start" for event in chunk)
    if not chunk or chunk[0].kind != "start":
        return any(event.kind == "section" for event in chunk) and len(ruled) <= starts
    return not (len(ruled) >= starts and _agree(view, chunk[0], ruled[-1]))


def _pytest_progress(view: _View, start: int, end: int) -> Tuple[int, List[Tuple[bytes, bytes]]]:
    """(offset of the first, [(file, letters)]) of the lines like `tests/a.py ..F.   [ 50%]`, of the last MiB before `end`."""
    first, rows, path = -1, [], b""
    pattern = rx(rb"^(?:(\S.*?\.\w+) )?(-*[.FEsxXRuyrp,][.FEsxXRuyrp,-]*)(?: +\[[ \d%/]+\])?$")
    at = start if end - start <= MIB else view.back(end - MIB)
    for raw in view.source.read(at, end).split(b"\n"):
        m = pattern.match(view.text(raw)) if len(raw) < 600 else None
        if m:
            path = m.group(1) or path
            rows.append((path, m.group(2)))
            first = at if first < 0 else first
        at += len(raw) + 1
    return first, rows


def _quiet_sessions(view: _View, events: List[_Event], start: int, end: int, done: List[_Session]) -> None:
    """Sessions without header (-q, or a log whose head is cut) among these events; appended to `done`."""
    closes = [event for event in events if event.kind == "close" and not event.ruled]
    if not closes and not any(event.kind == "start" for event in events):  # a log without its head
        closes = [event for event in events if event.kind == "close"]
    for close in closes:
        inner = [event for event in events if start <= event.at < close.at]
        first, rows = _pytest_progress(view, start, min([event.at for event in inner if event.kind == "section"] + [close.at]))
        letters, totals = sum(len(letters) for _, letters in rows), close.totals or {}
        whole = letters >= close.ran
        most = close.ran + totals.get(b"errors", 0) + totals.get(b"rerun", 0) + (MIB if b"subtests passed" in totals else 0)
        if letters > most or (not whole and close is not closes[-1]):
            continue  # printed by a test
        session = _Session(view, first if first >= 0 else inner[0].at if inner else close.at, close.end, close, inner, True)
        while not whole and done and done[-1].end == start and done[-1].view is view:  # then these were run by its tests
            start, session.start, session.events = done[-1].start, done[-1].start, done[-1].events + session.events
            session.doubts = ["several sessions, one perhaps inside another"]
            done.pop()
            whole = sum(len(letters) for _, letters in _pytest_progress(view, start, session.body)[1]) >= close.ran
        session.seen = 2 if whole else 1 if letters else 0
        done.append(session)
        start = close.end
    rest = [event for event in events if event.at >= start and event.kind == "section"]
    if rest and (not done or done[-1].end <= start):
        first, _ = _pytest_progress(view, start, rest[0].at)
        done.append(_Session(view, first if first >= 0 else rest[0].at, end, None, rest, True))


def _headed_sessions(view: _View, events: List[_Event], end: int, done: List[_Session]) -> None:
    """The session that starts at events[0], and what follows it before the next; appended to `done`."""
    ruled = [event for event in events if event.kind == "close" and event.ruled]
    starts = [i for i, event in enumerate(events) if event.kind == "start"]
    if len(starts) > 1 and len(ruled) < len(starts) and not any(event.kind == "section" for event in events[: starts[1]]):
        done.append(_Session(view, events[0].at, events[starts[1]].at, None, events[: starts[1]], False))  # it was killed
        return _headed_sessions(view, events[starts[1] :], end, done)
    close = next((event for i, event in reversed(list(enumerate(ruled, 1))) if i >= sum(events[k].at < event.at for k in starts)
                  and _agree(view, events[0], event)), None)  # fmt: skip
    stop = close.end if close else end
    done.append(_Session(view, events[0].at, stop, close, [event for event in events if event.at < stop], False))
    if close and close.at < events[-1].at:
        rest = [event for event in events if event.at > close.at and (event.kind == "section" or not event.ruled)]
        _quiet_sessions(view, rest, stop, end, done)


def _pytest_sessions(source: Source) -> List[_Session]:
    sessions: List[_Session] = []
    for events in _pytest_events(source).values():
        if events[0].prefix and all(event.kind == "close" for event in events):
            continue
        view = _View(source, events[0].prefix, any(event.colour for event in events))
        chunks: List[List[_Event]] = [[]]
        for event in events:
            if event.kind == "start" and not _nested(view, chunks[-1]):
                chunks.append([])
            chunks[-1].append(event)
        ends = [chunk[0].at for chunk in chunks[1:]] + [source.size]
        done: List[_Session] = []
        if chunks[0]:
            _quiet_sessions(view, chunks[0], 0, ends[0], done)
        for chunk, end in zip(chunks[1:], ends[1:]):
            _headed_sessions(view, chunk, end, done)
        sessions += done
    kept = []
    for one in sessions:  # what has another prefix and stands inside another session was printed by its tests
        around = [other for other in sessions if other.view is not one.view and other.start <= one.start < other.end]
        if not any(one.end <= other.end or not one.close for other in around):
            kept.append(one)
    return kept


# ── pytest: what a failure block says ───────────────────────────────────────────────────────────────────────────────────────────

_PYTEST_FRAME = rb"^([^\s>].*?):(\d+)(?:: (?:in .+|[\w.]+)|:)?$"
_NATIVE_FRAME = rb'^( *\|?) +File "(.+?)", line (\d+)'
_PYTEST_FOREIGN = rb"(?:^|[/\\])(?:site-packages|dist-packages|lib/python\d[\d.]*)[/\\]|^<"
_PYTEST_BARE = rb"(?!file |ImportError while |Traceback|\[gw|E |>)\S"  # how a failure begins that is only text (pytrace=False)
_PYTEST_CHAINED = (b"During handling of the above exception", b"The above exception was the direct cause")
_PYTEST_NAMED = rb"(?i)(?:error|exception|critical|fatal|traceback|panic)"


class _Block:
    """What the lines of one traceback say: the message with the indexes of its lines (-1: none), the location, the frames."""

    __slots__ = ("lines", "message", "said", "until", "location", "frames", "marked")

    def __init__(self, lines: List[bytes], hint: bytes = b"") -> None:
        self.lines, self.message, self.said, self.until, self.location = lines, b"", -1, -1, b""
        self.frames: List[Tuple[int, bytes, bytes]] = []
        self.marked = False  # the message stands where only a message can stand
        native: List[Tuple[int, bytes, bytes]] = []
        runs: List[List[int]] = []  # of lines with the margin E
        chained = 0
        for i, line in enumerate(lines):
            first = line[:1]
            if first == b"E" and (line[1:4] == b"   " or len(line) == 1):
                if runs and runs[-1][1] == i - 1:
                    runs[-1][1] = i
                else:
                    runs.append([i, i])
            elif first == b" ":
                m = rx(_NATIVE_FRAME).match(line) if b'File "' in line else None
                if m and len(m.group(1)) < 4:
                    native.append((i, m.group(2), m.group(3)))
            elif first not in (b"", b">"):
                m = rx(_PYTEST_FRAME).match(line)
                if m and (m.end(2) < m.end() or b"." in m.group(1)):
                    self.frames.append((i, m.group(1), m.group(2)))
                elif line.startswith(_PYTEST_CHAINED):
                    chained = i
        fit = [run for run in runs if hint and says(lines[run[0]][1:].strip(), hint)]
        text = not hint and bool(rx(_PYTEST_BARE).match(lines[0] if lines else b"")) and not rx(_PYTEST_FRAME).match(lines[0])
        bare = -1 if runs and (fit or not hint) and not text else self._bare()
        if runs and not text and (bare < 0 or not says(lines[bare].strip(b" |"), hint)):
            self.said, self.until = (fit or runs)[-1]
            self.marked = True
            self.message = lines[self.said][1:].strip()
        elif self.frames and lines[self.frames[-1][0]].endswith(b": DocTestFailure"):
            self.said = self.until = self.frames[-1][0]
            self.message = b"DocTestFailure"
        elif bare >= 0:
            self.said = self.until = bare
            self.message = lines[bare].strip(b" |")
            doctest = self.frames and lines[self.frames[-1][0]].endswith(b": UnexpectedException")
            self.frames = self.frames if doctest else [frame for frame in native if frame[0] < bare]
        own = [frame for frame in self.frames if not rx(_PYTEST_FOREIGN).search(frame[1])]
        for frame in ([frame for frame in own if frame[0] > chained] or own or self.frames)[-1:]:
            self.location = frame[1] + b":" + frame[2]

    def _bare(self) -> int:
        """Index of the message where no margin marks it: native style, an exception group, a doctest, or nothing but text."""
        lines, at, margin = self.lines, 0, b" "
        for i, line in enumerate(lines):
            if line.startswith(b"Traceback (most recent call last):") and (not at or lines[i - 2].startswith(_PYTEST_CHAINED)):
                at = i + 1
            elif line.startswith(b"  + Exception Group Traceback"):
                at, margin = i + 1, b"  |  "
                break
        self.marked = at > 0
        while at < len(lines) and (not lines[at] or lines[at].startswith((margin, b"[gw")) and (at or margin == b" ")):
            at += 1
        return at if at < len(lines) else -1

    def context(self, stream: str, first: int) -> List[Quote]:
        """Quotes that explain the message, in the stream's order; `first` is the number of the first line."""
        rows: Dict[int, float] = {}
        if self.said < 0:
            return []
        for i, path, _ in self.frames[-12:]:
            if not rx(_PYTEST_FOREIGN).search(path):
                rows[i] = 2.0
        for i, line in enumerate(self.lines[: max(self.said, 0)]):
            if line[:2] == b"E " and self.lines[i - 1][:1] != b"E":
                rows[i] = 3.0
        until = self.until if self.lines[self.said][:1] == b"E" else self.said + 8
        for i in range(self.said + 1, min(until + 1, self.said + 15, len(self.lines))):
            rows.setdefault(i, 4.0 if i < self.said + 4 else 3.0)
        for i in range(self.said - 1, max(-1, self.said - 40), -1):
            if self.lines[i].startswith(b">"):
                rows[i] = 5.0
                break
        if self.message == b"DocTestFailure":
            rows.update((i, 4.0) for i in range(max(0, self.said - 12), self.said))
        return [Quote(stream, first + i, self.lines[i], rows[i]) for i in sorted(rows) if i != self.said and self.lines[i].strip()]


def says(text: bytes, hint: bytes) -> bool:
    """Whether a message is the one that the summary cuts to `hint`; some styles leave the name of the exception out."""
    names = (b"", b"AssertionError: ", b"Failed: ")
    return any(text.startswith(name + hint) or (name + text).startswith(hint) for name in names)


# How messages begin: what tells ' - ' before one from ' - ' inside of brackets.
_PYTEST_MESSAGE = rb"(?: - (?:[\w.]*(?:[A-Z]\w*|\.\.\.)(?:: |\.\.\.|$)|assert |ass?e?r?t?\.\.\.|worker |fixture |\[XPASS)|$)"


class _Item:
    """A failing test: the words of the summary line after FAILED, and what is known of it."""

    __slots__ = ("kind", "rest", "sub", "at", "identity", "hint", "cut", "sure", "start", "end", "text")

    def __init__(self, kind: str, rest: bytes, at: int = -1, sub: bytes = b"", identity: bytes = b"", text: bytes = b"") -> None:
        self.kind, self.rest, self.at, self.sub, self.identity, self.text = kind, rest, at, sub, identity, text
        self.hint, self.cut, self.sure = b"", False, bool(identity)
        self.start = self.end = -1

    def split(self, length: int) -> None:
        """Take the first `length` bytes as node id, the rest as message."""
        self.identity, hint = self.rest[:length], self.rest[length + 3 :]
        self.cut = hint.endswith(b"...")
        self.hint, self.sure = hint[:-3] if self.cut else hint, True

    def fits(self, title: bytes) -> int:
        """Length of the node id when this item can be the one with that header, else -1."""
        error = rx(rb"^ERROR (?:collecting (.+)|at \w+ of (.+))$").match(title)
        if (self.kind == "error") != bool(error):
            return -1
        if error and error.group(1):
            name = error.group(1)
            return len(name) if self.rest.startswith(name) and self.rest[len(name) :][:3] in (b"", b" - ") else -1
        title = error.group(2) if error else title
        if self.sub and title.endswith(b" " + self.sub):
            title = title[: -len(self.sub) - 1]
        plain = rx(rb"^(.*?) (\[.*\](?: \(.*\))?|\(.*\))$").match(title)
        at = self.rest.find(b"::") + 2
        for name in [node_name(title), title] + ([node_name(plain.group(1))] if plain else []):
            end = at + len(name)
            if at > 2 and self.rest.startswith(name, at) and self.rest[end : end + 3] in (b"", b" - "):
                self.sub = plain.group(2) if plain and name not in (node_name(title), title) else self.sub
                return end
        end = self.rest.find(b" - worker '") if self.rest.startswith(title + b"::") else -1
        return end

    def guess(self, known: Set[bytes]) -> bool:
        """Split without a header: by the ids of the progress lines, else by brackets. False when several splits are possible."""
        ends = [m.start() for m in rx(rb" - |$").finditer(self.rest)]
        for end in ends:
            if self.rest[:end] in known:
                self.split(end)
                return True
        head = rx(rb"^.*?\.\w+(?:::[^\[]*?(?= - |\[|$))?").match(self.rest)
        opened = head is not None and self.rest[head.end() : head.end() + 1] == b"["
        fit = [end for end in ends if head and end >= head.end() and (not opened or self.rest[end - 1 : end] == b"]")]
        like = [end for end in fit if rx(_PYTEST_MESSAGE).match(self.rest, end)] if opened else fit[:1]
        self.split((like or fit or ends)[0])
        return len(like or fit) == 1


def node_name(title: bytes) -> bytes:
    """The part of a node id after the file, from the name that heads a failure: 'TestA.test_b[x.y]' → 'TestA::test_b[x.y]'."""
    if title.startswith(b"[doctest] "):
        return title[10:]
    name, bracket, parameters = title.partition(b"[")
    return name.replace(b".", b"::") + bracket + parameters


# ── pytest: the census ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_PYTEST_FAILED = rb"^(FAILED|ERROR) (.+)$"
_PYTEST_SUBTESTS = (rb"^SUBFAIL(?:ED)?()(\[.*?\])? ?(\(.*?\))? (\S+::.*)$", rb"^()(\[.*?\])? ?(\(.*?\))? ?SUBFAIL (\S+::.*)$")


def _summary_items(session: _Session, ruler: _Event) -> List[_Item]:
    """The failing tests that one short test summary lists, and lines of messages that look like them."""
    items = []
    for at, text in session.view.starts((b"FAILED", b"ERROR", b"SUBFAIL", b"[", b"("), ruler.end, session.stop):
        m = rx(_PYTEST_FAILED).match(text)
        if m:
            items.append(_Item("failed" if m.group(1) == b"FAILED" else "error", m.group(2), at))
        elif b"SUBFAIL" in text:
            m = rx(_PYTEST_SUBTESTS[0]).match(text) or rx(_PYTEST_SUBTESTS[1]).match(text)
            if m:
                items.append(_Item("failed", m.group(4), at, b" ".join(filter(None, m.group(2, 3)))))
    return items


def _verbose_items(session: _Session) -> List[_Item]:
    """Failing tests by the progress lines of -v, in order, subtests too."""
    items = []
    for base, data in session.view.source.line_windows(session.start, session.body):
        starts = {data.rfind(b"\n", 0, at) + 1 for word in (b"FAILED", b"ERROR", b"SUBFAIL") for at in find_each(data, word)}
        for at in sorted(starts):
            text = session.view.text(data[at : (data.find(b"\n", at) + 1 or len(data) + 1) - 1])
            m = (rx(rb"^()(\S.*?) (FAILED|ERROR|SUBFAIL(?:ED)?)(\[.*?\])? ?(\(.*?\))? *(?:\[ *\d+(?:%|/\d+)\])?$").match(text)
                 or rx(rb"^(\[gw\d+\]) (?:\[ *\d+%\] )?(?=(?:FAILED|ERROR) (.+)$)(FAILED|ERROR)()()").match(text))  # fmt: skip
            name = rx(rb" <- [^\[\]]+$").sub(b"", m.group(2)) if m else b""
            if m and rx(rb"\.\w+(?:::|$)").search(name) and not rx(rb"^[^\[]* (?:PASSED|FAILED|SKIPPED|XFAIL|XPASS)\b").match(name):
                sub = rx(rb"^(.*?) ((?:\[.*\])? ?(?:\(.*\))?)$").match(name) if m.group(3) == b"SUBFAIL" else None
                name, described = (sub.group(1), sub.group(2)) if sub else (name, b" ".join(filter(None, m.group(4, 5))))
                items.append(_Item("error" if m.group(3) == b"ERROR" else "failed", name, base + at, described, name))
    return items


def _headers(session: _Session) -> List[Tuple[int, bytes]]:
    """(offset, title) of the `____ title ____` and `==== title ====` rulers as wide as the session's own; the latter keep a `=`."""
    widths = {len(event.text.decode("utf-8", "replace")) for event in session.events if event.kind == "section"}
    heads = []
    for at, text in session.view.starts((b"_", b"="), session.body, session.stop):
        m = rx(rb"^(?:_+ (.*[^_ ].*) _+|=+ (\S.*) =+)$").match(text)
        if m and (text.startswith((b"_ ", b"= ")) or len(text.decode("utf-8", "replace")) in widths):
            heads.append((at, m.group(1) or b"= " + m.group(2)))
    return heads


def _of_kind(heads: List[Tuple[int, bytes]], kind: str) -> List[Tuple[int, bytes]]:
    return [head for head in heads if not head[1].startswith(b"= ") and head[1].startswith(b"ERROR ") == (kind == "error")]


def _align(session: _Session, items: List[_Item], heads: List[Tuple[int, bytes]]) -> int:
    """Give each item, in order, the block of the header that names it; returns how many found one."""
    blocks = _of_kind(heads, items[0].kind)
    places: Dict[bytes, List[int]] = {}
    for k, (_, title) in enumerate(blocks):
        places.setdefault(title, []).append(k)
    exact, at = len(blocks) == len(items), 0
    found: List[_Item] = []
    for i, item in enumerate(items):
        reach = 1 if exact else 1000 if 2 * len(found) >= i else 20
        first = next((k for k in range(at, min(len(blocks), at + reach)) if item.fits(blocks[k][1]) >= 0), -1)
        same = [k for k in places[blocks[first][1]] if k >= first] if first >= 0 else []
        item.start = -1
        for k in same:
            item.split(item.fits(blocks[k][1]))
            end = blocks[k + 1][0] if k + 1 < len(blocks) else session.end
            if exact or _explains(session, item, blocks[k][0], end, len(same) > 1):
                item.start, at = blocks[k][0], k + 1
                found.append(item)
                break
        at += exact and first < 0
    for item, after in zip(found, found[1:]):
        item.end = after.start
    for item in found[-1:]:
        item.end = next((place for place, title in heads if place > item.start and title.startswith(b"= ")), session.stop)
    return len(found)


def _explains(session: _Session, item: _Item, start: int, end: int, strict: bool) -> bool:
    """Whether a block is about this item: its message as the summary cuts it, and if `strict` a frame in its file."""
    block = _read_block(session, item, start, min(end, start + _PYTEST_PART))[1]
    path = item.identity.partition(b"::")[0]
    if item.hint and not says(block.message, item.hint):
        return False
    return not strict or not block.frames or any((b"/" + frame[1]).endswith(b"/" + path) for frame in block.frames)


def _read_block(session: _Session, item: _Item, start: int, end: int, part: int = _PYTEST_PART) -> Tuple[int, _Block, int]:
    """(offset of its first line, block, where captured output begins) of as much of a traceback's end as holds its message."""
    view = session.view
    start += len(view.source.read(start, min(end, start + 4 * KIB)).partition(b"\n")[0]) + 1
    captured = next((at for at, text in view.starts((b"-",), start, end) if rx(rb"^-+ \S.* -+$").match(text)), end)
    while True:
        first = view.back(captured - part) if captured - start > part else start
        block = _Block(view.lines(first, captured), item.hint)
        if first == start or (block.marked and block.said > 0) or part > MIB:
            return first, block, captured
        part *= 16


def _unaided(session: _Session, kind: str, want: int, heads: List[Tuple[int, bytes]]) -> List[_Item]:
    """Items when no summary lists them: by -v lines, else by headers and progress letters; what is certain when counts differ."""
    items = [item for item in session.verbose if item.kind == kind]
    if items and (len(items) == want or want < 0):
        return items
    paths = list(filter(None, session.failing(kind)))
    want = len(paths) if want < 0 else want
    titles = _of_kind(heads, kind)
    tests = [not title.startswith(b"ERROR collecting ") for _, title in titles]
    if len(titles) == want and session.close:
        order = iter(paths if sum(tests) == len(paths) else [b""] * want)
        return [_from_head(kind, at, title, next(order) if test else b"") for (at, title), test in zip(titles, tests)]
    if not paths:  # what stands after the first captured output may be text of a test
        rulers = session.view.starts((b"-",), heads[0][0] if heads else session.end, session.end)
        captured = next((at for at, text in rulers if b" Captured " in text), session.end)
        return [_from_head(kind, at, title, b"") for at, title in titles if at < captured]
    items, k = [], 0  # among text of tests, those that tell about the next file with such a letter
    for (at, title), (end, _), test in zip(titles, titles[1:] + [(session.end, b"")], tests):
        item = _from_head(kind, at, title, b"")
        files = {frame[1] for frame in _read_block(session, item, at, min(end, at + _PYTEST_PART))[1].frames}
        place = next((i for i in range(k, min(len(paths), k + 50)) if paths[i] in files or b"./" + paths[i] in files), -1)
        if place >= 0 or not test:
            items.append(_from_head(kind, at, title, paths[place] if test else b""))
            k = place + 1 if test else k
    return items


def _from_head(kind: str, at: int, title: bytes, path: bytes) -> _Item:
    m = rx(rb"^ERROR (?:collecting (.+)|at \w+ of (.+))$").match(title)
    name = m.group(2) if m and m.group(2) else title
    known = rx(rb"^[\w.]+(?:\[.*\])?$").match(name) or name.startswith(b"[doctest] ")
    identity = m.group(1) if m and m.group(1) else path + b"::" + node_name(name) if path and known else name
    item = _Item(kind, identity, at, b"", identity)
    item.start = at
    return item


def _pytest_census(session: _Session, kind: str, want: int, heads: List[Tuple[int, bytes]]) -> List[_Item]:
    """Every failing test of one kind, aligned with its block; `want` is their number by the closing line, -1 without one."""
    if want < 0:
        want = len(session.failing(kind)) or -1
    items: List[_Item] = []
    for ruler in reversed(session.titled(b"test summary info") if want > 0 else []):
        items = [item for item in _summary_items(session, ruler) if item.kind == kind]
        if len(items) == want:
            break
    sections = [event.at for event in session.events if event.title == (b"FAILURES" if kind == "failed" else b"ERRORS")]
    heads = [head for head in heads if sections and head[0] > sections[0]]
    if not session.close and items and not (_align(session, items, heads) == len(items) == want and items[0].start == heads[0][0]):
        items = []  # perhaps text of a test
    if len(items) < want or want < 0:
        items = _unaided(session, kind, want, heads) or items
    if len(items) > want >= 0:  # lines of messages look like them
        known, files = {item.identity for item in session.verbose}, set(session.failing(kind))
        for item in items:
            item.guess(known)
        items = [item for item in items if item.identity in known or not known and item.identity.partition(b"::")[0] in files]
    if items and sections and not _align(session, items, heads):
        _pair(session, items, heads, sections[0])
    return items


def _pair(session: _Session, items: List[_Item], heads: List[Tuple[int, bytes]], start: int) -> None:
    """Blocks by position, where headers do not name the tests: as many headers as items, or the single lines of --tb=line."""
    stop = next((at for at, title in heads if title.startswith(b"= ")), session.stop)
    blocks = [at for at, title in heads if at < stop]
    if len(blocks) == len(items):
        for item, at, end in zip(items, blocks, blocks[1:] + [stop]):
            item.start, item.end = at, end
    elif stop - start < 8 * MIB:
        stop = max([event.at for event in session.titled(b"test summary info")], default=stop)
        rows, at = [], start
        for raw in session.view.source.read(start, stop).split(b"\n"):
            text = session.view.text(raw)
            m = rx(rb"^(?!E  )\S.*?:\d+: (.*)$").match(text)
            rows += [(at, text, m.group(1) if m else b"")] if text else []
            at += len(raw) + 1
        rows = rows[1:] if len(rows) - 1 == len(items) else [row for row in rows if row[2]]
        at, exact = 0, len(rows) == len(items)
        for item in items:
            cut = -3 if item.rest.endswith(b"...") else len(item.rest)
            ends = [m.start() for m in rx(rb" - ").finditer(item.rest)]
            for k in range(at, min(len(rows), at + (1 if exact else 200))):
                end = next((end for end in ends if rows[k][2].startswith(item.rest[end + 3 : cut])), -1)
                if end >= 0 or exact or (not ends or item.rest.endswith(b"]")) and len(rows) <= len(items):
                    item.split(end if end >= 0 else len(item.rest))
                    item.sure = end >= 0 or not ends
                    item.at, item.text, at = rows[k][0], rows[k][1], k + 1
                    break


def _pytest_fact(session: _Session, item: _Item, order: int) -> Fact:
    view, stream = session.view, session.view.source.name
    identity = item.identity + (b" " + item.sub if item.sub else b"")
    rich = order < _PYTEST_RICH
    if item.start < 0 or order >= _PYTEST_TOLD:
        number = view.number(item.at)
        line = rx(rb"^(.*?:\d+): (.*)$").match(item.text)
        if line:  # --tb=line
            location, message = line.groups()
            return Fact(item.kind, identity, location, message, stream, number, number, number)
        quoted = number if item.hint and not item.cut else 0
        return Fact(item.kind, identity, b"", item.hint + b"..." * item.cut, stream, number, number, quoted)
    begin = view.number(item.start)
    start, block, captured = _read_block(session, item, item.start, item.end, _PYTEST_PART if rich else _PYTEST_PART_OF_FLOOD)
    first = view.number(start)
    context = block.context(stream, first) if rich else []
    if rich and captured < item.end:
        rows = view.source.read(captured, min(item.end, captured + 16 * KIB)).split(b"\n")
        for i, raw in enumerate(rows[1:-1], view.number(captured) + 1):
            if rx(_PYTEST_NAMED).search(raw) and len(context) < 40:
                context.append(Quote(stream, i, view.text(raw), 1.0))
    quoted = first + block.said if block.said >= 0 else 0
    last = max(begin, view.number(item.end) - 1)
    return Fact(item.kind, identity, block.location, block.message, stream, begin, last, quoted, 1.0, context)


# ── pytest: the evidence ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _session_quote(view: _View, at: int, text: bytes, value: float) -> Quote:
    return Quote(view.source.name, view.source.line_at(at), text, value)


def _pytest_evidence(session: _Session) -> Evidence:
    evidence, view, close = Evidence("pytest/v1"), session.view, session.close
    doubts = list(session.doubts)
    totals = close.totals or {} if close else {}
    evidence.totals = {word.decode(): count for word, count in totals.items()}
    evidence.span = [view.span(session.start, session.end)]
    heads = _headers(session) if session.body < session.end else []
    duplicates, ambiguous, named, told = 0, False, 0, 0
    facts: Dict[Tuple[str, bytes], Fact] = {}
    known: Set[bytes] = set()
    for kind, word in _PYTEST_FAILING.items():
        items = _pytest_census(session, kind, totals.get(word, 0) if close else -1, heads)
        if any(not item.sure for item in items):
            known = known or {item.identity for item in session.verbose}
        for item in items:
            if not item.sure and not item.guess(known):
                ambiguous = True
            told = max(told, item.end)
            fact = _pytest_fact(session, item, named)
            named += 1
            other = facts.setdefault((kind, fact.identity), fact)
            if other is not fact:
                duplicates += 1
                other.context += [Quote(fact.stream, fact.quoted, fact.message, 3.0)] if fact.quoted else []
    evidence.facts = list(facts.values())
    failing = sum(totals.get(word, 0) for word in _PYTEST_FAILING.values())
    if close:
        evidence.claimed = failing - duplicates
        evidence.summary = _session_quote(view, close.at, close.text, 10.0)
        evidence.outcome = "failed" if failing else "passed" if close.ran else ""
        if named < failing:
            doubts.append("%d of %d failures are not in the output" % (failing - named, failing))
        elif named > failing:
            doubts.append("more failures than counted")
    else:
        doubts.append("no closing line that fits")
    if ambiguous:
        doubts.append("a test id cannot be told from its message")
    _session_notes(session, evidence, told)
    evidence.unsure = "; ".join(doubts)
    return evidence


# Lines worth a quote in the sections after the failures: what the title holds, the lines, their value, how many.
_PYTEST_EXTRAS = (
    (b"coverage", rb"^TOTAL\b.*%$", 1.0, 1),
    (b"coverage", rb"^\S+ +\d+ +[1-9]\d* .*%", 0.4, 8),
    (b"warnings summary", rb"^  .*Warning: ", 0.8, 8),
    (b"slowest ", rb"^\d+\.\d+s ", 0.2, 3),
)


def _session_notes(session: _Session, evidence: Evidence, told: int) -> None:
    """What must be said about the run as a whole, and lines of its other sections, from offset `told` on."""
    view, stop = session.view, session.stop
    at = max(told, session.start, view.back(stop - 64 * KIB))
    last = max([event.at for event in session.events if event.kind == "section"], default=session.body)
    title, left, seen = b"", [row[3] for row in _PYTEST_EXTRAS], set()
    for raw in view.source.read(at, max(stop, view.back(session.end + 400))).split(b"\n"):
        text = view.text(raw)
        ruler = rx(rb"^([=!-])\1* (\S.*) \1+$").match(text)
        stopped = at >= last and (ruler.group(1) == b"!" if ruler else title == b"!" and rx(rb"^\S.*:\d+: ").match(text))
        internal = rx(rb"^INTERNALERROR> [\w.]+(?:Error|Exception|Exit)\b").match(text)
        failed = internal or b"coverage" in title and text.startswith(b"FAIL Required ")
        if stopped or failed:
            evidence.notes.append(_session_quote(view, at, text, 8.0))
            evidence.outcome = "failed" if failed or evidence.outcome == "failed" else ""
        elif rx(rb'^INTERNALERROR> +File "').match(text) and not rx(_PYTEST_FOREIGN).search(text.split(b'"')[1]):
            evidence.quotes = [_session_quote(view, at, text, 5.0)]
        if ruler or title == b"!":
            title = b"!" if stopped and ruler else ruler.group(2) if ruler else b""
        for i, (word, pattern, value, _) in enumerate(_PYTEST_EXTRAS):
            if word in title and left[i] and text not in seen and rx(pattern).match(text):
                evidence.quotes.append(_session_quote(view, at, text, value))
                seen.add(text)
                left[i] -= 1
        at += len(raw) + 1
    if evidence.summary and not evidence.facts and not evidence.outcome and b"collected" not in evidence.summary.text:
        evidence.notes.append(evidence.summary)


_PYTEST_FATAL = (b"Fatal Python error: ", b"+ Timeout +")  # what a run of pytest that ends without closing line may print
_PYTEST_OUTCOME = rb" (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)\b"


def _session_crash(sources: List[Source], session: _Session, evidence: Evidence) -> None:
    """Why a session ended in its progress lines: a fatal error or a thread timeout, in any stream; else where it was."""
    view = session.view
    start = view.back(max(session.start, session.end - 64 * KIB))
    lines = [line for line in view.lines(start, session.end) if line]
    begun = rx(rb"^(\S.*?\.\w+::.*?)(?: Fatal Python error: .*| \++ Timeout \++)?$")
    tests = [begun.match(line) for line in lines if not rx(_PYTEST_OUTCOME).search(line)]
    running = ([m.group(1) for m in tests if m] or [b""])[-1]
    for source in sources:
        fatal, timeout = source.find_all(_PYTEST_FATAL, 100)
        if fatal or timeout:
            at, other = fatal[-1] if fatal else timeout[0], _View(source)
            rows = other.lines(other.back(at), min(source.size, at + _PYTEST_PART))
            current = next((i for i, row in enumerate(rows) if row.startswith(b"Current thread")), 0)
            frames = [m.group(2, 3) for m in map(rx(_NATIVE_FRAME).match, rows[current:]) if m]
            frames = [frame for frame in frames if not rx(_PYTEST_FOREIGN).search(frame[0])]
            location = b":".join(frames[0 if fatal else -1]) if frames else b""
            message = b"Fatal" + rows[0].partition(b"Fatal")[2] if fatal else b"Timeout"
            number = source.line_at(at)
            evidence.notes.append(Quote(source.name, number, rows[0], 9.0))
            if running:
                last = number + len(rows) - 1
                evidence.facts.append(Fact("error", running, location, message, source.name, number, last, number))
            return
    if lines and not evidence.notes:
        said = view.source.read(start, session.end).rstrip()
        evidence.notes.append(_session_quote(view, start + len(said), lines[-1], 9.0))


_PYTEST_USAGE = (
    *(b"ERROR: ", b"ImportError while loading conftest '", b"INTERNALERROR> "),
    *(b"pytest: error: ", b"__main__.py: error: ", b"python -m pytest: error: "),
)


def _pytest_usage(sources: List[Source], evidence: Evidence, alone: bool) -> bool:
    """Errors before or beside any session: usage, conftest files that cannot be imported, INTERNALERROR. True if there were any."""
    for source in sources:
        view = _View(source, colour=True)
        rows = list(view.starts(_PYTEST_USAGE, 0, min(source.size, 64 * KIB)))
        if not rows or alone and not any(b": error: " in text or text.startswith(_PYTEST_USAGE[1:3]) for _, text in rows):
            continue
        evidence.outcome = "failed"
        for at, text in rows[:3]:
            evidence.notes.append(_session_quote(view, at, text, 9.0))
            if text.startswith(_PYTEST_USAGE[1]):
                first, block = source.line_at(at), _Block(view.lines(at, min(source.size, at + _PYTEST_PART)))
                last, context = first + len(block.lines) - 1, block.context(source.name, first)
                name, said = text.split(b"'")[1], first + block.said
                fact = Fact("error", name, block.location, block.message, source.name, first, last, said, 1.0, context)
                evidence.facts.append(fact)
        return True
    return False


def parse_pytest(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """One Evidence for each session of pytest in any of the streams, in their order; none when there is none.

    Kinds of facts: failed (strict xpass, subtests, crashed workers too), error (collection, setup, teardown, what ended the run).
    A subtest's identity is the node id, a space, and its description. Formats: pytest 6 to 9, _pytest/terminal.py.
    """
    found = [(session, _pytest_evidence(session)) for source in sources for session in _pytest_sessions(source)]
    found = [pair for pair in found if pair[0].close or pair[1].facts or not pair[0].quiet]
    for session, evidence in found:
        if not session.close and session.body == session.end:
            _session_crash(sources, session, evidence)
        elif not evidence.outcome and status not in (0, 5):
            _pytest_usage(sources, evidence, False)
    best = max([session.seen for session, _ in found], default=0)
    streams = {session.view.source.name for session, _ in found}
    found = [pair for pair in found if pair[0].seen or not best]
    found = [pair for pair in found if pair[0].seen > 1 or pair[0].view.source.name != "stderr" or len(streams) == 1]
    if not found:
        evidence = Evidence("pytest/v1")
        return [evidence] if status != 0 and _pytest_usage(sources, evidence, True) else []
    everything = [evidence for _, evidence in found]
    failed = any(evidence.outcome == "failed" or evidence.notes or evidence.unsure for evidence in everything)
    for evidence in everything:
        said = evidence.outcome == "failed"
        if status is not None and ((said and status == 0) or (status != 0 and not failed)):
            evidence.unsure = "; ".join(filter(None, [evidence.unsure, "exit status %d" % status]))
    return everything


# ── unittest ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

_UNITTEST_VERDICT = rb"^(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$"
_UNITTEST_RESULT = rb"(?:^|.* \.\.\. )(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$"
_UNITTEST_RESULT_LETTERS = {b"o": b".", b"F": b"F", b"E": b"E", b"s": b"s", b"e": b"x", b"u": b"u"}


class _Run:
    """One run of unittest: where it lies, its counts, (offset, title) of its blocks; `seen` outcomes stand in its progress."""

    __slots__ = ("start", "end", "close", "ran", "seen", "verdict", "totals", "blocks", "doubt")

    def __init__(self, start: int, blocks: List[Tuple[int, bytes]]) -> None:
        self.start = self.end = self.close = start
        self.ran, self.seen, self.verdict, self.doubt = -1, 0, b"", ""
        self.totals: Dict[str, int] = {}
        self.blocks = blocks

    @property
    def failing(self) -> int:
        """Failures by the closing line."""
        return sum(self.totals.get(word, 0) for word in ("failures", "errors", "unexpected successes"))


def _unittest_runs(view: _View) -> List[_Run]:
    """The runs of one stream. A closing that counts more tests than were seen, or other blocks than there are, is a test's text."""
    runs: List[_Run] = []
    run, source = _Run(0, []), view.source
    for at, text in view.starts((b"Ran ", b"ERROR: ", b"FAIL: ", b"UNEXPECTED SUCCESS: "), 0, source.size):
        if not text.startswith(b"Ran "):
            before = view.lines(view.back(max(0, at - 1)), at)[-1:]
            if before and (before[0] == b"=" * 70 or before[0].startswith(b"UNEXPECTED SUCCESS: ")):
                run.blocks.append((at, text))
            continue
        m = rx(rb"^Ran (\d+) tests? in [\d.]+s$").match(text)
        rows = view.lines(at, min(source.size, at + KIB))[:4]
        verdict = next((found for found in map(rx(_UNITTEST_VERDICT).match, rows) if found), None)
        if not m or not verdict:
            continue
        run.ran, run.verdict, run.close = int(m.group(1)), verdict.group(1), at
        run.totals = {word.decode(): int(count) for word, count in rx(rb"([a-z][a-z ]+)=(\d+)").findall(verdict.group(2) or b"")}
        run.end = at + sum(len(raw) + 1 for raw in source.read(at, at + KIB).split(b"\n")[: rows.index(verdict.string) + 1])
        seen = _outcomes(view, run.start, at)
        bad = sum(seen.count(letter) for letter in b"FEu")
        subtests = sum(b") [" in title or b") (" in title for _, title in run.blocks)
        run.seen = len(seen)
        runs.append(run)
        fits = len(seen) + subtests >= run.ran and bad <= run.failing <= bad + subtests and run.failing == len(run.blocks)
        if not fits:  # perhaps a later one does
            run.doubt = "%d failures counted, %d blocks" % (run.failing, len(run.blocks))
            run = _Run(run.start, run.blocks[: max(0, len(run.blocks) - run.failing)])
        else:
            run = _Run(run.end, [])
    cut = run if not runs or runs[-1].start != run.start else _Run(runs[-1].end, [])
    for base, data in source.line_windows(cut.start) if not cut.blocks else ():
        for at in find_each(data, b" ... "):
            m = rx(rb"(?m)^ *(\w+ \([\w.]+\).*?) \.\.\. (FAIL|ERROR)\r?$").match(data, data.rfind(b"\n", 0, at) + 1)
            if m:
                cut.blocks.append((base + m.start(), m.group(2) + b": " + m.group(1)))
    if cut.blocks:
        cut.end, cut.doubt, cut.seen = source.size, "no closing line", 1
        runs.append(cut)
    return [one for i, one in enumerate(runs) if not any(later.start == one.start for later in runs[i + 1 :])]


def _outcomes(view: _View, start: int, end: int) -> bytes:
    """The letters of the progress lines; the results of -v as such letters."""
    letters = []
    for raw in view.source.read(max(start, end - 4 * MIB), end).split(b"\n"):
        text = view.text(raw)
        m = rx(_UNITTEST_RESULT).match(text)
        letters.append(_UNITTEST_RESULT_LETTERS[m.group(1)[:1]] if m else text if rx(rb"^[.FEsxu]+$").match(text) else b"")
    return b"".join(letters)


def _unittest_fact(view: _View, kind: str, title: bytes, at: int, end: int) -> Fact:
    first, stream = view.number(at), view.source.name
    rows = view.lines(at, min(end, at + _PYTEST_PART))
    dash = next((i for i, row in enumerate(rows) if row == b"-" * 70), 0)
    stop = next((i for i, row in enumerate(rows) if i > dash and row in (b"Stdout:", b"Stderr:") and not rows[i - 1]), len(rows))
    while stop and (not rows[stop - 1] or rows[stop - 1] == b"=" * 70):
        stop -= 1
    if not dash:
        return Fact(kind, title, b"", b"", stream, first, first)
    block = _Block([b""] * (dash + 1) + rows[dash + 1 : stop])
    quoted, context = first + block.said if block.said >= 0 else 0, block.context(stream, first)
    return Fact(kind, title, block.location, block.message, stream, first, first + stop - 1, quoted, 1.0, context)


def parse_unittest(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """One Evidence for each run of unittest's own runner, in their order; none when there is none. Kinds: failed, error.

    An unexpected success is a failed fact. Formats: unittest/runner.py of Python 3.8 to 3.13.
    """
    runs = [(source, run) for source in sources for run in _unittest_runs(_View(source))]
    sure = any(not run.doubt for _, run in runs)
    return [_unittest_evidence(source, run, status) for source, run in runs if run.seen or not sure or not run.doubt]


def _unittest_evidence(source: Source, run: _Run, status: Optional[int]) -> Evidence:
    evidence, view = Evidence("unittest/v1"), _View(source)
    evidence.totals = dict({"run": run.ran} if run.ran >= 0 else {}, **run.totals)
    ends = [at for at, _ in run.blocks[1:]] + [view.back(run.close - 1) if run.ran >= 0 else run.end]
    facts: Dict[Tuple[str, bytes], Fact] = {}
    for (at, text), end in zip(run.blocks, ends):
        word, _, title = text.partition(b": ")
        kind = "error" if word == b"ERROR" else "failed"
        facts.setdefault((kind, title), _unittest_fact(view, kind, title, at, end))
    evidence.facts = list(facts.values())
    if run.ran >= 0:
        evidence.claimed = run.failing - (len(run.blocks) - len(facts))
        evidence.summary = _session_quote(view, run.end - 1, view.text(source.line(source.line_at(run.end - 1))), 10.0)
        evidence.outcome = {b"OK": "passed", b"FAILED": "failed"}.get(run.verdict, "")
    disagree = evidence.outcome and status is not None and (status == 0) == (evidence.outcome == "failed")
    evidence.unsure = "; ".join(filter(None, [run.doubt, "exit status %s" % status if disagree else ""]))
    evidence.span = [view.span(run.start, run.end)]
    return evidence


# ── diagnostics: compilers, builds, linters, type checkers, formatters. One engine; what is a tool's own is a row of a table. ──

_READ_BYTES = 8 * MIB  # what is read line by line
_CELLS = 64 * KIB  # of a larger output, cells that hold one of the anchors are read, the rarest anchors first
_ANCHORS = (
    b"error: ", b": error", b" error ", b"ERROR", b"arning", b"*** ", b"FAILED: ", b".py:", b".go:", b"undefined ref", b"--> ",
)  # fmt: skip
_EXPLAINED = 60  # facts of one tool that get context
_SECTION = 60  # lines of a section
_NEAR_BY = b"(?#near)"  # starts a sign that must occur among the lines it speaks for, or next to them
_LAST = 40  # lines at the end of a stream where a tool may say that all is well
DIAGNOSTICS_MARKERS = (b"\n",)  # the scan for what such reports hold is the engine's own

# level of a diagnostic: (kind of fact, value)
_LEVELS: Dict[str, Tuple[str, float]] = {
    "fatal": ("error", 10.0), "error": ("error", 9.0), "warning": ("warning", 5.0), "style": ("style", 3.0),
    "unformatted": ("unformatted", 5.0), "step": ("step", 8.0), "package": ("package", 9.0),
}  # fmt: skip
_SEVERITIES: Dict[bytes, str] = {
    b"fatal": "fatal", b"fatal error": "fatal", b"critical": "fatal", b"blocker": "fatal", b"internal compiler error": "fatal",
    b"error": "error", b"err": "error", b"failure": "error",
    b"warning": "warning", b"warn": "warning", b"deprecation warning": "warning",
    b"info": "style", b"information": "style", b"style": "style", b"hint": "style", b"notice": "style", b"convention": "style",
    b"refactor": "style",
    b"note": "ignore", b"remark": "ignore", b"help": "ignore",
}  # fmt: skip


class Dialect:
    """A format of diagnostics, as data; expressions are of bytes.

    `match`: literals of which one occurs wherever the format does. `identities`: expressions for what stands from the start of a
    line on, with the groups path, line, col, severity, code, message; or identity and location where a fact is named otherwise,
    and step where it names a part of a build that failed. `locations` find lines that give the file, and maybe the line, for
    those below. `severity` says which level a word, a code or the letters of a code has, and b"" which it is without any (a key
    of `_LEVELS`, or ignore; a value may follow). `summary` finds the tool's own counts: groups are their names, and those in
    `claims` count facts (one with "-" is taken off). `success` finds what it says when all is well. `sign` must occur when
    `identities` alone do not tell this tool from others. `more` fits further lines of a diagnostic, `notes` lines about the run
    as a whole. What the tool `repeats`, as for each place that includes a file, is one fact. `bounded` expressions see one line
    at a time.
    """

    __slots__ = (
        "name", "match", "identities", "locations", "severity", "summary", "success", "sign", "more", "notes", "claims", "repeats",
        "bounded",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        match: Sequence[bytes],
        identities: Sequence[bytes],
        locations: Sequence[bytes] = (),
        severity: Optional[Dict[bytes, str]] = None,
        summary: Sequence[bytes] = (),
        success: bytes = b"",
        sign: bytes = b"",
        more: bytes = rb"[ \t]",
        notes: bytes = b"",
        claims: Sequence[str] = ("errors", "warnings"),
        repeats: bool = False,
        bounded: bool = False,
    ) -> None:
        self.name, self.match, self.identities, self.locations = name, match, identities, locations
        self.severity, self.summary, self.success, self.sign = severity or {}, summary, success, sign
        self.more, self.notes, self.claims, self.repeats, self.bounded = more, notes, claims, repeats, bounded

    def level(self, severity: bytes, code: bytes) -> Optional[Tuple[str, float]]:
        """Kind and value of a fact by its severity, or else by its code; None when it is not one."""
        letters = rx(rb"[A-Za-z]*").match(code)
        spec = ""
        for word in (severity, code, code[:2], letters.group() if letters else b""):
            spec = spec or (word and (self.severity.get(word) or _SEVERITIES.get(word.lower()))) or ""
        name, _, value = (spec or self.severity.get(b"", "error")).partition(" ")
        if name not in _LEVELS:
            return None
        kind, usual = _LEVELS[name]
        return kind, float(value or usual)


class _Reading:
    """Lines read closely, in normal form, each behind an LF; the first of them is line `first` of `source`."""

    __slots__ = ("source", "first", "text", "_at", "_line", "_known")

    def __init__(self, source: Source, first: int, raw: bytes) -> None:
        self.source, self.first = source, first
        self._known: Dict[bytes, bool] = {}
        self.text = b"\n" + rx(rb"(?m)^(?:##\[(?:error|warning)\]|\[[\w./-]+:[\w:-]+\] )").sub(b"", _normal(raw))
        self._at, self._line = 0, first

    def line(self, at: int) -> int:
        """Number of the line whose LF stands at or last before `at`; cheap when offsets come in order."""
        if at < self._at:
            self._at, self._line = 0, self.first
        self._line += self.text.count(b"\n", self._at + 1, at + 1)
        self._at = at
        return self._line

    def tail(self) -> int:
        """Where the last lines of the stream begin; the end of the page when they are not in it."""
        end = self.first + self.text.rstrip().count(b"\n") - 1
        if end < self.source.lines - _LAST:
            return len(self.text)
        at = len(self.text.rstrip())
        for _ in range(_LAST):
            at = self.text.rfind(b"\n", 0, max(at, 0))
        return max(at, 0)

    def find(self, pattern: bytes, bounded: bool = False, at: int = 0) -> Iterator[Match[bytes]]:
        """Where an expression fits from the start of a line on, from an LF on; the match begins at the LF before it."""
        compiled = rx(b"(?m)\n(?:" + pattern + b")")
        if not bounded:
            yield from compiled.finditer(self.text, at)
            return
        while at >= 0:
            end = self.text.find(b"\n", at + 1)
            m = compiled.match(self.text, at, min(at + KIB, len(self.text) if end < 0 else end))
            if m:
                yield m
            at = end

    def quote(self, at: int, value: float) -> Quote:
        """The line behind the LF at `at`."""
        number = self.line(at)
        return Quote(self.source.name, number, self.source.line(number), value)

    def holds(self, row: Dialect) -> bool:
        """Whether a literal of the row occurs."""
        for literal in row.match:
            if literal not in self._known:
                self._known[literal] = literal in self.text
        return any(self._known[literal] for literal in row.match)


def _readings(sources: Sequence[Source], anchors: Sequence[bytes]) -> Tuple[List[_Reading], bool]:
    """What is read of an output, and whether cells with an anchor were left out: over 8 MiB, those with the rarest are read."""
    readable = [source for source in sources if source.size and not is_binary(source)]
    if sum(source.size for source in readable) <= _READ_BYTES:
        return [_Reading(source, 1, source.read(0, source.size)) for source in readable], False
    worth: Dict[Tuple[int, int], float] = {}
    for number, source in enumerate(readable):
        last = (source.size - 1) // _CELLS
        for anchor in anchors:
            cells = _anchored_cells(source, anchor)
            for cell in cells:
                worth[number, cell] = worth.get((number, cell), 0.0) + 1.0 / len(cells)
        for cell in (0, last - 1, last):
            worth[number, max(cell, 0)] = 2.0
    chosen = sorted(worth, key=lambda key: (-worth[key], key))[: _READ_BYTES // _CELLS]
    spans = _joined_cells(readable, sorted(chosen))
    return [_Reading(source, *_lines_of_span(source, span)) for source, span in spans], len(chosen) < len(worth)


def _anchored_cells(source: Source, anchor: bytes) -> List[int]:
    """The cells of a source that hold a literal."""
    cells: List[int] = []
    for at, data in source.chunks():
        pos = data.find(anchor)
        while pos >= 0:
            cells.append((at + pos) // _CELLS)
            pos = data.find(anchor, (cells[-1] + 1) * _CELLS - at)
    return cells


def _joined_cells(sources: Sequence[Source], cells: Sequence[Tuple[int, int]]) -> List[Tuple[Source, Tuple[int, int]]]:
    """Byte spans of cells, neighbours in one."""
    spans: List[Tuple[Source, Tuple[int, int]]] = []
    for number, cell in cells:
        source, start = sources[number], cell * _CELLS
        end = min(source.size, start + _CELLS)
        if spans and spans[-1][0] is source and spans[-1][1][1] == start:
            spans[-1] = source, (spans[-1][1][0], end)
        else:
            spans.append((source, (start, end)))
    return spans


def _lines_of_span(source: Source, span: Tuple[int, int]) -> Tuple[int, bytes]:
    """The whole lines of a byte span: the number of the first, and their bytes."""
    start, end = span
    data = source.read(start, end)
    skip = 0 if not start or source.read(start - 1, start) == b"\n" else data.find(b"\n") + 1
    cut = len(data) if end == source.size else data.rfind(b"\n") + 1
    return source.line_at(start + skip), data[skip:cut]


class _Found:
    """A diagnostic as it stands in a page: what fits which row, and the file that a line above gave."""

    __slots__ = ("row", "page", "match", "path")

    def __init__(self, row: Dialect, page: _Reading, match: Match[bytes], path: bytes) -> None:
        self.row, self.page, self.match, self.path = row, page, match, path

    def fact(self) -> Optional[Fact]:
        """The fact that it is; None for what is not counted as one."""
        groups = {name: (text or b"").strip() for name, text in self.match.groupdict().items()}
        get, code, message = groups.get, groups.get("code", b""), groups.get("message", b"")
        level = _LEVELS["step"] if get("step") else self.row.level(get("severity", b""), code)
        if level is None:
            return None
        column = get("col") or (b"%d" % (len(self.match.group("indent")) + 1) if "indent" in groups else b"")
        place = get("location") or b":".join(part for part in (get("path") or self.path, get("line"), column) if part)
        identity = get("step") or get("identity") or (place + b" " + code if code and place else place or code or message)
        text, start, end = self.page.text, self.match.start(), self.match.end()
        first = self.page.line(start)
        quoted = first + text.count(b"\n", start + 1, self.match.start("message")) if message else 0
        last = first + text.count(b"\n", start + 1, end)
        return Fact(level[0], identity, place, message, self.page.source.name, first, last, quoted, level[1])


def _fitting(row: Dialect, page: _Reading) -> List[Tuple[Match[bytes], bytes]]:
    """What fits a row in a page, in order, each line once, with the file that a line above gave."""
    heads = sorted(
        (m.start(), b":".join(m.group(name) for name in ("path", "line") if name in m.groupdict()))
        for expression in row.locations
        for m in page.find(expression, row.bounded)
    )
    found: Dict[int, Tuple[Match[bytes], bytes]] = {}
    for expression in row.identities:
        at, path = 0, b""
        for m in page.find(expression, row.bounded):
            start = m.start()
            if start in found:
                continue
            while at < len(heads) and heads[at][0] <= start:
                path, at = heads[at][1], at + 1
            if path or not row.locations or m.groupdict().get("path"):
                found[start] = m, path
    return [found[start] for start in sorted(found)]


class _Reporter:
    """What is known of one tool: its rows, the diagnostics that are its own, and where it gives its counts."""

    __slots__ = ("name", "row", "hits", "closing", "passed")

    def __init__(self, row: Dialect) -> None:
        self.name, self.row = row.name, row  # the first row of a name tells how the tool counts
        self.hits: List[_Found] = []
        self.closing: List[Tuple[_Reading, Match[bytes]]] = []
        self.passed: List[Tuple[_Reading, Match[bytes]]] = []

    def before(self, page: _Reading, at: int) -> int:
        """Where the last of its diagnostics before an offset of a page starts; -1 when none does, -2 when it has none at all."""
        starts = [hit.match.start() for hit in self.hits if hit.page is page and hit.match.start() < at]
        return max(starts, default=-1 if self.hits else -2)

    def totals(self) -> Dict[str, int]:
        """The tool's own counts."""
        totals: Dict[str, int] = {}
        for _, m in self.closing:
            for name, count in m.groupdict().items():
                if count is not None and (count[:1].isdigit() or count == b"no"):
                    totals[name] = totals.get(name, 0) + int(rx(rb"\D").sub(b"", count) or b"0")
        return totals

    def evidence(self, pages: Sequence[_Reading], sampled: bool) -> Optional[Evidence]:
        """The evidence: each fact once, however often it is printed."""
        pairs = [(hit, fact) for hit, fact in ((hit, hit.fact()) for hit in self.hits) if fact]
        raw, totals = [fact for _, fact in pairs], self.totals()
        if not raw and not self.passed and any(totals.get(name, 1) for name in self.row.claims or ("",)):
            return None
        evidence = Evidence(self.name + "/v1")
        _reach_sections([hit for hit, _ in pairs], raw)
        once: Dict[Any, Fact] = {}
        for number, fact in enumerate(raw):
            once.setdefault((fact.identity, fact.location, fact.message) if self.row.repeats else number, fact)
        evidence.facts = list(once.values())
        evidence.totals = {name.replace("_", " "): count for name, count in totals.items()}
        claims = [name for name in self.row.claims if name.lstrip("-") in totals]
        if claims:
            total = sum(-totals[name[1:]] if name.startswith("-") else totals[name] for name in claims)
            apart = ("step", "warning", "style") if "errors" in claims and "warnings" not in self.row.claims else ("step",)
            known, often = (sum(1 for fact in facts if fact.kind not in apart) for facts in (evidence.facts, raw))
            if total == often:  # it counts what it repeats
                evidence.facts = raw
            evidence.claimed = len(evidence.facts) + max(total - often, 0)
            if total < known:
                evidence.unsure = "the tool counts %d, the output names %d" % (total, known)
        if sampled and evidence.claimed != len(evidence.facts):
            evidence.unsure = evidence.unsure or "only the most promising %s were read" % human(_READ_BYTES)
        if any(fact.kind not in ("warning", "style") for fact in raw):
            evidence.outcome = "failed"
        elif not raw:
            evidence.outcome = "passed"
        ends = self.closing + self.passed
        notes = [(page, m) for page in pages if raw and self.row.notes for m in page.find(self.row.notes, self.row.bounded)]
        evidence.summary = ends[-1][0].quote(ends[-1][1].start(), 9.0) if ends else None
        evidence.notes = [page.quote(m.start(), 8.0) for page, m in notes[:4]]
        _explain_foremost(evidence.facts, {page.source.name: page.source for page in pages})
        own = [(fact.stream, fact.first, fact.last) for fact in raw]
        own += [(page.source.name, page.line(m.start()), page.line(m.end() - 1)) for page, m in ends + notes]
        evidence.span = _spans_of(own)
        return evidence


def _reach_sections(hits: Sequence[_Found], facts: Sequence[Fact]) -> None:
    """Let each fact's section reach over the lines that belong to it, up to the next diagnostic."""
    for i, (hit, fact) in enumerate(zip(hits, facts)):
        end, text = hit.match.end(), hit.page.text
        stop = min(end + 16 * KIB, len(text))
        if i + 1 < len(hits) and hits[i + 1].page is hit.page:
            stop = min(stop, hits[i + 1].match.start())
        if stop - end > 1:
            more, kept = rx(hit.row.more), 0
            for number, line in enumerate(text[end:stop].split(b"\n")[1 : _SECTION + 1], 1):
                if not more.match(line):
                    break
                kept = number if line.strip() else kept
            fact.last += kept


def _explain_foremost(facts: Sequence[Fact], sources: Dict[str, Source]) -> None:
    """Quote what explains the foremost facts; source code and carets are worth less than words."""
    for fact in sorted(facts, key=lambda fact: -fact.value)[:_EXPLAINED]:
        last = min(fact.last, fact.first + 12)
        lines = sources[fact.stream].slice(fact.first, last).split(b"\n") if last > fact.first else []
        for number, line in enumerate(lines[: last - fact.first + 1], fact.first):
            text = normal(line)
            if number > fact.first and number != fact.quoted and text.strip() and not rx(rb" *--> ").match(text):
                value = 1.2 if not rx(rb"\w\w").search(text) else 4.0 if rx(rb"\s*\d* \|").match(text) else 5.0
                fact.context.append(Quote(fact.stream, number, line, max(value - 0.2 * (number - fact.first), 0.7)))


def _spans_of(own: List[Tuple[str, int, int]]) -> List[Tuple[str, int, int]]:
    """Spans of lines, those that are close in one; of many, those further apart too."""
    gap = 2
    while True:
        spans: List[Tuple[str, int, int]] = []
        for stream, first, last in sorted(own):
            if spans and spans[-1][0] == stream and first <= spans[-1][2] + gap:
                spans[-1] = stream, spans[-1][1], max(spans[-1][2], last)
            else:
                spans.append((stream, first, last))
        if len(spans) <= 400:
            return spans
        own, gap = spans, gap * 4


def parse_diagnostics(sources: List[Source], status: Optional[int], rows: Sequence[Dialect] = ()) -> List[Evidence]:
    """What compilers, builds, linters, type checkers, formatters and packaging tools report, for each that is known by its output.

    Lines that several tools could have printed belong to the first row of the table whose sign occurs. Of more than 8 MiB, what
    stands round words that such reports hold is read; what the tool's own total does not confirm is then `unsure`.
    """
    pages, sampled = _readings(sources, _ANCHORS)
    tools: Dict[str, _Reporter] = {}
    taken: List[Set[int]] = [set() for _ in pages]
    for row in rows or DIAGNOSTICS + PACKAGING + ANY_DIAGNOSTICS:
        fits = [_fitting(row, page) if page.holds(row) else [] for page in pages]
        if row.sign.startswith(_NEAR_BY):
            fits = [_signed(row, page, fit) for page, fit in zip(pages, fits)]
        elif any(fits) and row.sign and not any(rx(b"(?m)" + row.sign).search(page.text) for page in pages):
            continue
        tool = tools.setdefault(row.name, _Reporter(row))
        for page, own, fit in zip(pages, taken, fits):
            for m, path in fit:
                if m.start() not in own:
                    own.add(m.start())
                    if m.group().count(b"\n") > 1:
                        own.update(m.start() + at for at in find_each(m.group(), b"\n"))
                    tool.hits.append(_Found(row, page, m, path))
    _give_totals(list(tools.values()), pages)
    found = [tool.evidence(pages, sampled) for tool in tools.values()]
    if not rows:
        found += [evidence for page in pages for evidence in _of_json(page)]
    return [evidence for evidence in found if evidence]


def _signed(row: Dialect, page: _Reading, fit: List[Tuple[Match[bytes], bytes]]) -> List[Tuple[Match[bytes], bytes]]:
    """Of what fits, the runs of lines in or near which the row's sign occurs."""
    runs: List[List[Tuple[Match[bytes], bytes]]] = []
    for one in fit:
        if runs and page.text.count(b"\n", runs[-1][-1][0].end(), one[0].start()) <= 3:
            runs[-1].append(one)
        else:
            runs.append([one])
    sign = rx(b"(?m)" + row.sign)
    return [one for run in runs if sign.search(page.text, max(0, run[0][0].start() - 200), run[-1][0].end() + 100) for one in run]


def _give_totals(tools: Sequence[_Reporter], pages: Sequence[_Reading]) -> None:
    """Give each closing line to the tool that said something last before it, since many count in the same words."""
    for page in pages:
        ends: Dict[int, List[Tuple[_Reporter, Match[bytes]]]] = {}
        tail = page.tail()
        for tool in tools:
            for expression in tool.row.summary:
                for m in page.find(expression, tool.row.bounded, 0 if tool.hits else tail):
                    ends.setdefault(m.start(), []).append((tool, m))
            if tool.row.success and not tool.hits:
                tool.passed += [(page, m) for m in page.find(tool.row.success, tool.row.bounded, tail)]
        for at in sorted(ends):
            nearest = max((tool for tool, _ in ends[at]), key=lambda tool: tool.before(page, at))
            nearest.closing += [(page, m) for tool, m in ends[at] if tool is nearest]


# ── the same reports as JSON ──

_JSON_BYTES = 4 * MIB  # of JSON that is parsed

# tool: (keys that mark one diagnostic, and where it keeps path, line, column, code, message, severity). A dot goes a level down;
# the path may stand in an object around it.
_JSON_TOOLS: List[Tuple[str, Sequence[str], Sequence[str]]] = [
    ("ruff", ("noqa_row", "filename"), ("filename", "location.row", "location.column", "code", "message", "")),
    ("eslint", ("ruleId", "severity"), ("filePath", "line", "column", "ruleId", "message", "severity")),
    ("stylelint", ("rule", "text"), ("source", "line", "column", "rule", "text", "severity")),
    ("pylint", ("symbol", "module"), ("path", "line", "column", "message-id|messageId", "message", "type")),
    ("mypy", ("hint", "code", "file"), ("file", "line", "column", "code", "message", "severity")),
    ("pyright", ("range", "severity", "file"),
     ("file", "range.start.line+", "range.start.character+", "rule", "message", "severity")),
    ("shellcheck", ("endLine", "level", "code"), ("file", "line", "column", "code", "message", "level")),
    ("hadolint", ("level", "code", "file"), ("file", "line", "column", "code", "message", "level")),
    ("golangci-lint", ("FromLinter", "Pos"), ("Pos.Filename", "Pos.Line", "Pos.Column", "FromLinter", "Text", "Severity")),
    ("rubocop", ("cop_name", "location"), ("path", "location.line", "location.column", "cop_name", "message", "severity")),
    ("rustc", ("spans", "level", "rendered"),
     ("spans.0.file_name", "spans.0.line_start", "spans.0.column_start", "code.code", "message", "level")),
    ("codequality", ("check_name", "fingerprint"),
     ("location.path", "location.positions.begin.line|location.lines.begin", "location.positions.begin.column", "check_name",
      "description", "")),
    ("gcc", ("kind", "locations"),
     ("locations.0.caret.file", "locations.0.caret.line", "locations.0.caret.column", "option", "message", "kind")),
    ("markdownlint", ("ruleNames", "lineNumber"),
     ("fileName", "lineNumber", "errorRange.0", "ruleNames.0", "ruleDescription", "severity")),
]  # fmt: skip
_JSON_LITERALS = (b'"line"', b'"row"', b'"Line"', b'"lineNumber"', b'"line_start"')
_JSON_REPORT = Dialect("", _JSON_LITERALS, (), severity={b"2": "error", b"1": "warning"})  # eslint's numbers


def _of_json(page: _Reading) -> List[Evidence]:
    """The diagnostics of a report that is one JSON document, or one to a line."""
    if not rx(rb"\s*[\[{]").match(page.text) or len(page.text) > _JSON_BYTES or not page.holds(_JSON_REPORT):
        return []
    documents = _json_documents(page.text)
    found: Dict[str, Evidence] = {}
    at = 0
    for number, document in documents:
        for name, places, item, around in _json_diagnostics(document):
            path, line, column, code, message, severity = [_json_text(item, place) for place in places]
            path = path or _json_text(around, places[0])
            level = _JSON_REPORT.level(severity, code)
            if path and message and level:
                place, first = b":".join(part for part in (path, line, column) if part), page.first + number
                if len(documents) == 1:  # it is where its message stands, as JSON spells it
                    at = page.text.find(_json_spelt(message), at) + 1 or at
                    first = page.line(at)
                identity = place + b" " + code if code else place
                fact = Fact(level[0], identity, place, message.partition(b"\n")[0], page.source.name, first, 0, 0, level[1])
                found.setdefault(name, Evidence(name + "/v1")).facts.append(fact)
    for evidence in found.values():
        evidence.span = [(page.source.name, page.first, page.source.lines)]
        evidence.outcome = "failed" if any(fact.kind == "error" for fact in evidence.facts) else ""
    return list(found.values())


def _json_documents(text: bytes) -> List[Tuple[int, Any]]:
    """(lines before it, value) of the one document that a text is, or of each of its lines; none when it is neither."""
    import json

    try:
        return [(0, json.loads(text.decode("utf-8", "replace")))]
    except (ValueError, RecursionError):
        pass
    try:
        lines = enumerate(text.split(b"\n")[1:])
        return [(number, json.loads(line.decode("utf-8", "replace"))) for number, line in lines if line.strip()]
    except (ValueError, RecursionError):
        return []


def _json_spelt(text: bytes) -> bytes:
    """A text as JSON writes it."""
    import json

    return json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False).encode()


def _json_diagnostics(value: Any, around: Any = None, depth: int = 0) -> Iterator[Tuple[str, Sequence[str], Dict[str, Any], Any]]:
    """(tool, where things are, object, the object around that names a file) of every diagnostic inside `value`, in order."""
    if isinstance(value, dict):
        for name, keys, places in _JSON_TOOLS:
            if all(key in value for key in keys) and (isinstance(value.get(places[4]), str)):
                yield name, places, value, around
                return
        if any(isinstance(value.get(key), str) for key in ("filePath", "path", "file", "filename", "source")):
            around = value
    if depth < 12 and isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _json_diagnostics(inner, around, depth + 1)


def _json_text(value: Any, places: str) -> bytes:
    """What stands at one of some places, as the digest spells it; a place with + counts from 0."""
    for place in places.split("|"):
        here = value
        for key in place.rstrip("+").split("."):
            if isinstance(here, list):
                here = here[int(key)] if key.isdigit() and int(key) < len(here) else None
            else:
                here = here.get(key) if isinstance(here, dict) else None
        if isinstance(here, (str, int)) and not isinstance(here, bool) and here != "":
            return fsencode(str(here + 1 if place.endswith("+") and isinstance(here, int) else here))
    return b""


# ── what users write in ctx.toml: a row as plain data ──

_EXPRESSIONS = ("identities", "locations", "summary")
# how many texts, of how many characters
_PROFILE_LIMITS = {"match": (20, 200), "identities": (20, 500), "locations": (10, 500), "summary": (10, 500)}
_WIDE = 6  # parts of an expression that may repeat without end


def user_profile(name: str, table: Dict[str, Any]) -> Dialect:
    """The row that a table `[profile.NAME]` of ctx.toml describes.

    `match`: literals, one of which must occur. `identities`: expressions, from the start of a line on, with the groups path,
    line, col, severity, code and message, or identity. `locations`: expressions for a line that gives the file of those below.
    `severity`: level by word or code. `summary`: expressions whose named groups are the tool's own counts; total, or else errors,
    warnings and style, count facts. `success`: what it says when all is well. `more`: further lines of a diagnostic. Raises
    CtxError, which names the key and what to do.
    """
    where = "profile." + name
    if not rx(rb"[A-Za-z][\w.-]{0,39}\Z").match(fsencode(name)):
        raise CtxError("%s: not a name for a profile" % where, "use a letter, then letters, digits, - . _")
    known = ["match", "identities", "locations", "severity", "summary", "success", "more"]
    for key in table:
        if key not in known:
            raise CtxError("%s.%s: no such key" % (where, key), "use one of " + ", ".join(known))
    lists = {key: _profile_texts("%s.%s" % (where, key), table.get(key, []), *_PROFILE_LIMITS[key]) for key in _PROFILE_LIMITS}
    for key in ("match", "identities"):
        if not lists[key]:
            raise CtxError("%s.%s: missing" % (where, key), "give a list of one text or more")
    groups: Dict[str, Set[str]] = {key: set() for key in _EXPRESSIONS}
    for key in _EXPRESSIONS:
        for number, text in enumerate(lists[key]):
            groups[key].update(_profile_groups("%s.%s[%d]" % (where, key, number), text))
    for key, needs in (("identities", {"identity", "path"} | ({"line"} if lists["locations"] else set())), ("locations", {"path"})):
        if lists[key] and not groups[key] & needs:
            missing = " or ".join(sorted(needs))
            raise CtxError("%s.%s: no group named %s" % (where, key, missing), "write (?P<path>…) round what names the file")
    single = {}
    for key in ("success", "more"):
        single[key] = _profile_texts("%s.%s" % (where, key), [table[key]], 1, 500)[0] if key in table else b""
        if single[key]:
            _profile_groups("%s.%s" % (where, key), single[key])
    counted = [key for key in ("total", "errors", "warnings", "style") if key in groups["summary"]]
    identities, locations, summary = [[text.lstrip(b"^") for text in lists[key]] for key in _EXPRESSIONS]
    return Dialect(
        name,
        lists["match"],
        identities,
        locations,
        _profile_levels(where + ".severity", table.get("severity", {})),
        summary,
        single["success"].lstrip(b"^"),
        more=single["more"].lstrip(b"^") or rb"[ \t]",
        claims=counted[:1] if "total" in counted else counted,
        bounded=True,
    )


def _profile_texts(where: str, value: Any, most: int, longest: int) -> List[bytes]:
    """A list of texts as bytes; one text stands for a list of it."""
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise CtxError("%s: not a list of texts" % where, "write ['…', '…']")
    if len(value) > most or any(len(text) > longest for text in value):
        raise CtxError("%s: too large" % where, "give at most %d texts of at most %d characters" % (most, longest))
    return [text.encode() for text in value]


def _profile_levels(where: str, value: Any) -> Dict[bytes, str]:
    """Levels by word."""
    names = [*_LEVELS, "ignore"]
    if not isinstance(value, dict) or not all(isinstance(level, str) and level in names for level in value.values()):
        raise CtxError("%s: not a table of levels" % where, "give each word one of " + ", ".join(names))
    return {word.encode(): level for word, level in value.items()}


def _profile_groups(where: str, text: bytes) -> List[str]:
    """The names of an expression's groups. Raises CtxError if it does not compile, or could take time without bound."""
    import re
    import warnings

    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:
        import sre_parse as parser
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            parsed, names = parser.parse(text), list(re.compile(b"(?m)\n(?:" + text.lstrip(b"^") + b")").groupindex)
    except (re.error, Warning, OverflowError, RecursionError, ValueError) as error:
        raise CtxError("%s: %s" % (where, error), "mend the expression; it is one of Python's re, over bytes") from None
    if _endless_repeats(parsed, False) > _WIDE:
        fix = "no repeat without end inside another, no two beside each other, at most %d in all" % _WIDE
        raise CtxError("%s: could take very long" % where, fix)
    return names


def _endless_repeats(items: Any, inside: bool) -> int:
    """How many parts of an expression repeat without end; far too many when one stands inside or beside another, or looks back."""
    count, before, far = 0, False, 1000
    for name, value in _flat(items):
        endless = False
        if name.endswith("_REPEAT"):
            endless = value[1] > 50
            count += _endless_repeats(value[2], inside or value[1] > 1) + (far if endless and (inside or before) else int(endless))
        elif name == "BRANCH":
            parts = [_endless_repeats(branch, inside) for branch in value[1]]
            endless = any(parts)
            count += sum(parts) + (far if endless and before else 0)
        elif name in ("ASSERT", "ASSERT_NOT"):
            count += _endless_repeats(value[1], inside)
        elif name in ("GROUPREF", "GROUPREF_EXISTS"):
            count += far
        before = endless or (before and name in ("AT", "ASSERT", "ASSERT_NOT"))
    return count


def _flat(items: Any) -> Iterator[Tuple[str, Any]]:
    """The items of a parsed expression, those of groups in their place."""
    for op, value in items:
        if str(op) == "SUBPATTERN":
            yield from _flat(value[3])
        else:
            yield str(op), value


# ── the table ──

# a path at the start of a line; one with blanks shows by a slash before them that it is no sentence
_AT_PATH = rb"(?P<path>(?:[A-Za-z]:[\\/][^:\n]{0,400}|(?![>|+=*#'\"`$<-])(?:[^\s:\\/]*[\\/][^:\n]{0,400}|[^\s:]{1,400}))"
_NO_CODE = rb"(?![^\n]*[a-z]\]$)"
_CODED = rb"(?=(?:[A-Za-z]:)?[^:\n]*:\d+(?::\d+)?: \[?[A-Zi])"  # most lines fail here, which is fast
_AT_COLUMN = rb":(?P<line>\d+):(?P<col>\d+)"
_AT_LINE = rb":(?P<line>\d+)(?::(?P<col>\d+))?"
_REST = rb"(?P<message>[^\n]*)"
_C_FILE = (
    rb"(?:\.(?:c|cc|cpp|cxx|c\+\+|C|h|hh|hpp|hxx|h\+\+|ipp|tpp|tcc|inc|inl|def|m|mm|s|S|asm|f|for|f\d\d|F|F\d\d|cu|cuh|cl|y|l|yy|ll|i|ii"
    rb"|ixx|cppm|d|adb|ads|cob|v|sv|vhd)|/include/[^:\n]*))"
)
_PYLINT = {b"C": "style", b"R": "style", b"I": "style", b"W": "warning", b"E": "error", b"F": "fatal"}
_FLAKE = {
    b"": "error 5", b"F": "error 7", b"F8": "error 8", b"E9": "error 10", b"E": "error 4", b"W": "error 4", b"C": "error 4",
    b"D": "error 3", b"ANN": "error 3",
}  # fmt: skip
_RUFF_CODE = rb"(?P<code>[A-Z]{1,6}\d{2,5}|invalid-syntax|io-error)"
_RUFF_SUMMARY = (
    rb"Found (?P<errors>\d+) errors?(?: \(\d+ fixed, \d+ remaining\))?\.$",
    rb"\[\*\] (?P<fixable>\d+) (?:potentially )?fixable with",
)


DIAGNOSTICS: List[Dialect] = [
    # formats that tell the tool by themselves
    Dialect("rustc", (b"--> ", b".rs:"),
        (rb"(?:(?P<code>(?:error|warning)\[[\w:-]+\])|(?P<severity>error|warning)): (?P<message>[^\n]+)(?:\n(?! *-->|"
            rb"error|warning)[^\n]+){0,3}?\n *--> " + _AT_PATH + rb")" + _AT_COLUMN + rb"$",
        _AT_PATH + rb"\.rs)" + _AT_COLUMN + rb": (?P<severity>error|warning)(?P<code>\[[\w:]+\])?: " + _REST),
        severity={b"error": "error", b"warning": "warning"},
        summary=(rb"error: could not compile [^\n]* due to (?P<errors>\d+)? ?previous errors?",
        rb"error: aborting due to (?P<errors>\d+)? ?previous errors?(?:; (?P<warnings>\d+) warnings? emitted)?",
        rb"warning: [^\n]* generated (?P<warnings>\d+) warnings?(?: \((?P<duplicates>\d+) duplicates?)?",
        rb"warning: (?P<warnings>\d+) warnings? emitted"), claims=("errors", "warnings", "-duplicates"), repeats=True,
        more=rb"[ \t]|\d+ +[|\\/]|\.\.\.$|$", sign=rb"^ *--> [^\n]*\.rs:|\.rs:\d+:\d+: |could not compile|aborting due"),
    Dialect("ruff", (b"--> ",),
        (_RUFF_CODE + rb":? (?:\[\*\] )?(?P<message>[^\n]+)\n *--> " + _AT_PATH + rb")" + _AT_COLUMN + rb"$",
        rb"error\[(?P<code>[\w-]+)\]: (?P<message>[^\n]+)\n *--> " + _AT_PATH + rb"\.(?:pyi?|ipynb|toml))" + _AT_COLUMN + rb"$"),
        severity=_FLAKE, summary=_RUFF_SUMMARY, success=rb"All checks passed!$", claims=("errors",),
        more=rb"[ \t]|\d+ +[|/]|help: |-{20}"),
    Dialect("ruff", (b".py", b".ipynb"), (rb" +(?P<line>\d+):(?P<col>\d+) +" + _RUFF_CODE + rb":? (?:\[\*\] )?" + _REST,),
        locations=(rb"(?P<path>\S[^\n]*\.(?:pyi?|ipynb|toml)):$",), severity=_FLAKE, summary=_RUFF_SUMMARY, claims=("errors",)),
    Dialect("ruff", (b".py:", b".pyi:", b".ipynb:"),
        (_CODED + _AT_PATH + rb"\.(?:pyi?|ipynb|toml))(?::cell \d+)?" + _AT_COLUMN + rb": " + _RUFF_CODE + rb":? (?:\[\*\] )?"
            + _REST, _CODED + _AT_PATH + rb"\.(?:pyi?|ipynb|toml)):(?P<line>\d+): \[" + _RUFF_CODE + rb"\] " + _REST),
        severity=_FLAKE, summary=_RUFF_SUMMARY, claims=("errors",),
        sign=_NEAR_BY + rb"^Found \d+ errors?\.$|: [A-Z]+\d+ \[\*\] |: \[?(?:(?!E9)[EWF]\d+|C901)\]? [A-Z`\[]|: \[?invalid-syntax"),
    Dialect("ruff", (b"title=ruff", b"title=Ruff", b"code="),
        (rb"::(?:error|warning) title=[Rr]uff \((?P<code>[^)\n]+)\)[^\n]*?::" + _AT_PATH + rb")" + _AT_COLUMN
            + rb":(?: (?P=code))?:? (?P<message>(?:(?!%0A)[^\n])*)",
        rb"##vso\[task\.logissue type=(?:error|warning);sourcepath=(?P<path>[^;\n]+);linenumber="
            rb"(?P<line>\d+);columnnumber=(?P<col>\d+);code=(?P<code>[^;\n]*);\]" + _REST), severity=_FLAKE),
    Dialect("ruff-format", (b"Would reformat: ", b"unformatted: "), (rb"Would reformat: (?P<path>[^\n]+)",
        rb"unformatted: (?P<message>[^\n]+)\n *--> " + _AT_PATH + rb")" + _AT_COLUMN + rb"$"), severity={b"": "unformatted"},
        summary=(rb"(?P<would_be_reformatted>\d+) files? would be reformatted(?:, "
            rb"(?P<already_formatted>\d+) files? already formatted)?$",), success=rb"\d+ files? already formatted$",
        claims=("would_be_reformatted",), more=rb"[ \t]|\d+ +[|+-]"),
    Dialect("flake8", (b".py:", b".pyi:"),
        (_CODED + _AT_PATH + rb"\.pyi?)" + _AT_COLUMN + rb": (?P<code>[A-Z]{1,4}\d{2,4}) " + _REST,
        _CODED + _AT_PATH + rb"\.pyi?):(?P<line>\d+): \[(?P<code>[A-Z]{1,4}\d{2,4})\] " + _REST), severity=_FLAKE,
        sign=_NEAR_BY + rb": \[?E999\]? SyntaxError|: \[?[EW]\d+\]? [a-z]|: \[?F\d+\]? [a-z']|: \[?C901\]? '", more=rb" {4}|\t"),
    Dialect("pylint", (b".py:",), (_CODED + _AT_PATH + rb"\.pyi?)" + _AT_COLUMN + rb": (?P<code>[CRWEFI]\d{4}): " + _REST,
        _CODED + _AT_PATH + rb"\.pyi?):(?P<line>\d+): \[(?P<code>[CRWEFI]\d{4})\([\w-]+\), ?[^\]\n]*\] " + _REST), severity=_PYLINT,
        success=rb"Your code has been rated at 10\.00/10", notes=rb"Your code has been rated at"),
    Dialect("mypy", (b": error: ",), (_AT_PATH + rb"\.(?:pyi?|ipynb|pyx))" + _AT_LINE
            + rb"(?::\d+:\d+)?: (?P<severity>error): (?P<message>[^\n]*[^\s])  (?P<code>\[[a-z][a-z-]*\])$",
        _NO_CODE + _AT_PATH + rb"\.(?:pyi?|ipynb|pyx))" + _AT_LINE
            + rb"(?::\d+:\d+)?: (?P<severity>error|warning): (?P<message>[^\n]*?)(?:(?:\n(?! {4}|[^\s:]+:(?:\d+:)+ |"
            rb"[^\s:]+: note: |Found \d)[^\n]+?){0,5}?(?: +| ?\n ?)(?P<code>\[[a-z][a-z-]*\]))?$",
        _NO_CODE + _AT_PATH + rb"\.pyi?): (?P<severity>error): " + _REST),
        summary=(rb"Found (?P<errors>\d+) errors? in (?P<files>\d+) files? \((?:checked|errors prevented)",),
        success=rb"Success: no issues found in \d+ source file", claims=("errors",), more=rb" {4}|\S+: note: "),
    Dialect("pyright", (b" - error: ", b" - warning: ", b" - information: "),
        (rb" *(?P<path>(?:[A-Za-z]:[\\/])?[^\s:][^:\n]{0,400})" + _AT_COLUMN
            + rb" - (?P<severity>error|warning|information|hint): (?P<message>[^\n]*?)(?:\n  (?:  |"
            rb"\xc2\xa0)[^\n]*?){0,60}? \((?P<code>report\w+)\)$",
        rb" *(?P<path>(?:[A-Za-z]:[\\/])?[^\s:][^:\n]{0,400}\.pyi?)" + _AT_COLUMN
            + rb" - (?P<severity>error|warning|information|hint): " + _REST),
        summary=(rb"(?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?, (?P<informations>\d+) (?:informations?|notes?)",),
        more=rb"  (?:  |\xc2\xa0)"),
    Dialect("tsc", (b": error TS", b" - error TS", b"error TS"),
        (_AT_PATH + rb"\.[\w.]+)\((?P<line>\d+),(?P<col>\d+)\): (?P<severity>error|warning) (?P<code>TS\d+): " + _REST,
        _AT_PATH + rb")" + _AT_COLUMN + rb" - (?P<severity>error|warning) (?P<code>TS\d+): " + _REST,
        rb"(?P<severity>error) (?P<identity>TS\d+): " + _REST),
        summary=(rb"Found (?P<errors>\d+) errors? in (?:\d+ files|(?:the same file|[^\n]*:\d+))",
        rb"(?:\[\S+ ?\S*\] )?Found (?P<errors>\d+) errors?\. Watching", rb"Found (?P<errors>\d+) errors?\.$"), more=rb"[ \t]|\d+ "),
    Dialect("shellcheck", (b" SC", b"[SC"), (rb"(?P<indent>[ \t]*)\^-*\^?-* (?P<code>SC\d+) \((?P<severity>\w+)\): " + _REST,),
        locations=(rb"In (?P<path>[^\n]+) line (?P<line>\d+):$",), more=rb"Did you mean|[ \t]"),
    Dialect("shellcheck", (b"[SC",),
        (_AT_PATH + rb")" + _AT_COLUMN + rb": (?P<severity>\w+): (?P<message>[^\n]*) \[(?P<code>SC\d+)\]$",),
        severity={b"note": "style"}),
    Dialect("yamllint", (b" error ", b" warning "),
        (rb" +(?P<line>\d+):(?P<col>\d+) +(?P<severity>error|warning) +(?P<message>\S[^\n]*?)  \((?P<code>[\w-]+)\)$",),
        locations=(rb"(?P<path>(?!\s)[^\n]+)(?=\n +\d+:\d+ +(?:error|warning) )",),
        sign=rb"^ +\d+:\d+ +(?:error|warning) +\S[^\n]*  \([\w-]+\)$"),
    Dialect("eslint", (b" error ", b" warning "),
        (rb" +(?P<line>\d+):(?P<col>\d+) +(?P<severity>error|warning) +(?P<message>\S[^\n]*?)(?:  +(?P<code>"
            rb"(?:@?[\w.-]+/)*[\w.-]+))?$",), locations=(rb"(?P<path>(?!\s)[^\n]+)(?=\n +\d+:\d+ +(?:error|warning) )",),
        summary=(rb"(?:\xe2\x9c\x96|\xe2\x9c\x95|x|X|\xc3\x97) (?P<problems>\d+) problems? \((?P<errors>\d+) errors?, "
            rb"(?P<warnings>\d+) warnings?\)",), more=rb"(?! +\d+:\d+ )[ \t]"),
    Dialect("eslint", (b" [Error", b" [Warning"),
        (_AT_PATH + rb")" + _AT_COLUMN + rb": (?P<message>[^\n]*) \[(?P<severity>Error|Warning)(?:/(?P<code>[^\]\n]+))?\]$",),
        summary=(rb"(?P<problems>\d+) problems?$",), claims=("problems",)),
    Dialect("eslint", (b", col ",), (_AT_PATH
            + rb"): line (?P<line>\d+), col (?P<col>\d+), (?P<severity>Error|Warning) - (?P<message>[^\n]*?)(?: \("
            rb"(?P<code>[^()\n]+)\))?$",), summary=(rb"(?P<problems>\d+) problems?$",), claims=("problems",)),
    Dialect("yamllint", (b": [error] ", b": [warning] "),
        (_AT_PATH + rb")" + _AT_COLUMN + rb": \[(?P<severity>error|warning)\] (?P<message>[^\n]*?)(?: \((?P<code>[\w-]+)\))?$",)),
    Dialect("stylelint", ("✖".encode(), "⚠".encode()),
        (rb" +(?P<line>\d+):(?P<col>\d+) +(?P<severity>\xe2\x9c\x96|\xe2\x9a\xa0) +(?P<message>\S[^\n]*?)(?:  +"
            rb"(?P<code>[\w/@-]+))?$",), locations=(rb"(?P<path>(?!\s)[^\n]+)(?=\n +\d+:\d+ +(?:\xe2\x9c\x96|\xe2\x9a\xa0) )",),
        severity={"✖".encode(): "error", "⚠".encode(): "warning"}, summary=(rb"\xe2\x9c\x96 (?P<problems>\d+) problems? \(",),
        claims=("problems",)),
    Dialect("biome", ("━━".encode(),), (_AT_PATH + rb")" + _AT_COLUMN
            + rb" (?P<code>(?:lint|parse|syntax|suppressions|assist|organizeImports|plugin)\S*)(?:  FIXABLE)?"
            rb"(?: [^\n]*)?\xe2\x94\x81\n+ +(?P<severity>\xc3\x97|!|i|\xe2\x84\xb9|\xe2\x9c\x96) (?P<message>[^\n]+)",
        _AT_PATH + rb")(?::(?P<line>\d+):(?P<col>\d+))? (?P<code>format|organizeImports|assist\S*|parse|lint\S*|"
            rb"internalError\S*|files\S*)(?:  FIXABLE)? [^\n]*\xe2\x94\x81\n+ +(?P<severity>\xc3\x97|!|i|\xe2\x84\xb9) "
            rb"(?P<message>[^\n]+)"), severity={"×".encode(): "error", b"!": "warning", b"i": "style", "ℹ".encode(): "style",
        "✖".encode(): "error"}, more=rb"[ \t]|$", summary=(rb"Found (?P<errors>\d+) errors?\.$",
        rb"Found (?P<warnings>\d+) warnings?\.$", rb"Found (?P<infos>\d+) infos?\.$"), claims=("errors", "warnings", "infos"),
        sign=rb"^Checked \d+ files? in |\xe2\x94\x81", success=rb"Checked \d+ files? in [^\n]*\. (?:No fixes|Fixed)"),
    Dialect("rubocop", (b".rb:", b"Gemfile:", b"Rakefile:"),
        (_AT_PATH + rb")" + _AT_COLUMN
            + rb": (?P<severity>[CWEFRI]): (?:\[Corrected\] |\[Correctable\] |\[Todo\] )?(?P<code>[A-Z]\w+(?:/\w+)+): " + _REST,),
        severity=_PYLINT, summary=(rb"(?P<files>\d+) files? inspected, (?P<offenses>\d+|no) offenses? detected",),
        claims=("offenses",), more=rb"\S[^\n]*|\s"),
    Dialect("rubocop", (b":  ", b": "),
        (rb"(?P<severity>[CWEFRI]): +(?P<line>\d+): +(?P<col>\d+): (?:\[\w+\] )?(?P<code>[A-Z]\w+(?:/\w+)+): " + _REST,),
        locations=(rb"== (?P<path>[^\n]+) ==$",), severity=_PYLINT),
    Dialect("phpstan", (b" Line ",), (rb"  +(?P<line>\d+|:\d+) +(?P<message>\S[^\n]*)",),
        locations=(rb" -+ -+[ -]*\n +Line +(?P<path>\S[^\n]*?) *\n -+ -+",),
        summary=(rb" *\[ERROR\] Found (?P<errors>\d+) errors?",), success=rb" *\[OK\] No errors", more=rb" {9}"),
    Dialect("markdownlint", (b" MD0", b"/MD0"),
        (_AT_PATH + rb")" + _AT_LINE + rb" (?:(?P<severity>error|warning) )?(?P<code>MD\d{3})(?:/[\w/-]+)? " + _REST,),
        summary=(rb"Summary: (?P<errors>\d+) error\(s\)",), success=rb"Summary: 0 error\(s\)"),
    Dialect("hadolint", (b" DL", b" SC"),
        (_AT_PATH + rb"):(?P<line>\d+) (?P<code>(?:DL|SC)\d{4}) (?P<severity>error|warning|info|style): " + _REST,)),
    Dialect("black", (b"would reformat", b"cannot format ", b"cannot parse", b"would be reformatted"),
        (rb"would reformat (?P<path>[^\n]+)",
        rb"error: cannot parse: (?P<path>[^\n]+):(?P<line>\d+):(?P<col>\d+)(?:\n(?:    [^\n]*\n){1,4}(?P<message>"
            rb"(?P<severity>\w+): [^\n]*))?",
        rb"error: cannot format (?P<path>[^\n]+?): (?P<message>(?P<severity>[^\n]+?:) ?(?P<line>\d+):" rb"(?P<col>\d+)[^\n]*)",
        rb"error: cannot format (?P<path>[^\n:]+): (?P<severity>)" + _REST, rb"(?P<path>\S[^\n]*\.pyi?) would be reformatted$"),
        severity={b"": "unformatted", b"ParseError": "error", b"Cannot parse:": "error",
        b"cannot use --safe with this file; failed to parse source file AST:": "error"},
        summary=(rb"(?:All done! [^\n]*\n|Oh no! [^\n]*\n)?(?P<would_be_reformatted>\d+) files? would be reformatted",
        rb"[^\n]*?(?P<would_be_left_unchanged>\d+) files? would be left unchanged",
        rb"[^\n]*?(?P<would_fail_to_reformat>\d+) files? (?:would fail|failed) to reformat"),
        success=rb"(?:All done! [^\n]*\n)?\d+ files? (?:would be |already )?(?:left unchanged|formatted)",
        claims=("would_be_reformatted", "would_fail_to_reformat")),
    Dialect("prettier", (b"[error] ", b"[warn] "),
        (rb"\[error\] (?P<path>[^\n:]+): (?P<message>(?P<severity>\w*Error): [^\n]*?)(?: \((?P<line>\d+):" rb"(?P<col>\d+)\))?$",
        rb"\[warn\] (?P<path>(?!Code style|Ignored|Invalid|\w+ \w+ \w+ )[^\n]+)$"), severity={b"SyntaxError": "error",
        b"Error": "error", b"TypeError": "error", b"": "unformatted"},
        summary=(rb"(?:\[error\] |\[warn\] )?Error occurred when checking code style in (?P<errors>\d+|the above) files?\.",
        rb"(?:\[warn\] )?Code style issues found in (?P<unformatted>\d+|the above) files?\."),
        success=rb"All matched files use Prettier code style!", more=rb"\[error\]  ", sign=rb"code style|Checking formatting",
        claims=()),
    # compilers
    Dialect("gcc", (b": error: ", b": fatal error: ", b": warning: "),
        (_AT_PATH + _C_FILE + _AT_LINE
            + rb": (?P<severity>fatal error|error|warning|internal compiler error): (?P<message>[^\n]*?(?: \["
            rb"(?P<code>-W[^\]\n]+|[a-z][\w.,-]+)\])?)$",
        rb"(?P<identity>(?:[\w./+-]*[/-])?(?:cc1(?:plus|obj)?|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|lto1|lto-wrapper|"
            rb"f951|gfortran)(?:-\d+)?): (?P<severity>fatal error|error|warning): (?!ld returned|linker command)" + _REST),
        summary=(rb"(?:(?P<warnings>\d+) warnings?)?(?: and )?(?:(?P<errors>\d+) errors?)? generated\.$",),
        notes=rb"compilation terminated|cc1\w*: (?:all|some) warnings being treated as errors|fatal error: too many errors",
        repeats=True, more=rb"[ \t]|In file included from|\S[^\n]*: note: |\S[^\n]*:\d+(?::\d+)?:   required "),
    Dialect("linker", (b"undefined reference to", b"multiple definition of", b"cannot find -l", b"undefined symbol: ",
        b"duplicate symbol", b"Undefined symbols", b"ld returned", b"linker command failed"),
        (rb"(?:[^\s:]*ld[^\s:]*: )?(?P<location>(?:[A-Za-z]:[\\/])?[^\s:][^\n]{0,400}?(?::\(\.[^)\n]*\)|:\d+)): "
            rb"(?P<identity>(?:undefined reference to|multiple definition of) [^;\n]*)(?:; [^\n]*)?$",
        rb"(?:[^\s:]*ld[^\s:]*: )(?P<location>[^\s:][^:\n]{0,400}): (?P<identity>(?:undefined reference to|"
            rb"multiple definition of) [^;\n]*)(?:; [^\n]*)?$", rb"[^\s:]*ld[^\s:]*: (?P<identity>cannot find [^\n]*)",
        rb"(?:[^\s:]*ld[^\s:]*|mold|wild): error: (?P<identity>(?:undefined|duplicate)[^\n]* symbol[^\n]*)(?:\n>>> "
            rb"(?:referenced by|defined at) (?P<location>[^\n]+))?",
        rb"Undefined symbols? for architecture \w+:\n  \"?(?P<identity>[^\n]+?)\"?, referenced from:",
        rb"[^\s:]*ld[^\s:]*: (?:error: )?(?P<identity>(?:symbol\(s\) not found|library not found for|"
            rb"framework not found|duplicate symbol)[^\n]*)"), notes=rb"collect2: |clang[\w+-]*: error: linker command failed",
        more=rb"[ \t]|>>> "),
    Dialect("javac", (b".java:",),
        (_AT_PATH + rb"\.java):(?P<line>\d+): (?P<severity>error|warning): (?:\[(?P<code>[\w-]+)\] )?" + _REST,),
        summary=(rb"(?P<errors>\d+) errors?$", rb"(?P<warnings>\d+) warnings?$"), sign=rb"\.java:\d+: (?:error|warning): "),
    Dialect("swiftc", (b".swift:",), (_AT_PATH + rb"\.swift)" + _AT_COLUMN + rb": (?P<severity>error|warning): " + _REST,),
        more=rb"[ \t]|\S+: note: |\d+ \||$"),
    Dialect("kotlinc", (b"e: ", b"w: "),
        (rb"(?P<severity>[ew]): (?:file://)?(?P<path>/?[^\n]*?\.kts?):? ?\(?(?P<line>\d+)[:,] ?(?P<col>\d+)\)?:? " + _REST,),
        severity={b"e": "error", b"w": "warning"}),
    Dialect("go", (b".go:",), (rb"(?:vet: )?" + _AT_PATH + rb"\.go)" + _AT_LINE
            + rb": (?!error: |warning: |note: |In )(?P<message>[^\n]*[^)\s]|[^\n]*\))$",),
        sign=rb"^# \S+(?: \[\S+\])?$(?=\n(?:vet: )?[^\s:]+\.go:\d+)|^vet: |\[(?:build|setup) failed\]|\.go:\d+:\d+: "
            rb"(?:undefined: |expected |no required module|package \S+ is not in|syntax error|cannot find |"
            rb"module lookup|could not import|import cycle|imported and not used|declared (?:and|but) not used)|"
            rb"^go: downloading ", more=rb"\t"),
    Dialect("golangci-lint", (b".go:",), (_AT_PATH + rb"\.go)" + _AT_LINE + rb": (?P<message>[^\n]*) \((?P<code>[a-z][\w-]*)\)$",),
        summary=(rb"(?P<issues>\d+) issues?[:.]$",), success=rb"0 issues\.$", claims=("issues",),
        sign=rb"^\d+ issues?[:.]$|\.go:\d+:\d+: [^\n]* \([a-z]\w+\)\n[^\n]*\n\s*\^"),
    Dialect("dotnet", (b": error ", b": warning "),
        (rb"(?: +\d+>|\s*)(?P<path>[^\s:(](?::\\)?[^:(\n]*)\((?P<line>\d+),(?P<col>\d+)(?:,\d+,\d+)?\) ?: "
            rb"(?P<severity>error|warning) (?P<code>(?!TS)[A-Z]+\d+): (?P<message>[^\n]*?)(?: \[[^\]\n]*proj"
            rb"(?:::[^\]\n]*)?\])?$",
        rb" *(?P<identity>[^\s:][^:\n]*?) ?: (?P<severity>(?:fatal )?error|warning) (?P<code>(?:MSB|CS|NU|NETSDK|"
            rb"LNK|C|FS|BC)\d+): (?P<message>[^\n]*?)(?: \[[^\]\n]*proj(?:::[^\]\n]*)?\])?$"),
        summary=(rb" +(?P<errors>\d+) Error\(s\)", rb" +(?P<warnings>\d+) Warning\(s\)"), success=rb"Build succeeded\.",
        repeats=True),
    Dialect("python", (b"Error: ", b"Traceback (most"),
        (rb'  File "(?P<path>[^"\n]+)", line (?P<line>\d+)\n(?:    [^\n]*\n){0,4}(?P<message>(?P<code>SyntaxError|'
            rb'IndentationError|TabError): [^\n]*)$',
        rb'Traceback \(most recent call last\):\n(?:  File "(?P<path>[^"\n]+)", line (?P<line>\d+)[^\n]*\n'
            rb'(?:    [^\n]*\n|  \[Previous[^\n]*\n)*)+(?P<message>(?P<code>[A-Za-z_][\w.]*)(?:: [^\n]*)?)$'),
        severity={b"": "fatal"},
        sign=rb"^(?:Syntax|Indentation|Tab)Error: |^Traceback \(most recent call last\):\n(?:  [^\n]*\n)+[A-Za-z_][\w.]*"
            rb"(?::[^\n]*)?(?:\n(?![=\d]|FAILED|ERROR|[-_*]{3})[^\n]+){0,8}\n*\Z"),
    # builds
    Dialect("make", (b"*** ",), (rb"\w*make(?:\.exe)?(?:\[\d+\])?: \*\*\* (?P<message>\[(?:(?P<path>[^:\n\]]+):(?P<line>\d+): )?"
            rb"(?P<step>[^\]\n]+)\] [^\n]*)",
        rb"\w*make(?:\[\d+\])?: \*\*\* (?P<message>No rule to make target ['`](?P<step>[^'\n]+)'[^\n]*)",
        rb"(?P<path>[^:\s][^:\n]*):(?P<line>\d+): \*\*\* " + _REST),
        sign=rb"^\w*make(?:\[\d+\])?: \*\*\* |^\S*[Mm]akefile\S*:\d+: \*\*\*|: \*\*\* (?:missing separator|"
            rb"recipe commences)[^\n]*Stop\."),
    Dialect("ninja", (b"FAILED: ", b"ninja: "), (rb"FAILED: (?:\[code=\d+\] )?(?P<step>[^\n]+)",
        rb"ninja: error: (?P<identity>[^\n]+)"), sign=rb"^ninja: |^\[\d+/\d+\] ", notes=rb"ninja: build stopped", more=rb"(?!)"),
    Dialect("cmake", (b"CMake ",), (rb"CMake (?P<severity>Error|Warning|Deprecation Warning)(?: \(dev\))? at " + _AT_PATH
            + rb"):(?P<line>\d+)(?: \((?P<code>\w+)\))?:\n+  (?P<message>[^\n]*)",
        rb"CMake (?P<severity>Error)(?: \(dev\))?: (?P<identity>[^\n]+)"), success=rb"-- Build files have been written to: ",
        notes=rb"-- Configuring incomplete", more=rb"  |$"),
    Dialect("maven", (b"[ERROR] ", b"[WARNING] "),
        (rb"\[(?P<severity>ERROR|WARNING)\] (?P<path>(?:[A-Za-z]:)?/?[^:\n\[]+\.\w+):\[(?P<line>\d+),(?P<col>\d+)\] "
            rb"(?:error: |warning: )?" + _REST,
        rb"\[ERROR\] (?P<message>Failed to execute goal (?P<step>[^\n]*?)(?: on project " rb"(?P<project>[^\s:]+))?: [^\n]*)",
        rb"\[(?:ERROR|FATAL)\] (?P<message>Non-resolvable [^\n]*|\[ERROR\] [^\n]*|The goal you specified[^\n]*|"
            rb"Unknown lifecycle phase[^\n]*|Could not find goal[^\n]*|No plugin found[^\n]*)"),
        summary=(rb"\[INFO\] (?P<errors>\d+) errors? *$",), success=rb"\[INFO\] BUILD SUCCESS", repeats=True,
        sign=rb"^\[INFO\] |^\[ERROR\] (?:Failed to execute|\[Help|Re-run Maven)"),
    Dialect("gradle", (b"> Task ", b"* What went wrong"), (rb"> Task (?P<step>:\S+) FAILED",
        rb"\* What went wrong:\n(?P<message>(?P<step>Execution failed for task '[^'\n]+'|[^\n]+)[^\n]*)"),
        success=rb"BUILD SUCCESSFUL in ", sign=rb"^FAILURE: Build |^BUILD (?:FAILED|SUCCESSFUL) in |^> Task :", more=rb">|$"),
    Dialect("webpack", (b"ERROR in ", b"WARNING in "),
        (rb"(?P<severity>ERROR|WARNING) in (?P<path>(?:[A-Za-z]:)?[^\s:][^:\s]*)(?:[ :](?P<line>\d+):(?P<col>\d+)"
            rb"(?:-[\d:]+)?)?\n(?:\[tsl\][^\n]*\n)?(?P<message>[^\n]+)",
        rb"(?P<severity>ERROR|WARNING) in (?P<message>(?P<identity>[^\n]+))"),
        summary=(rb"webpack [\d.]+ compiled with (?:(?P<errors>\d+) errors?)?(?: and )?(?:(?P<warnings>\d+) warnings?)?",),
        success=rb"webpack [\d.]+ compiled successfully|webpack compiled successfully", more=rb"[^\nEWw]|$",
        sign=rb"webpack [\d.]+ compiled|^(?:ERROR|WARNING) in (?:\./|multi |main$)|Module (?:not found|parse failed|"
            rb"build failed)"),
    Dialect("esbuild", (b"[ERROR] ", b"[WARNING] "),
        (rb"(?:\xe2\x9c\x98|X|\xe2\x96\xb2|\xe2\x9a\xa0) \[(?P<severity>ERROR|WARNING)\] (?P<message>[^\n]+)(?:\n+ +"
            rb"(?P<path>[^:\s][^:\n]*)" + _AT_COLUMN + rb":)?",), summary=(rb"(?P<errors>\d+) errors?$",
        rb"(?P<warnings>\d+) warnings? and (?P<errors>\d+) errors?$", rb"(?P<warnings>\d+) warnings?$"),
        sign=rb"^(?:\xe2\x9c\x98|X|\xe2\x96\xb2) \[(?:ERROR|WARNING)\] ", more=rb"[ \t]|$"),
    Dialect("rollup", (b"[!] ",),
        (rb"\[!\] (?:\([^)\n]*\) )?(?P<message>\w*Error: [^\n]+)(?:\n(?:https?:[^\n]*\n)?(?P<path>[^\s(][^(\n]*?)"
            rb"(?: \((?P<line>\d+):(?P<col>\d+)\))?$)?",)),
    Dialect("vite", (b"error during build", b"\xe2\x95\xad\xe2\x94\x80["),
        (rb"\[(?P<code>[A-Z][A-Z_]+)\] (?P<message>[^\n]+)\n +\xe2\x95\xad\xe2\x94\x80\[ (?P<path>[^\n]+?)" + _AT_COLUMN + rb" \]",
        rb"error during build:\n(?!Build failed)(?P<message>[^\n]+)(?:\n(?:[^\n]*\n){0,3}?file: (?P<path>[^\n:]+)"
            rb"(?::(?P<line>\d+):(?P<col>\d+))?)?"), success=rb"\xe2\x9c\x93 built in ", sign=rb"^error during build|^vite v\d",
        more=rb"[^\n]|$"),
    Dialect("docker", (b"failed to solve", b"returned a non-zero code"), (rb"(?:ERROR: )?(?P<step>failed to solve): " + _REST,
        rb"(?P<message>The command '(?P<step>[^\n]+)' returned a non-zero code: \d+)"), more=rb"(?!)"),
]  # fmt: skip

# whatever else says path, line, column and severity
ANY_DIAGNOSTICS: List[Dialect] = [
    Dialect("diagnostics", (b"error", b"warning", b"Error", b"Warning"),
        (_AT_PATH + rb"\.\w{1,8})" + _AT_COLUMN + rb": (?P<severity>[Ee]rror|[Ww]arning|fatal error|ERROR|WARNING): " + _REST,
        _AT_PATH + rb"\.\w{1,8})\((?P<line>\d+)(?:,(?P<col>\d+))?\): (?P<severity>error|warning|fatal error) "
            rb"(?P<code>[A-Z]+\d+): " + _REST)),
    Dialect("diagnostics", (b".py:", b".pyi:"),
        (_CODED + _AT_PATH + rb"\.pyi?)" + _AT_COLUMN + rb": (?P<code>[A-Z]{1,4}\d{2,4}) " + _REST,), severity=_FLAKE),
]  # fmt: skip


# ── test runners other than pytest and unittest. One engine; what is particular to a runner is a row of a table. ──

RUNNERS_MARKERS = (b"\n",)  # the scan for what such reports hold is the engine's own
_RUNNER_ANCHORS = (b"FAIL", b"not ok ", b"failed", b"failing", b"ailures", b"panic", b"Failed", b"\xe2\x97\x8f ", b"\xe2\x9c\x96 ")
_BODY = 24 * KIB  # of the report of one failure, what is read
_BACK = 256 * KIB  # how far before a verdict the start of its test is looked for
_RUNNERS_TOLD = 60  # facts of one tool that get context
_DETAIL, _SUITES = 8, 9  # accounts that are none: lines that only add to others, and suites
_OWN = {"failed": 9.0, "error": 9.0, "suite": 4.0}  # value of a fact by its kind


class Runner:
    """A test runner's report, as data; every expression is one of bytes, tried at the start of a line.

    `match` are literals of which one occurs wherever the report does. `heads` find the line with which the report of one failure begins; `lists`
    are (what opens a list, one of its lines), an empty opening for lines that stand anywhere. All three name tests: `name` is the title, or `titles` over several lines (joined by `join`);
    `kind` is looked up in `kinds` (a kind of fact, "" for none), `location`, `message` and `file` may be given. Each list is an account of the same failures: that which agrees with
    the tool's own count is believed. `region` opens the part in which heads count, `end` closes it and the report of a failure. `closing` finds the tool's own counts:
    groups are their names, but of `tests`, `suites` and `counts` the text holds numbers with their names. `claims` are the counts of failing tests (one with "-" is taken off), `suite_claims` those
    of failing suites. `suites` finds lines that give the file or package of the tests below (with `under`, above): `suite` if it failed, `broken` if it could
    not run, `ok`. `opens` are literals that begin a test of a given name, for reports that stand above the verdict. `location` and `message` are looked
    for in a report. `success` finds what a passing run says; `sure` runners are known by their heads even when nothing closes the report. `read` is the
    function for a format that lines do not tell; `details` find lines that tell where or why a test failed that another line names. `after`: reports follow the closing counts. `shared`: heads that follow each other have one report. `leave` closes
    the region where that is not `end`. `nest` parts the names of a test and its subtests: one with failing subtests counts as a suite.
    `above` finds the lines between which a report stands that comes before its head.
    """

    __slots__ = ("name", "match", "heads", "lists", "closing", "claims", "suite_claims", "suites", "kinds", "region", "end", "location", "message",
                 "success", "notes", "opens", "join", "under", "sure", "after", "shared", "leave", "nest", "details", "above", "read")  # fmt: skip

    def __init__(self, name: str, match: Sequence[bytes], heads: Sequence[bytes] = (), lists: Sequence[Tuple[bytes, bytes]] = (), closing: Sequence[bytes] = (),
                 claims: Sequence[str] = ("failed",), suite_claims: Sequence[str] = (), suites: bytes = b"", kinds: Optional[Dict[bytes, str]] = None,
                 region: bytes = b"", end: bytes = b"", location: Sequence[bytes] = (), message: Sequence[bytes] = (), success: bytes = b"", notes: bytes = b"",
                 opens: Sequence[bytes] = (), join: bytes = b" ", under: bool = False, sure: bool = False, after: bool = False, shared: bool = False, leave: bytes = b"", nest: bytes = b"", details: Sequence[bytes] = (),
                 above: bytes = b"", read: Optional[Callable[[_Reading], Tuple[List[_Case], Dict[str, int]]]] = None) -> None:  # fmt: skip
        self.name, self.match, self.heads, self.lists, self.closing = name, match, heads, lists, closing
        self.claims, self.suite_claims, self.suites, self.kinds = claims, suite_claims, suites, kinds or {}
        self.region, self.end, self.location, self.message, self.success, self.notes = region, end, location, message, success, notes
        self.opens, self.join, self.under, self.sure, self.after, self.shared, self.leave, self.nest, self.details, self.above, self.read = opens, join, under, sure, after, shared, leave or end, nest, details, above, read


class _Case:
    """A line that names a failing test or suite; `account` numbers the list it stands in, `start` is the LF before it, `end` where its report ends."""

    __slots__ = ("kind", "name", "id", "file", "location", "message", "page", "start", "body", "end", "account", "top")

    def __init__(self, kind: str, name: bytes, page: _Reading, start: int, end: int, account: int = 0, file: bytes = b"", location: bytes = b"", message: bytes = b"") -> None:
        self.kind, self.name, self.page, self.start, self.body, self.end = kind, name, page, start, end, end
        self.account, self.file, self.location, self.message, self.id, self.top = account, file, location, message, b"", start


def _runner_pages(sources: Sequence[Source]) -> Tuple[List[_Reading], bool]:
    """What is read of an output, and whether parts were left out: of more than 8 MiB, the cells in which runners may say something."""
    readable = [source for source in sources if source.size and not is_binary(source)]
    if sum(source.size for source in readable) <= _READ_BYTES:
        return [_Reading(source, 1, source.read(0, source.size)) for source in readable], False
    worth: Dict[Tuple[int, int], float] = {}
    for number, source in enumerate(readable):
        last = (source.size - 1) // _CELLS
        for anchor in _RUNNER_ANCHORS:
            cells = _anchored_cells(source, anchor)
            for cell in cells:
                worth[number, cell] = worth.get((number, cell), 0.0) + 1.0 / len(cells)
        for cell in (0, last - 1, last):
            worth[number, max(cell, 0)] = 2.0
    chosen = sorted(worth, key=lambda key: (-worth[key], key))[: _READ_BYTES // _CELLS]
    return [_Reading(source, *_lines_of_span(source, span)) for source, span in _joined_cells(readable, sorted(chosen))], len(chosen) < len(worth)


def _group(m: Match[bytes], *names: str) -> bytes:
    """The first of these groups that an expression has and that took part."""
    for name in names:
        if name in m.re.groupindex and m.group(name):
            return m.group(name)
    return b""


class _Report:
    """All that one runner says in an output."""

    __slots__ = ("row", "pages", "cases", "closings", "told", "passed")

    def __init__(self, row: Runner, pages: Sequence[_Reading]) -> None:
        self.row, self.pages = row, pages
        self.cases: List[_Case] = []
        self.told: Dict[str, int] = {}
        self.closings: List[Tuple[_Reading, Match[bytes]]] = []
        self.passed: List[Tuple[_Reading, Match[bytes]]] = []
        for page in pages:
            own: Dict[int, Match[bytes]] = {}
            for expression in row.closing:
                for m in page.find(expression):
                    if any(m.groupdict().values()) and not any(start < m.end() and m.start() < other.end() for start, other in own.items()):
                        own[m.start()] = m
            self.closings += [(page, own[start]) for start in sorted(own)]
            self.passed += [(page, m) for m in page.find(row.success)] if row.success else []
            if row.read:
                cases, told = row.read(page)
                self.cases += cases
                for name, count in told.items():
                    self.told[name] = self.told.get(name, 0) + count
            else:
                self.cases += self.named(page)

    def named(self, page: _Reading) -> List[_Case]:
        """The tests and suites that a page names, in order, each with the extent of its report."""
        row, text = self.row, page.text
        found: List[_Case] = []
        for number, expression in enumerate(row.heads):
            own = [self.case(page, m, 0) for m in page.find(expression)]
            found += own if number else self.within_regions(page, own)
        heads = {case.start for case in found}
        for expression in row.details:
            found += [self.case(page, m, _DETAIL) for m in page.find(expression)]
        for account, (opening, item) in enumerate(row.lists, 1):
            if not opening:
                found += [self.case(page, m, account) for m in page.find(item) if m.start() not in heads]
            for m in page.find(opening) if opening else ():
                at = m.end()
                line = rx(b"(?m)\n(?:" + item + b")")
                one = line.match(text, at)
                while one:
                    found.append(self.case(page, one, account))
                    at = one.end()
                    one = line.match(text, at)
        marks = [(m.start(), m) for m in page.find(row.suites)] if row.suites else []
        self.give_files(page, found, marks)
        ends = sorted([case.start for case in found if not case.account] + [at for at, _ in marks] + [m.start() for p, m in self.closings if p is page]
                      + ([m.start() for m in page.find(row.end)] if row.end else []) + [len(text)])  # fmt: skip
        at = 0
        found.sort(key=lambda case: (case.start, case.account))
        for case in found:
            while ends[at] < max(case.body, case.start + 1):
                at += 1
            if not case.account:
                case.end = min(ends[at], case.body + _BODY)
        if row.above:
            self.look_above(page, found)
        for case, after in reversed(list(zip(found, found[1:]))) if row.shared else ():
            if case.end == after.start:
                case.body, case.end = after.body, after.end
        return [case for case in found if case.kind]

    def look_above(self, page: _Reading, cases: List[_Case]) -> None:
        """Give each test the report that stands above its verdict, up to the line before that ends another's."""
        from bisect import bisect_left

        marks = [m.start() for m in page.find(self.row.above)]
        for case in cases:
            before = bisect_left(marks, case.start) - 1
            if not case.account and case.name != case.file:
                case.end = case.start
                case.body = max(page.text.find(b"\n", marks[before] + 1), case.end - _BODY) if before >= 0 else case.end

    def case(self, page: _Reading, m: Match[bytes], account: int) -> _Case:
        """What a line names."""
        titles = _group(m, "titles")
        name = self.row.join.join(part.strip() for part in titles.split(b"\n")) if titles else _group(m, "name").strip()
        kind = self.row.kinds.get(_group(m, "kind"), "failed")
        case = _Case(kind, name, page, m.start(), m.end(), account, _group(m, "file"), _group(m, "location"), _group(m, "message").strip())
        case.id = _group(m, "id").strip()
        return case

    def within_regions(self, page: _Reading, cases: List[_Case]) -> List[_Case]:
        """Heads of the first sort, without those outside of the regions where failures are reported; the region may tell their kind."""
        from bisect import bisect_right

        row = self.row
        if not row.region:
            return cases
        marks = sorted([(m.start(), row.kinds.get(_group(m, "kind"), "failed")) for m in page.find(row.region)]
                       + [(m.start(), "") for m in (page.find(row.leave) if row.leave else ())])  # fmt: skip
        kept = []
        places = [at for at, _ in marks]
        for case in cases:
            at = bisect_right(places, case.start)
            if at and marks[at - 1][1]:
                case.kind = marks[at - 1][1] if row.kinds and case.kind == "failed" else case.kind
                kept.append(case)
        return kept

    def give_files(self, page: _Reading, cases: List[_Case], marks: List[Tuple[int, Match[bytes]]]) -> None:
        """Tell each test the file or package that a line above (or below) gives; such lines name facts themselves."""
        from bisect import bisect_right

        places = [at for at, _ in marks]
        for case in cases:
            near = bisect_right(places, case.start) - (0 if self.row.under else 1)
            if 0 <= near < len(marks) and not case.file:
                case.file = _group(marks[near][1], "suite", "ok", "broken")
            if not case.name:
                case.name, case.kind = case.file, "error"
        for at, m in marks:
            if _group(m, "suite", "broken"):
                cases.append(_Case("error" if _group(m, "broken") else "suite", _group(m, "suite", "broken"), page, at, m.end(), _SUITES, b"", b"", _group(m, "message")))

    # ── what is made of them ──

    def evidence(self, sampled: bool) -> Optional[Evidence]:
        """The evidence, each test once; None when this runner said nothing."""
        row = self.row
        closed = self.closings or self.told or self.passed
        if not closed and not (row.sure and self.cases):
            return None
        evidence = Evidence(row.name + "/v1")
        tests, suites = self.census(evidence)
        facts = [self.fact(case) for case in tests + suites]
        if not closed and not all(fact.location for fact in facts):
            return None
        files: Dict[bytes, Set[bytes]] = {}
        for case in tests:
            files.setdefault(case.name, set()).add(case.file)
        for fact, case in zip(facts, tests):
            if len(files[case.name]) > 1 and case.file:
                fact.identity = case.file + row.join + fact.identity
        evidence.facts = _distinct(facts)
        evidence.totals = {name.replace("_", " "): count for name, count in self.totals().items()}
        if "planned" in evidence.totals:
            evidence.unsure = "%d tests were planned, %d reported" % (evidence.totals["planned"], sum(self.told.values()) - evidence.totals["planned"])
        if sampled and not self.closings:
            evidence.unsure = evidence.unsure or "only the most promising %s were read" % human(_READ_BYTES)
        failing = any((_claimed(self.totals(), names) or 0) > 0 for names in (row.claims, row.suite_claims))
        evidence.outcome = "failed" if facts or failing else "passed"
        closings = self.closings or self.passed
        evidence.summary = next((page.quote(_counting(m), 9.0) for page, m in reversed(closings)), None)
        evidence.notes = [page.quote(m.start(), 8.0) for page in self.pages if row.notes for m in page.find(row.notes)][:4]
        _explain_tests(evidence.facts, {page.source.name: page.source for page in self.pages})
        evidence.span = self.spans()
        return evidence

    def totals(self, unit: int = -1) -> Dict[str, int]:
        """The tool's own counts, of one unit or of all."""
        totals = {} if self.closings else dict(self.told)
        for number, (_, m) in enumerate(self.closings):
            for name, text in m.groupdict().items() if unit in (-1, number) else ():
                counts = {name: int(text)} if text and text.isdigit() else _counts(text or b"", "suites " if name == "suites" else "")
                for label, count in counts.items():
                    totals[label] = totals.get(label, 0) + count
        return totals

    def census(self, evidence: Evidence) -> Tuple[List[_Case], List[_Case]]:
        """Failing tests and suites: of each run in the output, the account that agrees with the tool's own count. Sets what is claimed."""
        tests: List[_Case] = []
        suites: List[_Case] = []
        evidence.claimed = 0
        if self.row.nest:
            outer = {(case.file, case.name.rpartition(self.row.nest)[0]) for case in self.cases if self.row.nest in case.name}
            for case in self.cases:
                case.kind = "suite" if case.kind == "failed" and (case.file, case.name) in outer else case.kind
        for unit, cases in enumerate(self.units()):
            totals = self.totals(unit if len(self.closings) > 1 else -1)
            own = [case for case in cases if case.account != _SUITES and case.kind != "suite" and case.name != case.file]
            parts = [case for case in cases if case.account == _SUITES or case.kind == "suite" or case.name == case.file]
            claimed = _claimed(totals, self.row.claims)
            named = [case for case in own if case.account != _DETAIL]
            chosen = named if claimed is None else _account(named, claimed)
            if claimed is not None and claimed < len(_keys(chosen)):  # what nothing is said of, a test printed
                reported = [case for case in chosen if case.page.text[case.body : case.end].strip()]
                chosen = reported if len(_keys(reported)) == claimed else chosen
            once, often = len(_keys(chosen)), len(chosen) + len(parts if self.row.read else ())
            missing = max(0, (claimed or 0) - often)
            if claimed is not None and claimed < once:
                evidence.unsure = "the tool counts %d failing, the output names %d" % (claimed, once)
            missing += max(0, (_claimed(totals, self.row.suite_claims) or 0) - len(_keys(parts)))
            evidence.claimed += missing
            tests += _detailed(chosen, own)
            suites += _detailed(parts, parts)
        evidence.claimed += len(_keys(tests)) + len(_keys(suites))
        if not (self.closings or self.told) and self.row.closing and (tests or suites or not self.passed):
            evidence.claimed, evidence.unsure = -1, "the tool's own totals are missing"
        return tests, suites

    def units(self) -> List[List[_Case]]:
        """The cases of each run: those that the same closing counts count."""
        if len(self.closings) < 2:
            return [self.cases]
        from bisect import bisect_right

        units: List[List[_Case]] = [[] for _ in self.closings]
        own: Dict[int, List[Tuple[int, int]]] = {}
        for number, (page, m) in enumerate(self.closings):
            own.setdefault(id(page), []).append((m.start(), number))
        for case in self.cases:
            ends = own.get(id(case.page), [(0, 0)])
            at = bisect_right(ends, (case.start, len(units))) - (1 if self.row.after else 0)
            units[ends[max(0, min(at, len(ends) - 1))][1]].append(case)
        return units

    def fact(self, case: _Case) -> Fact:
        """A case as a fact: with what its report tells."""
        page, row = case.page, self.row
        start, end = case.body, case.end
        if row.opens and case.kind != "suite" and not page.text[start:end].strip():
            start, end = self.opened(case)
        body, message, at = page.text[start:end], case.message, -1
        if not message:
            for expression in tuple(row.message) + (rb"^[ \t]*(?P<message>\S[^\n]*)",):
                m = rx(b"(?m)" + expression).search(body)
                if m:
                    message, whole = m.group("message").strip(), rx(rb"[ \t]*(?:\n|$)").match(body, m.end("message"))
                    at = start + m.start("message") if whole else -1
                    break
        if b"\n" in message:  # said in two lines: the kind of error, then its words
            message, at = b" ".join(part.strip() for part in message.split(b"\n")), -1
        location = _frame(row.location, body) or case.location or (case.file if case.file != case.name else b"")
        first = page.line(min(case.start, start))
        quoted = page.line(at) if at >= 0 else 0
        last = page.line(max(start + len(body.rstrip()) - 1, case.start))
        return Fact(case.kind, case.id or case.name, location, message, page.source.name, first, max(first, last), quoted, _OWN[case.kind])

    def opened(self, case: _Case) -> Tuple[int, int]:
        """Where the report of a test stands that is printed before its verdict; nothing when it is not."""
        text = case.page.text
        for literal in self.row.opens:
            at = text.rfind(literal % case.name + b"\n", max(0, case.start - _BACK), case.start)
            if at >= 0:
                at += len(literal % case.name)
                end = text.find(b"\n" + literal[:3], at + 1, case.start)
                return at, case.start if end < 0 else end
        return case.end, case.end

    def spans(self) -> List[Tuple[str, int, int]]:
        """The part of each stream that belongs to this runner: of each run in it, from the first to the last line."""
        spans = []
        for page in self.pages:
            marks = [(c.top, c.end, False) for c in self.cases if c.page is page] + [(m.start(), m.end(), True) for p, m in self.closings if p is page]
            marks += [(m.start(), m.end(), False) for p, m in self.passed if p is page]
            marks += [(m.start(), m.end(), False) for m in page.find(self.row.suites)] if self.row.suites else []
            group: List[Tuple[int, int, bool]] = []
            told = len(page.text) - page.text.endswith(b"\n")  # behind the last LF no line begins
            for mark in sorted(marks) + [(len(page.text), 0, True)]:
                if group and (mark[0] == len(page.text) or (mark[2] if self.row.after else group[-1][2])):
                    spans.append((page.source.name, page.line(group[0][0]), page.line(min(max(end for _, end, _ in group), told) - 1)))
                    group = []
                group.append(mark)
        return _spans_of(spans)


def _counting(m: Match[bytes]) -> int:
    """Where the line of closing counts stands that tells of failures, else the first of them: the LF before it."""
    for name in ("failed", "tests", "counts", "failures"):
        if m.groupdict().get(name):
            return m.string.rfind(b"\n", 0, m.start(name))
    return m.start()


def _claimed(totals: Dict[str, int], names: Sequence[str]) -> Optional[int]:
    """The sum of some counts, those with "-" taken off; None when the tool gives none of them."""
    known = [-totals[name[1:]] if name.startswith("-") else totals[name] for name in names if name.lstrip("-") in totals]
    return sum(known) if known else None


def _counts(text: bytes, prefix: str) -> Dict[str, int]:
    """The counts of a line like `2 failed, 1 passed` or `Failures: 2, Errors: 1`."""
    counts: Dict[str, int] = {}
    if rx(rb"^[A-Za-z][^\d]*\d").search(text):
        pairs = [(m.group(1), m.group(2)) for m in rx(rb"([A-Za-z][A-Za-z ]*?)(?:[:=]| ) *(\d+)").finditer(text)]
    else:
        pairs = [(m.group(2), m.group(1)) for m in rx(rb"(\d+) +([A-Za-z]+)").finditer(text)]
    for name, count in pairs:
        label = prefix + name.decode("ascii").strip().lower()
        counts[label] = counts.get(label, 0) + int(count)
    return counts


def _keys(cases: Sequence[_Case]) -> Dict[Tuple[bytes, bytes], List[_Case]]:
    """Cases by what they name, each name once, in order."""
    keys: Dict[Tuple[bytes, bytes], List[_Case]] = {}
    for case in cases:
        keys.setdefault((case.id or case.name, case.file), []).append(case)
    return keys


def _account(cases: List[_Case], claimed: int) -> List[_Case]:
    """Of several accounts of the same failures, the first that names as many as the tool counts, else all of the fullest that names no more."""
    accounts: Dict[int, List[_Case]] = {}
    for case in cases:
        accounts.setdefault(case.account, []).append(case)
    ranked = [accounts[number] for number in sorted(accounts)]
    for account in ranked:
        if len(_keys(account)) == claimed:
            return account
    fitting = [account for account in ranked if len(_keys(account)) <= claimed] or ranked[:1] or [[]]
    return max(fitting, key=lambda account: len(_keys(account)))


def _detailed(chosen: Sequence[_Case], all_cases: Sequence[_Case]) -> List[_Case]:
    """Each chosen test once: as its own report names it where there is one, with what the other lines add."""
    others: Dict[bytes, List[_Case]] = {}
    for case in all_cases:
        others.setdefault(case.name, []).append(case)
    out = []
    for (_, file), same in _keys(chosen).items():
        same = same + [case for case in others[same[0].name] if not (file and case.file and case.file != file) and (not same[0].id or case.id in (b"", same[0].id))]
        best = min(same, key=lambda case: (not case.page.text[case.body : case.end].strip(), case.account))
        for case in same:
            best.kind = "error" if "error" in (case.kind, best.kind) else best.kind
            best.location = best.location or case.location
            best.file, best.id = best.file or case.file, best.id or case.id
            best.message = best.message or (case.message if not best.page.text[best.body : best.end].strip() else b"")
        out.append(best)
    return out


def _distinct(facts: Sequence[Fact]) -> List[Fact]:
    """Each identity once; where two tests of one name are apart, the file says which."""
    once: Dict[Tuple[bytes, bytes], Fact] = {}
    for fact in facts:
        once.setdefault((fact.identity, fact.location), fact)
    return list(once.values())


def _frame(expressions: Sequence[bytes], body: bytes) -> bytes:
    """The first place that a report names in the user's own code, else none."""
    for expression in expressions:
        for m in rx(b"(?m)" + expression).finditer(body):
            place = _group(m, "location")
            if m.groupdict().get("line"):
                place += b":" + m.group("line")
            if place and not rx(_LIBRARY).search(place) and not rx(rb"^(?:node:|internal/|native|<|java/)").match(place):
                return place
    return b""


def _explain_tests(facts: Sequence[Fact], sources: Dict[str, Source]) -> None:
    """Quote what explains the foremost facts: what was expected and got first, the user's frames before a library's, source least."""
    for fact in [fact for fact in facts if fact.kind != "suite"][:_RUNNERS_TOLD]:
        last = min(fact.last, max(fact.first, fact.quoted) + 24)
        rows = sources[fact.stream].slice(fact.first, last).split(b"\n") if last > fact.first else []
        for number, raw in enumerate(rows[: last - fact.first + 1], fact.first):
            text = normal(raw)
            if number <= max(fact.first, fact.quoted) or not text.strip():
                continue
            if rx(_LIBRARY).search(text) or b"node:" in text or not rx(rb"\w").search(text):
                continue
            value = 6.0 if rx(_NEAR).match(text) else 2.5 if rx(_FRAME).match(text) or rx(_EXCERPT).match(text) else 3.5
            fact.context.append(Quote(fact.stream, number, raw, value - 0.05 * (number - max(fact.first, fact.quoted))))


def parse_runners(sources: List[Source], status: Optional[int], rows: Sequence[Runner] = ()) -> List[Evidence]:
    """What test runners report: the evidence of each that is known by its output, whatever the status.

    Failing tests are facts, each once, spelt as the runner prints them; its own totals confirm that none is missing or made up.
    """
    pages, sampled = _runner_pages(sources)
    found: List[Evidence] = []
    loose: List[Evidence] = []
    for row in rows or RUNNERS:
        if any(literal in page.text for page in pages for literal in row.match):
            report = _Report(row, pages)
            evidence = report.evidence(sampled)
            if evidence:
                (found if report.closings or report.told or report.passed else loose).append(evidence)
    spans = [span for evidence in found for span in evidence.span]
    return found + [evidence for evidence in loose if not all(any(_inside(own, span) for span in spans) for own in evidence.span)]


def _inside(own: Tuple[str, int, int], span: Tuple[str, int, int]) -> bool:
    """Whether one span of lines begins within another: then a test printed it."""
    return own[0] == span[0] and span[1] <= own[1] <= span[2]


# ── formats that lines do not tell ──


def _read_tap(page: _Reading) -> Tuple[List[_Case], Dict[str, int]]:
    """TAP, nested as node nests it, a test's own subtests above it, or as node-tap and vitest do, between braces below it; further in.

    Source: testanything.org, versions 13 and 14.
    """
    text = page.text
    cases: List[_Case] = []
    above: List[Tuple[int, _Case]] = []
    around: List[Tuple[int, bytes, Optional[_Case]]] = []
    told = {"passed": 0, "failed": 0, "skipped": 0, "todo": 0}
    plan = [int(m.group(1)) for m in page.find(rb"1\.\.(\d+)(?: |$)")]
    if not plan:
        return [], {}
    braced = rx(rb"\n *(?:not )?ok [^\n]* \{\n").search(text) is not None
    line = rb"(?P<indent> *)(?P<kind>not ok|ok)(?: (?P<number>\d+))?(?: +- +| +|$)(?P<name>[^\n]*?)(?: in \d+ms)?(?: +# ?(?P<tag>(?:[Ss][Kk][Ii][Pp]|[Tt][Oo][Dd][Oo]|time=)[^\n]*))?(?: \{)?$"
    for m in page.find(line):
        if cases and m.start() < cases[-1].end:
            continue  # part of the diagnostics
        depth, tag = len(m.group("indent")), (m.group("tag") or b"").lower()[:4]
        name = m.group("name").replace(b"\\#", b"#") or b"%s %s" % (m.group("kind"), m.group("number") or b"")
        while around and around[-1][0] >= depth:
            around.pop()
        under = [case for at, case in above if at > depth and not braced]
        above = [(at, case) for at, case in above if at <= depth]
        for case in under:
            case.name = name + b" " + case.name
        failed = m.group("kind") == b"not ok" and tag not in (b"skip", b"todo")
        if not depth:
            told["skipped" if tag == b"skip" else "todo" if tag == b"todo" else "failed" if failed else "passed"] += 1
        if failed:
            case = _Case("suite" if under else "failed", b" ".join([outer for _, outer, _ in around] + [name]), page, m.start(), m.end())
            case.end = _yaml_end(text, m.end(), depth)
            cases.append(case)
            above.append((depth, case))
            for _, _, parent in around:
                if parent:
                    parent.kind = "suite"
        above += [(depth, case) for case in under]
        if m.group().endswith(b" {"):  # its subtests stand below it
            around.append((depth, name, case if failed else None))
    if sum(plan) != sum(told.values()):
        told["planned"] = sum(plan)
    return cases, told if len(told) < 5 or cases else {}


def _yaml_end(text: bytes, at: int, depth: int) -> int:
    """Where the diagnostics below a line of TAP end: a block of YAML, comments, or lines that stand further in."""
    margin = b" " * depth
    m = rx(rb"\n%s  ---[^\n]*\n(?:(?!%s  \.\.\.)[^\n]*\n){0,400}%s  \.\.\.|(?:\n%s# [^\n]*)+|(?:\n%s  (?! *(?:not )?ok |---)[^\n]+){1,400}" % ((margin,) * 5)).match(text, at)
    return m.end() if m else at


def _read_node(page: _Reading) -> Tuple[List[_Case], Dict[str, int]]:
    """The tree that node --test prints: a test's own subtests stand above it, further in; the list below it says where each is."""
    text = page.text
    cases: List[_Case] = []
    below: List[Tuple[int, _Case]] = []
    places: Dict[bytes, List[Tuple[bytes, int, int, int]]] = {}
    listed = list(page.find(rb"test at (?P<location>[^\n]*:\d+:\d+)\n\xe2\x9c\x96 (?P<name>[^\n]*?)(?: \([\d.]+ms\))?(?: #[^\n]*)?$"))
    ends = [m.start() for m in listed[1:]] + [len(text)]
    for m, end in zip(listed, ends):
        places.setdefault(m.group("name"), []).append((m.group("location"), m.start(), m.end(), min(end, m.end() + _BODY)))
    line = rb"(?P<indent> *)(?P<mark>\xe2\x9c\x96|\xe2\x96\xb6|\xe2\x9c\x94) (?P<name>[^\n]*?) \([\d.]+ms\)(?: #[^\n]*)?$"
    taken = {text.find(b"\n", m.start() + 1) for m in listed}
    for m in page.find(line):
        depth = len(m.group("indent"))
        under = [case for at, case in below if at > depth]
        below = [(at, case) for at, case in below if at <= depth]
        if m.start() in taken or m.group("mark") != b"\xe2\x9c\x96":
            continue
        name = m.group("name")
        case = _Case("suite" if under else "failed", name, page, m.start(), m.end())
        if not under and places.get(name):
            case.location, case.start, case.body, case.end = places[name].pop(0)
        elif not under and listed:
            continue  # printed by a test
        for child in under:
            child.name = name + b" " + child.name
        cases.append(case)
        below += [(depth, child) for child in under] + [(depth, case)]
    return cases, {}


def _read_go_json(page: _Reading) -> Tuple[List[_Case], Dict[str, int]]:
    """The events of `go test -json`. Source: go doc cmd/test2json."""
    import json

    output: Dict[Tuple[str, str], List[Tuple[int, str]]] = {}
    cases, told, seen = [], {"pass": 0, "fail": 0, "skip": 0}, set()
    for m in page.find(rb"\{\"(?:Time|Action|ImportPath)\":[^\n]*\}$"):
        try:
            event = json.loads(m.group())
        except ValueError:
            continue
        action, package, test = (str(event.get(key, "")) for key in ("Action", "Package", "Test"))
        key = package or str(event.get("ImportPath", "")), test
        if action in ("output", "build-output"):
            output.setdefault(key, []).append((m.start(), str(event.get("Output", ""))))
        if action in ("pass", "fail", "skip") and (test or action == "fail") and (key, action) not in seen:
            seen.add((key, action))
            told[action] += bool(test)
        elif action != "build-fail":
            continue
        if action in ("fail", "build-fail"):
            lines = [(at, text) for at, text in output.get(key, ()) if not text.lstrip().startswith(("===", "---", "FAIL", "exit status")) and text.strip()]
            case = _Case("failed" if test else "suite" if action == "fail" else "error", (test or key[0]).encode(), page, m.start(), m.start(), file=package.encode())
            place = next((found for found in (rx(rb"^ *(\S+\.go:\d+(?::\d+)?): (.*)").match(text.encode()) for _, text in lines) if found), None)
            first = [text.strip().encode() for _, text in lines if test or action != "fail"][:1]
            case.location, case.message = (place.group(1), place.group(2)) if place else (package.encode() if test else b"", first[0] if first else b"")
            case.start = case.top = lines[0][0] if lines else m.start()
            case.end = case.body = lines[-1][0] + 1 if lines else m.end()
            cases.append(case)
    return cases, {name: count for name, count in told.items() if sum(told.values())}


# ── what is particular to each runner ──

_JS_FRAME = rb"^ +at (?:[^\n]*?\()?(?P<location>(?:file://)?[^\s()][^\n()]*?:\d+:\d+)\)?$"
_NODE_COUNTS = tuple(
    b"".join(rb"(?:%s %s (?P<%s>\d+)\n)?" % (mark, name, name) if name == b"suites" else rb"%s %s (?P<%s>\d+)\n" % (mark, name, name) for name in (b"tests", b"suites", b"pass", b"fail", b"cancelled", b"skipped", b"todo"))
    for mark in (b"\xe2\x84\xb9", b"#")
)

_GTEST_RAN = (
    rb"\[==========\] (?P<tests_ran>\d+) tests? from \d+ test (?:suites?|cases?) ran\.[^\n]*\n\[  PASSED  \] (?P<passed>\d+) tests?\."
    rb"(?:\n\[  SKIPPED \] (?P<skipped>\d+) tests?[^\n]*)?(?:\n\[  SKIPPED \][^\n]*)*(?:\n\[  FAILED  \] (?P<failed>\d+) tests?, listed)?"
)

RUNNERS: List[Runner] = [
    Runner(
        "jest", (b"\nTest Suites: ",),
        heads=(rb"  \xe2\x97\x8f (?!Console$|Test suite failed to run$)(?P<name>\S[^\n]*)\n$", rb"  \xe2\x97\x8f Test suite failed to run\n$"),
        closing=(rb"Test Suites: (?P<suites>[^\n]*)\nTests: +(?P<tests>[^\n]*)(?:\n(?:Snapshots|Time): [^\n]*)*(?:\nRan all test suites[^\n]*)?",),
        suite_claims=("suites failed",),
        suites=rb" ?(?:FAIL +(?P<suite>[^\n]*?)|PASS +(?P<ok>[^\n]*?))(?: \([\d.]+ m?s\))?$",
        join=b" \xe2\x80\xba ", end=rb"(?:Snapshot Summary$|Summary of all failing tests$|Test Suites: | \xe2\x80\xba )",
        location=(_JS_FRAME,), message=(rb"Details:\n\n +(?P<message>\S[^\n]*)",),
        notes=rb"Jest: [^\n]* coverage threshold [^\n]*|Jest did not exit [^\n]*",
    ),
    Runner(
        "vitest", (b"Test Files  ",),
        heads=(rb" FAIL  (?:\|[^|\n]*\| )?(?:(?P<file>[^\n]+?) \[ [^\n]* \]|(?P<name>[^\n]* > [^\n]*?))$",),
        region=rb"(?:\xe2\x8e\xaf)+ ?Failed (?:Tests|Suites|Benchmarks|Type\w*) \d+ ?\xe2\x8e\xaf", leave=rb" *Test Files  ", shared=True,
        closing=(rb" *Test Files  (?P<suites>[^\n]*)\n(?: *Tests  (?P<tests>[^\n]*))?(?:\n *(?:Type Errors|Errors|Start at|Duration)  [^\n]*)*",),
        end=rb"(?:\xe2\x8e\xaf){3}|(?: *Test Files  )",
        location=(rb"^ \xe2\x9d\xaf (?:[^\n]* )?(?P<location>\S+:\d+:\d+)$",),
        notes=rb" *Errors  \d+ error[^\n]*|[^\n]*Unhandled Rejection[^\n]*",
    ),
    Runner(
        "mocha", (b" passing (", b" failing\n"),
        heads=(rb"  \d+\) (?P<titles>[^\n]*(?:\n {7,}[^\n]+)*?):$(?=\n(?! {7}))",),
        closing=(rb"  (?P<passing>\d+) passing \([^\n]*\)$(?:\n  (?P<pending>\d+) pending)?(?:\n  (?P<failing>\d+) failing)?",),
        claims=("failing",), region=rb"  \d+ failing$", end=rb"  \d+ passing \(", after=True, location=(_JS_FRAME,),
    ),
    Runner(
        "ava", (b"\xe2\x94\x80\n\n  ",),
        heads=(rb"(?:(?<=\n\n\n\n)|(?<=\xe2\x94\x80\n\n))  (?P<name>\S[^\n]*)\n$(?=\n  (?!\xe2\x9c|- )\S)", rb"  (?:Uncaught exception|Unhandled rejection) in (?P<file>\S[^\n]*)$"),
        closing=(rb"(?<=\xe2\x94\x80\n\n)(?=  \d+ (?:tests? (?:failed|passed)|hooks? failed|uncaught exception|unhandled rejection))(?:  (?P<hooks_failed>\d+) hooks? failed\n?)?"
                 rb"(?:  (?P<failed>\d+) tests? failed\n?)?(?:  (?P<passed>\d+) tests? passed\n?)?(?:  (?P<known>\d+) known failures?\n?)?(?:  (?P<skipped>\d+) tests? skipped\n?)?"
                 rb"(?:  (?P<todo>\d+) tests? todo\n?)?(?:  (?P<unhandled>\d+) unhandled rejections?\n?)?(?:  (?P<uncaught>\d+) uncaught exceptions?\n?)?",),
        claims=("failed", "hooks_failed"), suite_claims=("uncaught", "unhandled"), region=rb"  \xe2\x94\x80$", end=rb"  \xe2\x94\x80$|  \xe2\x9c\x98 ", leave=rb"  \d+ (?:tests?|hooks?) (?:failed|passed)$",
        location=(rb"^ +\xe2\x80\xba (?:[^\n]* \()?(?P<location>[^\s()]+:\d+:\d+)\)?$", _JS_FRAME, rb"^  (?P<location>\S+\.\w+:\d+)$"),
        message=(rb"^  (?P<message>\w*Error: [^\n]+)", rb"^  (?P<message>(?:Difference|Value|Error thrown|Rejected)[^\n]*)"),
    ),
    Runner(
        "jasmine", (b" specs, ", b" spec, "),
        heads=(rb"\d+\) (?P<name>\S[^\n]*)$(?=\n  Message:$)", rb"(?P<kind>Suite error): (?P<name>[^\n]+)$"),
        closing=(rb"(?P<specs>\d+) specs?, (?P<failures>\d+) failures?(?:, (?P<pending>\d+) pending specs?)?(?:\nRandomized[^\n]*)?\nFinished in [\d.]+ seconds?",),
        claims=("failures",), kinds={b"Suite error": "error"}, region=rb"Failures:$", end=rb"(?:Pending:|\d+ specs?, )", location=(_JS_FRAME,), message=(rb"^  Message:\n +(?P<message>[^\n]+)",),
    ),
    Runner(
        "bun-test", (b"\nRan ", b"(fail) "),
        heads=(rb"(?:\(fail\)|\xe2\x9c\x97) (?P<name>[^\n]*?)(?: \[[\d.]+m?s\])?$", rb"# Unhandled error between tests$"),
        closing=(rb" *(?P<pass>\d+) pass\n(?: *(?P<skip>\d+) skip\n)?(?: *(?P<todo>\d+) todo\n)?(?: *(?P<filtered>\d+) filtered out\n)? *(?P<fail>\d+) fail\n(?: *(?P<error>\d+) errors?\n)?(?: *\d+ (?:snapshots?|expect\(\))[^\n]*\n)*Ran \d+ tests? across \d+ files?\.[^\n]*",),
        claims=("fail", "-error"), suite_claims=("error",), suites=rb"(?P<ok>(?!\()[^\s:][^\n:]*\.[cm]?[jt]sx?):$", end=rb" *\d+ pass$|\d+ tests? (?:failed|skipped|todo):$", above=rb"(?:\((?:pass|fail|skip|todo)\)|\xe2\x9c\x93|\xe2\x9c\x97|\xc2\xbb|\xe2\x9c\x8e) |(?!\()[^\s:][^\n:]*\.[cm]?[jt]sx?:$|-{20,}$",
        location=(rb"^ +at (?:[^\n]*\()?(?P<location>[^\s()]+:\d+:\d+)\)?$",), message=(rb"^(?P<message>(?:\w*[Ee]rror|AssertionError|\w+Exception)(?: \[[^\]\n]*\])?: [^\n]+)", rb"^(?P<message>error: [^\n]+)"),
    ),
    Runner(
        "deno-test", (b" passed", b"running "),
        heads=(rb"(?P<name>\S[^\n]*?) => (?P<location>\S+:\d+:\d+)\n(?=error: )", rb"(?P<name>\S+) \(uncaught error\)$"),
        lists=((rb" FAILURES \n", rb"(?P<name>\S[^\n]*?) => (?P<location>\S+:\d+:\d+)$"),),
        closing=(rb"(?:ok|FAILED) \| (?P<passed>\d+) passed(?: \(\d+ steps?\))? \| (?P<failed>\d+) failed(?: \((?P<failed_steps>\d+) steps?\))?(?: \| (?P<ignored>\d+) ignored(?: \(\d+ steps?\))?)?[^\n]* \([\d.]+m?s\)$",),
        nest=b" ... ", region=rb" ERRORS $", leave=rb" FAILURES $", end=rb" (?:ERRORS|FAILURES) $|(?:ok|FAILED) \| \d+ passed|running \d+ tests? from ", location=(rb"^ +at (?:[^\n]*\()?(?P<location>[^\s()]+:\d+:\d+)\)?$",),
        message=(rb"^error: (?P<message>[^\n]+)",),
    ),
    Runner(
        "exunit", (b" tests, ", b" test, "),
        heads=(rb" *\d+\) (?P<name>[^\s:][^\n]* \([\w.]+\))\n +(?P<location>\S+:\d+)$", rb" +\d+\) (?P<name>[\w.]+): (?P<kind>failure on setup_all) callback[^\n]*$"),
        closing=(rb"Finished in [\d.]+ seconds[^\n]*\n(?:\d+ (?:doctests?|propert(?:y|ies)|features?), )*(?P<tests_run>\d+) tests?, (?P<failures>\d+) failures?(?:, (?P<excluded>\d+) excluded)?(?:, (?P<invalid>\d+) invalid)?(?:, (?P<skipped>\d+) skipped)?$(?=\n(?:\n?Randomized|\n?$|\Z))",),
        claims=("failures",), kinds={b"failure on setup_all": "suite"}, end=rb" {0,4}\S",
        location=(rb"^ {7,}(?:\([^)\n]*\) )?(?!lib/ex_unit)(?P<location>(?:test|lib|apps)/[^\s:]+:\d+)",),
        message=(rb"^ +\*\* (?P<message>\([^\n]+)", rb"^ {5}(?P<message>(?!code:|stacktrace:)[^\s:]+ [^\n]+)$"),
    ),
    Runner("node-test", (b"\xe2\x84\xb9 tests ",), closing=_NODE_COUNTS[:1], claims=("fail", "cancelled"), read=_read_node, location=(), after=True),
    Runner("tap", (b"ok ",), closing=_NODE_COUNTS[1:], claims=("fail", "cancelled"), read=_read_tap,
           location=(_JS_FRAME, rb"at: [^\n(]*\((?P<location>[^\s()]+:\d+:\d+)\)", rb"(?:location|at|file): '?\"?(?P<location>[^\s'\"]+:\d+(?::\d+)?)", rb"in test file (?P<location>[^\n]*?), line (?P<line>\d+)", rb"fileName: \"?(?P<location>[^\s\"]+)\"?\n(?:[^\n]*\n)?\s*lineNumber: (?P<line>\d+)"),
           message=(rb"^ *error: \|-\n\s*(?P<message>[^\n]+)", rb"^ *message: \|\n(?: *\(in [^\n]*\n)? *(?P<message>[^\n]+)", rb"^ *(?:error|message): (?!''$|\"\"$)(?P<message>[^\n]+)$", rb"^# +(?P<message>`[^\n]*)",
                    rb"^ *(?P<message>(?:expected|wanted): [^\n]+)", rb"^ +(?P<message>(?!---)[^\n]+)")),
    Runner("go-test", (b"--- FAIL: ", b"FAIL\t", b"ok  \t", b"panic: "),
           heads=(rb" *--- FAIL: (?P<name>\S+) \([\d.]+s\)$",), join=b".", nest=b"/",
           lists=((rb"\t?running tests:$", rb"\t+(?P<name>\S+) \("), (b"", rb"[\w./-]+\.(?P<name>(?:Test|Example|Fuzz|Benchmark)\w*)\([^\n]*\)\n\t(?P<location>\S+:\d+)[^\n]*\ntesting\.tRunner\(")),
           suites=rb"(?:FAIL\t(?P<suite>\S+)\t[\d.]+s|FAIL\t(?P<broken>\S+) \[(?P<message>[a-z ]+)\]|ok  \t(?P<ok>\S+)\t[^\n]*|\?   \t(?P<none>\S+)\t[^\n]*)$", under=True, sure=True,
           success=rb"(?:ok  \t\S+\t(?:[\d.]+s|\(cached\))[^\n]*|FAIL\t\S+\t[\d.]+s|FAIL\t\S+ \[[a-z ]+\])$", end=rb"(?:FAIL|PASS|ok  \t[^\n]*|exit status \d+)$|=== | *--- (?:PASS|SKIP): ",
           location=(rb"^ +(?P<location>\S+\.go:\d+): ", rb"^\t(?P<location>\S+\.go:\d+)"), message=(rb"^ +\S+\.go:\d+: (?P<message>[^\n]*)", rb"^(?P<message>panic: [^\n]*)"),
           opens=(b"=== NAME  %s", b"=== RUN   %s"), notes=rb"panic: test timed out[^\n]*"),
    Runner("go-json", (b"\"Action\":\"",), claims=("fail",), join=b".", nest=b"/", read=_read_go_json),
    Runner(
        "cargo-test", (b"\ntest result: ",),
        heads=(rb"---- (?P<name>[^\n]+?) (?:stdout|stderr) ----$",),
        lists=((b"", rb"test (?P<name>[^\n]+?)(?: - should panic)? \.\.\. FAILED$"), (rb"failures:(?=\n    \S)", rb"    (?P<name>\S[^\n]*)$")),
        closing=(rb"test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored; (?P<measured>\d+) measured; (?P<filtered_out>\d+) filtered out",),
        end=rb"failures:\n(?: {4}[^\n]*\n)+\ntest result: FAILED\. \d+ passed; \d+ failed; \d+ ignored",
        details=(rb"thread '(?P<name>[^'\n]+)'(?: \(\d+\))? panicked at (?P<location>[^\s:']+:\d+:\d+):\n(?P<message>[^\n]+)",),
        location=(rb"panicked at (?:'[^\n]*', )?(?P<location>[^\s:'][^\n:']*:\d+:\d+)", rb"^ *--> (?P<location>\S+:\d+:\d+)"),
        message=(rb"panicked at '(?P<message>[^\n]*)', \S+$", rb"panicked at [^\n]*:\n(?P<message>[^\n]+)", rb"^(?P<message>error(?:\[\w+\])?: [^\n]*)", rb"^(?P<message>Error: [^\n]*)"),
    ),
    Runner(
        "nextest", (b" tests run: ",),
        heads=(rb" *(?:FAIL|TIMEOUT|SIG[A-Z]+|ABORT|LEAK-FAIL|(?:TRY \d+ )?(?:FAIL|FLKY-FL)) \[[^\]\n]*\](?: \( *\d+/\d+\))? (?P<name>\S[^\n]*)$", ),
        closing=(rb" *Summary \[[^\]\n]*\] (?P<run>\d+)(?:/\d+)? tests? run: (?P<counts>[^\n]*)",),
        claims=("failed", "timed", "exec"), end=rb" *(?:Summary|PASS|Canceling|Cancelling) |(?:\xe2\x94\x80){3}",
        location=(rb"panicked at (?:'[^\n]*', )?(?P<location>[^\s:'][^\n:']*:\d+:\d+)",),
        message=(rb"panicked at '(?P<message>[^\n]*)', \S+$", rb"panicked at [^\n]*:\n(?P<message>[^\n]+)", rb"^ *(?P<message>Error: [^\n]*)", rb"^ *(?P<message>note: test did not panic[^\n]*)"),
    ),
    Runner(
        "ctest", (b" tests passed, ", b"test passed, "),
        heads=(rb" *\d+/\d+ Test +#\d+: (?P<name>[^\n]*?) \.{2,}[ .]*\*\*\*(?P<message>[^\n]*?) +[\d.]+ sec$", rb" *\d+/\d+ Test +#\d+: (?P<name>[^\n]*?) \.{2,} *(?P<kind>Passed) +[\d.]+ sec$"),
        lists=((rb"The following tests FAILED:$", rb"\t *\d+ - (?P<name>[^\n]*) \((?P<message>(?P<kind>[^()\n]*))\)(?: [^\n]*)?$"),),
        closing=(rb"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)",),
        kinds={b"Not Run": "error", b"Passed": "", b"Disabled": ""}, end=rb" *(?:Start +\d+: |\d+/\d+ Test )|\d+% tests passed",
        location=(rb"^(?P<location>\S+\.\w+:\d+): ",), message=(rb"^(?P<message>[^\n]*\b(?:[Ee]rror|[Ff]ailure|FAIL|[Aa]ssert)[^\n]*)",),
    ),
    Runner(
        "gtest", (b"[==========] ",),
        heads=(rb"\[ RUN      \] (?P<name>\S+)\n(?=(?:(?!\[ RUN      \] )[^\n]*\n)*?\[  FAILED  \] (?P=name)[ ,(])",),
        lists=((rb"\[  FAILED  \] \d+ tests?, listed below:$", rb"\[  FAILED  \] (?P<name>\S+?)(?:, where [^\n]*)?$"), (b"", rb"\[  FAILED  \] (?P<name>\S+?)(?:, where [^\n]*)? \(\d+ ms\)$")),
        closing=(rb"\[==========\] Running \d+ tests?[^\n]*\n(?:(?!\[==========\] )[^\n]*\n)*" + _GTEST_RAN, _GTEST_RAN), claims=("tests_ran", "-passed", "-skipped"),
        end=rb"\[  FAILED  \] |\[ RUN ", location=(rb"^(?P<location>[^\s:][^\n:]*:\d+): (?:Failure|error)", rb"^(?P<location>[^\s(][^\n(]*)\((?P<line>\d+)\): (?:error|Failure)"),
        message=(rb"(?:: Failure|error: [^\n]*)\n(?P<message>[^\n]+)", rb"^(?P<message>unknown file[^\n]*|C\+\+ exception [^\n]*)"), after=True,
    ),
    Runner(
        "rspec", (b" examples, ", b" example, "),
        heads=(rb"  \d+\) (?P<name>\S[^\n]*)$", rb"An error occurred (?P<kind>while loading) (?P<name>\S+?)\.(?: - Did[^\n]*)?$"),
        lists=((rb"Failed examples:\n$", rb"rspec (?P<id>[^\n#]*? # (?P<name>[^\n]*))$"),),
        closing=(rb"Finished in [^\n]*\n(?P<examples>\d+) examples?, (?P<failures>\d+) failures?(?:, (?P<pending>\d+) pending)?(?:, (?P<errors>\d+) errors? occurred outside of examples)?",),
        claims=("failures", "errors"), region=rb"Failures:$", end=rb"(?:Finished in |Pending:|Failed examples:|Top \d+ )", kinds={b"while loading": "error"},
        location=(rb"^ *# (?P<location>\S+:\d+):in ", rb"^ *# (?P<location>\S+:\d+)"),
        message=(rb"Failure/Error: [^\n]*\n(?: {9,}[^\n]*\n)*\s*\n(?P<message> *[A-Z]\w*(?:::\w+)*:\n[^\n]+)", rb"Failure/Error: [^\n]*\n(?: {9,}[^\n]*\n)*\s*\n *(?P<message>[^\n]+)"),
    ),
    Runner(
        "minitest", (b" runs, ", b" tests, "),
        heads=(rb" +\d+\) (?P<kind>Failure|Error|Skipped):\n(?P<name>\S+?#[^\n]+?)(?: \[(?P<location>[^\n\]]*)\])?:$", rb"(?P<kind>Failure|Error):\n(?P<name>\S+#\S+)(?: \[(?P<location>[^\n\]]*)\])?:$"),
        after=True,
        closing=(rb"Finished in [\d.]+s[^\n]*\n(?:(?!Finished in )[^\n]*\n)*?(?P<runs>\d+) (?:runs|tests), (?P<assertions>\d+) assertions, (?P<failures>\d+) failures, (?P<errors>\d+) errors, (?P<skips>\d+) skips",),
        claims=("failures", "errors"), region=rb"Finished in [\d.]+s", end=rb"\d+ (?:runs|tests), ", kinds={b"Skipped": "", b"Error": "failed"},
        location=(rb"^ {4}(?P<location>\S+:\d+):in ",),
    ),
    Runner(
        "phpunit", (b"PHPUnit ", b"\nOK (", b"Assertions: "),
        heads=(rb"\d+\) (?P<name>\S[^\n]*)$",), lists=((b"", rb" \xe2\x9c\x98 (?P<name>[^\n]+)\n   \xe2\x94\x82 *\n   \xe2\x94\x82 (?P<message>[^\n]*)$"),),
        closing=(rb"(?P<counts>Tests: \d+, Assertions: [^\n]*)\.$", rb"OK \((?P<tests_run>\d+) tests?, (?P<assertions>\d+) assertions?\)"), claims=("errors", "failures"),
        region=rb"There (?:was|were) \d+ (?P<kind>[\w ]+?)s?:$", end=rb"(?:FAILURES!|ERRORS!|WARNINGS!|OK[ ,(]|--$)",
        kinds={b"error": "failed", b"failure": "failed", b"warning": "", b"risky test": "", b"skipped test": "", b"incomplete test": "", b"PHPUnit error": "error",
               b"deprecation": "", b"notice": "", b"PHPUnit warning": "", b"PHPUnit deprecation": "", b"PHP warning": ""},
        location=(rb"^(?P<location>[^\s:][^\n]*\.php:\d+)$",),
    ),
    Runner(
        "bats", (b" \xe2\x9c\x97 ", b" \xe2\x9c\x93 "),
        heads=(rb"(?:[^\n]*?\d+/\d+)? \xe2\x9c\x97 (?P<name>[^\n]*?)(?:\[\d+\])?$",),
        closing=(rb"(?P<tests_run>\d+) tests?, (?P<failures>\d+) failures?(?:, (?P<skipped>\d+) skipped)?",), claims=("failures",), end=rb"[^\n]*\d+/\d+ | (?:\xe2\x9c\x93|\xe2\x9c\x97|-) ",
        location=(rb"in test file (?P<location>[^\n]*?), line (?P<line>\d+)",), message=(rb"^ +(?P<message>`[^\n]*)",),
    ),
    Runner(
        "playwright", (b"\n  1) ", b" passed ("),
        heads=(rb"  \d+\) (?P<name>(?:\[[^\]\n]*\] \xe2\x80\xba )?[^\s\[][^\n]*?:\d+:\d+ \xe2\x80\xba [^\n]*?)(?: (?:\xe2\x94\x80)+)?$",),
        lists=((rb"  \d+ (?:failed|interrupted)$", rb"    (?P<name>[^\n]*?:\d+:\d+ \xe2\x80\xba [^\n]*?)(?: (?:\xe2\x94\x80)+)?$"),),
        closing=(rb"(?=  \d+ (?:failed|flaky|passed|skipped|interrupted|did not run)\b)(?:  (?P<failed>\d+) failed\n(?: {4}[^\n]*\n)*)?(?:  (?P<interrupted>\d+) interrupted\n(?: {4}[^\n]*\n)*)?(?:  (?P<flaky>\d+) flaky\n(?: {4}[^\n]*\n)*)?"
                 rb"(?:  (?P<skipped>\d+) skipped\n)?(?:  (?P<did_not_run>\d+) did not run\n)?(?:  (?P<passed>\d+) passed \([^\n]*)?",),
        claims=("failed", "interrupted"), end=rb"  \d+ (?:failed|flaky|passed|interrupted|skipped)$|  \[\d+/\d+\]", location=(_JS_FRAME,),
    ),
    Runner(
        "surefire", (b"Tests run: ",),
        heads=(rb"\[ERROR\] (?:[\w.$]+\.)?(?P<name>\w[\w$]*\.\w[^\n]*?)(?:[({][^\n]*?)?(?:\[\d+\][^\n]*?)? (?:--|\xe2\x80\x94)? *Time elapsed: [^\n]*<<< (?:FAILURE|ERROR)!$",
               rb"(?P<name>[\w$]+\([\w.$]+\)) +Time elapsed: [^\n]*<<< (?:FAILURE|ERROR)!$"),
        lists=((rb"\[ERROR\] (?:Failures|Errors): *$", rb"\[ERROR\]   (?P<name>[\w$]+\.[\w$]+)(?:\([^\n]*?\))?(?P<line>:\d+)?(?:->[^\n:]*:\d+)*(?: (?:\xc2\xbb|>>)?(?P<message>[^\n]*))?$"),),
        closing=(rb"\[(?:ERROR|INFO|WARNING)\] (?:\x1b\S+)?(?P<counts>Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+)$", rb"\n(?P<counts>Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+)$(?=\n$)"), claims=("failures", "errors"),
        end=rb"\[(?:INFO|ERROR|WARNING)\]", location=(rb"^\tat (?!(?:app//)?(?:java|javax|jdk|sun|kotlin|scala|junit|org\.(?:junit|opentest4j|assertj|hamcrest|mockito|testng))[./])[^\n]*\((?P<location>\w+\.(?:java|kt|groovy|scala):\d+)\)",),
    ),
    Runner(
        "tox", (b" :(", b" :)", b"commands failed", b"commands succeeded"),
        heads=(rb"  (?P<name>\S[^:\n]*): (?P<message>FAIL(?: code -?\d+| \xe2\x9c\x96)?)[^\n]*$(?=(?:\n  [^\s:][^:\n]*: (?:OK|FAIL|SKIP|IGNORED)[^\n]*)*\n  evaluation failed :\()",
               rb"ERROR:   (?P<name>[^:\n]+): (?P<message>(?:commands failed|parallel child exit code|InvocationError|could not)[^\n]*)$"),
        end=rb"  evaluation", success=rb"(?:  evaluation failed :\(|  congratulations :\))",
    ),
    Runner("nox", (b"nox > ",), heads=(rb"nox > \* (?P<name>[^\n]+?): (?P<message>failed|aborted)$",), success=rb"nox > (?:Ran \d+ sessions:|Session [^\n]* (?:was successful|failed|aborted)[^\n]*)$"),
    # from here on from documented formats: these tools were not run
    Runner(
        "gradle-test", (b" FAILED\n", b"BUILD SUCCESSFUL in "), success=rb"(?:> Task )?:\S*[tT]est\n(?:[^\n]*\n){0,400}?BUILD SUCCESSFUL in [^\n]*",
        heads=(rb"(?P<name>[\w.$]+ > \S[^\n]*?) FAILED$",),
        closing=(rb"(?P<completed>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?$",), end=rb"(?:> Task |\d+ tests? completed|[\w.$]+ > |FAILURE: |Finished generating )",
        location=(rb"^ +(?:at |[\w.$]+(?:Error|Exception|Failure)\w*(?::[^\n]*)? at )(?:[^\n(]*\()?(?P<location>\w+\.(?:java|kt|groovy|scala):\d+)\)?",),
    ),
    Runner(
        "dotnet-test", (b" - Failed: ", b"Total tests: ", b"Passed!  - ", b"Failed!  - "),
        heads=(rb"  (?:X|Failed) (?P<name>\S[^\n]*?) \[[^\]\n]*\]$",),
        closing=(rb"(?:Failed|Passed)! +- (?P<counts>Failed: +\d+, Passed: +\d+, Skipped: +\d+, Total: +\d+)[^\n]*", rb"Total tests: (?P<total>\d+)\n(?: +Passed: (?P<passed>\d+)\n)?(?: +Failed: (?P<failed>\d+)\n)?"),
        end=rb"  (?:Passed|Skipped|Failed|X|V|!) \S|(?:Failed|Passed)! +- |Total tests: |Test Run |\[xUnit", location=(rb" in (?P<location>[^\n]*):line (?P<line>\d+)",),
        message=(rb"Error Message:\n +(?P<message>[^\n]+)",),
    ),
    Runner(
        "xctest", (b"Test Suite '", b"Executed "),
        heads=(rb"(?P<location>[^\s:][^\n:]*:\d+): error: (?:-\[)?(?P<name>[\w.]+[. ]\w+)\]? : (?P<message>[^\n]*)$",),
        lists=((b"", rb"Test Case '(?:-\[)?(?P<name>[\w.]+[. ]\w+)\]?' failed \([^\n]*"),),
        closing=(rb"Test Suite '(?:All tests|Selected tests)' (?:passed|failed) at [^\n]*\n[\t ]+Executed (?P<tests_run>\d+) tests?, with (?:(?P<skipped>\d+) tests? skipped and )?(?P<problems>\d+) failures? \((?P<unexpected>\d+) unexpected\)[^\n]*",),
        claims=(), end=rb"(?:Test Case|Test Suite) ", success=rb"Test Suite '(?:All tests|Selected tests)' passed",
    ),
    Runner(
        "swift-testing", (b"Test run with ",),
        heads=(rb"[^\n\w]{0,8}Test (?P<name>\S[^\n]*?) recorded an issue(?: with [^\n]*?)? at (?P<location>[^\n:]+:\d+:\d+): (?P<message>[^\n]*)$",),
        lists=((b"", rb"[^\n\w]{0,8}Test (?!run with)(?P<name>\S[^\n]*?) failed after [^\n]*"),),
        closing=(rb"[^\n\w]{0,8}Test run with (?P<tests_run>\d+) tests?(?: in \d+ suites?)? (?:failed|passed) after [^\n]*? with (?P<issues>\d+) issues?", rb"[^\n\w]{0,8}Test run with (?P<tests_run>\d+) tests?(?: in \d+ suites?)? passed[^\n]*"),
        claims=(), end=rb"[^\n\w]{0,8}(?:Test|Suite) ",
    ),
    Runner(
        "scalatest", (b"*** FAILED ***", b"Tests: succeeded "),
        heads=(rb"(?:\[info\] )? *- (?P<name>\S[^\n]*?) \*\*\* FAILED \*\*\*(?: \([^\n]*\))?$",),
        closing=(rb"(?:\[info\] )?Tests: (?P<counts>succeeded \d+, failed \d+, canceled \d+, ignored \d+, pending \d+)",),
        end=rb"(?:\[info\] )?(?: *- |\w[\w.]*:$|Run completed|Tests: |ScalaTest)", location=(rb"\((?P<location>\w+\.scala:\d+)\)",), message=(rb"^(?:\[info\])? +(?P<message>\S[^\n]*)",),
    ),
    Runner(
        "munit", (b"==> X ",), heads=(rb"(?:\[info\] |\[error\] )?==> X (?P<name>[^\n]*?) +[\d.]+s(?: (?P<message>[^\n]*))?$",),
        closing=(rb"\[(?:error|info)\] (?:Failed|Passed): (?P<counts>Total \d+, Failed \d+, Errors \d+, Passed \d+)",), claims=("failed", "errors"), end=rb"\[error\] (?:Failed|Passed): ",
        location=(rb"(?P<location>[^\s:]+\.scala:\d+)",),
    ),
]  # fmt: skip


# ── machine reports: what tools write for programs, found in an output. What differs between them is a row of a table. ──

_REPORT_BYTES = 4 * MIB  # of JSON that is taken apart
_BROKEN_DOCUMENTS = 200  # lines that begin like JSON and are none, before the search for documents is given up


class Records:
    """Test results as JSON, as data.

    `marks` are keys that only the object of one test has. A place is a key, a dot goes a level down, `|` parts alternatives, and
    what starts with ^ stands in the object around. `identity`, `status`, `location` (path, line, column) and `message` are places;
    `failing` maps a status to the kind of fact it makes, where "" stands for any status at all. An object that lists its tests
    under `holds` is told only when none of them failed. `counted` are keys of the object in which the tool counts, `totals` say
    where, by name; those in `claims` count failing tests. `frames` find a place in the message, `words` what it says, if not its
    first line.
    """

    __slots__ = ("name", "marks", "identity", "status", "failing", "location", "message", "holds", "counted", "totals", "claims", "frames", "words")

    def __init__(self, name: str, marks: Sequence[str], identity: str, status: str, failing: Dict[str, str], location: Sequence[str], message: str,
                 holds: str = "", counted: Sequence[str] = (), totals: Optional[Dict[str, str]] = None, claims: Sequence[str] = (),
                 frames: Sequence[bytes] = (), words: bytes = b"") -> None:  # fmt: skip
        self.name, self.marks, self.identity, self.status, self.failing = name, marks, identity, status, failing
        self.location, self.message, self.holds, self.counted, self.totals = location, message, holds, counted, totals or {}
        self.claims, self.frames, self.words = claims, frames, words

    def fact(self, item: Dict[str, Any], around: Any) -> Optional[Fact]:
        """What an object with these marks tells of a test that failed; None when it did not."""
        text = strip_ansi(_json_at(item, around, self.message)).strip()
        status = _json_at(item, around, self.status).decode("utf-8", "replace")
        kind = (self.failing.get(status) or self.failing.get("")) if status else None
        inner = item.get(self.holds)
        if not kind or (isinstance(inner, list) and any(_json_text(one, self.status).decode("utf-8", "replace") in self.failing for one in inner)):
            return None
        place = _frame(self.frames, text) or b":".join(filter(None, (_json_at(item, around, place) for place in self.location)))
        said = rx(b"(?m)" + self.words).search(text) if self.words else None
        message = said.group("message") if said else text.partition(b"\n")[0]
        identity = _json_at(item, around, self.identity)
        return Fact(kind, identity, place, message.strip(), value=_OWN[kind]) if identity else None


_PYTEST_PHASES = ("call", "setup", "teardown")
_PYTEST_CRASH = {key: "|".join(["%s.crash.%s" % (phase, key) for phase in _PYTEST_PHASES] + ["longrepr.reprcrash." + key]) for key in ("path", "lineno", "message")}
_PYTEST_WORDS = rb"^E +(?P<message>\S[^\n]*)"
_RECORDS: List[Records] = [
    Records("pytest-reportlog", ("$report_type", "nodeid", "result"), "nodeid", "outcome", {"failed": "suite"}, (), "longrepr.longrepr|longrepr", words=_PYTEST_WORDS),
    Records("pytest-reportlog", ("$report_type", "nodeid", "outcome"), "nodeid", "outcome", {"failed": "failed"},
            (_PYTEST_CRASH["path"], _PYTEST_CRASH["lineno"]), _PYTEST_CRASH["message"] + "|longrepr.longrepr|longrepr"),
    Records("pytest-reportlog", ("$report_type", "exitstatus"), "", "", {}, (), "", counted=("$report_type", "exitstatus"), totals={"exit status": "exitstatus"}),
    Records("pytest-json", ("nodeid", "outcome", "keywords", "lineno"), "nodeid", "outcome", {"failed": "failed", "error": "error"},
            (_PYTEST_CRASH["path"], _PYTEST_CRASH["lineno"]), _PYTEST_CRASH["message"], counted=("total", "collected"),
            totals={"failed": "failed", "errors": "error", "passed": "passed", "skipped": "skipped"}, claims=("failed", "errors")),
    Records("pytest-json", ("nodeid", "outcome", "result"), "nodeid", "outcome", {"failed": "suite"}, (), "longrepr", words=_PYTEST_WORDS),
    Records("jest-json", ("ancestorTitles", "fullName", "status"), "fullName", "status", {"failed": "failed"},
            ("^name", "location.line", "location.column"), "failureMessages.0", frames=(_JS_FRAME,), counted=("numFailedTests", "numPassedTests"),
            totals={"failed": "numFailedTests", "passed": "numPassedTests", "pending": "numPendingTests", "todo": "numTodoTests"}, claims=("failed",)),
    Records("jest-json", ("assertionResults", "status", "name"), "name", "status", {"failed": "suite"}, ("name",), "message", holds="assertionResults",
            words=rb"^ +(?!\xe2\x97\x8f)(?P<message>\S[^\n]*)"),
    Records("mocha-json", ("title", "fullTitle", "err"), "fullTitle", "err.message|err.stack|err.code|err", {"": "failed"}, ("file",), "err.stack|stack|err.message|err",
            frames=(_JS_FRAME,), counted=("suites", "passes", "failures"), totals={"passing": "passes", "pending": "pending", "failing": "failures"}, claims=("failing",)),
    Records("playwright-json", ("projectName", "expectedStatus", "status", "results"), "^title", "status", {"unexpected": "failed"},
            ("^file", "^line", "^column"), "results.0.error.message", counted=("expected", "unexpected", "flaky"),
            totals={"failed": "unexpected", "passed": "expected", "flaky": "flaky", "skipped": "skipped"}, claims=("failed",)),
    Records("rspec-json", ("id", "full_description", "status"), "full_description", "status", {"failed": "failed"}, ("file_path", "line_number"),
            "exception.message", counted=("example_count", "failure_count"), totals={"examples": "example_count", "failures": "failure_count",
            "pending": "pending_count", "errors outside": "errors_outside_of_examples_count"}, claims=("failures", "errors outside")),
    Records("cargo-json", ("type", "event", "name"), "name", "event", {"failed": "failed", "timeout": "failed"}, (), "stdout|message",
            frames=(rb"panicked at (?:'[^\n]*', )?(?P<location>[^\s:'][^\n:']*:\d+:\d+)",), counted=("event", "passed", "failed"), claims=("failed",),
            words=rb"(?:panicked at [^\n]*:\n)(?P<message>[^\n]+)",
            totals={"passed": "passed", "failed": "failed", "ignored": "ignored"}),
]  # fmt: skip
_SARIF_LEVELS = {b"error": ("error", 9.0), b"warning": ("warning", 5.0), b"note": ("style", 3.0), b"none": ("style", 3.0)}
REPORT_MARKERS = (
    b"<testsuite", b"<checkstyle", b'"nodeid"', b'"ancestorTitles"', b'"assertionResults"', b'"fullTitle"', b'"expectedStatus"',
    b'"full_description"', b'"event"', b'"physicalLocation"', b'"runs"',
)  # fmt: skip


def parse_reports(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """Machine reports in an output: JUnit and Checkstyle XML, SARIF, and the JSON of test runners. A file that the output only names is not read."""
    found: List[Evidence] = []
    for page in _readings(sources, REPORT_MARKERS)[0]:
        found += filter(None, (_of_junit(page), _of_checkstyle(page)))
        if any(marker in page.text for marker in REPORT_MARKERS[2:]) and len(page.text) <= _REPORT_BYTES:
            found += _of_documents(page)
    return found


def _of_documents(page: _Reading) -> List[Evidence]:
    """The tests and results that JSON documents tell of, each format for itself."""
    found: Dict[str, Evidence] = {}
    told = {"sarif"}  # formats of which there is more than counts
    for first, last, document in _json_values(page.text.decode("utf-8", "surrogateescape")):
        spelt = _Spelling(page, page.first + first - 1, page.first + last - 1)
        if isinstance(document, dict) and isinstance(document.get("runs"), list) and all(_json_text(run, "tool.driver.name") for run in document["runs"]):
            found["sarif"] = _joined(found.get("sarif"), spelt, "sarif", *_sarif(document))
        for item, around in _json_objects(document):
            for row in _RECORDS:
                marked = all(key in item for key in row.marks) and item.get("type", "test") == "test"
                counted = bool(row.counted) and all(key in item for key in row.counted)
                if marked or counted:
                    told.update([row.name] if marked else [])
                    totals = {name: item[key] for name, key in row.totals.items() if isinstance(item.get(key), int)} if counted else {}
                    fact = row.fact(item, around) if marked else None
                    found[row.name] = _joined(found.get(row.name), spelt, row.name, [fact] if fact else [], totals)
                    break
    for name, evidence in found.items():
        _check_records(evidence, next((row for row in _RECORDS if row.name == name and row.counted), None))
    return [evidence for name, evidence in found.items() if name in told]


def _joined(evidence: Optional[Evidence], spelt: _Spelling, name: str, facts: Sequence[Fact], totals: Dict[str, int]) -> Evidence:
    """The evidence with what one more object says."""
    evidence = evidence or Evidence(name + "/v1")
    for fact in facts:
        fact.stream, fact.first = spelt.page.source.name, spelt.line(fact.identity if name != "sarif" else fact.message)
        fact.last = fact.first
        evidence.facts.append(fact)
    for label, count in totals.items():
        evidence.totals[label] = evidence.totals.get(label, 0) + count
    span = (spelt.page.source.name, spelt.first, spelt.last)
    if span not in evidence.span[-1:]:
        evidence.span.append(span)
    return evidence


def _check_records(evidence: Evidence, row: Optional[Records]) -> None:
    """Each test once; what the tool's own counts say of their number."""
    evidence.facts = _distinct(evidence.facts)
    evidence.claimed = len(evidence.facts)
    evidence.span = _spans_of(evidence.span)
    failing = any(fact.kind not in ("warning", "style") for fact in evidence.facts)
    if row:
        claims = sum(evidence.totals.get(name, 0) for name in row.claims)
        known = sum(1 for fact in evidence.facts if fact.kind != "suite")
        evidence.claimed += max(0, claims - known)
        if not evidence.totals:
            evidence.unsure = "the tool's own totals are missing"
        elif row.claims and claims < known:
            evidence.unsure = "the tool counts %d failing, the output names %d" % (claims, known)
        failing = failing or claims > 0
    evidence.outcome = "failed" if failing else "" if evidence.facts else "passed"


class _Spelling:
    """Where words of a JSON document stand in a page: each is looked for behind the one before it."""

    __slots__ = ("page", "first", "last", "at")

    def __init__(self, page: _Reading, first: int, last: int) -> None:
        self.page, self.first, self.last, self.at = page, first, last, 0

    def line(self, words: bytes) -> int:
        """The line of some words that a string holds whole; the document's first when they are not found."""
        import json

        if self.first == self.last:
            return self.first
        start = self.page.text.find(b"\n") if not self.at else self.at
        text = words.decode("utf-8", "surrogateescape")
        for ascii in (False, True):
            at = self.page.text.find(json.dumps(text, ensure_ascii=ascii).encode("utf-8", "surrogateescape"), start)
            if at >= 0 and self.first <= self.page.line(at) <= self.last:
                self.at = at
                return self.page.line(at)
        return self.first


def _json_values(text: str) -> Iterator[Tuple[int, int, Any]]:
    """(first line, last line, value) of the JSON objects and arrays that begin and end at line ends; lines count from 1, after the first LF."""
    import json
    import re

    decode, end, line, counted, broken = json.JSONDecoder().raw_decode, 0, 0, 0, 0
    for m in re.compile(r"\n(?=[\[{])").finditer(text):
        if m.start() < end or broken > _BROKEN_DOCUMENTS:
            continue
        try:
            value, stop = decode(text, m.end())
        except (ValueError, RecursionError):
            broken += 1
            continue
        if text[stop : stop + 80].split("\n")[0].strip():
            continue
        end = stop
        line, counted = line + text.count("\n", counted, m.end()), m.end()
        yield line, line + text.count("\n", m.end(), stop), value


def _json_objects(value: Any, around: Any = None, depth: int = 0) -> Iterator[Tuple[Dict[str, Any], Any]]:
    """(object, the object around it) for every object in a JSON value, in order."""
    if isinstance(value, dict):
        yield value, around
        around = value
    if depth < 40 and isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, (dict, list)):
                yield from _json_objects(inner, around, depth + 1)


def _json_at(item: Any, around: Any, place: str) -> bytes:
    """What stands at a place of an object, or with ^ of the object around it."""
    return _json_text(around, place[1:]) if place.startswith("^") else _json_text(item, place)


def _sarif(document: Dict[str, Any]) -> Tuple[List[Fact], Dict[str, int]]:
    """The results of a SARIF log, less those that are suppressed or no problem. Source: OASIS, SARIF 2.1.0."""
    from urllib.parse import unquote

    facts: List[Fact] = []
    totals: Dict[str, int] = {}
    for run in document["runs"]:
        rules, results = run["tool"]["driver"].get("rules"), run.get("results")
        usual = {_json_text(rule, "id"): _json_text(rule, "defaultConfiguration.level") for rule in (rules if isinstance(rules, list) else ())}
        for result in [result for result in results if isinstance(result, dict)] if isinstance(results, list) else ():
            code = _json_text(result, "ruleId|rule.id")
            level = _json_text(result, "level") or usual.get(code) or b"warning"
            if _json_text(result, "kind") not in (b"", b"fail", b"open", b"review") or result.get("suppressions"):
                totals["suppressed"] = totals.get("suppressed", 0) + 1
                continue
            path = "locations.0.physicalLocation."
            name = unquote(_json_text(result, path + "artifactLocation.uri").decode("utf-8", "surrogateescape"))
            parts = [fsencode(name[7:] if name.startswith("file:///") else name)]
            parts += [_json_text(result, path + "region." + key) for key in ("startLine", "startColumn")]
            place = b":".join(filter(None, parts))
            kind, value = _SARIF_LEVELS.get(level, _SARIF_LEVELS[b"warning"])
            words = _json_text(result, "message.text|message.markdown|message.id").partition(b"\n")[0]
            facts.append(Fact(kind, b" ".join(filter(None, (place, code))) or words, place, words, value=value))
            label = level.decode("ascii", "replace") + "s"
            totals[label] = totals.get(label, 0) + 1
    return facts, totals


# ── reports as XML ──

_XML_ATTRIBUTES = rb"((?:[^>\"']|\"[^\"]*\"|'[^']*')*?)"


def _attributes(text: bytes) -> Dict[bytes, bytes]:
    """The attributes of an XML tag, entities resolved."""
    pairs = rx(rb"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')").findall(text)
    return {name: _xml_text(double or single) for name, double, single in pairs}


def _xml_text(text: bytes) -> bytes:
    """Text of XML without its entities and marks of literal parts."""
    from html import unescape

    plain = rx(rb"(?s)<!\[CDATA\[(.*?)\]\]>").sub(rb"\1", text)
    return unescape(plain.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape").strip() if b"&" in plain else plain.strip()


def _of_junit(page: _Reading) -> Optional[Evidence]:
    """JUnit XML. Source: the schema that Ant's and Surefire's reports follow. What a test printed is blanked first, as it may hold tags."""
    evidence = Evidence("junit-xml/v1")
    if b"<testsuite" not in page.text:
        return None
    bare = rx(rb"(?s)<!\[CDATA\[.*?\]\]>|<system-(out|err)>.*?</system-\1>|<!--.*?-->").sub(lambda m: b" " * len(m.group()), page.text)
    for start, end, whole in _junit_reports(bare):
        tests, named = 0, []
        for m in rx(rb"(?s)<testcase\b" + _XML_ATTRIBUTES + rb"(?:/>|>(.*?)</testcase>)").finditer(bare, start, end):
            tests += 1
            for problem in rx(rb"(?s)<(failure|error)\b" + _XML_ATTRIBUTES + rb"(?:/>|>(.*?)</\1>)").finditer(bare, m.start(2), m.end(2)) if m.group(2) else ():
                named.append(_junit_fact(page, m, problem))
        if not tests:
            continue
        claims = _junit_claims(bare[start:end])
        evidence.totals["tests"] = evidence.totals.get("tests", 0) + tests
        evidence.totals["failed"] = evidence.totals.get("failed", 0) + (claims if claims >= 0 else len(named))
        evidence.facts += named
        evidence.span.append((page.source.name, page.line(start), page.line(end - 1)))
        evidence.unsure = evidence.unsure if whole else "the report's end is missing"
    often, evidence.facts = len(evidence.facts), _distinct(evidence.facts)
    evidence.claimed = len(evidence.facts) + max(0, evidence.totals.get("failed", 0) - often)
    if evidence.totals.get("failed", 0) < len(evidence.facts):
        evidence.unsure = "the report counts %d failing, and names %d" % (evidence.totals["failed"], len(evidence.facts))
    evidence.outcome = "failed" if evidence.claimed else "passed"
    return evidence if evidence.totals else None


_SUITE_TAG = rb"<(/?)testsuites?\b" + _XML_ATTRIBUTES + rb"(/?)>"


def _junit_reports(bare: bytes) -> Iterator[Tuple[int, int, bool]]:
    """(start, end, whether that is its own) of each report; suites may hold suites."""
    end = 0
    for m in rx(rb"\n[ \t]*(?:<\?xml[^>\n]*>\s*)?<testsuites?\b").finditer(bare):
        if m.start() < end:
            continue
        depth = end = 0
        for tag in rx(_SUITE_TAG).finditer(bare, m.start()):
            depth += -1 if tag.group(1) else not tag.group(3)
            if depth <= 0:
                end = tag.end()
                break
        whole, end = bool(end), end or len(bare.rstrip())
        yield m.start(), end, whole


def _junit_claims(report: bytes) -> int:
    """How many failures and errors a report counts: at its root, else in the suites directly below; -1 when nowhere."""
    depth, claims = 0, -1
    for m in rx(_SUITE_TAG).finditer(report):
        counts = [int(count) for name, count in _attributes(m.group(2)).items() if name in (b"failures", b"errors") and count.isdigit()]
        if counts and depth == 0:
            return sum(counts)
        if counts and depth == 1:
            claims = max(claims, 0) + sum(counts)
        depth += -1 if m.group(1) else not m.group(3)
    return claims


def _junit_fact(page: _Reading, case: Match[bytes], problem: Match[bytes]) -> Fact:
    """A test case with a failure or an error in it."""
    names, said = _attributes(page.text[case.start(1) : case.end(1)]), _attributes(page.text[problem.start(2) : problem.end(2)])
    body = _xml_text(page.text[problem.start(3) : problem.end(3)]) if problem.group(3) else b""
    name = b"::".join(filter(None, (names.get(b"classname"), names.get(b"name"))))
    message = (said.get(b"message") or body or said.get(b"type", b"")).split(b"\n")[0].strip() or problem.group(1)
    place = b":".join(filter(None, (names[b"file"], names.get(b"line")))) if names.get(b"file") else _frame((rb"(?P<location>[\w./\\-]+\.[A-Za-z]\w*:\d+)",), body)
    first, last = page.line(case.start()), page.line(case.end() - 1)
    return Fact("failed", name, place, message, page.source.name, first, last, value=_OWN["failed"])


def _of_checkstyle(page: _Reading) -> Optional[Evidence]:
    """Checkstyle XML, as linters of many languages write it. Source: the format of Checkstyle's own XMLLogger."""
    report = rx(rb"(?s)\n[ \t]*(?:<\?xml[^>\n]*>\s*)?<checkstyle\b[^>]*>.*?(?:</checkstyle>|(?=\s*\Z))").search(page.text)
    if not report:
        return None
    evidence = Evidence("checkstyle/v1")
    path = b""
    for m in rx(rb"<(file|error)\b" + _XML_ATTRIBUTES + rb"/?>").finditer(page.text, report.start(), report.end()):
        said = _attributes(m.group(2))
        if m.group(1) == b"file":
            path = said.get(b"name", b"")
            continue
        level = _JSON_REPORT.level(said.get(b"severity", b"error"), b"")
        place = b":".join(filter(None, (path, said.get(b"line"), said.get(b"column"))))
        if level:
            identity = b" ".join(filter(None, (place, said.get(b"source"))))
            evidence.facts.append(Fact(level[0], identity, place, said.get(b"message", b""), page.source.name, page.line(m.start()), 0, 0, level[1]))
    evidence.span = [(page.source.name, page.line(report.start()), page.line(report.end() - 1))]
    evidence.unsure = "" if report.group().endswith(b"</checkstyle>") else "the report's end is missing"
    evidence.claimed = len(evidence.facts)
    evidence.outcome = "failed" if any(fact.kind == "error" for fact in evidence.facts) else "" if evidence.facts else "passed"
    return evidence


# A line that names a report which the tool wrote to a file
_NAMED_REPORT = (
    rb"[^\n]{0,120}?\b(?:[Gg]enerated|[Ww]r(?:ote|itten)|[Ss]aved|[Rr]eports?|[Rr]esults?|[Oo]utput)\b[^\n]{0,120}?[\s:\"'`(](?:file://)?"
    rb"(?P<path>[^\s\"'`()]+\.(?:xml|json|jsonl|ndjson|sarif|tap|trx|html))(?=[\s\"'`).,]|$)"
)
_NAMED_WITHIN = 16 * KIB  # of the end of a stream


def named_reports(sources: Sequence[Source]) -> List[Quote]:
    """The lines that say where a tool wrote its report, from the end of each stream: ctx does not read the file."""
    out = []
    for source in sources:
        first, text = _lines_of_span(source, (max(0, source.size - _NAMED_WITHIN), source.size))
        for m in rx(b"(?m)^" + _NAMED_REPORT).finditer(text) if rx(rb"\.(?:xml|json|sarif|tap|trx|html)").search(text) else ():
            number = first + text.count(b"\n", 0, m.start())
            out.append(Quote(source.name, number, source.line(number), 8.0))
    return out[-2:]


# ── content: version control, searches, listings, data, logs, bytes. The output is the answer: rows with counts of all of it, its start, what is odd. ──

CONTENT_MARKERS = (b"\n", b" ", b"{", b"\0")  # the recognisers look for themselves
_NEAR_BYTES = 8 * MIB  # what is read line by line
_NEAR_LINES = 150_000
_BATCH = 5000  # records of a table that are counted together
_JSON_PART = 256 * KIB  # of a JSON text that is decoded at once: its objects take up to twenty times the room
_JSON_KEYS = 100  # keys from which an object is a map, whose members are alike
_JSON_PLACES, _JSON_DEPTH = 2000, 60  # whose values are counted
_JSON_SPINE = 20  # levels of containers that are longer than a part
_LONG_LINE = 4000  # bytes from which a line is clipped
_START_LINES = 40  # shown word for word, as far as the budget goes
_ODD_PLACES = 5  # of one odd value


class _Page:
    """One stream as lines without colours; `whole` tells whether all of it was read, `cut` that it has too many lines, `formatted` that
    a formatter speaks, whose diffs are its report."""

    __slots__ = ("source", "whole", "cut", "text", "formatted", "_lines")

    def __init__(self, source: Source, formatted: bool = False) -> None:
        self.source = source
        self.formatted = formatted
        block = source.read(0, min(source.size, _NEAR_BYTES))
        lines = block.count(b"\n")
        self.cut = lines > _NEAR_LINES
        if self.cut:
            block = block[: nth_newline(block, _NEAR_LINES) + 1]
        self.whole = len(block) == source.size
        self.text = strip_ansi(block if self.whole or not lines else block[: block.rfind(b"\n") + 1]).replace(b"\r\n", b"\n")
        self._lines: Optional[List[bytes]] = None

    @property
    def lines(self) -> List[bytes]:
        """The lines of the text, parted when they are first asked for."""
        if self._lines is None:
            self._lines = self.text.split(b"\n")
            if not self._lines[-1]:
                self._lines.pop()
        return self._lines

    def row(self, kind: str, identity: bytes, message: bytes, first: int = 0, last: int = 0, value: float = 1.0, group: bytes = b"") -> Fact:
        """A row; `group` is what a histogram of many rows counts it under."""
        return Fact(kind, identity, group, message, self.source.name if first else "", first, last, 0, value)

    def quote(self, number: int, value: float) -> Quote:
        """One line, a very long one clipped: of that, only the start is read."""
        start = self.source.start_of(number)
        line, end, _ = self.source.read(start, min(self.source.size, start + _LONG_LINE)).partition(b"\n")
        return Quote(self.source.name, number, line if end or len(line) < _LONG_LINE else clip(clean(line), 1000), value)

    def evidence(self, name: str, rows: Iterable[Fact] = (), totals: Optional[Dict[str, int]] = None, first: int = 1, last: int = 0) -> Evidence:
        """What was found in lines `first` to `last`, with their start quoted."""
        evidence = Evidence(name + "/v1")
        last = last or self.text.count(b"\n") + (not self.text.endswith(b"\n"))
        evidence.facts = list(rows)
        evidence.totals = dict(totals or {})
        evidence.span = [(self.source.name, first, last)]
        evidence.quotes = [self.quote(n, 4.0 - 0.08 * (n - first)) for n in range(first, min(last, first + _START_LINES - 1) + 1)]
        if not self.whole:
            evidence.unsure = "sampled: the first %s of %s" % (human(len(self.text)), human(self.source.size))
        return evidence


def parse_content(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """Families whose output is the answer: each stream that is wholly of one kind, or a part of it that says so for certain; else nothing."""
    found: List[Evidence] = []
    formatted = any(hits for source in sources for hits in source.find_all([b"would reformat", b"would be reformatted"], 1))
    for source in sources:
        if source.size and is_binary(source):
            found.append(_binary(source))
        elif source.size:
            page = _Page(source, formatted)
            found += next(filter(None, (recognise(page) for recognise in _RECOGNISERS if page.text.strip())), [])
    if found and not status:  # then nobody else looks at what these leave out
        taken = [span for evidence in found if evidence.profile not in _READ_AGAIN for span in evidence.span]
        rest = parse_text(sources, status, taken)
        found[-1].quotes += rest.notes + rest.quotes
    return found


SEARCH_MARKERS = (b":", b"-")
_SEARCHED = rb"(?:[^\n]*\n){0,3}?[^\s\n][^\n]*?(?::[^\n]*|\n[1-9]\d*[:-][^\n]*)\n"


def parse_searches(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """Streams that are searches from the first line to the last: the reports and logs that they quote are nobody's."""
    found: List[Evidence] = []
    for source in sources:
        if source.size and rx(_SEARCHED).match(source.read(0, min(source.size, 16 * KIB))) and not is_binary(source):
            page = _Page(source)
            found += next(filter(None, (recognise(page) for recognise in (_search, _search_heading, _search_plain))), [])
    return found


def _all(page: _Page, pattern: bytes) -> List[Match[bytes]]:
    """The matches of all lines; none when one line differs, or there are fewer than two."""
    found = []
    for line in page.lines:
        match = rx(pattern).match(line)
        if not match:
            return []
        found.append(match)
    return found if len(found) > 1 else []


def _count(n: int, one: str, many: str = "") -> bytes:
    return plural(n, one, many).encode()


# ── version control ──

_GRAPH = rb"(?:[|\\/_. ]*\*[|\\/_. -]* )?"
_PREFIXED = rb"(\"?)[abciow12]/"


def _git_log(page: _Page) -> List[Evidence]:
    """`git log` in the formats that open each commit with a line of its own, with or without statistics, graph and patches."""
    graph = _GRAPH if page.lines[0].startswith((b"*", b"|")) else b""
    start = rx(graph + rb"commit ([0-9a-f]{7,64})(?: [0-9a-f ]+)?(?: \(.*\))?$")
    if not start.match(page.lines[0]):
        return []
    at = [(n, match.group(1)) for n, match in enumerate(map(start.match, page.lines)) if match]
    rows = []
    for (n, name), (end, _) in zip(at, at[1:] + [(len(page.lines), b"")]):
        body = [rx(rb"[|\\/_.* ]*?(?=    )").sub(b"", line, 1) if graph else line for line in page.lines[n + 1 : end]]
        subject = next((line.strip() for line in body if line.startswith(b"    ") and line.strip()), b"")
        stat = next((rx(rb"\d+ files? changed.*").search(line) for line in body if b" changed, " in line and line.startswith(b" ")), None)
        rows.append(page.row("commit", name, subject + (b" (%s)" % stat.group() if stat else b""), n + 1, end))
    log = page.evidence("git-log", rows, {"commits": len(rows)})
    return [log] + (_git_diff(page) if b"\ndiff --" in page.text else [])


def _git_oneline(page: _Page) -> List[Evidence]:
    """`git log --oneline`, with or without graph; the hashes must look like hashes."""
    rows: Dict[bytes, Fact] = {}
    for n, line in enumerate(page.lines, 1):
        match = rx(rb"[|\\/_.* -]*?([0-9a-f]{7,40}) (\S.*)$").match(line)
        if match:
            rows.setdefault(match.group(1), page.row("commit", match.group(1), match.group(2), n))
        elif not rx(rb"[|\\/_.* -]*$| .+ \| +(?:\d+|Bin)\b| \d+ files? changed").match(line):
            return []
    mixed = sum(1 for name in rows if rx(rb"(?=.*[a-f]).*\d").match(name))
    if not rows or mixed * 2 < len(rows) or max(map(len, rows)) - min(map(len, rows)) > 3:
        return []
    return [page.evidence("git-log", rows.values(), {"commits": len(rows)})]


class _Change:
    """What a diff tells of one file."""

    __slots__ = ("first", "last", "plus", "minus", "state", "binary", "names", "times")

    def __init__(self, first: int, header: bytes = b"") -> None:
        self.first = self.last = first
        self.plus = self.minus = 0
        self.state = b""
        self.binary = False
        self.times = 1
        rest = header.split(b" ", 2)[2] if header.startswith(b"diff --git ") else b""
        old, new = rest[: len(rest) // 2], rest[len(rest) // 2 + 1 :]
        plain = bool(rest) and old == new  # --no-prefix
        if header.startswith(b"*"):
            self.state, header = b"unmerged", header[2:]
        guess = new if rx(_PREFIXED).sub(rb"\1", old, 1) == rx(_PREFIXED).sub(rb"\1", new, 1) else rest.rpartition(b" ")[2]
        self.names = {b"": (rest and guess) or header.split(b" ", 2)[-1], b"plain": b"1" if plain or not rest else b""}

    @property
    def name(self) -> bytes:
        """The file's name as the diff spells it, without the side's prefix."""
        if b"to" in self.names:
            return self.names[b"to"]
        sides = [self.names.get(side, b"").split(b"\t")[0] for side in (b"+++", b"---", b"")]
        name = next(side for side in sides if side and side != b"/dev/null")
        git = self.names[b"plain"] == b"" or self.names[b""] != name
        return rx(_PREFIXED).sub(rb"\1", name, 1) if git and not (self.names[b"plain"] and not rx(_PREFIXED).match(name)) else name

    def words(self) -> bytes:
        """State and counts."""
        counts = b"binary" if self.binary else "+%d −%d".encode() % (self.plus, self.minus)
        return (self.state + b": " if self.state else b"") + counts + (b" in %d patches" % self.times if self.times > 1 else b"")


_DIFF_STATES = {b"new file mode": b"new", b"deleted file mode": b"deleted", b"rename from ": b"renamed from ", b"copy from ": b"copied from "}
_DIFF_LINE = (
    rb"(?:index [0-9a-f]+[.,]|old mode |new mode |mode |similarity index |dissimilarity index |rename |copy |new file mode |deleted file mode "
    rb"|--- |\+\+\+ |Binary files .* differ|GIT binary patch|\\ No newline|Submodule |\* Unmerged path |Only in |$)"
)
_PROSE = rb"commit [0-9a-f]{7,64}\b|From [0-9a-f]{40} |[0-9a-f]{7,40} \S|tag \S|-- $|stash@\{"


def _git_diff(page: _Page) -> List[Evidence]:
    """Diffs of git (also combined and in log, show and format-patch) and of `diff -u`: every file with its added and removed lines.

    Hunks are followed by the counts in their heads, so that text in them is never taken for structure.
    """
    lines = page.lines
    if not any(sign in page.text for sign in (b"diff --", b"@@ -", b"* Unmerged path ")):
        return []
    starts = rx(rb"(?m)^diff --(?:git|cc|combined) |^\* Unmerged path |^--- .+\n\+\+\+ .+\n@@ -").search(page.text)
    if not starts:
        return []
    first = page.text.count(b"\n", 0, starts.start())
    if rx(_PROSE).match(lines[0]):
        first = 0
    elif starts.group().startswith(b"---") and page.formatted:
        return []
    changes: List[_Change] = []
    n, prose, binary = first, False, False
    while n < len(lines):
        line = lines[n]
        hunk = rx(rb"(@@+) ((?:-\d+(?:,\d+)? )+)\+\d+(?:,(\d+))? @@").match(line)
        bare = line.startswith(b"--- ") and rx(rb"\+\+\+ .").match(b"".join(lines[n + 1 : n + 2])) and b"".join(lines[n + 2 : n + 3]).startswith(b"@@")
        if line.startswith((b"diff --git ", b"diff --cc ", b"diff --combined ", b"* Unmerged path ")) or (bare and not (changes and b"" in changes[-1].names and _open(changes[-1]))):
            changes.append(_Change(n + 1, b"" if bare else line))
            prose = binary = False
        if hunk and changes and not prose:
            end = _follow(lines, n, hunk, changes[-1], page.whole)
            if end < 0:
                return []
            n = changes[-1].last = end
            continue
        if rx(_PROSE).match(line):
            prose = True
        elif not prose and not binary and not rx(_DIFF_LINE + rb"|diff -").match(line):
            break
        elif changes and not prose:
            changes[-1].last = n + 1 if line else changes[-1].last
            binary = binary or line == b"GIT binary patch"
            _note(changes[-1], line)
        n += 1
    return [_diff_evidence(page, changes, first + 1, n)] if changes else []


def _open(change: _Change) -> bool:
    """Whether the names of this file are still to come."""
    return b"---" not in change.names


def _note(change: _Change, line: bytes) -> None:
    """Take in a line of a file's head."""
    for start, state in _DIFF_STATES.items():
        if line.startswith(start):
            change.state = state + (line[len(start) :] if state.endswith(b" ") else b"")
    for start, side in ((b"--- ", b"---"), (b"+++ ", b"+++"), (b"rename to ", b"to"), (b"copy to ", b"to")):
        if line.startswith(start):
            change.names.setdefault(side, line[len(start) :])
    change.binary = change.binary or line.startswith((b"Binary files ", b"GIT binary patch"))


def _follow(lines: List[bytes], at: int, hunk: Match[bytes], change: _Change, whole: bool) -> int:
    """Number of the line behind a hunk, its lines counted; -1 when it does not add up, or when a `whole` output ends in it."""
    width = len(hunk.group(1)) - 1
    old = [int(part.partition(b",")[2] or 1) for part in hunk.group(2).split()]
    new = int(hunk.group(3) or 1)
    while (new > 0 or max(old) > 0) and at + 1 < len(lines):
        at += 1
        signs = lines[at][:width].ljust(width)
        if signs.startswith(b"\\"):
            continue
        if signs.strip(b" +-"):
            return -1
        if b"-" in signs:
            change.minus += 1
            old = [left - (sign == 45) for left, sign in zip(old, signs)]
        else:
            new -= 1
            change.plus += b"+" in signs
            old = [left - (sign == 32) for left, sign in zip(old, signs)]
    return at + 1 if new == 0 and not any(old) or not whole and at + 1 == len(lines) else -1


def _diff_evidence(page: _Page, changes: List[_Change], first: int, last: int) -> Evidence:
    """One row for each file, those that several patches change put together."""
    files: Dict[bytes, _Change] = {}
    for change in changes:
        before = files.setdefault(change.name, change)
        if before is not change:
            before.plus, before.minus, before.times = before.plus + change.plus, before.minus + change.minus, before.times + 1
    totals = {"files": len(files), "insertions": sum(c.plus for c in changes), "deletions": sum(c.minus for c in changes)}
    totals["binary"] = sum(c.binary for c in changes)
    rows = [page.row("file", name, c.words(), c.first, c.last, 1.0, name.rpartition(b"/")[0]) for name, c in files.items()]
    evidence = page.evidence("git-diff", rows, {name: count for name, count in totals.items() if count}, first, last)
    claims = rx(rb"(?m)^ (\d+) files? changed, ").findall(page.text)
    if len(claims) == 1 and max(change.times for change in files.values()) == 1:
        evidence.claimed = int(claims[0])
    return evidence


def _git_stat(page: _Page) -> List[Evidence]:
    """`git diff --stat`, --numstat, --name-status: every file."""
    last = rx(rb" (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$").match(page.lines[-1])
    rows = []
    for n, line in enumerate(page.lines[:-1] if last else page.lines, 1):
        stat = last and rx(rb" (.+?) +\| +(\d+|Bin.*?|Unmerged)(?: [+-]+)?$").match(line)
        row = stat or (not last and (rx(rb"(?:\d+|-)\t(?:\d+|-)\t(.+)$").match(line) or rx(rb"(?:[ACDMTUX]|[RC]\d{2,3})\t(.+)$").match(line)))
        if not row:
            if line.startswith((b" create mode ", b" delete mode ", b" rename ", b" mode change ", b" copy ")) and last:
                continue
            return []
        words = b"%s changed" % stat.group(2) if stat else b" ".join(line[: row.start(1)].split(b"\t")).strip()
        rows.append(page.row("file", row.group(1), words, n, 0, 1.0, row.group(1).rpartition(b"/")[0]))
    totals = {"files": len(rows)}
    if last:
        totals.update((name, int(last.group(i) or 0)) for i, name in ((2, "insertions"), (3, "deletions")))
    evidence = page.evidence("git-diff", rows, totals)
    evidence.claimed = int(last.group(1)) if last else -1
    return [evidence] if rows and len(page.lines) > 1 else []


_SECTIONS = {b"Changes to be committed:": b"staged", b"Changes not staged for commit:": b"not staged", b"Unmerged paths:": b"unmerged",
             b"Untracked files:": b"untracked", b"Ignored files:": b"ignored"}  # fmt: skip
_STATUS_START = rb"On branch \S|HEAD detached |Not currently on any branch|interactive rebase in progress|rebase in progress"
_STATUS_LINE = (
    rb"  \(|\s*$|On branch|HEAD detached|Your branch|and have |You |All conflicts|No commits yet|Initial commit|nothing |no changes added|interactive rebase|rebase in"
    rb"|Last command|Next command|No commands|   \S|Not currently|Submodule|\* |Changes |Untracked files not listed|It took |may speed|new files yourself|Stash"
)


def _git_status(page: _Page) -> List[Evidence]:
    """`git status` in its long form; a path that is both staged and not is one row."""
    if not rx(_STATUS_START).match(page.lines[0]):
        return []
    section, found = b"", []
    end = len(page.lines)
    for n, line in enumerate(page.lines, 1):
        if line in _SECTIONS:
            section = _SECTIONS[line]
        elif section and line.startswith(b"\t"):
            match = rx(rb"\t(?:([a-z][a-z ]+): {2,})?(.+)$").match(line) if section[:1] not in b"i" and section != b"untracked" else None
            state, path = match.groups() if match else (b"", line[1:])
            found.append((n, path, state or b"", section))
        elif not rx(_STATUS_LINE).match(line):
            end = n - 1
            break
    return [_status_evidence(page, found, end)]


def _status_evidence(page: _Page, found: Sequence[Tuple[int, bytes, bytes, bytes]], end: int) -> Evidence:
    """Rows of (line, path, state, section); a renamed path is named by its new name."""
    rows: Dict[bytes, Fact] = {}
    totals: Dict[str, int] = {}
    for n, path, state, section in found:
        old, arrow, new = path.partition(b" -> ")
        words = b"%s (%s)" % (state, section) if state else section
        words += b" from " + old if arrow else b""
        words += b", a directory folded into one line" if path.endswith((b"/", b'/"')) and section == b"untracked" else b""
        row = rows.setdefault(new or path, page.row("path", new or path, b"", n, 0, 9.0 if section == b"unmerged" else 1.0))
        row.message += (b", " if row.message else b"") + words
        totals[fsdecode(section)] = totals.get(fsdecode(section), 0) + 1
    return page.evidence("git-status", rows.values(), totals, 1, end)


_SHORT = {65: b"added", 67: b"copied", 68: b"deleted", 77: b"modified", 82: b"renamed", 84: b"type changed"}
_UNMERGED = (b"DD", b"AU", b"UD", b"UA", b"DU", b"AA", b"UU")


def _git_short(page: _Page) -> List[Evidence]:
    """`git status --short` and --porcelain (1 and 2)."""
    found = []
    for n, line in enumerate(page.lines, 1):
        two = rx(rb"[12u] ([.MTADRCU]{2}) (?:N|S)\S+ (?:[0-7]{6} ){3,4}(?:[0-9a-f]{40,64} ){2,3}(?:[RC]\d+ )?(.+)$|([?!]) (.+)$").match(line)
        one = rx(rb"(?!  )([ MTADRCU?!][ MTADRCU?!]) (\S.*)$").match(line)
        if rx(rb"## \S|# branch\.|# stash ").match(line):
            continue
        if not one and not two:
            return []
        fields = [field for field in (two.groups() if two else one.groups() if one else ()) if field]
        codes, path = (fields[0] * 2 if len(fields[0]) == 1 else fields[0]).replace(b".", b" "), fields[1]
        if two and b"\t" in path:
            path = b" -> ".join(reversed(path.split(b"\t")))
        if codes in (b"??", b"!!"):
            found.append((n, path, b"", b"untracked" if codes == b"??" else b"ignored"))
        elif codes in _UNMERGED:
            found.append((n, path, codes, b"unmerged"))
        else:
            found += [(n, path, _SHORT[code], side) for code, side in zip(codes, (b"staged", b"not staged")) if code in _SHORT]
    return [_status_evidence(page, found, len(page.lines))] if len(page.lines) > 1 and found else []


_BLAME = rb"\^?([0-9a-f]{7,40}) (?:\S.*? )??(?:\((\S.*?) +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} +\d+\)| *\d+\) )"
_PORCELAIN = rb"(?m)^([0-9a-f]{40}) \d+ \d+(?: \d+)?\n(?:author (.*)\n)?(?:[a-z-]+(?: .*)?\n)*\t"


def _git_blame(page: _Page) -> List[Evidence]:
    """`git blame`: lines and commits of each author, or lines of each commit where no author is told; also --porcelain."""
    if rx(_PORCELAIN).match(page.text):
        names: Dict[bytes, bytes] = {}
        told: List[Tuple[int, bytes, bytes]] = []
        for match in rx(_PORCELAIN).finditer(page.text):
            names.setdefault(match.group(1), match.group(2) or b"")
            told.append((page.text.count(b"\n", 0, match.start()) + 1 if len(told) < 1000 else 0, match.group(1), names[match.group(1)]))
    else:
        told = [(n, match.group(1), match.group(2) or b"") for n, match in enumerate(map(rx(_BLAME).match, page.lines), 1) if match]
        if len(told) < len(page.lines):
            return []
    groups: Dict[bytes, List[Any]] = {}
    for n, commit, author in told:
        entry = groups.setdefault(author or commit, [0, set(), n])
        entry[0] += 1
        entry[1].add(commit)
    kind = "author" if told[0][2] else "commit"
    rows = [page.row(kind, name, _count(lines, "line") + (b" in " + _count(len(commits), "commit") if kind == "author" else b""), n, 0, lines) for name, (lines, commits, n) in groups.items()]
    totals = {"lines": len(told), "authors": len(rows) * (kind == "author"), "commits": len({commit for _, commit, _ in told})}
    return [page.evidence("git-blame", rows, {name: count for name, count in totals.items() if count})]


def _git_merge(page: _Page) -> List[Evidence]:
    """Conflicts of a merge, rebase, cherry-pick or stash."""
    rows: Dict[bytes, Fact] = {}
    first = 0
    if b"CONFLICT (" not in page.text:
        return []
    for match in rx(rb"(?m)^CONFLICT \(([^)\n]+)\): (.+)$").finditer(page.text):
        n = page.text.count(b"\n", 0, match.start()) + 1
        first = first or n
        path = rx(rb"Merge conflict in (.+)$|^(.+?) (?:deleted|renamed|modified|added|left) ").search(match.group(2))
        name = (path.group(1) or path.group(2)) if path else match.group(2)
        fact = page.row("conflict", name, match.group(2), n, 0, 9.0)
        fact.quoted = n
        rows.setdefault(name, fact)
    if not rows:
        return []
    evidence = page.evidence("git-merge", rows.values(), {"conflicts": len(rows)}, first, max(fact.last for fact in rows.values()))
    evidence.quotes = []
    evidence.outcome = "failed"
    return [evidence]


# ── lists of hosting services ──

_RUN_STATES = rb"(?:completed|in_progress|queued|requested|waiting|pending)"
# how a row starts: its number, or what became of it; then its words; then the number
_HUB_ROWS = (
    rb"(?P<name>[!#]?\d+)(?:\t| {2,})(?:\S+[!#]\d+\t)?(?P<words>[^\t\n]*?\S)(?:\t| {2,}|$)[^\n]*$",
    _RUN_STATES + rb"\t(?P<state>\w*)\t(?P<words>[^\t\n]*)\t[^\n]*\t(?P<name>\d{6,})\t[^\n]*$",
)


def _hub_list(page: _Page) -> List[Evidence]:
    """`gh pr list`, `gh issue list`, `gh run list`, `glab mr list`: items with their titles, and how many there are in all."""
    claim = rx(rb"(?m)^Showing (\d+)(?: of (\d+))? [a-z -]+ (?:in|on) \S+").match(page.text.lstrip())
    head = [line for line in page.lines if line.strip() and not line.startswith((b"Showing ", b"ID  ", b"NUMBER  "))]
    for row in _HUB_ROWS:
        found = [(n, m) for n, m in enumerate(map(rx(row).match, page.lines), 1) if m]
        dated = claim or "state" in rx(row).groupindex or all(rx(rb".*\t\d{4}-\d\d-\d\d[T ]").match(line) for line in head)
        if len(found) == len(head) > 1 and dated and len({m.group("name") for _, m in found}) == len(found):
            states: Dict[str, int] = {}
            rows = []
            for n, m in found:
                state = _group(m, "state")
                rows.append(page.row("item", m.group("name"), b": ".join(filter(None, (state, m.group("words")))), n, 0, 1.0 if state in (b"", b"success") else 9.0))
                if state:
                    states[fsdecode(state)] = states.get(fsdecode(state), 0) + 1
            totals = {"items": len(rows), **({"in all": int(claim.group(2))} if claim and claim.group(2) else {}), **states}
            return [page.evidence("list", rows, totals)]
    return []


# ── logs ──

_LEVEL = rb"(?m)^[^\n]{0,80}?[\s\[<(|=\"](TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)[\s\]>):|,\"]"
_LOGS: List[Tuple[bytes, bytes]] = [  # how each line starts; what to count, if not the level
    (rb"\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:[^\]\n]+\] \"", rb"(?m)^[^\n]*?\" ([1-5]\d\d) (?:\d+|-)"),
    (rb"(?:<\d+>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+(?:\[\d+\])?: ", b""),
    (rb"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*[\s\]]", b""),
    (rb"(?:\[|<)?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)[\s\]>:|]", b""),
]


def _log_format(page: _Page) -> Optional[Tuple[bytes, bytes]]:
    """How nearly all lines of a log start, and what is counted in them; None when it is none."""
    head = [line for line in page.lines[:2000] if line]
    fits = (row for row in _LOGS if sum(1 for line in head if rx(row[0]).match(line)) * 10 >= 9 * len(head))
    return next(fits, None) if len(head) >= 20 else None


def _log(page: _Page) -> List[Evidence]:
    """Access logs, syslog, levelled and timestamped logs: how many lines of each level or status. What is odd in them, the text profile knows."""
    start, counted = _log_format(page) or (b"", b"")
    if not start:
        return []
    counts: Dict[str, int] = {}
    for match in rx(counted or _LEVEL).finditer(page.text):
        name = match.group(1).decode() if not counted else "%sxx" % match.group(1)[:1].decode()
        counts[name] = counts.get(name, 0) + 1
    shapes: Dict[bytes, int] = {}
    for line in page.lines if not counted and len(page.lines) <= 50_000 else ():
        shape = _shape(rx(start).sub(b"", line, 1))
        shapes[shape] = shapes.get(shape, 0) + 1
    totals = {"lines": len(page.lines), **dict(sorted(counts.items()))}
    rows = [page.row("template", shape, "×%d".encode() % count, 0, 0, count) for shape, count in shapes.items() if count > 1]
    evidence = page.evidence("log", rows if len(rows) <= 12 else (), totals)
    evidence.quotes = evidence.quotes[:3]
    for match in rx(rb"(?m)^[^\n]*?\" 5\d\d [^\n]*").finditer(page.text) if counted and counts.get("5xx", 0) * 50 <= len(page.lines) else ():
        if len(evidence.quotes) < 23:
            evidence.quotes.append(page.quote(page.text.count(b"\n", 0, match.start()) + 1, 8.0))
    return [evidence]


# ── searches ──

_NO_PATH = rb"[\d\W_]*$|.*\s\d+$|\w{3} +\d+ \d|.*\bat\s"  # times, and the words of logs


def _search(page: _Page) -> List[Evidence]:
    """`grep -n` with names, with or without context: every file with its hits. A name is the one that fits most of the lines that follow."""
    lines, hits = page.lines, 0
    rows: Dict[bytes, List[int]] = {}
    others = context = odd = n = 0
    if _log_format(page):
        return []
    while n < len(lines):
        line = lines[n]
        if line == b"--" or rx(rb"Binary file .* matches$|(?:grep|rg|git|ag|ugrep): .+: ").match(line):
            others += line != b"--"
            n += 1
            continue
        best = (0, 0, b"", 0, 0)  # lines, ascending, path, hits, context
        for path in _splits(line):
            run = _reach(lines, n, path)
            if run[3] and (run[0], run[1]) > best[:2]:
                best = run
        if not best[0] or rx(_NO_PATH).match(best[2]):
            return []
        hits, context = hits + best[3], context + best[4]
        row = rows.get(best[2])
        if row is None:
            rows[best[2]] = [best[3], n + 1, n + best[0]]
        else:
            row[0], row[2] = row[0] + best[3], n + best[0]
        n += best[0]
    diagnostic = sum(1 for line in lines if rx(_LINTED).match(line))
    odd = sum(1 for path in rows if not rx(rb"\S*[/\\.]\S*|\S+$").match(path))
    if hits < 2 or diagnostic * 2 > hits or odd * 10 > len(rows) or not any(rx(rb".*[/\\.]|[A-Z]\w+$").match(path) for path in rows):
        return []
    facts = [page.row("file", path, _count(count, "hit"), first, last, count, path.replace(b"\\", b"/").rpartition(b"/")[0]) for path, (count, first, last) in rows.items()]
    totals = {"hits": hits, "files": len(rows), "lines of context": context, "messages": others}
    return [page.evidence("search", facts, {name: count for name, count in totals.items() if count})]


# a line of a compiler or linter: one or two blanks part the place from what is said of it
_LINTED = rb"(?:[A-Za-z]:)?[^:\n]+:\d+:(?:\d+:)? {1,2}\S"


def _splits(line: bytes) -> List[bytes]:
    """Every path that a line may start with, before a separator, a number and the same separator: at most four."""
    return [line[: match.start()] for match, _ in zip(rx(rb"([:=-])[1-9]\d{0,8}(?=\1)").finditer(line, 1), range(4))]


def _reach(lines: List[bytes], at: int, path: bytes) -> Tuple[int, int, bytes, int, int]:
    """How many lines from here on belong to a file of this name, whether their numbers ascend strictly, the name, hits, context."""
    n, before, strict, hits, context = at, 0, 1, 0, 0
    tail = rx(rb"([:=-])([1-9]\d{0,8})\1")
    while n < len(lines):
        match = lines[n].startswith(path) and tail.match(lines[n], len(path))
        if not match:
            if lines[n] == b"--" and n + 1 < len(lines) and lines[n + 1].startswith(path):
                n += 1
                continue
            break
        number = int(match.group(2))
        if number < before:
            break
        strict &= number > before
        hits, context, before = hits + (match.group(1) == b":"), context + (match.group(1) != b":"), number
        n += 1
    return n - at, strict, path, hits, context


def _search_heading(page: _Page) -> List[Evidence]:
    """`rg --heading`, ag: a file's name, then its hits."""
    rows, name, hits, at = [], b"", 0, 0
    for n, line in enumerate([*page.lines, b""], 1):
        if not line:
            if name and hits:
                rows.append(page.row("file", name, _count(hits, "hit"), at, n - 1, hits, name.rpartition(b"/")[0]))
            elif name:
                return []
            name, hits = b"", 0
        elif not name:
            name, at = line, n
        else:
            match = rx(rb"[1-9]\d*([:-])|--$").match(line)
            if not match:
                return []
            hits += match.group(1) == b":"
    if not rows or not all(rx(rb"\S*[./\\]\S*$|[./].*$").match(row.identity) for row in rows) or len({row.identity for row in rows}) < len(rows):
        return []
    return [page.evidence("search", rows, {"hits": sum(int(row.value) for row in rows), "files": len(rows)})]


_BEHIND_PATH = rb"((?:[A-Za-z]:[\\/])?[^\s:]*[/\\.][^\s:]*|[A-Z]\w+):"


def _search_plain(page: _Page) -> List[Evidence]:
    """`rg` and `grep -r` as they print into a pipe: each line behind its file's name, the lines of a file together."""
    lines, around = page.lines, b"\n--\n" in page.text
    rows: Dict[bytes, List[int]] = {}
    path, context, spaced = b"", 0, 0
    for n, line in enumerate(lines):
        if line == b"--" or rx(rb"Binary file .* matches$|(?:grep|rg|ag|ugrep): .+: ").match(line):
            continue
        mark = line[len(path) : len(path) + 1] if path and line.startswith(path) else b""
        if mark != b":" and not (around and mark == b"-"):
            path = _common_path(lines, n, 20 if around else 1)
            if not path or path in rows:
                return []
            rows[path] = [0, n + 1, 0]
        hit = line[len(path)] == 58
        rows[path][0] += hit
        rows[path][2] = n + 1
        context += not hit
        spaced += hit and rx(rb" \S|\d+\b|\(\.").match(line, len(path) + 1) is not None  # what is said of a place in it
    hits = sum(row[0] for row in rows.values())
    if hits < 3 or hits == len(rows) or spaced * 2 > hits or not any(rx(rb".*[/\\.]").match(name) for name in rows):
        return []
    facts = [page.row("file", name, _count(count, "hit"), first, last, count, name.replace(b"\\", b"/").rpartition(b"/")[0]) for name, (count, first, last) in rows.items()]
    totals = {"hits": hits, "files": len(rows), "lines of context": context}
    return [page.evidence("search", facts, {name: count for name, count in totals.items() if count})]


def _common_path(lines: List[bytes], at: int, most: int) -> bytes:
    """The name that most of the next lines start with, as a hit among them spells it: a line of context may hold a name of its own."""
    block = lines[at : at + most]
    block = block[: block.index(b"--")] if b"--" in block else block
    names = [m.group(1) for m in map(rx(_BEHIND_PATH).match, block) if m and block[0].startswith((m.group(1) + b":", m.group(1) + b"-"))]
    return max(names, key=lambda name: sum(line.startswith((name + b":", name + b"-")) for line in block), default=b"")


def _search_counts(page: _Page) -> List[Evidence]:
    """`grep -c`, `rg -c`: files and how many lines of each."""
    found = _all(page, rb"(?=.*[./\\])(.*\S):(0|[1-9]\d*)$")
    if not found or sum(b" " in match.group(1) for match in found) * 5 > len(found) or len({match.group(1) for match in found}) < len(found):
        return []
    counts = [(n, match.group(1), int(match.group(2))) for n, match in enumerate(found, 1)]
    rows = [page.row("file", path, _count(count, "hit"), n, 0, count, path.rpartition(b"/")[0]) for n, path, count in counts if count]
    totals = {"hits": sum(row[2] for row in counts), "files": len(rows), "files without": len(counts) - len(rows)}
    return [page.evidence("search", rows, totals)]


# ── listings ──

_LS = rb"[-bcdlpsDC][-rwxsStTlL]{9}[.+@]? +\d+ \S.*"


def _ls(page: _Page) -> List[Evidence]:
    """`ls -l`, `ls -R`, `ls -lR`: directories and how much is in each."""
    lines = page.lines
    sections: List[Tuple[bytes, int, int]] = []  # directory, first, last line of its entries
    long = any(rx(_LS).match(line) for line in lines[:4])
    head = 0
    if not long and not lines[0].endswith(b":"):
        return []
    for n, line in enumerate(lines):
        if line.endswith(b":") and (n == 0 or not lines[n - 1]) and not rx(_LS).match(line):
            sections.append((line[:-1], n + 1, n + 1))
            head = n
        elif line and sections:
            sections[-1] = (*sections[-1][:2], n + 1)
    if not sections and long:
        sections = [(b".", 0, len(lines))]
    names = {name for name, _, _ in sections}
    nested = [name for name, _, _ in sections[1:] if name.rpartition(b"/")[0] in names or name.rpartition(b"/")[0] + b"/" in names]
    if not sections or (sections[0][1] > 1 and not long) or len(names) < len(sections) or (not long and len(nested) + 1 < len(sections)):
        return []
    rows, totals = [], {"directories": len(sections), "entries": 0}
    for name, first, last in sections:
        entries = [line for line in lines[first:last] if line and not rx(rb"total [\d.,]+\w?$").match(line)]
        if long and not all(rx(_LS).match(line) for line in entries):
            return []
        inner = sum(1 for line in entries if line.startswith(b"d")) if long else 0
        totals["entries"] += len(entries)
        words = _count(len(entries), "entry", "entries") + (b", " + _count(inner, "directory", "directories") if inner else b"")
        rows.append(page.row("directory", name, words, first or 1, last, 1.0, name.rpartition(b"/")[0]))
        if long:
            totals["files"] = totals.get("files", 0) + len(entries) - inner
    return [page.evidence("listing", rows, totals)] if totals["entries"] and (long or head) else []


def _tree(page: _Page) -> List[Evidence]:
    """`tree`: what is at the top, with all that is below each."""
    claim = rx(rb"(?: *[\d.]+[KMGT]? used in )?(\d+) director(?:y|ies)(?:, (\d+) files?)?$").match(page.lines[-1])
    if not claim:
        return []
    lines = [line.replace(b"\xc2\xa0", b" ") for line in page.lines]
    rows: List[List[Any]] = []
    entries = 0
    for n, line in enumerate(lines[:-1], 1):
        match = rx(rb"((?:[|] {3}|\xe2\x94\x82 {2,3}| {4})*)(?:\xe2\x94[\x9c\x94]\xe2\x94\x80\xe2\x94\x80|[|`]--) (.+)$").match(line)
        if match:
            entries += 1
            if not match.group(1):
                rows.append([rx(rb"\[[^\]\n]*\]  ").sub(b"", match.group(2), 1), 0, n, n])
            elif rows:
                rows[-1][1], rows[-1][3] = rows[-1][1] + 1, n
        elif line and n > 1:
            return []
    facts = [page.row("entry", name, _count(below, "entry", "entries") + b" below" if below else b"", n, end) for name, below, n, end in rows]
    evidence = page.evidence("listing", facts, {"directories": int(claim.group(1)), "files": int(claim.group(2) or 0)})
    if sum(evidence.totals.values()) - entries not in (0, 1):
        evidence.unsure = "tree counts %d entries, the output has %d" % (sum(evidence.totals.values()), entries)
    return [evidence] if rows else []


def _du(page: _Page) -> List[Evidence]:
    """`du`: directories with their sizes."""
    found = _all(page, rb"(\d+(?:\.\d+)?)([KMGTPB]?)\t(.+)$")
    units = [float(m.group(1)) * 1024.0 ** max(b"BKMGTP".find(m.group(2)) if m.group(2) else 0, 0) for m in found]
    sized = [(n, m.group(3), m.group(1) + m.group(2), unit) for n, (m, unit) in enumerate(zip(found, units), 1)]
    if not sized:
        return []
    if not all(path == b"total" or b"/" in path or path == sized[-1][1] for _, path, _, _ in sized):
        return []
    return [page.evidence("listing", [page.row("directory", path, size, n, 0, value) for n, path, size, value in sized], {"directories": len(sized)})]


# what may stand before each path: git ls-files -s, git ls-tree -r [-l]; find -ls; checksums
_BEFORE_PATH = (
    rb"[0-7]{6} (?:blob |tree |commit )?[0-9a-f]{40,64}(?: +\d+| +-)?\t",
    rb" *\d+ +\d+ [-bcdlps][-rwxsStT]{9} +\d+ +\S+ +\S+ +\d+ [A-Z][a-z]{2} +\d+ +[\d:]+ ",
    rb"[0-9a-f]{32,128} [ *]",
)


def _paths(page: _Page) -> List[Evidence]:
    """find, fd, `grep -l`, `git ls-files`: nothing but paths; directories and how many of them are in each."""
    lines = page.lines
    before = next((expression for expression in _BEFORE_PATH if lines and rx(expression).match(lines[0])), b"")
    if before:
        cut = [rx(before).match(line) for line in lines]
        lines = [line[m.end() :] for line, m in zip(lines, cut) if m]
        if len(lines) < len(cut):
            return []
    rooted = rx(rb"(?:\.{1,2}|~)?/[^:\t]*$|[A-Za-z]:\\[^:\t]*$")
    plain = rx(rb"[\w.@+~#%=,{}()\[\]-]+(?:[/\\][^\s:;|<>\"]*)*$")
    if len(lines) < 5 or len(set(lines)) < len(lines) or sum(b"/" in line or b"\\" in line for line in lines) * 10 < 8 * len(lines):
        return []
    odd = 0
    counts: Dict[bytes, List[int]] = {}
    for n, line in enumerate(lines, 1):
        if not rooted.match(line) and not plain.match(line) and line != b".":
            odd += 1
            first = line.partition(b"/")[0]
            if odd * 20 > len(lines) or not (line.startswith((b"./", b"/")) or b"/" in line and plain.match(first)):
                return []
        name = (line.rstrip(b"/") if b"/" in line else line.replace(b"\\", b"/")).rpartition(b"/")[0] or (b"/" if line.startswith(b"/") else b".")
        entry = counts.setdefault(line[: len(name)] if len(name) > 1 else name, [0, n])
        entry[0] += 1
    rows = [page.row("directory", name, _count(count, "path"), n, 0, count, name.rpartition(b"/")[0]) for name, (count, n) in counts.items()]
    return [page.evidence("listing", rows, {"paths": len(lines), "directories": len(rows)})]


# ── data ──


class _Tally:
    """The values in one place of many records: how often each, and each sort of them, and where the first few are."""

    __slots__ = ("total", "sorts", "values")

    def __init__(self) -> None:
        self.total = 0
        self.sorts: Dict[bytes, List[Any]] = {}  # [number, (value, where), …]
        self.values: Dict[Tuple[bytes, Any], List[Any]] = {}  # the same, behind the entry of the value's sort; the first 64

    def add(self, values: List[Any], where: Callable[[int], Any], sort: bytes = b"") -> None:
        """Count values; `where` tells where the one of a number is. Without a `sort` they are texts of which some are numbers."""
        from collections import Counter

        self.total += len(values)
        for value, count in Counter(values).items():
            key = sort or _sort_of(value), value
            kind = self.sorts.setdefault(key[0], [0])
            kind[0] += count
            entry = self.values.get(key)
            if entry is None and len(self.values) <= 64:
                entry = self.values[key] = [0, kind]
            if entry is not None:
                entry[0] += count
            at = -1
            while count and (len(kind) <= _ODD_PLACES or (entry is not None and len(entry) <= _ODD_PLACES + 1)):
                at, count = values.index(value, at + 1), count - 1
                place = value, where(at)
                for places, most in ((kind, _ODD_PLACES), (entry or [], _ODD_PLACES + 1)):
                    if 0 < len(places) <= most:
                        places.append(place)

    def odd(self) -> List[Tuple[Any, int, Any]]:
        """(value, how often, where) of what only few records have, when nearly all others agree."""
        out: Dict[Tuple[str, str], Tuple[Any, int, Any]] = {}
        for table in (self.values if len(self.values) <= 64 else {}, self.sorts) if self.total >= 20 else ():
            rare = {key: entry for key, entry in table.items() if entry[0] <= max(1, self.total // 50)}
            if 1 <= len(table) - len(rare) <= 8 and len(rare) <= 20 and sum(entry[0] for entry in rare.values()) * 20 <= self.total:
                for entry in rare.values():
                    for value, at in entry[2 if table is self.values else 1 :]:
                        out.setdefault((repr(value), repr(at)), (value, entry[0], at))
        return list(out.values())


def _sort_of(value: bytes) -> bytes:
    """What a cell of a table holds."""
    if value.isdigit() or rx(rb"[-+]?\$?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?%?$").match(value):
        return b"number"
    return b"text" if value else b"empty"


def _odd_rows(page: _Page, tallies: Dict[bytes, _Tally], evidence: Evidence) -> None:
    """Facts and quotes for the odd values of columns, whose places are lines."""
    for name, tally in tallies.items():
        told: Set[bytes] = set()
        for value, count, line in tally.odd():
            if value not in told:
                told.add(value)
                evidence.facts.append(page.row("odd", b"%s: %s" % (name, value[:80] or b"(empty)"), b"%d of %d" % (count, tally.total), line, 0, 9.0))
            evidence.quotes.append(page.quote(line, 9.0))


def _table_evidence(page: _Page, records: Iterable[Tuple[int, List[bytes]]], header: List[bytes], name: str = "table") -> Evidence:
    """Rows, columns and odd values of a table; a record that has another number of columns is odd."""
    from itertools import islice

    tallies = {column or b"column %d" % i: _Tally() for i, column in enumerate(header, 1)}
    total, ragged, rest = 0, [], iter(records)
    for batch in iter(lambda: list(islice(rest, _BATCH)), []):
        total += len(batch)
        ragged += [(line, len(values)) for line, values in batch if len(values) != len(tallies)]
        lines = [line for line, values in batch if len(values) == len(tallies)]
        columns = zip(*(values for _, values in batch if len(values) == len(tallies)))
        for tally, column in zip(tallies.values(), columns):
            tally.add(list(column), lines.__getitem__)
    evidence = page.evidence(name, (), {"rows": total, "columns": len(tallies)})
    if ragged:
        evidence.totals["odd rows"] = len(ragged)
    for line, width in ragged[:50]:
        evidence.facts.append(page.row("odd", b"line %d" % line, b"%d columns instead of %d" % (width, len(tallies)), line, 0, 9.0))
        evidence.quotes.append(page.quote(line, 9.0))
    if len(tallies) == len(header):
        _odd_rows(page, tallies, evidence)
    return evidence


_FOOTER = rb"\((\d+) rows?\)$"


def _csv(page: _Page) -> List[Evidence]:
    """CSV and its kin, by records: a quoted field may hold line ends."""
    import csv

    head = page.lines[:50]
    delimiter = max(b",\t;|", key=lambda byte: (min((line.count(byte) for line in head[:1]), default=0), -byte))
    columns = page.lines[0].count(delimiter) + 1
    if len(page.lines) < 5 or columns < 2 or page.lines[0].startswith((b"{", b"[", b" ", b"<", b"#", b"-")):
        return []
    if sum(line.count(delimiter) >= columns - 1 for line in head) * 2 < len(head):
        return []
    footer = rx(_FOOTER).match(page.lines[-1])
    body = page.lines[:-1] if footer else page.lines
    records = _csv_records(csv.reader((line.decode("latin-1") + "\n" for line in body), delimiter=chr(delimiter)))
    try:
        first = [record for _, record in zip(range(200), records)]
        header = first[0][1]
        named = len(set(header)) == len(header) and all(rx(rb"\s*[^\W\d][\w .()/%#-]{0,60}$").match(name) for name in header)
        fit = sum(1 for _, record in first if len(record) == len(header))
        words = delimiter == 44 and columns == 2 and rx(rb"\w+ \w+ \w+").search(page.lines[1])
        if fit * 100 < 97 * len(first) or fit < 5 or (not named and delimiter != 9) or words:
            return []
        rows = (record for part in (first[named:], records) for record in part if record[1])
        evidence = _table_evidence(page, rows, header if named else [b"column %d" % i for i in range(1, len(header) + 1)])
    except csv.Error:
        return []
    if footer and int(footer.group(1)) != evidence.totals["rows"]:
        evidence.unsure = "%d rows by the footer, %d read" % (int(footer.group(1)), evidence.totals["rows"])
    return [evidence] if evidence.totals.get("odd rows", 0) * 33 <= evidence.totals["rows"] else []


def _csv_records(reader: Any) -> Iterator[Tuple[int, List[bytes]]]:
    """(line that it starts in, values) of each record."""
    first = 1
    for record in reader:
        yield first, [value.encode("latin-1") for value in record]
        first = reader.line_num + 1


_RULE = rb"[-+=|: ]*--[-+=|: ]*$"


def _aligned(page: _Page) -> List[Evidence]:
    """psql, mysql, sqlite -column, docker, kubectl: a header, maybe a rule below it, and columns that stand under their names."""
    lines = page.lines
    if any(box in line for line in lines[:2] for box in (b"\xe2\x94", b"\xe2\x95")):
        lines = [rx(rb"\xe2\x94\x82|\xe2\x95\x91").sub(b"|", rx(rb"\xe2\x94\x80|\xe2\x95\x90").sub(b"-", line)) for line in lines]
        lines = [rx(rb"\xe2(?:\x94|\x95)[\x80-\xbf]").sub(b"+", line) for line in lines]
    ruled = any(rx(_RULE).match(line) for line in lines[:2])
    if not ruled and lines[0] != lines[0].upper():
        return []
    last = len(lines)
    while last and not lines[last - 1].strip():
        last -= 1
    footer = rx(_FOOTER).match(lines[last - 1]) if last else None
    body = ((n, lines[n - 1].decode("utf-8", "replace").rstrip()) for n in range(1, last + 1 - bool(footer)) if not rx(_RULE).match(lines[n - 1]))
    head, header = next(body, (0, ""))
    if ruled and "|" in header:
        cells: Callable[[str], List[bytes]] = _between_bars
    else:
        names = [(match.start(), match.group()) for match in _cells_of(header)]
        if len(names) < 2 or not (ruled or all(name == name.upper() and any(map(str.isalpha, name)) for _, name in names)):
            return []
        starts = [at for at, _ in names]

        def cells(line: str) -> List[bytes]:
            return [] if any(line[at - 1 : at].strip() for at in starts[1:]) else [line[a:b].strip().encode() for a, b in zip(starts, [*starts[1:], 10**6])]

    columns, bad = cells(header), []
    rows = ((n, row) for n, row in ((n, cells(line)) for n, line in body if line) if row or bad.append(n))  # type: ignore[func-returns-value]
    evidence = _table_evidence(page, rows, columns)
    total, ragged = evidence.totals["rows"], evidence.totals.get("odd rows", 0)
    if total < 2 or ragged * 50 > total or bad and (not ruled or len(bad) * 50 > total):
        return []
    if footer and int(footer.group(1)) != total:
        evidence.unsure = "%d rows by the footer, %d read" % (int(footer.group(1)), total)
    return [evidence]


def _between_bars(line: str) -> List[bytes]:
    """The cells of a row whose columns are parted by bars, with or without one at each end."""
    return [cell.strip().encode() for cell in (line[1:].rstrip("|") if line.startswith("|") else line).split("|")]


def _cells_of(header: str) -> List[Match[str]]:
    """The names in a header of aligned columns: two blanks part them."""
    import re

    return list(re.finditer(r"\S+(?: \S+)*", header))


def _pointer(path: Any) -> bytes:
    """A JSON pointer (RFC 6901) of a path, which is () or (path, name)."""
    out = b""
    while path:
        path, name = path
        out = b"/" + str(name).replace("~", "~0").replace("/", "~1").encode("utf-8", "surrogateescape") + out
    return out


def _json_word(value: Any) -> bytes:
    """A JSON scalar as JSON spells it, a string without its quotes."""
    import json

    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogateescape")


_JSON_SORTS: Tuple[Tuple[bytes, Tuple[type, ...]], ...] = (
    (b"object", (dict,)), (b"array", (list,)), (b"string", (str,)), (b"number", (int, float)), (b"boolean", (bool,)), (b"null", (type(None),)),
)  # fmt: skip


class _Shape:
    """The shape of JSON documents: by place (items of arrays and of large maps under `*`), the values and how many objects have each key.

    Values are taken in by columns, all that stand at one place together, since counting them one by one costs ten times as much.
    """

    __slots__ = ("places", "objects", "lengths")

    def __init__(self) -> None:
        self.places: Dict[bytes, _Tally] = {}
        self.objects: Dict[bytes, List[Any]] = {}  # place → [number, {key: [number, first object that has it]}]
        self.lengths: Dict[bytes, int] = {}

    def add(self, values: List[Any], where: Callable[[int], Any], place: bytes) -> None:
        """Take in the values at a place, with all that is in them; `where` gives the path of the one of a number."""
        stack = [(values, where, place)]
        while stack:
            values, where, place = stack.pop()
            if place not in self.places and len(self.places) >= _JSON_PLACES or place.count(b"/") > _JSON_DEPTH:
                continue
            tally = self.places.setdefault(place, _Tally())
            types = set(map(type, values))
            inside: List[Tuple[List[Any], Callable[[int], Any], bytes]] = []
            for sort, own in _JSON_SORTS:
                if types.isdisjoint(own):
                    continue
                same, at = _picked(values, where, [] if types <= set(own) else [i for i, value in enumerate(values) if type(value) in own])
                tally.add(same if own[0] not in (dict, list) else [""] * len(same), at, sort)
                if own[0] is dict:
                    inside += self.members(same, at, place)
                elif own[0] is list:
                    self.lengths[place] = self.lengths.get(place, 0) + sum(map(len, same))
                    inside.append(([item for array in same for item in array], _path_in(same, at), place + b"/*"))
            stack += reversed([column for column in inside if column[0]])

    def members(self, objects: List[Any], where: Callable[[int], Any], place: bytes) -> Iterator[Tuple[List[Any], Callable[[int], Any], bytes]]:
        """The columns of some objects: of each key, or of all together where an object has very many."""
        from collections import Counter

        self.lengths[place] = self.lengths.get(place, 0) + sum(map(len, objects))
        entry = self.objects.setdefault(place, [0, {}])
        entry[0] += len(objects)
        small = [i for i, value in enumerate(objects) if len(value) <= _JSON_KEYS]
        if len(small) < len(objects):
            large = [i for i, value in enumerate(objects) if len(value) > _JSON_KEYS]
            yield [value for i in large for value in objects[i].values()], _path_in([objects[i] for i in large], lambda n: where(large[n])), place + b"/*"
            objects, where = _picked(objects, where, small)
        for name, count in Counter(name for value in objects for name in value).items():
            own, at = _picked(objects, where, [] if count == len(objects) else [i for i, value in enumerate(objects) if name in value])
            entry[1].setdefault(name, [0, at(0)])[0] += count
            yield [value[name] for value in own], lambda n, at=at, name=name: (at(n), name), place + _pointer(((), name))  # type: ignore[misc]

    def read(self, text: str, at: int, path: Any = (), place: bytes = b"") -> Tuple[int, int]:
        """Take in the array or object at an offset of a text, part by part, as far as the text goes: how many members, and where it
        ends, -1 when that is not in the text. Raises ValueError when it is no JSON, or of parts that are too long."""
        listed, total, after = text[at] == "[", 0, _blank(text, at + 1)
        if place.count(b"/") > _JSON_SPINE:
            raise ValueError("nested too deeply")
        many = False
        while text[after : after + 1] != ("]" if listed else "}"):
            names, values, stop = _json_members(text, after, listed)
            first = total
            if values:
                many = many or listed or total + len(names) > _JSON_KEYS
                if many:
                    self.add(values, lambda n, first=first, names=names: (path, names[n] if names else first + n), place + b"/*")  # type: ignore[misc]
                for name, value in () if many else zip(names, values):
                    self.add([value], lambda n, name=name: (path, name), place + _pointer(((), name)))  # type: ignore[misc]
            else:  # longer than a part, or cut
                name, begin = ("*", after) if listed else _json_key(text, after)
                inner, here = place + _pointer(((), name)), (path, total if listed else name)
                if text[begin : begin + 1] in ("[", "{"):
                    self.places.setdefault(inner, _Tally()).add([""], lambda n, here=here: here, b"array" if text[begin] == "[" else b"object")  # type: ignore[misc]
                    count, stop = self.read(text, begin, here, inner)
                    self.lengths[inner] = self.lengths.get(inner, 0) + count
                else:
                    value, stop = _json_scalar(text, begin)
                    if stop < 0:
                        return total, -1
                    self.add([value], lambda n, here=here: here, inner)  # type: ignore[misc]
            total += len(values) or 1
            after = _blank(text, stop) if stop >= 0 else len(text)
            if after >= len(text):
                return total, -1
            if text[after] == ",":
                after = _blank(text, after + 1)
            elif text[after] not in "]}":
                raise ValueError("no JSON")
        return total, after + 1

    def rows(self, deepest: int) -> Iterator[Tuple[bytes, bytes]]:
        """(place, what is there) down to so many levels."""
        for place, tally in sorted(self.places.items(), key=lambda item: item[0].count(b"/")):
            if 0 < place.count(b"/") <= deepest:
                sorts = b", ".join(sort + (b" \xc3\x97%d" % entry[0] if tally.total > 1 else b"") for sort, entry in tally.sorts.items())
                values = b", ".join(_json_word(value)[:60] for _, value in tally.values if value != "") if tally.total <= 3 else b""
                yield place, sorts + (b" of %d" % self.lengths[place] if place in self.lengths and tally.total == 1 else b"") + (b" " + values if values else b"")

    def odd(self) -> Iterator[Tuple[bytes, bytes, bytes, bytes]]:
        """(pointer, what is odd there, key, JSON text of the value) of keys that few objects have, and of values that few places have."""
        for number, keys in self.objects.values():
            for name, (count, path) in keys.items():
                if number >= 20 and count * 50 <= number:
                    yield _pointer((path, name)), b"a key of %d in %d" % (count, number), name.encode("utf-8", "surrogateescape"), b""
        for place, tally in self.places.items():
            for value, count, path in tally.odd() if b"*" in place else ():
                name, word = str(path[1]).encode("utf-8", "surrogateescape") if path else b"", _json_word(value)
                yield _pointer(path), b"%s (%d of %d)" % (word[:80] or b"empty", count, tally.total), name, word


def _picked(values: List[Any], where: Callable[[int], Any], index: List[int]) -> Tuple[List[Any], Callable[[int], Any]]:
    """Some of a column's values, by their numbers, all when none are given."""
    return ([values[i] for i in index], lambda n: where(index[n])) if index else (values, where)


def _path_in(containers: List[Any], where: Callable[[int], Any]) -> Callable[[int], Any]:
    """What gives the path of a member by its number among those of all containers."""
    starts: List[int] = []

    def path(n: int) -> Any:
        from bisect import bisect_right
        from itertools import accumulate

        if not starts:
            starts.extend(accumulate(map(len, containers)))
        at = bisect_right(starts, n)
        inner = n - (starts[at - 1] if at else 0)
        held = containers[at]
        return where(at), list(held)[inner] if isinstance(held, dict) else inner

    return path


def _blank(text: str, at: int) -> int:
    """The end of the white space that begins here."""
    while text[at : at + 1] in (" ", "\n", "\r", "\t"):
        at += 1
    return at


def _json_scalar(text: str, at: int) -> Tuple[Any, int]:
    """A value that is longer than a part, and where it ends; -1 when it is cut."""
    import json

    try:
        return json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        return None, -1


def _json_key(text: str, at: int) -> Tuple[str, int]:
    """(key, where its value begins) of an object's member; behind the text's end when it is cut. Raises ValueError when it is none."""
    import json

    try:
        name, stop = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        if len(text) - at < _JSON_PART:
            return "", len(text)
        raise
    stop = _blank(text, stop)
    if not isinstance(name, str) or text[stop : stop + 1] not in (":", ""):
        raise ValueError("no key")
    return name, _blank(text, stop + 1)


def _json_members(text: str, at: int, listed: bool) -> Tuple[List[str], List[Any], int]:
    """(keys of an object, values, where they end) of the members from an offset on, as many as one part holds whole.

    Members mostly look alike: up to the last place in the part that looks like the first boundary they are decoded in one go, which
    fails unless it is one.
    """
    import json

    part = text[at : at + _JSON_PART]
    decode = json.JSONDecoder().raw_decode
    names: List[str] = []
    values: List[Any] = []
    pos = end = 0
    try:
        _, first = decode(part, 0 if listed else _json_key(part, 0)[1])
        following, shut = _blank(part, first), part[first - 1] in "}]\""
        if part[following : following + 1] == ",":
            boundary = part[first - shut : _blank(part, following + 1) + (shut or not listed)]
            cut = part.rfind(boundary, first - 1) + shut
            several, stop = decode(("[%s]" if listed else "{%s}") % part[:cut], 0)
            if stop == cut + 2:
                return (names, several, at + cut) if listed else (list(several), list(several.values()), at + cut)
    except (ValueError, RecursionError):
        pass
    values = []
    try:
        while True:
            name, begin = ("", pos) if listed else _json_key(part, pos)
            value, stop = decode(part, begin)
            after = _blank(part, stop)
            if part[after : after + 1] not in (",", "]", "}") or not part[after : after + 1]:
                break
            values.append(value)
            names += [] if listed else [name]
            end = stop
            if part[after] != ",":
                break
            pos = _blank(part, after + 1)
    except (ValueError, RecursionError, IndexError):
        pass
    return names, values, at + end


def _json(page: _Page) -> List[Evidence]:
    """A JSON document, or one on each line: its shape, and the keys and values that few records have."""
    if page.text[:KIB].lstrip()[:1] not in (b"{", b"["):
        return []
    near = page.text if not page.cut else strip_ansi(page.source.read(0, min(page.source.size, _NEAR_BYTES)))
    text = near.decode("utf-8", "surrogateescape")
    shape = _Shape()
    try:
        lined = _json_lines(text, shape, page.source.size <= _NEAR_BYTES)
        if lined is None:
            total, end = shape.read(text, _blank(text, 0))
            if end >= 0 and text[end : end + KIB].strip() or end < 0 and page.source.size <= _NEAR_BYTES:
                return []
            totals = {"items" if text[_blank(text, 0)] == "[" else "keys": total}
        elif "records" in lined:
            totals = lined
        else:
            return []
    except (ValueError, RecursionError):
        return []
    if _is_report(text):
        return []
    whole = page.source.size <= _NEAR_BYTES
    if len(totals) > 1:
        return [_sampled(page, whole, page.evidence("log", (), totals))]
    deepest = next((depth for depth in (3, 2) if sum(1 for _ in shape.rows(depth)) <= 40), 1)
    evidence = _sampled(page, whole, page.evidence("json", [page.row("place", place, words) for place, words in shape.rows(deepest)], totals))
    for pointer, words, name, value in shape.odd():
        at = _find_member(page, name, value)
        if all(other.identity != pointer for other in evidence.facts[-20:] if other.kind == "odd"):
            evidence.facts.append(page.row("odd", pointer, words, at, 0, 9.0))
        if at:
            evidence.quotes.append(page.quote(at, 9.0))
    return [evidence]


def _is_report(text: str) -> bool:
    """Whether the start of a JSON text is a linter's report or `go test -json`, which others read."""
    import json

    part = text[: 64 * KIB]
    start = _blank(part, 0)
    try:
        first, _ = json.JSONDecoder().raw_decode(part, start)
    except (ValueError, RecursionError):
        first = _json_members(text, _blank(text, start + 1), True)[1][:50] if text[start] == "[" else None
    return any(_json_diagnostics(first)) or (isinstance(first, dict) and "Action" in first and "Time" in first)


def _json_lines(text: str, shape: _Shape, whole: bool) -> Optional[Dict[str, int]]:
    """The shape of the records of JSON lines: how many, and how many of each level; None when a text is not one document to a line.

    Raises ValueError when a line is none.
    """
    import json
    from collections import Counter

    start = text[: _JSON_PART].lstrip().split("\n", 2)
    try:
        if len(start) < 2 or not start[1].startswith(("{", "[")) or not isinstance(json.loads(start[0]), (dict, list)):
            return None
    except (ValueError, RecursionError):
        return None
    levels: Dict[str, int] = {}
    total, at, number = 0, 0, 1
    while at < len(text):
        end = len(text) if at + _JSON_PART >= len(text) else text.rfind("\n", at, at + _JSON_PART) + 1 or text.find("\n", at) + 1 or len(text)
        part = text[at:end]
        if end == len(text) and not whole:
            part = part[: part.rfind("\n") + 1]
        lines = [(n, line) for n, line in enumerate(part.split("\n"), number) if line.strip()]
        records = json.loads("[" + ",".join(line for _, line in lines) + "]")
        if len(records) != len(lines) or not all(isinstance(record, (dict, list)) for record in records):
            raise ValueError("not one document to a line")
        shape.add(records, lambda n, lines=lines: ((), lines[n][0]), b"/*")  # type: ignore[misc]
        for key in ("level", "severity", "lvl", "levelname"):
            for level, count in Counter(str(record[key])[:20] for record in records if isinstance(record, dict) and key in record).items():
                levels[level] = levels.get(level, 0) + count
        total, at, number = total + len(records), end, number + part.count("\n")
    return {"records": total, **dict(sorted(levels.items()))}


def _sampled(page: _Page, whole: bool, evidence: Evidence) -> Evidence:
    """The evidence, which says when only a part was read."""
    evidence.unsure = "" if whole else "sampled: the first %s of %s" % (human(_NEAR_BYTES), human(page.source.size))
    return evidence


def _find_member(page: _Page, name: bytes, value: bytes) -> int:
    """The line of the only member of this name and value; 0 when there is none or more."""
    found = []
    for between in (b": ", b":") if name else ():
        for quote in (b'"', b""):
            sought = b'"%s"%s%s%s' % (name, between, quote, value)
            at = page.text.find(sought)
            found += [at, page.text.find(sought, at + 1)] if at >= 0 else []
            if not value:
                break
    found = [at for at in found if at >= 0]
    return page.text.count(b"\n", 0, found[0]) + 1 if len(found) == 1 and b"\n" in page.text.rstrip() else 0


def _yaml(page: _Page) -> List[Evidence]:
    """A stream or list of Kubernetes objects: kinds and names, and values that few of them have."""
    first = next((line for line in page.lines if line and not line.startswith((b"#", b"---"))), b"")
    if not rx(rb"(?:apiVersion|kind|items):").match(first) or not rx(rb"(?m)^(?:- |  )?kind: \S").search(page.text):
        return []
    rows: List[Fact] = []
    columns: Dict[bytes, Tuple[List[bytes], List[int]]] = {}
    kinds: Dict[str, int] = {}
    listed = rx(rb"(?m)^items:$").search(page.text) is not None
    for n, line in enumerate(page.lines, 1):
        match = rx(rb"( *)(?:- )?([\w./-]+):(?: +(.*))?$").match(line)
        starts = line.startswith((b"- ", b"- apiVersion")) if listed else line.startswith(b"---") or not rows
        if starts and line != b"items:":
            if rows:
                rows[-1].last = n - 1
            rows.append(page.row("object", b"", b"", n))
        if not match or not rows:
            continue
        indent, key, value = match.groups()
        if key == b"kind" and len(indent) == 2 * listed and not rows[-1].location:
            rows[-1].location = value
        elif key == b"name" and len(indent) == 2 + 2 * listed and not rows[-1].identity:
            rows[-1].identity = value
        elif key == b"namespace" and len(indent) == 2 + 2 * listed:
            rows[-1].message = value
        if value:
            word = rx(rb"\{ *(\w+)").match(value)
            values, lines = columns.setdefault(b"%s%s" % (b" " * len(indent), key), ([], []))
            values.append(word.group(1) if word else value)
            lines.append(n)
    rows = [row for row in rows if row.location and row.identity]
    for row in rows:
        row.identity = b"%s/%s" % (row.location, row.identity)
        kinds[fsdecode(row.location)] = kinds.get(fsdecode(row.location), 0) + 1
    if rows:
        rows[-1].last = len(page.lines)
    evidence = page.evidence("yaml", rows, kinds)
    tallies = {name.strip(): _Tally() for name in columns}
    for name, (values, lines) in columns.items():
        tallies[name.strip()].add(values, lines.__getitem__)
    _odd_rows(page, tallies, evidence)
    return [evidence] if rows else []


# ── bytes ──

_MAGIC: List[Tuple[bytes, bytes]] = [
    (b"\x89PNG", b"PNG image"), (b"\xff\xd8\xff", b"JPEG image"), (b"GIF8", b"GIF image"), (b"RIFF", b"RIFF media"), (b"BM", b"BMP image"),
    (b"%PDF", b"PDF document"), (b"\x7fELF", b"ELF object"), (b"MZ", b"Windows executable"), (b"\xcf\xfa\xed\xfe", b"Mach-O object"),
    (b"\xca\xfe\xba\xbe", b"Java class or universal binary"), (b"PK\3\4", b"zip archive"), (b"\x1f\x8b", b"gzip data"), (b"BZh", b"bzip2 data"),
    (b"\xfd7zXZ", b"xz data"), (b"\x28\xb5\x2f\xfd", b"zstd data"), (b"7z\xbc\xaf", b"7-zip archive"), (b"SQLite format 3", b"SQLite database"),
    (b"\0asm", b"WebAssembly module"), (b"!<arch>", b"ar archive"), (b"\0\0\1\0", b"icon"), (b"ID3", b"MP3 audio"), (b"OggS", b"Ogg media"), (b"wOF", b"web font"),
]  # fmt: skip


def _binary(source: Source) -> Evidence:
    """Bytes that are no text: format and size."""
    start = source.read(0, 512)
    name = next((name for magic, name in _MAGIC if start.startswith(magic)), b"tar archive" if start[257:262] == b"ustar" else b"binary data")
    evidence = Evidence("bytes/v1")
    evidence.facts = [Fact("format", name, b"", b"%s bytes" % commas(source.size).encode(), source.name)]
    evidence.span = [(source.name, 1, source.lines)]
    return evidence


_DUMPED = (
    rb"[0-9a-f]{6,}:?(?: +[0-9a-f]{2,11}){1,16}(?: .*)?$"  # xxd, hexdump, od
    rb"|[0-7]{7}(?:   .|  \\.| [0-7]{3}){1,16}$|[0-9a-f]{6,}$|\*$"  # od -c; the size at the end; lines like those before
)


def _hex(page: _Page) -> List[Evidence]:
    """xxd, `hexdump`, od: what was dumped is bytes, not text."""
    body, size = page.lines[:2000], 0
    plain = len(body) > 3 and all(len(line) == 60 and rx(rb"[0-9a-f]+$").match(line) for line in body[:-1])
    if plain:
        size = len(page.text.replace(b"\n", b"")) // 2
    elif len(body) < 3 or not rx(rb"0{6,}:?\s").match(body[0]) or not all(map(rx(_DUMPED).match, body)):
        return []
    else:
        second, last = (rx(rb"([0-9a-f]+)(:?)").match(line) for line in (body[1], page.lines[-1]))
        base = next((base for base in (16, 10, 8) if second and rx(rb"\d+$").match(second.group(1)) and int(second.group(1), base) == 16), 16)
        size = int(last.group(1), base) if last and rx(rb"[0-9]+$" if base < 16 else b"").match(last.group(1)) else 0
        if last and last.group(2):  # xxd ends with a line of bytes
            size += len(b"".join(page.lines[-1].split(b"  ")[0].split()[1:])) // 2
    return [page.evidence("bytes", [page.row("format", b"hex dump", _count(size, "byte") if size and page.whole else b"", 1, len(page.lines))])]


def _one_line(page: _Page) -> List[Evidence]:
    """A few very long lines, as minified files have."""
    if len(page.lines) > 5 or page.source.size < 20_000 or page.text.count(b"\r") > 20:
        return []
    evidence = page.evidence("bytes", [page.row("format", _count(len(page.lines), "long line"), _count(page.source.size, "byte"))])
    return [evidence]


def _redraws(page: _Page) -> List[Evidence]:
    """Lines that are drawn again and again: what they say last."""
    if page.text.count(b"\r") < 20:
        return []
    drawn = [(n, line.count(b"\r")) for n, line in enumerate(page.lines, 1) if line.count(b"\r") > 2]
    if not drawn:
        return []
    evidence = page.evidence("progress", (), {"redraws": sum(count for _, count in drawn)}, drawn[0][0], drawn[-1][0])
    evidence.span = [(page.source.name, n, n) for n, _ in drawn]
    evidence.quotes = [page.quote(n, 4.0) for n, _ in drawn[-10:]]
    return [evidence]


_READ_AGAIN = ("log/v1",)
# ── documents: source code, prose, settings ──

OUTLINE_SPREAD = 40  # lines of an outline that come before all others, evenly spaced
_NUMBERED = rb"(?: *\d+[\t:] ?)?"  # as by cat -n
_MODIFIERS = rb"(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\([^)\n]*\))?|unsafe|inline|override|sealed) +)*"

# What lines of an outline are called, and how they look; the group is their indentation, or the depth of a heading.
_OUTLINES = (
    ("definitions", _NUMBERED + rb"([ \t]*)(?=\S)" + _MODIFIERS + rb"(?:"
     rb"(?:class|struct|enum|trait|interface|namespace) +\w[\w.:]*(?:\s*[({:<;=]|\s+(?:extends|implements|for|where)\b|\s*$)"
     rb"|(?:def|function\*?|func|fn|sub) +[^\s(]*\s*[(\[<:{]|impl[ <][^\n]*\{|(?:const|let|var) \w+ = (?:async )?(?:function\b|\(?[\w, ]*\)? =>)"
     rb"|(?!(?:if|for|foreach|while|until|unless|switch|catch|else|elsif|return|do|try|with)\b)[\w$*~:<>,&\[\] ]*\([^;\n]*\)[^;()\n]*\{$)"),
    ("headings", _NUMBERED + rb"#(#{0,5}) (?!(?:if|else|endif|define|include|undef)\b)\S"),
    ("sections", _NUMBERED + rb"()\[{1,2}[\w.\"': -]+\]{1,2}\s*$"),
)  # fmt: skip


def _document(page: _Page) -> List[Evidence]:
    """A file that was read: its start, and an outline of it."""
    least = max(5, sum(1 for line in page.lines if line.strip()) // 100)
    for label, pattern in _OUTLINES:
        found = [(n, len(match.group(1))) for n, match in enumerate(map(rx(pattern).match, page.lines), 1) if match]
        if label == "headings":  # in scripts a comment looks the same
            found = [(n, depth) for n, depth in found if n == 1 or rx(_NUMBERED + rb"\s*$").match(page.lines[n - 2])]
        if len(found) >= least:
            evidence = page.evidence("document", (), {label: len(found)})
            top = [n for n, depth in found if depth == min(depth for _, depth in found)]
            spread = set(top[:: max(1, len(top) // OUTLINE_SPREAD)])
            evidence.quotes += [page.quote(n, 3.0 if n in spread else 2.0 / (1 + depth)) for n, depth in found if n > _START_LINES]
            return [evidence]
    return []


_RECOGNISERS: List[Callable[[_Page], List[Evidence]]] = [
    _json, _git_merge, _git_log, _git_diff, _git_stat, _git_status, _git_short, _git_blame, _git_oneline, _yaml, _ls, _tree, _du, _hex,
    _search, _search_counts, _search_heading, _search_plain, _paths, _hub_list, _aligned, _csv, _log, _redraws, _one_line, _document,
]  # fmt: skip


# ── packaging: installers and resolvers, as rows for the engine of diagnostics. A fact is a package, and what is wrong with it. ──

_NPM = rb"(?:npm|pnpm|bun) (?:ERR!|error) "

PACKAGING: List[Dialect] = [
    Dialect("pip", (b"ERROR: ", b" depends on ", b" requires ", b"did not run successfully"),
        (rb" *\xc3\x97 (?P<identity>(?:Building|Preparing|Getting requirements|Running setup\.py|"
            rb"python setup\.py)[^\n]*?) did not run successfully\.(?:\n(?! *\[end of output\])[^\n]*){1,400}?\n +"
            rb"(?P<message>\S[^\n]*)\n +\[end of output\]",
        rb"ERROR: Cannot install (?P<identity>[^\n]+?) because "
            rb"(?P<message>these package versions have conflicting dependencies[^\n]*|[^\n]*)",
        rb" +(?P<identity>(?:The user requested(?: \(constraint\))? \S[^\n]*|\S+ (?:\S+ )?depends on [^\n]+))$",
        rb"ERROR: (?P<message>Could not find a version that satisfies the requirement (?P<identity>[^\s(]+)[^\n]*)"
            rb"(?:\nERROR: No matching distribution[^\n]*)?",
        rb"ERROR: (?P<message>No matching distribution found for (?P<identity>[^\s(]+)[^\n]*)",
        rb"ERROR: (?P<message>(?:Failed building wheel for|Failed to build|Could not build wheels for|"
            rb"Failed to build installable wheels for some pyproject.toml based projects) \(?'?" rb"(?P<identity>[^\s,')]+)[^\n]*)",
        rb"ERROR: (?P<message>(?P<identity>[^\s:]+(?: [^\s:]+)?) (?:has requirement|requires) [^\n]+)",
        rb"(?P<message>(?P<identity>[\w.-]+ [\w.!+-]+) requires [^\n]+, (?:but you have|" rb"which is not installed)[^\n]*)",
        rb"ERROR: (?P<message>(?:Package|Ignored the following[^\n]*|Invalid requirement:) '?" rb"(?P<identity>[^'\n:]+)'?[^\n]*)",
        rb"ERROR: (?P<message>Could not open requirements file: [^\n]*|Could not install packages due to [^\n]*|"
            rb"Directory '[^'\n]+' is not installable[^\n]*|\S+ is not a (?:valid|supported) [^\n]*|Can not [^\n]*|"
            rb"Hash[^\n]*|THESE PACKAGES[^\n]*)"), severity={b"": "package"},
        success=rb"Successfully installed |Requirement already satisfied: ", more=rb"[ \t]",
        notes=rb"ERROR: ResolutionImpossible|error: (?:subprocess-exited-with-error|metadata-generation-failed|"
            rb"failed-wheel-build)",
        sign=rb"^(?:Collecting|Requirement already|Looking in|Processing|Obtaining) |^ERROR: (?:Cannot install|Could not|"
            rb"No matching|Failed|Package|pip's|Invalid|Directory)|^Successfully installed |^ *error: subprocess-exited"),
    Dialect("npm", (b"npm error ", b"npm ERR! ", b"# npm audit report"),
        (_NPM + rb"(?P<message>While resolving: (?P<identity>\S+))",
        _NPM + rb"(?P<message>(?:Found|Conflicting peer dependency): (?P<identity>\S+))",
        _NPM + rb"Could not resolve dependency:\n" + _NPM + rb"(?P<message>\w+ (?P<identity>\S+@\"[^\"\n]*\") from [^\n]+)",
        _NPM + rb"notarget (?P<message>No matching version found for (?P<identity>[^\s]+?)\.?)$",
        _NPM + rb"(?:404|E404) +(?P<message>'?(?P<identity>@?[^\s'@]+@[^\s']+?)'? is not in (?:the npm|" rb"this) registry[^\n]*)",
        _NPM + rb"404 +(?P<message>The requested resource '(?P<identity>[^'\n]+)'[^\n]*)",
        _NPM + rb"JSON\.parse (?P<message>Invalid (?P<identity>[^\s:]+):[^\n]*)",
        _NPM + rb"(?P<message>Missing script: \"?(?P<identity>[^\"\n]+)\"?)",
        _NPM + rb"(?P<message>(?:missing|invalid|extraneous|peer dep missing): (?P<identity>[^\s,]+)[^\n]*)",
        _NPM + rb"path (?P<location>[^\n]+)\n(?:" + _NPM + rb"[^\n]*\n){0,4}?" + _NPM
            + rb"(?P<message>command (?P<identity>\S[^\n]*))",
        _NPM + rb"(?P<message>Lifecycle script [`'](?P<identity>[^`'\n]+)[`'] failed[^\n]*)",
        _NPM + rb"(?P<code>EJSONPARSE|EUSAGE|ENOTFOUND|ECONNREFUSED|EINTEGRITY|EACCES|ENEEDAUTH) (?P<message>[^\n]+)",
        rb"(?P<identity>@?[\w./-]+)  (?P<message>[<>=*^~\d][^\n]*)\n(?:Severity: (?P<severity>\w+)\n)?"
            rb"(?=[^\n]* - https?://|Depends on vulnerable)"), severity={b"": "package", b"critical": "package 10",
        b"high": "package 9", b"moderate": "package 6", b"low": "package 4"},
        summary=(rb"(?P<vulnerabilities>\d+) (?:\w+ severity )?vulnerabilit(?:y|ies)",), claims=(), notes=_NPM + rb"code \w+",
        more=_NPM + rb" |[ \t]", success=rb"(?:added|removed|changed) \d+ packages?|up to date\b|found 0 vulnerabilities"),
    Dialect("pnpm", (b"ERR_PNPM_",), (rb"Error: (?P<code>ERR_PNPM_\w+)\n(?:[^\n]*\n){1,8}?[^\n]*?(?P<message>(?:Failed to resolve|"
            rb"No matching version found for|404 Not Found[^\n]*?) (?P<identity>[^\s@]*@?[^\s@]+@[^\s,]+)[^\n]*)",
        rb"(?:\xe2\x80\x89|Error:)? *(?P<code>ERR_PNPM_\w+)(?:\xe2\x80\x89)? *(?P<message>[^\n]*?(?:for|of|from|"
            rb"GET) (?P<identity>[^\s:]+)[^\n]*)",
        rb"(?:\xe2\x80\x89|Error:)? *(?P<code>ERR_PNPM_\w+)(?:\xe2\x80\x89)? *(?P<message>[^\n]*)"), severity={b"": "package"},
        more=rb"[ \t]|$"),
    Dialect("yarn", (b"error ", b"YN00"),
        (rb"error (?P<message>Couldn't find (?:any versions for |package )\"(?P<identity>[^\"\n]+)\"[^\n]*)",
        rb"error (?P<message>(?:An unexpected error occurred|(?P<identity>[^\s:]+)(?:@|: )|Command )[^\n]*)",
        rb"\xe2\x9e\xa4 (?P<code>YN00(?!00|02|13|60|86|07|19|50)\d\d): (?:\xe2\x94\x82|\xe2\x94\x94|\xe2\x94\x8c)? ?"
            rb"(?P<message>(?P<identity>[^\s:]+(?:@[^\s:]+(?::[^\s:]+)?)?)[^\n]*)"), severity={b"": "package"},
        sign=rb"^yarn [\w ]*v?\d|\xe2\x9e\xa4 YN\d{4}|^info Visit https://yarnpkg"),
    Dialect("uv", (" × ".encode(), b"error: "),
        (rb" *(?:\xc3\x97|error:) (?P<message>No solution found[^\n]*)(?:\n[^\n]*?\b(?:versions? of|depends? on|"
            rb"requires?) (?P<identity>\S+?)[,.]?(?=\s|$))?",
        rb" *\xc3\x97 (?P<message>Failed to [^\n]*?`(?P<identity>[^`\n]+)`[^\n]*)",
        rb"error: (?P<message>(?:Failed|No |Distribution|The lockfile|Request failed|Package)[^\n]*)"), severity={b"": "package"},
        more=rb"[ \t]",
        sign=rb"No solution found when resolving|\xe2\x95\xb0\xe2\x94\x80\xe2\x96\xb6 |^(?:Resolved|Audited|Installed|"
            rb"Prepared|Using CPython) ", success=rb"(?:Installed|Audited|Uninstalled) \d+ packages? in "),
    Dialect("poetry", (b"version solving failed", b"Because "),
        (rb" *(?P<message>(?:Because|So, because) [^\n]*?(?:depends on|requires|depends on both|no versions of) "
            rb"(?P<identity>[^\s]+(?: \([^)\n]*\))?)[^\n]*)",), severity={b"": "package"}, sign=rb"version solving failed",
        more=rb" *(?:and|so|thus|Thus) |$"),
    Dialect("cargo", (b"error: failed to ", b"error: no matching package", b"error: the lock file", b"error: package `"),
        (rb"error: (?P<message>(?:failed to (?:select a version for|get|download|load source for dependency|resolve)|"
            rb"no matching package(?: named)?(?: found)?|package)[^`\n]*`(?P<identity>[^`\n]+)`[^\n]*)",
        rb"error: (?P<message>failed to parse manifest at `(?P<location>[^`\n]+)`)",
        rb"error: (?P<message>(?:the lock file|no matching package found|failed to)[^\n]*)"), severity={b"": "package"},
        more=rb"[ \t]|Caused by|$",
        sign=rb"^error: (?:failed to (?:select|get|download|load|parse manifest|resolve|sync)|no matching package|"
            rb"the lock file|package `)"),
    Dialect("go-mod", (b"go: ",),
        (rb"go: (?P<message>(?:module |finding module for package )?(?P<identity>[\w./-]+\.[\w./-]+" rb"(?:@[^\s:]+)?):? [^\n]+)",
        rb"go: (?P<message>(?:updates to go\.(?:mod|sum)|inconsistent|cannot find|go\.mod)[^\n]*)"), severity={b"": "package"},
        sign=rb"^go: (?:module |updates |inconsistent|cannot find|[\w./-]+@\S+: |[\w./-]+: (?:no matching|module|invalid|"
            rb"unrecognized))", more=rb"\t"),
    Dialect("bundler", (b"Could not find gem", b"Bundler could not", b"Could not find compatible"),
        (rb"(?P<message>Could not find gem '(?P<identity>[^'\n]+)'[^\n]*)",
        rb"(?P<message>Bundler could not find compatible versions for gem \"(?P<identity>[^\"\n]+)\"[^\n]*)",
        rb"Because (?P<message>[^\n]*? depends on (?P<identity>[\w-]+)[^\n]*)"), severity={b"": "package"}),
    Dialect("apt", (b"E: ", b"unmet dependencies"), (rb"E: (?P<message>Unable to locate package (?P<identity>\S+))",
        rb"E: (?P<message>Package '(?P<identity>[^'\n]+)' has no installation candidate)",
        rb"E: (?P<message>Version '[^'\n]+' for '(?P<identity>[^'\n]+)' was not found)",
        rb" (?P<identity>[\w.+:-]+) : (?P<message>(?:Depends|PreDepends|Conflicts|Breaks|Recommends): [^\n]+)",
        rb"E: (?P<message>(?:Unable to (?:correct|fetch|acquire|lock)|Failed to fetch|Could not|Sub-process|"
            rb"The repository|Broken|Unmet|dpkg was)[^\n]*)"), severity={b"": "package"}, sign=rb"^E: |unmet dependencies"),
    Dialect("composer", (b"composer.json requires", b"could not be resolved"),
        (rb" +- (?P<message>(?:Root )?composer\.json requires (?P<identity>\S+)[^\n]*)",
        rb" +- (?P<message>(?P<identity>\S+/\S+) [^\n]* requires [^\n]*)"), severity={b"": "package"}),
]  # fmt: skip


# ── text: the fallback for any output; ranks lines by what they say, where they stand, and how unlike the others they are ──

LOOK_BYTES, LOOK_LINES = 8 * MIB, 100_000  # what one survey reads line by line; of an output over either, windows are chosen
_CELL = 8 * KIB  # windows are chosen in cells of this size
_LONG = 1000  # bytes of a line that are ranked; a longer one is clipped first
_MOST = 400  # quotes of one Evidence
_FLOOR = 0.6  # value below which a line is not offered

# ── normal form: what a line says, without when, where in the CI system and in which colour ──

_RED = rb"(?:\x1b|\^\[)\[(?:\d+;)*(?:[349]1|101|38;5;(?:1|9|160|196))(?:;\d+)*m"
_GREEN = rb"(?:\x1b|\^\[)\[(?:\d+;)*(?:[349]2|102|38;5;(?:2|10))(?:;\d+)*m"
_OVERWRITTEN = rb"(?m)^[^\n]*\r(?=[^\n])"
_COLUMNS = rb"(?m)^[^\t\n]{1,200}\t[^\t\n]{1,200}\t(?=(?:\xef\xbb\xbf)?\d{4}-)"  # job and step, of `gh run view --log`
_STAMP = (  # GitLab puts stream number and flag behind the time; Docker's builder numbers its steps and counts seconds
    rb"(?m)^(?:\xef\xbb\xbf)?(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?: \d\d[OE][ +])? ?"
    rb"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? |#\d+ \d+\.\d+ )"
)


def _normal(block: bytes, colours: bool = False) -> bytes:
    """`block` in normal form, with as many LFs; with `colours`, red is left as byte 1 and green as byte 2."""
    if block.count(b"\0") * 3 > len(block):  # UTF-16, whose LFs stay where they were
        block = block.replace(b"\0", b"")
    if b"\x1b" in block or b"^[" in block:
        if colours:
            block = rx(_GREEN).sub(b"\2", rx(_RED).sub(b"\1", block))
        block = strip_ansi(block)
    if b"\r" in block:
        block = rx(rb"(section_(?:start|end):\d+:[^\r\n]*)\r").sub(rb"\1 ", block.replace(b"\r\n", b"\n"))
        block = rx(_OVERWRITTEN).sub(b"", block)
    if b"\t" in block and rx(_COLUMNS).search(block, 0, 4 * KIB):
        block = rx(_COLUMNS).sub(b"", block)
    return rx(_STAMP).sub(b"", block)


def normal(line: bytes) -> bytes:
    """One stored line as it is shown: `clean`, and without the timestamps and columns that CI systems put before every line."""
    return clean(_normal(line))


_WORD = (
    rb"(?<![\w./\\@:-])(?:[Ee]rrors?|ERRORS?|[Ff]ail(?:ed|ures?|s|ing)?|FAIL(?:ED|URE)?|[Ee]xception|[Ff]atal|FATAL|[Pp]anic"
    rb"|[Aa]bort(?:ed|ing)?|[Ii]nvalid|[Cc]rash(?:ed)?|[Tt]raceback|[Uu]nable|[Cc]annot|[Mm]issing|[Rr]ejected|[Uu]nsupported"
    rb"|[Ff]orbidden|CRITICAL|SEVERE|[Gg]iving up|[Tt]imed out|[Tt]imeout)(?![\w/\\@-]|\.\w)"
)


def clip(line: bytes, width: int) -> bytes:
    """`line` in about `width` bytes: its start and a window round its next error word, ` … ` between, no character cut."""
    if len(line) <= width:
        return line
    third, more = width // 3, " …".encode()
    word = rx(_WORD).search(line, third) or rx(rb"(?i)error|exception|fail").search(line, third)
    if word is None or word.end() <= width:
        return _whole(line[:width]) + more
    start = max(third, word.start() - width // 6)
    end = start + width - third
    window = _whole(line[start:end].lstrip(bytes(range(0x80, 0xC0))))
    return _whole(line[:third]) + more + b" " + window + (more if end < len(line) else b"")


def _whole(text: bytes) -> bytes:
    """`text` without the character of UTF-8 that its end cuts."""
    return rx(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z").sub(b"", text)


# ── kinds of lines ──

_FRAMING, _MARKING = ("run", "end", "step", "post"), ("exit", "annotation")  # round a step of a CI system; how it fails
_SOFT = ("status", "header", "warning", "word")  # weaker when their shape is common
_FRAIL = ("message", "cause", "block", "level", "status", "header", "word")  # weaker beside words of chatter
_LEAK = {"exit": 0.25, "total": 0.25, "status": 0.25, "warning": 0.25, "word": 0.25, "target": 0.4}  # what neighbours get, else 0.6

# (kind, value, stems, expression at the start, expression anywhere): the first row of which an expression fits names the line.
# Only lines that hold, in lower case, one of a row's stems are tried.
_ROWS: List[Tuple[str, float, bytes, bytes, bytes]] = [
    # the frame of CI systems: GitHub, Azure, GitLab, Jenkins, Travis, Buildkite
    ("run", 0, b"##[", rb"##\[group\]Run |##\[section\]Starting: ", b""),
    ("end", 0, b"##[|starting command", rb"##\[endgroup\]|=+ Starting Command Output =+", b""),
    ("post", 0, b"##[|post job|section_start|cleaning up orphan",
     rb"Post job cleanup|Cleaning up orphan|##\[section\]Finishing|section_start:\d+:(?:cleanup|after_script|upload_art"
     rb"|archive_cache)", b""),
    ("step", 0, b"section_start|[pipeline]|travis_fold|current runner|~~~ ",
     rb"section_start:|\[Pipeline\] (?:sh|stage|bat|\{)|travis_fold:start|Current runner version|~~~ ", b""),
    ("command", 0, b"$ ", rb"\$ \S", b""),
    ("exit", 6, b"##[|fail|err|exit",
     rb"##\[error\](?:Process completed|The process |Process exited|\S+ exited with|The operation was cancel)|ERROR: Job failed"
     rb"|ERROR: script returned|Error: Process completed with exit code [1-9]|The command \".*\" exited with [1-9]"
     rb"|Exited with code|Build step '.*' marked build as failure|.{0,12}The command exited with status [1-9]", b""),
    ("annotation", 10, b"##[|::err|##vso", rb"##\[error\]|::error\b|##vso\[task\.logissue type=error", b""),
    # how a program died
    ("died", 10, b"segmentation|killed|abort|bus err|terminated|illegal instr",
     rb"(?:\S+: (?:line \d+: +)?)?(?:\d+ )?(?:Segmentation fault|Killed|Aborted|Bus error|Terminated"
     rb"|Illegal instruction)\b[\s:]*(?:\(core dumped\))?[^.]{0,60}$", b""),
    ("crash", 10, b"segmentation|dumped|sanitizer|sigsegv|sigabrt|sigkill|sigbus|fatal|panic|memory|oom|heap|race|smashing|assert"
     b"|terminate|compiler|internalerr|backoff|double free|runtime err|overflow|deadlock|maximum",
     rb"panic: |[Ff]atal error[: ]|FATAL ERROR|INTERNALERROR> \S+Error",
     rb"Segmentation fault|core dumped|(?:Address|Thread|Memory|Leak|UndefinedBehavior)Sanitizer\b|\bSIG(?:SEGV|ABRT|KILL|BUS)\b"
     rb"|Fatal Python error|panicked at|OutOfMemory|\bOOM|[Oo]ut of memory|heap limit|DATA RACE|smashing|Assertion .*failed"
     rb"|terminate called|internal compiler error|CrashLoopBackOff|ImagePullBackOff|double free|runtime error: |[Ss]tack overflow"
     rb"|[Dd]eadlock|exceeded the maximum"),
    # the tool's own count
    ("total", 8, b"fail|err|problem|issue|violation|vulnerab",
     rb"=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+$|[1-9]\d* (?:failed|errors?)\b.* in \d|test result: FAILED|\s*(?:\S )?(?:Found "
     rb"|Checked .*)?[1-9]\d* (?:problems?|errors?|issues?|violations?)\b|(?:\[INFO\] |\*\* )?(?:BUILD|Build|TEST) FAIL"
     rb"|FAILURE: Build failed|FAILURES!|\s*[1-9]\d* Error\(s\)|\d+% tests passed, [1-9]|\s*[1-9]\d* (?:of \d+ )?(?:tests? "
     rb"|specs? |scenarios? )?(?:failing|failed|failures?)\b|\s*Summary.* [1-9]\d* failed|\s*Tests?(?: Files"
     rb"| Suites)?:? .*\b[1-9]\d* failed", b""),
    ("total", 8, b"fail|errors|error gen|error found|error in|vulnerab", b"",
     rb"[Tt]ests? run: .*(?:Failures|Errors|failed)\W+[1-9]|\b[1-9]\d* errors?,? (?:generated|found|in \d|and)"
     rb"|FAILED \((?:failures|errors)=|\b(?:Failures|Errors|Failed|failed|failures|errors)(?:=|: +)[1-9]"
     rb"|\b[1-9]\d* (?:tests? failed|fails\b|FAILED TEST)|, [1-9]\d* fail(?:ed|ures?)\b|\*\*\* [1-9]\d* TESTS? FAILED"
     rb"|\b[1-9]\d* vulnerabilit"),
    # what failed
    ("name", 9, b"fail|err|not ok|rspec ./|stdout ---|would ref"
     b"|\xe2\x97\x8f|\xe2\x9c\x95|\xe2\x9c\x96|\xe2\x9c\x97|\xe2\x9c\x98|\xc3\x97|\xe2\x9d\x8c",
     rb"(?:\[gw\d+\] \[ *\d+%\] )?(?:SUB)?(?:FAILED|ERROR) (?!in \d)\S*(?:::|\.py\b| \[|\[)|\s*--- FAIL: "
     rb"|\s*FAIL(?:ED)?\s*[:!\]]?\s+\S|ERROR: \S+ \(|\s*(?:\xe2\x97\x8f|\xe2\x9c[\x95-\x98]|\xc3\x97|\xe2\x9d\x8c) +\S"
     rb"|\s*not ok \d+|> Task \S+ FAILED|\S.* > .* FAILED$|\s+Failed \S+ \[\d|---- .+ stdout ----$|Test .* (?:FAILED|failed)"
     rb"|rspec \./|would reformat |nox > Session \S+ failed|\s*\d+\) (?:Failure|Error):|\S+#\S+ \[\S+:\d+\]:", b""),
    ("name", 9, b"fail|... error|<<< error|(timeout|(segfault|subprocess abort", b"",
     rb"\.\.\. (?:FAILED|ERROR|FAIL)\b|\[ *FAIL(?:ED|URE)? *\]|<<< (?:FAILURE|ERROR)!|(?:\.{3}"
     rb"|\xe2\x80\xa6) ?(?:\*{3})?(?:Failed|FAILED|FAIL)\b|: FAILED$|: FAIL (?:code|\xe2\x9c)|\bFAILED in \d|\((?:Failed|Timeout"
     rb"|SEGFAULT|Subprocess aborted)\)$|\*\*\* FAILED \*\*\*"),
    # what went wrong
    ("detail", 9, b"e  ", rb"E {2,}\S", b""),
    ("message", 9, b"err|fatal|e: ",
     rb"\s*(?:[|] *|\xe2\x94\x82 *)?(?:\S{1,300}[:(]\d+(?:[:,]\d+)?\)?\s*[:-]? *|\S{1,60}: )?(?:fatal |internal |syntax |type "
     rb"|build |link )?[Ee]rror(?:\[\w+\]| [A-Z]{1,6}\d{2,6}|\(\w+\)| at \S+)?: ?\S|CMake Error|\s*\d+:\d+ +error "
     rb"|\s*(?:\[ERROR\]|ERROR:?|FATAL:?|fatal:|E:) *\S|(?:npm|pnpm|yarn) (?:ERR!|error) |error(?:[:\[]| [A-Z])"
     rb"|\W{0,4}ERR_[A-Z_]{4,}|dpkg: error |Error (?:from|response) |\*\* \(\w+\) ", rb"[:(]\d+[:,]\d+\)?:? .*\b[Ee]rror\b"),
    ("message", 9, b"err|exception|failure|timeout|interrupt|caused by|warning|exit|uncaught|unhandled|fail|conflict",
     rb"(?:[#+|] *)?\s*(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Failure|Timeout|Interrupt|Warning|Exit)\b(?:$|: | \[|:$)"
     rb"|(?:During handling|Exception in|Unhandled|Uncaught) |\s*Caused by: |Failed asserting|CONFLICT "
     rb"|\s*Failure/Error: ", rb" \(\w+(?:Error|Exception)\)$"),
    ("target", 8, b": *** |e: |failed: ", rb"(?:\w*make\S*|ninja)(?:\[\d+\])?: \*\*\* |FAILED: ", b""),
    ("cause", 8, b"not |no |cannot|can't|could|failed to|unable|reject|already|coverage|solving|style issue|denied|undefined"
     b"|unres|enoent|econn|etime|eresol|eacces|timed out|did you|refused|reset by|unauthor|rate limit|would be|out of date"
     b"|mismatch|unexpected|unknown|http|status code|forbidden|credentials|threshold|incompatible|immutable|multiple def"
     b"|giving up|unsatisf|conflicting", b"",
     rb"[Ff]ailed to [a-z]|[Uu]nable to [a-z]|: .{0,99}?not found|not found$|[Nn]o such file|[Cc]an(?:no|')t (?:find|import|open"
     rb"|resolve|patch|install|connect|load|parse|access|read|create|use|convert|assign|allocate|execute|bind|start|reach)"
     rb"|[Cc]ould not |undefined (?:reference|symbol|method|variable)|[Mm]ultiple definition|[Uu]nresolved|[Nn]o (?:matching"
     rb"|module named|package|space left)|ENOENT|ECONN[A-Z]+|ETIMEDOUT|ERESOLVE|EACCES|[Tt]imed out|did not (?:complete|run|match"
     rb"|receive)|[Cc]onnection (?:refused|reset|broken|closed)|[Uu]nauthori[sz]ed|not authori[sz]ed|[Dd]enied\b|[Ff]orbidden\b"
     rb"|\[(?:remote )?rejected\]|already (?:in use|exists)|[Cc]overage .*(?:fail|less than|not reached|not meet)"
     rb"|version solving failed|[Ss]tyle issues|[Nn]o .*credentials|rate limit|[Dd]id you mean|not formatted|would be reformatted"
     rb"|[Oo]ut of date|[Mm]ismatch(?:es|ed)?\b|is not (?:defined|assignable|a function|recogni[sz]ed|accessible|available"
     rb"|expected|a valid)|does not (?:exist|satisfy|match)|[Uu]nexpected (?:token|input|end|argument|EOF|indent)"
     rb"|[Uu]nknown (?:option|argument|command|flag|type|target)|HTTP (?:Error )?[45]\d\d|status code:? [45]\d\d"
     rb"|[Bb]ad credentials|threshold .*not met|\b(?:40[0-9]|429|50[0-4]) (?:Client|Server|Not|Forbidden|Unauth|Bad|Service"
     rb"|Internal|Too)|[Ii]ncompatible|is immutable|[Gg]iving up|unsatisf|conflicting dep"),
    ("block", 8, b"went wrong|> |execution|summarizing|fail|errors =",
     rb"\* What went wrong:|> (?:Formatting|There (?:were|was)|Compilation|Could not|Process |A failure|Failed|No such)"
     rb"|Execution failed for|Summarizing \d+ Fail|failures:$|Failed (?:tests?|examples):|\d+ tests? failed:"
     rb"|The following tests FAILED|=+ (?:FAILURES|ERRORS|short test summary info) =+|There (?:was|were) \d+ (?:failure"
     rb"|error)", b""),
    ("block", 6, b"traceback", rb"\s*(?:[+|] )*(?:Exception Group )?Traceback \(most recent call last\)", b""),
    ("level", 6, b"err|critical|severe|fatal|emerg|alert|crit",
     rb"\W{0,2}(?:\S{1,40} ){0,4}[\[<(]?(?:ERROR|CRITICAL|SEVERE|FATAL|EMERG|ALERT)\b|ERRO\[|FATA\[|[EF]\d{4} \d\d:",
     rb"level\W{1,4}(?:error|fatal|critical)|\"(?:severity|level)\": ?\"(?:ERROR|CRITICAL|FATAL)|\[(?:error|crit|alert|emerg)\]"),
    ("status", 6, b"exit|status|terminated|non-zero|command failed|build stopped|elifecycle", b"",
     rb"(?:exit(?:ed)?|status|terminated) (?:with )?(?:exit )?(?:code|status)?:? ?[1-9]\d*|non-zero|[Cc]ommand failed"
     rb"|build stopped|\bELIFECYCLE\b|returned status [1-9]"),
    ("header", 2, b"___|---", rb"_{3,} .+ _{3,}$|-{3,} .+ -{3,}$", b""),
    ("warning", 3, b"warn|deprecat", rb"\W{0,2}(?:\S{1,40} ){0,4}[\[<(]?(?:WARN(?:ING)?|[Ww]arning)\b",
     rb": warning: |\"level\": ?\"warn|level=warn|[Dd]eprecat|##\[warning\]"),
    ("word", 3, b"err|fail|exception|fatal|panic|abort|invalid|crash|traceback|unable|cannot|missing|reject|unsup|forbid|critical"
     b"|severe|giving up|timed out|timeout", b"", _WORD),
]  # fmt: skip

_PLACE = (
    rb"\s*(?:\.{0,2}/)?(?:[A-Za-z]:\\)?[\w.@/\\+-]+(?:\.\w{1,5}(?::\d+:\d+:? |:\d+: |\(\d+,\d+\): )(?!warning|note|info|in |hint"
    rb"|\w*Warning)\S|:\d+ [A-Z]{1,4}\d{2,5}\b)"
)
_ROW = rb"\s+\d+:\d+ +(?!warning)\S"  # of a linter that printed the file once, above
_ZERO = (
    rb"\b(?:0|no) (?:errors?|failures?|failed|problems?|issues|vulnerabilities)\b|(?:errors?|failed|failures?|exit code"
    rb"|failure_count)[=:]? ?0\b|without errors?"
)
_GOOD = (
    rb"\s*(?:PASS|PASSED|ok|OK|SUCCESS|Success|Skipped|SKIP|--- (?:PASS|SKIP)|=== (?:RUN|PAUSE|CONT|NAME)|\[ +(?:OK"
    rb"|RUN) +\])(?!\w)|\s*\xe2\x9c[\x93\x94\x85]",
    rb"\.\.\. ?(?:ok|skipped|ignored)\b|(?:PASSED|Passed|passed|SKIPPED|UP-TO-DATE)$|PASSED (?:in \d|.*\[ *\d+%\])"
    rb"|20[014] \d+ ?(?:ms|b)?$|304 \d+ ?(?:ms|b)?$",
)
_CHATTER = (
    rb"\s*(?:Compiling|Download(?:ing|ed)|Install(?:ing|ed)|Collecting|Requirement|Using|Get:|Fetch(?:ing|ed)|Extracting"
    rb"|Unpacking|Selecting|Preparing to|Setting up|[Cc]hecking|add(?:ed)?|removed|Adding|[Cc]opying|[Cc]reating|Pulling"
    rb"|Receiving|Resolving|Writing|remote:|\* +\[new|Cloning|\[ *\d+(?:/\d+|%)\]|\[command\]|hint:|-- |shell:|env:|Generating"
    rb"|\d+ files? |\++ |gcc |g\+\+ |cc |npm warn|debug|info|warning\b)",
    rb"##\[(?:debug|group|endgroup|command|warning|notice)\]|[Ww]arning: |(?:INFO|DEBUG|TRACE|WARN|WARNING)\b"
    rb"|\xe2\x94\x81\xe2\x94\x81",
)
_NEAR = (
    rb"\s*(?:[-+] ?)?(?:Expected|Received|Actual|Got|expected|received|actual|got|want|left|right|Error Trace|Messages|Which is"
    rb"|to (?:equal|be|receive|match|contain)|symbol|location)\b ?:?|\s*--> |\s*> +\d+ \||>? +(?:assert|raise) |\s*In \[\w+\] at:"
    rb"|E {2,}\S"
)
_FRAME = (
    rb"\S+\.\w{1,4}:\d+: (?:in\b|[A-Z]\w+$)|\s*(?:File \"|at |\d+: +\S+::|#\d+ +0x|from /|\S+\.(?:go|rb|exs?):\d+|# \./"
    rb"|\xe2\x9d\xaf \S+:\d+)|\s+\S+:\d+:in "
)
_TESTISH = rb"(?:^|[/\\])tests?[/\\]|\btest_\w+\.py|_test\.\w+\b|[._](?:spec|test)\.\w+|Tests?\.(?:java|kt|cs|swift|php)\b"
_LIBRARY = (
    rb"(?:site|dist)-packages|node_modules|/rustc/|\.cargo/registry|/usr/lib|hostedtoolcache|<frozen |node:internal|\(internal/"
    rb"|/opt/|\$GOROOT|/go/pkg/mod|core::|std::|/gems/|lib/python\d|^\s*at (?:java|javax|jdk|sun|org\.junit|org\.gradle"
    rb"|org\.apache\.maven|kotlin|scala)\."
)
_EXCERPT = rb"\s*\d* \|"  # a line of code that a tool prints with its number
_COUNTS = (
    rb"\d+ (?:\w+ ){0,2}(?:fail|err|problem|issue|violation|test)|(?:fail\w*|errors?|status|code|exit\w*)\W{0,3}(?:with |code "
    rb"|status |exit ){0,3}\d"
)
_WRAPPED = rb"\{\".{0,200}?\"(?:Output|msg|message|error|log)\": ?\"((?:[^\"\\]|\\.)*)\""  # what a JSON line of a log says

_DIGITS, _ONES = b"0123456789", bytes.maketrans(b"23456789", b"11111111")
_VARIES = frozenset(b"0123456789/\\\"'`\x98")  # bytes of words that differ between repeats of one message


class _Look:
    """What lines of one text, digits aside, are worth; `seen` counts them."""

    __slots__ = ("kind", "value", "shape", "seen")

    def __init__(self, kind: str = "", value: float = 0.0, shape: bytes = b"") -> None:
        self.kind = kind
        self.value = value
        self.shape = shape
        self.seen = 0


class _Window:
    """Lines read closely: bytes `start` to `end` of `source`, the first being line `number` there and line `base` of the survey."""

    __slots__ = ("source", "start", "end", "number", "base", "block")

    def __init__(self, source: Source, start: int, end: int, number: int, base: int, block: bytes) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.number = number
        self.base = base
        self.block = block


class _Line:
    """A line that may be quoted; `at` is its place in the survey, `head` that of the line it explains (-1: none)."""

    __slots__ = ("at", "value", "kind", "shape", "text", "head", "step")

    def __init__(self, at: int, value: float, kind: str, text: bytes, step: int = 0, head: int = -1) -> None:
        self.at = at
        self.value = value
        self.kind = kind
        self.shape = _shape(text)
        self.text = text
        self.head = head
        self.step = step


def _shape(line: bytes) -> bytes:
    """`line` with numbers, paths and quoted names masked, so that repeats look alike; then cut, for names differ in length."""
    return b" ".join([word if _VARIES.isdisjoint(word) else b"*" for word in line[:300].split()])[:90]


_GUARDS: List[Tuple[bytes, Dict[bytes, List[Tuple[int, Tuple[bytes, ...]]]]]] = []


def _guards() -> Tuple[bytes, Dict[bytes, List[Tuple[int, Tuple[bytes, ...]]]]]:
    """Which rows to try: an expression that finds roots (stems that hold no other stem), and by root the rows with their stems."""
    if not _GUARDS:
        from re import escape

        stems = sorted({stem for row in _ROWS for stem in row[2].split(b"|")}, key=lambda stem: (len(stem), stem))
        rows: Dict[bytes, List[Tuple[int, Tuple[bytes, ...]]]] = {}
        for stem in stems:
            root = next((root for root in rows if root in stem), stem)
            rows.setdefault(root, [])
        for at, row in enumerate(_ROWS):
            by_root: Dict[bytes, List[bytes]] = {}
            for stem in row[2].split(b"|"):
                by_root.setdefault(next(root for root in rows if root in stem), []).append(stem)
            for root, longer in by_root.items():
                rows[root].append((at, () if root in longer else tuple(longer)))
        tails: Dict[bytes, List[bytes]] = {}  # the alternation in two steps, since it costs by its length
        for root in rows:
            tails.setdefault(escape(root[:1]), []).append(escape(root[1:]))
        _GUARDS.append((b"|".join(first + b"(?:" + b"|".join(rest) + b")" for first, rest in tails.items()), rows))
    return _GUARDS[0]


def _is(either: Sequence[Any], line: bytes) -> bool:
    """Whether one of two expressions fits, the first at the start of the line, the second anywhere."""
    return bool(either[0] and rx(either[0]).match(line) or either[1] and rx(either[1]).search(line))


class _Survey:
    """The lines of all windows, in order, each with its look. Texts that differ only in digits share a look."""

    __slots__ = ("windows", "looks", "memo", "gaps", "bases", "cached", "lines")

    def __init__(self) -> None:
        self.windows: List[_Window] = []
        self.looks: List[_Look] = []
        self.memo: Dict[bytes, _Look] = {}
        self.gaps: Set[int] = set()  # lines that do not follow the one before
        self.bases: List[int] = []
        self.cached, self.lines = -1, [b""]

    def read(self, source: Source, start: int, data: bytes, number: int) -> None:
        """Take `data`, whole lines from `start` on, the first of them line `number`."""
        lines = _normal(data[:-1] if data.endswith(b"\n") else data, True).split(b"\n")
        if max(map(len, lines)) > _LONG:
            lines = [clip(line, _LONG) for line in lines]
        block = b"\n".join(lines)
        before = self.windows[-1] if self.windows else None
        if before is None or (before.source, before.end) != (source, start) or before.number == number:
            self.gaps.add(len(self.looks))
        self.windows.append(_Window(source, start, start + len(data), number, len(self.looks), block))
        self.bases.append(len(self.looks))
        memo, looks = self.memo, self.looks
        counted, nothing = memo.setdefault(b"\n", _Look()), memo.setdefault(b"", _Look())
        for line in lines:
            key = line.translate(None, _DIGITS)
            look = memo.get(key)
            if look is counted:  # "0 failed" is not "3 failed"
                key = line.translate(_ONES)
                look = memo.get(key)
            if look is None:
                look = self.judge(line)
                if look.value and len(key) < len(line) and rx(_COUNTS).search(line):
                    memo[key], key = counted, line.translate(_ONES)
                if len(memo) < 40_000:
                    memo[key] = look
                elif not look.kind:
                    look = nothing
            look.seen += 1
            looks.append(look)

    def judge(self, line: bytes) -> _Look:
        """What a line is worth by its own words."""
        red, green, line = b"\1" in line, b"\2" in line, line.translate(None, b"\1\2")
        wrapped = rx(_WRAPPED).match(line) if line.startswith(b"{") else None
        if wrapped:
            line = wrapped.group(1).replace(rb"\n", b"") + b" " + line[: wrapped.start(1)]
        kind, value = "", 0.0
        low, (pattern, rows) = line.lower(), _guards()
        roots = rx(pattern).findall(low)
        if roots:
            tried = {at for root in set(roots) for at, stems in rows[root] if not stems or any(stem in low for stem in stems)}
            for at in sorted(tried):
                if _is(_ROWS[at][3:], line):
                    kind, value = _ROWS[at][:2]
                    break
        if value < 6 and kind not in _FRAMING and (rx(_PLACE).match(line) or rx(_ROW).match(line)):
            kind, value = "place", 7.0
        if red and kind not in _FRAMING and line.strip():
            kind, value = kind or "word", max(value, min(value + 2, 9.0), 3.0)
        if not value:
            return _Look(kind)
        if not red and kind != "name" and (_is(_GOOD, line) or green and kind == "word"):
            value *= 0.05
        if (b"0" in low or b"no " in low or b"without" in low) and rx(_ZERO).search(low):
            value *= 0.2
        if kind in _FRAIL and not red and _is(_CHATTER, line):
            value *= 0.25
        return _Look(kind, value, _shape(line))

    def window_of(self, at: int) -> int:
        """Index of the window that holds line `at` of the survey."""
        from bisect import bisect_right

        return bisect_right(self.bases, at) - 1

    def text(self, at: int) -> bytes:
        """Line `at` in normal form."""
        if self.cached < 0 or not 0 <= at - self.windows[self.cached].base < len(self.lines):
            self.cached = self.window_of(at)
            self.lines = self.windows[self.cached].block.split(b"\n")
        return self.lines[at - self.windows[self.cached].base].translate(None, b"\1\2").rstrip()


# ── which part to read ──

# What cells are scored by, and what each is worth; it counts less the more cells hold it. The first _MARKS end a failing step.
_SIGNS: List[Tuple[bytes, float]] = [
    (b"##[error]", 9), (b"Job failed", 9), (b"script returned exit", 9), (b"FAIL", 6), (b"ailed", 3), (b"rror:", 5), (b"ERROR", 5),
    (b"rror", 1), (b"xception", 3), (b"Traceback", 6), (b"atal", 4), (b"panic", 4), (b"not ok ", 5), (b"not found", 3),
    (b"undefined ", 3), (b"enied", 3), (b"imed out", 4), (b"egmentation", 8), (b"E      ", 5), (b"*** ", 4), ("✕".encode(), 5),
    (b"CRITICAL", 6), (b"Killed", 6),
]  # fmt: skip
_MARKS = 3
_STARTS = (b"##[group]Run ", b"section_start:", b"##[section]Starting", b"[Pipeline] sh")


def _cells(source: Source, start: int, end: int, wide: bool) -> Dict[int, int]:
    """Cells between `start` and `end` that hold signs: cell → bits of the signs and, above them, of the starts of steps."""
    literals = [sign for sign, _ in _SIGNS] + list(_STARTS)
    if wide:
        literals = [b"\0".join(sign[at : at + 1] for at in range(len(sign))) for sign in literals]
    found: Dict[int, int] = {}
    for at in range(start, end, CHUNK):
        data = source.read(at, min(end, at + CHUNK + 40))
        for bit, literal in enumerate(literals):
            pos = data.find(literal)
            while pos >= 0:
                cell = (at + pos) // _CELL
                found[cell] = found.get(cell, 0) | 1 << bit
                pos = data.find(literal, (cell + 1) * _CELL - at)
    return found


def _worth(found: Dict[int, int], first: int, last: int) -> Dict[int, float]:
    """What each cell promises: rare signs, above all the first in a failing step; nearness to its marker; the head and the tail."""
    from math import log2

    signs = range(len(_SIGNS))
    spread = [1 + sum(bits >> bit & 1 for bits in found.values()) for bit in signs]
    weights = [weight * log2(1 + (last - first + 1) / spread[bit]) for bit, (_, weight) in enumerate(_SIGNS)]
    worth = {cell: sum([weights[bit] for bit in signs if bits >> bit & 1]) for cell, bits in found.items()}
    begin, steps = first, {}
    for cell in sorted(found):
        if found[cell] & ((1 << _MARKS) - 1):
            steps[begin] = cell
        if found[cell] >> len(_SIGNS):
            begin = cell
    for begin, mark in sorted(steps.items())[-8:] or [(first, last)]:
        fresh = [3] * len(_SIGNS)
        for cell in range(begin, mark + 1):
            for bit in signs:
                if fresh[bit] and found.get(cell, 0) >> bit & 1:
                    fresh[bit] -= 1
                    worth[cell] += 10 * _SIGNS[bit][1]
            if cell in worth or cell > mark - 8:
                worth[cell] = worth.get(cell, 0.0) * (3 if steps else 1) + (100 if cell > mark - 8 else 0)
    for cell in [first, first + 1, *range(last - 8, last + 1)]:
        worth[cell] = worth.get(cell, 0.0) + 50.0
    return worth


def _spans(source: Source, start: int, end: int, limit: int) -> List[Tuple[int, int]]:
    """Byte spans of about `limit` bytes in all, from line start to line end, that promise most; in order, apart."""
    if end - start <= limit:
        return [(start, end)]
    first, last = start // _CELL, (end - 1) // _CELL
    worth = _worth(_cells(source, start, end, source.read(start, start + 512).count(b"\0") > 128), first, last)
    chosen = sorted(worth, key=lambda cell: (-worth[cell], cell))[: max(limit // _CELL, 1)]
    spans: List[Tuple[int, int]] = []
    for cell in sorted(chosen):
        low, high = max(cell * _CELL, start), min((cell + 1) * _CELL, end)
        if low > start:
            back = max(start, low - 2 * KIB)
            low = back + source.read(back, low).rfind(b"\n") + 1 or low
        if high < end:
            high += source.read(high, min(end, high + 2 * KIB)).find(b"\n") + 1
        if spans and low <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(high, spans[-1][1])
        elif low < high:
            spans.append((low, high))
    return spans


def _free(source: Source, taken: Sequence[Tuple[str, int, int]]) -> List[Tuple[int, int]]:
    """Byte spans of `source` that no other profile explains."""
    at, free = 0, []
    for first, last in sorted((first, last) for stream, first, last in taken if stream == source.name):
        start = source.start_of(first)
        if start > at:
            free.append((at, start))
        at = max(at, source.start_of(last + 1))
    return free + [(at, source.size)] if at < source.size else free


def is_binary(source: Source) -> bool:
    """Whether most of 16 samples hold bytes that neither text nor a terminal's output has; text in UTF-16 is text."""
    control = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27}) + b"\x7f"
    step, odd, count = max(source.size // 16, 2 * KIB), 0, 0
    for at in range(0, source.size, step):
        sample = source.read(at, min(source.size, at + 2 * KIB))
        zeros = sorted((sample[0::2].count(0), sample[1::2].count(0)))
        wide = zeros[1] * 3 > len(sample) and zeros[0] * 8 < len(sample)
        odd += not wide and (len(sample) - len(sample.translate(None, control))) * 50 > len(sample)
        count += 1
    return odd * 2 > count


def _survey(sources: Sequence[Source], taken: Sequence[Tuple[str, int, int]]) -> _Survey:
    """Read all of small outputs, and what promises most of large ones."""
    survey = _Survey()
    free = [(source, span) for source in sources if not is_binary(source) for span in _free(source, taken)]
    size = sum(end - start for _, (start, end) in free)
    lines = sum(source.counts[-1] for source in sources)
    limit = min(LOOK_BYTES, LOOK_LINES * sum(source.size for source in sources) // max(lines, 1))
    for source, (start, end) in free:
        share = limit if size <= limit else max(limit * (end - start) // size, _CELL)
        for low, high in _spans(source, start, end, share):
            number = source.line_at(low)
            for at, data in source.line_windows(low, high):
                survey.read(source, at, data, number)
                number += data.count(b"\n")
    return survey


# ── place: the steps of a CI system, and which of them failed ──


class _Places:
    """Where steps start (`stops`: or windows), which failed (first line, last marker), and which lines are echoes of scripts."""

    __slots__ = ("steps", "stops", "failing", "echo")

    def __init__(self, survey: _Survey) -> None:
        size = len(survey.looks)
        self.echo = bytearray(size + 1)
        self.failing: List[Tuple[int, int]] = []
        starts, step, run, open_end = [0], 0, -1, False
        for at, kind in [(at, look.kind) for at, look in enumerate(survey.looks) if look.kind in _FRAMING or look.kind in _MARKING]:
            if kind == "end":
                if 0 <= run > at - 400:
                    self.echo[run + 1 : at + 1] = b"\1" * (at - run)
                run = -1
            elif kind in _MARKING:
                if self.failing and self.failing[-1][0] == step:
                    self.failing.pop()
                self.failing.append((step, at))
                open_end = kind == "annotation"
            else:
                if open_end:  # an annotation is no end
                    self.failing[-1] = self.failing[-1][0], at - 1
                starts.append(at)
                step, run, open_end = step if kind == "post" else at, at if kind == "run" else -1, False
        if open_end:
            self.failing[-1] = self.failing[-1][0], size - 1
        self.steps = sorted(set(starts))
        self.stops = sorted(survey.gaps.union(starts, [size]))

    def bounds(self, at: int) -> Tuple[int, int]:
        """The step, or the part of one, that holds line `at`: its first line, and the line after its last."""
        from bisect import bisect_right

        after = bisect_right(self.stops, at)
        return self.stops[after - 1], self.stops[after]

    def step(self, at: int) -> int:
        """The first line of the step that holds line `at`."""
        from bisect import bisect_right

        return self.steps[bisect_right(self.steps, at) - 1]

    def inside(self, at: int) -> bool:
        """Whether line `at` stands in a failing step, before its last marker; everywhere when nothing is marked."""
        from bisect import bisect_right

        before = bisect_right(self.failing, (at, sys.maxsize)) - 1
        return not self.failing or before >= 0 and at <= self.failing[before][1]


# ── ranking ──


def _heads(survey: _Survey, places: _Places, status: Optional[int]) -> List[_Line]:
    """Lines that are evidence by their own words: per shape the first few, those of a failing step before others."""
    from heapq import nsmallest
    from math import log2

    looks = survey.looks
    seen: Dict[bytes, int] = {}
    for look in survey.memo.values():
        seen[look.shape] = seen.get(look.shape, 0) + look.seen
    for look in survey.memo.values():
        look.seen = seen[look.shape] if look.value else look.seen
    strong = any(look.value >= 6 and look.kind not in ("exit", "status") and places.inside(at) for at, look in enumerate(looks))
    failed = strong and bool(status or places.failing)
    used: Dict[bytes, int] = {}

    def candidates(inside: bool) -> Iterator[Tuple[float, int, str]]:
        for at, look in enumerate(looks):
            if not look.value or places.echo[at] or places.inside(at) != inside:
                continue
            if look.kind == "detail" and at and looks[at - 1].kind == "detail":
                continue  # the first line of such a block speaks for it
            count = used.get(look.shape, 0) + 1
            if count > 12:
                continue
            if count > 1 or len(used) < 20_000:
                used[look.shape] = count
            value = look.value * (1 if inside else 0.1 if strong else 0.5) * (0.25 if failed and look.kind == "warning" else 1)
            yield -value / (1 + 0.25 * log2(look.seen) if look.kind in _SOFT else 1), at, look.kind

    heads = nsmallest(3000, [*nsmallest(3000, candidates(True)), *nsmallest(1000, candidates(False))])
    heads.sort(key=lambda head: head[1])
    return [_Line(at, -value, kind, survey.text(at), places.step(at)) for value, at, kind in heads]


def _nearby(text: bytes) -> Tuple[str, float]:
    """What a neighbour of evidence is: its kind, and the share of what leaks that it takes."""
    text = text[:300]
    if rx(_FRAME).match(text):
        return "frame", 0.3 if rx(_LIBRARY).search(text) and not rx(_TESTISH).search(text) else 1.0
    if rx(_NEAR).match(text):
        return "near", 1.0
    if rx(_EXCERPT).match(text):
        return "excerpt", 0.4
    return "", 0.15 if _is(_GOOD, text) or _is(_CHATTER, text) or not rx(rb"\w\w").search(text) else 1.0


def _leak(survey: _Survey, places: _Places, heads: List[_Line]) -> List[_Line]:
    """Neighbours of evidence: value leaks down 12 lines and up 4, never over a step; the own frames of a stack take most of it."""
    from math import log2

    own = {line.at: line.value for line in heads}
    best: Dict[int, _Line] = {}

    def offer(head: _Line, at: int, value: float, text: bytes) -> None:
        if value > max(own.get(at, _FLOOR), best[at].value if at in best else 0.0):
            best[at] = _Line(at, value, "", text, head.step, head.at)

    for head in heads:
        low, high = places.bounds(head.at)
        full, common = head.value * _LEAK.get(head.kind, 0.6), survey.looks[head.at].seen
        for way, reach, fade in ((1, 12, 0.72), (-1, 4, 0.5)):
            carry, keen = full, 3 if way > 0 else 1
            for at in range(head.at + way, head.at + 40 * way, way):
                if not low <= at < high or own.get(at, 0.0) >= carry or carry < 0.4 or not reach:
                    break
                text = survey.text(at)
                if not text:
                    carry *= 0.6
                    continue
                kind, share = _nearby(text)
                if head.kind in ("died", "crash") and at == head.at - 1 and rx(rb"\w\w").search(text):
                    share = 1.0  # what had begun
                value = carry * share / (1 + 0.3 * log2(max(1.0, survey.looks[at].seen / common)))
                if keen and share == 1 and kind:
                    value, keen = full * 0.8, keen - 1
                if not places.echo[at]:
                    offer(head, at, value, text)
                if kind in ("", "near"):
                    carry, reach = carry * (fade if not kind else 0.95), reach - 1
        if rx(_ROW).match(head.text):  # the file's name stands once, above its rows
            for at in range(head.at - 1, max(low, head.at - 300) - 1, -1):
                if survey.text(at)[:1].strip():
                    offer(head, at, head.value * 0.9, survey.text(at))
                    break
    return [best[at] for at in sorted(best)]


def _ends(survey: _Survey, places: _Places, status: Optional[int]) -> List[_Line]:
    """Lines that count for standing first, last, or last before a failure's marker."""
    found: Dict[int, float] = {}
    ends = [(mark, 24, 4.0) for _, mark in places.failing[-3:]]
    if not ends:
        for before, window in zip([None, *survey.windows], [*survey.windows, None]):
            if before and (window is None or window.source is not before.source):
                last = (window.base if window else len(survey.looks)) - 1
                ends.append((last, 10, 3.0) if status == 0 else (last, 24, 4.0))
            if window and (before is None or window.source is not before.source):
                count, top = (12, 3.6) if status == 0 else (3, 1.5)  # what passes may be an answer, which is read from its start
                found.update((window.base + n, top - 0.2 * n) for n in range(min(count, window.block.count(b"\n") + 1)))
    for step, mark in places.failing[-3:]:  # what the step ran
        ran = next((at for at in range(mark, step - 1, -1) if survey.looks[at].kind in ("run", "command")), step)
        found[ran] = max(found.get(ran, 0.0), 4.0 if survey.looks[ran].kind else 0.0)
    for end, span, top in ends:
        left = span
        for at in range(end, places.bounds(end)[0] - 1, -1):
            text = survey.text(at)
            if not left:
                break
            if text and not places.echo[at]:
                found[at] = max(top * left / span * (1.0 if _nearby(text)[1] == 1 else 0.3), found.get(at, 0.0))
                left -= 1
    return [_Line(at, found[at], "tail", survey.text(at)) for at in sorted(found)]


def _odd(survey: _Survey, places: _Places) -> List[_Line]:
    """Lines unlike all others where a few templates make up the output; a template keeps the words that are common."""
    total, memo = len(survey.looks), survey.memo
    if total < 50 or len(memo) > 20_000:
        return []
    apart = bytes(32 if chr(n) in "\t,;:|=\"'()[]{}<>/\\" else n for n in range(256))
    words = {key: key[:300].translate(apart).split() for key in memo}
    common: Dict[bytes, int] = {}
    for key, look in memo.items():
        for word in words[key]:
            common[word] = common.get(word, 0) + look.seen
    least = max(3, total // 500)
    templates: Dict[Tuple[bytes, ...], int] = {}
    named = {}
    for key, look in memo.items():
        named[id(look)] = template = tuple([word if common[word] >= least else b"" for word in words[key]])
        templates[template] = templates.get(template, 0) + look.seen
    rare = {template for template, count in templates.items() if count <= 2 and template}
    value = min(3.0, 36.0 / max(len(rare), 1))
    if value < _FLOOR:
        return []
    found = [at for at, look in enumerate(survey.looks) if look.seen <= 2 and named.get(id(look)) in rare]
    return [_Line(at, value, "odd", survey.text(at)) for at in found[:100] if places.inside(at) and not places.echo[at]]


def _choose(lines: List[_Line]) -> List[_Line]:
    """The lines worth buying, best first, with the value each has by then: every repeat of a shape or kind is worth less, what
    explains a line follows it and is worth less than it, and what reads the same as a line already bought is dropped."""
    from heapq import heapify, heappop, heappush
    from math import exp

    shapes: Dict[bytes, int] = {}
    kinds: Dict[Tuple[str, int], int] = {}
    waiting: Dict[int, List[_Line]] = {}
    heap = []
    for line in lines:
        if line.head >= 0:
            waiting.setdefault(line.head, []).append(line)
        else:
            heap.append((-line.value, line.at, line))
    heapify(heap)
    chosen: List[_Line] = []
    texts = set()
    while heap and len(chosen) < _MOST:
        offered, at, line = heappop(heap)
        kind, text = (line.kind, line.step), line.text.strip()
        value = line.value * exp(-0.3 * shapes.get(line.shape, 0) - 0.08 * kinds.get(kind, 0))
        if value < _FLOOR or text in texts and line.kind != "annotation":
            continue
        if value < -offered:
            heappush(heap, (-value, at, line))
            continue
        texts.add(text)
        shapes[line.shape] = shapes.get(line.shape, 0) + 1
        if line.kind:
            kinds[kind] = kinds.get(kind, 0) + 1
        for context in waiting.pop(at, ()):
            context.value = min(context.value * value / line.value, value * 0.97)
            heappush(heap, (-context.value, context.at, context))
        line.value = value
        chosen.append(line)
    return chosen


def _run(survey: _Survey, line: _Line, way: int) -> int:
    """How many lines after (`way` 1) or before (-1) `line`, without a gap, read the same."""
    at, look = line.at, survey.looks[line.at]
    while 0 <= at + way < len(survey.looks) and survey.looks[at + way] is look and max(at, at + way) not in survey.gaps:
        if survey.text(at + way) != line.text:
            break
        at += way
    return abs(at - line.at)


def _quotes(survey: _Survey, lines: List[_Line]) -> Dict[int, Quote]:
    """The quotes of lines, by place; of a run of three and more that read the same, one for the run."""
    quotes: Dict[int, Quote] = {}
    raw: List[bytes] = []
    current = None
    for line in sorted(lines, key=lambda line: line.at):
        window = survey.windows[survey.window_of(line.at)]
        if window is not current:
            current, raw = window, window.source.read(window.start, window.end).split(b"\n")
        number = window.number + line.at - window.base
        before, after = _run(survey, line, -1), _run(survey, line, 1)
        text = raw[line.at - window.base]
        if before + after < 2:
            before = after = 0
        elif before:
            text = window.source.line(number - before)
        if line.at == window.base and window.start and window.source.read(window.start - 1, window.start) != b"\n":
            start = window.source.start_of(number)  # the window begins within a line
            text = window.source.read(start, min(start + 200, window.start)) + " … ".encode() + text
        text = text if len(text) <= 4 * _LONG else clip(normal(text), 4 * _LONG)
        quotes[line.at] = Quote(window.source.name, number - before, text, round(line.value, 3), number + after)
    return quotes


def parse_text(sources: List[Source], status: Optional[int], taken: Sequence[Tuple[str, int, int]] = ()) -> Evidence:
    """Any output: the lines that tell what happened, ranked; no facts, since nothing here has an identity.

    `taken` are spans (stream, first line, last line) that another profile explains; they get no quote. `span` of the result is what
    was read line by line: of more than 8 MiB, windows round signs of failure, the head and the tail. Binary streams get no quotes.
    Of a line over 4,000 bytes, a quote's text is already clipped.
    """
    evidence = Evidence("text/v1")
    survey = _survey(sources, taken)
    for window in survey.windows:
        name, last = window.source.name, window.number + window.block.count(b"\n")
        before = evidence.span[-1] if evidence.span else ("", 0, 0)
        if before[0] == name and before[2] >= window.number - 1:
            evidence.span[-1] = name, before[1], last
        else:
            evidence.span.append((name, window.number, last))
    places = _Places(survey)
    heads = _heads(survey, places, status)
    best: Dict[int, _Line] = {}
    for line in heads + _leak(survey, places, heads) + _ends(survey, places, status) + _odd(survey, places):
        if line.text and (line.at not in best or best[line.at].value < line.value):
            best[line.at] = line
    chosen = _choose([best[at] for at in sorted(best)])
    whole = {kind: max((line.at for line in chosen if line.kind == kind), default=-1) for kind in ("died", "target", "exit")}
    quotes = _quotes(survey, chosen)
    evidence.notes = [quotes[at] for at in sorted(whole.values()) if at >= 0]
    placed = {(quote.stream, quote.first) for quote in evidence.notes}
    for quote in [quotes[line.at] for line in chosen]:
        if (quote.stream, quote.first) not in placed:  # windows within one long line give it twice
            placed.add((quote.stream, quote.first))
            evidence.quotes.append(quote)
    return evidence


BLANK_LINES = 20  # that a gap between two reports may have
CTX_MARKERS = (b"[ctx run:",)
_DIGEST_LINE = rb"  |\[ctx run:|[a-z]+(?: [^:\n]{1,80})?:(?: |$)"


def parse_ctx(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """Digests that a ctx inside the command printed, known by handles that this store holds: they pass whole."""
    found = []
    for source in sources:
        for offset in source.find_all(CTX_MARKERS, 1000)[0]:
            if offset and source.read(offset - 1, offset) != b"\n":
                continue
            lines = source.read(offset, min(source.size, offset + 64 * KIB)).split(b"\n")
            digits = lines[0][len(CTX_MARKERS[0]) :].partition(b" ")[0].decode("ascii", "replace")
            if not is_captured(digits):
                continue
            count = 1
            while count < len(lines) and rx(_DIGEST_LINE).match(lines[count]) and not lines[count].startswith(CTX_MARKERS):
                count += 1
            first = source.line_at(offset)
            evidence = Evidence("ctx/v1")
            evidence.notes = [Quote(source.name, first + i, line, 10.0) for i, line in enumerate(lines[:count])]
            evidence.span = [(source.name, first, first + count - 1)]
            found.append(evidence)
    return found


def is_captured(digits: str) -> bool:
    """Whether these digits are a run's whole printed handle, and the store has it."""
    try:
        return len(digits) == HANDLE_DIGITS and is_hex(digits) and resolve_run(digits).digest.startswith(digits)
    except CtxError:
        return False


# (literals of which one must occur, parser), in the order in which they are believed: what lies within an earlier one's part is its own text
PROFILES: List[Tuple[Sequence[bytes], Callable[[List[Source], Optional[int]], List[Evidence]]]] = [
    (CTX_MARKERS, parse_ctx),
    (SEARCH_MARKERS, parse_searches),
    (PYTEST_MARKERS, parse_pytest),
    (UNITTEST_MARKERS, parse_unittest),
    (REPORT_MARKERS, parse_reports),
    (RUNNERS_MARKERS, parse_runners),
    (DIAGNOSTICS_MARKERS, parse_diagnostics),
]


def examine(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """All that the profiles find in an output, and the reports that it names. Never empty."""
    found = explained(sources, status)
    if contract_of(found[0]).policy == "report":
        found[0].notes += named_reports(sources)
    return found


def explained(sources: List[Source], status: Optional[int]) -> List[Evidence]:
    """What the profiles explain. What none of them explains for certain is left to the text profile. Never empty."""
    found: List[Evidence] = []
    for literals, parse in PROFILES:
        if any(source.holds(literals) for source in sources):
            found += [evidence for evidence in parse(sources, status) if not is_within(evidence, found)]
            if found and not any(evidence.unsure for evidence in found) and covered(sources, [span for e in found for span in e.span]):
                return found
    told = [evidence for evidence in found if evidence.profile != "ctx/v1"]
    if not found:
        found = told = parse_content(sources, status)
    taken = [span for evidence in found if not evidence.unsure for span in evidence.span]
    if told and not any(evidence.unsure for evidence in told) and (status == 0 or covered(sources, taken)):
        return found
    return found + [parse_text(sources, status, taken)]


def is_within(evidence: Evidence, others: Sequence[Evidence]) -> bool:
    """Whether all that a report spans is part of others' reports: a test that prints a compiler's output is no compiler."""
    spans = [span for other in others for span in other.span]
    return bool(evidence.span) and all(
        any(stream == name and start <= first and last <= end for name, start, end in spans) for stream, first, last in evidence.span
    )


def covered(sources: Iterable[Source], taken: Iterable[Tuple[str, int, int]]) -> bool:
    """Whether spans of lines leave out nothing of any stream but a few blank lines."""
    for source in sources:
        line = 1
        spans = sorted((first, last) for name, first, last in taken if name == source.name)
        for first, last in [*spans, (source.lines + 1, 0)]:
            if first > line and (first - line > BLANK_LINES or source.slice(line, first - 1).strip()):
                return False
            line = max(line, last + 1)
    return True


def facts_of(run: Run, found: Optional[Sequence[Evidence]] = None) -> Dict[str, Any]:
    """All facts of a run as plain data: kept beside it when they were costly to find, else found again. Raises CtxError when
    evidence is gone."""
    for digest in derived_from(run.store, run.digest):
        try:
            source = run.store.source(digest)
            if source.read(0, len(_FACTS_MARK)) == _FACTS_MARK:
                return dict(from_json(source.read(0, source.size)))
        except (CtxError, ValueError):
            continue
    sources = run.sources()
    summary = summary_of(examine(sources, run.status) if found is None else found)
    if sum(source.size for source in sources) >= INDEX_FROM:
        try:
            keep_derived(run, to_json(summary).encode())
        except OSError:
            pass  # a store that cannot be written: they are found again next time
    return summary


_FACTS_MARK = b'{"facts":['


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 15 · render
# Knows how evidence becomes the bytes of a digest within a budget. Never knows families.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

FLOOR = 0.6  # value below which a quote is not worth its tokens (RANKING.md: a lower floor found no further critical fact)
WIDTHS = ((8.5, 420), (4.0, 280), (0.0, 160))  # bytes of a quoted line worth at least so much; longer ones are clipped
CENSUS_SHARE = 0.85  # of the budget may go to identities; beyond, a flood is declared
FACTS_SHARE = 0.8  # where lines outside of any census want to be shown too, of the budget is left for the census
ROUGH_SHARE = 0.7  # where there is no room for all messages, of the budget may go to identities with their details
FLOOD_SHARE = 0.75  # of the budget then goes to the first of them, with their messages
HISTOGRAM = 6  # rows of a flood's histograms
DELTA_BUDGET = 60  # tokens of the block that tells what changed since the last run of the same command
REPEAT = 0.5  # how much a context line is worth that has the shape of one before it
NOTES = 6  # notes of one evidence that are always shown


class Sheet:
    """A digest on its way: lines of text with what they cost, and the stored lines they show."""

    __slots__ = ("sources", "first", "pem", "redactions")

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = {source.name: source for source in sources}
        self.first = sources[0].name if sources else "output"
        self.pem: Dict[str, bool] = {}
        self.redactions = 0

    def name(self, data: bytes) -> str:
        """Captured bytes that name something, for our own page: secrets redacted, controls spelt out; whole, since it may be typed
        again."""
        data, count = redact(data)
        self.redactions += count
        return visible(data)

    def words(self, data: bytes, width: int) -> Tuple[str, bool]:
        """Captured words for our own page, and whether they are whole: as `name`, what varies between runs masked, and clipped to
        `width` bytes."""
        data, count = redact(data)
        self.redactions += count
        data = steady(data)
        shown = clip(data, width)
        return visible(shown), shown == data

    def quote(self, quote: Quote, margin: str, text: Optional[bytes] = None) -> Tuple[str, bool]:
        """One quoted line behind its number (`12: text`, `stderr 12-40: text ×29`), and whether it is whole.

        `text` replaces the stored words where a profile has taken a tool's margin off them.
        """
        words, whole = self.words(normal(self.unredacted(quote)) if text is None else clean(text), width_of(quote))
        name = "" if quote.stream == self.first else quote.stream + " "
        span = str(quote.first) if quote.last == quote.first else "%d-%d" % (quote.first, quote.last)
        times = " ×%d" % (quote.last - quote.first + 1) if quote.last > quote.first else ""
        return "%s%s%s: %s%s" % (margin, name, span, words, times), whole

    def unredacted(self, quote: Quote) -> bytes:
        """A quote's words; of a line inside a private key, which gives itself away only by the lines before it, the redacted ones."""
        source = self.sources.get(quote.stream)
        if source is None:
            return quote.text
        if quote.stream not in self.pem:
            self.pem[quote.stream] = bool(source.find_all([b"PRIVATE KEY"], 1)[0])
        if not self.pem[quote.stream]:
            return quote.text
        text = source.slice(max(1, quote.first - 100), quote.first)
        before = redact(text[:-1] if text.endswith(b"\n") else text)[0]
        line = before[before.rfind(b"\n") + 1 :]
        self.redactions += line != quote.text
        return line


def width_of(quote: Quote) -> int:
    """How many bytes of a quote are shown."""
    return next(width for value, width in WIDTHS if quote.value >= value)


class Group:
    """Facts that tell the same: the identities apart, the message once."""

    __slots__ = ("facts", "message", "context")

    def __init__(self, fact: Fact) -> None:
        self.facts = [fact]
        self.message = fact.message
        self.context = fact.context


def grouped(facts: Sequence[Fact]) -> List[Group]:
    """Facts of one message put together, in the order of the first of each."""
    groups: Dict[Tuple[str, bytes], Group] = {}
    out = []
    for i, fact in enumerate(facts):
        key = (fact.kind, steady(fact.message) or b"%d" % i)
        if key in groups:
            groups[key].facts.append(fact)
        else:
            groups[key] = Group(fact)
            out.append(groups[key])
    return out


# How much a line of the census says besides the identity, most first: location as path:line (1) or :line (2), span (3).
DETAILS = ((1, 3), (1,), (2,), ())


def fact_line(sheet: Sheet, fact: Fact, location: bytes, details: Sequence[int], brief: bool) -> str:
    """identity, message if it is brief, location unless it was just printed or is part of the identity, and the span of the section
    that tells more."""
    parts = ["  " + sheet.name(fact.identity)]
    if brief and fact.message:
        parts.append(sheet.words(fact.message, WIDTHS[-1][1])[0])
    place = fact.location
    if place and place != location and not fact.identity.startswith(place):
        if 2 in details and place.startswith(file_of(fact) + b":"):
            place = place[len(file_of(fact)) :]
        if 1 in details or 2 in details:
            parts.append(sheet.name(place))
    if fact.first and 3 in details:
        name = "" if fact.stream == sheet.first else fact.stream + " "
        parts.append("@%s%d%s" % (name, fact.first, "-%d" % fact.last if fact.last > fact.first else ""))
    return "  ".join(parts)


def file_of(fact: Fact) -> bytes:
    """The file that a fact is about: its identity's, as far as that names one, else its location's."""
    name, mark, _ = fact.identity.partition(b"::")
    return name if mark else fact.location.partition(b":")[0] or name


class Item:
    """A line that may stand in a digest, with its worth, what it quotes (whole or clipped), and the lines that may stand below it
    once it does."""

    __slots__ = ("text", "value", "quote", "whole", "children", "placed")

    def __init__(self, text: str, value: float = 0.0, quote: Optional[Quote] = None, whole: bool = False) -> None:
        self.text = text
        self.value = value
        self.quote = quote
        self.whole = whole
        self.children: List[Item] = []
        self.placed = False

    def add(self, item: Item) -> Item:
        """Put a line below this one."""
        self.children.append(item)
        return item

    def walk(self) -> Iterator[Item]:
        """This line and all below it that are placed, in order: of the stored lines, too, where a context stands before what it
        explains."""
        if self.placed:
            early = [child for child in self.children if child.quote and self.quote and child.quote.first < self.quote.first]
            for child in early:
                yield from child.walk()
            yield self
            for child in self.children[len(early) :]:
                yield from child.walk()


class Digest:
    """The digest of one run: what stands in it for certain, what is bought, and the receipt."""

    def __init__(self, run: Run, sources: Sequence[Source], found: Sequence[Evidence], command: str) -> None:
        self.run = run
        self.sources = [source for source in sources if source.size] or list(sources[:1])
        self.found = list(found)
        self.command = command
        self.sheet = Sheet(self.sources)
        known = sum(len(required_facts(evidence)) for evidence in found)
        claimed = sum(max(evidence.claimed, len(required_facts(evidence))) for evidence in found)
        self.receipt = Receipt(known, claimed, sum(source.lines for source in self.sources))
        self.census = ""
        self.seen: Set[Tuple[str, int]] = set()  # stored lines that are placed, whole or clipped

    def render(self, budget: int) -> bytes:
        """The digest's bytes. Raises AssertionError when its receipt does not hold, so that no false digest is ever printed."""
        sections = self.head() + self.required(budget)
        closing = [
            "coverage:",
            "  identities: 0/0 · 0 inline · 0 retrievable · 0 unrepresented",
            "  omitted: 100,000 lines",
            "next:",
        ]
        left = budget - price(
            [item.text for section in sections for item in section.walk()] + closing + ["  " + line for line in self.next_lines()]
        )
        quotes = self.quotes()
        self.buy(sections + quotes, left)
        lines = [item.text for section in sections + quotes for item in section.walk()]
        lines += ["coverage:"] + ["  " + line for line in self.coverage()]
        lines += ["next:"] + ["  " + line for line in self.next_lines()]
        if self.receipt.unrepresented or self.receipt.omitted < 0:  # not `assert`, which bytecode may lack
            raise AssertionError("the receipt does not hold")
        return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")

    def place(self, item: Item) -> Item:
        """Let a line stand in the digest."""
        item.placed = True
        if item.quote and item.whole:
            self.receipt.show(item.quote)
        return item

    def quoted(self, quote: Quote, margin: str, value: float, text: Optional[bytes] = None) -> Item:
        """A quote as a line of the digest."""
        line, whole = self.sheet.quote(quote, margin, text)
        return Item(line, value, quote, whole)

    # what always stands in it

    def head(self) -> List[Item]:
        """Handle and profiles, exit status, the size of each stream, and what each tool says of itself."""
        lines = [
            "[ctx %s profile=%s%s]"
            % (self.run.handle, "+".join(dict.fromkeys(e.profile for e in self.found)), " partial" if self.run.partial else "")
        ]
        lines.append("exit: %s" % ("unknown" if self.run.status is None else self.run.status))
        if self.run.partial:
            lines.append("partial: %s; what was printed until then is kept" % self.run.partial)
        for source in self.sources:
            tokens = commas(round2(estimate_tokens_of(source.read, source.size)))
            lines.append("%s: %s · %s · est %s tokens" % (source.name, plural(source.lines, "line"), human(source.size), tokens))
        for name, gap in sorted(self.run.manifest.get("gaps", {}).items()):
            line = commas(self.sheet.sources[name].line_at(gap["at"]))
            lines.append(
                "gap: %s of %s (%s) before line %s were not kept" % (plural(gap["lines"], "line"), name, human(gap["bytes"]), line)
            )
        out = [self.place(Item(line)) for line in lines]
        for evidence in self.found:
            out += self.outcome(evidence)
        return out

    def outcome(self, evidence: Evidence) -> List[Item]:
        """A tool's own counts, or why they cannot be confirmed; then what must be known about its run."""
        if contract_of(evidence).policy == "verbatim":
            return [
                self.place(Item("  " + redact(note.text)[0].decode("utf-8", "backslashreplace"), 10.0, note, True))
                for note in evidence.notes
            ]
        label = "outcome"
        if sum(1 for other in self.found if other.totals or other.facts) > 1 and evidence.span:
            stream, first, last = evidence.span[0]
            label = "outcome of %s at %s%d-%d" % (evidence.profile, "" if stream == self.sheet.first else stream + " ", first, last)
        totals = " · ".join("%s %s" % (commas(count), self.sheet.name(fsencode(name))) for name, count in evidence.totals.items())
        doubt = evidence.unsure or contradiction(self.found, self.run.status, evidence)
        out = []
        if doubt:
            out.append(self.place(Item("%s: unconfirmed: %s%s" % (label, doubt, "; the tool counts " + totals if totals else ""))))
        elif totals:
            out.append(self.place(Item("%s: %s" % (label, totals))))
        for note in evidence.notes[:NOTES]:
            if (note.stream, note.first) not in self.seen:
                self.seen.add((note.stream, note.first))
                out.append(self.place(self.quoted(note, "  ", 10.0)))
        return out

    def coverage(self) -> List[str]:
        """The receipt, the census' address, and how many secrets were redacted."""
        out = self.receipt.lines()
        close = sum(
            last - first + 1 for evidence in self.found if evidence.profile == "text/v1" for _, first, last in evidence.span
        )
        others = sum(
            last - first + 1 for evidence in self.found if evidence.profile != "text/v1" for _, first, last in evidence.span
        )
        if close and close + others < self.receipt.stored:
            out.append("read closely: %s" % plural(close, "line"))
        if self.census:
            out.append("census: %s" % self.census)
        if self.sheet.redactions:
            out.append("redacted: %d" % self.sheet.redactions)
        return out

    def next_lines(self) -> List[str]:
        """Commands that read on, as the shell that reads the digest can run them."""
        out = []
        for evidence in self.found:
            for fact in [fact for fact in required_facts(evidence) if fact.first][:1]:
                out.append("%s get %s#%s:%d-%d" % (self.command, self.run.handle, fact.stream, fact.first, fact.last))
        if self.census:
            out.append("%s get %s" % (self.command, self.census))
        largest = max(self.sources, key=lambda source: source.size)
        return out[:3] or ["%s get %s#%s" % (self.command, self.run.handle, largest.name)]

    # required facts

    def required(self, budget: int) -> List[Item]:
        """The census: every identity, in as much detail as leaves room for the messages, or else as fits; if nothing does, a flood."""
        self.receipt.inline = self.receipt.known
        if any(evidence.quotes and not required_facts(evidence) for evidence in self.found):
            budget = int(budget * FACTS_SHARE)
        for details in DETAILS:
            sections = self.census_sections(details)
            identities = price(item.text for section in sections for item in section.walk())
            messages = price(child.text for section in sections for item in section.children for child in item.children[:1])
            if identities + messages <= budget * CENSUS_SHARE:
                return sections
            if (
                details != DETAILS[0]
                and identities <= budget * CENSUS_SHARE
                and (identities <= budget * ROUGH_SHARE or not details)
            ):
                return sections
        return [self.flood(budget)]

    def census_sections(self, details: Sequence[int]) -> List[Item]:
        """A heading for each required kind, and below it the identities."""
        sections = []
        for evidence in self.found:
            for kind, heading in contract_of(evidence).required.items():
                facts = [fact for fact in required_facts(evidence) if fact.kind == kind]
                if facts:
                    brief = kind in contract_of(evidence).brief
                    groups = [Group(fact) for fact in facts] if brief else grouped(facts)
                    sections.append(self.identities("%s: %s" % (heading, commas(len(facts))), groups, details, brief))
        return sections

    def identities(self, heading: str, groups: Sequence[Group], details: Sequence[int], brief: bool) -> Item:
        """A heading and the identities below it, those that share a message together, the message with the last of them."""
        section = self.place(Item(heading))
        for group in groups:
            location = b""
            for fact in group.facts:
                item = section.add(self.place(Item(fact_line(self.sheet, fact, location, details, brief))))
                location = fact.location
            if not brief:
                self.explain(item, group)
        return section

    def explain(self, item: Item, group: Group) -> None:
        """Offer a group's message below its last identity, and below that what explains it."""
        fact = group.facts[0]
        if group.message and group.message != fact.identity:
            quote = Quote(fact.stream, fact.quoted, group.message, 10.0)
            message = (
                self.quoted(quote, "    ", 10.0, group.message)
                if fact.quoted
                else Item("    " + self.sheet.words(group.message, WIDTHS[0][1])[0], 10.0)
            )
            if len(group.facts) > 1:
                message.text += " ×%d" % len(group.facts)
            item = item.add(message)
        seen: Dict[bytes, int] = {}
        for quote in sorted(group.context, key=lambda quote: quote.first):
            if quote.first != fact.quoted and rx(rb"\w.*\w").search(quote.text):
                again = seen[_shape(quote.text)] = seen.get(_shape(quote.text), -1) + 1
                item.add(self.quoted(quote, "    ", min(quote.value, 9.0) * REPEAT**again))

    def flood(self, budget: int) -> Item:
        """Identities that do not fit: where they are and what they say, as counts, the first of them, and the address of all of
        them."""
        facts = [fact for evidence in self.found for fact in required_facts(evidence)]
        brief = all(fact.kind in contract_of(evidence).brief for evidence in self.found for fact in required_facts(evidence))
        headings = dict.fromkeys(
            heading for e in self.found for kind, heading in contract_of(e).required.items() if any(f.kind == kind for f in e.facts)
        )
        self.census = "blob:" + keep_derived(self.run, census_of(facts))[:HANDLE_DIGITS]
        rows = self.histogram("by file", map(file_of, facts)) + ([] if brief else self.histogram("by message", map(class_of, facts)))
        left = budget * FLOOD_SHARE - price(rows)
        chosen: List[Group] = []
        for group in [Group(fact) for fact in facts] if brief else grouped(facts):
            left -= price(
                [
                    fact_line(self.sheet, group.facts[0], b"", DETAILS[1], brief),
                    "    " + self.sheet.words(group.message, WIDTHS[0][1])[0],
                ]
            )
            if left < 0 and chosen:
                break
            chosen.append(Group(group.facts[0]))
        self.receipt.inline, self.receipt.retrievable = len(chosen), self.receipt.known - len(chosen)
        section = self.identities(
            "%s: %d/%d inline" % (" and ".join(headings), len(chosen), self.receipt.claimed), chosen, DETAILS[1], brief
        )
        section.children[:0] = [self.place(Item(row)) for row in rows]
        return section

    def histogram(self, label: str, names: Iterable[bytes]) -> List[str]:
        """The commonest names with their counts, and how many are in the rest; nothing when no two are the same."""
        counts: Dict[bytes, int] = {}
        for name in names:
            counts[name] = counts.get(name, 0) + 1
        rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        parts = ["%s %s" % (self.sheet.words(name, 80)[0] or "(none)", commas(count)) for name, count in rows[:HISTOGRAM]]
        if len(rows) > HISTOGRAM:
            parts.append("%s more %s" % (commas(len(rows) - HISTOGRAM), commas(sum(count for _, count in rows[HISTOGRAM:]))))
        return ["  %s: %s" % (label, " · ".join(parts))] if rows and rows[0][1] > 1 else []

    # what is bought

    def quotes(self) -> List[Item]:
        """Further lines that may be shown, under a heading, in the order of the streams."""
        heading = Item("lines:")
        order = {source.name: i for i, source in enumerate(self.sources)}
        quotes = [quote for evidence in self.found for quote in evidence.quotes if quote.stream in order]
        for quote in sorted(quotes, key=lambda quote: (order[quote.stream], quote.first)):
            heading.add(self.quoted(quote, "  ", quote.value))
        return [heading]

    def buy(self, sections: Sequence[Item], budget: float) -> None:
        """Place the best lines that the budget allows: by value, then in order; none before the line it explains, none below the
        floor, none twice."""
        from heapq import heappop, heappush

        heap: List[Tuple[float, int, Item, Item]] = []
        turn = iter(range(1 << 30))

        def offer(parent: Item) -> None:
            for child in parent.children:
                if child.placed:
                    offer(child)
                elif child.value > FLOOR:
                    heappush(heap, (-child.value, next(turn), child, parent))

        for section in sections:
            offer(section)
        while heap:
            _, _, item, parent = heappop(heap)
            spot = (item.quote.stream, item.quote.first) if item.quote else None
            needed = price([item.text] if parent.placed else [item.text, parent.text])
            if needed > budget or spot in self.seen:
                continue
            budget -= needed
            if spot:
                self.seen.add(spot)
            parent.placed = True
            self.place(item)
            offer(item)


def price(lines: Iterable[str]) -> int:
    """Tokens that lines take in a digest, their ends included."""
    return (sum(token_cost((line + "\n").encode("utf-8", "backslashreplace")) for line in lines) + 99) // 100


def contradiction(found: Sequence[Evidence], status: Optional[int], evidence: Evidence) -> str:
    """Why a tool's own verdict does not go with the exit status or with what was parsed; "" when it does."""
    known = len(required_facts(evidence))
    if evidence.claimed > known:
        return "the tool counts %d, the output names %d" % (evidence.claimed, known)
    if status == 0 and (failing_facts(evidence) or evidence.outcome == "failed"):
        return "exit 0, although the tool reports a failure"
    failing = any(failing_facts(other) or other.outcome == "failed" for other in found)
    if status and evidence.outcome == "passed" and not failing:
        return "exit %d, although the tool reports no failure" % status
    return ""


def class_of(fact: Fact) -> bytes:
    """What kind of complaint a fact's message is: the words before its first colon."""
    return steady(fact.message).partition(b":")[0].strip()


def census_of(facts: Iterable[Fact]) -> bytes:
    """Every identity on a line of its own, with location, message and span behind tabs: the artifact behind a flood."""
    rows = []
    for fact in facts:
        span = b"#%s:%d-%d" % (fsencode(fact.stream), fact.first, fact.last) if fact.first else b""
        rows.append(
            b"\t".join(
                part.replace(b"\t", b" ").replace(b"\n", b" ") for part in (fact.identity, fact.location, fact.message, span)
            ).rstrip(b"\t")
            + b"\n"
        )
    return b"".join(rows)


def is_answer(found: Sequence[Evidence], status: Optional[int]) -> bool:
    """Whether the output itself is what the caller wanted: no report was recognised in it, and nothing failed."""
    return not status and all(contract_of(evidence).policy != "report" for evidence in found)


def digest_of(run: Run, settings: Dict[Tuple[str, str], Any], command: str, before: Optional[Run] = None) -> Tuple[bytes, bool]:
    """A run's digest, and whether its output is an answer, to be passed whole as far as it is small enough. With `before`, an
    earlier run of the same command, its last block tells what has changed. Raises CtxError when evidence is gone."""
    sources = run.sources()
    found = examine(sources, run.status)
    answer = is_answer(found, run.status)
    failed = answer or run.status != 0 or any(failing_facts(evidence) or evidence.unsure for evidence in found)
    digest = Digest(run, sources, found, command).render(settings["budget", "fail" if failed else "pass"])
    return digest + (delta_block(run, found, before) if before else b""), answer


def delta_block(run: Run, found: Sequence[Evidence], before: Run) -> bytes:
    """What has changed since an earlier run of the same command, in a few words; nothing where neither run has anything to count."""
    try:
        old = facts_of(before)
    except CtxError:  # collected or damaged meanwhile: then there is nothing to tell
        return b""
    new = facts_of(run, found)
    if not (old["totals"] or old["facts"] or new["totals"] or new["facts"]):
        return b""
    change = Change(old, new)
    parts = [
        "%s %s" % (commas(len(facts)), {"still": "still failing"}.get(name, name)) for name, facts in change.groups.items() if facts
    ]
    if not change:
        parts.append("nothing changed")
    doubt = "unconfirmed, " if change.unsure else ""
    lines = ["delta: %s%s since %s" % (doubt, " · ".join(parts) or "only counts changed", before.handle)]
    for name in ("new", "fixed"):
        for fact in change.groups[name]:
            line = "  %s: %s" % (name, visible(fsencode(redact_text(fact["identity"]))))
            if price([*lines, line]) > DELTA_BUDGET:
                break
            lines.append(line)
    return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")


def self_command() -> str:
    """How the shell that reads a digest calls this program: by its name where PATH has it, else as it was started."""
    words = own_words()
    if is_same(fsdecode(find_program(b"ctx")), words[-1]):
        return "ctx"
    if is_same(fsdecode(find_program(b"python3")), words[0]):
        words[0] = "python3"
    return " ".join(map(shell_word, words))


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def shell_word(text: str) -> str:
    """`text` as one word of a shell's command line; `#` is safe inside a word."""
    if text and not text.startswith("#") and all(c in _SAFE or c == "#" for c in text):
        return text
    return "'%s'" % text.replace("'", "'\\''")


# ── what a captured command shows at its end


def new_capture(kind: str, argv: Sequence[str], settings: Settings, stream: bool = False, log: int = -1, limit: float = 0.0) -> Capture:
    """A capture, for a run of this command line here. Where nothing can be kept it says so, and passes the output through."""
    problem, spool = None, None
    try:
        spool = open_spool(kind, argv, settings)
    except OSError as error:
        problem = error
    capture = Capture(spool, settings["budget", "inline"], settings["budget", "hold"], stream, log, limit, settings["budget", "content"])
    if problem:
        capture.give_way(problem)
    return capture


def finish_run(capture: Capture, settings: Settings, summary: int = -1) -> int:
    """After the command: make the run part of the store, and show what is owed of it, verbatim or as a digest. The status to leave
    with.

    A digest is also appended to the file open as `summary`, as a fenced block.
    """
    run = capture.commit()
    if run and capture.spool:
        show_end(capture, run, settings, summary)
        capture.spool.discard()
        house_keeping(run.store, settings)
    return capture.outcome()


def show_end(capture: Capture, run: Run, settings: Settings, summary: int) -> None:
    """Replay what was captured if it is small, or if no digest of it is much smaller; else print the digest."""
    small = capture.total * 2 <= settings["budget", "inline"] * (3 if capture.status else 2)
    digest, answer = (b"", False) if small and summary < 0 else safe_digest(capture, run, settings)
    if summary >= 0 and digest:
        append_summary(capture, summary, digest)
    if small or not digest or 2 * len(digest) > capture.total or (answer and capture.total <= settings["budget", "content"]):
        if capture.mode != "pass":
            capture.emit_rest()
    else:
        capture.show(1, digest)


def append_summary(capture: Capture, fd: int, digest: bytes) -> None:
    """Append a digest to an open file of Markdown, in a fence that nothing in it can end."""
    fence = b"```"
    while fence in digest:
        fence += b"`"
    try:
        write_all(fd, b"%s\n%s%s\n" % (fence, digest, fence))
    except OSError as error:
        capture.complain("--summary: %s" % error.strerror)


def safe_digest(capture: Capture, run: Run, settings: Settings) -> Tuple[bytes, bool]:
    """A run's digest, and whether its output is an answer; b"" when making it failed, which is said: the output then passes whole."""
    try:
        before = previous_run(run, capture.spool.record) if capture.spool and settings["budget", "delta"] else None
        return digest_of(run, settings, self_command(), before)
    except Exception as error:  # whatever is wrong in a profile, the command's output must reach its reader
        if getenv("CTX_DEBUG") == "1":
            raise
        text = str(error) if isinstance(error, CtxError) else "%s: %s" % (type(error).__name__, error)
        capture.complain("no digest could be made (%s): the output follows as it is" % visible(fsencode(text)))
    return b"", False


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 16 · retrieve
# Knows how to answer an address: places, live files, pages, searches, lists of runs. Never knows how the bytes came to be stored.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE_BYTES = 64 * KIB  # of a page, whatever its tokens
POINTER_LIMIT = 64 * MIB  # bytes of a JSON document that --pointer reads
ANCHOR_LIMIT = 64 * MIB  # bytes in which an anchor is checked or looked for
SNAPSHOT = 8 * MIB  # a live file up to here is read at once, so that it cannot change between two looks
SEEN_AROUND = 32 * KIB  # bytes before and after a piece in which a secret that reaches into it is looked for: twice what one may take
KEY_REACH = 256 * KIB  # bytes before a line in which a private key that goes on there is looked for
WINDOW = 64 * KIB  # searched at a time: the allocator hands larger pieces back to the system each time, which costs more than the search
SHARE = 16 * MIB  # bytes for which a further processor is worth its start
LONG_LINE = 16 * MIB  # a line longer than this is searched without being copied
HITS_KEPT = 1000  # a page of a search shows no more
PLACES_KEPT = 100  # nor hits in more places, each of which is an open file
HIT_WIDTH = 800  # bytes of a hit that are shown, from around its first match


class Place:
    """What an address leads to: a source, the address without its lines, the lines selected (None: all), and what must be said about it."""

    __slots__ = ("source", "address", "remarks", "lines")

    def __init__(self, source: Source, address: Address, lines: Optional[Lines] = None) -> None:
        self.source = source
        self.address = Address(address.kind, address.name, address.stream)
        self.lines = lines
        self.remarks: List[str] = []

    @property
    def is_live(self) -> bool:
        """Whether the bytes may be others the next time."""
        return self.address.kind == "repo"

    def span(self) -> Tuple[int, int]:
        """Offsets of the selected lines."""
        if self.lines is None:
            return 0, self.source.size
        return self.source.start_of(self.lines.first), self.source.start_of(self.lines.last + 1)


def resolve(address: Address) -> Place:
    """The source behind an address. Raises CtxError: never captured here, collected, ambiguous, changed, damaged …"""
    if address.kind == "repo":
        place = live_place(address.name)
    elif address.kind == "blob":
        store, digest = resolve_blob(address.name)
        place = Place(store.source(digest), Address("blob", digest[:HANDLE_DIGITS]))
    else:
        run = resolve_run(address.name)
        place = run_place(run, address.stream or only_stream(run))
    if address.lines:
        select_lines(place, address.lines)
    return place


def run_place(run: Run, name: str) -> Place:
    """One stream of a run. Raises CtxError."""
    place = Place(run.source(name), Address("run", run.handle[4:], name))
    if name not in run.streams and len(run.streams) > 1:
        place.remarks.append("the order between stdout and stderr is approximate: they came through two pipes")
    if run.partial:
        place.remarks.append("this output is partial: %s" % run.partial)
    return place


def only_stream(run: Run) -> str:
    """The one stream of a run that holds anything. Raises CtxError when there are two."""
    full = [name for name in run.streams if run.source(name).size]
    if len(full) > 1:
        raise CtxError("%s has more than one stream" % run.handle, "add #stdout, #stderr, or #output for both in order of arrival")
    return full[0] if full else run.streams[0]


def select_lines(place: Place, wanted: Lines) -> None:
    """Select lines of a place; anchored ones must read the same, in a live file wherever they stand now. Raises CtxError."""
    source, total = place.source, place.source.lines
    if wanted.anchor and place.is_live:
        place.lines = follow(place, wanted)
        return
    if not total:
        raise CtxError("%s is empty" % place.address, "it has no lines to select")
    if wanted.first > total:
        raise CtxError("%s has no line %d" % (place.address, wanted.first), "valid lines are 1-%d" % total)
    if wanted.last > total:
        place.remarks.append("%s ends at line %d" % (place.address, total))
    place.lines = Lines(wanted.first, min(wanted.last or total, total))
    if wanted.anchor and anchor_at(source, *place.span()) != wanted.anchor:
        what = "%s: the anchor does not match these lines" % place.address.at(wanted.first, wanted.last, wanted.anchor)
        raise CtxError(what, "leave the anchor out: stored bytes never change")


def follow(place: Place, wanted: Lines) -> Lines:
    """Where anchored lines of a live file stand now. Raises CtxError: changed, or ambiguous."""
    source, count = place.source, wanted.last - wanted.first + 1
    start, end = source.start_of(wanted.first), source.start_of(wanted.last + 1)
    if wanted.last <= source.lines and anchor_at(source, start, end) == wanted.anchor:
        return Lines(wanted.first, wanted.last)
    if source.size > ANCHOR_LIMIT:
        raise CtxError("%s: too large to look for moved lines (%s)" % (place.address, human(source.size)), "leave the anchor out")
    found = find_anchored(split_lines(source.read(0, source.size)), count, wanted.anchor) if count <= source.lines else []
    if not found:
        raise CtxError("%s: these lines have changed" % place.address.at(wanted.first, wanted.last, wanted.anchor), "read the file again: %s" % place.address)
    spots = [str(place.address.at(first, first + count - 1, wanted.anchor)) for first in found]
    if len(found) > 1:
        what = "%s: ambiguous, the same lines stand in several places" % place.address.at(wanted.first, wanted.last, wanted.anchor)
        raise CtxError(what, "did you mean %s?" % " or ".join(spots))
    place.remarks.append("moved: now at %s" % spots[0])
    return Lines(found[0], found[0] + count - 1)


def split_lines(data: bytes) -> Iterator[bytes]:
    """The lines of some bytes, without their LFs."""
    at = 0
    while at < len(data):
        end = line_end(data, at, len(data))
        yield data[at:end]
        at = end + 1


def line_end(data: Any, at: int, end: int) -> int:
    """Where the line that holds `at` ends, its LF excluded; `end` at the latest."""
    found = data.find(b"\n", at, end)
    return end if found < 0 else int(found)


def anchor_at(source: Source, start: int, end: int) -> str:
    """The anchor of the lines in bytes start to end; "" when they are too many to hash."""
    return anchor_of(split_lines(source.read(start, end))) if end - start <= ANCHOR_LIMIT else ""


# ── live files


def live_place(name: str) -> Place:
    """A file of the workspace as it is now. Raises CtxError."""
    file, path = open_live(name)

    def read(start: int, end: int) -> bytes:
        data = file.read(start, end)
        if len(data) < end - start:
            raise CtxError("repo:%s: changed while it was read" % path, "try again")
        return data

    if file.size <= SNAPSHOT:
        return Place(Source.of_bytes("output", file.read(0, file.size)), Address("repo", path))
    return Place(Source("output", file.size, read), Address("repo", path))


def open_live(name: str) -> Tuple[OpenFile, str]:
    """Open a regular file below the workspace, links resolved: the file, and its path as it is to be printed. Raises CtxError."""
    import os.path

    top = workspace()
    if not top:
        raise CtxError("repo:%s: there is no workspace here" % name, "go to a directory below a git work tree or a ctx.toml")
    if "\0" in name:
        raise CtxError("repo:%s: not a file name" % name, "check the path")
    root, actual = os.path.realpath(top), os.path.realpath(os.path.join(top, name))
    if not (actual + "/").startswith(root.rstrip("/") + "/"):
        raise CtxError("repo:%s: leads outside the workspace" % name, "name a file below %s" % top)
    below = relative_to(root, actual)
    if ".git" in below.lower().split("/"):
        raise CtxError("repo:%s: git's own files are not part of the work tree" % name, "ask git for them")
    try:
        fd = posix.open(fsencode(actual), posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK | posix.O_NOFOLLOW)
    except OSError as error:
        missing = error.errno in (2, 20)  # ENOENT, ENOTDIR
        raise CtxError("repo:%s: %s" % (name, (error.strerror or "cannot be read").lower()), nearest_file(top, name) if missing else "make it readable") from None
    file = OpenFile(fd)
    kind = posix.fstat(fd).st_mode & 0o170000
    if kind != 0o100000:
        raise CtxError("repo:%s: %s" % (name, "is a directory" if kind == 0o040000 else "not a regular file"), "name a file")
    plain = not name.startswith("/") and not {"", ".", ".."}.intersection(name.split("/"))
    return file, name if plain else below


def nearest_file(top: str, name: str) -> str:
    """What to write instead of a path that is not there: the same path seen from here, or the nearest name in its directory."""
    here = relative_to(top, absolute(name))
    if here != name and exists(top + "/" + here):
        return "paths are relative to %s: did you mean repo:%s?" % (top, here)
    folder, slash, last = name.rpartition("/")
    return did_you_mean("repo:" + name, ["repo:%s%s%s" % (folder, slash, other) for other in list_dir("%s/%s" % (top, folder))[:2000]]) or (
        "check the path; it is relative to %s" % top
    )


# ── what may be shown


def veiled(source: Source, start: int, end: int) -> Tuple[bytes, int]:
    """Bytes start to end as they may be shown, and how many secrets were replaced: seen with what is around them, so that a secret is
    known by its parts, and a line of a private key by the lines before it."""
    before, after = source.read(max(0, start - KEY_REACH), start), source.read(end, min(source.size, end + SEEN_AROUND))
    data = source.read(start, end)
    head = data.find(b"\n") + 1 or len(data) if before and not before.endswith(b"\n") else 0  # of the line in which the bytes start
    rest = len(data) - (data.rfind(b"\n") + 1) if after and not data.endswith(b"\n") else 0  # of the line in which they end
    if head + rest > len(data):  # within one line
        head, rest = len(data), 0
    parts = []
    for first, last in ((0, head), (head, len(data) - rest), (len(data) - rest, len(data))):
        if first < last:
            around = before + data[:first], data[first:last], data[last:] + after
            parts.append(veiled_lines(*around) if first == head and last == len(data) - rest else veiled_piece(*around))
    return b"".join(shown for shown, _ in parts), sum(count for _, count in parts)


def veiled_lines(before: bytes, lines: bytes, after: bytes) -> Tuple[bytes, int]:
    """Whole lines without secrets, and how many were replaced. A private key that began before them ends where its own rules say."""
    key = before.rfind(b"PRIVATE KEY")
    before = before[before.rfind(b"\n", 0, key) + 1 :] if key >= 0 else b""
    after = after[: after.rfind(b"\n", 0, 4 * KIB) + 1] if key >= 0 or b"PRIVATE KEY" in lines else b""
    whole, count = redact(before + lines + after)
    if not count:
        return lines, 0
    at = nth_newline(whole, before.count(b"\n")) + 1 if before else 0
    shown = whole[at : nth_newline(whole, (before + lines).count(b"\n")) + 1] if after else whole[at:]
    return shown, max(shown.count(b"[redacted:") - lines.count(b"[redacted:"), int(shown != lines))


def veiled_piece(before: bytes, piece: bytes, after: bytes) -> Tuple[bytes, int]:
    """A piece of one line without secrets or parts of them, and how many were replaced."""
    first, last = before.rfind(b"\n") + 1, after.find(b"\n") + 1 or len(after)
    line = before[first:] + piece + after[:last]
    if b"PRIVATE KEY" in before[:first] and len(line) < SEEN_AROUND:
        if veiled_lines(before[:first], line, after[last:])[0] != redact(line)[0]:  # the line itself does not give it away
            return b"[redacted]" + (b"\n" if piece.endswith(b"\n") else b""), 1
    first = max(first, len(before) - SEEN_AROUND)
    redactor, start = Redactor(), len(before) - first
    return redactor._text(before[first:] + piece + after[:last], start, start + len(piece))[0], redactor.count


# ── pages


class Page:
    """A bounded piece of a source: where it lies, its bytes as they may be shown, and how many secrets were replaced in it."""

    __slots__ = ("start", "end", "data", "secrets")

    def __init__(self, start: int, end: int, data: bytes, secrets: int) -> None:
        self.start = start
        self.end = end
        self.data = data
        self.secrets = secrets


def page_of(source: Source, start: int, end: int, budget: int, raw: bool = False) -> Page:
    """The first page of bytes start to end (start < end): whole lines while what is shown of them fits `budget` tokens, else a piece of a
    line cut between characters. A budget of 0 is none: the page is then as large as a window."""
    if not budget:
        stop = min(end, start + CHUNK)
        return Page(start, stop, *((source.read(start, stop), 0) if raw else veiled(source, start, stop)))
    data, limit = source.read(start, min(end, start + PAGE_BYTES)), budget
    while True:
        stop = start + page_cut(data, limit, start + len(data) >= end)
        page = Page(start, stop, *((source.read(start, stop), 0) if raw else veiled(source, start, stop)))
        excess = estimate_tokens(page.data) - budget  # of the marks that stand for secrets
        if excess <= 0 or limit == 1:
            return page
        limit = max(1, limit - excess)


def page_cut(data: bytes, budget: int, is_all: bool) -> int:
    """How much of `data` (not empty) makes a page: as many whole lines as the budget allows, at least a piece of the first."""
    ends = newlines(data)
    if is_all and not data.endswith(b"\n"):
        ends.append(len(data) - 1)
    cut = largest(len(ends), lambda count: estimate_tokens(data[: ends[count - 1] + 1]) <= budget)
    if cut:
        return ends[cut - 1] + 1
    cut = max(1, largest(ends[0] + 1 if ends else len(data), lambda size: estimate_tokens(data[:size]) <= budget))
    whole = cut - unfinished(data[max(0, cut - 3) : cut])
    return cut if cut == len(data) and is_all else whole or cut


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number from 1 to `most` that fits, as far as doubling and halving find it; 0 when none does."""
    low, high = 0, 1
    while high < most and fits(high):
        low, high = high, 2 * high
    high = min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def unfinished(tail: bytes) -> int:
    """How many bytes at the end of `tail` begin a UTF-8 sequence that goes on behind it."""
    for size in range(1, min(3, len(tail)) + 1):
        byte = tail[-size]
        if byte & 0xC0 != 0x80:
            return size if byte >= (0xF0, 0xE0, 0xC2)[3 - size] and byte < 0xF8 else 0
    return 0


def newlines(data: bytes) -> List[int]:
    """Where the LFs are."""
    found, at = [], data.find(b"\n")
    while at >= 0:
        found.append(at)
        at = data.find(b"\n", at + 1)
    return found


def address_of(place: Place, start: int, end: int) -> str:
    """The arguments of `get` that read bytes start to end: as lines where they are whole lines, else as bytes; of a live file anchored."""
    source = place.source
    anchor = anchor_at(source, start, end) if place.is_live else ""
    starts_line = start == 0 or source.read(start - 1, start) == b"\n"
    ends_line = end == source.size or source.read(end - 1, end) == b"\n"
    if starts_line and ends_line:
        return shell_argument(str(place.address.at(source.line_at(start), source.line_at(end - 1), anchor)))
    return "%s --bytes %d:%d%s" % (shell_argument(str(place.address)), start, end, anchor and "@" + anchor)


def shell_argument(text: str) -> str:
    """`shell_word` of what a user typed or a file is named: controls and bytes that are no UTF-8 spelt out, as bash and zsh read them."""
    raw = fsencode(text)
    if visible(raw) == text.replace("[ctx ", "\\[ctx "):
        return shell_word(text)
    return "$'%s'" % "".join(chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else "\\x%02x" % byte for byte in raw)


def byte_range(place: Place, text: str) -> Tuple[int, int]:
    """Offsets for --bytes A:B or A:B@anchor: from 0, B excluded. Raises CtxError."""
    source, size = place.source, place.source.size
    span, _, anchor = text.partition("@")
    first, last = parse_pair(span, "--bytes", "write A:B, counted from 0, up to but not including B")
    start, end = first or 0, size if last is None else min(last, size)
    if start >= end:
        raise CtxError("--bytes %s: nothing there" % quoted(text), "valid bytes are 0:%d" % size if size else "%s is empty" % place.address)
    if anchor and anchor_at(source, start, end) != anchor:
        raise CtxError("--bytes %s: these bytes have changed" % quoted(text), "read it again: %s" % place.address)
    if (last or 0) > size:
        place.remarks.append("%s ends at byte %d" % (place.address, size))
    return start, end


# ── JSON


def pointed_at(place: Place, pointer: str) -> Tuple[int, int]:
    """Offsets of the value at a JSON pointer (RFC 6901) in the selected lines. Raises CtxError."""
    start, end = place.span()
    if end - start > POINTER_LIMIT:
        raise CtxError("--pointer: %s is too large (%s)" % (place.address, human(end - start)), "read it by lines or bytes")
    if (pointer and not pointer.startswith("/")) or rx(rb"~(?![01])").search(fsencode(pointer)):
        raise CtxError("--pointer %s: not a JSON pointer" % quoted(pointer), "write /key/0/key, ~1 for / and ~0 for ~; all of it is ''")
    text = json_text(place, start, end)
    at, stop = skip_space(text, text.startswith("\ufeff")), len(text.rstrip(" \t\r\n"))
    for part in pointer.split("/")[1:]:
        at, stop = step_into(text, at, part.replace("~1", "/").replace("~0", "~"), pointer)
    return start + len(fsencode(text[:at])), start + len(fsencode(text[:stop]))


def json_text(place: Place, start: int, end: int) -> str:
    """A JSON document as text. Raises CtxError when it is none."""
    import json

    text = fsdecode(place.source.read(start, end))
    try:
        json.loads(text[text.startswith("\ufeff") :], parse_int=float)
    except (ValueError, RecursionError) as error:
        line, problem = place.source.line_at(start), str(error)
        if isinstance(error, json.JSONDecodeError):
            line += error.lineno - 1
            problem = "line %d: %s" % (line, error.msg)
        fix = "select the lines of one document, as in %s" % place.address.at(line, line)
        raise CtxError("--pointer: %s is not one JSON document (%s)" % (place.address, problem), fix) from None
    return text


def skip_space(text: str, at: int) -> int:
    """The first place from `at` on that is no white space of JSON."""
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def step_into(text: str, at: int, key: str, pointer: str) -> Tuple[int, int]:
    """One step of a JSON pointer, from the value at `at`: the span of the value it leads to. Raises CtxError that names what is there instead."""
    keys: List[str] = []
    found = None
    for name, start, end in members(text, at):
        keys.append(name)
        if name == key:
            found = start, end  # of equal keys the last holds, as everywhere
    if found:
        return found
    if text[at] not in "{[":
        raise CtxError("--pointer %s: %s is below a value that has no parts" % (quoted(pointer), quoted(key)), "stop one step earlier")
    if not keys:
        raise CtxError("--pointer %s: no %s" % (quoted(pointer), quoted(key)), "what it is looked for in is empty")
    if text[at] == "[":
        raise CtxError("--pointer %s: no element %s" % (quoted(pointer), quoted(key)), "valid elements are 0 to %s" % keys[-1])
    fix = did_you_mean(key, keys[:1000]) or "keys are %s" % ", ".join(map(quoted, keys[:12]))
    raise CtxError("--pointer %s: no key %s" % (quoted(pointer), quoted(key)), fix)


def members(text: str, at: int) -> Iterator[Tuple[str, int, int]]:
    """(key or index, start, end) of each value in the object or array at `at` of a valid JSON text; none in another value."""
    import json

    decode, opening = json.JSONDecoder(parse_int=float).raw_decode, text[at]
    at, index = skip_space(text, at + 1), 0
    while opening in "{[" and text[at] not in "}]":
        name = str(index)
        if opening == "{":
            name, at = decode(text, at)
            at = skip_space(text, skip_space(text, at) + 1)
        end = decode(text, at)[1]
        yield name, at, end
        at, index = skip_space(text, end), index + 1
        at = skip_space(text, at + 1) if text[at] == "," else at


# ── patterns

# Classes that grep knows inside [ ] and Python does not.
_GREP_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z",
    "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_INLINE_FLAGS = r"\(\?([aiLmsux]+)\)"


def python_pattern(pattern: str) -> str:
    """A regular expression with grep's own spellings, `[[:digit:]]`, `\\<` and `\\>`, put into Python's. Raises CtxError."""
    import re

    def name(match: Any) -> str:
        if match.group(1) not in _GREP_CLASSES:
            raise CtxError("no character class [:%s:]" % match.group(1), nearest(match.group(1), list(_GREP_CLASSES), "classes are"))
        return _GREP_CLASSES[match.group(1)]

    def token(match: Any) -> str:
        text = str(match.group())
        if text[0] == "[":
            return re.sub(r"\[:(\w+):\]", name, text)
        return {"\\<": r"\b(?=\w)", "\\>": r"\b(?<=\w)"}.get(text, text)

    return re.sub(r"(?s)\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", token, pattern)


class Query:
    """A pattern, ready to be looked for in lines.

    A pattern of ASCII alone is matched on bytes, any other on text, so that `[äö]` is two characters and not four bytes. `literals` are
    texts one of which every matching line must hold (none: every line is tried); `exact` says that it then does match. `sweep` finds the
    matches of many lines in one go, each up to the end of its line; `fast_sweep` that it skips to where they may begin.
    """

    __slots__ = ("regex", "is_text", "fold", "literals", "exact", "sweep", "fast_sweep")

    def __init__(self, pattern: str, fixed: bool = False, fold: bool = False, word: bool = False) -> None:
        import re

        if "\n" in pattern:
            raise CtxError("a pattern holds no line end", "search for one line at a time")
        self.is_text = not pattern.isascii() and (fold or word or not fixed)
        source = re.escape(pattern) if fixed else python_pattern(pattern)
        flags = re.IGNORECASE if fold else 0
        self.regex, tree = compiled(self.encoded(source), flags, pattern)
        self.fold = bool(self.regex.flags & re.IGNORECASE)
        inline = re.match(_INLINE_FLAGS, source)
        if word:
            start, end = (inline.group(), "\n" * ("x" in inline.group(1))) if inline else ("", "")  # LF ends a comment
            whole = "%s(?<!\\w)(?:%s%s)(?!\\w)" % (start, source[len(start) :], end)
            self.regex, _ = compiled(self.encoded(whole), flags, pattern)
        self.literals, self.exact = ([], False) if self.regex.flags & re.LOCALE else needed(tree, self.spell)
        self.exact = self.exact and not word and not (self.is_text and any("\udc80" <= c <= "\udcff" for c in pattern))
        self.sweep: Any = None
        self.fast_sweep = False
        if not (self.is_text or self.exact or word or inline) and tree.getwidth()[0] and confined(tree):
            self.sweep, _ = compiled(b"(?:%s)[^\\n]*" % fsencode(source), flags | re.MULTILINE, pattern)
            self.fast_sweep = not self.fold and [str(op) for op, _ in tree[:2]] == ["LITERAL", "LITERAL"]

    def encoded(self, source: str) -> Any:
        """An expression as it is compiled: for text, or for bytes."""
        return source if self.is_text else fsencode(source)

    def spell(self, code: int) -> bytes:
        """The bytes of a character that a match must hold as they stand; b"" for one that may be spelt otherwise."""
        if code == 10 or (self.is_text and self.fold and (code > 127 or chr(code) in "ikIKsS")):  # letters beyond ASCII fold to these
            return b""
        text = fsencode(chr(code)) if self.is_text else bytes((code,))
        return text.lower() if self.fold else text

    # looking, in windows: bytes from `start` to `end` of a text, which are whole lines

    def way(self, text: Any, start: int, end: int) -> str:
        """How to look, judged by a sample: for the literals, by a sweep, or at every line."""
        sample = text[start : min(end, start + WINDOW)]
        lowered = sample.lower() if self.fold else sample
        hits = sum(map(lowered.count, self.literals))
        # tenths of nanoseconds, as measured; what matters are the ratios
        costs = {"line": 5000 * sample.count(b"\n") + 100 * len(sample)}
        if self.literals:
            costs["literal"] = hits * (1000 if self.exact else 4500) + len(sample) * (3 * len(self.literals) + 5 * self.fold)
        if self.sweep:
            costs["sweep"] = hits * 1100 + len(sample) * (7 if self.fast_sweep else 100)
        return min(costs, key=lambda way: (costs[way], way))

    def hits(self, way: str, text: Any, start: int, end: int) -> Iterator[Tuple[int, int, int]]:
        """(start, end, first match) of every line that matches; the LF is not part of it."""
        if way == "sweep":
            for found in self.sweep.finditer(text, start, end):
                yield line_start(text, start, found.start()), found.end(), found.start()
            return
        for last, spot in self.candidates(way, text, start, end):
            first = line_start(text, start, spot)
            if not self.exact or way == "line":
                spot = self.match(text, first, last)
            if spot >= 0:
                yield first, last, spot

    def count(self, way: str, text: Any, start: int, end: int) -> int:
        """How many lines match."""
        if way == "sweep":
            return sum(1 for _ in self.sweep.finditer(text, start, end))
        if self.exact and way == "literal" and not self.fold and len(self.literals) == 1:
            return count_holding(text, self.literals[0], start, end)
        found = self.candidates(way, text, start, end)
        if self.exact and way == "literal":
            return len(found)
        return sum(1 for last, spot in found if self.match(text, line_start(text, start, spot), last) >= 0)

    def candidates(self, way: str, text: Any, start: int, end: int) -> List[Tuple[int, int]]:
        """(end, a place in it) of every line that may match: of all lines, or of those that hold a literal, which is the place."""
        if way == "line":
            return every_line(text, start, end)
        if self.fold:
            return [(start + last, start + spot) for last, spot in self.holding(text[start:end].lower(), 0, end - start)]
        return self.holding(text, start, end)

    def holding(self, text: Any, start: int, end: int) -> List[Tuple[int, int]]:
        """(end, place of the first literal) of every line that holds one."""
        found: Dict[int, int] = {}
        find = text.find
        for literal in self.literals:
            spot = find(literal, start, end)
            while spot >= 0:
                last = find(b"\n", spot, end)
                if last < 0:
                    last = end
                if last not in found or spot < found[last]:
                    found[last] = spot
                spot = find(literal, last, end)
        return list(found.items()) if len(self.literals) == 1 else sorted(found.items())

    def match(self, text: Any, start: int, end: int) -> int:
        """Where in the text the first match of the line from `start` to `end` begins, -1 when it has none."""
        line = text[start:end] if end - start <= LONG_LINE else memoryview(text)[start:end]
        if not self.is_text:
            found = self.regex.search(line)
            return start + found.start() if found else -1
        decoded = fsdecode(bytes(line))
        found = self.regex.search(decoded)
        return start + len(fsencode(decoded[: found.start()])) if found else -1


def count_holding(text: Any, literal: bytes, start: int, end: int) -> int:
    """How many lines hold a literal: what most searches come to, with nothing in the loop that could be outside."""
    find, total = text.find, 0
    spot = find(literal, start, end)
    while spot >= 0:
        total += 1
        last = find(b"\n", spot, end)
        spot = find(literal, last, end) if last >= 0 else -1
    return total


def line_start(text: Any, start: int, spot: int) -> int:
    """Where the line that holds `spot` begins; `start`, where a line begins, at the earliest."""
    return max(int(text.rfind(b"\n", start, spot)) + 1, start)


def every_line(text: Any, start: int, end: int) -> List[Tuple[int, int]]:
    """(end, start) of every line."""
    lines = []
    while start < end:
        last = line_end(text, start, end)
        lines.append((last, start))
        start = last + 1
    return lines


def compiled(source: Any, flags: int, pattern: str) -> Tuple[Any, Any]:
    """An expression, compiled and parsed. Raises CtxError."""
    import re
    import warnings

    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:
        import sre_parse as parser
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `[[`, which means here what it always did
            return re.compile(source, flags), parser.parse(source, flags)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise CtxError("%s: %s" % (quoted(pattern), error), "mend the pattern, or add -F to search for it as it stands") from None


def needed(items: Iterable[Tuple[Any, Any]], spell: Callable[[int], bytes]) -> Tuple[List[bytes], bool]:
    """Texts one of which every match of a parsed expression holds ([]: none is certain), and whether a line that holds one does match.

    Of several such sets the one whose shortest text is longest, because that is found fastest.
    """
    found: List[List[bytes]] = []
    run, exact = b"", True
    sequence = list(items)
    for op, value in sequence:
        text = spell(value) if str(op) == "LITERAL" else b""
        if text:
            run += text
            continue
        inner, exact = needed_inside(str(op), value, spell)
        exact = exact and len(sequence) == 1
        found += [[run], inner]
        run = b""
    best = max(found + [[run]], key=lambda texts: min(map(len, texts), default=0))
    return (best, exact) if all(best) else ([], exact)


def needed_inside(op: str, value: Any, spell: Callable[[int], bytes]) -> Tuple[List[bytes], bool]:
    """`needed` of one item that holds others."""
    if op == "SUBPATTERN" and not (value[1] or value[2]):  # without flags of its own
        return needed(value[3], spell)
    if op == "ATOMIC_GROUP":
        return needed(value, spell)
    if op.endswith("_REPEAT") and value[0] > 0:
        texts, exact = needed(value[2], spell)
        return texts, exact and value[0] == 1
    if op == "BRANCH":
        branches = [needed(branch, spell) for branch in value[1]]
        if len(branches) <= 16 and all(texts for texts, _ in branches):
            return [text for texts, _ in branches for text in texts], all(exact for _, exact in branches)
    return [], False


def confined(items: Iterable[Tuple[Any, Any]]) -> bool:
    """Whether a parsed expression matches only within lines, and in each as if that stood alone: all its parts are known not to see an LF."""
    inside = {"SUBPATTERN": 3, "MAX_REPEAT": 2, "MIN_REPEAT": 2}
    for op, value in items:
        name = str(op)
        if name in inside:
            good = confined(value[inside[name]]) and not (name == "SUBPATTERN" and (value[1] or value[2]))
        elif name == "BRANCH":
            good = all(map(confined, value[1]))
        elif name == "IN":
            good = all(sees_no_line_end(str(kind), member) for kind, member in value)
        elif name == "AT":
            good = str(value) in ("AT_BEGINNING", "AT_END", "AT_BOUNDARY")
        else:
            good = name == "ANY" or (name == "LITERAL" and value != 10)
        if not good:
            return False
    return True


def sees_no_line_end(kind: str, member: Any) -> bool:
    """Whether a member of a set cannot match LF."""
    if kind == "RANGE":
        return not member[0] <= 10 <= member[1]
    return str(member) in ("CATEGORY_DIGIT", "CATEGORY_WORD") if kind == "CATEGORY" else kind == "LITERAL" and member != 10


# ── search


class Hits:
    """What a search found in one place: how many lines match; of those asked for (start, end, first match), and the line after which they come."""

    __slots__ = ("place", "count", "spans", "after", "before")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.count = 0
        self.spans: List[Tuple[int, int, int]] = []
        self.after = 0  # number of the hit before them, 0 for none
        self.before = 0  # of the hit behind them


def search_place(place: Place, query: Query, skip: int = 0, keep: int = HITS_KEPT) -> Hits:
    """Count every matching line of a place, and keep where `keep` of them are, after the first `skip`. Of many bytes each processor has a share."""
    found, source = Hits(place), place.source
    start, end = place.span()
    wanted = skip + keep + 1 if keep else 0
    shares = max(1, min(processors(), (end - start) // SHARE))
    borders = [start, *(line_stop(source, start + (end - start) * i // shares, end) for i in range(1, shares)), end]
    way = query.way(*next(whole_lines(source, start, end), (b"", 0, 0))[:3])

    def share(at: int, stop: int) -> Callable[[], Tuple[int, List[Tuple[int, int, int]]]]:
        return lambda: search_span(source, query, way, at, stop, wanted)

    others = [in_child(share(at, stop)) for at, stop in zip(borders[1:], borders[2:])]
    spans: List[Tuple[int, int, int]] = []
    for count, some in [share(borders[0], borders[1])()] + [result() for result in others]:
        found.count += count
        spans += some
    found.spans = spans[skip : skip + keep]
    found.after = source.line_at(spans[skip - 1][0]) if found.spans and skip else 0
    found.before = source.line_at(spans[skip + keep][0]) if found.spans and found.count > skip + keep else 0
    return found


def search_span(source: Source, query: Query, way: str, start: int, end: int, wanted: int) -> Tuple[int, List[Tuple[int, int, int]]]:
    """How many of the whole lines in bytes start to end match, and the first `wanted` of them, as (start, end, first match)."""
    count = 0
    spans: List[Tuple[int, int, int]] = []
    for text, first, last, base in whole_lines(source, start, end):
        how = "line" if query.fold and last - first > LONG_LINE else way  # one line, too long to be put into lower case
        if len(spans) < wanted:
            hits = [(base + begin, base + stop, base + spot) for begin, stop, spot in query.hits(how, text, first, last)]
            spans += hits[: wanted - len(spans)]
            count += len(hits)
        else:
            count += query.count(how, text, first, last)
    return count, spans


def processors() -> int:
    """How many processors this process may use, at most 8."""
    try:
        return min(8, len(posix.sched_getaffinity(0)))
    except (AttributeError, OSError):
        return min(8, posix.cpu_count() or 1)


def in_child(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begin some work in a child process; the function that waits for its result. What a child does not deliver is done here."""
    import marshal

    read_end, write_end = posix.pipe()
    try:
        child = posix.fork()
    except OSError:
        child = -1
    if child == 0:
        try:
            write_all(write_end, marshal.dumps(work()))
        finally:
            posix._exit(0)
    posix.close(write_end)

    def result() -> Any:
        try:
            return marshal.loads(b"".join(iter(lambda: posix.read(read_end, CHUNK), b"")))
        except (ValueError, EOFError, TypeError):
            return work()
        finally:
            posix.close(read_end)
            if child > 0:
                posix.waitpid(child, 0)

    return result


def whole_lines(source: Source, start: int, end: int) -> Iterator[Tuple[Any, int, int, int]]:
    """Bytes start to end, which are whole lines, in windows of whole lines: (text, start and end in it, offset of the text in the source).
    A line too long to be copied is mapped, by itself."""
    while start < end:
        size = min(WINDOW, end - start)
        text = source.read(start, start + size)
        cut = text.rfind(b"\n") + 1
        if start + size == end:
            cut = size
        elif not cut:
            stop = line_stop(source, start, end)
            if stop - start > LONG_LINE:
                yield mapped(source), start, stop, 0
                start = stop
                continue
            text, cut = source.read(start, stop), stop - start
        yield text, 0, cut, start
        start += cut


def line_stop(source: Source, at: int, end: int) -> int:
    """Where the line that holds `at` ends, its LF included; `end` at the latest."""
    for base, data in source.chunks(CHUNK, at):
        found = data.find(b"\n")
        if found >= 0:
            return min(end, base + found + 1)
    return end


def mapped(source: Source) -> Any:
    """All bytes of a source, as something that has find, rfind and slices, without reading them."""
    import mmap

    file = getattr(source.read, "__self__", None)
    if not isinstance(file, OpenFile):  # a live file, which may be cut short while it is mapped
        file = nameless_file(getenv("TMPDIR") or "/tmp")
        for _, data in source.chunks():
            file.append(data)
    return mmap.mmap(file.fd, source.size, mmap.MAP_PRIVATE, mmap.PROT_READ)


class Row:
    """One line of a page of hits: the place it is in, its number, whether it matches or only surrounds a match, and its text."""

    __slots__ = ("place", "number", "is_hit", "text")

    def __init__(self, place: Place, number: int, is_hit: bool, text: str) -> None:
        self.place = place
        self.number = number
        self.is_hit = is_hit
        self.text = text

    def __str__(self) -> str:
        return "%d%s%s" % (self.number, ":" if self.is_hit else "-", self.text)


def hit_page(found: Iterable[Hits], context: int, budget: int) -> Tuple[List[str], List[Row], int, int]:
    """Hits with `context` lines around each, as far as `budget` tokens reach: (text, its rows, how many hits they hold, secrets replaced)."""
    lines: List[str] = []
    rows: List[Row] = []
    shown = secrets = 0
    for hits in found:
        last = 0
        for i in range(len(hits.spans)):
            around, width = max(0, min(context, budget // 8)), HIT_WIDTH  # a line takes four tokens
            heading = [] if last else [heading_of(hits.place)]
            while True:
                block, count = hit_rows(hits, i, around, last, width)
                text = heading + ["--"] * (0 < last < block[0].number - 1 and context > 0) + list(map(str, block))
                if price(text) <= budget or shown or width < 50:
                    break
                around, width = around // 2, width if around else width // 2  # a page holds one hit, and no more than its budget
            budget -= price(text)
            if budget < 0 and shown:
                return lines, rows, shown, secrets
            lines += text
            rows += block
            last, shown, secrets = block[-1].number, shown + 1, secrets + count
    return lines, rows, shown, secrets


def heading_of(place: Place) -> str:
    """The address above a place's hits; of a live file with an anchor to all that was searched."""
    start, end = place.span()
    return address_of(place, start, end) if place.is_live else str(place.address)


def hit_rows(hits: Hits, i: int, context: int, last: int, width: int) -> Tuple[List[Row], int]:
    """One hit and the lines around it that are no hits and do not stand above already (they end with line `last`); and the secrets replaced."""
    source, (start, end, spot) = hits.place.source, hits.spans[i]
    number = source.line_at(start)
    rows: List[Row] = []
    secrets = 0
    first, stop = number, number
    if context:
        top, bottom = hits.place.span()
        behind = source.line_at(hits.spans[i + 1][0]) if i + 1 < len(hits.spans) else hits.before or source.line_at(bottom - 1) + 1
        first, stop = max(number - context, last + 1, hits.after + 1, source.line_at(top)), min(number + context, behind - 1)
    for line in range(first, stop + 1):
        place = (start, end, spot) if line == number else (source.start_of(line), source.start_of(line + 1), 0)
        data, count = line_shown(source, *place, width)
        rows.append(Row(hits.place, line, line == number, visible(data.rstrip(b"\r\n"))))
        secrets += count
    return rows, secrets


def line_shown(source: Source, start: int, end: int, spot: int, width: int) -> Tuple[bytes, int]:
    """The line from `start` to `end` as it may be shown, of a long one the part around `spot`; and the secrets replaced."""
    if end - start <= width:
        return veiled(source, start, end)
    first = start if spot - start < width // 2 else min(spot - width // 4, end - width)
    last = first + width
    while first > start and source.read(first, first + 1)[0] & 0xC0 == 0x80:  # not inside a character
        first -= 1
    data, count = veiled(source, first, last - unfinished(source.read(last - 3, last)))
    more = " …".encode()
    return (more[1:] + b" ") * (first > start) + data + more * (last < end), count


class Found:
    """What a search found in many places: those whose hits are shown, how many lines match in each, and what must be said of them."""

    __slots__ = ("places", "counts", "remarks")

    def __init__(self) -> None:
        self.places: List[Hits] = []
        self.counts: Dict[str, int] = {}
        self.remarks: List[str] = []


def search_all(places: Iterable[Place], query: Query, skip: int, keep: int) -> Found:
    """Search one place after another; of all hits keep `keep` after the first `skip`."""
    found = Found()
    for place in places:
        hits = search_place(place, query, skip, keep)
        skip, keep = max(0, skip - hits.count), keep - len(hits.spans) if len(found.places) < PLACES_KEPT else 0
        found.counts[str(place.address)] = found.counts.get(str(place.address), 0) + hits.count
        found.remarks += place.remarks
        if hits.spans:
            found.places.append(hits)
    return found


# ── runs


def search_places(addresses: Sequence[str], tell: Callable[[str], None]) -> Iterator[Place]:
    """What is to be searched: what addresses lead to, or without any the streams of all that is kept, newest first. Raises CtxError; what is
    damaged among all that is kept is told of and left out."""
    for text in addresses:
        address = parse_address(text)
        if address.kind != "run" or address.stream or address.lines:
            yield resolve(address)
        else:
            yield from run_places(resolve_run(address.name))
    seen: Set[str] = set()
    for name, store in [] if addresses else reversed(all_occurrences()):
        if name[32:] not in seen:
            seen.add(name[32:])
            try:
                run = load_occurrence(store, name)
                yield from run_places(run) if run else ()
            except CtxError as error:
                tell(str(error))


def run_places(run: Run) -> Iterator[Place]:
    """The streams of a run."""
    for name in run.streams:
        yield run_place(run, name)


def listed_runs(limit: int, everywhere: bool) -> Iterator[Dict[str, Any]]:
    """What was captured in this workspace, or everywhere: runs that are not over, then the newest first."""
    top = workspace() or cwd()
    for run in live_runs()[:limit]:
        limit -= 1
        yield dict(run_row(run), handle=run.handle, time=None, ms=None, outcome="running")
    for name, store in reversed(all_occurrences()):
        record = read_occurrence(store, name) if limit > 0 else {}
        if record and (everywhere or record.get("workspace") == top):
            limit -= 1
            try:
                kept = read_manifest(store, record["run"])
            except CtxError:
                kept = None
            row = run_row(kept) if kept else {"outcome": "damaged", "bytes": 0, "command": ""}
            yield dict(row, handle="run:" + name.split("-")[2], time=record["time"], ms=record["ms"])


def run_row(run: Run) -> Dict[str, Any]:
    """What a list says of a run: how it ended, its size, and its command line as it may be shown."""
    argv, outcome = run.manifest["argv"], "unknown" if run.status is None else "exit %d" % run.status
    command = " ".join(argv if run.manifest["kind"] in ("shell", "tap") else map(shell_word, argv))
    size = sum(stored or run.source(name).size for name, (_, stored) in run.manifest["streams"].items())
    return {"outcome": "partial" if run.partial else outcome, "bytes": size, "command": visible(clip(redact(fsencode(command))[0], 200))}


# ── two runs beside each other

DIFF_WINDOW = 8 * MIB  # bytes of a stream whose lines are compared
DIFF_LINES = 12  # kinds of lines that are shown as come, and as gone
_GROUPS = ("new", "newly skipped", "fixed", "still")  # the order in which a difference is told


def diff_runs(before: Run, after: Run) -> Dict[str, Any]:
    """How two runs differ, as plain data: exit status, facts by what became of them, totals, kinds of lines that came and went,
    sizes. Raises CtxError when evidence is gone."""
    change = Change(facts_of(before), facts_of(after))
    old, new = kinds_of_lines(before), kinds_of_lines(after)
    return {
        "before": before.handle,
        "after": after.handle,
        "exit": [before.status, after.status],
        "groups": change.groups,
        "totals": change.totals,
        "unsure": change.unsure,
        "come": [new[kind] for kind in new if kind not in old],
        "gone": [old[kind] for kind in old if kind not in new],
        "bytes": [sum(source.size for source in run.sources()) for run in (before, after)],
        "whole": all(source.size <= DIFF_WINDOW for run in (before, after) for source in run.sources()),
    }


def is_different(difference: Dict[str, Any]) -> bool:
    """Whether a difference tells of any."""
    same_exit = difference["exit"][0] == difference["exit"][1]
    groups = any(facts for name, facts in difference["groups"].items() if name != "still")
    return bool(not same_exit or groups or difference["totals"] or difference["come"] or difference["gone"])


def kinds_of_lines(run: Run) -> Dict[bytes, Dict[str, Any]]:
    """The lines of a run by their shape, numbers and names masked: how many there are, and where the first stands."""
    kinds: Dict[bytes, Dict[str, Any]] = {}
    for source in run.sources():
        number = 0
        for _, data in source.line_windows(0, min(source.size, DIFF_WINDOW)):
            for line in data.split(b"\n"):
                number += 1
                kind = _shape(steady(clean(line)))
                entry = kinds.get(kind)
                if entry is None:
                    kinds[kind] = {"stream": source.name, "line": number, "count": 1, "text": fsdecode(clean(line))}
                else:
                    entry["count"] += 1
    kinds.pop(b"", None)
    return kinds


def diff_lines(difference: Dict[str, Any], budget: int) -> List[str]:
    """A difference as text within `budget` tokens: what changed in behaviour first, then lines, then sizes."""
    before, after = difference["before"], difference["after"]
    out = ["[diff %s → %s]" % (before, after)]
    statuses = ["unknown" if status is None else str(status) for status in difference["exit"]]
    out.append("exit: " + " → ".join(dict.fromkeys(statuses)))
    if difference["unsure"]:
        out.append("unconfirmed: a tool's own counts could not be confirmed in one of the runs")
    out += ["%s: %s → %s" % (label, commas(was), commas(now)) for label, was, now in difference["totals"]]
    for name in _GROUPS:
        facts = difference["groups"].get(name, [])
        if facts:
            out.append("%s: %s" % (name, commas(len(facts))))
            out += told(["  " + fact_text(fact, before if name == "fixed" else after) for fact in facts], budget // 3, "  ")
    for name, mark, run in (("come", "+", after), ("gone", "-", before)):
        entries = sorted(difference[name], key=lambda entry: (entry["stream"], entry["line"]))
        if entries:
            out.append("lines %s: %s" % (name, plural(len(entries), "kind")))
            out += told(
                [line_text(entry, mark, run) for entry in entries[:DIFF_LINES]] + ["  …"] * (len(entries) > DIFF_LINES),
                budget // 4,
                "  ",
            )
    if not difference["whole"]:
        out.append("lines were compared in the first %s of each stream" % human(DIFF_WINDOW))
    out.append("size: %s → %s" % tuple(human(size) for size in difference["bytes"]))
    return out


def told(lines: Sequence[str], budget: int, margin: str) -> List[str]:
    """As many lines as the budget allows, and how many are left out."""
    for count, _ in enumerate(lines):
        if count and price(lines[: count + 1]) > budget:
            return [*lines[:count], "%s… and %s" % (margin, commas(len(lines) - count))]
    return list(lines)


def fact_text(fact: Dict[str, Any], handle: str) -> str:
    """One fact of a difference, with its address."""
    text = redact_text(fact["identity"] + ("  " + fact["message"] if fact["message"] else ""))
    first, last = fact["lines"]
    return visible(clip(fsencode(text), WIDTHS[0][1])) + ("  %s#%s:%d-%d" % (handle, fact["stream"], first, last) if first else "")


def line_text(entry: Dict[str, Any], mark: str, handle: str) -> str:
    """One kind of line of a difference, with the address of the first such line."""
    text = visible(clip(fsencode(redact_text(entry["text"])), WIDTHS[-1][1]))
    return "  %s %s%s  %s#%s:%d" % (
        mark,
        text,
        " ×%s" % commas(entry["count"]) if entry["count"] > 1 else "",
        handle,
        entry["stream"],
        entry["line"],
    )


def redacted_difference(difference: Dict[str, Any]) -> Dict[str, Any]:
    """A difference as it may be shown: no secrets in identities, messages and lines."""

    def safe(value: Any) -> Any:
        if isinstance(value, str):
            return redact_text(value)
        if isinstance(value, dict):
            return {key: safe(item) for key, item in value.items()}
        return [safe(item) for item in value] if isinstance(value, (list, tuple)) else value

    return dict(safe(difference))


def fact_address(run: Run, identity: str) -> Address:
    """Where the section of one fact stands: the fact with that identity, else the only one that holds it. Raises CtxError."""
    facts = facts_of(run)["facts"]
    found = [fact for fact in facts if fact["identity"] == identity] or [fact for fact in facts if identity in fact["identity"]]
    spots = list(dict.fromkeys((fact["stream"], *fact["lines"]) for fact in found if fact["lines"][0]))
    if len(spots) != 1:
        names = list(dict.fromkeys(redact_text(fact["identity"]) for fact in found or facts))
        many = "did you mean %s?" % " or ".join(map(quoted, names[:5])) if names else "ctx get %s --facts lists all" % run.handle
        raise CtxError("--fact %s: %s" % (quoted(identity), "more than one" if found else "no such fact"), many)
    stream, first, last = spots[0]
    return Address("run", run.handle[4:], stream, Lines(first, last))


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 20 · plans
# Knows how several steps become one answer: in a row, or side by side. Never knows hosts.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

STEPS_MAX = 64  # of one sequence
STEP_SHOWN = 512  # bytes of a step's output up to which it stands in the digest whole
TIME_CLASSES = ((1, "<1 s"), (10, "1-10 s"), (60, "10-60 s"), (600, "1-10 min"))  # coarse, so that the same steps give the same digest


class Step:
    """One command line of a sequence, and what became of it: `run` is None while there is none, `status` None while it has not ended."""

    __slots__ = ("text", "run", "status", "seconds", "problem")

    def __init__(self, text: str) -> None:
        self.text = text
        self.run: Optional[Run] = None
        self.status: Optional[int] = None
        self.seconds = 0.0
        self.problem = ""

    @property
    def outcome(self) -> str:
        """What the digest says of it in a word or two."""
        if self.status is None:
            return "not run"
        if self.run and self.run.partial:
            return self.run.partial
        return "exit %d" % self.status if self.status else "ok"

    @property
    def time_class(self) -> str:
        """How long it took, coarsely."""
        return "" if self.status is None else next((name for limit, name in TIME_CLASSES if self.seconds < limit), ">10 min")


def run_steps(steps: Sequence[Step], settings: Settings, keep_going: bool, parallel: int, limit: float) -> None:
    """Run steps in order, up to `parallel` of them at a time, each in a shell and captured as a run of its own, `limit` seconds at
    most for each. After the first failure no further one is begun unless `keep_going`; nor after a signal that ends us."""
    import select

    waiting, poller = list(steps), select.poll()
    begun: Dict[int, Tuple[Step, int]] = {}  # by the pipe on which its result comes
    ended: List[str] = []
    restore = pass_signals(ended, begun)
    try:
        while begun or waiting:
            while waiting and len(begun) < parallel:
                step = waiting.pop(0)
                fd, pid = begin_step(step.text, settings, limit)
                begun[fd] = (step, pid)
                poller.register(fd, select.POLLIN)
            for fd, _ in poller.poll():
                poller.unregister(fd)
                step, pid = begun.pop(fd)
                end_step(step, fd, pid)
                if ended or step.status and not keep_going:
                    waiting = []
    finally:
        restore()


def pass_signals(ended: List[str], begun: Dict[int, Tuple[Step, int]]) -> Callable[[], None]:
    """Pass signals that would end us on to the steps that run, and note them in `ended`; how to undo that."""
    import _signal

    def note(number: int, _: object) -> None:
        ended.append(signal_name(number))
        if number != _signal.SIGINT or not is_terminal_group():  # a terminal has told them itself
            for _, pid in begun.values():
                send(pid, ended[-1])

    before = {number: _signal.signal(number, note) for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
              if _signal.getsignal(number) != _signal.SIG_IGN}  # fmt: skip

    def restore() -> None:
        for number, handler in before.items():
            _signal.signal(number, handler)

    return restore


def begin_step(text: str, settings: Settings, limit: float) -> Tuple[int, int]:
    """Begin a step in a process of its own: the pipe on which its result will come, and its process."""
    import marshal

    read_end, write_end = new_pipe()
    pid = posix.fork()
    if pid:
        posix.close(write_end)
        return read_end, pid
    try:
        posix.close(read_end)
        write_all(write_end, marshal.dumps(captured_step(text, settings, limit)))
    finally:
        posix._exit(0)


def captured_step(text: str, settings: Settings, limit: float) -> Tuple[str, int, float, str]:
    """Run one step, quietly: (run's digest or "", exit status, seconds, what ctx itself has to complain about)."""
    try:
        capture = new_capture("shell", [text], settings, limit=limit)
        if capture.mode == "hold":
            capture.mode = "quiet"
        capture.run(shell_argv(text))
        run = capture.commit()
        if capture.spool:
            capture.spool.discard()
    except CtxError as error:
        return "", error.exit_code, 0.0, str(error)
    return run.digest if run else "", capture.outcome(), monotonic() - capture.started, capture.complaint


def end_step(step: Step, fd: int, pid: int) -> None:
    """Take the result of a step; of one whose process has died without one, that it is lost."""
    import marshal

    data = b"".join(iter(lambda: posix.read(fd, CHUNK), b""))
    posix.close(fd)
    posix.waitpid(pid, 0)
    digest, step.status, step.seconds, step.problem = marshal.loads(data) if data else ("", EXIT_INTERNAL, 0.0, "no result: ctx itself failed or was killed")
    step.run = resolve_run(digest) if digest else None


def first_failure(steps: Sequence[Step]) -> Optional[Step]:
    """The first step, in their order, that failed."""
    return next((step for step in steps if step.status), None)


def steps_digest(steps: Sequence[Step], settings: Settings, command: str) -> bytes:
    """One digest of a sequence: a line for each step, small outputs whole, the digest of the first failure, and a receipt for all."""
    failure = first_failure(steps)
    lines = ["[ctx seq %s]" % plural(len(steps), "step"), "exit: %d" % (failure.status if failure and failure.status else 0), "steps:"]
    stored = shown = 0
    for number, step in enumerate(steps, 1):
        lines.append(step_line(number, step))
        if step.problem:
            lines.append("    " + visible(fsencode(redact_text(step.problem))))
        if step.run and (step is not failure or is_small(step.run)):
            body, count = step_body(step.run, command)
            lines, shown = lines + body, shown + count
            stored += sum(source.lines for source in step.run.sources())
    counts = [(sum(step.status == 0 for step in steps), "ok"), (sum(bool(step.status) for step in steps), "failed"),
              (sum(step.status is None for step in steps), "not run")]  # fmt: skip
    lines += ["coverage:", "  steps: " + " · ".join("%d %s" % pair for pair in counts if pair[0]), "  omitted: %s" % plural(stored - shown, "line")]
    text = "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")
    if failure and failure.run and not is_small(failure.run):
        text += b"first failure: step %d, with a receipt of its own\n" % (list(steps).index(failure) + 1)
        text += digest_of(failure.run, settings, command)[0]
    return text


def is_small(run: Run) -> bool:
    """Whether all of a step's output stands in the digest."""
    return sum(source.size for source in run.sources()) <= STEP_SHOWN


def step_line(number: int, step: Step) -> str:
    """Number, outcome, handle, time class and command of a step."""
    handle = step.run.handle if step.run else ""
    text = visible(clip(redact(fsencode(step.text))[0], 160))
    return "  ".join(part for part in ("  %d" % number, step.outcome, handle, step.time_class, text) if part)


def step_body(run: Run, command: str) -> Tuple[List[str], int]:
    """What stands below a step: all of a small output, else what its tools say of themselves; and how many stored lines that shows."""
    sources = run.sources()
    sheet, lines, shown = Sheet(sources), [], 0
    if is_small(run):
        for source in sources:
            for number, text in enumerate(source.read(0, source.size).split(b"\n")[: source.lines], 1):
                line, whole = sheet.quote(Quote(source.name, number, text, 10.0), "    ")
                lines.append(line)
                shown += whole
        return lines, shown
    digest = Digest(run, sources, examine(sources, run.status), command)
    heads = [item for evidence in digest.found for item in digest.outcome(evidence)]
    return ["  " + item.text for item in heads[:NOTES]], sum(item.whole for item in heads[:NOTES])


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 22 · gates
# Knows what a hook answers where it takes the store: oversized results at the entry gate, the index of evidence at the residence
# gate. Never knows one host's JSON but for the shape of its tools' results.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

INDEX_TOKENS = 400  # of the index of evidence
INDEX_LOOKED = 400  # occurrences that are looked at for it
HEAD_LOOKED, FOOT_LOOKED = 4 * KIB, 200  # characters in which a digest of ours begins, and in which a host's frame ends

# Where the text of a result stands, in one host or another; "" is the result itself.
RESULT_PLACES = ("", "file.content", "content", "result", "llmContent", "textResultForLlm", "text_result_for_llm")
# What a host puts ahead of a command's output, and behind it, where the status stands unless it is 0.
FRAMES = {
    "gemini": (rb"(?:<untrusted_context>\n)?Output: ", rb"(?:\nExit Code: (\d{1,3}))?\nProcess Group PGID: \d+(?:\n</untrusted_context>)?\s*$"),
    "copilot": (rb"", rb"\n?<(?:shellId: \d+ completed|exited) with exit code (\d{1,3})>\s*$"),
}
# The file that Copilot names: no text that a command prints can name any other.
SAVED_TO = rb"[^\n]{,80}\. Saved to: (/[^\n]*/\d+-copilot-tool-output-[\w-]+\.txt)\n"
CODEX_CUT = "truncated output (original token count"  # what Codex says ahead of a text that it has cut


class Result:
    """What a tool gave: its bytes, as text or in a file that the host keeps; `status` None when it is unknown; `partial`, why it is
    not whole."""

    __slots__ = ("text", "path", "status", "partial")

    def __init__(self, text: str, path: str = "", status: Optional[int] = None, partial: str = "") -> None:
        self.text, self.path, self.status, self.partial = text, path, status, partial


def gate_answer(host: str, event: str, payload: bytes, environ: Dict[bytes, bytes]) -> bytes:
    """The answer to one call of a hook, with everything that it takes. Raises whatever goes wrong."""
    call = read_call(host, event, payload, environ)
    settings, call.message = compile_settings(call.where)
    plain = {"%s.%s" % name: value for name, value in settings.items()}
    data = answer(call, plain)
    if data is None:
        data = GATES[call.gate](call, settings)
    return call.answer() if data == call.neutral else data


def compile_settings(where: str) -> Tuple[Settings, str]:
    """The settings that hold in a directory, kept for the hook; and, the first time, what is wrong with them. Then the defaults hold."""
    files, problem = Snapshot("settings", config_files(where)), ""
    try:
        settings = load_config(where)
    except CtxError as error:
        settings, problem = default_settings(), "ctx uses its defaults: %s" % redact_text(str(error))
    if files.load() is None:
        kept = files.keep({"%s.%s" % name: value for name, value in settings.items()})
        return settings, problem if kept else ""
    return settings, ""


# entry: what a tool gave


def after_tool(call: Call, settings: Settings) -> bytes:
    """Keep an oversized result, and replace it by its digest or its beginning where the host lets us and that loses nothing."""
    whole = inside(call.payload, call.host.result)
    result = result_of(call, whole)
    if result is None or runs_ctx(call.command) or is_digest_of_ours(result.text):
        return call.neutral
    run, size = keep_result(call, result, settings)
    if call.kind not in call.host.replaces or result.partial or text_at(call.payload, "tool_use_id").startswith("exec-"):
        return decided(call, "stored", {"handle": run.handle, "bytes": size})
    shown, context = b"", ""
    if call.kind == "file":
        shown, context = beginning(run, result, settings)
    else:
        shown, is_answered = digest_of(run, settings, self_command())
        if 2 * len(shown) > size or is_answered and size <= settings["budget", "content"]:
            return decided(call, "left", {"handle": run.handle, "bytes": size})
    entry = {"handle": run.handle, "bytes": size, "shown": len(shown)}
    text = shown.decode("utf-8", "replace")
    return decided(call, "replaced", entry, result=reshaped(call, whole, text), outcome=call.host.outcome, context=context)


def result_of(call: Call, whole: Any) -> Optional[Result]:
    """What a tool gave, None where it cannot be told, or is no text."""
    if call.kind == "shell" and isinstance(inside(whole, "stdout"), str):
        return shell_result(whole)
    for place in RESULT_PLACES:
        found = inside(whole, place) if place else whole
        if isinstance(found, list) and found and all(text_at(part, "text") for part in found):
            found = "\n".join(part["text"] for part in found)
        if isinstance(found, str):
            result = unframed(call.host, found) if call.kind == "shell" else Result(found)
            result.partial = "cut by the host" if CODEX_CUT in found[:HEAD_LOOKED] else ""
            return result
    return None


def shell_result(whole: Dict[str, Any]) -> Optional[Result]:
    """What a command line printed, as Claude tells it. It calls some statuses other than 0 a success, and then says what they mean."""
    if whole.get("backgroundTaskId") or whole.get("isImage"):
        return None
    text = text_at(whole, "stdout") + text_at(whole, "stderr")
    status = None if whole.get("returnCodeInterpretation") else 0
    return Result(text, text_at(whole, "persistedOutputPath"), status, "interrupted" if whole.get("interrupted") else "")


def unframed(host: Host, text: str) -> Result:
    """What a command printed, without what the host has put around it, and the exit status that this told."""
    start, end = as_bytes(text[:HEAD_LOOKED]), as_bytes(text[-FOOT_LOOKED:])
    head, foot = FRAMES.get(host.name, (b"", b""))
    first, last = rx(head).match(start), rx(foot).search(end) if foot else None
    if not first or not last:
        return Result(text)
    saved = rx(SAVED_TO).match(start) if host.saved[1] and text.startswith(host.saved[1]) else None
    path = fsdecode(saved.group(1)) if saved else ""
    return Result(text[first.end() : len(text) - len(last.group())], path, int(last.group(1) or 0))


def as_bytes(text: str) -> bytes:
    """A host's text as it is kept; where the host has cut a character in two, there is a question mark."""
    return text.encode("utf-8", "replace")


def reshaped(call: Call, whole: Any, text: str) -> Any:
    """A text in the shape that the host wants a tool's result to have."""
    if call.host.outcome or isinstance(whole, str):
        return text
    if isinstance(whole, list):
        return [{"type": "text", "text": text}]
    if "file" in whole:
        return dict(whole, file=dict(whole["file"], content=text, numLines=text.count("\n") + (text[-1:] != "\n")))
    # with the persisted file named, Claude would show the text as a preview of that
    kept = {key: value for key, value in whole.items() if not key.startswith("persistedOutput")}
    place = next(place for place in ("stdout", *RESULT_PLACES) if place in kept)
    return dict(kept, **{place: text}, **({"stderr": ""} if place == "stdout" else {}))


def beginning(run: Run, result: Result, settings: Settings) -> Tuple[bytes, str]:
    """The first lines of a file that a tool read, and what to tell about the rest: where it is, and the digest, which has an outline."""
    data = as_bytes(result.text)
    end = data.rfind(b"\n", 0, settings["budget", "content"]) + 1 or settings["budget", "content"]
    shown, lines = redact(data[:end])[0], data.count(b"\n") + (data[-1:] != b"\n")
    number, whole = shown.count(b"\n"), digest_of(run, settings, self_command())[0].decode("utf-8", "replace")
    told = "ctx: these are the first %s of %s lines that were read; the rest: %s get %s --lines %d:\n%s"
    return shown, told % (commas(number), commas(lines), self_command(), run.handle, number + 1, whole)


def keep_result(call: Call, result: Result, settings: Settings) -> Tuple[Run, int]:
    """Keep what a tool gave, from the host's own file where there is one; the run and its size. Raises OSError and CtxError."""
    argv = [call.command] if call.command else [call.tool, *("%s=%s" % pair for pair in sorted(plain_inputs(call.input)))]
    spool = open_spool("shell" if call.command else "tool", argv, settings, call.where, call.session)
    try:
        if result.path:
            for chunk in open_file(result.path).chunks():
                spool.write("output", memoryview(chunk))
        else:
            spool.write("output", memoryview(as_bytes(result.text)))
        run = spool.commit(["output"], result.status, result.partial)
    finally:
        spool.discard()
    house_keeping(run.store, settings)
    return run, run.source("output").size


def plain_inputs(value: Any) -> Iterator[Tuple[str, str]]:
    """The short inputs of a tool, by name."""
    for name, text in value.items() if isinstance(value, dict) else ():
        if isinstance(text, (str, int)) and len(str(text)) <= 200:
            yield name, str(text)


def runs_ctx(text: str) -> bool:
    """Whether a command line calls this program: then what it printed is what it meant to."""
    return any(segment.rule == "ctx" for segment in read_line(scan(text)))


def is_digest_of_ours(text: str) -> bool:
    """Whether a result is a digest already, which its handle tells: a text that only looks like one has none in the store."""
    found = rx(rb"(?:^|\n)\[ctx run:([0-9a-f]{6,64}) ").search(as_bytes(text[:HEAD_LOOKED]))
    try:
        return bool(found and resolve_run(found.group(1).decode()))
    except CtxError:
        return False


def after_failure(call: Call, settings: Settings) -> bytes:
    """Keep what a failed command printed, as far as the host tells, and say where: such a result cannot be replaced."""
    text = text_at(call.payload, "error")
    if not text or runs_ctx(call.command) or is_digest_of_ours(text):
        return call.neutral
    head, _, rest = text.partition("\n")
    code = head[len("Exit code ") :] if head.startswith("Exit code ") else ""
    cut = "characters truncated]" in rest
    result = Result(rest if code.isdigit() else text, "", int(code) if code.isdigit() else None, "cut by the host" if cut else "")
    run, size = keep_result(call, result, settings)
    told = "ctx kept this output%s as %s: %s search PATTERN %s"
    told %= (", as far as the host tells it," if cut else "", run.handle, self_command(), run.handle)
    return decided(call, "stored", {"handle": run.handle, "bytes": size}, context=told)


# residence: what a session has seen


def seen_runs(call: Call) -> Iterator[Run]:
    """What was captured in this session, or if nothing was, in this workspace; newest first."""
    top = workspace(call.where) or call.where
    ours: List[Tuple[Store, str]] = []
    near: List[Tuple[Store, str]] = []
    for name, store in all_occurrences()[-INDEX_LOOKED:]:
        record = read_occurrence(store, name)
        if record and call.session and record.get("session") == call.session:
            ours.append((store, record["run"]))
        elif record and record.get("workspace") == top:
            near.append((store, record["run"]))
    for store, digest in reversed(ours or near):
        try:
            run = read_manifest(store, digest)
        except CtxError:
            continue
        if run:
            yield run


def index_of_evidence(call: Call, head: str) -> str:
    """A line for the last run of each command, below a heading: outcome, handle, command; "" when there is none."""
    lines, commands = [head], set()
    for run in seen_runs(call):
        row = run_row(run)
        line = "  %s  %s  %s" % (row["outcome"], run.handle, row["command"])
        if row["command"] in commands:
            continue
        if price([*lines, line]) > INDEX_TOKENS:
            break
        commands.add(row["command"])
        lines.append(line)
    decided(call, "told" if commands else "left", {"runs": len(commands)})
    return "\n".join(lines) if commands else ""


def session_start(call: Call, settings: Settings) -> bytes:
    """After a compaction or a resumption: the index of the evidence so far."""
    head = "Complete output that ctx kept earlier, newest first (%s get HANDLE reads it):"
    return call.answer(context=index_of_evidence(call, head % self_command()))


def before_compaction(call: Call, settings: Settings) -> bytes:
    """Before a compaction: what the summary should keep, as plain text, which is how Claude takes it."""
    return index_of_evidence(call, "Keep these handles of complete output in the summary, newest first:").encode()


GATES = {"post": after_tool, "failed": after_failure, "start": session_start, "compact": before_compaction}


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 23 · install
# Knows how ctx is set up and whether it is in order. Never knows what a verb prints.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


# ── the packed form
#
# All of this file takes 140 ms to compile and 6 ms to load as bytecode, and a call needs a tenth of it. What is installed is a pack:
# each definition of module level (a function, a class, a table) compiled alone, and made when something that names it is called.
# So a call pays for what it uses, and nobody keeps a list of what that is.

if TYPE_CHECKING:
    Definition = Tuple[List[str], List[Any]]  # the names it binds, its statements


def pack(source: bytes) -> bytes:
    """The text of this file as a pack for the running interpreter: the size of the index (8 bytes, little endian), the index, the
    definitions, all but the size marshalled. Raises CtxError on a statement of module level that defines nothing."""
    import marshal

    found = definitions(source)
    order = {name: number for number, (names, _) in enumerate(found) for name in names}
    index: Tuple[Dict[str, int], Dict[str, int]] = ({}, {})
    blobs: List[bytes] = []
    size = 0
    for number, (names, statements) in enumerate(found):
        code = code_of(statements)
        needs = [name for name in sorted(names_in(code)) if order.get(name, number) != number]
        above = tuple(name for name in needs if order[name] < number)
        blobs.append(marshal.dumps((code, above, tuple(name for name in needs if order[name] > number))))
        for name in names:
            index[not is_function(code, statements[0])][name] = size << 24 | len(blobs[-1])
        size += len(blobs[-1])
    head = marshal.dumps(index)
    return b"".join([len(head).to_bytes(8, "little"), head, *blobs])


def definitions(source: bytes) -> List[Definition]:
    """What a source defines, in order. What stands behind `if __name__ == "__main__"` defines that name; a statement that changes a
    table is part of the table. Raises CtxError."""
    import ast

    found: List[Definition] = []
    owner: Dict[str, Definition] = {}
    for node in ast.parse(source).body:
        names, statements = names_bound(node), [node]
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
            names, statements = ["__main__"], node.body
        elif isinstance(node, (ast.If, ast.ImportFrom)) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # TYPE_CHECKING, __future__, a docstring
        elif not names:
            table = owner.get(next((part.id for part in ast.walk(node) if isinstance(part, ast.Name)), ""))
            if not table or isinstance(table[1][0], (ast.FunctionDef, ast.ClassDef)):
                raise CtxError("line %d: a statement that defines nothing" % node.lineno, "assign its outcome to a name")
            table[1].append(node)
            continue
        found.append((names, statements))
        owner.update(dict.fromkeys(names, found[-1]))
    return found


def names_bound(statement: Any) -> List[str]:
    """The names of module level that a definition, an import or an assignment binds."""
    import ast

    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else statement.targets if isinstance(statement, ast.Assign) else []
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def is_function(code: Any, statement: Any) -> bool:
    """Whether a statement, with its code, defines a plain function, for which something can stand in until it is called. Nothing can
    turn into a generator."""
    is_plain = type(statement).__name__ == "FunctionDef" and not statement.decorator_list
    return is_plain and not any(getattr(constant, "co_flags", 0) & 0x20 for constant in code.co_consts)  # CO_GENERATOR


def code_of(statements: List[Any]) -> Any:
    """The code of some statements, without docstrings and the annotations of arguments, which nothing reads."""
    import __future__

    import ast

    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.arg):
                node.annotation = None
            elif isinstance(node, ast.FunctionDef):
                node.returns = None
    return compile(ast.Module(statements, []), "ctx.py", "exec", __future__.annotations.compiler_flag, True, 2)


def names_in(code: Any) -> Set[str]:
    """Every global name (and attribute) that a code object or one inside it mentions."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= names_in(constant)
    return found


def unpack(read: Callable[[int, int], bytes], file: str) -> Dict[str, Any]:
    """The namespace of a pack: `read(offset, size)` gives its bytes, `file` becomes `__file__`. "__define__" in it defines a name;
    whatever that mentions is defined with it, functions when they are called. This and the next function run alone, ahead of all others."""
    import marshal

    function_type: Any = type(undefined)
    size = int.from_bytes(read(0, 8), "little")
    functions, others = marshal.loads(read(8, size))
    start = size + 8
    space: Dict[str, Any] = {"__name__": "ctx", "__file__": file}

    def define(name: str) -> None:
        spot = others[name] if name in others else functions[name]
        code, above, below = marshal.loads(read(start + (spot >> 24), spot & 0xFFFFFF))
        mention(above)
        exec(code, space)
        mention(below)

    def mention(names: Sequence[str]) -> None:
        for name in names:
            if name in space:
                continue
            if name in others:
                define(name)
            else:
                space[name] = function = function_type(undefined.__code__, space, name)
                function.__kwdefaults__ = {"_self": function}

    space["__define__"] = define
    return space


def undefined(*words: Any, _self: Any, **options: Any) -> Any:
    """What stands in for a function until it is called: then it becomes that function, for all who hold it already."""
    space, name = _self.__globals__, _self.__name__
    space["__define__"](name)
    real = space[name]
    _self.__code__, _self.__defaults__, _self.__kwdefaults__ = real.__code__, real.__defaults__, real.__kwdefaults__
    space[name] = _self
    return _self(*words, **options)


def run_pack(path: str, file: str, entry: str) -> None:
    """Run one definition of the pack at `path`: "__main__", or a function that takes `sys.argv`. With the two before it, this is what
    the bytecode files of a build hold."""
    import gc
    import posix
    import sys

    gc.set_threshold(50_000)  # most calls end before there is garbage to look for, and looking costs a tenth of them
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)  # stays open: the file may be replaced while this runs
    space = unpack(lambda offset, size: posix.pread(fd, size, offset), file)
    space["__define__"](entry)
    if entry in space:
        space[entry](sys.argv)


LOADER = ("unpack", "undefined", "run_pack")


def bytecode(source: bytes, call: str) -> bytes:
    """A .pyc file that needs nothing but the interpreter: the loader of packs, and one call of it."""
    import ast
    import marshal

    statements = [statement for names, (statement, *_) in definitions(source) if names[0] in LOADER]
    return magic_number() + bytes(12) + marshal.dumps(code_of(statements + ast.parse(call).body))


def magic_number() -> bytes:
    """What the bytecode of the running interpreter begins with."""
    from importlib.util import MAGIC_NUMBER

    return MAGIC_NUMBER


# ── builds
#
# An installed ctx is a directory that is never changed: builds/<hash>-<bytecode version>. What hosts and users name is the link
# `current` to the newest, so that a new build changes none of their files (Codex trusts a hook by the hash of its text).

BUILD_GRACE = 86400  # seconds that a build outlives its successor: what runs of it may still have to begin again from its files

LAUNCHER = """\
%(start)s
from _frozen_importlib_external import MAGIC_NUMBER
from marshal import loads

try:
    with open(%(build)r + "/ctx.pyc", "rb") as file:
        head, code = file.read(16), file.read()
    code = loads(code) if head[:4] == MAGIC_NUMBER else None
except OSError:
    code = None
if not code:
    with open(%(build)r + "/ctx.py", "rb") as file:
        code = compile(file.read(), "ctx.py", "exec")
exec(code, {"__name__": "__main__", "__file__": %(launcher)r})
"""


def own_source() -> bytes:
    """The text of this program: this file, the one in an archive, or the one beside a launcher. Raises CtxError when it is not there."""
    try:
        if __file__.endswith(".py"):
            return read_file(__file__)
        import zipfile

        if not zipfile.is_zipfile(__file__):
            return read_file(absolute(__file__).rsplit("/", 1)[0] + "/ctx.py")
        with zipfile.ZipFile(__file__) as archive:
            return archive.read("ctx.py")
    except (OSError, KeyError) as error:
        raise CtxError("%s: its source is not there: %s" % (__file__, error), "start ctx.py or ctx.pyz itself") from None


def own_python() -> str:
    """The interpreter that runs this, none of a version manager's shims, and not that of an environment, which may go any day."""
    import os

    return os.path.realpath(sys.executable)


def install_build() -> str:
    """Install this program for this interpreter below the store's root; the path of the link to it. Raises CtxError."""
    try:
        root = writable_store().root
        if root == temp_root():
            raise CtxError("no directory to install in: %s is only temporary" % root, "set HOME, or CTX_HOME")
        source, link = own_source(), root + "/current"
        digest = sha256(b"\0".join([source, own_python().encode(), root.encode()])).hexdigest()
        folder = "%s/builds/%s-%s" % (root, digest[:12], magic_number()[:2].hex())
        if not exists(folder):
            write_build(folder, build_files(source, folder, link + "/ctx"))
        if exists(link):
            posix.utime(link)  # the grace of what it leads to begins
        point_to(link, folder)
        collect_builds(root + "/builds", folder)
    except OSError as error:
        raise CtxError("%s: %s" % (error.filename or "the store", error.strerror), "ctx cannot be installed there; set CTX_HOME") from None
    return link


def build_files(source: bytes, folder: str, launcher: str) -> Dict[str, bytes]:
    """The files of a build by name. `launcher` is where users find the one named ctx. The source is for the day the interpreter changes."""
    names = {"start": script_start(own_python()), "build": folder, "launcher": launcher}
    start = "run_pack(%r, %r, %%r)" % (folder + "/ctx.pack", launcher)
    return {
        "ctx.pack": pack(source),
        "ctx.pyc": bytecode(source, start % "__main__"),
        "hook.pyc": bytecode(source, start % "hook_entry"),
        "ctx": (LAUNCHER % names).encode(),
        "ctx.py": source,
    }


def script_start(python: str) -> str:
    """The first lines of a script for an interpreter. Where the system would not take its path (blanks, or its length), the shell, which
    reads the script as well, starts it; to Python that is a string."""
    if len(python) < 120 and not set(python).intersection(" \t\n"):
        return "#!%s -IS" % python
    return "#!/bin/sh\n''''exec %s -IS \"$0\" \"$@\" # '''" % shell_word(python)


def hook_entry(argv: Sequence[str]) -> None:
    """What a build runs as its hook: `argv` is the file, the host, the event."""
    hook_main(argv[1:], lambda: gate_answer)


def write_build(folder: str, files: Dict[str, bytes]) -> None:
    """Write a directory of files in one step; it is fine if somebody else was quicker. Raises OSError."""
    draft = temporary_beside(folder)
    make_dirs(draft)
    for name, data in files.items():
        write_atomic("%s/%s" % (draft, name), data, 0o700 if name == "ctx" else 0o600)
    try:
        posix.rename(draft, folder)
    except OSError:
        remove_directory(draft)
        if not exists(folder):
            raise


def point_to(link: str, target: str) -> None:
    """Make `link` a symbolic link to `target`, in one step. Raises OSError."""
    draft = temporary_beside(link)
    posix.symlink(target, draft)
    posix.rename(draft, link)


def collect_builds(folder: str, keep: str) -> None:
    """Remove what is in a directory of builds, but for one and those that were replaced (or made) within the grace."""
    for name in list_dir(folder):
        path = "%s/%s" % (folder, name)
        try:
            old = posix.stat(path).st_mtime < now() - BUILD_GRACE
        except OSError:  # a draft, renamed meanwhile
            continue
        if old and path != keep:
            remove_directory(path)


def remove_directory(path: str) -> None:
    """Remove a directory of files, as far as possible."""
    for name in list_dir(path):
        remove("%s/%s" % (path, name))
    try:
        posix.rmdir(path)
    except OSError:
        pass


# ── JSON as its owner wrote it
#
# Settings of hosts are edited as text: what is added or taken away is a span, and every other byte (comments, order, indentation, line
# ends) stays. Comments and trailing commas are read, since hosts read them.

JSON_DEPTH = 100  # nesting of a settings file


class JsonSpan:
    """A value in a JSON text: where it stands, and the spans in it, each with its key (for an array its index)."""

    __slots__ = ("start", "end", "kind", "children", "value")

    def __init__(self, start: int, kind: str) -> None:
        self.start, self.end, self.kind = start, start, kind
        self.children: List[Tuple[Union[str, int], int, JsonSpan]] = []  # key, where the key (or the value) begins, value
        self.value: Any = None  # of what is neither object nor array

    def get(self, key: Union[str, int]) -> Optional[JsonSpan]:
        """What stands under a key; the last one, if it is there twice, as hosts read it."""
        return next((span for name, _, span in reversed(self.children) if name == key), None)

    def plain(self) -> Any:
        """The value without its places."""
        if self.kind == "{":
            return {key: span.plain() for key, _, span in self.children}
        return [span.plain() for _, _, span in self.children] if self.kind == "[" else self.value


class JsonText:
    """Reads a JSON text into spans. Raises CtxError with the line of what it cannot read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = self.read(self.blank(1 if text.startswith("\ufeff") else 0), 0)
        if self.blank(self.root.end) < len(text):
            raise self.wrong(self.blank(self.root.end))

    def wrong(self, at: int) -> CtxError:
        """The error to raise for what stands at an offset."""
        found = quoted(self.text[at : at + 20].split("\n")[0]) if self.text[at:] else "the end"
        return CtxError("line %d: not JSON at %s" % (self.text.count("\n", 0, at) + 1, found), "mend the file, then try again")

    def blank(self, at: int) -> int:
        """Where white space and comments that begin at an offset end."""
        text = self.text
        while at < len(text):
            if text[at] in " \t\r\n":
                at += 1
            elif text.startswith("//", at):
                at = text.find("\n", at) + 1 or len(text)
            elif text.startswith("/*", at) and "*/" in text[at:]:
                at = text.index("*/", at + 2) + 2
            else:
                break
        return at

    def read(self, at: int, depth: int) -> JsonSpan:
        """The value that begins at an offset."""
        kind = self.text[at : at + 1]
        if depth > JSON_DEPTH or not kind:
            raise self.wrong(at)
        span = JsonSpan(at, kind if kind in "{[" else "")
        if span.kind:
            self.read_children(span, depth + 1)
        else:
            span.value, span.end = self.scalar(at)
        return span

    def read_children(self, span: JsonSpan, depth: int) -> None:
        """Fill an object or an array."""
        at = self.blank(span.start + 1)
        close = "}" if span.kind == "{" else "]"
        while not self.text.startswith(close, at):
            first, key = at, len(span.children)
            if span.kind == "{":
                key, at = self.scalar(at)
                at = self.blank(at)
                if not isinstance(key, str) or not self.text.startswith(":", at):
                    raise self.wrong(at)
                at = self.blank(at + 1)
            child = self.read(at, depth)
            span.children.append((key, first, child))
            at = self.blank(child.end)
            if self.text.startswith(",", at):
                at = self.blank(at + 1)
            elif not self.text.startswith(close, at):
                raise self.wrong(at)
        span.end = at + 1

    def scalar(self, at: int) -> Tuple[Any, int]:
        """A string, a number or a word, and where it ends."""
        import json

        try:
            return json.JSONDecoder().raw_decode(self.text, at)
        except ValueError:
            raise self.wrong(at) from None

    # edits: each gives a new text

    def with_appended(self, path: Sequence[str], value: Any) -> str:
        """With a value at the end of the array at a path; what is missing of that path is made. Raises CtxError."""
        span, rest = self.root, list(path)
        while rest and span.kind == "{" and span.get(rest[0]):
            span = span.get(rest.pop(0)) or span
        if span.kind != ("{" if rest else "["):
            raise CtxError("%s is no %s" % (".".join(path[: len(path) - len(rest)]) or "it", "object" if rest else "list"), "mend the file, then try again")
        if not rest:
            return self.with_child(span, "", value)
        value = [value]
        for key in reversed(rest[1:]):
            value = {key: value}
        return self.with_child(span, rest[0], value)

    def with_child(self, span: JsonSpan, key: str, value: Any) -> str:
        """With one more child at the end of an object (under a key) or an array."""
        text, close = self.text, span.end - 1
        end = len(text[:close].rstrip())  # of all that stands before the bracket
        flat = bool(span.children) and "\n" not in text[span.start : span.end]
        line, margin, inner = self.margins(span)
        new = written_json(key, value, "" if flat else self.unit(), line + inner)
        new = " " + new if flat else line + inner + new
        if not span.children:
            return text[:end] + new + ("" if "\n" in text[end:close] else line + margin) + text[end:]
        last = span.children[-1][2].end
        if text.startswith(",", self.blank(last)):
            return text[:end] + new + "," + text[end:]
        return text[:last] + "," + text[last:end] + new + text[end:]

    def margins(self, span: JsonSpan) -> Tuple[str, str, str]:
        """The end of lines, and the indentation of a span and of what is in it."""
        text = self.text
        line = "\r\n" if "\r\n" in text else "\n"
        first = text.rfind("\n", 0, span.start) + 1
        margin = text[first : len(text) - len(text[first:].lstrip(" \t"))]
        if span.children:
            start = span.children[0][1]
            before = text[text.rfind("\n", 0, start) + 1 : start]
            if not before.strip(" \t") and "\n" in text[span.start : start]:
                return line, margin, before
        return line, margin, margin + self.unit()

    def unit(self) -> str:
        """One step of indentation: that of the first thing in the file, else two blanks."""
        if self.root.children:
            start = self.root.children[0][1]
            before = self.text[self.text.rfind("\n", 0, start) + 1 : start]
            if before and not before.strip(" \t"):
                return before
        return "  "

    def without(self, path: Sequence[Union[str, int]]) -> str:
        """Without the value at a path, and with the comma that it leaves over."""
        span = self.root
        for key in path[:-1]:
            span = span.get(key) or span
        number = next(n for n, child in reversed(list(enumerate(span.children))) if child[0] == path[-1])
        text = self.text
        _, start, child = span.children[number]
        end, comma = child.end, self.blank(child.end)
        ahead = span.children[number - 1][2].end if number else span.start + 1
        if "//" not in text[ahead:start]:  # else the end of its line must stay
            start = len(text[:start].rstrip())
        if text.startswith(",", comma):
            return text[:start] + text[end:comma] + text[comma + 1 :]
        if number:
            before = self.blank(ahead)
            return text[:before] + text[before + 1 : max(start, before + 1)] + text[end:]
        rest = text[end : span.end - 1]
        return text[:start] + (rest if rest.strip() else "") + text[span.end - 1 :]


def written_json(key: str, value: Any, unit: str, line: str) -> str:
    """A value, or a member of an object, as JSON: indented by `unit`, with `line` between its lines, or on one line if that is empty."""
    import json

    text = json.dumps(value, indent=unit, ensure_ascii=False) if unit else json.dumps(value, ensure_ascii=False)
    return ("%s: " % json.dumps(key, ensure_ascii=False) if key else "") + text.replace("\n", line)


# ── what setup writes


class Setup:
    """How one host is set up. `folder` is its directory below the home, or what the variable `moved` holds; `user` (in that directory)
    and `project` (in a work tree) are its files, and `groups` where in them its hooks stand. `signs` are programs, or directories below
    the home, that tell that it is there. `rules` is a further file in a work tree, with rules only, `fresh` what a new file begins with,
    `unit` the number of its time units in a second, `left` what only the user can do."""

    def __init__(self, folder: str, user: str, project: str, signs: Sequence[str], groups: str = "hooks", moved: str = "", rules: str = "",
                 fresh: str = "{}", unit: int = 1, left: str = "") -> None:  # fmt: skip
        self.folder, self.user, self.project, self.signs, self.groups = folder, user, project, signs, groups
        self.moved, self.rules, self.fresh, self.unit, self.left = moved, rules, fresh, unit, left


SETUPS = {
    "claude": Setup(".claude", "settings.json", ".claude/settings.json", ["claude", "~/.claude"], moved="CLAUDE_CONFIG_DIR",
                    rules=".claude/settings.local.json"),
    "codex": Setup(".codex", "hooks.json", ".codex/hooks.json", ["codex", "~/.codex"], moved="CODEX_HOME",
                   left="Codex runs a hook only when you have trusted it: start codex, type /hooks, and trust those of ctx"),
    "antigravity": Setup(".gemini/config", "hooks.json", ".agents/hooks.json", ["agy", "~/.gemini/config", "~/.gemini/antigravity"], groups="ctx",
                         left="Antigravity before 1.2 may run a command as it was typed although the hook rewrote it: update it"),
    "gemini": Setup(".gemini", "settings.json", ".gemini/settings.json", ["gemini", "~/.gemini/settings.json"], unit=1000),
    "copilot": Setup(".copilot", "hooks/ctx.json", ".github/hooks/ctx.json", ["copilot", "~/.copilot"], fresh='{\n  "version": 1\n}\n'),
}  # fmt: skip
HOOK_PATIENCE = 10  # seconds that a host waits for a hook, which answers within HOOK_SECONDS


def hook_command(host: str, event: str, build: str) -> str:
    """The line that a host runs: the build's hook, behind it the source for the day the interpreter has changed, behind that the
    neutral answer; without a build the ctx on PATH. Whatever fails reads no input, and no status but 0 gets out."""
    words = "%s %s" % (host, event)
    neutral = HOSTS[host].neutral.get(event, b"").decode()
    steps = ["ctx hook " + words]
    if build:
        hook, source = shell_word(build + "/hook.pyc"), shell_word(build + "/ctx.py")
        steps = ["%s -I -S %s %s" % (shell_word(own_python()), hook, words), "python3 %s hook %s" % (source, words)]
    return " || ".join([*steps, "echo %s" % shell_word(neutral) if neutral else ":"])


def is_own_command(text: Any) -> bool:
    """Whether a line is one that setup writes, of this build or another."""
    return isinstance(text, str) and bool(rx(rb"\bhook(\.pyc'?)? (%s) \w+ \|\|" % "|".join(SETUPS).encode()).search(fsencode(text)))


def hook_entries(host: str, build: str) -> List[Tuple[Tuple[str, str], Any]]:
    """What is added for a host: (path of an array, value) for each of its events."""
    kind, setup = HOSTS[host], SETUPS[host]
    tools = {"pre": [*kind.shell, *kind.searches], "failed": [*kind.shell], "post": [name.replace("*", ".*") for name in kind.results]}
    entries = []
    for event, gate in kind.events.items():
        command = hook_command(host, event, build)
        handler: Dict[str, Any] = {"type": "command", "command": command, "timeout": HOOK_PATIENCE * setup.unit}
        if host == "copilot":  # its hooks have no groups, and no matchers
            value: Dict[str, Any] = {"type": "command", "bash": command, "timeoutSec": HOOK_PATIENCE}
        else:
            value = dict({"matcher": "|".join(tools[gate])} if gate in tools else {}, hooks=[handler])
        entries.append(((setup.groups, event), value))
    return entries


def with_hooks(text: str, host: str, build: str) -> str:
    """A settings file with our hooks in it. Raises CtxError when it cannot be read."""
    if not text.lstrip("\ufeff").strip():
        text += SETUPS[host].fresh
    for path, value in hook_entries(host, build):
        text = JsonText(text).with_appended(path, value)
    return text


def without_hooks(text: str) -> str:
    """A settings file without hooks of ours, of whatever build, nor what is empty then. Raises CtxError when it cannot be read."""
    path = own_handler(JsonText(text).root, []) if text.lstrip("\ufeff").strip() else None
    while path:
        text = JsonText(text).without(path)
        root = JsonText(text).root
        while len(path) > 1:
            path = path[:-1]
            if not is_spent(span_at(root, path), path):
                break
            text = JsonText(text).without(path)
            root = JsonText(text).root
        path = own_handler(root, [])
    return text


def span_at(span: JsonSpan, path: Sequence[Union[str, int]]) -> JsonSpan:
    """What stands at a path that is there."""
    for key in path:
        span = span.get(key) or span
    return span


def is_spent(span: JsonSpan, path: Sequence[Union[str, int]]) -> bool:
    """Whether nothing is left in a container: no child, or, of a group of hooks, no hook."""
    return not span.children or isinstance(path[-1], int) and not span.get("hooks")


def own_handler(span: JsonSpan, path: List[Union[str, int]]) -> Optional[List[Union[str, int]]]:
    """The path of the first hook of ours, None if there is none."""
    for key, _, child in span.children:
        if key in ("command", "bash") and is_own_command(child.value):
            return path
        found = own_handler(child, [*path, key])
        if found is not None:
            return found
    return None


# Codex reads hooks from config.toml, too; where it has some there, ours join them, in a block of their own.

BLOCK_START, BLOCK_END = "# ctx: hooks, from here", "# ctx: to here"


def with_hooks_toml(text: str, build: str) -> str:
    """A config.toml of Codex with our hooks at its end. Raises CtxError when it is no TOML, before or after."""
    lines = [BLOCK_START]
    for (_, event), value in hook_entries("codex", build):
        lines.append("[[hooks.%s]]" % event)
        lines += ["%s = %s" % (key, to_json(value[key])) for key in value if key != "hooks"]
        lines.append("[[hooks.%s.hooks]]" % event)
        lines += ["%s = %s" % (key, to_json(item)) for key, item in value["hooks"][0].items()]
    line = "\r\n" if "\r\n" in text else "\n"
    text += ("" if text.endswith("\n") or not text else line) + "".join(part + line for part in [*lines, BLOCK_END])
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        return text
    try:
        tomllib.loads(text.lstrip("\ufeff"))
    except ValueError as error:
        raise CtxError(str(error), "mend the file, then try again") from None
    return text


def without_hooks_toml(text: str) -> str:
    """A config.toml without our block."""
    start, end = text.find(BLOCK_START), text.find(BLOCK_END)
    return text[:start] + text[end + len(BLOCK_END) :].lstrip("\r\n") if 0 <= start < end else text


# ── the files of hosts


def reason(error: Exception) -> str:
    """What went wrong with a file, in the system's words."""
    return str(getattr(error, "strerror", None) or error)


class HostFile:
    """A settings file of a host. `text` is what is in it, None where there is none; `before` is the same without what setup wrote.

    Setup keeps what it found beside the build, so that removing gives every byte back as long as nobody else has changed the file.
    Raises CtxError where the file cannot be read or understood."""

    __slots__ = ("host", "path", "is_toml", "text", "before", "made")

    def __init__(self, host: str, path: str) -> None:
        import os

        self.host, self.path = host, os.path.realpath(path)  # a link stays one
        self.is_toml = path.endswith(".toml")
        self.made: List[str] = []  # directories that setup made for it
        self.text: Optional[str] = None
        try:
            self.text = read_file(self.path).decode()
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError) as error:
            raise CtxError("%s: %s" % (path, reason(error)), "mend the file, then try again") from None
        with self.blamed():
            self.before = self.unchanged()

    def blamed(self) -> Blame:
        """For a `with`: errors in it name this file."""
        return Blame(self.path)

    def memory(self) -> str:
        """Where it is kept what was found."""
        return "%s/setup/%s" % (writable_store().root, sha256(fsencode(self.path)).hexdigest()[:16])

    def unchanged(self) -> Optional[str]:
        """What was in the file before setup, or is in it but for our hooks."""
        try:
            kept = from_json(read_file(self.memory()))
        except (OSError, ValueError):
            kept = None
        if kept and self.text is not None and kept["after"] == sha256(self.text.encode()).hexdigest():
            self.made = kept["made"]
            before: Optional[str] = kept["before"]
            return before
        if self.text is None:
            return None
        return without_hooks_toml(self.text) if self.is_toml else without_hooks(self.text)

    def wanted(self, build: str) -> str:
        """What should be in it: what is, if our hooks are all there already."""
        with self.blamed():
            if self.text is not None and not self.missing(build):
                return self.text
            text = self.before or ""
            return with_hooks_toml(text, build) if self.is_toml else with_hooks(text, self.host, build)

    def missing(self, build: str) -> List[str]:
        """The events for which it has not the hook of a build."""
        commands = [hook_command(self.host, event, build) for event in HOSTS[self.host].events]
        written = [to_json(command) if self.is_toml else written_json("", command, "", "") for command in commands]
        return [event for event, text in zip(HOSTS[self.host].events, written) if text not in (self.text or "")]

    def write(self, text: Optional[str]) -> None:
        """Put a text, or nothing, in the file's place, and remember or forget what was there before. Raises CtxError."""
        try:
            if text == self.before:
                self.restore()
            elif text is not None:
                self.make_folder()
                kept = {"before": self.before, "after": sha256(text.encode()).hexdigest(), "made": self.made}
                make_dirs(self.memory().rsplit("/", 1)[0])
                write_atomic(self.memory(), to_json(kept).encode())
                self.replace(text)
        except OSError as error:
            raise CtxError("%s: %s" % (self.path, error.strerror), "make it writable, or write it yourself: ctx setup %s --print" % self.host) from None

    def restore(self) -> None:
        """Undo what setup did."""
        if self.before is not None:
            self.replace(self.before)
        elif self.text is not None:
            remove(self.path)
            for folder in reversed(self.made):
                try:
                    posix.rmdir(folder)
                except OSError:  # somebody put something there
                    break
        remove(self.memory())

    def make_folder(self) -> None:
        """Make the directory of the file where it is missing."""
        folder = self.path.rsplit("/", 1)[0]
        missing = []
        while not exists(folder):
            missing.append(folder)
            folder = folder.rsplit("/", 1)[0] or "/"
        make_dirs(self.path.rsplit("/", 1)[0])
        self.made = self.made or missing[::-1]

    def replace(self, text: str) -> None:
        """Write the file in one step; its mode stays. Raises OSError, also where its owner has made it read-only."""
        if self.text is None:
            return write_atomic(self.path, text.encode(), 0o644)
        mode = posix.stat(self.path).st_mode & 0o7777
        if not mode & 0o200:
            raise PermissionError(13, "it is read-only")
        write_atomic(self.path, text.encode(), mode)
        posix.chmod(self.path, mode)  # what the umask took


class Blame:
    """For a `with`: a CtxError in it begins with the path of a file."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, CtxError):
            error.what = "%s: %s" % (self.path, error.what)


def host_folder(host: str) -> str:
    """The directory of a host's own settings. Raises CtxError when there is no home."""
    setup = SETUPS[host]
    if setup.moved and getenv(setup.moved).startswith("/"):
        return getenv(setup.moved).rstrip("/")
    if not home():
        raise CtxError("there is no home directory", "set HOME, or use --project")
    return "%s/%s" % (home().rstrip("/"), setup.folder)


def host_file(host: str, project: bool) -> HostFile:
    """The file that setup writes for a host. Raises CtxError."""
    setup = SETUPS[host]
    if project:
        return HostFile(host, "%s/%s" % (workspace() or cwd(), setup.project))
    folder = host_folder(host)
    if host == "codex" and not exists(folder + "/hooks.json"):
        toml = HostFile(host, folder + "/config.toml")
        if toml.text and rx(rb"(?m)^\s*\[+hooks\b").search(toml.text.encode()):
            return toml
    return HostFile(host, "%s/%s" % (folder, setup.user))


def is_there(host: str) -> bool:
    """Whether a host seems to be installed: its program, or a directory of its own."""
    setup = SETUPS[host]
    moved = bool(setup.moved and getenv(setup.moved))
    return moved or any(exists(home() + sign[1:]) if sign.startswith("~") else find_program(sign.encode()) != sign.encode() for sign in setup.signs)


def chosen_hosts(words: Sequence[str]) -> List[str]:
    """The hosts that some words name, else those that are there. Raises CtxError."""
    for word in words:
        if word not in SETUPS:
            raise CtxError("unknown host %s" % quoted(word), nearest(word, list(SETUPS), "hosts are"))
    hosts = list(words) or [host for host in SETUPS if is_there(host)]
    if not hosts:
        raise CtxError("no agent host found", "name one: ctx setup %s" % " | ".join(SETUPS))
    return hosts


def rehearse(file: HostFile, build: str) -> List[str]:
    """Run each hook of a file once, with a call that changes nothing; a line for each that does not answer as it should."""
    import subprocess

    problems = []
    for event in HOSTS[file.host].events:
        payload = to_json({"hook_event_name": event, "cwd": cwd()}).encode()
        done = subprocess.run(["/bin/sh", "-c", hook_command(file.host, event, build)], input=payload, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode or done.stderr:
            said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
            problems.append("%s %s: it does not answer: %s" % (file.host, event, said or "status %d" % done.returncode))
    return problems


def link_launcher(build: str, wanted: bool) -> str:
    """Have `ctx` in ~/.local/bin lead to the launcher, or take that away again; its path. Raises CtxError when something else is there."""
    path = home().rstrip("/") + "/.local/bin/ctx"
    try:
        if exists(path) and not (posix.lstat(path).st_mode & 0o170000 == 0o120000 and posix.readlink(path) == build + "/ctx"):
            raise CtxError("%s is there already, and not ours" % path, "remove it, or leave out --link")
        if wanted:
            make_dirs(path.rsplit("/", 1)[0])
            point_to(path, build + "/ctx")
        else:
            remove(path)
    except OSError as error:
        raise CtxError("%s: %s" % (path, error.strerror), "leave out --link") from None
    return path


# ── one session


def run_wrapped(host: str, arguments: Sequence[str]) -> int:
    """Run a host with our hooks for this one session; its exit status. Nothing of the host's own is written. Raises CtxError where it
    has no settings for one session, or is not there."""
    if host not in ("claude", "codex"):
        raise CtxError("%s takes no settings for one session" % host, "ctx setup %s, and ctx setup --remove %s when it is over" % (host, host))
    if any(word.split("=")[0] == "--settings" for word in arguments):
        raise CtxError("--settings: ctx needs it for its hooks", "ctx setup claude, and ctx setup --remove claude when it is over")
    build = install_build()
    entries = hook_entries(host, build)
    try:
        if host == "codex":
            flags = ["hooks.%s=[%s]" % (event, toml_text(value)) for (_, event), value in entries]
            become([host, *(word for flag in flags for word in ("-c", flag)), *arguments])
        settings: Dict[str, Any] = {"hooks": {event: [value] for (_, event), value in entries}}
        if load_config()["guard", "collapse"]:
            settings["permissions"] = {"deny": list(HOSTS[host].searches)}
        path = temporary_beside(build)
        write_atomic(path, written_json("", settings, "", "").encode())
        try:
            return run_and_wait([host, "--settings", path, *arguments])
        finally:
            remove(path)
    except OSError as error:
        raise spawn_error([host], error) from None


def toml_text(value: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s = %s" % (key, toml_text(item)) for key, item in value.items())
    return "[%s]" % ", ".join(map(toml_text, value)) if isinstance(value, list) else to_json(value)


def run_and_wait(argv: Sequence[str]) -> int:
    """Run a program to its end and pass signals on to it; its exit status as a shell tells it. Raises OSError."""
    import signal
    import subprocess

    children: List[Any] = []

    def pass_on(number: int, _: Any) -> None:
        for child in children:
            child.send_signal(number)

    names = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGQUIT"]
    for name in names:
        from_terminal = name in ("SIGINT", "SIGQUIT") and posix.isatty(0)  # which sends it to the program itself
        signal.signal(getattr(signal, name), (lambda *_: None) if from_terminal else pass_on)
    children.append(subprocess.Popen(argv))
    status: int = children[0].wait()
    return status if status >= 0 else 128 - status


# ── is it in order


def finding(check: str, what: str, fix: str = "", state: str = "problem") -> Dict[str, str]:
    """One line of `doctor`: what was looked at, what was found, and what to do about it where that is not well."""
    return {"check": check, "state": state if fix else "ok", "what": what, "fix": fix}


def examined() -> Iterator[Dict[str, str]]:
    """Everything that doctor looks at but the stores' content."""
    yield examined_root()
    try:
        load_config()
        yield finding("config", "no mistake in %s" % (" and ".join(path for path in config_files() if exists(path)) or "the defaults"))
    except CtxError as error:
        yield finding("config", error.what, error.fix)
    try:
        build = writable_store().root + "/current"
        hosts = chosen_hosts([])
    except (OSError, CtxError) as error:
        yield finding("hosts", str(error), "ctx setup HOST", "doubt")
        return
    if exists(build):
        yield examined_build(build)
    for host in hosts:
        yield from examined_host(host, build)


def examined_root() -> Dict[str, str]:
    """Whether there is a place to keep things."""
    try:
        root = writable_store().root
    except OSError as error:
        return finding("store", "nothing can be kept: %s" % store_problem(error), "make %s writable, or set CTX_HOME" % state_roots()[0])
    if root == temp_root():
        return finding("store", "only %s can be written, which may be gone tomorrow" % root, "set HOME or CTX_HOME to a directory that stays", "doubt")
    return finding("store", "%s can be written" % root)


def examined_build(build: str) -> Dict[str, str]:
    """Whether what is installed starts, and is this program."""
    try:
        python = read_file(build + "/ctx").split(b"\n")[0][2:].split(b" ")[0].decode()
        if not posix.access(python, posix.X_OK):
            return finding("build", "%s, which starts it, is gone" % python, "ctx setup")
        if read_file(build + "/ctx.py") != own_source():
            return finding("build", "%s is of another version than this program" % build, "ctx setup", "doubt")
    except (OSError, CtxError) as error:
        return finding("build", str(error), "ctx setup")
    return finding("build", "%s is this program" % build)


def examined_host(host: str, build: str) -> Iterator[Dict[str, str]]:
    """What is the matter with a host's settings."""
    own = 0
    for project in (False, True):
        try:
            file = host_file(host, project)
        except CtxError as error:
            yield finding(host, error.what, error.fix)
            return
        yield from examined_file(file)
        count = sum(map(is_own_command, commands_in(file.text or "")))
        if count and host == "codex" and not project:
            yield from examined_trust(file)
        own += count
    if not own:
        yield finding(host, "it has no hooks of ctx", "ctx setup %s" % host)
    if SETUPS[host].rules:
        path = "%s/%s" % (workspace() or cwd(), SETUPS[host].rules)
        try:
            yield from examined_rules(host, path, read_file(path).decode())
        except (OSError, ValueError):
            pass


def commands_in(text: str) -> List[str]:
    """The commands of all hooks in a settings file, JSON or TOML."""
    found = rx(rb"""["']?\b(?:command|bash)["']?\s*[:=]\s*("(?:[^"\\\n]|\\.)*")""").findall(text.encode())
    return [str(from_json(word)) for word in found]


def examined_file(file: HostFile) -> Iterator[Dict[str, str]]:
    """What is the matter with the hooks and rules in one file."""
    commands = commands_in(file.text or "")
    own = [command for command in commands if is_own_command(command)]
    for command in own:
        gone = next((word for word in command.split(" || ")[0].split() if word.startswith("/") and not exists(word)), "")
        if gone:
            yield finding(file.host, "%s: a hook names %s, which is gone" % (file.path, gone), "ctx setup %s" % file.host)
            return
    events = HOSTS[file.host].events
    if own and len(own) < len(events):
        yield finding(file.host, "%s: ctx has hooks for %s of %s" % (file.path, len(own), plural(len(events), "event")), "ctx setup %s" % file.host)
    elif own:
        yield finding(file.host, "%s: hooks for %s" % (file.path, ", ".join(events)))
    for command in commands:
        program = fsdecode(find_program(fsencode((command.split() or [""])[0])))
        if "/shims/" in program and "hook" in command:
            yield finding(file.host, "%s: %s is a version manager's shim, which takes 0.1 s" % (file.path, program), "ctx setup %s" % file.host)
    for command in rewriting_hooks(file):
        yield finding(file.host, "%s: %s may rewrite commands, too, and the last to finish wins" % (file.path, quoted(command)),
                      "keep one: take it out, or ctx setup --remove %s" % file.host, "doubt")  # fmt: skip
    if not file.is_toml:
        yield from examined_rules(file.host, file.path, file.text or "")


def examined_rules(host: str, path: str, text: str) -> Iterator[Dict[str, str]]:
    """Rules in a settings file that let ctx run anything: it runs what stands behind it."""
    root = JsonText(text).root.plain() if text.strip("\ufeff \t\r\n") else {}
    for place in ("permissions.allow", "tools.allowed"):
        rules = inside(root, place)
        for rule in rules if isinstance(rules, list) else []:
            if isinstance(rule, str) and rx(rb"^\w+\((?:\S*/)?ctx(?: run)?(?: ?\*|:\*)?\)$").match(rule.encode()):
                yield finding(host, "%s: the rule %s lets every command run unasked" % (path, quoted(rule)), "take it out: ctx needs none")


def rewriting_hooks(file: HostFile) -> List[str]:
    """Commands of others that run before the host's shell tool."""
    if file.is_toml or not (file.text or "").strip("\ufeff \t\r\n"):
        return []
    root = JsonText(file.text or "").root.plain()
    host, groups = HOSTS[file.host], SETUPS[file.host].groups
    rows = [row for event, gate in host.events.items() if gate == "pre" for row in inside(root, "%s.%s" % (groups, event)) or []]
    found = []
    for row in rows:
        if any(is_matched(text_at(row, "matcher"), tool) for tool in host.shell):
            found += [text_at(item, "command") or text_at(item, "bash") for item in (inside(row, "hooks") or [row])]
    return [command for command in found if command and not is_own_command(command)]


def is_matched(matcher: str, tool: str) -> bool:
    """Whether a hook's matcher, which is an expression or says that all match, matches a tool."""
    import re

    try:
        return matcher in ("", "*") or bool(re.match("(?:%s)$" % matcher, tool))
    except re.error:
        return False


def examined_trust(file: HostFile) -> Iterator[Dict[str, str]]:
    """Whether Codex has a record that the user trusts the hooks in a file; whether it is of their present text, only Codex can tell."""
    try:
        config = read_file(host_folder("codex") + "/config.toml").decode("utf-8", "replace")
    except OSError:
        config = ""
    if '[hooks.state."%s:' % file.path not in config:
        yield finding("codex", "it skips hooks that are not trusted, and these are not", "start codex, type /hooks, and trust those of ctx")


# ── the store, the configuration, the guard


def examined_stores() -> List[Dict[str, Any]]:
    """For each store that exists: its root, what it holds, and one line for each problem."""
    found = []
    for store in stores():
        counts, problems = verify_store(store)
        found.append({"root": store.root, "counts": counts, "problems": problems})
    return found


def write_config() -> str:
    """Write a ctx.toml in which every default stands, commented out, at the top of the workspace; its path. Raises CtxError."""
    path = (workspace() or cwd()) + "/ctx.toml"
    if exists(path):
        raise CtxError("%s is there already" % path, "edit it; ctx config shows what holds")
    lines = [line if line.startswith("[") or not line else "# " + line for line in settings_text(default_settings())]
    try:
        write_atomic(path, "\n".join([*lines, ""]).encode(), 0o644)
    except OSError as error:
        raise CtxError("%s: %s" % (path, error.strerror), "go to a directory that can be written") from None
    return path


def explain_command(text: str, host: str = "", mode: str = "") -> Dict[str, Any]:
    """What the guard makes of a command line here, and the hook of a host in a permission mode: its class, why, and the line as it
    would run. Nothing is executed, and nothing noted. Raises CtxError."""

    def executable(name: str) -> bool:
        return "/" in name or find_program(fsencode(name)) != fsencode(name)

    if host not in ("", *SETUPS):
        raise CtxError("unknown host %s" % quoted(host), nearest(host, list(SETUPS), "hosts are"))
    kind, settings = HOSTS[host or "claude"], {"%s.%s" % name: value for name, value in load_config().items()}
    facts = Facts(self_command(), executable=executable, unknown=settings["guard.unknown"])
    if host:
        facts.shadowed, facts.mode, facts.reads = kind.shadowed, mode, kind.reads
    verdict = judge(text, facts)
    found = {"class": verdict.cls, "reason": verdict.reason, "shape": verdict.shape, "runs": with_edits(text, verdict.edits)}
    if host:
        call = Call(kind, "", told_by(kind, text, mode), posix.environ)
        permission = granted(call, text)
        decision, objection = authority(call, settings)
        found.update(host=host, permission=permission.decision, rule=permission.rule)
        if verdict.edits and decision is None:
            found.update(reason=objection, runs=text)
    return found


def told_by(host: Host, command: str, mode: str) -> Dict[str, Any]:
    """What a host tells of a command line that it is about to run."""
    tool = next(iter(host.shell))
    told: Dict[str, Any] = {}
    for path, value in ((host.tool, tool), (host.input, {host.shell[tool]: command}), (host.mode, mode)):
        place = told
        *above, last = path.split(".")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return told


# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
# 24 · cli
# Knows the argument grammar, dispatch and help. Never knows how anything is done.
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

if TYPE_CHECKING:
    Options = Dict[str, str]  # by flag; a flag that takes no value has "", one that may be repeated (its metavar ends in …) all of them, NUL between


class Verb:
    """One command of the program. `options` are (flag, metavar or "", meaning); `examples` run as tests; with `is_command` what follows the
    options is somebody else's command line."""

    __slots__ = ("name", "usage", "summary", "act", "options", "text", "examples", "is_command")

    def __init__(self, name: str, usage: str, summary: str, act: Callable[[Options, List[str]], int], options: Sequence[Tuple[str, str, str]],
                 text: str, examples: Sequence[str], is_command: bool = False) -> None:  # fmt: skip
        self.name = name
        self.usage = usage
        self.summary = summary
        self.act = act
        self.options = options
        self.text = text
        self.examples = examples
        self.is_command = is_command


# ── arguments


def parse_options(verb: Verb, argv: Sequence[str]) -> Tuple[Options, List[str]]:
    """Split a verb's arguments into options and words. Raises CtxError that names the nearest option."""
    metavars = {flag: metavar for flag, metavar, _ in verb.options}
    options: Options = {}
    words: List[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return options, words + rest
        if not word.startswith("-") or word == "-":
            words.append(word)
            if verb.is_command:
                return options, words + rest
            continue
        flag, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if flag in ("-h", "--help"):
            return {"--help": ""}, []
        if flag not in metavars:
            raise CtxError("unknown option %s" % quoted(word), nearest(flag, sorted(metavars), "options are") if metavars else "it takes none")
        metavar = metavars[flag]
        if metavar and not (equals or value):
            if not rest:
                raise CtxError("%s needs a value" % flag, "write %s %s" % (flag, metavar))
            value = rest.pop(0)
        elif not metavar and equals:
            raise CtxError("%s takes no value" % flag, "write %s alone" % flag)
        elif not metavar and value:  # -iF
            if value.startswith("-"):
                raise CtxError("unknown option %s" % quoted(word), "write %s alone" % flag)
            rest.insert(0, "-" + value)
            value = ""
        if metavar.endswith("…"):
            options[flag] = options[flag] + "\0" + value if flag in options else value
            continue
        if options.get(flag, value) != value:
            raise CtxError("%s is given twice" % flag, "write it once")
        options[flag] = value
    return options, words


def number_option(options: Options, flag: str, default: int, least: int = 0) -> int:
    """A whole number given to an option. Raises CtxError."""
    if flag not in options:
        return default
    number = whole_number(options[flag])
    if number is None or number < least:
        raise CtxError("%s %s: not a whole number from %d" % (flag, quoted(options[flag]), least), "write %s %d" % (flag, max(least, 10)))
    return number


def seconds_option(options: Options, flag: str) -> float:
    """A time given to an option: seconds, or with s, m or h behind; 0 when it is not given. Raises CtxError."""
    if flag not in options:
        return 0.0
    text = options[flag]
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    digits = text[:-1] if unit else text
    is_number = digits.replace(".", "", 1).isdigit() and digits.isascii()
    seconds = float(digits) * (unit or 1) if is_number else 0.0
    if not 0.001 <= seconds <= 86400 * 20:
        raise CtxError("%s %s: not a time up to 20 days" % (flag, quoted(text)), "write seconds, as in %s 90, or 1.5m, or 2h" % flag)
    return seconds


def no_words(words: Sequence[str], fix: str = "leave it out") -> None:
    """Raise CtxError when a verb that takes none was given words."""
    if words:
        raise CtxError("%s: nothing is expected here" % quoted(words[0]), fix)


def one_word(words: Sequence[str], fix: str, default: str = "") -> str:
    """The one word that a verb takes, or the default. Raises CtxError."""
    if len(words) > 1 or not (words or default):
        raise CtxError("%s: one at a time" % quoted(words[1]) if words else "something is missing", fix)
    return words[0] if words else default


def check_raw(options: Options, settings: Settings) -> bool:
    """Whether --raw was asked for. Raises CtxError where that is not allowed."""
    if "--raw" in options and not settings["redact", "raw"]:
        raise CtxError("--raw: not allowed here", "set raw = true below [redact] in ctx.toml to see stored bytes without redaction")
    return "--raw" in options


def open_output(options: Options, flag: str, flags: int) -> int:
    """The file behind --log or --summary, -1 when none was asked for. Raises CtxError."""
    if flag not in options:
        return -1
    try:
        return posix.open(fsencode(options[flag]), posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC | flags, 0o666)
    except (OSError, ValueError) as error:
        raise CtxError("%s %s: %s" % (flag, quoted(options[flag]), reason(error)), "name a file that can be written") from None


def open_input(name: str) -> int:
    """A file to read, stdin for `-`. Raises CtxError."""
    try:
        if name == "-":
            if not is_inherited(0):
                raise CtxError("stdin is closed", "name a file")
            return 0
        if is_dir(name):
            raise CtxError("%s: is a directory" % quoted(name), "name a file in it")
        return posix.open(fsencode(name), posix.O_RDONLY | posix.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise CtxError("%s: %s" % (quoted(name), reason(error)), "name a file that can be read, or - for stdin") from None


# ── what is printed


def write_out(data: bytes) -> None:
    """Write to stdout. Raises CtxError when it cannot be written, BrokenPipeError when its reader has gone."""
    if not is_inherited(1):
        raise CtxError("stdout is closed", "leave it open")
    try:
        write_all(1, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CtxError("stdout: %s" % error.strerror, "nothing, or not all, was written") from None


def say(lines: Iterable[str]) -> None:
    """Print lines on stdout."""
    write_out("".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace"))


def report(options: Options, value: Any, lines: Iterable[str]) -> None:
    """Print what was asked for: a value as one line of JSON, or lines of text."""
    say([to_json(value)] if "--json" in options else lines)


def remark(verb: str, text: str) -> None:
    """Print one line on stderr, whatever the text holds; without a verb as it stands."""
    line = ("ctx %s: %s" % (verb, visible(fsencode(text))) if verb else text) + "\n"
    try:
        write_all(2, line.encode("utf-8", "surrogateescape"))
    except OSError:
        pass


# ── run, tap, digest


def run_verb(options: Options, words: List[str]) -> int:
    """ctx run"""
    text = options.get("--shell")
    if text is not None and words:
        raise CtxError("--shell takes one text, and %s follows it" % quoted(words[0]), "put the whole line in quotes: ctx run --shell 'a | b'")
    if text is None and not (words and words[0]):
        raise CtxError("no command", "write ctx run -- CMD ARGS…, or ctx run --shell 'LINE'")
    argv = words if text is None else shell_argv(text)
    limit = seconds_option(options, "--timeout")
    if getenv("CTX_OFF") == "1":
        try:
            become(argv)
        except OSError as error:
            raise spawn_error(argv, error) from None
    settings = load_config()
    if "--no-delta" in options:
        settings["budget", "delta"] = False
    log, summary = open_output(options, "--log", posix.O_TRUNC), open_output(options, "--summary", posix.O_APPEND)
    kind, line = ("run", words) if text is None else ("shell", [text])
    capture = new_capture(kind, line, settings, "--stream" in options, log, limit)
    capture.run(argv)
    return finish_run(capture, settings, summary)


def tap_verb(options: Options, words: List[str]) -> int:
    """ctx tap"""
    import _signal

    no_words(words, "write CMD | ctx tap --for 'CMD'")
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # it ends with the pipe, as tee -i does

    def complain(error: OSError) -> None:
        remark("tap", "nothing is kept of this pipe: %s" % store_problem(error))

    try:
        settings = load_config()
    except CtxError as error:  # the bytes must pass
        remark("tap", str(error))
        settings = default_settings()
    spool: Optional[Spool] = None
    if getenv("CTX_OFF") != "1":
        try:
            spool = open_spool("tap", [options["--for"]] if "--for" in options else [], settings)
        except OSError as error:
            complain(error)
    total, partial, spool = tap(spool, complain)
    if spool is not None:
        try:
            run = spool.commit(["output"], None, partial)
            if total > settings["budget", "inline"]:
                remark("tap", "%s kept as %s: %s get %s#output" % (human(total), run.handle, self_command(), run.handle))
        except OSError as error:
            complain(error)
        spool.discard()
        house_keeping(spool.store, settings)
    return 0


def digest_verb(options: Options, words: List[str]) -> int:
    """ctx digest"""
    name = one_word(words, "join them: cat %s | ctx digest" % " ".join(map(shell_word, words)), "-")
    settings = load_config()
    try:
        run = keep_file(open_input(name), name, settings)
    except OSError as error:
        raise CtxError("%s: %s" % (quoted(name), error.strerror), "name a file that can be read, or - for stdin") from None
    status = show_digest(run, options, settings)
    house_keeping(run.store, settings)
    return status


def show_digest(run: Run, options: Options, settings: Settings) -> int:
    """Print a run's digest."""
    digest = digest_of(run, settings, self_command())[0].decode("utf-8", "surrogateescape")
    report(options, {"address": run.handle, "text": digest}, digest.split("\n")[:-1])
    return 0


def seq_verb(options: Options, words: List[str]) -> int:
    """ctx seq"""
    steps = [Step(text) for text in written_steps(options, words)]
    limit, parallel = seconds_option(options, "--timeout"), number_option(options, "--parallel", 1, 1)
    settings = load_config()
    run_steps(steps, settings, "--keep-going" in options, parallel, limit)
    text = steps_digest(steps, settings, self_command()).decode("utf-8", "surrogateescape")
    rows = [{"command": redact_text(step.text), "outcome": step.outcome, "exit": step.status, "handle": step.run.handle if step.run else None} for step in steps]
    report(options, {"steps": rows, "text": text}, text.split("\n")[:-1])
    for run in [step.run for step in steps if step.run][-1:]:
        house_keeping(run.store, settings)
    failure = first_failure(steps)
    return failure.status if failure and failure.status else 0


def written_steps(options: Options, words: Sequence[str]) -> List[str]:
    """The command lines that `seq` was given: by --step, or one on each line of a file, without empty lines and comments. Raises CtxError."""
    if "--step" in options:
        no_words(words, "give every step with --step, or all in one file")
        lines = options["--step"].split("\0")
    else:
        name = one_word(words, "write ctx seq --step 'CMD' --step 'CMD', or ctx seq FILE", "-")
        fd = open_input(name)
        with open(fd, "rb", closefd=fd != 0) as file:
            lines = [line for line in fsdecode(file.read(MIB)).split("\n") if not line.lstrip().startswith("#")]
    steps = [line for line in lines if line.strip()]
    if not 1 <= len(steps) <= STEPS_MAX:
        raise CtxError("%s" % plural(len(steps), "step"), "give from 1 to %d of them" % STEPS_MAX)
    return steps


# ── get, search, runs


def get_verb(options: Options, words: List[str]) -> int:
    """ctx get"""
    address = parse_address(one_word(words, "write ctx get run:HEX, as a digest prints it; ctx runs lists runs"))
    settings = load_config()
    raw = check_raw(options, settings)
    chosen = [flag for flag in ("--lines", "--tail", "--bytes", "--grep", "--pointer", "--facts", "--fact") if flag in options]
    if len(chosen) > 1 or (address.lines and chosen and chosen[0] not in ("--grep", "--pointer")):
        raise CtxError("%s: one selection at a time" % " and ".join(["lines in the address"] * bool(address.lines) + chosen), "drop all but one")
    if "--lines" in options:
        address.lines = parse_lines(options["--lines"])
    if address.kind == "run" and not (address.stream or address.lines or chosen or raw or "--all" in options):
        return show_digest(resolve_run(address.name), options, settings)
    if "--facts" in options or "--fact" in options:
        if address.kind != "run" or address.stream:
            raise CtxError("%s: facts belong to a run" % quoted(str(address)), "write run:HEX")
        run = resolve_run(address.name)
        if "--facts" in options:
            return show_facts(run, options)
        address = fact_address(run, options["--fact"])
    place = resolve(address)
    if "--grep" in options:
        return show_hits("get", Query(options["--grep"]), [place], [options["--grep"], str(address)], options, settings)
    if "--pointer" in options:
        start, end = pointed_at(place, options["--pointer"])
    elif "--bytes" in options:
        start, end = byte_range(place, options["--bytes"])
    elif "--tail" in options:
        count = number_option(options, "--tail", 0, 1)
        start, end = place.source.start_of(max(1, place.source.lines - count + 1)), place.source.size
    else:
        start, end = place.span()
    return show_page(place, start, end, options, settings)


def show_facts(run: Run, options: Options) -> int:
    """Print every fact of a run, with its lines: 1 when there is none."""
    summary = facts_of(run)
    facts: List[Dict[str, Any]] = [{key: redact_text(value) if isinstance(value, str) else value for key, value in fact.items()} for fact in summary["facts"]]
    rows = []
    for fact in facts:
        first, last = fact["lines"]
        spot = "#%s:%d-%d" % (fact["stream"], first, last) if first else ""
        rows.append("  ".join(part for part in (fact["kind"], fact["identity"], fact["location"], spot) if part))
    report(options, dict(summary, facts=facts), [visible(fsencode(row)) for row in rows])
    return EXIT_SAME if facts else EXIT_DIFFERS


def diff_verb(options: Options, words: List[str]) -> int:
    """ctx diff"""
    if len(words) != 2:
        raise CtxError("two runs, please", "write ctx diff run:HEX run:HEX, the older one first; ctx runs lists runs")
    settings = load_config()
    addresses = [parse_address(word) for word in words]
    for word, address in zip(words, addresses):
        if address.kind != "run" or address.stream or address.lines:
            raise CtxError("%s: whole runs are compared" % quoted(word), "write run:HEX")
    difference = diff_runs(*(resolve_run(address.name) for address in addresses))
    report(options, redacted_difference(difference), diff_lines(difference, settings["budget", "page"]))
    return EXIT_DIFFERS if is_different(difference) else EXIT_SAME


def show_page(place: Place, start: int, end: int, options: Options, settings: Settings) -> int:
    """Print one page exactly; on stderr where it goes on, and whatever else a reader must know. 3 when something was redacted."""
    budget = 0 if "--all" in options else settings["budget", "page"]
    again = " --raw" if "--raw" in options else ""
    at, secrets, parts = start, 0, []
    while at < end:
        page = page_of(place.source, at, end, budget, bool(again))
        if "--json" in options:
            parts.append(page.data)
        else:
            write_out(page.data)
        at, secrets = page.end, secrets + page.secrets
        if budget:
            break
    if start == end:
        place.remarks.append("%s is empty" % place.address)
    elif place.is_live:
        place.remarks.append("this is %s" % address_of(place, start, at))
    following = "%s get %s%s" % (self_command(), address_of(place, at, end), again) if at < end else ""
    if "--json" in options:
        text = b"".join(parts).decode("utf-8", "surrogateescape")
        value = {"address": str(place.address), "bytes": [start, at], "text": text, "next": following, "redacted": secrets, "remarks": place.remarks}
        report(options, value, ())
    else:
        for text in place.remarks:
            remark("get", text)
        if following:
            remark("", "next: " + following)
        if secrets:
            remark("get", "%s redacted: this is not the stored text" % plural(secrets, "secret"))
    return EXIT_REDACTED if secrets else 0


def search_verb(options: Options, words: List[str]) -> int:
    """ctx search"""
    if not words:
        raise CtxError("no pattern", "write ctx search PATTERN [ADDRESS…]")
    addresses = words[1:]
    if (len(addresses) > 0) + ("--last" in options) + ("--all" in options) > 1:
        raise CtxError("addresses, --last and --all exclude each other", "drop all but one")
    settings = load_config()
    query = Query(words[0], "-F" in options, "-i" in options, "-w" in options)
    if not addresses and "--all" not in options:
        run, scope = last_run()
        addresses = [run.handle]
        remark("search", "in %s, the last run of this %s" % (run.handle, scope))
    problems: List[str] = []
    status = show_hits("search", query, search_places(addresses, problems.append), [words[0], *addresses], options, settings)
    for problem in problems:
        remark("search", problem)
    return EXIT_USAGE if problems else status


def show_hits(verb: str, query: Query, places: Iterable[Place], words: Sequence[str], options: Options, settings: Settings) -> int:
    """Print what was found, or only how much: 0 found, 1 found nothing, 3 when something was redacted. `words` repeat the search."""
    context, skip, only_count = number_option(options, "-C", 0), number_option(options, "--skip", 0), "--count" in options
    found = search_all(places, query, 0 if only_count else skip, 0 if only_count else HITS_KEPT)
    total = sum(found.counts.values())
    if only_count:
        lines = ["%s: %d" % pair for pair in found.counts.items() if pair[1]] + ["total: %d" % total]
        report(options, {"count": total, "places": found.counts}, lines if len(found.counts) > 1 else ["%d" % total])
        return EXIT_SAME if total else EXIT_DIFFERS
    lines, rows, shown, secrets = hit_page(found.places, context, settings["budget", "page"])
    flags = [flag for flag in ("-i", "-F", "-w", "--all") if flag in options and verb == "search"] + ["-C", str(context)] * (context > 0)
    again = ["search", *flags, "--skip", str(skip + shown), "--", *words]
    following = " ".join([self_command(), *map(shell_argument, again)]) if shown and skip + shown < total else ""
    if "--json" in options:
        hits = [{"address": str(row.place.address), "line": row.number, "hit": row.is_hit, "text": row.text} for row in rows]
        value = {"count": total, "skipped": skip, "shown": shown, "redacted": secrets, "lines": hits, "next": following}
        report(options, dict(value, remarks=found.remarks), ())
    else:
        say(lines)
        for text in found.remarks:
            remark(verb, text)
        if shown < total:
            remark(verb, "%s of %s" % ("%d-%d" % (skip + 1, skip + shown) if shown else "none", plural(total, "match", "matches")))
        if following:
            remark("", "next: " + following)
        if secrets:
            remark(verb, "%s redacted" % plural(secrets, "secret"))
    return EXIT_DIFFERS if not total else EXIT_REDACTED if secrets else EXIT_SAME


def runs_verb(options: Options, words: List[str]) -> int:
    """ctx runs"""
    import time

    no_words(words)
    load_config()
    rows = list(listed_runs(number_option(options, "-n", 20, 1), "--all" in options))
    lines = []
    for row in rows:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["time"] / 1000)) if row["time"] else "now".ljust(19)
        lines.append("  ".join((row["handle"], when, row["outcome"].ljust(8), human(row["bytes"]).rjust(8), row["command"])))
    report(options, rows, lines)
    if not rows:
        remark("runs", "nothing was captured here" if "--all" in options else "nothing was captured in this workspace: ctx runs --all looks everywhere")
    return EXIT_SAME if rows else EXIT_DIFFERS


# ── keeping house


def whole_runs(words: Sequence[str]) -> List[Run]:
    """The runs that some words name. Raises CtxError."""
    found = []
    for word in words:
        address = parse_address(word)
        if address.kind != "run" or address.stream or address.lines:
            raise CtxError("%s: only whole runs" % quoted(word), "write run:HEX")
        found.append(resolve_run(address.name))
    return found


def pin_verb(options: Options, words: List[str]) -> int:
    """ctx pin"""
    keep = "--remove" not in options
    if not words:
        if not keep:
            raise CtxError("--remove: no run", "write ctx pin --remove run:HEX")
        handles = sorted({"run:" + name for store in stores() for name in pinned(store)})
        report(options, handles, handles)
        return EXIT_SAME if handles else EXIT_DIFFERS
    runs = whole_runs(words)
    for run in runs:
        set_pin(run, keep)
    report(options, [run.handle for run in runs], ["%s %s" % (run.handle, "pinned" if keep else "unpinned") for run in runs])
    return 0


def gc_verb(options: Options, words: List[str]) -> int:
    """ctx gc"""
    no_words(words)
    settings = load_config()
    done = {"adopted": 0, "runs": 0, "blobs": 0, "bytes": 0, "compressed": 0}
    for store in stores():
        done["adopted"] += adopt_orphans(store)
        for key, count in collect(store, settings["store", "days"], settings["store", "quota_mib"] * MIB).items():
            done[key] += count
    parts = [plural(done["runs"], "run") + " and " + plural(done["blobs"], "blob") + " collected", human(done["bytes"]) + " freed"]
    report(options, done, [", ".join([*parts, human(done["compressed"]) + " compressed", plural(done["adopted"], "orphan") + " adopted"])])
    return 0


def doctor_verb(options: Options, words: List[str]) -> int:
    """ctx doctor"""
    no_words(words)
    stores_only = "--store" in options
    found = [] if stores_only else list(examined())
    kept = examined_stores() if stores_only else []
    lines = []
    for row in found:
        lines.append("%-7s %s: %s" % (row["state"], row["check"], row["what"]))
        lines += ["        fix: " + row["fix"]] * bool(row["fix"])
    for entry in kept:
        counts = entry["counts"]
        lines.append("%s: %s, %s, %s" % (entry["root"], plural(counts["runs"], "occurrence"), plural(counts["blobs"], "blob"), human(counts["bytes"])))
        lines += ["  " + problem for problem in entry["problems"]]
    report(options, kept if stores_only else found, lines or ["nothing is stored yet: %s" % " or ".join(state_roots())])
    return EXIT_DIFFERS if any(entry["problems"] for entry in kept) or any(row["state"] == "problem" for row in found) else EXIT_SAME


def export_verb(options: Options, words: List[str]) -> int:
    """ctx export"""
    if not words:
        raise CtxError("no run", "write ctx export run:HEX… -o FILE.tar")
    raw = check_raw(options, load_config())
    runs, target = whole_runs(words), options.get("-o", "-")
    if target == "-" and not is_inherited(1):
        raise CtxError("stdout is closed", "write -o FILE.tar")
    if target == "-" and posix.isatty(1):
        raise CtxError("a tar file is no text for a terminal", "write -o FILE.tar, or > FILE.tar")
    fd = 1 if target == "-" else open_output(options, "-o", posix.O_TRUNC)
    try:
        with open(fd, "wb", closefd=fd != 1) as file:
            secrets = export_runs(runs, file, raw, lambda text: remark("export", text))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CtxError("%s: %s" % (quoted(target), error.strerror), "it is not whole; name a file that can be written") from None
    return EXIT_REDACTED if secrets else 0


def import_verb(options: Options, words: List[str]) -> int:
    """ctx import"""
    name = one_word(words, "write ctx import FILE.tar", "-")
    fd = open_input(name)
    with open(fd, "rb", closefd=fd != 0) as file:
        handles = import_runs(writable_store(), file)
    report(options, handles, handles)
    return 0


# ── hosts


def setup_verb(options: Options, words: List[str]) -> int:
    """ctx setup"""
    hosts, project, away = chosen_hosts(words), "--project" in options, "--remove" in options
    build = writable_store().root + "/current"
    command = "" if project else build
    files = [host_file(host, project) for host in hosts]
    texts = [file.before if away else file.wanted(command) for file in files]  # all of them, before one is written
    lines: List[str] = []
    for file, text in zip(files, texts):
        lines += file_changes(file, text)
    if "--print" in options:
        say(lines)
        return EXIT_SAME
    if not (project or away):
        install_build()
    for file, text in zip(files, texts):
        if text != file.text:
            file.write(text)
    if "--link" in options:
        lines.append("%s -> %s" % (link_launcher(build, not away), "removed" if away else build + "/ctx"))
    problems = [] if away else [problem for file in files for problem in rehearse(file, command)]
    left = [] if away else [SETUPS[host].left for host in hosts if SETUPS[host].left]
    if not away and not is_same(fsdecode(find_program(b"ctx")), build + "/ctx"):
        left.append("put ~/.local/bin on PATH" if "--link" in options else "ctx is not on PATH: ctx setup --link makes ~/.local/bin/ctx")
    say([*lines, *("problem: " + problem for problem in problems), *("left to you: " + text for text in left)])
    return EXIT_DIFFERS if problems else EXIT_SAME


def file_changes(file: HostFile, text: Optional[str]) -> List[str]:
    """What becomes of a settings file, as a diff."""
    import difflib

    if text == file.text:
        return ["%s: nothing to do in %s" % (file.host, file.path)]
    if text is None:
        return ["%s: %s goes" % (file.host, file.path)]
    old, new = (file.text or "").splitlines(), text.splitlines()
    return ["%s: %s" % (file.host, file.path), *list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]]


def wrap_verb(options: Options, words: List[str]) -> int:
    """ctx wrap"""
    if not words:
        raise CtxError("no host", "write ctx wrap claude -- ARGS…")
    return run_wrapped(chosen_hosts(words[:1])[0], words[2:] if words[1:2] == ["--"] else words[1:])


# ── config, version, help


def config_verb(options: Options, words: List[str]) -> int:
    """ctx config"""
    no_words(words)
    values, files = load_config(), [path for path in config_files() if exists(path)]
    report(options, {"files": files, "settings": {"%s.%s" % name: value for name, value in values.items()}}, ["# " + path for path in files] + settings_text(values))
    return 0


def init_verb(options: Options, words: List[str]) -> int:
    """ctx init"""
    no_words(words)
    say(["wrote %s; every line of it is a default, commented out" % write_config()])
    return 0


def hook_verb(options: Options, words: List[str]) -> int:
    """ctx hook, which `main` answers itself."""
    hook_main(words, lambda: gate_answer)
    return 0


def why_verb(options: Options, words: List[str]) -> int:
    """ctx why"""
    line = one_word(words, "put the whole line in quotes: ctx why 'make test 2>&1 | tail'")
    if "--mode" in options and "--host" not in options:
        raise CtxError("--mode: of which host", "write --host claude --mode %s" % options["--mode"])
    found = explain_command(line, options.get("--host", ""), options.get("--mode", ""))
    shown = {key: redact_text(value) for key, value in found.items()}
    names = {"class": "class", "reason": "why", "shape": "shape", "permission": "the host", "rule": "its rule", "runs": "runs"}
    report(options, shown, ["%s: %s" % (name, visible(fsencode(shown[key]))) for key, name in names.items() if shown.get(key)])
    return 0


def version_verb(options: Options, words: List[str]) -> int:
    """ctx version"""
    no_words(words)
    python = "%d.%d.%d" % sys.version_info[:3]
    report(options, {"ctx": VERSION, "python": python, "store": FORMAT}, ["ctx %s (Python %s)" % (VERSION, python)])
    return 0


def help_verb(options: Options, words: List[str]) -> int:
    """ctx help"""
    if words:
        say(help_page(find_verb(one_word(words, "write ctx help %s" % words[0]))))
    else:
        say(overview())
    return 0


def overview() -> List[str]:
    """What `ctx help` prints."""
    lines = ["ctx keeps the complete output of commands and shows what matters, with an address for the rest.", "", "usage: ctx VERB [options]", ""]
    lines += ["  %-8s %s" % (verb.name, verb.summary) for verb in VERBS]
    status = "The exit status of run is the command's; elsewhere 0 found, 1 nothing found or different, 2 wrong usage, 3 redacted."
    return [*lines, "", "ctx help VERB tells more. " + status]


def help_page(verb: Verb) -> List[str]:
    """What `ctx help VERB` prints."""
    lines = ["usage: ctx " + verb.usage, "", verb.summary[0].upper() + verb.summary[1:] + "."]
    if verb.text:
        lines += ["", *verb.text.strip("\n").split("\n")]
    if verb.options:
        lines += ["", "options:"] + ["  %-16s %s" % (("%s %s" % (flag, metavar)).rstrip(), text) for flag, metavar, text in verb.options]
    return [*lines, "", "examples:"] + ["  " + example for example in verb.examples]


_JSON = ("--json", "", "one line of JSON instead of text")
_RAW = ("--raw", "", "without redaction, where [redact] raw = true")

VERBS = [
    Verb("run", "run [options] -- CMD ARGS…  |  run [options] --shell 'LINE'", "run a command, keep all of its output, show what matters of it", run_verb,
         [("--shell", "LINE", "a line for your shell ($SHELL if bash or zsh, else bash, else sh)"), ("--stream", "", "pass everything through as it comes; the digest comes last"),
          ("--timeout", "TIME", "end it after so many seconds (or 90s, 1.5m, 2h): exit 124"), ("--log", "FILE", "also write the full output to FILE as it comes"),
          ("--summary", "FILE", "also append the digest to FILE, as a CI job summary"),
          ("--no-delta", "", "do not tell what changed since the last run of the same command")],
         """
The command runs exactly as typed: same arguments, stdin, directory, environment. Small output is replayed untouched; of a flood a digest is
printed, and the rest is kept under the handle in its first line. The exit status is the command's own: 124 the time ran out, 125 ctx itself
failed, 126 not executable, 127 not found. CTX_OFF=1 in the environment runs it without ctx.""",
         ["ctx run -- pytest -q", "ctx run --shell 'make 2>&1 | sort'", "ctx run --timeout 60 -- sleep 0.1"], True),
    Verb("tap", "tap [--for CMD]", "keep what passes through a pipe", tap_verb, [("--for", "CMD", "the command whose output this is, for the records")],
         "Bytes pass unchanged and at once; tap always exits 0. If much passed, one line on stderr names the handle.", ["seq 3 | ctx tap --for 'seq 3' | tail -1"]),
    Verb("digest", "digest [FILE|-]", "keep a file, or stdin, and print its digest", digest_verb, [_JSON], "For a saved log or a download. Its exit status is unknown.",
         ["seq 5000 | ctx digest", "seq 5000 | ctx digest - --json"]),
    Verb("get", "get ADDRESS [selection]", "read what an address names, page by page", get_verb,
         [("--lines", "A-B", "lines A to B, counted from 1; also A: to the end, :B from the start"), ("--tail", "N", "the last N lines"),
          ("--bytes", "A:B", "bytes A up to but not including B, counted from 0"), ("--grep", "RE", "the lines that match, with their numbers"),
          ("--pointer", "P", "of a JSON document the value at pointer P, as in /items/0/name"), ("--all", "", "everything selected at once, not a page"),
          ("--facts", "", "every fact that was found in a run, with its lines"), ("--fact", "ID", "the whole section of the fact with that identity"), _RAW, _JSON],
         """
Addresses: run:HEX (its digest again), run:HEX#stdout, #stderr, #output (both in order of arrival), blob:HEX, repo:PATH (a live file of the
workspace); each with :A-B for lines, and @ANCHOR behind it to make sure that they still read the same. stdout has the exact bytes; where the
page goes on is said on stderr. Exit 3: secrets were redacted, this is not the stored text.""",
         ["ctx get run:{run}", "ctx get run:{run}#output:10-20", "ctx get run:{run} --tail 5", "ctx get run:{run} --grep '7{3}'", "ctx get repo:data.json --pointer /items/0"]),
    Verb("diff", "diff RUN-A RUN-B", "tell how two runs differ: what broke, what was mended, what else changed", diff_verb, [_JSON],
         "Behaviour first, then kinds of lines that came or went, then sizes. Exit 0 the same, 1 different.", ["ctx diff run:{run} run:{run}"]),
    Verb("search", "search PATTERN [ADDRESS…] [options]", "search what was kept", search_verb,
         [("-i", "", "ignore case"), ("-F", "", "the pattern is text, not a regular expression"), ("-w", "", "whole words only"), ("-C", "N", "N lines of context"),
          ("--count", "", "only how many lines match"), ("--last", "", "in the last run (the default)"), ("--all", "", "in everything kept, newest first"),
          ("--skip", "N", "leave out the first N matches"), _JSON],
         """
The pattern is a regular expression as Python and grep -E have it, tried on each line. The count is complete even when the page is not.
Exit 0 found, 1 nothing found, 2 an error, 3 found with secrets redacted.""",
         ["ctx search 99 run:{run}", "ctx search -F --count 9 --last", "ctx search -C 1 '^(404|500)$' run:{run}#output:1-1000"]),
    Verb("seq", "seq --step CMD… | seq [FILE|-]", "run several steps, one digest for all", seq_verb,
         [("--step", "CMD…", "a command line for your shell; may be repeated"), ("--keep-going", "", "do not stop at the first failure"),
          ("--parallel", "N", "up to N steps at a time, for steps that do not need each other"), ("--timeout", "TIME", "end a step after so long, as run does"), _JSON],
         """
Each step is captured as a run of its own. The digest has a line for each, small outputs whole, and the digest of the first step that failed,
whose exit status it is. A file of steps has one on each line; empty lines and those that begin with # are left out.""",
         ["ctx seq --step 'true' --step 'seq 3'", "printf 'true\\nseq 5000\\n' | ctx seq --keep-going", "ctx seq --parallel 2 --step 'sleep 0.1' --step 'echo done' --json"]),
    Verb("runs", "runs [--all] [-n N]", "list what was captured here, newest first", runs_verb,
         [("--all", "", "in every workspace"), ("-n", "N", "at most N runs (20)"), _JSON], "", ["ctx runs", "ctx runs --all -n 5"]),
    Verb("pin", "pin [--remove] [run:HEX…]", "keep runs for ever, or list those that are", pin_verb, [("--remove", "", "let them go again"), _JSON], "",
         ["ctx pin run:{run}", "ctx pin", "ctx pin --remove run:{run}"]),
    Verb("gc", "gc", "collect what is over age or quota now", gc_verb, [_JSON], "It also happens by itself, behind a run, at most once an hour.", ["ctx gc"]),
    Verb("export", "export run:HEX… [-o FILE]", "write runs to one tar file, for another machine", export_verb, [("-o", "FILE", "where to (stdout)"), _RAW],
         "Secrets are redacted on the way out, which gives a run new bytes and so a new handle; exit 3 and stderr say so.", ["ctx export run:{run} -o runs.tar"]),
    Verb("import", "import [FILE|-]", "take in runs that export wrote", import_verb, [_JSON], "Every hash is checked.", ["ctx import runs.tar"]),
    Verb("setup", "setup [HOST…] [options]", "have agent hosts run ctx: write its hooks into their settings", setup_verb,
         [("--print", "", "only show what would be written"), ("--remove", "", "take the hooks out again; every other byte stays"),
          ("--project", "", "in this work tree's files, without paths of this machine"), ("--link", "", "also make ~/.local/bin/ctx")],
         """
Hosts are claude, codex, antigravity, gemini and copilot; without a name those that are found here. ctx is installed below its own directory, and
nothing else in a settings file changes: no comment, no order, no other hook. Then each hook is run once. Exit 1: one of them does not answer.""",
         ["ctx setup claude --print", "ctx setup claude", "ctx setup --remove claude"]),
    Verb("wrap", "wrap HOST [--] ARGS…", "run an agent host with ctx for one session, and leave nothing behind", wrap_verb, [],
         """
Claude gets the hooks by --settings, and loses its own search tools; Codex gets them by -c, and runs them only if you have trusted hooks of the
same text, or tell it not to ask. Other hosts take no settings for one session. The exit status and signals pass through.""",
         ["ctx wrap --help"], True),
    Verb("doctor", "doctor [--store]", "check what is set up: the store, the configuration, hosts and their hooks", doctor_verb,
         [("--store", "", "check what is stored instead: every hash, every record"), _JSON],
         "Each problem comes with its fix. Exit 1: there is one.", ["ctx doctor", "ctx doctor --store"]),
    Verb("why", "why 'COMMAND LINE' [--host HOST [--mode MODE]]", "tell what ctx makes of a command line, without running it", why_verb,
         [("--host", "HOST", "as that host's hook would: its shell, its rules"), ("--mode", "MODE", "in that permission mode of the host"), _JSON],
         """
Classes are bounded (left alone), noisy (captured), mutation (left alone) and unknown. The host's own decision about the line as it was typed is
allow, ask or deny by a rule, free where it runs the line unasked, and none where it would ask the user.""",
         ["ctx why 'pytest -q'", "ctx why 'rm -rf build' --json", "ctx why 'make test' --host claude --mode plan"]),
    Verb("config", "config", "print the settings that hold here", config_verb, [_JSON], "", ["ctx config"]),
    Verb("init", "init", "write a ctx.toml with every default", init_verb, [], "", ["ctx init"]),
    Verb("version", "version", "print the version", version_verb, [_JSON], "", ["ctx version"]),
    Verb("help", "help [VERB]", "print this, or what a verb does", help_verb, [], "", ["ctx help run"]),
]  # fmt: skip
_SPELLINGS = {"-h": "help", "--help": "help", "-V": "version", "--version": "version"}


def find_verb(name: str) -> Verb:
    """The verb of that name. Raises CtxError with the nearest one."""
    for verb in VERBS:
        if verb.name == name:
            return verb
    if name.startswith("-"):
        raise CtxError("unknown option %s" % quoted(name), "options stand behind the verb, as in ctx runs --json")
    raise CtxError("unknown verb %s" % quoted(name), did_you_mean(name, [verb.name for verb in VERBS]) or "ctx help lists them")


def main(argv: Sequence[str]) -> int:
    """Run one verb; its exit status. Errors that a user can mend are one line on stderr."""
    hold_standard_descriptors()
    if argv[:1] == ["hook"] and argv[1:2] not in (["-h"], ["--help"]):
        hook_main(argv[1:], lambda: gate_answer)  # whatever else is on the line: wrong usage, status 2, would block the host's tools
    verb = VERBS[-1]
    try:
        name = argv[0] if argv else "help"
        verb = find_verb(_SPELLINGS.get(name, name))
        options, words = parse_options(verb, argv[1:])
        if "--help" in options:
            return help_verb({}, [verb.name])
        return verb.act(options, words)
    except CtxError as error:
        what, status = redact_text(str(error)), error.exit_code
    except BrokenPipeError:
        return 141  # as the SIGPIPE would have it that the interpreter ignores
    except KeyboardInterrupt:
        return 130
    except OSError as error:  # files that the user named have errors of their own
        what, status = "the store: " + store_problem(error), EXIT_USAGE
    except Exception as error:
        if getenv("CTX_DEBUG") == "1":
            raise
        what, status = "internal error: %s: %s (CTX_DEBUG=1 shows where)" % (type(error).__name__, error), EXIT_INTERNAL
    remark(verb.name, what)
    return status


if __name__ == "__main__":
    insist_on_utf8()
    posix._exit(main(sys.argv[1:]))
