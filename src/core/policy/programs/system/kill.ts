import type { Argument } from '../../words/argument.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** The session's own jobs. */
const OWN_JOBS = /^"?(?:\$\(jobs -p\)|`jobs -p`)"?$/;

/** A number that is read from a file with a relative path below the current directory. */
const OWN_FILE = /^"?\$\((?:cat |<)\s*(?!.*\.\.)(?:\.?\w[\w.-]*\/)*\.?\w[\w.-]*\)"?$/;
/** Signal 0: only checks whether a process exists. */
const ASKING = /^-(?:s ?|n ?)?0$/;

/** `kill`: own jobs and processes by number; killing all processes, or the first process, is irreparable. */
export function judgeKill(subject: CommandAnalysis): void {
  const [first] = subject.args;
  if (first?.shape === '-l' || first?.shape === '-L') return;
  const { signal, targets } = readCall(subject.args);
  if (ASKING.test(signal)) return;
  subject.add('execute', 'kill signals processes');
  for (const target of targets) if (target.shape !== '--') judgeTarget(subject, target);
}

/** The signal with its option, and the processes. */
function readCall(args: readonly Argument[]): { readonly signal: string; readonly targets: readonly Argument[] } {
  const [{ shape: first } = { shape: '' }, second] = args;
  if (first === '-s' || first === '-n') return { signal: `${first} ${second?.shape ?? ''}`, targets: args.slice(2) };
  // A lone negative number is a process group.
  const hasSignal = /^-(?!-)/.test(first) && args.length > 1;
  return { signal: first, targets: args.slice(hasSignal ? 1 : 0) };
}

function judgeTarget(subject: CommandAnalysis, { value, text, hasSubstitution, isSample }: Argument): void {
  if (value === '-1' || value === '1')
    subject.addFatal(`kill signals every process, or the first process of the machine: ${text}`);
  else if (OWN_JOBS.test(text) || OWN_FILE.test(text)) return;
  else if (value === undefined || hasSubstitution)
    subject.add('destructive', `kill signals processes that are known only at run time: ${text}`);
  else if (!isSample) judgeNumber(subject, value);
}

function judgeNumber(subject: CommandAnalysis, value: string): void {
  if (/^-\d+$/.test(value)) subject.add('destructive', `kill signals a whole group of processes: ${value}`);
  else if (isForeign(subject, value)) subject.add('destructive', `kill signals a process of others: ${value}`);
}

/** Whether a number is not that of a process that the session has started, as far as these are known. */
const isForeign = ({ inquiry: { facts } }: CommandAnalysis, value: string): boolean =>
  facts.ownProcesses !== undefined && /^\d+$/.test(value) && !facts.ownProcesses.has(Number(value));
