import type { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeInto } from '../subject/copying.js';
import { parseArguments, tailOf } from '../subject/options.js';
import { each, type OptionSpec, type ProgramCall, valued } from '../subject/program-spec.js';
import { type Argument, literal } from '../words/argument.js';

/** Sockets of services that give full control over this machine. */
const CONTROL_SOCKET = /(?:^|[:=/])(?:docker|containerd|crio|podman|dockershim|libvirt-sock|private)(?:\.sock)?$/;

/** Adds a finding for talking to such a socket. */
function judgeControlSocket(subject: CommandAnalysis, socket: Argument): void {
  if (socket.value === undefined || CONTROL_SOCKET.test(socket.value))
    subject.add(
      'privilege',
      `${subject.program ?? 'it'} connects to a service that controls this machine: ${socket.text}`,
    );
}

/** Addresses at which the machines of clouds hand out credentials. */
const CLOUD_CREDENTIALS =
  /^(?:\w+:\/\/)?(?:169\.254\.169\.254|169\.254\.170\.2|169\.254\.170\.23|100\.100\.100\.200|\[fd00:ec2::254\]|2852039166|0x[aA]9[fF][eE][aA]9[fF][eE]|0x[aA]9\.0x[fF][eE]\.0x[aA]9\.0x[fF][eE]|0251\.0376\.0251\.0376|\[::ffff:(?:169\.254\.169\.254|a9fe:a9fe)\]|metadata(?:\.google\.internal)?)(?:[:/]|$)/i;

/** Addresses of this machine, whatever follows the host. */
const LOCAL_ADDRESS = /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/;

