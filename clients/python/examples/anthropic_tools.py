"""A model of Anthropic that runs commands in a session: `pip install anthropic`, then `python anthropic_tools.py QUESTION`."""

import json
import sys

from anthropic import Anthropic

from shell_adapter import AdapterError, ConfirmationRequired, Session, connect

TOOL = {
    "name": "run_command",
    "description": "Runs a command in a persistent bash session.",
    "input_schema": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def run(session: Session, command: str) -> str:
    """The result of a command, as the model gets it."""
    try:
        result = session.run(command, timeout_ms=60_000)
    except ConfirmationRequired as error:
        return f"not run, it has to be confirmed: {error.message}"
    except AdapterError as error:
        return f"failed: {error.message}"
    return json.dumps({"stdout": result.stdout, "stderr": result.stderr, "exit_code": result.exit_code})


def ask(model: Anthropic, session: Session, question: str, name: str = "claude-sonnet-5-5") -> str:
    """Asks the model, and runs what it wants run, until it answers."""
    messages: list = [{"role": "user", "content": question}]
    while True:
        answer = model.messages.create(model=name, max_tokens=4096, messages=messages, tools=[TOOL])
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in answer.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": run(session, call.input["command"])} for call in calls
        ]
        messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


if __name__ == "__main__":
    with connect() as client, client.open_session(label="anthropic") as shell:
        print(ask(Anthropic(), shell, " ".join(sys.argv[1:])))
