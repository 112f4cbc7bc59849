"""The conformance suite of the :class:`~hindbrain.contracts.Backend` port: what every memory must do.

It needs no test framework: :func:`run` checks a backend and returns a :class:`Report`. With a framework, make one test
of each case in ``CASES``. It talks to the backend through the four verbs alone, so it runs unchanged on a dict, on a
file and on a server; it waits where a server takes its time, and each case ends within the deadline it is given.
"""

from hindbrain.contracts.conformance._case import Case, ConformanceFailure, Skip
from hindbrain.contracts.conformance._context import Context, fresh_bank
from hindbrain.contracts.conformance._run import CASES, Report, Result, run

__all__ = ["CASES", "Case", "ConformanceFailure", "Context", "Report", "Result", "Skip", "fresh_bank", "run"]
