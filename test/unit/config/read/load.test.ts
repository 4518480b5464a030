import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../../src/config/read/load.js';
import { BARE_ENV, CWD, load, writeConfig } from '../support.js';

describe('loading', () => {
  it.each([
    ['no file', undefined],
    ['an empty file', ''],
    ['a file of comments', '# nothing yet\n'],
    ['sections with nothing in them', 'adapter:\nlogging:\nsocketio:\n'],
    ['an empty section within one', 'adapter:\n  prewarm:\n'],
  ])('gives defaults for %s', (_name, text) => {
    const file = text === undefined ? undefined : writeConfig(text);
    const { adapter, socketio } = loadConfiguration({ file, env: BARE_ENV, cwd: CWD });
    expect(adapter).toEqual({
      adapterType: 'shell',
      workspaceDirectory: CWD,
      shell: 'bash',
      connectionCheckIntervalMs: 300_000,
      sessionMaxLifetimeMs: 86_400_000,
      sessionIdleTimeoutMs: 7_200_000,
      reconnectGraceMs: 600_000,
      commandTimeoutMs: 600_000,
      commandMaxLifetimeMs: 86_400_000,
      detach: false,
      killGraceMs: 2000,
      wedgeTimeoutMs: 3000,
      maxOutputSize: 30_000,
      beginOutputSize: 10_000,
      endOutputSize: 20_000,
      spoolLimitBytes: 268_435_456,
      replayBytes: 1_048_576,
      resourceLimits: {},
      cpuWindowMs: 10_000,
      safetyNet: true,
      diskFreeMbFloor: undefined,
      limitMechanism: 'auto',
      platform: 'auto',
      confineRoot: true,
      maxSessions: 256,
      queueLimit: 32,
      prewarm: { sessions: 1, oneShots: 4 },
      stateDirectory: '/home/ada/.local/state/shell-adapter',
      environment: { pass: [], set: {} },
    });
    expect(socketio).toEqual({
      host: '127.0.0.1',
      isLoopback: true,
      port: 8087,
      corsAllowedOrigins: '*',
      allowedHosts: [],
      tls: undefined,
      insecureTransport: false,
      maxMessageBytes: 1_048_576,
      maxConnections: 1024,
      maxConnectionsPerPeer: 512,
      maxUnfinishedPerPeer: 50,
      handshakeTimeoutMs: 5000,
      pingIntervalMs: 10_000,
      pingTimeoutMs: 10_000,
    });
  });

  it('gives an equal configuration each time it is called', () => {
    const request = { file: writeConfig('adapter: { shell: zsh }'), env: BARE_ENV, cwd: CWD };
    expect(loadConfiguration(request)).toEqual(loadConfiguration(request));
  });

  it('reads a file with a byte order mark and DOS line ends', () => {
    expect(load('\uFEFFadapter:\r\n  shell: zsh\r\n').adapter.shell).toBe('zsh');
  });
});

describe('times', () => {
  it.each([
    ['adapter: { session_max_lifetime: 0.01 }', 'sessionMaxLifetimeMs', 600],
    ['adapter: { command_max_lifetime: 1.5 }', 'commandMaxLifetimeMs', 1500],
    ['adapter: { wedge_timeout: 0.0000001 }', 'wedgeTimeoutMs', 1],
  ] as const)('of %s are whole milliseconds, and never none', (text, key, expected) => {
    expect(load(text).adapter[key]).toBe(expected);
  });
});

describe('time-outs of commands', () => {
  it.each([
    ['{}', 600_000, 86_400_000],
    ['{ command_max_lifetime: 60 }', 60_000, 60_000],
    ['{ command_timeout: 60 }', 60_000, 86_400_000],
    ['{ command_timeout: 60, command_max_lifetime: 3600 }', 60_000, 3_600_000],
    ['{ command_timeout: 600, command_max_lifetime: 60 }', 60_000, 60_000],
  ])('adapter: %s: without a time-out, and at most', (text, commandTimeoutMs, commandMaxLifetimeMs) => {
    expect(load(`adapter: ${text}`).adapter).toMatchObject({ commandTimeoutMs, commandMaxLifetimeMs });
  });
});

