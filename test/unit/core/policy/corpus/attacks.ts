import { combine, readLists, type Way } from './lists.js';

const remote = readLists('remote-code');
const evaluated = readLists('evaluated-data');
const settings = readLists('settings-that-run');
const secrets = readLists('secrets');
const later = readLists('later-runs');
const destruction = readLists('destruction');

/** Evaluations of values that the text does not show. A value may be `a[$(command)]`. */
function evaluations(): readonly string[] {
  const all = evaluated.lines('evaluations');
  const after = evaluated.lines('sources').map(
    (source): Way =>
      (evaluation) =>
        `${source}; ${evaluation}`,
  );
  // What a loop, or a quoted text, would end is left out.
  const inLine = all.filter((text) => !/\n|^(?:f\(\)|time|coproc)|'/.test(text));
  return [...combine(after, all), ...combine(evaluated.waysOf('loops'), inLine)];
}

/** Settings of git that name a program: for one call, for later, or by the environment. */
function gitSettings(): readonly string[] {
  const all = settings.lines('git settings');
  return [
    ...combine(settings.waysOf('giving git settings'), all),
    ...combine(
      settings.waysOf('keeping git settings'),
      all.map((setting) => setting.replace('=', ' ')),
    ),
    ...combine(
      [
        (key) => `git --config-env=${key}=X status`,
        (key) => `git --config-env ${key}=X status`,
        (key) => `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=${key} GIT_CONFIG_VALUE_0=./x git status`,
      ],
      all.map((setting) => setting.replace(/=.*/, '')),
    ),
  ];
}

/** Variables that name a program, code or other settings, with a program that heeds them. */
function variables(): readonly string[] {
  const pairs = settings.lines('variables').flatMap((line) => {
    const [names = '', programs = ''] = line.split(' | ');
    return names.split(' ').flatMap((name) => programs.split(', ').map((program) => `${name} ${program}`));
  });
  const ways = settings.lines('setting').map((way): Way => (pair) => {
    const [name = ''] = pair.split(' ', 1);
    return way
      .replaceAll('./x', () => valueFor(name))
      .replaceAll('NAME', name)
      .replaceAll('PROGRAM', () => pair.slice(name.length + 1));
  });
  return combine(ways, pairs);
}

/** A value that runs something: most of the variables take the path of a file. */
function valueFor(name: string): string {
  if (/^(?:NODE_OPTIONS|npm_config_node_options)$/.test(name)) return '--require=./x';
  if (/JAVA|JDK/.test(name)) return '-javaagent:./x';
  return name === 'GOFLAGS' ? '-toolexec=./x' : './x';
}

/** Options with which a program runs another one, loads code, or writes where it is told. */
function options(): readonly string[] {
  const withCommand = (command: string) => (option: string) => option.replaceAll('CMD', command);
  const all = settings.lines('options');
  const inLine = all
    .filter((option) => !/^(?:\(|time |nohup )|[&|] |<<<|&$/.test(option))
    .map(withCommand('rm -rf build'));
  return [
    ...combine([withCommand('rm -rf build'), withCommand('/bin/rm -rf build')], all),
    ...combine(settings.waysOf('around options'), inLine),
  ];
}

/** Files with credentials that are read, whatever leads to them. */
export const READ_SECRETS: readonly string[] = [
  ...combine(secrets.waysOf('readers'), ['~/.ssh/id_rsa', '$HOME/.ssh/id_rsa', '/home/ada/.ssh/id_rsa']),
  ...combine(
    secrets.waysOf('common'),
    secrets.lines('places').flatMap((place) => secrets.lines('listed').map((name) => place.replace('NAME', name))),
  ),
  ...combine(secrets.waysOf('common'), secrets.lines('spellings')),
  ...secrets.lines('walks'),
];

/** Files that run or are trusted later. */
const writtenFiles: readonly string[] = [
  ...combine(later.waysOf('writing'), later.lines('files')),
  ...combine(later.waysOf('common'), later.lines('more files')),
  ...combine(
    later.waysOf('common').filter((way) => !way('').includes("'")),
    later.lines('spellings'),
  ),
  ...combine(later.waysOf('directory ways'), later.lines('directories')),
];

/** Commands that delete, break or end something, in all ways to write a command. */
function destructive(): readonly string[] {
  const all = destruction.lines('destructive');
  const isPlain = (text: string) => !/['"]|:\(\)/.test(text);
  const ways = destruction.waysOf('writing');
  const spellings = destruction.lines('spellings').map(
    (spelling): Way =>
      (text) =>
        spell(spelling, text),
  );
  const named = all.filter((text) => /^[a-z-]{2,} [^<>]*$/.test(text));
  return [
    ...combine(
      ways.filter((way) => !/['"]/.test(way(''))),
      all,
    ),
    ...combine(
      ways.filter((way) => /['"]/.test(way(''))),
      all.filter(isPlain),
    ),
    ...combine(spellings, named),
  ];
}

/** Writes the first word of a command in another way. */
function spell(spelling: string, text: string): string {
  const [program = '', ...rest] = text.split(' ');
  const escaped = (base: 8 | 16) =>
    program.replaceAll(/./g, (char) => `\\${base === 16 ? 'x' : ''}${char.charCodeAt(0).toString(base)}`);
  return spelling
    .replaceAll('PROGRAM', program)
    .replaceAll('FIRST', program.slice(0, 1))
    .replaceAll('REST', program.slice(1))
    .replaceAll('HEX', escaped(16))
    .replaceAll('OCTAL', escaped(8))
    .replaceAll('LIST', rest.join(','))
    .replaceAll('TAIL', () => rest.join(' '));
}

/** Attacks by their class: none of them may run unasked under `balanced`. */
export const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'code from other machines, or out of archives': combine(remote.waysOf('running'), remote.lines('fetches')),
  'code from connections of the shell': combine(remote.waysOf('connected'), remote.lines('interpreters')),
  'shells for others': remote.lines('reverse shells'),
  'values that are evaluated': evaluations(),
  'settings of git that run programs': gitSettings(),
  'variables that run programs': variables(),
  'options that run programs, or write elsewhere': options(),
  'credentials that are read': READ_SECRETS,
  'files that run later': writtenFiles,
  'what destroys': destructive(),
};
