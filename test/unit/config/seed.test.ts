import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/read/load.js';
import { BARE_ENV, CWD } from './support.js';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** The sample of the adapter's first documentation. It must load unchanged for as long as there is an adapter. */
const SAMPLE = `adapter:
  adapter_type: "shell"
  connection_check_interval: 300          # in seconds
  workspace_directory: "/home/user/"      # the default directory where a new terminal starts
  session_max_lifetime: 5                 # in minutes
  command_max_lifetime: 60                # in seconds
  max_output_size: 500                    # in characters
  begin_output_size: 200                  # in characters
  end_output_size: 300                    # in characters
  cpu_percent_limit: 50
  memory_mb_limit: 50                     # in MB

logging:
  logging_level: "info"               # DEBUG, INFO, WARNING, ERROR, CRITICAL
  log_file_path: "logs/shell_adapter.log"
  log_format: "%(asctime)s - %(name)s - %(levelname)s - %(message)s"
  max_log_size: 5242880               # Maximum log file size in bytes
  backup_count: 3                     # Number of log file backups to keep

socketio:
  host: "127.0.0.1"                   # Socket.IO server host
  port: 8087                          # Socket.IO server port
  cors_allowed_origins: "*"           # CORS allowed origins
`;

describe('the sample configuration', () => {
  it('is shipped word for word', () => {
    expect(readFileSync(join(PROJECT, 'config/seed.yaml'), 'utf8')).toBe(SAMPLE);
  });

  it('loads and means what it says', () => {
    const file = join(PROJECT, 'config/seed.yaml');
    const { adapter, logging, socketio } = loadConfiguration({ file, env: BARE_ENV, cwd: CWD });
    expect(adapter).toMatchObject({
      adapterType: 'shell',
      connectionCheckIntervalMs: 300_000,
      workspaceDirectory: '/home/user',
      sessionMaxLifetimeMs: 300_000,
      commandTimeoutMs: 60_000,
      commandMaxLifetimeMs: 60_000,
      maxOutputSize: 500,
      beginOutputSize: 200,
      endOutputSize: 300,
      resourceLimits: { cpu_percent: 50, memory_mb: 50 },
    });
    expect(logging).toMatchObject({
      loggingLevel: 'INFO',
      logFilePath: join(PROJECT, 'logs/shell_adapter.log'),
      maxLogSizeBytes: 5_242_880,
      backupCount: 3,
    });
    expect(socketio).toMatchObject({ host: '127.0.0.1', port: 8087, corsAllowedOrigins: '*' });
  });
});

describe('the shipped configuration', () => {
  const file = join(PROJECT, 'config/shell_adapter.yaml');

  it('states the defaults: without the file, all is the same', () => {
    const shipped = loadConfiguration({ file, env: BARE_ENV, cwd: PROJECT });
    const none = loadConfiguration({ env: BARE_ENV, cwd: PROJECT });
    // The one switch that whoever takes the file has on.
    const confirmation = { ...none.confirmation, mode: 'self' };
    expect({ ...shipped, file: undefined }).toEqual({ ...none, confirmation });
  });

  it('listens on port 8087 and logs into the state directory, outside the workspace', () => {
    const { adapter, socketio, logging } = loadConfiguration({ file, env: BARE_ENV, cwd: CWD });
    expect(socketio.port).toBe(8087);
    expect(logging.logFilePath).toBe(join(adapter.stateDirectory, 'shell_adapter.log'));
  });
});
