"""Runs the test suites that NumPy and SciPy ship over omnifft.

client.py     calls functions of omnifft in one child process of Node, which is ../serve.mjs
fft.py        functions with the signatures of scipy.fft and numpy.fft that call omnifft
signal.py     functions with the signatures of scipy.signal that call omnifft
suites.py     which tests run, and which functions are replaced for them
exceptions.py tests that cannot pass, each with the reason (exceptions.txt), and those that are left out
plugin.py     pytest's part: replaces, counts calls, marks exceptions, reports

    PYTHONPATH=test/bridge python3 -m omnifft_bridge scipy.fft [arguments of pytest]

runs a suite by hand (after `npm start` or `npm test` has built the package).
"""
