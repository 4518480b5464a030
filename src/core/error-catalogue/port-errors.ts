import { defineErrors } from './entry.js';

/** Error codes of previews of ports. */
export const PORT_ERRORS = defineErrors({
  PORT_NOT_FOUND: {
    meaning: 'No process of the session listens on the port.',
    status: 404,
    retry: 'later',
    next: 'Wait for the port with `wait_for`; `list_ports` lists those of the session.',
  },
  PORT_UNAVAILABLE: {
    meaning:
      "The port cannot be previewed: previews are off, or the port is the daemon's own or cannot be reached. Or a program that the platform `posix` finds ports by is missing. The message says which.",
    status: 409,
    retry: 'changed',
    next: 'Set `http.previews: true`, or have the program listen on 127.0.0.1, outside of a sandbox with its own network; install lsof and netstat.',
  },
  PORT_UNREACHABLE: {
    meaning: 'The program on the port did not accept the connection, or ended it before its answer.',
    status: 502,
    retry: 'check',
    next: 'Look at the output of the program. It may have received the request.',
  },
});
