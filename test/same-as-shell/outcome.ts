import type { Part, Way } from './corpus.js';

/** What a script has printed, and how it has ended: its exit code, 128 and the number of a signal, or that it did not end. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | 'timed out';
}

/** What the name in front of a message may be instead: `bash -c` calls functions those of its environment. */
const NAME = /^(?:\/usr\/bin\/|environment(?=: line ))/;
/** In messages about syntax bash names the way in which it was given the text. */
const GIVEN_AS = /^(\w+: )(?:-c|eval): (?=line \d)/;
/**
 * The line number of a message: of bash (`bash: line 2: `), dash (`sh: 2: `) and zsh (`zsh:2: `). A builtin of zsh names itself
 * (`zsh:cd:2: `, and without a line number `cd: `).
 */
const LINE_NUMBER = /^(?:(\S+: )line \d+: |(sh: )\d+: |(\w+:)\d+:(?= )|\w+:([\w.]+:)\d+:(?= ))/;
/** Process ids in messages about jobs. */
const JOB_STARTED = /(?<=^\[\d+\] )\d+$/gm;
const PROCESS_ENDED = /(?<=^(?:\[\d+\][-+ ] +|\S+: line \d+: +|\S+: +|))\d+(?= +[A-Z][a-z])/gm;

/** Makes paths of the directory of a run and process ids equal. */
export function normalise(output: string, directory: string): string {
  return output.replaceAll(directory, 'DIR').replace(JOB_STARTED, 'PID').replace(PROCESS_ENDED, 'PID');
}

/** Returns the parts in which an outcome differs from that of the shell alone. */
export function differingParts(way: Way, expected: Outcome, actual: Outcome): Part[] {
  const parts: Part[] = [];
  if (expected.stdout !== actual.stdout) parts.push('stdout');
  if (expected.exitCode !== actual.exitCode) parts.push('exit code');
  if (!isSameStderr(way, expected.stderr, actual.stderr)) parts.push('stderr');
  return parts;
}

function isSameStderr(way: Way, expected: string, actual: string): boolean {
  const lines = actual.split('\n');
  const expectedLines = expected.split('\n');
  return (
    lines.length === expectedLines.length && lines.every((line, index) => isSameLine(way, expectedLines[index]!, line))
  );
}

function isSameLine(way: Way, alone: string, ours: string): boolean {
  const isAboutSyntax = GIVEN_AS.test(alone);
  const [expected, actual] = [alone, ours].map((line) => {
    const named = line.replace(NAME, (name) => (name === 'environment' ? 'bash' : ''));
    return isAboutSyntax ? named.replace(GIVEN_AS, '$1') : named;
  });
  return expected === actual || (way === 'session' && expected!.replace(LINE_NUMBER, '$1$2$3$4') === actual);
}
