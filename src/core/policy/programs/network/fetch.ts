import { type Argument, literal } from '../../words/argument.js';
import { parseArguments, tailOf } from '../../subject/options.js';
import { each, type OptionSpec, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { judgeControlSocket, judgeSender, judgeTarget } from './judge.js';

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
  for (const operand of operands) judgeAddress(subject, operand);
  if (!options.some(({ name }) => /^(?:-O|--remote-name.*)$/.test(name))) return;
  const addresses = options.flatMap(({ name, value }) => (name === '--url' && value ? [value] : []));
  for (const address of [...operands, ...addresses]) writeFetched(subject, address);
}

/** A variable whose name is one of a secret. */
const SECRET_VARIABLE = /\$\{?\w*(?:KEY|TOKEN|SECRET|PASS|CREDENTIAL)\w*/i;
/** Protocols in which the input is sent. */
const SENDS_INPUT = /^(?:telnet|gopher|smtps?|tftp|dict|ldaps?|mqtt|imaps?|pop3s?|ftps?|scp|sftp):/i;

/** An address: what stands in it leaves this machine, and is written to the logs of others. */
function judgeAddress(subject: CommandAnalysis, address: Argument): void {
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

/** Options of wget, for its spec and its judge. */
export const WGET_OPTIONS = {
  ...each('-O -o -a --output-document --output-file --append-output -P --directory-prefix', {
    value: 'write',
  } as const),
  ...each('--post-file --body-file', { class: 'exfiltration', reason: 'sends a file', value: 'read' } as const),
  // Each line is asked for, as an address.
  ...each('-i --input-file', { value: 'read' } as const),
  ...each('--post-data --body-data', { value: 'text' } as const),
  ...each('--use-askpass -e --execute --config', { class: 'obfuscated', value: 'text' } as const),
  ...valued('--method -t -T -U -Q -w -l -A -R -D --tries --timeout --user-agent --header --user --password'),
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
