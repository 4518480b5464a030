import { type Argument, literal } from '../../words/argument.js';
import { parseArguments, tailOf } from '../../subject/options.js';
import { each, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

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
  ...each('-H --header -A --user-agent -e --referer -u --user --url-query --variable --proxy-header -x --proxy', {
    value: 'text',
  } as const),
  '--unix-socket': { value: 'text' } as const,
  ...each('-b --cookie -E --cert --key --cacert', { value: 'read' } as const),
  ...valued('-X -m -w -Y -y -z -C -r -U --request --max-time'),
  ...valued(
    '--connect-timeout --retry --retry-delay --write-out --url --resolve --limit-rate --interface --range --ciphers',
  ),
};

const DATA_OPTIONS = /^(?:-d|--data.*|--json|-F|--form.*|--url-query|--variable)$/;
/** Options whose value is sent to the other machine. */
const SENT_OPTIONS = /^(?:-H|--header|--proxy-header|-A|--user-agent|-e|--referer|-u|--user|-b|--cookie)$/;
/** Sockets of services that give full control over this machine. */
const CONTROL_SOCKET = /(?:^|[:=/])(?:docker|containerd|crio|podman|dockershim|libvirt-sock|private)(?:\.sock)?$/;

/** Adds a finding for talking to such a socket. */
function judgeControlSocket(subject: CommandAnalysis, socket: Argument): void {
  if (socket.value === undefined || CONTROL_SOCKET.test(socket.value))
    subject.add(
      'privilege',
      `${subject.program ?? 'it'} speaks to a service that may do anything here: ${socket.text}`,
    );
}

/** `curl`: judges the data that it sends, and the files that it writes. */
export function judgeCurl(subject: CommandAnalysis): void {
  const { options, operands } = parseArguments(subject.args, { options: CURL_OPTIONS });
  for (const { name, spec, value } of options) {
    if (spec?.value === 'write' && value && value.value !== '-') subject.write(value);
    if (value && (name === '-o' || name === '--output')) subject.noteWritten(value);
    if ((name === '-X' || name === '--request') && /^delete$/i.test(value?.shape ?? ''))
      subject.add('destructive', 'curl deletes remote data');
    if (name === '-K' || name === '--config') subject.add('obfuscated', 'curl reads options from a file');
    if (name === '-T' || name === '--upload-file') subject.add('exfiltration', 'curl sends a file');
    if (spec?.value === 'read' && value) subject.read(value);
    if (DATA_OPTIONS.test(name) && value) judgeData(subject, name, value);
    if ((name === '-H' || name === '--header') && value?.value?.startsWith('@') === true)
      subject.add('exfiltration', 'curl sends a file');
    if ((name === '--url' || SENT_OPTIONS.test(name)) && value) judgeTarget(subject, value);
    if (name === '--unix-socket' && value) judgeControlSocket(subject, value);
  }
  for (const operand of operands) judgeTarget(subject, operand);
  if (options.some(({ name }) => /^(?:-O|--remote-name.*)$/.test(name))) {
    const addresses = options.filter(({ name }) => name === '--url').flatMap(({ value }) => value ?? []);
    for (const address of [...operands, ...addresses]) writeFetched(subject, address);
  }
}

