"""A shop; total is named in this text, too."""
import os.path as osp
from .store import Shelf, load as load_shelf
from typing import *

LIMIT: int = 10
low, high = 1, 9


class Cart(Shelf):
    size = 3  # total of nothing

    def total(self, rate=1):
        part = rate * self.size
        return f"{total(part)} total"

    @property
    async def later(self):
        def inner():
            return 1
        return inner()


def total(value):
    return load_shelf(value) + LIMIT


if osp.exists("total"):
    total = max
