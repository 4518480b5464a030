import { describe, expect, it } from 'vitest';

import type { Context } from '../../../../src/cli/console/context.js';
import {
  createProgram,
  ENV_OPTION,
  path,
  seconds,
  type Subcommand,
  wholeNumber,
} from '../../../../src/cli/console/subcommand.js';

/** What a subcommand was called with, or what was printed instead. */
async function call(entry: Omit<Subcommand, 'summary' | 'description'>, ...args: readonly string[]) {
  const printed: string[] = [];
  const output = { size: undefined, write: (text: string) => void printed.push(text) };
  const context = { programName: 'shell-adapter', cwd: '/here', env: { LANG: 'C' }, stdout: output, stderr: output };
  const given: unknown[] = [];
  const run: Subcommand['run'] = (_context, ...values) => {
    given.push(...values);
    return Promise.resolve();
  };
  const sample: Subcommand = { summary: 'a sample', description: 'Is a sample.', run, ...entry };
  const program = createProgram(context as unknown as Context, {
    sample,
    group: { ...sample, subcommands: { sample } },
  });
  await program.parseAsync(args, { from: 'user' }).catch(() => undefined);
  return given.length > 0 ? given : printed.join('');
}

describe('a subcommand of the table', () => {
  it.each<[string[], object]>([
    [['--wait', '1.5'], { wait: 1500 }],
    [['--wait', '0.0004'], { wait: 0 }],
    [['--count', '7'], { count: 7 }],
    [['--in', 'a/../b'], { in: '/here/b' }],
    [['--env', 'A=1', '--env', 'LANG'], { env: { A: '1', LANG: 'C' } }],
    [['--of', 'b'], { of: 'b' }],
  ])('reads %j', async (args, expected) => {
    const options: Subcommand['options'] = [
      ['--wait <seconds>', 'how long', { read: seconds(0, 60_000) }],
      ['--count <number>', 'how many', { read: wholeNumber(1, 9) }],
      ['--in <directory>', 'where', { read: path }],
      ENV_OPTION,
      ['--of <name>', 'which', { choices: ['a', 'b'] }],
    ];
    expect(await call({ options }, 'sample', ...args)).toEqual([expected]);
  });

  it.each([
    ['--wait', '61', 'It must be a number from 0 to 60.'],
    ['--count', '1.5', 'It must be a whole number from 1 to 9.'],
    ['--env', 'B', 'B is not set here: give it as B=VALUE.'],
    ['--cuont', '1', 'Did you mean --count?'],
  ])('refuses %s %s', async (option, value, message) => {
    const options: Subcommand['options'] = [
      ['--wait <seconds>', 'how long', { read: seconds(0, 60_000) }],
      ['--count <number>', 'how many', { read: wholeNumber(1, 9) }],
      ENV_OPTION,
    ];
    const printed = await call({ options }, 'sample', option, value);
    expect(printed).toContain(message);
    expect(printed).toContain('(shell-adapter sample --help explains it)');
  });

  it('gets its arguments after its options', async () => {
    const args: Subcommand['arguments'] = [
      ['<first>', 'one'],
      ['[rest...]', 'more'],
    ];
    expect(await call({ arguments: args }, 'group', 'sample', 'a', 'b', 'c')).toEqual([{}, 'a', ['b', 'c']]);
  });

  it('passes on the options of another program', async () => {
    const entry = { arguments: [['<command...>', 'a program']], passesOptions: true } as const;
    expect(await call(entry, 'group', 'sample', 'ls', '-l')).toEqual([{}, ['ls', '-l']]);
  });

  it('is loaded when it is called', async () => {
    let count = 0;
    const load: Subcommand['load'] = () => {
      count += 1;
      return Promise.resolve(() => Promise.resolve());
    };
    await call({ run: undefined as never, load }, 'sample', '--help');
    expect(count).toBe(0);
    await call({ run: undefined as never, load }, 'sample');
    expect(count).toBe(1);
  });

  it('shows paragraphs, examples, notes and exit codes in this order', async () => {
    const entry = { before: 'Roles: one.', examples: ['a', 'b'], notes: 'Never twice.', exitCodes: '0 done.' };
    const help = await call(entry, 'sample', '--help');
    expect(help).toContain('\n\nRoles: one.\n\nExamples:\n  a\n  b\n\nNever twice.\n\nExit codes: 0 done.\n');
  });
});
