import { type Argument, literal } from '../argument.js';
import { parseArguments, tailOf } from '../options.js';
import { each, valued } from '../programs/spec.js';
import type { Subject } from '../subject.js';

const CURL_OPTIONS = {
  ...each('-d --data --data-ascii --data-binary --data-raw --data-urlencode --json -F --form --form-string', {
    value: 'text',
  } as const),
  ...each('-T --upload-file', { value: 'read' } as const),
  ...each(
    '-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --output-dir --hsts --alt-svc --etag-save',
    {
      value: 'write',
    } as const,
  ),
  ...each('-O -J --remote-name --remote-name-all --remote-header-name', {}),
  ...each('-K --config', { value: 'text' } as const),
  ...each('-b --cookie -E --cert --key --cacert', { value: 'read' } as const),
  ...valued(
    '-H -X -A -e -u -x -m -w -Y -y -z -C -r -U --header --request --user-agent --referer --user --proxy --max-time',
  ),
  ...valued(
    '--connect-timeout --retry --retry-delay --write-out --url --resolve --limit-rate --interface --range --ciphers',
  ),
};

const DATA_OPTIONS = /^(?:-d|--data.*|--json|-F|--form.*)$/;

/** `curl`: what it sends, and where it writes. */
export function judgeCurl(subject: Subject): void {
  const { options, operands } = parseArguments(subject.args, { options: CURL_OPTIONS });
  for (const { name, spec, value } of options) {
    if (spec?.value === 'write' && value && value.value !== '-') subject.write(value);
    if (value && (name === '-o' || name === '--output')) subject.noteWritten(value);
    if ((name === '-X' || name === '--request') && /^delete$/i.test(value?.shape ?? ''))
      subject.find('destructive', 'curl deletes what is kept elsewhere');
    if (name === '-K' || name === '--config') subject.find('obfuscated', 'curl reads options from a file');
    if (name === '-T' || name === '--upload-file') subject.find('exfiltration', 'curl sends a file');
    if (spec?.value === 'read' && value) subject.read(value);
    if (DATA_OPTIONS.test(name) && value) judgeData(subject, name, value);
    if ((name === '-H' || name === '--header') && value?.value?.startsWith('@') === true)
      subject.find('exfiltration', 'curl sends a file');
    if (name === '--url' && value) judgeTarget(subject, value);
  }
  for (const operand of operands) judgeTarget(subject, operand);
  if (options.some(({ name }) => /^(?:-O|--remote-name.*)$/.test(name))) {
    const addresses = options.filter(({ name }) => name === '--url').flatMap(({ value }) => value ?? []);
    for (const address of [...operands, ...addresses]) writeFetched(subject, address);
  }
}

