"""The child process behind peers/scipy.ts; the requests are described in peers/native.ts.

Timed call: scipy.fft.fftn(x, axes=..., workers=1), or scipy.fft.fft for one axis, on complex64 or complex128, or
scipy.fft.rfft or scipy.fft.dct on float32 or float64, or scipy.signal.fftconvolve(x, y) on these. It
returns a new array, as SciPy always does out of place.
"""

import sys
import time

import numpy
import scipy.fft
import scipy.signal


def sample(seed, count):
    """As `sample` in data.ts."""
    h = numpy.arange(count, dtype=numpy.uint32) * numpy.uint32(0x9E3779B9) + numpy.uint32(seed)
    h = (h ^ (h >> numpy.uint32(16))) * numpy.uint32(0x85EBCA6B)
    h = (h ^ (h >> numpy.uint32(13))) * numpy.uint32(0xC2B2AE35)
    return (h ^ (h >> numpy.uint32(16))) / 2.0**31 - 1


# As in fused.ts.
KERNEL_SEED = 0x5EED


def planned(precision, *lengths):
    """An array of batches, and its transform."""
    shape = [int(length) for length in lengths]
    axes = tuple(range(1, len(shape)))
    kind, _, reals = precision.partition("-")
    if kind == "convolve":
        dtype = numpy.float32 if reals == "single" else numpy.float64
        half = (len(shape) + 1) // 2
        x = numpy.zeros(shape[1:half], dtype)
        y = sample(KERNEL_SEED, int(numpy.prod(shape[half:]))).reshape(shape[half:]).astype(dtype)
        return x, lambda: scipy.signal.fftconvolve(x, y)
    if reals:
        x = numpy.zeros(shape, numpy.float32 if reals == "single" else numpy.float64)
        if kind == "cosines":
            return x, lambda: scipy.fft.dct(x, workers=1)
        return x, lambda: scipy.fft.rfft(x, workers=1)
    x = numpy.zeros(shape, numpy.complex64 if precision == "single" else numpy.complex128)
    if len(axes) == 1:
        return x, lambda: scipy.fft.fft(x, workers=1)
    return x, lambda: scipy.fft.fftn(x, axes=axes, workers=1)


def main():
    plans = {}
    for line in sys.stdin:
        request, number, *words = line.split()
        if request == "plan":
            plans[number] = planned(*words)
        x, transform = plans[number]
        answer = "ok"
        if request == "close":
            del plans[number], x, transform
        elif request == "load":
            if x.dtype.kind == "f":
                x[...] = sample(int(words[0]), x.size).reshape(x.shape)
                print(answer, flush=True)
                continue
            values = sample(int(words[0]), 2 * x.size)
            x.real = values[0::2].reshape(x.shape)
            x.imag = values[1::2].reshape(x.shape)
        elif request == "bins":
            y = transform().ravel()
            assert y.dtype in (x.dtype, numpy.result_type(x.dtype, numpy.complex64))
            answer = " ".join(f"{y[int(k)].real!s} {y[int(k)].imag!s}" for k in words)
        elif request == "time":
            calls = range(int(words[0]))
            start = time.perf_counter()
            for _ in calls:
                transform()
            answer = str((time.perf_counter() - start) * 1e6 / len(calls))
        print(answer, flush=True)


main()
