import type { CommandAnalysis } from '../subject/command-analysis.js';
import { tailOf } from '../subject/options.js';
import { each, type ProgramCall } from '../subject/program-spec.js';
import { judgeInto, type Role } from '../subject/roles.js';
import { type Argument, literal } from '../words/argument.js';

/** Sockets of services that give full control over this machine. */
const CONTROL_SOCKET = /(?:^|[:=/])(?:docker|containerd|crio|podman|dockershim|libvirt-sock|private)(?:\.sock)?$/;

function judgeControlSocket(subject: CommandAnalysis, socket: Argument): void {
  if (socket.value === undefined || CONTROL_SOCKET.test(socket.value))
    subject.does('connects to a service that controls this machine', socket.text);
}

/** Addresses at which the machines of clouds hand out credentials. */
const CLOUD_CREDENTIALS =
  /^(?:\w+:\/\/)?(?:169\.254\.169\.254|169\.254\.170\.2|169\.254\.170\.23|100\.100\.100\.200|\[fd00:ec2::254\]|2852039166|0x[aA]9[fF][eE][aA]9[fF][eE]|0x[aA]9\.0x[fF][eE]\.0x[aA]9\.0x[fF][eE]|0251\.0376\.0251\.0376|\[::ffff:(?:169\.254\.169\.254|a9fe:a9fe)\]|metadata(?:\.google\.internal)?)(?:[:/]|$)/i;

/** Addresses of this machine, whatever follows the host. */
const LOCAL_ADDRESS = /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/;

/** An address with the output of a command in it can carry that output away. */
function judgeTarget(subject: CommandAnalysis, { text, hasSubstitution, shape, value }: Argument): void {
  if (hasSubstitution && !LOCAL_ADDRESS.test(shape)) subject.does('sends the output of a command', text);
  if (value === undefined) return;
  if (/^file:/i.test(value))
    subject.read({ ...literal(value.replace(/^file:\/*(?:localhost\/)?/i, '/'), text), shape });
  if (CLOUD_CREDENTIALS.test(value)) subject.does('reads the credentials of this machine', text);
}

/** Programs that send their input or their arguments to others. Host names can carry data too. */
export function judgeSender(subject: CommandAnalysis): void {
  const data = sentInput(subject);
  if (data !== undefined) subject.does('sends {what}', data);
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
  if (isRemote(target)) subject.does('sends files to another machine', target.text);
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
    subject.does('connects a program to another address', arg.text);
    subject.runText(tailOf(arg, from), 'the command that socat runs');
  }
  if (/^(?:open|create|file|gopen|creat)$/i.test(type))
    subject.write({ ...tailOf(arg, from), ...addressPath(arg, from) });
  if (/^unix-/i.test(type)) judgeControlSocket(subject, { ...arg, ...addressPath(arg, from) });
  if (/-l(?:isten)?$/i.test(type)) subject.does('accepts connections from other machines');
}

/** The path in an address of socat: its options follow after commas. */
function addressPath(
  { value, shape }: Argument,
  from: number,
): { readonly value: string | undefined; readonly shape: string } {
  const [path = ''] = shape.slice(from).split(',');
  return { shape: path, value: value === undefined ? undefined : path };
}

const REMOTE_STORE = /^[\w-]+:/;

/** Verbs that copy files to the place that is named last. */
const COPYING = /^(?:cp|mv|sync|copy|move|copyto|upload)$/;

export function judgeCloud(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  const label = subject.program ?? 'it';
  if (words.includes('rsync') && words.some((word) => /^-[a-zA-Z]*d/.test(word)))
    subject.does('deletes remote data', '', `${label} rsync -d`);
  const store = remoteTarget(words);
  if (store !== undefined) subject.does('sends files to another machine', store);
  else if (words.some((word) => COPYING.test(word))) judgeLocalCopy(subject);
  const text = ` ${words.join(' ')} `;
  if (PRINTING[label]?.test(text) === true) subject.does('reads credentials');
  if (label === 'heroku' && words.includes('run')) subject.does('runs commands on another machine');
}

/** The last operand of a copy from a remote store is a file of this machine; a dash is standard output. */
function judgeLocalCopy(subject: CommandAnalysis): void {
  const operands = subject.args.filter(({ shape }) => !shape.startsWith('-'));
  const target = operands.at(-1);
  if (target && operands.length > 2) judgeInto(subject, target, operands.slice(0, -1), true);
}

function remoteTarget(words: readonly string[]): string | undefined {
  const last = words.at(-1) ?? '';
  return words.some((word) => COPYING.test(word)) && REMOTE_STORE.test(last) ? last : undefined;
}

/** Commands that print credentials, by client. */
const PRINTING: Readonly<Record<string, RegExp>> = {
  aws: / configure (?:.* )?(?:get|export-credentials) /,
  gcloud: / secrets (?:.* )?access /,
  az: / keyvault (?:.* )?(?:show|download|backup) /,
  vault: / (?:get|read|login|token) /,
  ...each(
    'heroku vercel fly flyctl netlify',
    /^ (?:config|env pull|env ls|auth token|auth:token|env:(?:list|get|clone))/,
  ),
};

/** `curl -O`: the files are named after the last part of their addresses. */
export function judgeCurl(subject: CommandAnalysis, { options, operands }: ProgramCall): void {
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
    subject.does('puts a secret into an address', address.text);
  const { stdin } = subject.command;
  if (SENDS_INPUT.test(address.shape) && stdin && stdin.kind !== 'text')
    subject.does('sends its input to another machine', address.text);
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
  const valueOf = (...names: string[]) => options.findLast(({ name }) => names.includes(name))?.value;
  if (valueOf('-O', '--output-document')) return;
  for (const address of operands) writeFetched(subject, address, valueOf('-P', '--directory-prefix')?.value);
}

/**
 * Data that is sent: a text, or a file behind the mark that the pattern finds.
 * @param file the file in its first group
 */
const judgeData =
  (file: RegExp) =>
  (subject: CommandAnalysis, data: Argument): void => {
    const [, name] = file.exec(data.shape) ?? [];
    if (name !== undefined) {
      subject.does('sends a file', data.text);
      subject.read(tailOf(data, data.shape.length - name.length));
    } else if (data.value === undefined) subject.does('sends data that is known only at run time', data.text);
  };

/** What words are that leave this machine. */
export const SENT_ROLES = {
  address: { takenFor: 'an address', judge: judgeFetchAddress },
  sent: { takenFor: 'text that is sent', judge: judgeTarget },
  'sent-file': {
    takenFor: 'text that is sent, or a file that is read',
    judge: (subject, word) => {
      subject.read(word);
      judgeTarget(subject, word);
    },
  },
  header: {
    takenFor: 'a header, or a file with headers after @',
    judge: (subject, word) => {
      if (word.value?.startsWith('@') === true) subject.does('sends a file');
      judgeTarget(subject, word);
    },
  },
  data: { takenFor: 'data that is sent, or a file with it', judge: judgeData(/^(?:[^=@<]*=)?[@<](.*)$/s) },
  'named-data': { takenFor: 'data that is sent, or name@file', judge: judgeData(/^[^=@]*@(.*)$/s) },
  'raw-data': { takenFor: 'data that is sent', judge: judgeData(/(?!)/) },
  format: {
    takenFor: 'a format, or a file with it after @',
    judge: (subject, word) => {
      if (word.shape.startsWith('@')) subject.read(tailOf(word, 1));
    },
  },
  socket: { takenFor: 'a socket of this machine', judge: judgeControlSocket },
} as const satisfies Readonly<Record<string, Role>>;
