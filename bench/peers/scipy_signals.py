"""The child process behind tables/signals.ts: times functions of scipy.signal, one request of JSON on a line.

A request is {"name", "samples", "single", "calls"}; the answer is the time of a call in microseconds.
"""

import json
import sys
import time

import numpy
from scipy import signal


def timed(name, samples, single):
    """The call of a function on noise, as `cases` in tables/signals.ts has it."""
    x = numpy.random.default_rng(1).uniform(-1, 1, samples).astype(numpy.float32 if single else numpy.float64)
    taps = x[:1000].copy()
    b, a = signal.butter(4, 0.2)
    sos = signal.butter(6, 0.2, output="sos")
    return {
        "stft": lambda: signal.stft(x, nperseg=512, noverlap=384),
        "welch": lambda: signal.welch(x, nperseg=512),
        "resample": lambda: signal.resample(x, samples * 3 // 4),
        "fftconvolve": lambda: signal.fftconvolve(x, taps),
        "lfilter": lambda: signal.lfilter(b, a, x),
        "sosfilt": lambda: signal.sosfilt(sos, x),
        "filtfilt": lambda: signal.filtfilt(b, a, x),
    }[name]


for line in sys.stdin:
    request = json.loads(line)
    call = timed(request["name"], request["samples"], request["single"])
    call()
    start = time.perf_counter()
    for _ in range(request["calls"]):
        call()
    print((time.perf_counter() - start) * 1e6 / request["calls"], flush=True)
