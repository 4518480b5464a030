"""A model of OpenAI's API that runs commands in a session: `pip install openai`, then `python openai_tools.py QUESTION`."""

import json
import sys

from openai import OpenAI

from shell_adapter import AdapterError, ConfirmationRequired, Session, connect

TOOL = {
    "type": "function",
    "function": {
        "name": "run_command",
        "description": "Runs a command in a persistent bash session.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
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


def ask(model: OpenAI, session: Session, question: str, name: str = "gpt-5-mini") -> str:
    """Asks the model, and runs what it wants run, until it answers."""
    messages: list = [{"role": "user", "content": question}]
    while True:
        answer = model.chat.completions.create(model=name, messages=messages, tools=[TOOL]).choices[0].message
        if not answer.tool_calls:
            return answer.content or ""
        messages.append(answer)
        for call in answer.tool_calls:
            output = run(session, json.loads(call.function.arguments)["command"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


if __name__ == "__main__":
    with connect() as client, client.open_session(label="openai") as shell:
        print(ask(OpenAI(), shell, " ".join(sys.argv[1:])))
