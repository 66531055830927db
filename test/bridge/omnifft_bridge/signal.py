"""scipy.signal, computed by omnifft/signal.

Each function has the signature of its namesake. Only what the caller gives is handed on: all defaults are omnifft's, but where
SciPy's own are of another axis (resample) or another form of a window.
"""

import functools
import inspect
import re

import numpy

from .client import as_array, client

FACE = "signal"


def _camel(name):
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


def _value(value):
    return value.tolist() if isinstance(value, numpy.ndarray) and value.ndim == 0 else value


#: Windows that have parameters, with their names in SciPy's order.
PARAMETERS = {
    "kaiser": ("beta",),
    "tukey": ("alpha",),
    "gaussian": ("std",),
    "general_gaussian": ("p", "sig"),
    "general_cosine": ("a",),
    "general_hamming": ("alpha",),
    "exponential": ("center", "tau"),
    "chebwin": ("at",),
}


def _window(options):
    """A window as SciPy takes it: a name, a tuple of it and its parameters, Kaiser's beta, or values."""
    window = options.get("window")
    if isinstance(window, tuple):
        name, *given = window
        options["window"] = _camel(name)
        named = dict(zip(PARAMETERS[name], given))
        options["windowOptions"] = {key: value for key, value in named.items() if value is not None}
    elif isinstance(window, float):
        options["window"], options["windowOptions"] = "kaiser", {"beta": window}
    elif isinstance(window, str):
        options["window"] = _camel(window)
    elif window is not None:
        options["window"] = {"$bare": as_array(window)}
    return options


#: Options of which None is a value of its own.
NULLS = ("boundary", "padtype")


def _listed(*names):
    def before(given):
        for key in names:
            if key in given and given[key] is not None and not numpy.isscalar(given[key]):
                given[key] = numpy.asarray(given[key]).tolist()

    return before


def _copy(result):
    """Arrays that may be written to."""
    if isinstance(result, numpy.ndarray):
        return result.copy()
    return result


def _function(likeness, arrays, results=None, ignored=(), name=None, before=None):
    """A function of omnifft in the form of one of SciPy's.

    `arrays` are the arguments given by place, the others are options; `results` the fields of what is returned, in SciPy's order.
    """
    signature = inspect.signature(likeness)
    own = _camel(name or likeness.__name__)

    @functools.wraps(likeness)
    def function(*args, **kwargs):
        given = dict(signature.bind(*args, **kwargs).arguments)
        if before is not None:
            before(given)
        given = {key: value.item() if isinstance(value, numpy.generic) else value for key, value in given.items()}
        placed = [_value(given.pop(key)) for key in arrays if key in given]
        options = {_camel(key): _value(value) for key, value in given.items() if (value is not None or key in NULLS) and key not in ignored}
        found = client.call(FACE, own, *placed, _window(options))
        if results is None:
            return _copy(found)
        if not isinstance(found, dict):
            return _copy(found)
        return tuple(_copy(found[key]) for key in results)

    return function


def _arrays(*names):
    """Arguments that become arrays: what is a single number stays one."""

    def before(given):
        for key in names:
            if key in given and given[key] is not None and not numpy.isscalar(given[key]):
                given[key] = as_array(given[key])

    return before


def _refusing(**wanted):
    """Options that only have SciPy's default."""

    def check(given):
        for key, value in wanted.items():
            if key in given and given[key] is not value and given.pop(key) != value:
                raise NotImplementedError(f"omnifft has no {key}")
            given.pop(key, None)

    return check


def _all(*steps):
    def before(given):
        for step in steps:
            step(given)

    return before


def _default(**values):
    def before(given):
        for key, value in values.items():
            given.setdefault(key, value)

    return before


