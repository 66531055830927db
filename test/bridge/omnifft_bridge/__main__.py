"""python3 -m omnifft_bridge SUITE [arguments of pytest]"""

import sys

import pytest

from .suites import SUITES

if len(sys.argv) < 2 or sys.argv[1] not in SUITES:
    sys.exit(f"Name a suite: {', '.join(SUITES)}.")
name, *arguments = sys.argv[1:]
settings = ["-p", "omnifft_bridge.plugin", "-p", "no:cacheprovider", "--omnifft", name]
sys.exit(pytest.main([*settings, *arguments, "--pyargs", *SUITES[name].found()]))
