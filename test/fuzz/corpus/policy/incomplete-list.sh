claude -p x --dangerously-skip-permissions &&
