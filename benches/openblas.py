"""OpenBLAS as a peer: its kernels for this CPU, and the threads that it leaves busy."""

import ctypes
import os
import time

STEP = 0.02


def load():
    """The system's library, and the name of the CPU whose kernels it uses.

    Debian's OpenBLAS 0.3.21 takes newer CPUs of Intel's (seen of model 207) for a Pentium 4, and multiplies matrices at a
    third of the rate then: OPENBLAS_CORETYPE=Prescott scripts/bench fused.
    """
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = file.read()
    if "GenuineIntel" in cpu and " avx512f " in cpu:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    library = ctypes.CDLL("libopenblas.so.0")
    library.openblas_get_corename.restype = ctypes.c_char_p
    return library, library.openblas_get_corename().decode()


def wait_until_asleep():
    """Waits until the threads of this process sleep.

    OpenBLAS's spin after a call, on cores that what is measured next needs. For how long differs from call to call and
    from machine to machine, so the processor time is what is watched.
    """
    while True:
        begin = time.process_time()
        time.sleep(STEP)
        if time.process_time() - begin < STEP / 20:
            return
