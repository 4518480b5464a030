import type { ToolBackend } from './tool-backend.js';

/** Progress of a command. */
export interface Progress {
  /** Time since its start, in seconds. */
  readonly seconds: number;
  /** The last line that it has printed. */
  readonly message: string;
}

/** Interval of progress reports, in milliseconds. */
const PROGRESS_MS = 1000;

/** Longest line in a progress report, in characters; longer ones are truncated. */
const MAX_MESSAGE = 200;

/** Reports the progress of a command every second, until disposed. */
export function reportProgress(
  commandId: string,
  backend: ToolBackend,
  onProgress: (progress: Progress) => void,
): Disposable {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    void backend.request('wait_command', { command_id: commandId, timeout_ms: 0 }).then((reply) => {
      // The command has ended, or waits for a confirmation.
      if ('error' in reply || !('stdout' in reply)) return;
      onProgress({ seconds: (performance.now() - startedAt) / 1000, message: lastLineOf(String(reply.stdout)) });
    });
  }, PROGRESS_MS);
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
    },
  };
}

/** The last line that is not blank, without control characters. */
function lastLineOf(output: string): string {
  const lines = output.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return (lines.at(-1) ?? 'running').replace(/\p{Cc}/gu, '').slice(0, MAX_MESSAGE);
}
