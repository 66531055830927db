"""The suites that run over omnifft.

To run another package's tests (scipy.signal's over omnifft/signal, say): write its functions as in fft.py, and a suite here
that puts them in place of the package's own.
"""

import importlib
import importlib.util
from dataclasses import dataclass, field

from . import fft


@dataclass(frozen=True)
class Suite:
    """Modules of tests, and what they find in place of the functions that they test."""

    #: Modules with tests. Those that this version of the package does not have are left out.
    modules: tuple
    #: By module, the functions to put in its place, by name. A module may have fewer of them.
    replaced: dict = field(default_factory=dict)
    #: What scipy.fft is to compute with, if anything.
    backend: object = None

    def found(self):
        return [name for name in self.modules if importlib.util.find_spec(name) is not None]

    def replacements(self):
        """(module, name, function) for all that is there to be replaced."""
        for name, functions in self.replaced.items():
            if importlib.util.find_spec(name) is None:
                continue
            module = importlib.import_module(name)
            for function in functions.values():
                if hasattr(module, function.__name__):
                    yield module, function.__name__, function


SUITES = {
    "scipy.fft": Suite(
        modules=(
            "scipy.fft.tests.test_basic",
            "scipy.fft.tests.test_numpy",
            "scipy.fft.tests.test_real_transforms",
            "scipy.fft.tests.test_fftlog",
            "scipy.fft.tests.test_helper",
            "scipy.fft._pocketfft.tests.test_basic",
            "scipy.fft._pocketfft.tests.test_real_transforms",
        ),
        replaced={
            "scipy.fft": fft.SCIPY_HELPERS,
            "scipy.fft._fftlog": {"fhtoffset": fft.fhtoffset},
            "scipy.fft._pocketfft": fft.SCIPY,
            "scipy.fft._pocketfft.realtransforms": fft.SCIPY,
        },
        backend=fft.Backend,
    ),
    "numpy.fft": Suite(
        modules=("numpy.fft.tests.test_pocketfft", "numpy.fft.tests.test_helper"),
        replaced={"numpy.fft": fft.NUMPY},
    ),
}
