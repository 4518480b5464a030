"""Tests of the client against a daemon, whose address is in SHELL_ADAPTER_TEST_URL."""

import asyncio
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import unittest

from shell_adapter import AdapterError, ConfirmationRequired, Output, Result, connect, connect_async
from shell_adapter import _connection, _streams

URL = os.environ["SHELL_ADAPTER_TEST_URL"]
TOKEN = os.environ["SHELL_ADAPTER_TEST_TOKEN"]


def cut(client):
    """Breaks the connection as a network does."""
    client._connection._sio.eio.ws.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def parts(items):
    """The bytes of stdout, those of stderr, and the result."""
    outputs = {"stdout": b"", "stderr": b""}
    result = None
    for item in items:
        if isinstance(item, Result):
            result = item
        else:
            assert item.offset == len(outputs[item.stream]), item
            outputs[item.stream] += item.data
    return outputs["stdout"], outputs["stderr"], result


class SyncClient(unittest.TestCase):
    def setUp(self):
        self.client = connect(URL)
        self.addCleanup(self.client.close)

    def test_runs_a_command(self):
        result = self.client.run("echo out; echo err >&2; exit 3")
        self.assertEqual((result.stdout, result.stderr, result.exit_code), ("out\n", "err\n", 3))
        self.assertFalse(result.ok)
        self.assertEqual(result.fields["stdout_bytes"], 4)

    def test_runs_a_program_with_fields(self):
        result = self.client.run("printf", ["%s", "$A b"], env={"A": "1"}, cwd="/")
        self.assertEqual(result.stdout, "$A b")
        self.assertEqual(self.client.run("cat", stdin="typed").stdout, "typed")

    def test_keeps_the_state_of_a_session(self):
        with self.client.open_session(label="python") as session:
            session.run("cd /usr; name=Ada")
            self.assertEqual(session.run("echo $name in $PWD").stdout, "Ada in /usr\n")
            labels = [one["label"] for one in self.client.requests.list_sessions()["sessions"]]
            self.assertIn("python", labels)
            again = self.client.attach_session(session.id)
            self.assertEqual(again.run("echo $name").stdout, "Ada\n")
        with self.assertRaises(AdapterError) as failed:
            session.run("true")
        self.assertEqual(failed.exception.code, "SESSION_NOT_FOUND")
        session.close()

    def test_streams_exact_bytes(self):
        out, err, result = parts(self.client.stream("printf 'a\\377\\303'; sleep 0.05; printf '\\244'; echo e >&2"))
        self.assertEqual((out, err, result.exit_code), (b"a\xff\xc3\xa4", b"e\n", 0))

    def test_cuts_no_character(self):
        items = list(self.client.stream("printf '\\303'; sleep 0.05; printf '\\244'"))
        self.assertEqual("".join(item.text for item in items if isinstance(item, Output)), "ä")

    def test_reads_what_a_slow_reader_has_missed(self):
        most, _streams.MOST_WAITING = _streams.MOST_WAITING, 10_000
        self.addCleanup(setattr, _streams, "MOST_WAITING", most)
        out, _, result = parts(self.client.stream("seq 200000"))
        self.assertEqual(hashlib.sha256(out).hexdigest(), hashlib.sha256(sequence(200_000)).hexdigest())
        self.assertTrue(result.ok)

    def test_ends_a_command_whose_stream_is_left(self):
        with self.client.open_session() as session:
            for _ in session.stream("echo begun; sleep 60"):
                break
            self.assertEqual(session.run("echo next").stdout, "next\n")

    def test_types_into_a_command(self):
        with self.client.open_session() as session:
            items = session.stream("echo ready; read line; echo got $line")
            first = next(items)
            self.assertEqual(first.text, "ready\n")
            session.send_input("text\n")
            self.assertEqual(parts([first, *items])[0], b"ready\ngot text\n")

    def test_interrupts_a_command(self):
        with self.client.open_session() as session:
            items = session.stream("echo ready; sleep 60")
            next(items)
            session.signal("SIGINT")
            self.assertEqual(list(items)[-1].exit_code, 130)

    def test_tells_of_events(self):
        seen = threading.Event()
        stop = self.client.on_event(lambda name, _: seen.set() if name == "session_closed" else None)
        self.client.open_session().close()
        self.assertTrue(seen.wait(10))
        stop()

    def test_lets_a_listener_make_requests(self):
        with self.client.open_session() as session:
            typed = []

            def answer(name, payload):
                if name == "awaiting_input" and payload["session_id"] == session.id:
                    typed.append(session.send_input("Ada\n"))

            self.client.on_event(answer)
            self.assertEqual(session.run("read name; echo hello $name").stdout, "hello Ada\n")
            self.assertEqual(len(typed), 1)

    def test_calls_listeners_in_order_and_survives_their_errors(self):
        seen = []
        ended = threading.Event()

        def note(name, payload):
            if name == "command_output":
                seen.append(payload["data"])
            if name == "session_closed":
                ended.set()
            raise ValueError("a bug of the listener")

        self.client.on_event(note)
        with self.assertLogs("shell_adapter"):
            with self.client.open_session() as session:
                session.run("for i in 1 2 3; do echo $i; sleep 0.1; done", stream=True)
            self.assertTrue(ended.wait(60))
        self.assertEqual("".join(seen), "1\n2\n3\n")

    def test_is_closed_by_a_listener(self):
        client = connect(URL)
        closed = threading.Event()
        client.on_event(lambda *_: closed.set() if client.close() is None else None)
        with self.assertRaises(AdapterError) as failed:
            client.run("echo out; exec sleep 600", stream=True)
        self.assertEqual(failed.exception.code, "CLIENT_CLOSED")
        self.assertTrue(closed.wait(60))

    def test_ends_a_command_on_an_interrupt(self):
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        main = threading.main_thread().ident
        stop = self.client.on_event(
            lambda name, _: signal.pthread_kill(main, signal.SIGINT) if name == "command_output" else None
        )
        with self.client.open_session() as session:
            with self.assertRaises(KeyboardInterrupt):
                session.run("echo begun; exec sleep 600", stream=True)
            stop()
            self.assertEqual(session.run("echo next").stdout, "next\n")

    def test_does_not_hide_the_error_of_a_body(self):
        client = connect(URL)
        with self.assertRaisesRegex(ValueError, "of the body"):
            with client.open_session():
                client._loop.wait(client._client.close())
                raise ValueError("of the body")
        client._loop.close()

    def test_raises_the_errors_of_the_daemon(self):
        with self.assertRaises(AdapterError) as failed:
            self.client.request("get_session", {"session_id": "gone"})
        self.assertEqual(failed.exception.code, "SESSION_NOT_FOUND")
        with self.assertRaises(AdapterError) as unknown:
            self.client.request("no_such")
        self.assertIn("list_sessions", unknown.exception.details["requests"])