# fmt: off
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0): ...
def resample(x, num, t=None, axis=0, window=None, domain="time"): ...
def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None): ...
def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True): ...
def lfilter(b, a, x, axis=-1, zi=None): ...
def lfilter_zi(b, a): ...
def sosfilt(sos, x, axis=-1, zi=None): ...
def sosfilt_zi(sos): ...
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None): ...
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None): ...
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0): ...
def savgol_coeffs(window_length, polyorder, deriv=0, delta=1.0, pos=None, use="conv"): ...
def medfilt(volume, kernel_size=None): ...
def medfilt2d(input, kernel_size=3): ...
def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=False): ...
def peak_prominences(x, peaks, wlen=None): ...
def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None): ...
def periodogram(x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1): ...
def lombscargle(x, y, freqs, precenter=False, normalize=False): ...
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0): ...
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0): ...
def fftconvolve(in1, in2, mode="full", axes=None): ...
def oaconvolve(in1, in2, mode="full", axes=None): ...
def firwin(numtaps, cutoff, width=None, window="hamming", pass_zero=True, scale=True, nyq=None, fs=None): ...
def kaiser_beta(a): ...
def kaiser_atten(numtaps, width): ...
def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * numpy.pi, include_nyquist=False): ...
def sosfreqz(sos, worN=512, whole=False, fs=2 * numpy.pi): ...
def butter(N, Wn, btype="low", analog=False, output="ba", fs=None): ...
def cheby1(N, rp, Wn, btype="low", analog=False, output="ba", fs=None): ...
def cheby2(N, rs, Wn, btype="low", analog=False, output="ba", fs=None): ...
def ellip(N, rp, rs, Wn, btype="low", analog=False, output="ba", fs=None): ...
def bessel(N, Wn, btype="low", analog=False, output="ba", norm="phase", fs=None): ...
def zpk2sos(z, p, k, pairing=None, *, analog=False): ...
def zpk2tf(z, p, k): ...
def tf2zpk(b, a): ...
def tf2sos(b, a, pairing=None, *, analog=False): ...
def sos2tf(sos): ...
def sos2zpk(sos): ...
def hilbert(x, N=None, axis=-1): ...
def correlate(in1, in2, mode="full", method="auto"): ...
def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1, average="mean"): ...
def csd(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1, average="mean"): ...
def coherence(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", axis=-1): ...
def stft(x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True, boundary="zeros", padded=True, axis=-1, scaling="spectrum"): ...
def istft(Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True, time_axis=-1, freq_axis=-2, scaling="spectrum"): ...
def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1): ...
def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1): ...
def czt_points(m, w=None, a=1 + 0j): ...
# fmt: on


def _design(given):
    if given.get("btype") in ("low", "lowpass", "l", "lp") and not numpy.isscalar(given["Wn"]):
        given["Wn"] = numpy.squeeze(given["Wn"]).tolist()
    elif not numpy.isscalar(given["Wn"]):
        given["Wn"] = [float(edge) for edge in numpy.atleast_1d(given["Wn"])]
    given.setdefault("btype", "low")


def _designer(likeness, arrays):
    """Results of one form or another."""
    forms = {"ba": ("b", "a"), "zpk": ("z", "p", "k")}
    by_form = {form: _function(likeness, arrays, fields, before=_design) for form, fields in forms.items()}
    sections = _function(likeness, arrays, before=_design)
    signature = inspect.signature(likeness)

    @functools.wraps(likeness)
    def function(*args, **kwargs):
        output = signature.bind(*args, **kwargs).arguments.get("output", "ba")
        return by_form.get(output, sections)(*args, **kwargs)

    return function


