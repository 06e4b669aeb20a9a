"""Ctrl-C for a process whose children must not get it: `shielded`.

A terminal sends SIGINT to the whole group. Children inherit the signal mask of the thread that
starts them, so the main thread blocks SIGINT; a thread of its own takes it and says so.
"""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shielded(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` on the first SIGINT, in another thread, and raise `KeyboardInterrupt` after.

    To be entered in the main thread. Where a system has no signal masks nothing is changed.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    interrupted = threading.Event()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)

    def listen() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while number := theirs.recv(1):
            if number[0] == signal.SIGINT and not interrupted.is_set():
                interrupted.set()
                stop()

    former = signal.signal(signal.SIGINT, lambda *_: None)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        ours.close()
        listener.join()
        theirs.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, former)
    if interrupted.is_set():
        raise KeyboardInterrupt
