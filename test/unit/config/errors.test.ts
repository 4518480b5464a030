import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/config/read/load.js';
import { BARE_ENV, CWD, catchError, load, makeDirectory, problemsOf, writeConfig } from './support.js';

describe('an unknown key', () => {
  it.each([
    [
      'adapter:\n  sesion_max_lifetime: 5\n',
      '2:3 adapter.sesion_max_lifetime: unknown key; did you mean "session_max_lifetime"?',
    ],
    ['adapter:\n  maxSessions: 5\n', '2:3 adapter.maxSessions: unknown key; did you mean "max_sessions"?'],
    ['adapter: { prewarm: { oneshots: 1 } }', '1:23 adapter.prewarm.oneshots: unknown key; did you mean "one_shots"?'],
    ['adapter: { port: 1 }', '1:12 adapter.port: unknown key; did you mean "socketio.port"?'],
    ['adapter: { workspace_dir: /x }', '1:12 adapter.workspace_dir: unknown key; did you mean "workspace_directory"?'],
    [
      'settings:\n  llm:\n    shell_providers: {}\n',
      '1:1 settings: unknown key; "llm" in it belongs to the top level of the file: remove this line, and the indentation below it',
    ],
    ['sockeito: {}', '1:1 sockeito: unknown key; did you mean "socketio"?'],
    [
      'zebra: 1',
      '1:1 zebra: unknown key. The sections are adapter, checkpoints, logging, socketio, auth, confirmation, sandbox, llm, audit, recording, environments, secrets, http, notify, traces, cluster',
    ],
    [
      'adapter: { prewarm: { zebra: 1 } }',
      '1:23 adapter.prewarm.zebra: unknown key. The keys of adapter.prewarm are sessions, one_shots',
    ],
    ['adapter: { __proto__: { x: 1 } }', expect.stringContaining('1:12 adapter.__proto__: unknown key.')],
    ['adapter: { 7: 1 }', expect.stringContaining('1:12 adapter.7: unknown key.')],
    ['adapter: { <<: { kill_grace: 1 } }', expect.stringContaining('1:12 adapter.<<: unknown key.')],
  ])('in %j is refused, with its place and the nearest valid one', (text, expected) => {
    expect(problemsOf(text)).toEqual([expected]);
  });
});

describe('values that exclude each other', () => {
  it('are refused: sessions of a cluster are not held beside a daemon', () => {
    const cluster = 'cluster: { enabled: true, secret_file: s, insecure_links: true }';
    expect(problemsOf(`adapter: { detach: true }\n${cluster}`)).toEqual([
      '1:20 adapter.detach: cannot be true with cluster.enabled: sessions of a cluster outlive its gateways, and end with their worker',
    ]);
  });
});