def find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None, rel_height=0.5, plateau_size=None):
    def bound(value):
        return {"$bare": as_array(value)} if isinstance(value, numpy.ndarray) and value.ndim else _value(value)

    def interval(value):
        return [bound(part) for part in value] if isinstance(value, (tuple, list)) else bound(value)

    conditions = {"height": height, "threshold": threshold, "prominence": prominence, "width": width, "plateauSize": plateau_size}
    options = {key: interval(value) for key, value in conditions.items() if value is not None}
    options.update({key: value for key, value in {"distance": distance, "wlen": wlen}.items() if value is not None})
    found = client.call(FACE, "findPeaks", as_array(x), {**options, "relHeight": rel_height})
    indices = ("leftBases", "rightBases", "leftEdges", "rightEdges", "plateauSizes")
    properties = {
        re.sub("[A-Z]", lambda match: "_" + match.group(0).lower(), key): value.astype(numpy.intp) if key in indices else value.copy()
        for key, value in found["properties"].items()
    }
    return found["peaks"].astype(numpy.intp), properties


def _whole(function, *places):
    """Results that are indices."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return tuple(part.astype(numpy.intp) if k in places else part for k, part in enumerate(function(*args, **kwargs)))

    return wrapped


def _without_axes(given):
    if isinstance(given.get("axes"), (tuple, list, numpy.ndarray)):
        given["axes"] = [int(axis) for axis in given["axes"]]


def _roots(given):
    for key in ("z", "p"):
        given[key] = as_array(numpy.atleast_1d(given[key]))


def _renamed(**names):
    def before(given):
        for old, new in names.items():
            if old in given:
                given[new] = given.pop(old)

    return before


@functools.wraps(istft)
def _istft(*args, **kwargs):
    given = inspect.signature(istft).bind(*args, **kwargs).arguments
    zxx = as_array(given.pop("Zxx"))
    found = client.call(FACE, "istft", zxx, _window({_camel(key): value for key, value in given.items() if value is not None}))
    # Python's f, t, x: times are those of the samples.
    samples = found["x"].copy()
    axis = 0 if given.get("freq_axis", -2) % zxx.ndim > given.get("time_axis", -1) % zxx.ndim == 0 else -1
    return numpy.arange(samples.shape[axis]) / float(given.get("fs", 1)), samples


_x = _arrays("x")
_filters = _arrays("b", "a", "x", "zi")

FUNCTIONS = [
    _function(upfirdn, ("h", "x"), before=_arrays("h", "x")),
    _function(resample, ("x", "num"), before=_all(_x, _default(axis=0), _refusing(t=None, domain="time"))),
    _function(resample_poly, ("x", "up", "down"), before=_all(_x, _default(axis=0))),
    _function(decimate, ("x", "q"), before=_x),
    _function(lfilter, ("b", "a", "x"), ("y", "zf"), before=_filters),
    _function(lfilter_zi, ("b", "a"), before=_filters),
    _function(sosfilt, ("sos", "x"), ("y", "zf"), before=_arrays("sos", "x", "zi")),
    _function(sosfilt_zi, ("sos",), before=_arrays("sos")),
    _function(filtfilt, ("b", "a", "x"), before=_all(_filters, _refusing(method="pad", irlen=None))),
    _function(sosfiltfilt, ("sos", "x"), before=_arrays("sos", "x")),
    _function(savgol_filter, ("x", "window_length", "polyorder"), before=_x),
    _function(savgol_coeffs, ("window_length", "polyorder")),
    _function(medfilt, ("volume", "kernel_size"), before=_all(_default(kernel_size=3), _arrays("volume"), _listed("kernel_size"))),
    _function(medfilt2d, ("input", "kernel_size"), before=_all(_arrays("input"), _listed("kernel_size"))),
    _function(detrend, ("data",), ignored=("overwrite_data",), before=_arrays("data", "bp")),
    find_peaks,
    _whole(_function(peak_prominences, ("x", "peaks"), ("prominences", "leftBases", "rightBases"), before=_all(_x, _listed("peaks"))), 1, 2),
    _function(peak_widths, ("x", "peaks"), ("widths", "widthHeights", "leftIps", "rightIps"), before=_all(_x, _listed("peaks"), _refusing(prominence_data=None))),
    _function(periodogram, ("x",), ("f", "pxx"), before=_x),
    _function(lombscargle, ("x", "y", "freqs"), before=_arrays("x", "y", "freqs")),
    _function(convolve2d, ("in1", "in2"), before=_arrays("in1", "in2")),
    _function(correlate2d, ("in1", "in2"), before=_arrays("in1", "in2")),
    _function(fftconvolve, ("in1", "in2"), before=_all(_arrays("in1", "in2"), _without_axes)),
    _function(oaconvolve, ("in1", "in2"), before=_all(_arrays("in1", "in2"), _without_axes)),
    _function(firwin, ("numtaps", "cutoff"), before=_arrays("cutoff")),
    _function(kaiser_beta, ("a",)),
    _function(kaiser_atten, ("numtaps", "width")),
    _function(freqz, ("b", "a"), ("w", "h"), before=_all(_default(a=1), _arrays("b", "a", "worN"), _refusing(plot=None))),
    _function(sosfreqz, ("sos",), ("w", "h"), before=_arrays("sos", "worN")),
    _designer(butter, ("N", "Wn")),
    _designer(cheby1, ("N", "rp", "Wn")),
    _designer(cheby2, ("N", "rs", "Wn")),
    _designer(ellip, ("N", "rp", "rs", "Wn")),
    _designer(bessel, ("N", "Wn")),
    _function(zpk2sos, ("z", "p", "k"), before=_all(_roots, _refusing(analog=False))),
    _function(zpk2tf, ("z", "p", "k"), ("b", "a"), before=_roots),
    _function(tf2zpk, ("b", "a"), ("z", "p", "k"), before=_arrays("b", "a")),
    _function(tf2sos, ("b", "a"), before=_all(_arrays("b", "a"), _refusing(analog=False, pairing=None))),
    _function(sos2tf, ("sos",), ("b", "a"), before=_arrays("sos")),
    _function(sos2zpk, ("sos",), ("z", "p", "k"), before=_arrays("sos")),
    _function(hilbert, ("x",), before=_all(_x, _renamed(N="n"))),
    _function(correlate, ("in1", "in2"), ignored=("method",), before=_arrays("in1", "in2")),
    _function(welch, ("x",), ("f", "pxx"), before=_x),
    _function(csd, ("x", "y"), ("f", "pxy"), before=_arrays("x", "y")),
    _function(coherence, ("x", "y"), ("f", "cxy"), before=_arrays("x", "y")),
    _function(stft, ("x",), ("f", "t", "zxx"), before=_x),
    _istft,
    _function(zoom_fft, ("x", "fn"), before=_x),
    _function(czt, ("x",), before=_x),
    _function(czt_points, ("m",)),
]
SCIPY = {function.__name__: function for function in FUNCTIONS}


def _windowed(name, parameters):
    """A window of `scipy.signal.windows`, which is symmetric where nothing else is said."""
    kinds = [inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD) for key in ("M", *parameters)]
    kinds.append(inspect.Parameter("sym", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=True))
    kinds = [kind.replace(default=None) if kind.name in ("alpha", "center", "tau") and name != "general_hamming" else kind for kind in kinds]

    def function(*args, **kwargs):
        given = dict(inspect.Signature(kinds).bind(*args, **kwargs).arguments)
        size = given.pop("M")
        options = {key: _value(value) for key, value in given.items() if value is not None}
        if size == 0:
            return numpy.array([])
        return client.call(FACE, "windowFunction", _camel(name), size, {"sym": True, **options}).copy()

    function.__name__ = function.__qualname__ = name
    return function


PLAIN = ("boxcar", "hann", "hamming", "blackman", "blackmanharris", "nuttall", "flattop", "triang", "bartlett", "cosine", "parzen", "bohman", "barthann")
WINDOWS = {name: _windowed(name, PARAMETERS.get(name, ())) for name in (*PLAIN, *PARAMETERS)}
