"""Threads of this process that a peer leaves busy."""

import time

STEP = 0.02


def wait_until_asleep():
    """Waits until the threads of this process sleep.

    OpenBLAS's spin after a call, on cores that what is measured next needs: after a matrix-vector product for 115 ms
    where this was seen, and no time is the right one on every machine. So the processor time is what is watched.
    """
    while True:
        begin = time.process_time()
        time.sleep(STEP)
        if time.process_time() - begin < STEP / 20:
            return
