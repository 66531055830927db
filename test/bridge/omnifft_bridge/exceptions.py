"""Tests that do not run as they are."""

import os
import re


def _listed():
    """exceptions.txt: a reason on a line that begins with #, and the tests that it is the reason of, one on each line."""
    reason, found = "", {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exceptions.txt")) as file:
        for line in file.read().splitlines():
            if line.startswith("# "):
                reason = line[2:]
            elif line:
                found[line] = reason
    return found


def _of_older_dst():
    """SciPy 1.10 scales the first number in sine transforms of types 2 and 3, which is right for cosines only."""
    try:
        from scipy.fft import dst
    except ImportError:
        return {}
    with_scale, without = (dst([1.0, 2.0], type=2, orthogonalize=is_scaled) for is_scaled in (True, False))
    if with_scale[0] == without[0]:
        return {}
    names = (f"test_orthogonalize_dcst{kind}[dst-{norm}]" for kind in (2, 3) for norm in ("backward", "ortho", "forward"))
    reason = "omnifft scales the last number of a sine transform, as SciPy has done since"
    return {f"scipy.fft.tests.test_real_transforms::{name}": reason for name in names}


# Tests that cannot pass over omnifft, and why. One that passes all the same is a failure. Versions of NumPy and SciPy have
# different tests: not every one of them is in each.
EXCEPTIONS = {**_listed(), **_of_older_dst()}

# Cases of longdouble, which WebAssembly, and so omnifft, does not have.
LONGDOUBLE = re.compile(r"[\[-](float128|complex256|c?longdouble)[\]-]")

# Tests of what is not replaced: SciPy's fast lengths are not ours, and its reading of arguments is its own.
NOT_REPLACED = (
    "scipy.fft.tests.test_helper::test_next_fast_len",
    "scipy.fft.tests.test_helper::TestNextFastLen::",
    "scipy.fft.tests.test_helper::TestPrevFastLen::",
    "scipy.fft.tests.test_helper::Test_init_nd_shape_and_axes::",
)

# Tests that compare two results, both right up to rounding, by less than that: whether they pass depends on the plan.
ROUNDING = (
    # Of processes that know nothing of the bridge: zeros here are 1e-17 there.
    "scipy.fft.tests.test_basic::test_multiprocess[irfft]",
    "scipy.fft.tests.test_numpy::test_multiprocess[irfft]",
    # 1.2e-4 beside numbers of 4096 in single precision, where 1e-4 is allowed.
    "scipy.fft._pocketfft.tests.test_basic::TestSingleIFFT::test_djbfft",
    # 0.09 beside numbers of 848640 in single precision, where 0.085 is allowed.
    "scipy.fft._pocketfft.tests.test_real_transforms::test_definition[13-3-float32]",
    # Equal to the last bit, or relative to numbers that are 0.
    "scipy.signal.tests.test_signaltools::TestCorrelateComplex::test_swap_full[complex128]",
    "scipy.signal.tests.test_signaltools::TestCorrelateComplex::test_swap_full[complex64]",
    "scipy.signal.tests.test_signaltools::TestCorrelateComplex::test_swap_same[complex128]",
    "scipy.signal.tests.test_signaltools::TestCorrelateComplex::test_swap_same[complex64]",
    "scipy.signal.tests.test_spectral::TestPeriodogram::test_window_external",
    "scipy.signal.tests.test_spectral::TestSTFT::test_roundtrip_scaling",
)

# Tests that run with --omnifft-all only: these plan some 2000 transforms, which takes a minute. Every length is tried by the
# library's own tests (test/accuracy/lengths.test.ts).
LONG = (
    "numpy.fft.tests.test_pocketfft::TestFFT1D::test_identity",
    "scipy.fft.tests.test_basic::TestFFT::test_identity_extensive",
    "scipy.fft.tests.test_basic::TestFFT::test_identity",
    "scipy.fft.tests.test_numpy::TestFFT1D::test_identity",
    # SciPy says itself that it is slow: lengths of some 100 000. src/signal/chirp-z/czt.test.ts compares long and short ones with sums.
    "scipy.signal.tests.test_czt::test_czt_vs_fft",
    # An image of 2 GiB.
    "scipy.signal.tests.test_signaltools::TestConvolve2d::test_large_array",
    # Threads take turns in the client, so these are transforms of 800 lines again and again.
    *(
        f"{module}::TestFFTThreadSafe::test_{name}"
        for module in ("numpy.fft.tests.test_pocketfft", "scipy.fft.tests.test_numpy", "scipy.fft.tests.test_basic")
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    ),
)