describe('a wrong value', () => {
  const seconds = 'must be a number of seconds above 0 and at most 2147483';
  it.each([
    [
      'sandbox: { network: maybe }',
      '1:21 sandbox.network: must be true, false, or a mapping with `allow`: a list of destinations; got the text "maybe"',
    ],
    [
      'sandbox: { network: { allow: ["https://example.com"] } }',
      expect.stringContaining('1:31 sandbox.network.allow[0]: must be HOST or HOST:PORT, where HOST is a name'),
    ],
    ['sandbox: { network: { allow: [7] } }', '1:31 sandbox.network.allow[0]: must be a text; got the number 7'],
    [
      'sandbox: { network: { max_connections: 5 } }',
      expect.stringContaining('1:12 sandbox.network.allow: must be a list of up to 1000 destinations'),
    ],
    [
      'sandbox: { network: { allow: [], allowed: [] } }',
      '1:21 sandbox.network: has an unknown key, allowed; the keys are allow, max_connections, idle_timeout',
    ],
    [
      'sandbox: { network: { allow: [], idle_timeout: 0 } }',
      `1:48 sandbox.network.idle_timeout: ${seconds}; got the number 0`,
    ],
    ['adapter: { kill_grace: soon }', `1:24 adapter.kill_grace: ${seconds}; got the text "soon"`],
    ['adapter: { kill_grace: "2" }', `1:24 adapter.kill_grace: ${seconds}; got the text "2", write it without quotes`],
    ['adapter: { kill_grace: 0 }', `1:24 adapter.kill_grace: ${seconds}; got the number 0`],
    ['adapter: { kill_grace: -1 }', `1:24 adapter.kill_grace: ${seconds}; got the number -1`],
    ['adapter: { kill_grace: .inf }', `1:24 adapter.kill_grace: ${seconds}; got the number Infinity`],
    ['adapter: { kill_grace: .nan }', `1:24 adapter.kill_grace: ${seconds}; got the number NaN`],
    ['adapter: { kill_grace: 2147484 }', `1:24 adapter.kill_grace: ${seconds}; got the number 2147484`],
    ['adapter: { kill_grace: true }', `1:24 adapter.kill_grace: ${seconds}; got true`],
    ['adapter: { kill_grace: [1] }', `1:24 adapter.kill_grace: ${seconds}; got a list`],
    [
      'adapter: { max_output_size: -3 }',
      '1:29 adapter.max_output_size: must be a whole number (characters) from 1 to 16777216; got the number -3',
    ],
    [
      'adapter:\n  kill_grace:\n',
      `2:3 adapter.kill_grace: ${seconds}; there is nothing, leave the key out for its default`,
    ],
    [
      'socketio: { port: 65536 }',
      '1:19 socketio.port: must be a whole number (port) from 0 to 65535; got the number 65536',
    ],
    [
      'socketio: { port: 80.5 }',
      '1:19 socketio.port: must be a whole number (port) from 0 to 65535; got the number 80.5',
    ],
    ['http: { metrics: yes }', '1:18 http.metrics: must be true or false; got the text "yes"'],
    ['http: { metrics: 1 }', '1:18 http.metrics: must be true or false; got the number 1'],
    ['http: { metric: true }', '1:9 http.metric: unknown key; did you mean "metrics"?'],
    ['adapter: { memory_mb_limit: 0 }', expect.stringContaining('must be a number (MB) above 0')],
    ['adapter: { adapter_type: python }', '1:26 adapter.adapter_type: must be "shell"; got the text "python"'],
    [
      'adapter: { shell: csh }',
      '1:19 adapter.shell: must be bash, zsh, sh, fish, or the path of one of them; got the text "csh"',
    ],
    ['adapter: { workspace_directory: 5 }', '1:33 adapter.workspace_directory: must be a path; got the number 5'],
    ['adapter: { workspace_directory: "" }', expect.stringContaining('must be a path, not an empty text')],
    ['adapter: { workspace_directory: "a\\0b" }', expect.stringContaining('without null characters')],
    ['adapter: { workspace_directory: ~bob/x }', expect.stringContaining('only "~" and "~/…"')],
    ['adapter: 5', '1:10 adapter: must be a mapping of keys to values; got the number 5'],
    ['adapter: { prewarm: 4 }', '1:21 adapter.prewarm: must be a mapping of keys to values; got the number 4'],
    ['adapter: { environment: { pass: PATH } }', expect.stringContaining('must be a list of variable names')],
    [
      'adapter: { environment: { pass: [A, "B*C"] } }',
      '1:37 adapter.environment.pass[1]: must be a list of variable names, each of which may end in "*"; got the text "B*C"',
    ],
    [
      'adapter: { environment: { set: [A] } }',
      expect.stringContaining('must be a mapping of variable names to texts; got a list'),
    ],
    [
      'adapter: { environment: { set: { A: 1 } } }',
      '1:37 adapter.environment.set.A: must be a text; write numbers and true or false in quotes; got the number 1',
    ],
    [
      'adapter: { environment: { set: { "A-B": x } } }',
      '1:34 adapter.environment.set.A-B: is not the name of a variable',
    ],
    [
      'logging: { logging_level: loud }',
      '1:27 logging.logging_level: must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL; got the text "loud"',
    ],
    [
      'logging: { log_format: "%(msg)s" }',
      expect.stringContaining('1:24 logging.log_format: has the unknown field "msg". The fields are %(asctime),'),
    ],
    ['socketio: { cors_allowed_origins: [https://example.org/] }', expect.stringContaining('must be "*" or origins')],
    ['socketio: { cors_allowed_origins: https://*.example.org }', expect.stringContaining('must be "*" or origins')],
    ['socketio: { max_message_bytes: 67108865 }', expect.stringContaining('from 1024 to 67108864')],
  ])('in %j is refused with what is there and what would be right', (text, expected) => {
    expect(problemsOf(text)).toEqual([expected]);
  });

  it.each(['example.org', '127.1', ''])('for the host, %j, is refused', (host) => {
    expect(problemsOf(`socketio: { host: "${host}" }`)).toEqual([
      `1:19 socketio.host: must be an IP address or localhost; got the text "${host}"`,
    ]);
  });

  it.each(['0.0.0.0', '192.168.1.1', '::', '128.0.0.1'])('for the host, %s, is refused without TLS', (host) => {
    expect(problemsOf(`socketio: { host: "${host}" }`)).toEqual([
      '1:19 socketio.host: is an address that other machines reach: give tls.cert and tls.key, or insecure_transport: true',
    ]);
  });

  it('for a host that other machines reach, without tokens, is refused whatever else stands there', () => {
    expect(problemsOf('socketio: { host: 0.0.0.0, insecure_transport: true }\nauth: { mode: none }')).toEqual([
      '2:15 auth.mode: may not be none: other machines reach the daemon at 0.0.0.0',
    ]);
  });

  it('for a certificate without its key is refused', () => {
    expect(problemsOf('socketio: { tls: { cert: cert.pem } }')).toEqual([
      '1:26 socketio.tls.cert: needs key beside it',
    ]);
  });

  it.each(['https://proxy.example', 'proxy.example:8443'])('for a host name, %s, is refused', (name) => {
    expect(problemsOf(`socketio: { allowed_hosts: ["${name}"] }`)).toEqual([
      expect.stringContaining('socketio.allowed_hosts[0]: must be a list of host names, without ports'),
    ]);
  });

  it.each([
    [
      'max_output_size: 500, begin_output_size: 300, end_output_size: 201',
      '1:75 adapter.end_output_size: begin_output_size (300) and end_output_size (201)',
    ],
    [
      'max_output_size: 500, begin_output_size: 501',
      '1:53 adapter.begin_output_size: begin_output_size (501) and end_output_size (0)',
    ],
    ['end_output_size: 30001', '1:29 adapter.end_output_size: begin_output_size (0) and end_output_size (30001)'],
    [
      'max_output_lines: 5, end_output_lines: 6',
      '1:51 adapter.end_output_lines: begin_output_lines (0) and end_output_lines (6) may not be more than max_output_lines (5)',
    ],
    ['max_line_length: 0', '1:29 adapter.max_line_length: must be a whole number (characters) from 1 to'],
  ])('for the output sizes, { %s }, is refused at its place', (text, expected) => {
    expect(problemsOf(`adapter: { ${text} }`)).toEqual([expect.stringContaining(expected)]);
  });
});

