import { readClaudeEvent } from './claude-events.js';
import { type CliDriver, flagged } from './driver.js';

/** Claude Code. Without a login it reports that at once, on stdout. It retries a failing service silently. */
export const claude: CliDriver = {
  name: 'claude',
  binaries: ['claude'],
  // stream-json requires --verbose.
  args: ['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  access: {
    // Without a terminal it refuses everything that needs a confirmation.
    read: { args: [] },
    write: { args: ['--permission-mode', 'acceptEdits'] },
    // As root it refuses this mode unless this variable states that it is intended.
    full: { args: ['--permission-mode', 'bypassPermissions'], env: { IS_SANDBOX: '1' } },
  },
  promptBy: 'stdin',
  promptStyle: 'labelled',
  promptLimit: { max: 10 * 1024 * 1024, unit: 'bytes' },
  modelArgs: flagged('--model'),
  systemArgs: flagged('--append-system-prompt'),
  structured: { args: flagged('--json-schema'), takesAnyObject: true },
  agentFileArgs: undefined,
  env: {
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // The default is 10, with growing pauses: half a minute without output.
    CLAUDE_CODE_MAX_RETRIES: '2',
  },
  // Not CLAUDECODE and the like, which a daemon inherits when such a tool has started it.
  variables: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    'AWS_*',
    'IS_SANDBOX',
  ],
  readEvent: readClaudeEvent,
  exitKinds: {},
};
