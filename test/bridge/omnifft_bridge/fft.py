"""scipy.fft and numpy.fft, computed by omnifft/numpy/sync.

Each function has the signature of its namesake. Only what the caller gives is handed on: all defaults are omnifft's.
"""

import functools
import inspect

import numpy

from .client import as_array, client

FACE = "numpy/sync"

LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TENSORS = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
HERMITIAN = ("hfft2", "ihfft2", "hfftn", "ihfftn")
SUMS = ("dct", "idct", "dst", "idst")
TENSOR_SUMS = ("dctn", "idctn", "dstn", "idstn")


def _line(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None): ...
def _tensor(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None): ...
def _sum(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None): ...
def _tensor_sum(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None): ...
def _numpy_line(a, n=None, axis=-1, norm=None, out=None): ...
def _numpy_tensor(a, s=None, axes=None, norm=None, out=None): ...


# SciPy's own memory and threads, which say nothing about the result.
IGNORED = ("overwrite_x", "workers")


def _transform(name, likeness):
    signature = inspect.signature(likeness)

    def function(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        x = as_array(given.pop(next(iter(signature.parameters))))
        if given.pop("plan", None) is not None:
            raise NotImplementedError("plans are none of SciPy's")
        out = given.pop("out", None)
        options = {key: _listed(value) for key, value in given.items() if key not in IGNORED}
        result = client.call(FACE, name, x, options)
        return result if out is None else _into(out, result)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    return function


def _listed(value):
    return value.tolist() if isinstance(value, numpy.ndarray) else value


def _into(out, result):
    """NumPy's `out`, which JavaScript's functions do not have."""
    if not isinstance(out, numpy.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    if out.shape != result.shape:
        raise ValueError(f"output array has wrong shape {out.shape}; it takes {result.shape}")
    numpy.copyto(out, result, casting="same_kind")
    return out


def fht(a, dln, mu, offset=0.0, bias=0.0):
    return _hankel("fht", a, dln, mu, offset, bias)


def ifht(A, dln, mu, offset=0.0, bias=0.0):
    return _hankel("ifht", A, dln, mu, offset, bias)


def _hankel(name, a, dln, mu, offset, bias):
    return client.call(FACE, name, as_array(a), dln, mu, {"offset": offset, "bias": bias})


def fhtoffset(dln, mu, initial=0.0, bias=0.0):
    return client.call(FACE, "fhtoffset", dln, mu, {"initial": initial, "bias": bias})


def fftfreq(n, d=1.0, **where):
    return client.call(FACE, "fftfreq", n, d)


def rfftfreq(n, d=1.0, **where):
    return client.call(FACE, "rfftfreq", n, d)


def fftshift(x, axes=None):
    return client.call(FACE, "fftshift", as_array(x), {"axes": _listed(axes)})


def ifftshift(x, axes=None):
    return client.call(FACE, "ifftshift", as_array(x), {"axes": _listed(axes)})


def _functions(kinds):
    return {name: _transform(name, likeness) for names, likeness in kinds for name in names}


HELPERS = {function.__name__: function for function in (fftfreq, rfftfreq, fftshift, ifftshift)}
HANKEL = {function.__name__: function for function in (fht, ifht)}

SCIPY = {
    **_functions([(LINES, _line), (TENSORS + HERMITIAN, _tensor), (SUMS, _sum), (TENSOR_SUMS, _tensor_sum)]),
    **HANKEL,
}
NUMPY = {**_functions([(LINES, _numpy_line), (TENSORS, _numpy_tensor)]), **HELPERS}
# What scipy.fft has beside the functions that its backends may replace.
SCIPY_HELPERS = {**HELPERS, "fhtoffset": fhtoffset}


class Backend:
    """For `scipy.fft.set_backend`."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method, args, kwargs):
        function = SCIPY.get(method.__name__)
        return NotImplemented if function is None else function(*args, **kwargs)