describe('a file that is not a plain YAML mapping', () => {
  it.each([
    ['adapter:\n  shell: bash\n  shell: zsh\n', '3:3 : this key is there twice'],
    ['adapter: {}\n---\nlogging: {}\n', '2:1 : a second document begins here; the file may hold one'],
    ['adapter: !!js/function "x"', expect.stringContaining('1:10 : tags that make other than plain data are refused')],
    [
      'adapter: { shell: !sh bash }',
      expect.stringContaining('1:19 : tags that make other than plain data are refused'),
    ],
    ['adapter: !!set { a }', expect.stringContaining('tags that make other than plain data are refused')],
    [
      '%YAML 1.1\n---\nadapter: !!binary aGk=',
      expect.stringContaining('tags that make other than plain data are refused'),
    ],
    ['- adapter', '1:1 : must be a mapping with sections'],
    ['just text', '1:1 : must be a mapping with sections'],
    ['adapter: *nowhere', '1:10 : there is no anchor &nowhere before this'],
    ['adapter: [1', expect.stringMatching(/^1:12 : /)],
    ['adapter:\n\tshell: bash', expect.stringMatching(/^2:1 : .*[Tt]abs/)],
  ])('%j is refused with its place', (text, expected) => {
    expect(problemsOf(text)).toContainEqual(expected);
  });

  it('cannot grow without bound through aliases', () => {
    const levels = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const text = levels.map(
      (name, i) =>
        `${name}: &${name} [${
          i === 0
            ? 'x'
            : Array(9)
                .fill(`*${levels[i - 1]!}`)
                .join(', ')
        }]`,
    );
    expect(problemsOf(text.join('\n'))).toContainEqual(expect.stringContaining('alias'));
  });
});