/** A file gets the name that its address ends with. */
function writeFetched(subject: Subject, { value, text }: Argument, directory = '.'): void {
  const name = /^(?:\w+:\/\/)?[^/?#]+\/(?:[^?#]*\/)?([^/?#]+)/.exec(value ?? '')?.[1];
  if (name === undefined) return;
  const file = literal(`${directory}/${name}`, text);
  subject.write(file);
  subject.noteWritten(file);
}

export const WGET_OPTIONS = {
  ...each('-O -o -a --output-document --output-file --append-output -P --directory-prefix', {
    value: 'write',
  } as const),
  ...each('--post-file --body-file', { class: 'exfiltration', reason: 'sends a file', value: 'read' } as const),
  ...each('--post-data --body-data', { value: 'text' } as const),
  ...each('--use-askpass -e --execute --config', { class: 'obfuscated', value: 'text' } as const),
  ...valued('-t -T -U -i -Q -w -l -A -R -D --tries --timeout --user-agent --header --user --password'),
};

/** `wget`: what it fetches becomes files, unless it is told another one. */
export function judgeWget(subject: Subject): void {
  judgeSender(subject);
  const { options, operands } = parseArguments(subject.args, { options: WGET_OPTIONS });
  const valueOf = (...names: string[]) => options.findLast(({ name }) => names.includes(name))?.value;
  const document = valueOf('-O', '--output-document');
  if (document) subject.noteWritten(document);
  else for (const address of operands) writeFetched(subject, address, valueOf('-P', '--directory-prefix')?.value);
}

function judgeData(subject: Subject, name: string, value: Argument): void {
  const { shape } = value;
  const isRaw = name === '--data-raw' || name === '--form-string';
  const file = isRaw ? null : /^(?:[^=@<]*=)?[@<](.*)$/s.exec(shape);
  if (file && /^(?:[^=@<]*=)?[@<]/.test(shape)) {
    subject.find('exfiltration', `curl sends a file: ${value.text}`);
    subject.read(tailOf(value, shape.length - (file[1]?.length ?? 0)));
  } else if (value.value === undefined)
    subject.find('exfiltration', `curl sends what is known only when it runs: ${value.text}`);
}

/** An address that is put together from the output of a command carries it away. */
function judgeTarget(subject: Subject, { text, hasSubstitution, shape, value }: Argument): void {
  if (hasSubstitution)
    subject.find('exfiltration', `${subject.program ?? 'it'} sends the output of a command: ${text}`);
  if (value?.startsWith('file:') === true) subject.read({ ...literal(value.replace(/^file:\/*/, '/'), text), shape });
}

/** Programs that pass their input on, or their arguments: names of hosts carry data too. */
export function judgeSender(subject: Subject): void {
  const { stdin } = subject.command;
  const label = subject.program ?? 'it';
  const isEmpty = stdin?.kind === 'file' && stdin.file.value === '/dev/null';
  if (!isEmpty && (stdin?.kind === 'file' || stdin?.kind === 'unknown')) {
    subject.find(
      'exfiltration',
      `${label} sends ${stdin.kind === 'file' ? stdin.file.text : `what ${stdin.what} prints`}`,
    );
  }
  for (const arg of subject.args) judgeTarget(subject, arg);
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

/** `scp`, `rsync` and their like: from or to another machine. */
export function judgeRemoteCopy(subject: Subject): void {
  const label = subject.program ?? 'it';
  const { options, operands } = parseArguments(subject.args, { options: COPY_OPTIONS });
  for (const { name, spec, value } of options) {
    if (spec?.value === 'shell' && value && (label === 'rsync' || name !== '-e'))
      subject.runText(value, `what ${label} ${name} runs`);
    if (spec?.value === 'code') subject.find('obfuscated', `${label} ${name} may run programs`);
    if (spec?.value === 'write' && value) subject.write(value);
    if (name.startsWith('--del') || name.startsWith('--remove'))
      subject.find('destructive', `${label} ${name} deletes files`);
  }
  const target = operands.at(-1);
  for (const source of operands.slice(0, -1)) if (!isRemote(source)) subject.read(source);
  if (!target || operands.length < 2) return;
  if (isRemote(target)) subject.find('exfiltration', `${label} sends files to another machine: ${target.text}`);
  else subject.write(target);
}

const isRemote = ({ shape }: Argument): boolean => /^(?:[\w.@\0-]+|\[[^\]]+\]):/.test(shape) || /^\w+:\/\//.test(shape);

/** `socat`: of its addresses, some are programs, and some wait for connections. */
export function judgeSocat(subject: Subject): void {
  judgeSender(subject);
  for (const arg of subject.args) {
    const [kind, type = ''] = /^([a-z0-9-]+):/i.exec(arg.shape) ?? [];
    if (kind !== undefined && /^(?:exec|system|shell)$/i.test(type)) {
      subject.find('obfuscated', `socat gives a program to another end: ${arg.text}`);
      subject.runText(tailOf(arg, kind.length), 'what socat runs');
    }
    if (/-l(?:isten)?$/i.test(type)) subject.find('exfiltration', 'socat waits for connections');
  }
}

/** What deletes, and what sends files away, in the words of clouds. */
const DELETING =
  /^(?:rm|rb|del|delete|remove|destroy|purge|terminate|uninstall|deletefile|cleanup)(?:-|$)|:destroy$|-delete$/;
const REMOTE_STORE = /^[\w-]+:/;

/** Clients of clouds. */
export function judgeCloud(subject: Subject): void {
  const words = subject.args.map(({ shape }) => shape);
  const label = subject.program ?? 'it';
  const verb = words.find((word) => DELETING.test(word.toLowerCase()));
  if (verb !== undefined) subject.find('destructive', `${label} ${verb} deletes what is kept elsewhere`);
  if (
    words.some((word) => /^(?:cp|mv|sync|copy|move|copyto|upload)$/.test(word)) &&
    REMOTE_STORE.test(words.at(-1) ?? '')
  )
    subject.find('exfiltration', `${label} sends files to another machine: ${words.at(-1) ?? ''}`);
  if (words.includes('run') && label === 'heroku')
    subject.find('obfuscated', 'heroku runs commands on another machine');
}
