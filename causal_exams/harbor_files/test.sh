#!/bin/bash
# Grades the one answer: 0 to 1 into reward.txt, what was found beside it.
set -u
logs=${HARBOR_LOGS:-/logs/verifier}
answers=${HARBOR_ANSWERS:-/workspace/answers}
tests=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$logs" && echo 0 > "$logs/reward.txt"
grader=$(mktemp -d) && trap 'rm -rf "$grader"' EXIT
tar -xzf "$tests/grader.tar.gz" -C "$grader"
"${GRADER_PYTHON:-/opt/grader/bin/python}" -I -c \
    'import sys; sys.path[:0] = sys.argv[1:3]; from grade import main; main(*sys.argv[2:])' \
    "$grader" "$tests" "$answers" "$logs"