describe('a file that cannot be read', () => {
  it.each([
    ['that is missing', () => '/nowhere/x.yaml', '/nowhere/x.yaml: cannot be read: ENOENT: no such file or directory'],
    ['that is a directory', makeDirectory, 'cannot be read: EISDIR'],
    [
      'that is not UTF-8',
      () => writeConfig(Buffer.from([0x61, 0xff, 0xfe])),
      'cannot be read: The encoded data was not valid',
    ],
  ])('is said: one %s', (_name, file, expected) => {
    const error = catchError(() => loadConfiguration({ file: file(), env: BARE_ENV, cwd: CWD }));
    expect(error.message).toContain(expected);
  });
});

describe('all errors', () => {
  const text =
    'adapter:\n  kill_grace: no\n  zebra: 1\n  max_output_size: 5\n  end_output_size: 6\nsocketio:\n  port: -1\n  host: ${NOPE}\n';

  it('are said at once', () => {
    expect(problemsOf(text).map((problem) => problem.split(' ', 2).join(' '))).toEqual([
      '2:15 adapter.kill_grace:',
      '3:3 adapter.zebra:',
      '5:20 adapter.end_output_size:',
      '7:9 socketio.port:',
      '8:9 socketio.host:',
    ]);
  });

  it('print well, one to a line, with file, line and column', () => {
    const file = writeConfig('adapter:\n  zebre: 1\n  kill_grace: 0\n');
    const error = catchError(() => loadConfiguration({ file, env: BARE_ENV, cwd: CWD }));
    const [head, ...lines] = error.message.split('\n');
    expect(head).toBe('2 problems in the configuration:');
    expect(lines).toEqual([
      expect.stringContaining(`  ${file}:2:3: adapter.zebre: unknown key.`),
      `  ${file}:3:15: adapter.kill_grace: must be a number of seconds above 0 and at most 2147483; got the number 0`,
    ]);
  });

  it('print on one line when there is one', () => {
    const file = writeConfig('socketio: { port: x }');
    const error = catchError(() => loadConfiguration({ file, env: BARE_ENV, cwd: CWD }));
    expect(error.message).toBe(
      `${file}:1:19: socketio.port: must be a whole number (port) from 0 to 65535; got the text "x"`,
    );
  });

  it('keep control characters of the file off the terminal', () => {
    const error = catchError(() => load('adapter: { shell: "\\e[31m" }'));
    // oxlint-disable-next-line no-control-regex -- it is what must not be there
    expect(error.message).not.toMatch(/\u001b/);
  });
});
