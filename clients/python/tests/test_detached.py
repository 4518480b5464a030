"""Tests of sessions that outlive a daemon with `adapter.detach`; SHELL_ADAPTER_TEST_RESTART has what restarts it, as JSON."""

import json
import os
import queue
import signal
import subprocess
import unittest

from shell_adapter import AdapterError, Result, connect

URL = os.environ["SHELL_ADAPTER_TEST_URL"]


def restart():
    subprocess.run(json.loads(os.environ["SHELL_ADAPTER_TEST_RESTART"]), check=True, capture_output=True)


class Sessions(unittest.TestCase):
    def test_outlive_the_daemon_with_their_commands(self):
        with connect(URL, reconnect_timeout=60) as client:
            states = []
            client.on_connection(states.append)
            with client.open_session() as session:
                session.run("name=kept")
                self.assertRegex(session.id, r"^session_holder-[^.]+\.")
                items = []
                for item in session.stream("echo run >> runs; for i in $(seq 30); do echo $i; sleep 0.1; done"):
                    items.append(item)
                    if len(items) == 3:
                        restart()
                out = b"".join(item.data for item in items if not isinstance(item, Result))
                self.assertEqual(out, "".join(f"{n}\n" for n in range(1, 31)).encode())
                self.assertTrue(items[-1].ok)
                self.assertEqual(session.run("echo $name; cat runs").stdout, "kept\nrun\n")
                self.assertEqual(states, ["lost", "connected"])
                self.assertTrue(session.is_reachable)
                session.detach()
        with connect(URL) as client:
            again = client.attach_session(session.id)
            self.assertEqual(again.run("echo $name").stdout, "kept\n")
            again.close()
            self.assertEqual(again.end.reason, "client")

    def test_say_what_may_have_been_done_when_their_node_is_lost(self):
        with connect(URL) as client:
            ends = queue.Queue()
            client.on_event(lambda name, event: ends.put(event) if name == "session_closed" else None)
            session = client.open_session()
            holder = int(session.run("echo $PPID").stdout)
            with self.assertRaises(AdapterError) as failed:
                for _ in session.stream("echo begun; sleep 600"):
                    os.kill(holder, signal.SIGKILL)
            error = failed.exception
            self.assertEqual((error.code, error.retry, error.may_have_run), ("NODE_LOST", "check", True))
            self.assertEqual(ends.get(timeout=20)["reason"], "node_lost")
            self.assertEqual(session.end.reason, "node_lost")
            self.assertFalse(session.is_reachable)


if __name__ == "__main__":
    unittest.main()
