import { readClaudeEvent } from './claude-events.js';
import { type CliDriver, flagged } from './driver.js';

/** Claude Code. Not logged in, it says so at once, on stdout. A service that fails it tries again, silently. */
export const claude: CliDriver = {
  name: 'claude',
  binaries: ['claude'],
  // Without --verbose, stream-json is refused.
  args: ['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  access: {
    // Without a terminal it refuses whatever it would have to ask about.
    read: { args: [] },
    write: { args: ['--permission-mode', 'acceptEdits'] },
    // For root it refuses this mode unless it is told that somebody has decided so.
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
    // Ten by default, with pauses that grow: half a minute without a word.
    CLAUDE_CODE_MAX_RETRIES: '2',
  },
  // Not CLAUDECODE and the like, which a daemon has that was started by such a tool.
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