/** An address with the output of a command in it can carry that output away. */
function judgeTarget(subject: CommandAnalysis, { text, hasSubstitution, shape, value }: Argument): void {
  if (hasSubstitution && !LOCAL_ADDRESS.test(shape))
    subject.add('exfiltration', `${subject.program ?? 'it'} sends the output of a command: ${text}`);
  if (value === undefined) return;
  if (/^file:/i.test(value))
    subject.read({ ...literal(value.replace(/^file:\/*(?:localhost\/)?/i, '/'), text), shape });
  if (CLOUD_CREDENTIALS.test(value))
    subject.add('exfiltration', `${subject.program ?? 'it'} reads the credentials of this machine: ${text}`);
}

/** Programs that send their input or their arguments to others. Host names can carry data too. */
export function judgeSender(subject: CommandAnalysis): void {
  const data = sentInput(subject);
  if (data !== undefined) subject.add('exfiltration', `${subject.program ?? 'it'} sends ${data}`);
  for (const arg of subject.args) judgeTarget(subject, arg);
}

/** A description of the input that leaves this machine; undefined if there is none, or if the client sent it. */
function sentInput({ command: { stdin } }: CommandAnalysis): string | undefined {
  switch (stdin?.kind) {
    case 'file':
      return stdin.file.value === '/dev/null' ? undefined : stdin.file.text;
    case 'unknown':
      return stdin.isOfClient === true ? undefined : `the output of ${stdin.what}`;
    case 'text':
    case undefined:
      return undefined;
  }
}

/** Clients with a command language of their own, in which local shell commands can be called. */
export function judgeFileTransfer(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  judgeSender(subject);
  if (subject.command.stdin) subject.add('obfuscated', `${label} runs commands that cannot be judged`);
}

/** `scp`, `rsync` and similar programs: copies from or to another machine. */
export function judgeRemoteCopy(subject: CommandAnalysis, { args, operands }: ProgramCall): void {
  const label = subject.program ?? 'it';
  const isRecursive = args.some(({ shape }) => /^(?:-[A-Za-z]*[ar]|--archive|--recursive)/.test(shape));
  const sources = operands.slice(0, -1);
  for (const source of sources) {
    if (isRemote(source)) continue;
    if (isRecursive) subject.readTree(source);
    else subject.read(source);
  }
  const target = operands.at(-1);
  if (!target || sources.length === 0) return;
  if (isRemote(target)) subject.add('exfiltration', `${label} sends files to another machine: ${target.text}`);
  // Of a directory with a slash at its end, rsync copies what is in it.
  else
    judgeInto(
      subject,
      target,
      sources.filter(({ shape }) => label !== 'rsync' || !shape.endsWith('/')),
      isRecursive,
    );
}

const isRemote = ({ shape }: Argument): boolean => /^(?:[\w.@\0-]+|\[[^\]]+\]):/.test(shape) || /^\w+:\/\//.test(shape);

/** `socat`: some of its addresses are programs, and some listen for connections. */
export function judgeSocat(subject: CommandAnalysis): void {
  judgeSender(subject);
  for (const arg of subject.args) {
    const [prefix, type] = /^([a-z0-9-]+):/i.exec(arg.shape) ?? [];
    if (prefix !== undefined && type !== undefined) judgeAddress(subject, type, arg, prefix.length);
  }
}

/** Judges an address of socat, in which `type:` ends at `from`. */
function judgeAddress(subject: CommandAnalysis, type: string, arg: Argument, from: number): void {
  if (/^(?:exec|system|shell)$/i.test(type)) {
    subject.add('obfuscated', `socat connects a program to another address: ${arg.text}`);
    subject.runText(tailOf(arg, from), 'the command that socat runs');
  }
  if (/^(?:open|create|file|gopen|creat)$/i.test(type))
    subject.write({ ...tailOf(arg, from), ...addressPath(arg, from) });
  if (/^unix-/i.test(type)) judgeControlSocket(subject, { ...arg, ...addressPath(arg, from) });
  if (/-l(?:isten)?$/i.test(type)) subject.add('exfiltration', 'socat accepts connections from other machines');
}

/** The path in an address of socat: its options follow after commas. */
function addressPath({ value, shape }: Argument, from: number): Pick<Argument, 'value' | 'shape'> {
  const [path = ''] = shape.slice(from).split(',');
  return { shape: path, value: value === undefined ? undefined : path };
}

/** Verbs of cloud clients that delete, or that send files away. */
const DELETING =
  /^(?:rm|rb|del|delete|remove|destroy|purge|terminate|uninstall|deletefile|cleanup)(?:-|$)|:destroy$|-delete$/;
const REMOTE_STORE = /^[\w-]+:/;

/** Verbs that copy files to the place that is named last. */
const COPYING = /^(?:cp|mv|sync|copy|move|copyto|upload)$/;
/** Words after which a file is sent, or that name one to be sent. */
const UPLOADING = /^(?:(?:--(?:body|zip-file|file|f)|upload)$|fileb?:\/\/)/;

/** Verbs of cloud clients that change state, or that print credentials. */
const CHANGING =
  /^(?:create|update|put|modify|set|attach|detach|add|start|stop|reboot|send|invoke|run|associate|authorize)-|^invoke$/;
const REVEALING =
  /^(?:get-secret-value|get-login-password|get-password-data|print-access-token|print-identity-token|get-access-token|get-session-token|get-credentials|get-parameters?(?:-by-path)?)$/;

/** Command-line clients of cloud providers. */
export function judgeCloud(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  const label = subject.program ?? 'it';
  const verb = deletingWord(words);
  if (verb !== undefined) subject.add('destructive', `${label} ${verb} deletes remote data`);
  const store = remoteTarget(words);
  if (store !== undefined) subject.add('exfiltration', `${label} sends files to another machine: ${store}`);
  else if (words.some((word) => COPYING.test(word))) judgeLocalCopy(subject);
  const change = words.find((word) => CHANGING.test(word));
  if (change !== undefined) subject.add('persistence', `${label} ${change} changes remote data`);
  if (readsCredentials(label, words)) subject.add('exfiltration', `${label} reads credentials`);
  if (words.some((word) => UPLOADING.test(word)))
    subject.add('exfiltration', `${label} sends files to another machine`);
  if (label === 'heroku' && words.includes('run')) subject.add('obfuscated', 'heroku runs commands on another machine');
}

/** A verb that deletes, or `-d` of `gsutil rsync`. */
const deletingWord = (words: readonly string[]): string | undefined =>
  words.find((word) => DELETING.test(word.toLowerCase())) ??
  (words.includes('rsync') ? words.find((word) => /^-[a-zA-Z]*d/.test(word)) : undefined);

/** The last operand of a copy from a remote store is a file of this machine; a dash is standard output. */
function judgeLocalCopy(subject: CommandAnalysis): void {
  const operands = subject.args.filter(({ shape }) => !shape.startsWith('-'));
  const target = operands.at(-1);
  if (target && operands.length > 2) judgeInto(subject, target, operands.slice(0, -1), true);
}

/** The remote store to which files are copied. */
function remoteTarget(words: readonly string[]): string | undefined {
  const last = words.at(-1) ?? '';
  return words.some((word) => COPYING.test(word)) && REMOTE_STORE.test(last) ? last : undefined;
}

/** Commands that print credentials, by client: all words of one of them have to occur. */
const PRINTING: Readonly<Record<string, readonly RegExp[]>> = {
  aws: [/ configure (?:.* )?(?:get|export-credentials) /],
  gcloud: [/ secrets (?:.* )?access /],
  az: [/ keyvault (?:.* )?(?:show|download|backup) /],
  vault: [/ (?:get|read|login|token) /],
  ...Object.fromEntries(
    ['heroku', 'vercel', 'fly', 'flyctl', 'netlify'].map((name) => [
      name,
      [/^ (?:config|env pull|env ls|auth token|auth:token|env:(?:list|get|clone))/],
    ]),
  ),
};

function readsCredentials(label: string, words: readonly string[]): boolean {
  const text = ` ${words.join(' ')} `;
  return PRINTING[label]?.some((pattern) => pattern.test(text)) === true || words.some((word) => REVEALING.test(word));
}

const CURL_OPTIONS = {
  ...each('-d --data --data-ascii --data-binary --data-raw --data-urlencode --json -F --form --form-string', {
    value: 'text',
  } as const),
  ...each('-T --upload-file', { value: 'read' } as const),
  ...each(
    '-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --output-dir --hsts --alt-svc --etag-save --libcurl',
    {
      value: 'write',
    } as const,
  ),
  ...each('-O -J --remote-name --remote-name-all --remote-header-name', {}),
  ...each('-K --config', { value: 'text' } as const),
  ...each('--engine', { value: 'text' } as const),
  ...each('-n --netrc --netrc-optional', {}),
  ...each('-H --header -A --user-agent -e --referer -u --user --url-query --variable --proxy-header -x --proxy', {
    value: 'text',
  } as const),
  '--unix-socket': { value: 'text' } as const,
  ...each('-b --cookie -E --cert --key --cacert --netrc-file', { value: 'read' } as const),
  ...valued('-X -m -w -Y -y -z -C -r -U --request --max-time'),
  ...valued(
    '--connect-timeout --retry --retry-delay --write-out --url --resolve --limit-rate --interface --range --ciphers',
  ),
};

const DATA_OPTIONS = /^(?:-d|--data.*|--json|-F|--form.*|--url-query|--variable)$/;
/** Options whose value is sent to the other machine. */
const SENT_OPTIONS = /^(?:-H|--header|--proxy-header|-A|--user-agent|-e|--referer|-u|--user|-b|--cookie|--url)$/;
/** Effects of curl's options beyond the files that they name; `name` is the option's name. */
const CURL_EFFECTS: readonly {
  readonly names: RegExp;
  readonly judge: (subject: CommandAnalysis, value: Argument | undefined, name: string) => void;
}[] = [
  {
    names: /^(?:-o|--output)$/,
    judge: (subject, value) => {
      if (value) subject.noteWritten(value);
    },
  },
  {
    names: /^(?:-X|--request)$/,
    judge: (subject, value) => {
      if (/^delete$/i.test(value?.shape ?? '')) subject.add('destructive', 'curl deletes remote data');
    },
  },
  {
    names: /^(?:-K|--config)$/,
    judge: (subject) => {
      subject.add('obfuscated', 'curl reads options from a file');
    },
  },
  {
    names: /^(?:-n|--netrc|--netrc-optional)$/,
    judge: (subject) => {
      subject.add('exfiltration', 'curl sends a password of ~/.netrc');
    },
  },
  {
    names: /^(?:-w|--write-out)$/,
    judge: (subject, value) => {
      if (value?.shape.startsWith('@') === true) subject.read(tailOf(value, 1));
    },
  },
  {
    names: /^--engine$/,
    judge: (subject) => {
      subject.add('obfuscated', 'curl --engine loads code');
    },
  },
  {
    names: /^(?:-T|--upload-file)$/,
    judge: (subject) => {
      subject.add('exfiltration', 'curl sends a file');
    },
  },
  {
    names: /^(?:-T|--upload-file|-b|--cookie|-E|--cert|--key|--cacert|--netrc-file)$/,
    judge: (subject, value) => {
      if (value) subject.read(value);
    },
  },
  {
    names: DATA_OPTIONS,
    judge: (subject, value, name) => {
      if (value) judgeData(subject, name, value);
    },
  },
  {
    names: /^(?:-H|--header)$/,
    judge: (subject, value) => {
      if (value?.value?.startsWith('@') === true) subject.add('exfiltration', 'curl sends a file');
    },
  },
  {
    names: SENT_OPTIONS,
    judge: (subject, value) => {
      if (value) judgeTarget(subject, value);
    },
  },
  {
    names: /^--unix-socket$/,
    judge: (subject, value) => {
      if (value) judgeControlSocket(subject, value);
    },
  },
];

/** Whether an option names a file to write; a lone dash is standard output. */
const isWritten = (spec: OptionSpec | undefined, { value }: Argument): boolean =>
  spec?.value === 'write' && value !== '-';

/** `curl`: judges the data that it sends, and the files that it writes. */
export function judgeCurl(subject: CommandAnalysis): void {
  const { options, operands } = parseArguments(subject.args, { options: CURL_OPTIONS });
  for (const { name, spec, value } of options) {
    if (value && isWritten(spec, value)) subject.write(value);
    for (const { names, judge } of CURL_EFFECTS) if (names.test(name)) judge(subject, value, name);
  }
  for (const operand of operands) judgeFetchAddress(subject, operand);
  if (!options.some(({ name }) => /^(?:-O|--remote-name.*)$/.test(name))) return;
  const addresses = options.flatMap(({ name, value }) => (name === '--url' && value ? [value] : []));
  for (const address of [...operands, ...addresses]) writeFetched(subject, address);
}

/** A variable whose name is one of a secret. */
const SECRET_VARIABLE = /\$\{?\w*(?:KEY|TOKEN|SECRET|PASS|CREDENTIAL)\w*/i;
/** Protocols in which the input is sent. */
const SENDS_INPUT = /^(?:telnet|gopher|smtps?|tftp|dict|ldaps?|mqtt|imaps?|pop3s?|ftps?|scp|sftp):/i;

/** An address: what stands in it leaves this machine, and is written to the logs of others. */
function judgeFetchAddress(subject: CommandAnalysis, address: Argument): void {
  judgeTarget(subject, address);
  if (address.value === undefined && SECRET_VARIABLE.test(address.text))
    subject.add('exfiltration', `curl puts a secret into an address: ${address.text}`);
  const { stdin } = subject.command;
  if (SENDS_INPUT.test(address.shape) && stdin && stdin.kind !== 'text')
    subject.add('exfiltration', `curl sends its input: ${address.text}`);
}

/** The file is named after the last part of its address. */
function writeFetched(subject: CommandAnalysis, { value, text }: Argument, directory = '.'): void {
  const name = /^(?:\w+:\/\/)?[^/?#]+\/(?:[^?#]*\/)?([^/?#]+)/.exec(value ?? '')?.[1];
  if (name === undefined) return;
  const file = literal(`${directory}/${name}`, text);
  subject.write(file);
  subject.noteWritten(file);
}

/** `wget`: fetched data becomes files, unless options name another file. */
export function judgeWget(subject: CommandAnalysis, { options, operands }: ProgramCall): void {
  judgeSender(subject);
  if (options.some(({ name, value }) => name === '--method' && value?.shape.toUpperCase() === 'DELETE'))
    subject.add('destructive', 'wget deletes remote data');
  const valueOf = (...names: string[]) => options.findLast(({ name }) => names.includes(name))?.value;
  const document = valueOf('-O', '--output-document');
  if (document) subject.noteWritten(document);
  else for (const address of operands) writeFetched(subject, address, valueOf('-P', '--directory-prefix')?.value);
}

function judgeData(subject: CommandAnalysis, name: string, value: Argument): void {
  const { shape } = value;
  const isRaw = name === '--data-raw' || name === '--form-string';
  // Both options take `name@file`.
  const pattern = /^--(?:data-urlencode|url-query|variable)$/.test(name)
    ? /^[^=@]*@(.*)$/s
    : /^(?:[^=@<]*=)?[@<](.*)$/s;
  const file = isRaw ? null : pattern.exec(shape);
  if (file) {
    subject.add('exfiltration', `curl sends a file: ${value.text}`);
    subject.read(tailOf(value, shape.length - (file[1]?.length ?? 0)));
  } else if (value.value === undefined)
    subject.add('exfiltration', `curl sends data that is known only at run time: ${value.text}`);
}
