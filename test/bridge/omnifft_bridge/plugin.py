"""pytest's part of the bridge."""

import contextlib
import json
import os
import zlib

import numpy
import pytest

from .client import client
from .exceptions import EXCEPTIONS, LONG, LONGDOUBLE, NOT_REPLACED, ROUNDING
from .suites import SUITES


def pytest_addoption(parser):
    parser.addoption("--omnifft", choices=sorted(SUITES), help="the suite to run over omnifft")
    parser.addoption("--omnifft-all", action="store_true", help="also run the tests that take long, and all tests with all their parameters")
    parser.addoption("--omnifft-report", help="a file for the outcome of each test, as JSON")


def pytest_configure(config):
    if config.getoption("--omnifft"):
        config.pluginmanager.register(Bridge(config), "omnifft-bridge")


class Bridge:
    def __init__(self, config):
        self.suite = SUITES[config.getoption("--omnifft")]
        self.report_file = config.getoption("--omnifft-report")
        self.runs_all = config.getoption("--omnifft-all")
        self.replacements = list(self.suite.replacements())
        self.outcomes = {}

    def chosen(self, items):
        """The tests that run, in their order."""
        cases = {}
        for item in items:
            name = item.omnifft_name
            test = name.split("[")[0]
            if self.suite.tests is not None and not name.startswith(self.suite.tests):
                continue
            if name.startswith(NOT_REPLACED) or name in ROUNDING or LONGDOUBLE.search(name):
                continue
            if self.runs_all or test not in LONG:
                cases.setdefault(test, []).append(item)
        if not self.runs_all:
            # An order of cases that has nothing to do with their parameters, and is the same in every run.
            for test, found in cases.items():
                cases[test] = sorted(found, key=lambda item: zlib.crc32(item.omnifft_name.encode()))[: self.suite.most_cases]
        return {item for found in cases.values() for item in found}

    @contextlib.contextmanager
    def replaced(self):
        """Functions are replaced while modules of tests are loaded, which may keep them, and while tests run."""
        with contextlib.ExitStack() as stack:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            for module, name, function in self.replacements:
                patch.setattr(module, name, function)
            if self.suite.backend is not None:
                from scipy import fft

                # Globally, since tests may start threads.
                fft.set_global_backend(self.suite.backend, only=True)
                stack.callback(fft.set_global_backend, "scipy")
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        with self.replaced() if isinstance(collector, pytest.Module) else contextlib.nullcontext():
            yield

    def pytest_collection_modifyitems(self, config, items):
        for item in items:
            item.omnifft_name = f"{item.module.__name__}::{item.nodeid.split('::', 1)[1]}"
        chosen = self.chosen(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]
        for item in items:
            if item.omnifft_name in EXCEPTIONS:
                item.add_marker(pytest.mark.xfail(strict=True, reason=EXCEPTIONS[item.omnifft_name]))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        before = client.calls
        # Their tolerances are close to rounding: random numbers are the same in every run.
        numpy.random.seed(int(os.environ.get("OMNIFFT_SEED", "0")) % 2**32)
        with self.replaced():
            yield
        self.outcomes[item.omnifft_name]["calls"] = client.calls - before

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        known = self.outcomes.setdefault(item.omnifft_name, {"outcome": "passed", "message": ""})
        if report.outcome != "passed" or hasattr(report, "wasxfail"):
            known["outcome"] = "excepted" if hasattr(report, "wasxfail") else report.outcome
            known["message"] = getattr(report, "wasxfail", None) or report.longreprtext[-2000:]

    def pytest_sessionfinish(self):
        client.close()
        if self.report_file:
            with open(self.report_file, "w") as file:
                json.dump(self.outcomes, file)
