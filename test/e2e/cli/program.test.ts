import { describe, expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import { callCli } from './in-process.js';
import { runCli, urlVariable } from './support.js';

const it = daemonTest();

/** Subcommands that other tests run as a program: for a signal, a terminal, a stream or the life of a daemon. */
const RUN_ELSEWHERE = [
  'attach',
  'audit',
  'completion',
  'confirm',
  'cp',
  'doctor',
  'exec',
  'forward',
  'llm',
  'mcp',
  'protocol',
  'record',
  'replay',
  'restart',
  'screenshot',
  'serve',
  'sessions',
  'status',
  'stop',
  'top',
  'version',
  'watch',
];

/** How each of the others is called, and what it then prints or says. */
const CALLS: Readonly<Record<string, readonly [args: readonly string[], code: number, text: RegExp]>> = {
  check: [['ls'], 0, /^allow: read\n/],
  checkpoint: [['--list'], 0, /^There is no checkpoint/],
  close: [['--all'], 0, /^$/],
  config: [['show'], 0, /^file: /m],
  dashboard: [['--role', 'viewer'], 0, /#code=/],
  diff: [['checkpoint_none'], 1, /there is no checkpoint checkpoint_none/],
  help: [['exec'], 0, /^Usage: (?:shell-adapter )?exec /],
  history: [[], 0, /^No command is known\.\n/],
  policy: [['explain', 'rm -rf x'], 0, /the program rm/],
  request: [['list_sessions'], 0, /"sessions": \[\]/],
  metadata: [[], 0, /^workspace {3}\S/m],
  nodes: [['list'], 0, /not part of a cluster/],
  open: [['--shell', 'none'], 1, /none/],
  output: [['none'], 1, /none/],
  ports: [[], 0, /./],
  recordings: [[], 0, /./],
  restore: [['checkpoint_none'], 1, /there is no checkpoint checkpoint_none/],
  skill: [[], 0, /^---\nname: shell-adapter\n/],
  token: [['list'], 0, /^NAME +ROLE /],
  tools: [['--tools', 'core'], 0, /run_command/],
  wait: [['--session', 'session_none', '--port', '1'], 1, /session_none/],
};

describe('the built program', () => {
  it('has no subcommand that is only tested in the process of a test', async () => {
    const { stdout } = await callCli(['--help']);
    const commands = stdout.slice(stdout.indexOf('\nCommands:'));
    const names = [...commands.matchAll(/^ {2}([a-z]+) (?:\[|<| )/gm)].map(([, name = '']) => name);
    expect(names.sort()).toEqual([...RUN_ELSEWHERE, ...Object.keys(CALLS)].sort());
  });

  it.for(Object.entries(CALLS))('runs %s', async ([name, [args, code, text]], { daemon }) => {
    const env = { ...urlVariable(daemon), SHELL_ADAPTER_CONFIG: `${daemon.directory}/config.yaml` };
    const noBrowser = { BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' };
    const result = await runCli([name, ...args], { env: { ...env, ...noBrowser } });
    expect({ code: result.code, text: result.stdout + result.stderr }).toMatchObject({
      code,
      text: expect.stringMatching(text) as string,
    });
  });
});
