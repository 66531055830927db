"""The suites that run over omnifft.

To run another package's tests: write its functions as in fft.py, and a suite here that puts them in place of the package's own.
"""

import importlib
import importlib.util
from dataclasses import dataclass, field

from . import fft, signal


@dataclass(frozen=True)
class Suite:
    """Modules of tests, and what they find in place of the functions that they test."""

    #: Modules with tests. Those that this version of the package does not have are left out.
    modules: tuple
    #: By module, the functions to put in its place, by name. A module may have fewer of them.
    replaced: dict = field(default_factory=dict)
    #: What scipy.fft is to compute with, if anything.
    backend: object = None
    #: The tests that run, by how their names begin: those of functions that are replaced. None: all.
    tests: tuple = None
    #: Cases of one test that run at most, without --omnifft-all.
    most_cases: int = 12

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


# By module, tests of functions that are replaced.
SIGNAL_TESTS = {
    "test_signaltools": (
        "TestConvolve2d",
        "TestFFTConvolve",
        "TestOAConvolve",
        "TestAllFreqConvolves",
        "TestMedFilt",
        "TestResample",
        "TestLinearFilterFloat32",
        "TestLinearFilterFloat64",
        "TestLinearFilterComplex64",
        "TestLinearFilterComplex128",
        "TestCorrelateReal",
        "TestCorrelateComplex",
        "TestCorrelate2d",
        "TestLFilterZI",
        "TestFiltFilt",
        "TestSOSFiltFilt",
        "TestDecimate",
        "TestHilbert::",
        "TestSOSFilt::",
        "TestDetrend",
    ),
    "test_filter_design": (
        "TestTf2zpk",
        "TestZpk2Tf",
        "TestSos2Zpk",
        "TestSos2Tf",
        "TestTf2Sos",
        "TestZpk2Sos",
        "TestFreqz::",
        "TestSOSFreqz",
        "TestBessel",
        "TestButter::",
        "TestCheby1",
        "TestCheby2",
        "TestEllip::",
    ),
    "test_fir_filter_design": ("TestFirwin::", "TestFirWinMore"),
    "test_peak_finding": ("TestPeakProminences", "TestPeakWidths", "TestFindPeaks::"),
    "test_savitzky_golay": ("test_sg_coeffs", "test_sg_filter"),
    "test_spectral": ("TestPeriodogram", "TestWelch", "TestCSD", "TestCoherence", "TestLombscargle", "TestSTFT"),
    "test_upfirdn": ("TestUpfirdn",),
    "test_czt": ("test_1D", "test_large_prime_lengths", "test_czt_", "test_int_args"),
    "test_windows": (
        "TestBartHann",
        "TestBartlett",
        "TestBlackman",
        "TestBohman",
        "TestBoxcar",
        "TestChebWin",
        "test_exponential",
        "TestFlatTop",
        "TestGaussian",
        "TestGeneralCosine",
        "TestGeneralHamming",
        "TestHamming",
        "TestHann",
        "TestKaiser::",
        "TestNuttall",
        "TestParzen",
        "TestTriang",
        "TestTukey",
    ),
}

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
    "scipy.signal": Suite(
        modules=tuple(f"scipy.signal.tests.{name}" for name in SIGNAL_TESTS),
        replaced={"scipy.signal": signal.SCIPY, "scipy.signal.windows": signal.WINDOWS},
        tests=tuple(f"scipy.signal.tests.{name}::{test}" for name, tests in SIGNAL_TESTS.items() for test in tests),
        most_cases=3,
    ),
}
