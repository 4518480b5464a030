import { Socket } from 'node:net';

import { openBoth, sharedReadBuffer } from '../system/fifo.js';

/** Longest valid report: a directory name and some numbers. Longer ones are not from the driver. */
const MAX_REPORT_BYTES = 16 * 1024;

/** Report of the driver when a command has ended. */
export interface ShellReport {
  /**
   * The command's nonce; `ready` when the driver has started, `idle` when the shell is back at its prompt, `lost` when
   * it cannot read a command.
   */
  readonly nonce: string;
  readonly exitCode: number;
  /** `$!`: the newest background process of the shell itself, 0 for none. */
  readonly backgroundPid: number;
  readonly workingDirectory: string;
}

/** Reads reports from a FIFO, until the returned socket is destroyed. */
export function readReports(path: string, onReport: (report: ShellReport) => void): Socket {
  let partial = '';
  const take = (text: string) => {
    const parts = (partial + text).split('\0');
    const rest = parts.pop() ?? '';
    partial = rest.length > MAX_REPORT_BYTES ? '' : rest;
    for (const part of parts) onReport(parseReport(part));
  };
  const onread = {
    buffer: sharedReadBuffer,
    callback: (length: number) => {
      take(sharedReadBuffer.toString('utf8', 0, length));
      return true;
    },
  };
  const options = { fd: openBoth(path), readable: true, writable: false, onread };
  const reports = new Socket(options);
  // Both ends are open here, so a read cannot fail before the end, which destroys the socket.
  reports.on('error', () => reports.destroy());
  return reports;
}

function parseReport(text: string): ShellReport {
  const [nonce = '', exitCode = '', backgroundPid = ''] = text.split(' ', 3);
  const workingDirectory = text.slice(nonce.length + exitCode.length + backgroundPid.length + 3);
  return { nonce, exitCode: Number(exitCode), backgroundPid: Number(backgroundPid), workingDirectory };
}
