"""Fixtures of the end-to-end tests: a real agent in a fresh home and a fresh repository, with and without ctx in it."""

from __future__ import annotations

import clients
import pytest
from drive import HOSTS
from installed import Installed

ORDINARY = ("claude", "codex", "antigravity")  # the others run with --tier all


def hosts(*names):
    """Parameters of a test that runs with each of these hosts, all by default."""
    mark = {name: pytest.mark.once if name in ORDINARY else pytest.mark.slow for name in HOSTS}
    return [pytest.param(name, marks=mark[name]) for name in names or HOSTS]


def pytest_generate_tests(metafunc):
    """`@pytest.mark.hosts("claude", …)` says which hosts a test is for."""
    if "agent" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("hosts")
        metafunc.parametrize("agent", hosts(*(mark.args if mark else ())), indirect=True)


@pytest.fixture
def agent(request, tmp_path):
    """A host: an agent that has not run yet, with ctx to be installed (an Installed)."""
    reason = clients.why_not(request.param)
    if reason:
        pytest.skip(reason)
    return Installed(HOSTS[request.param](tmp_path / "agent"))
