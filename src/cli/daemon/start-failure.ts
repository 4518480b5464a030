import type { Configuration } from '../../config/model/configuration.js';
import { ConfigurationError } from '../../config/model/problems.js';
import { AdapterError } from '../../core/errors.js';
import { urlOf } from '../connect/daemon-address.js';
import { CommandLineError, messageOf } from '../console/failure.js';
import { probeDaemon } from '../connect/probe.js';

/** Explains why the daemon could not start, with a remedy. */
export async function explainStartFailure(error: unknown, { socketio, file }: Configuration): Promise<unknown> {
  if (error instanceof ConfigurationError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const place = `${socketio.host}:${socketio.port}`;
  const elsewhere = `Take another port with --port (0 for any that is free), or socketio.port in ${file ?? 'a configuration file'}.`;
  const fail = (text: string, hint?: string) => new CommandLineError(text, { hint, cause: error });
  const findDaemon = async () => {
    const url = urlOf(socketio) ?? '';
    if (!(await probeDaemon(url))) return undefined;
    const hint = `Use that one (${url}), or stop it first. ${elsewhere}`;
    return fail(`a shell-adapter daemon listens on ${place} already`, hint);
  };
  switch (code) {
    case 'EADDRINUSE': {
      if ((error as { readonly address?: string }).address === socketio.unixSocket) {
        const hint = `Use that one (unix:${socketio.unixSocket ?? ''}), or take another path for socketio.unix_socket.`;
        return fail(`another daemon listens on ${socketio.unixSocket ?? ''} already`, hint);
      }
      const there = await findDaemon();
      if (there) return there;
      const who = `See which program that is: ss -ltnp 'sport = :${socketio.port}'`;
      return fail(`port ${place} is taken by another program`, `${who}\n${elsewhere}`);
    }
    case 'EACCES':
      return fail(message, socketio.port < 1024 ? `Ports below 1024 are root's. ${elsewhere}` : undefined);
    case 'EADDRNOTAVAIL':
      return fail(`${socketio.host} is not an address of this machine`, 'Set socketio.host, or --host, to 127.0.0.1.');
    case 'RESOURCE_EXHAUSTED':
      // The audit log may be locked by a daemon with the same configuration.
      return (await findDaemon()) ?? fail(`${message} (${code})`, '`shell-adapter doctor` looks for the cause.');
    case 'SHELL_NOT_FOUND':
      return fail(
        message,
        'Install it, or set adapter.shell to another one. `shell-adapter doctor` lists what is there.',
      );
    default:
      if (error instanceof AdapterError)
        return fail(`${message} (${error.code})`, '`shell-adapter doctor` looks for the cause.');
      return fail(
        `the daemon could not start: ${messageOf(error as Error)}`,
        '`shell-adapter doctor` looks for the cause.',
      );
  }
}
