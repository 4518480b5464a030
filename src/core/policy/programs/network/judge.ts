import { type Argument, literal } from '../../words/argument.js';
import { judgeInto } from '../../subject/copying.js';
import { tailOf } from '../../subject/options.js';
import { each, type ProgramCall, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Sockets of services that give full control over this machine. */
const CONTROL_SOCKET = /(?:^|[:=/])(?:docker|containerd|crio|podman|dockershim|libvirt-sock|private)(?:\.sock)?$/;

/** Adds a finding for talking to such a socket. */
export function judgeControlSocket(subject: CommandAnalysis, socket: Argument): void {
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
export function judgeTarget(subject: CommandAnalysis, { text, hasSubstitution, shape, value }: Argument): void {
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

/** Options of `scp`. */
export const SCP_OPTIONS = {
  ...each('-S -J -D', { value: 'shell' } as const),
  ...each('-o -F', { class: 'obfuscated', reason: 'may run programs', value: 'text' } as const),
  ...valued('-P -l -i -c -X'),
};

/** Options of `rsync`. */
export const RSYNC_OPTIONS = {
  ...each('-e --rsh', { value: 'shell' } as const),
  ...each('--rsync-path', { class: 'obfuscated', reason: 'may run programs', value: 'text' } as const),
  ...each('-f -T -M -B --filter --exclude --include --exclude-from --include-from --files-from', {
    value: 'text',
  } as const),
  ...each('--backup-dir --log-file --partial-dir --temp-dir', { value: 'write' } as const),
  ...each('--delete --delete-before --delete-during --delete-after --delete-excluded --del --remove-source-files', {
    class: 'destructive',
    reason: 'deletes files',
  } as const),
  '--daemon': { class: 'exfiltration', reason: 'serves files to other machines' } as const,
  ...valued('--bwlimit --port --timeout --contimeout --max-size --min-size --chmod --chown --usermap --groupmap'),
  ...valued('--compare-dest --copy-dest --link-dest --block-size --info --debug --out-format --password-file --iconv'),
};

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
