import type { Answer, Step } from './script.js';

/** Longer than the minute that some clients of MCP wait unless a server reports progress. */
export const LONG_COMMAND_S = 65;

/** Prints text beyond ASCII and quotes, writes to both outputs, and fails. */
export const exactOutput: readonly Step[] = [
  () => ({ tool: 'run_command', args: { command: `echo "it's "'"ünï→😀"'; echo oops >&2; exit 3` } }),
];

/** A session whose directory and variables last from call to call. */
export const session: readonly Step[] = [
  () => ({ tool: 'open_session', args: {} }),
  ([opened]) => ({ tool: 'execute_command', args: { ...sessionOf(opened), command: 'mkdir -p a/b; cd a/b; x=41' } }),
  ([opened]) => ({ tool: 'execute_command', args: { ...sessionOf(opened), command: 'echo "${PWD##*/} $((x + 1))"' } }),
  ([opened]) => ({ tool: 'close_session', args: sessionOf(opened) }),
];

/** A command that destroys something runs after the model has confirmed it. */
export const confirmation: readonly Step[] = [
  () => ({ tool: 'run_command', args: { command: 'mkdir -p data/x; echo made' } }),
  () => ({ tool: 'run_command', args: { command: 'rm -rf data; echo removed' } }),
  ([, asked]) => ({
    tool: 'confirm_command',
    args: {
      ...proofIn(asked),
      decision: 'approve',
      justification: 'the user has asked for it',
    },
  }),
];

/** A command that asks a question gets its answer typed. */
export const typedInput: readonly Step[] = [
  () => ({ tool: 'open_session', args: {} }),
  ([opened]) => ({
    tool: 'execute_command',
    args: { ...sessionOf(opened), command: 'read -p "name? " name; echo "hello $name"', background: true },
  }),
  ([opened]) => ({ tool: '(?:send|type)_input', args: { ...sessionOf(opened), data: 'Ünal\n' } }),
  ([, started]) => ({ tool: 'wait_command', args: { command_id: started?.['command_id'], timeout_ms: 20_000 } }),
  ([opened]) => ({ tool: 'close_session', args: sessionOf(opened) }),
];

/** A command that takes longer than a minute and prints a line every second. */
export const longCommand: readonly Step[] = [
  () => ({
    tool: 'run_command',
    args: {
      command: `for i in $(seq ${LONG_COMMAND_S}); do echo "step $i"; sleep 1; done; echo end`,
      timeout_ms: (LONG_COMMAND_S + 60) * 1000,
    },
  }),
];

/** A command that would never end; it writes its process id to a file. */
export const endless = (pidFile: string): readonly Step[] => [
  () => ({ tool: 'run_command', args: { command: `echo $$ > ${pidFile}; exec sleep 7321` } }),
];

/** Where commands run. */
export const workingDirectory: readonly Step[] = [() => ({ tool: 'run_command', args: { command: 'pwd' } })];

const sessionOf = (opened: Answer | undefined) => ({ session_id: opened?.['session_id'] });

/** What confirms a command: fields of the answer, or of the call that its `next` gives. */
function proofIn(asked: Answer = {}): Readonly<Record<string, unknown>> {
  const pairs = [...String(asked['next']).matchAll(/(\w+)='([^']*)'/g)];
  const next = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
  const { confirmation_id, command_sha256 } = { ...next, ...asked };
  return { confirmation_id, command_sha256 };
}
