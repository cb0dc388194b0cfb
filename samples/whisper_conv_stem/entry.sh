#!/usr/bin/env bash
# Evaluates pass_dir/ on the graphs of this sample (25 warm-ups, 100 trials): prints the log, writes aggregated_score.json here.
# PASSNET names the binary; arguments are handed on to `passnet eval`. A wrong pass is a result: only what could not be evaluated fails.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 3
"${PASSNET:-passnet}" eval . --passes pass_dir --log "$@"
code=$?
[ $code -le 1 ] || exit $code
