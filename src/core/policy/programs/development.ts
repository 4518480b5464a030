import { judgeRun } from './interpreters.js';
import { judgeDatabase } from '../special/database.js';
import { each, type ProgramSpec, type ProgramTable, valued } from './spec.js';

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };
const run: ProgramSpec = { class: 'execute', ...text };
const fetch: ProgramSpec = { class: 'network', ...text };
const publish: ProgramSpec = { class: 'exfiltration', reason: 'publishes files', ...text };
const settings: ProgramSpec = { class: 'persistence', reason: 'changes settings that others follow', ...text };

const containerRun: ProgramSpec = {
  class: 'execute',
  ...text,
  options: {
    ...each('--privileged --cap-add --device --security-opt --pid --ipc --userns', {
      class: 'privilege',
      reason: 'takes a container’s walls down',
      value: 'text',
    }),
    ...each('-v --volume --mount', {
      class: 'privilege',
      reason: 'lets a container change files here',
      value: 'text',
    }),
    ...each('--net --network', { value: 'text' }),
    ...valued(
      '-e -p -w -u -h -m --env --publish --workdir --user --name --entrypoint --env-file --label -l --memory --cpus',
    ),
  },
};

const compose: ProgramSpec = {
  ...run,
  subcommands: {
    ...each('ps logs config images top ls', show),
    ...each('down rm kill', { class: 'destructive', ...text }),
  },
};

/** `pip install` and its like, which may be told where to. */
const install: ProgramSpec = {
  ...fetch,
  options: { ...each('-t --target --root --prefix --src', { value: 'write' }), ...valued('-r -c -i -e -f') },
};

/** Package managers, builders, containers. */
export const DEVELOPMENT: ProgramTable = {
  ...each('npm yarn pnpm bun', {
    ...run,
    judge: (subject) => {
      const { program, args } = subject;
      if (program === 'bun') judgeRun(subject);
      if (program === 'bun' && args.some(({ shape }) => /^(?:-e|-p|--eval|--print|-r|--preload)(?:=|$)/.test(shape)))
        subject.find('obfuscated', 'bun runs code that cannot be judged');
    },
    subcommands: {
      ...each('ls list ll la root prefix bin -v --version help why explain query', show),
      ...each(
        'view info outdated audit search show ping whoami fund install i ci add update up upgrade dedupe create init dlx cache',
        fetch,
      ),
      ...each('publish', publish),
      ...each('unpublish deprecate', { class: 'destructive', ...text }),
      ...each('config set', { ...settings, subcommands: each('get list ls', show) }),
      ...each('login adduser token owner access', { class: 'exfiltration', reason: 'handles credentials', ...text }),
    },
  }),
  ...each('pip pip3 pipx uv poetry pdm pipenv conda mamba', {
    ...run,
    subcommands: {
      ...each('list show freeze check help --version', show),
      install,
      ...each('download add sync lock update upgrade wheel search index create env venv tool', fetch),
      ...each('publish', publish),
      config: settings,
    },
  }),
  ...each('cargo go gem bundle composer mix dotnet mvn gradle gradlew sbt stack cabal opam dart flutter swift', {
    ...run,
    subcommands: {
      ...each('version --version help env tree metadata search', show),
      ...each('install add get fetch update mod download restore', fetch),
      ...each('publish push yank owner login', publish),
    },
  }),
  twine: publish,
  ...each('make gmake ninja cmake meson bazel just task rake ant scons tox nox', {
    ...run,
    options: {
      ...each('--eval', { value: 'code' }),
      ...valued('-C -f -j -I -o -W -G -B -S'),
    },
    judge: (subject) => {
      const { stdin } = subject.command;
      const isRead = subject.args.some(({ value }) => value === '-f-' || value === '-' || value === '/dev/stdin');
      if (isRead && stdin) subject.find('obfuscated', 'make runs what it is given on its input');
      if (subject.args.some(({ shape }) => /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\+?=/.test(shape))) {
        subject.find('obfuscated', 'make is given another shell');
      }
      if (subject.args.some(({ shape }) => /=.*\$[({]shell/.test(shape)))
        subject.find('obfuscated', 'make is given a command');
    },
  }),
  ...each('docker podman', {
    ...run,
    subcommands: {
      ...each('ps images logs inspect version info top stats port diff history search events', show),
      ...each('run create', containerRun),
      ...each('rm rmi prune kill', { class: 'destructive', ...text }),
      ...each('system volume network image container builder buildx', {
        ...run,
        subcommands: {
          ...each('ls list inspect df info', show),
          ...each('rm prune remove', { class: 'destructive', ...text }),
        },
      }),
      ...each('pull', fetch),
      ...each('push', publish),
      ...each('login', { class: 'exfiltration', reason: 'handles credentials', ...text }),
      cp: { class: 'write', operands: 'last-written' },
      compose,
    },
  }),
  'docker-compose': compose,
  ...each('kubectl oc helm k9s', {
    class: 'network',
    ...text,
    subcommands: {
      ...each('get describe logs explain version api-resources top', fetch),
      ...each('delete drain cordon uninstall rollback scale replace', { class: 'destructive', ...text }),
      ...each('apply create patch edit set label annotate install upgrade', {
        class: 'persistence',
        reason: 'changes a cluster',
        ...text,
      }),
    },
  }),
  ...each('terraform tofu pulumi', {
    ...run,
    subcommands: {
      ...each('show output version validate fmt graph providers', show),
      ...each('init plan refresh', fetch),
      ...each('apply import state taint up', { class: 'persistence', reason: 'changes infrastructure', ...text }),
      destroy: { class: 'destructive', ...text },
    },
  }),
  ...each('dropdb dropuser mysqladmin', { class: 'destructive', ...text }),
  ...each('psql mysql mariadb sqlite3 mongosh mongo redis-cli clickhouse-client', { ...run, judge: judgeDatabase }),
};
