"""Tests that do not run as they are."""

# Tests that cannot pass over omnifft, one by one, and why. One that passes all the same is a failure.
EXCEPTIONS = {}

# Tests that plan some 2000 transforms, which takes a minute: they run with --omnifft-all only. Every length is tried by
# the library's own tests (test/accuracy/lengths.test.ts).
LONG = (
    "numpy.fft.tests.test_pocketfft::TestFFT1D::test_identity",
    "scipy.fft.tests.test_basic::TestFFT::test_identity_extensive",
    "scipy.fft.tests.test_numpy::TestFFT1D::test_identity",
)
