import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** The session's own jobs. */
const OWN_JOBS = /^"?(?:\$\(jobs -p\)|`jobs -p`)"?$/;

/** A number that is read from a file with a relative path below the current directory. */
const OWN_FILE = /^"?\$\((?:cat |<)\s*(?!.*\.\.)(?:\.?\w[\w.-]*\/)*\.?\w[\w.-]*\)"?$/;
/** Signal 0: only checks whether a process exists. */
const ASKING = /^-(?:s ?|n ?)?0$/;

/** `kill`: own jobs and processes by number; killing all processes, or the first process, is irreparable. */
export function judgeKill(subject: CommandAnalysis): void {
  const [first, second] = subject.args;
  if (first?.shape === '-l' || first?.shape === '-L') return;
  const hasSignal = /^-(?!-)/.test(first?.shape ?? '') && subject.args.length > 1;
  const isNamed = first?.shape === '-s' || first?.shape === '-n';
  if (ASKING.test(isNamed ? `${first.shape} ${second?.shape ?? ''}` : (first?.shape ?? ''))) return;
  const targets = subject.args.slice(hasSignal ? (isNamed ? 2 : 1) : 0).filter(({ shape }) => shape !== '--');
  subject.add('execute', 'kill signals processes');
  for (const target of targets) {
    if (target.value === '-1' || target.value === '1')
      subject.addFatal(`kill signals every process, or the first process of the machine: ${target.text}`);
    const isOwn = OWN_JOBS.test(target.text) || OWN_FILE.test(target.text);
    const isGiven = target.value === undefined && !target.text.includes('$');
    if (isGiven || (target.hasSubstitution && !isOwn))
      subject.add('destructive', 'kill signals processes that another command prints');
  }
}
