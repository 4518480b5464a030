import type { Configuration } from '../../config/model/configuration.js';
import { ConfigurationError } from '../../config/model/problems.js';
import { SHIPPED_FILE } from '../../config/read/locate.js';
import { AdapterError } from '../../core/errors.js';
import { urlOf } from '../connect/daemon-address.js';
import { CommandLineError, messageOf } from '../console/failure.js';
import { probeDaemon } from '../connect/probe.js';

/** Explains why the daemon could not start, with a remedy. */
export async function explainStartFailure(error: unknown, { socketio, file }: Configuration): Promise<unknown> {
  if (error instanceof ConfigurationError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const elsewhere = `Take another port with --port (0 for any that is free), or socketio.port in ${fileToEdit(file)}.`;
  const fail: Fail = (text, hint) => new CommandLineError(text, { hint, cause: error });
  switch (code) {
    case 'EADDRINUSE':
      return explainAddressInUse(error as { readonly address?: string }, socketio, elsewhere, fail);
    case 'EACCES':
      return fail(message, socketio.port < 1024 ? `Ports below 1024 are root's. ${elsewhere}` : undefined);
    case 'EADDRNOTAVAIL':
      return fail(`${socketio.host} is not an address of this machine`, 'Set socketio.host, or --host, to 127.0.0.1.');
    case 'RESOURCE_EXHAUSTED':
      // The audit log may be locked by a daemon with the same configuration.
      return (await findDaemon(socketio, elsewhere, fail)) ?? fail(`${message} (${code})`, SEARCH);
    case 'SHELL_NOT_FOUND':
      return fail(
        message,
        'Install it, or set adapter.shell to another one. `shell-adapter doctor` lists what is there.',
      );
    default:
      return fail(describe(error), SEARCH);
  }
}

/** Changes of the shipped file are lost with the next installation. */
const fileToEdit = (file: string | undefined): string =>
  file === undefined || file === SHIPPED_FILE ? 'a file of your own (`shell-adapter config init` writes it)' : file;

/** A failure without a known remedy. */
const describe = (error: unknown): string =>
  error instanceof AdapterError
    ? `${error.message} (${error.code})`
    : `the daemon could not start: ${messageOf(error as Error)}`;

/** Hint for failures without a known remedy. */
const SEARCH = '`shell-adapter doctor` looks for the cause.';

type Fail = (text: string, hint?: string) => CommandLineError;
type Address = Configuration['socketio'];

/** The failure when a daemon listens on the address already; undefined when none answers there. */
async function findDaemon(socketio: Address, elsewhere: string, fail: Fail): Promise<CommandLineError | undefined> {
  const url = urlOf(socketio) ?? '';
  if (!(await probeDaemon(url))) return undefined;
  const hint = `Use that one (${url}), or stop it first. ${elsewhere}`;
  return fail(`a shell-adapter daemon listens on ${socketio.host}:${socketio.port} already`, hint);
}

async function explainAddressInUse(
  { address }: { readonly address?: string },
  socketio: Address,
  elsewhere: string,
  fail: Fail,
): Promise<CommandLineError> {
  const { unixSocket = '', host, port } = socketio;
  if (address === socketio.unixSocket) {
    const hint = `Use that one (unix:${unixSocket}), or take another path for socketio.unix_socket.`;
    return fail(`another daemon listens on ${unixSocket} already`, hint);
  }
  const there = await findDaemon(socketio, elsewhere, fail);
  if (there) return there;
  const who = `See which program that is: ss -ltnp 'sport = :${port}'`;
  return fail(`port ${host}:${port} is taken by another program`, `${who}\n${elsewhere}`);
}
