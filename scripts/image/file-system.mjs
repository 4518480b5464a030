// Carries out the steps of a Dockerfile's stage in a directory, without a container engine: mmdebstrap makes the base, and
// bubblewrap is the root of each RUN. Needs root.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { readCopy, readVariables } from './dockerfile.mjs';

/** Where images of Node.js have npm, below /usr/local. */
const NPM = 'lib/node_modules/npm';

/**
 * Makes what stands for the base image: a minimal Debian with the Node.js of this machine. The image itself cannot be had
 * without a registry of images.
 */
export function makeBase(directory, release) {
  run('mmdebstrap', ['--quiet', '--variant=minbase', '--mode=root', release, directory]);
  const local = join(directory, 'usr/local');
  copyFileSync(process.execPath, join(local, 'bin/node'));
  const npm = dirname(dirname(execFileSync('readlink', ['-f', which('npm')], { encoding: 'utf8' }).trim()));
  cpSync(npm, join(local, NPM), { recursive: true });
  run('ln', ['-s', `../${NPM}/bin/npm-cli.js`, join(local, 'bin/npm')]);
}

/** Carries out the steps of a stage in `root`. `context` is the folder that is built from; `stages` has the roots of earlier stages. */
export function buildStage(root, { steps }, { context, stages, onStep }) {
  const state = { cwd: '/', env: {} };
  for (const { instruction, text } of steps) {
    if (instruction === 'WORKDIR') mkdirSync(join(root, (state.cwd = resolve(state.cwd, text))), { recursive: true });
    else if (instruction === 'ENV') Object.assign(state.env, readVariables(text));
    else if (instruction === 'RUN') timed(onStep, `RUN ${text}`, () => runStep(root, text, state));
    else if (instruction === 'COPY')
      timed(onStep, `COPY ${text}`, () => copyStep(root, text, { context, stages, state }));
  }
  return state;
}

function timed(onStep, text, act) {
  const start = performance.now();
  act();
  onStep(text, performance.now() - start);
}

function runStep(root, text, { cwd, env }) {
  const binds = [
    ...['--bind', root, '/', '--dev', '/dev', '--proc', '/proc', '--perms', '1777', '--tmpfs', '/tmp', '--chdir', cwd],
    ...['--ro-bind', '/etc/resolv.conf', '/etc/resolv.conf', ...packageSources()],
  ];
  const variables = {
    PATH: PATH_IN_IMAGE,
    HOME: '/root',
    DEBIAN_FRONTEND: 'noninteractive',
    ...packageVariables(),
    ...env,
  };
  run('bwrap', [
    '--clearenv',
    ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
    ...binds,
    'sh',
    '-c',
    text,
  ]);
}

const PATH_IN_IMAGE = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Where this machine gets packages from: its certificates and its settings of npm, which the steps see and the image does not have. */
const packageSources = () =>
  [certificates(), npmSettings()]
    .filter((path) => path !== undefined && existsSync(path))
    .flatMap((path) => ['--ro-bind', path, inBuild(path)]);

const packageVariables = () => ({
  ...(certificates() && { NODE_EXTRA_CA_CERTS: inBuild(certificates()) }),
  ...(npmSettings() && { NPM_CONFIG_USERCONFIG: inBuild(npmSettings()) }),
});

const certificates = () => process.env.NODE_EXTRA_CA_CERTS;
const npmSettings = () => {
  const path = execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim();
  return existsSync(path) ? path : undefined;
};
const inBuild = (path) => `/tmp/${basename(path)}`;

function copyStep(root, text, { context, stages, state: { cwd } }) {
  const { from, sources, target } = readCopy(text);
  const source = from === undefined ? context : stages.get(from);
  const destination = join(root, resolve(cwd, target));
  const ignored = from === undefined ? ignoredIn(context) : new Set();
  for (const name of sources) {
    const path = join(source, name);
    // As Docker does: the content of a folder is copied, not the folder.
    const into = statSync(path).isDirectory() ? destination : join(destination, basename(name));
    cpSync(path, into, { recursive: true, verbatimSymlinks: true, filter: (each) => !ignored.has(each) });
  }
}

/** The paths that `.dockerignore` names. Ours has names at the top alone. */
export const ignoredIn = (context) =>
  new Set(
    readFileSync(join(context, '.dockerignore'), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((name) => join(context, name)),
  );

/** The path of a program; undefined when it is not installed. */
export function which(program) {
  return (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

function run(program, args) {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