class Access(unittest.TestCase):
    def test_takes_a_token(self):
        with connect(URL, TOKEN) as client:
            self.assertEqual(client.requests.describe_access()["name"], "python")

    def test_says_why_it_is_refused(self):
        with self.assertRaises(AdapterError) as failed:
            connect(URL, "wrong")
        self.assertEqual(failed.exception.code, "UNAUTHORIZED")

    def test_says_that_no_daemon_answers(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            with self.assertRaises(AdapterError) as failed:
                connect(f"http://127.0.0.1:{unused.getsockname()[1]}")
        self.assertEqual(failed.exception.code, "CONNECTION_FAILED")
        self.assertRegex(failed.exception.message, r"^no daemon answers at http://127.0.0.1:\d+: .*\w")

    def test_says_that_something_else_answers(self):
        patience, _connection.CONNECT_TIMEOUT = _connection.CONNECT_TIMEOUT, 0.5
        self.addCleanup(setattr, _connection, "CONNECT_TIMEOUT", patience)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            with self.assertRaises(AdapterError) as failed:
                connect(f"http://127.0.0.1:{silent.getsockname()[1]}")
        self.assertRegex(failed.exception.message, r"^no daemon answers at http://127.0.0.1:\d+: .*\w")

    def test_names_a_package_that_is_missing(self):
        for name, package in [("aiohttp", "aiohttp"), ("socketio", "python-socketio")]:
            program = f"import sys; sys.modules['{name}'] = None; import shell_adapter"
            ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            self.assertIn(f"ImportError: shell_adapter needs {package}: pip install {package}, or apt install python3-{name}\n", ended.stderr)

    def test_is_of_no_use_after_its_end(self):
        client = connect(URL)
        client.close()
        client.close()


class Confirmations(unittest.TestCase):
    def test_asks_the_callback(self):
        asked = []

        def confirm(terms):
            asked.append(terms["reasons"])
            return "the test made it"

        with connect(URL, confirm=confirm) as client:
            self.assertTrue(client.run("mkdir -p gone && rm -r gone").ok)
            out, _, result = parts(client.stream("mkdir -p gone && rm -r gone && echo removed"))
            self.assertEqual((out, result.exit_code), (b"removed\n", 0))
        self.assertEqual(len(asked), 2)

    def test_raises_without_a_decision(self):
        with connect(URL, confirm=lambda _: None) as client:
            with self.assertRaises(ConfirmationRequired) as failed:
                client.run("mkdir -p gone && rm -r gone")
            self.assertTrue(client.confirm(failed.exception.terms, "on second thoughts").ok)


class LostConnections(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = await connect_async(URL)
        self.addAsyncCleanup(self.client.close)

    async def test_loses_and_repeats_nothing(self):
        async with await self.client.open_session() as session:
            items = []
            async for item in session.stream("echo run >> runs-$$; for i in $(seq 40); do echo $i; sleep 0.01; done"):
                items.append(item)
                if len(items) in (3, 6):
                    cut(self.client)
            out, _, result = parts(items)
            self.assertEqual(out, sequence(40))
            self.assertTrue(result.ok)
            self.assertEqual((await session.run("cat runs-$$")).stdout, "run\n")

    async def test_keeps_a_session_and_a_one_shot(self):
        session = await self.client.open_session()
        await session.run("name=kept")
        running = asyncio.ensure_future(self.client.run("sleep 0.2; echo once"))
        await asyncio.sleep(0)
        cut(self.client)
        self.assertEqual((await running).stdout, "once\n")
        self.assertEqual((await session.run("echo $name")).stdout, "kept\n")
        info = await self.client.requests.get_session(session_id=session.id)
        self.assertEqual(info["attached_clients"], 1)
        await session.close()

    async def test_does_not_repeat_what_may_have_been_done(self):
        request = asyncio.ensure_future(self.client.request("execute_command", {"command": "sleep 5"}))
        await self.client.run("true")
        cut(self.client)
        with self.assertRaises(AdapterError) as failed:
            await request
        self.assertEqual(failed.exception.code, "CONNECTION_LOST")


    async def test_keeps_its_subscription(self):
        seen = asyncio.Queue()
        self.client.on_event(lambda name, event: seen.put_nowait(event) if name == "sessions_changed" else None)
        await self.client.requests.subscribe(topics=["sessions"], interval_ms=250)
        await seen.get()
        restored = asyncio.Event()
        self.client.on_connection(lambda state: restored.set() if state == "connected" else None)
        cut(self.client)
        await asyncio.wait_for(restored.wait(), 10)
        async with await self.client.open_session() as session:
            while session.id not in [one["session_id"] for one in (await asyncio.wait_for(seen.get(), 10))["sessions"]]:
                pass

    async def test_follows_a_session_whose_node_is_away_for_a_while(self):
        async with await self.client.open_session() as session:
            at = {"session_id": session.id, "node": "worker-1"}
            # A gateway sends these: a daemon alone has no nodes.
            self.client._take("session_detached", {**at, "code": "NODE_UNREACHABLE"})
            self.assertFalse(session.is_reachable)
            self.client._take("session_reattached", {**at, "next_seq": 5, "gap": {"from_seq": 1, "to_seq": 4}})
            self.assertTrue(session.is_reachable)
            self.assertEqual(session._followed.attach_request(), {"session_id": session.id, "from_seq": 5})


class Errors(unittest.TestCase):
    def test_say_whether_the_request_may_be_repeated(self):
        for code, details, expected in [
            ("NODE_LOST", {"retry_safe": True, "maybe_executed": False}, ("later", False)),
            ("NODE_LOST", {"retry_safe": False, "maybe_executed": True}, ("check", True)),
            ("NODE_DRAINING", {}, ("later", False)),
            ("FILE_CHANGED", {}, ("changed", False)),
            ("CONNECTION_LOST", {}, ("check", True)),
            ("CONNECTION_FAILED", {}, ("later", False)),
            ("OF_A_NEWER_DAEMON", {}, ("check", True)),
        ]:
            with self.subTest(code=code, details=details):
                error = AdapterError(code, "", details)
                self.assertEqual((error.retry, error.may_have_run), expected)


class AsyncClientTests(unittest.IsolatedAsyncioTestCase):
    async def test_ends_a_command_that_is_cancelled(self):
        async with await connect_async(URL) as client, await client.open_session() as session:
            begun = asyncio.Event()
            client.on_event(lambda name, _: begun.set() if name == "command_output" else None)
            running = asyncio.ensure_future(session.run("echo begun; exec sleep 600", stream=True))
            await begun.wait()
            running.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await running
            self.assertEqual((await session.run("echo next")).stdout, "next\n")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(client.run("sleep 600"), 0.5)

    async def test_connects_again_though_a_listener_fails(self):
        async with await connect_async(URL) as client:
            faults = []
            asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["message"]))
            client.on_connection(lambda state: {}[state])
            cut(client)
            self.assertEqual((await client.run("echo on")).stdout, "on\n")
            self.assertIn("a listener has failed", faults)

    async def test_runs_commands_at_the_same_time(self):
        async with await connect_async(URL, confirm=confirm_later) as client:
            results = await asyncio.gather(*(client.run(f"sleep 0.1; echo {n}") for n in range(5)))
            self.assertEqual([result.stdout for result in results], [f"{n}\n" for n in range(5)])
            self.assertTrue((await client.run("mkdir -p gone && rm -r gone")).ok)


async def confirm_later(_):
    await asyncio.sleep(0)
    return "asked for by the test"


def sequence(last):
    return "".join(f"{n}\n" for n in range(1, last + 1)).encode()


if __name__ == "__main__":
    unittest.main()
