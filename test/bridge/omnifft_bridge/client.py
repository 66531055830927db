"""Calls functions of omnifft in a child process. The frames are described in ../serve.mjs."""

import json
import math
import os
import struct
import subprocess
import threading
import warnings

import numpy

SERVER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "serve.mjs")
DTYPES = ("float32", "float64", "complex64", "complex128")

AxisError = getattr(numpy, "exceptions", numpy).AxisError


class OmnifftWarning(UserWarning):
    """What omnifft writes to the console."""


def as_array(x):
    """The array as omnifft takes it, in C order: half precision becomes single, integers and booleans double."""
    x = numpy.asarray(x)
    if x.dtype.kind in "iub":
        x = x.astype(numpy.float64)
    elif x.dtype == numpy.float16:
        x = x.astype(numpy.float32)
    x = numpy.asarray(x, dtype=x.dtype.newbyteorder("="), order="C")
    if x.dtype.name not in DTYPES:
        raise TypeError(f"omnifft has no {x.dtype}; it has {', '.join(DTYPES)}")
    return x


class Client:
    """The child process starts with the first call. Threads may call at the same time: they take turns."""

    def __init__(self):
        self.calls = 0
        self.forget()
        # A process that is forked from this one must not talk to the same child: it starts its own.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self):
        self.process = None
        self.lock = threading.Lock()

    def call(self, face, name, *given):
        """What function `name` of `omnifft/face` returns.

        Arguments may be numbers, strings, None, arrays, complex numbers (which become `{re, im}`), and lists and
        dictionaries of these; so may results. Failures are the exceptions that NumPy would raise.
        """
        arrays, pieces = [], []
        text = json.dumps({"face": face, "name": name, "given": _encoded(list(given), arrays, pieces), "arrays": arrays})
        with self.lock:
            self.calls += 1
            answer, data = self._exchange(text.encode(), pieces)
        if "error" in answer:
            raise _exception(**answer["error"])
        for message in answer["warnings"]:
            warnings.warn(message, OmnifftWarning, stacklevel=3)
        return _decoded(answer.get("result"), answer["arrays"], data)

    def _exchange(self, text, pieces):
        if self.process is None:
            node = os.environ.get("NODE", "node")
            self.process = subprocess.Popen([node, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        count = sum(len(piece) for piece in pieces)
        self.process.stdin.write(b"".join([struct.pack("<II", len(text), count), text, *pieces]))
        self.process.stdin.flush()
        length, count = struct.unpack("<II", self._read(8))
        answer = json.loads(bytes(self._read(length)))
        return answer, self._read(count)

    def _read(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            got = self.process.stdout.readinto(view)
            if not got:
                raise RuntimeError(f"Node has ended with {self.process.wait()}")
            view = view[got:]
        return data

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def _exception(name=None, message=None, code=None, path=None):
    """NumPy's exception: axes out of range are ValueErrors and IndexErrors. Some tests look for its words about lengths."""
    if name != "FftError":
        return RuntimeError(f"{name}: {message}")
    if code == "invalid-size":
        return ValueError(f"Invalid number of FFT data points: {message}")
    if code in ("wrong-array-type", "unknown-field"):
        return TypeError(message)
    if code == "out-of-memory":
        return MemoryError(message)
    if code == "invalid-argument" and path is not None and path.startswith("axis"):
        return AxisError(message)
    return ValueError(message)


def _encoded(value, arrays, pieces):
    if isinstance(value, numpy.ndarray):
        value = as_array(value)
        at = sum(len(piece) for piece in pieces)
        pieces.append(value.tobytes())
        arrays.append({"dtype": value.dtype.name, "shape": list(value.shape), "at": at, "bytes": value.nbytes})
        return {"$array": len(arrays) - 1}
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, complex):
        return {"re": _encoded(value.real, arrays, pieces), "im": _encoded(value.imag, arrays, pieces)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, dict):
        return {key: _encoded(part, arrays, pieces) for key, part in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_encoded(part, arrays, pieces) for part in value]
    return value


def _decoded(value, arrays, data):
    if isinstance(value, list):
        return [_decoded(part, arrays, data) for part in value]
    if not isinstance(value, dict):
        return value
    if "$number" in value:
        return float(value["$number"])
    if "$array" in value:
        place = arrays[value["$array"]]
        count = place["bytes"] // numpy.dtype(place["dtype"]).itemsize
        return numpy.frombuffer(data, place["dtype"], count, place["at"]).reshape(place["shape"])
    return {key: _decoded(part, arrays, data) for key, part in value.items()}


client = Client()