/** The file is named after the last part of its address. */
function writeFetched(subject: CommandAnalysis, { value, text }: Argument, directory = '.'): void {
  const name = /^(?:\w+:\/\/)?[^/?#]+\/(?:[^?#]*\/)?([^/?#]+)/.exec(value ?? '')?.[1];
  if (name === undefined) return;
  const file = literal(`${directory}/${name}`, text);
  subject.write(file);
  subject.noteWritten(file);
}

/** Options of wget, for its spec and its judge. */
export const WGET_OPTIONS = {
  ...each('-O -o -a --output-document --output-file --append-output -P --directory-prefix', {
    value: 'write',
  } as const),
  ...each('--post-file --body-file', { class: 'exfiltration', reason: 'sends a file', value: 'read' } as const),
  ...each('--post-data --body-data', { value: 'text' } as const),
  ...each('--use-askpass -e --execute --config', { class: 'obfuscated', value: 'text' } as const),
  ...valued('--method -t -T -U -i -Q -w -l -A -R -D --tries --timeout --user-agent --header --user --password'),
};

/** `wget`: fetched data becomes files, unless options name another file. */
export function judgeWget(subject: CommandAnalysis): void {
  judgeSender(subject);
  const { options, operands } = parseArguments(subject.args, { options: WGET_OPTIONS });
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

/** An address with the output of a command in it can carry that output away. */
function judgeTarget(subject: CommandAnalysis, { text, hasSubstitution, shape, value }: Argument): void {
  if (hasSubstitution) subject.add('exfiltration', `${subject.program ?? 'it'} sends the output of a command: ${text}`);
  if (value?.startsWith('file:') === true) subject.read({ ...literal(value.replace(/^file:\/*/, '/'), text), shape });
}

/** Programs that send their input or their arguments to others. Host names can carry data too. */
export function judgeSender(subject: CommandAnalysis): void {
  const { stdin } = subject.command;
  const label = subject.program ?? 'it';
  const isEmpty = stdin?.kind === 'file' && stdin.file.value === '/dev/null';
  const isOfClient = stdin?.kind === 'unknown' && stdin.isOfClient === true;
  if (!isEmpty && !isOfClient && (stdin?.kind === 'file' || stdin?.kind === 'unknown')) {
    subject.add(
      'exfiltration',
      `${label} sends ${stdin.kind === 'file' ? stdin.file.text : `the output of ${stdin.what}`}`,
    );
  }
  for (const arg of subject.args) judgeTarget(subject, arg);
}

/** Clients with a command language of their own, in which local shell commands can be called. */
export function judgeFileTransfer(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  judgeSender(subject);
  if (subject.command.stdin) subject.add('obfuscated', `${label} runs commands that cannot be judged`);
}

const COPY_OPTIONS = {
  ...each('-e --rsh -S -J -D', { value: 'shell' } as const),
  ...each('--rsync-path -o -F', { value: 'code' } as const),
  ...valued(
    '-P -l -i -c -X --exclude --include --filter --bwlimit --port --timeout --exclude-from --include-from --files-from',
  ),
  ...each('--backup-dir --log-file --partial-dir --temp-dir', { value: 'write' } as const),
  ...each('--delete --delete-before --delete-during --delete-after --delete-excluded --del --remove-source-files', {}),
};

/** `scp`, `rsync` and similar programs: copies from or to another machine. */
export function judgeRemoteCopy(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const { options, operands } = parseArguments(subject.args, { options: COPY_OPTIONS });
  for (const { name, spec, value } of options) {
    if (spec?.value === 'shell' && value && (label === 'rsync' || name !== '-e'))
      subject.runText(value, `the command that ${label} ${name} runs`);
    if (spec?.value === 'code') subject.add('obfuscated', `${label} ${name} may run programs`);
    if (spec?.value === 'write' && value) subject.write(value);
    if (name === '--daemon') subject.add('exfiltration', `${label} serves files to other machines`);
    if (name.startsWith('--del') || name.startsWith('--remove'))
      subject.add('destructive', `${label} ${name} deletes files`);
  }
  const target = operands.at(-1);
  for (const source of operands.slice(0, -1)) if (!isRemote(source)) subject.read(source);
  if (!target || operands.length < 2) return;
  if (isRemote(target)) subject.add('exfiltration', `${label} sends files to another machine: ${target.text}`);
  else subject.write(target);
}

const isRemote = ({ shape }: Argument): boolean => /^(?:[\w.@\0-]+|\[[^\]]+\]):/.test(shape) || /^\w+:\/\//.test(shape);

/** `socat`: some of its addresses are programs, and some listen for connections. */
export function judgeSocat(subject: CommandAnalysis): void {
  judgeSender(subject);
  for (const arg of subject.args) {
    const [kind, type = ''] = /^([a-z0-9-]+):/i.exec(arg.shape) ?? [];
    if (kind !== undefined && /^(?:exec|system|shell)$/i.test(type)) {
      subject.add('obfuscated', `socat connects a program to another address: ${arg.text}`);
      subject.runText(tailOf(arg, kind.length), 'the command that socat runs');
    }
    if (/^(?:open|create|file|gopen|creat)$/i.test(type))
      subject.write({ ...tailOf(arg, kind?.length ?? 0), ...addressPath(arg, kind?.length ?? 0) });
    if (/^unix-/i.test(type)) judgeControlSocket(subject, { ...arg, ...addressPath(arg, kind?.length ?? 0) });
    if (/-l(?:isten)?$/i.test(type)) subject.add('exfiltration', 'socat accepts connections from other machines');
  }
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

/** Verbs of cloud clients that change state, or that print credentials. */
const CHANGING =
  /^(?:create|update|put|modify|set|attach|detach|add|start|stop|reboot|send|invoke|run|associate|authorize)-/;
const REVEALING =
  /^(?:get-secret-value|get-login-password|get-password-data|print-access-token|print-identity-token|get-access-token|get-session-token|get-credentials|get-parameters?(?:-by-path)?)$/;

/** Command-line clients of cloud providers. */
export function judgeCloud(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  const label = subject.program ?? 'it';
  const verb = words.find((word) => DELETING.test(word.toLowerCase()));
  if (verb !== undefined) subject.add('destructive', `${label} ${verb} deletes remote data`);
  if (
    words.some((word) => /^(?:cp|mv|sync|copy|move|copyto|upload)$/.test(word)) &&
    REMOTE_STORE.test(words.at(-1) ?? '')
  )
    subject.add('exfiltration', `${label} sends files to another machine: ${words.at(-1) ?? ''}`);
  const change = words.find((word) => CHANGING.test(word));
  if (change !== undefined) subject.add('persistence', `${label} ${change} changes remote data`);
  const isVault = label === 'vault' && words.some((word) => /^(?:get|read|login|token)$/.test(word));
  if (isVault || words.some((word) => REVEALING.test(word))) subject.add('exfiltration', `${label} reads credentials`);
  if (words.some((word) => /^(?:--(?:body|zip-file|file|f)$|fileb?:\/\/)/.test(word)) || words.includes('upload'))
    subject.add('exfiltration', `${label} sends files to another machine`);
  if (words.includes('run') && label === 'heroku') subject.add('obfuscated', 'heroku runs commands on another machine');
}
