"""Tests of the requests about files, waiting, output and screens, against a daemon at SHELL_ADAPTER_TEST_URL."""

import os
import queue
import threading
import unittest

from shell_adapter import AdapterError, connect

URL = os.environ["SHELL_ADAPTER_TEST_URL"]
SERVER = (
    "python3 -uc \"import socket, time; s = socket.create_server(('127.0.0.1', 0)); "
    "print('port', s.getsockname()[1]); time.sleep(600)\""
)


class Requests(unittest.TestCase):
    def setUp(self):
        self.client = connect(URL)
        self.ask = self.client.requests
        self.addCleanup(self.client.close)

    def begin(self, session, command, **fields):
        """Begins a command in the background; gives its id."""
        return self.ask.execute_command(session_id=session.id, command=command, background=True, **fields)["command_id"]

    def test_reads_and_changes_files(self):
        path, moved = "of python/file", "of python/moved"
        self.assertTrue(self.ask.write_file(path=path, data=b"one\ntwo\n", create_directories=True)["created"])
        self.assertEqual(self.ask.read_file(path=path)["data"], b"one\ntwo\n")
        self.assertEqual(self.ask.read_file(path=path, from_line=2)["data"], "two\n")
        self.assertIn("-two\n+2\n", self.ask.edit_file(path=path, old_text="two", new_text="2")["diff"])
        self.assertEqual(self.ask.stat_path(path=path)["size"], 6)
        self.assertEqual(self.ask.search_files(path="of python", pattern="2")["matches"][0]["line"], 2)
        self.assertEqual(self.ask.find_files(path="of python", pattern="f*")["matches"][0]["path"], "file")
        self.assertTrue(self.ask.make_directory(path="of python/a/b", parents=True)["created"])
        entries = self.ask.list_directory(path="of python")["entries"]
        self.assertEqual([entry["name"] for entry in entries], ["a", "file"])
        self.assertFalse(self.ask.move_path(path=path, to=moved)["replaced"])
        terms = self.ask.remove_path(path="of python", recursive=True)
        self.assertEqual(terms["status"], "confirmation_required")
        done = self.ask.confirm_command(
            confirmation_id=terms["confirmation_id"],
            command_sha256=terms["command_sha256"],
            decision="approve",
            justification="the test made it",
        )
        self.assertEqual(done["file"]["removed"], 4)

    def test_watches_paths(self):
        changes = queue.Queue()
        self.client.on_event(lambda name, event: changes.put(event) if name == "paths_changed" else None)
        self.ask.make_directory(path="watched")
        watch = self.ask.watch_paths(paths=["watched"], debounce_ms=20)
        self.ask.write_file(path="watched/file", data="x")
        self.assertEqual(changes.get(timeout=10)["changes"][0]["change"], "created")
        self.assertEqual(self.ask.unwatch_paths(watch_id=watch["watch_id"]), {"watch_id": watch["watch_id"]})

    def test_waits_for_a_port_a_line_a_file_and_an_end(self):
        with self.client.open_session() as session:
            command_id = self.begin(session, SERVER)
            line = self.ask.wait_for(command_id=command_id, pattern="^port [0-9]+$", regex=True)
            self.assertEqual(line["condition"], "pattern")
            port = int(line["match"]["text"].split()[1])
            self.assertEqual(self.ask.wait_for(port=port, session_id=session.id)["condition"], "port")
            self.assertEqual([one["port"] for one in self.ask.list_ports(session_id=session.id)["ports"]], [port])
            self.assertFalse(self.ask.wait_for(path="comes", timeout_ms=1)["met"])
            threading.Timer(0.05, lambda: self.ask.write_file(path="comes", data="")).start()
            self.assertEqual(self.ask.wait_for(path="comes")["condition"], "path")
            session.signal("SIGTERM")
            self.assertEqual(self.ask.wait_for(command_id=command_id)["exit_code"], 143)

    def test_drives_and_waits_for_a_screen(self):
        with self.client.open_session(cols=40, rows=5) as session:
            self.begin(session, 'printf shown; read -r x; printf "after <$x>"; cat', tty=True)
            shown = self.ask.wait_for(session_id=session.id, screen_text="sh.wn", regex=True)
            self.assertEqual((shown["condition"], shown["screen"]["text"]), ("screen_text", "shown"))
            self.ask.send_input(session_id=session.id, data="me", keys=["Backspace", "y", "Enter"])
            self.assertTrue(self.ask.wait_for(session_id=session.id, screen_text="after <my>")["met"])
            still = self.ask.wait_for(session_id=session.id, screen_stable_ms=50)
            self.assertEqual(still["condition"], "screen_stable")
            screen = self.ask.read_screen(session_id=session.id)
            self.assertEqual((screen["text"], screen["running"]), ("shownmy\nafter <my>", True))

    def test_reads_lines_of_an_output_and_searches_it(self):
        command_id = self.client.run("printf 'one\\ntwo\\nthree'").fields["command_id"]
        self.assertEqual(self.ask.read_output(command_id=command_id, from_line=2, max_lines=1)["data"], b"two\n")
        self.assertEqual(self.ask.read_output(command_id=command_id, last_lines=1)["data"], b"three")
        matches = self.ask.search_output(command_id=command_id, pattern="t.*e", regex=True)["matches"]
        self.assertEqual(matches, [{"line": 3, "offset": 8, "text": "three"}])

    def test_raises_what_is_wrong(self):
        self.ask.write_file(path="text", data="text")
        self.ask.write_file(path="binary", data=b"\x00\xff")
        for name, payload, code in [
            ("read_file", {"path": "missing"}, "FILE_NOT_FOUND"),
            ("read_file", {"path": "."}, "NOT_A_FILE"),
            ("read_file", {"path": "binary", "encoding": "utf8"}, "NOT_TEXT"),
            ("write_file", {"path": "text", "data": "x", "expected_sha256": "0" * 64}, "FILE_CHANGED"),
            ("edit_file", {"path": "text", "old_text": "t", "new_text": "x"}, "TEXT_NOT_UNIQUE"),
            ("list_directory", {"path": "text"}, "NOT_A_DIRECTORY"),
            ("stat_path", {"path": "missing"}, "FILE_NOT_FOUND"),
            ("make_directory", {"path": "text"}, "FILE_EXISTS"),
            ("move_path", {"path": "text", "to": "binary"}, "FILE_EXISTS"),
            ("find_files", {"path": "missing"}, "FILE_NOT_FOUND"),
            ("search_files", {"pattern": "(", "regex": True}, "INVALID_REQUEST"),
            ("watch_paths", {"paths": ["missing"]}, "FILE_NOT_FOUND"),
            ("unwatch_paths", {"watch_id": "watch_none"}, "INVALID_REQUEST"),
            ("wait_for", {"screen_text": "x"}, "INVALID_REQUEST"),
            ("wait_for", {"session_id": "gone", "screen_stable_ms": 100}, "SESSION_NOT_FOUND"),
            ("wait_for", {"command_id": "none"}, "COMMAND_NOT_FOUND"),
            ("list_ports", {"session_id": "gone"}, "SESSION_NOT_FOUND"),
            ("read_output", {"command_id": "none", "from_line": 1}, "COMMAND_NOT_FOUND"),
            ("search_output", {"command_id": "none", "pattern": "x"}, "COMMAND_NOT_FOUND"),
            ("send_input", {"session_id": "gone", "keys": ["Up"]}, "SESSION_NOT_FOUND"),
            ("read_screen", {"session_id": "gone"}, "SESSION_NOT_FOUND"),
        ]:
            with self.subTest(name=name, payload=payload), self.assertRaises(AdapterError) as failed:
                self.client.request(name, payload)
            self.assertEqual(failed.exception.code, code)


if __name__ == "__main__":
    unittest.main()
