"""Drives a shell by pexpect.replwrap, as its users do; a request and an answer are a line of JSON each.

{"run": "command", "timeout": seconds or null} is answered by {"output": text}, as soon as the shell shows its prompt again.
{"send": "text"}, {"eof": true} and {"interrupt": true} reach a command that runs, and have no answer.
"""

import json
import sys
import threading

import pexpect
from pexpect import replwrap

# Time for the prompt to come back after an interrupt, in seconds.
INTERRUPT_SECONDS = 2

# Whether the running command has been interrupted: the shell then ends the line of the terminal.
is_interrupted = threading.Event()

shell = replwrap.bash()


def interrupt() -> None:
    is_interrupted.set()
    shell.child.sendintr()


def end_at_timeout() -> str:
    interrupt()
    shell.child.expect_exact(shell.prompt, timeout=INTERRUPT_SECONDS)
    return shell.child.before


def run(command: str, timeout: float | None) -> None:
    is_interrupted.clear()
    try:
        try:
            output = shell.run_command(command, timeout=timeout)
        except pexpect.TIMEOUT:
            output = end_at_timeout()
        answer = {"output": output.removesuffix("\r\n") if is_interrupted.is_set() else output}
    except Exception as error:  # any failure is a result here
        answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
    print(json.dumps(answer), flush=True)


for line in sys.stdin:
    request = json.loads(line)
    if "run" in request:
        threading.Thread(target=run, args=(request["run"], request["timeout"]), daemon=True).start()
    elif "send" in request:
        shell.child.send(request["send"])
    elif "eof" in request:
        shell.child.sendeof()
    else:
        interrupt()
shell.child.close(force=True)