describe('output sizes', () => {
  it.each([
    ['max_output_size: 500', 166, 334],
    ['max_output_size: 1', 0, 1],
    ['max_output_size: 500, begin_output_size: 100', 100, 400],
    ['max_output_size: 500, end_output_size: 100', 400, 100],
    ['max_output_size: 500, begin_output_size: 0, end_output_size: 500', 0, 500],
    ['begin_output_size: 1, end_output_size: 2', 1, 2],
  ])('{ %s } keep the two ends within the maximum', (text, begin, end) => {
    const { beginOutputSize, endOutputSize } = load(`adapter: { ${text} }`).adapter;
    expect([beginOutputSize, endOutputSize]).toEqual([begin, end]);
  });

  it.each([
    ['{}', undefined, undefined, undefined],
    ['{ max_output_lines: 300 }', 300, 100, 200],
    ['{ end_output_lines: 20 }', 20, 0, 20],
    ['{ begin_output_lines: 10, end_output_lines: 20 }', 30, 10, 20],
    ['{ max_output_lines: 50, begin_output_lines: 10 }', 50, 10, 40],
  ])('lines of %s', (text, max, begin, end) => {
    const { maxOutputLines, beginOutputLines, endOutputLines } = load(`adapter: ${text}`).adapter;
    expect([maxOutputLines, beginOutputLines, endOutputLines]).toEqual([max, begin, end]);
  });
});

describe('values', () => {
  it.each(['debug', 'Debug', 'DEBUG'])('take a level written as %s', (level) => {
    expect(load(`logging: { logging_level: ${level} }`).logging.loggingLevel).toBe('DEBUG');
  });

  it.each(['127.0.0.1', '127.8.9.10', '::1', 'localhost'])('take the loopback address %s', (host) => {
    expect(load(`socketio: { host: "${host}" }`).socketio.host).toBe(host);
  });

  it.each(['{ tls: { cert: c.pem, key: k.pem }, host: 0.0.0.0 }', '{ insecure_transport: true, host: 0.0.0.0 }'])(
    'take an address that other machines reach with %s',
    (text) => {
      expect(load(`socketio: ${text}`).socketio).toMatchObject({ host: '0.0.0.0', isLoopback: false });
    },
  );

  it('take a certificate and its key as paths, and host names in lower case', () => {
    const { tls, allowedHosts } = load(
      'socketio: { tls: { cert: /c.pem, key: ~/k.pem }, allowed_hosts: [A.example] }',
    ).socketio;
    expect({ tls, allowedHosts }).toEqual({
      tls: { cert: '/c.pem', key: '/home/ada/k.pem' },
      allowedHosts: ['a.example'],
    });
  });

  it.each([
    ['"*"', '*'],
    ['https://example.org', ['https://example.org']],
    ['[https://example.org:8443, http://localhost:3000]', ['https://example.org:8443', 'http://localhost:3000']],
    ['[https://example.org, "*"]', '*'],
    ['[]', []],
  ])('take %s as origins', (text, expected) => {
    expect(load(`socketio: { cors_allowed_origins: ${text} }`).socketio.corsAllowedOrigins).toEqual(expected);
  });

  it.each([
    ['bash', 'bash'],
    ['/usr/local/bin/zsh', '/usr/local/bin/zsh'],
    ['~/bin/bash', '/home/ada/bin/bash'],
  ])('take %s as a shell', (shell, expected) => {
    expect(load(`adapter: { shell: ${shell} }`).adapter.shell).toBe(expected);
  });

  it('take port 0, for any free one', () => {
    expect(load('socketio: { port: 0 }').socketio.port).toBe(0);
  });

  it.each([
    ['', true],
    ['http: { metrics: true }', true],
    ['http: { metrics: false }', false],
  ])('keep figures or not: %j', (text, expected) => {
    expect(load(text).http).toMatchObject({ metrics: expected });
  });

  it('follow an alias', () => {
    expect(load('adapter: { kill_grace: &x 7, wedge_timeout: *x }').adapter.wedgeTimeoutMs).toBe(7000);
  });

  it('give the limits of a session under the names of the wire', () => {
    const { adapter } = load('adapter: { memory_mb_limit: 1.5, cpu_percent_limit: 250 }');
    expect(adapter.resourceLimits).toEqual({ memory_mb: 1.5, cpu_percent: 250 });
  });
});
