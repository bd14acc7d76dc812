"""Stores that fail, and stores without pauses."""

from __future__ import annotations

import threading

from index_store.storage.storage import Storage


def quick(store, path, **options):
    """A storage that does not sleep."""
    storage = Storage.at(path, store.filesystem, {name: str(value) for name, value in options.items()})
    storage._location.patience.sleep = lambda _: None
    return storage


class Failing:
    """Raises the errors in turn, then nothing more."""

    def __init__(self, *errors, what=("open", "read", "list", "info")):
        self.errors, self.what, self.lock = list(errors), what, threading.Lock()

    def __call__(self, call):
        with self.lock:
            if self.errors and call.what in self.what:
                raise self.errors.pop(0)
