import type { Step, Trap } from '../harness/table.js';
import { NotApplicable, type Notion } from './peer.js';

/** What rests on a notion of our own protocol alone: no peer can be asked for it. */
const OURS: Readonly<Record<string, string>> = {
  A18: 'forges a marker of our driver',
  A22: 'the terminal beside the output streams is our driver’s',
  A26: 'the shape of trimmed output is our protocol’s',
  C17: 'a repeated command_id is our protocol’s',
  E7: 'input for an idle session is refused by a code of our protocol',
  F2: 'late output is read by command_id',
  F4: 'late output is read by command_id',
  F11: 'codes of our protocol',
  G18: 'codes of our protocol',
  G20: 'standard input from a terminal and output to pipes is our driver’s arrangement',
  H6: 'codes of our protocol',
  H11: 'a second session on the same connection, by our protocol',
  K6: 'variables of our driver',
  K6b: 'variables of our driver',
  K6c: 'variables of our driver',
  K6d: 'functions of our driver',
  K6e: 'files of our driver',
  K11: 'forges a marker of our driver',
};

/** What more than one command of a trap needs, which its steps do not show. */
const NEEDS: readonly (readonly [notion: Notion, traps: RegExp])[] = [
  ['session', /^(B2|B3|C14|C28|D(?!29).*|E(?!18).*|F(1|3|7|8|10|12|14)|G8|G10|G11[bcd]|H7|H8|K(?!32).*)$/],
  ['streams', /^(A13|A14|A20|E2i|K1|K2|K24)$/],
  ['exit_code', /^(B(?!10).*|E2.*|K1|K2)$/],
  ['terminal', /^(F12|G4|G10|G16|K14|K14b|K15)$/],
];

/** Commands that wait at a terminal: without one they end at once, and are right to. */
const AT_TERMINAL: ReadonlySet<unknown> = new Set(['timeout 0.2 cat', 'cat']);

const MISSING: Readonly<Record<Notion, string>> = {
  session: 'each command has a shell of its own',
  one_shot: 'has no commands outside of a session',
  exit_code: 'tells no exit code',
  streams: 'gives both streams as one text',
  timeout: 'cannot end a command after a given time',
  stdin: 'takes no standard input as text',
  input: 'cannot type into a running command',
  signal: 'cannot interrupt a running command',
  tty: 'has no terminal on request',
  terminal: 'has no terminal behind every command',
  surroundings: 'takes no directory and variables for one command',
  args: 'takes no list of arguments',
  bytes: 'gives text, not bytes',
};

/** Throws when a whole trap rests on what a peer has no notion of. */
export function requireTrap({ id, daemon, isLocal, session }: Trap, notions: ReadonlySet<Notion>): void {
  if (daemon !== undefined || isLocal === true) throw new NotApplicable('about the settings of our daemon');
  if (/^[IJ]/.test(id)) throw new NotApplicable(session ? 'limits of our sessions' : 'connections of our protocol');
  if (/^K10/.test(id)) throw new NotApplicable('forges what our driver reports');
  const why = OURS[id];
  if (why !== undefined) throw new NotApplicable(why);
  const missing = NEEDS.find(([notion, traps]) => traps.test(id) && !notions.has(notion));
  if (missing) throw new NotApplicable(MISSING[missing[0]]);
}

/** Why a step is left out for a peer; undefined when it can be run. */
export function whyLeftOut(step: Step, notions: ReadonlySet<Notion>): string | undefined {
  const { options, expect } = step;
  if (expect.error !== undefined) return 'refused by a code of our protocol';
  if (options.no_output_timeout_ms !== undefined) return 'a time-out without output is our protocol’s';
  if (options.limits !== undefined) return 'limits of our protocol';
  if (options.output && options.output.encoding !== 'base64') return 'options of our output';
  if (options.args?.length === 0) return 'what our protocol says of a program that is not there';
  const missing = needsOf(step).find((notion) => !notions.has(notion));
  return missing === undefined ? undefined : MISSING[missing];
}

function needsOf({ options, alone, during, command }: Step): Notion[] {
  const needs: [Notion, boolean][] = [
    ['one_shot', alone],
    ['timeout', options.timeout_ms !== undefined],
    ['stdin', typeof options.stdin === 'string'],
    ['tty', options.tty === true],
    ['surroundings', options.cwd !== undefined || options.env !== undefined],
    ['args', options.args !== undefined],
    ['bytes', options.output?.encoding === 'base64'],
    ['signal', isSignalled(during)],
    ['terminal', during === undefined && options.stdin === undefined && AT_TERMINAL.has(command) && !alone],
    ['input', during !== undefined && !isSignalled(during)],
  ];
  return needs.flatMap(([notion, isNeeded]) => (isNeeded ? [notion] : []));
}

/** Rows type into a command or signal it: which of them is only in the function’s text. */
const isSignalled = (during: Step['during']): boolean =>
  during !== undefined && /\.signal\(|\.elsewhere\(/.test(during.toString());

/** Every trap that is named here, for a test that they exist. */
export const namedTraps: readonly string[] = Object.keys(OURS);
