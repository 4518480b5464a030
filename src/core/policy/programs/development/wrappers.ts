import type { WrapperSpec, WrapperTable } from '../../family/wrapper-spec.js';
import { each, valued } from '../../subject/program-spec.js';

const runner: WrapperSpec = { class: 'execute' };

const npmExec: WrapperSpec = {
  class: 'network',
  options: { ...each('-c --call', { value: 'shell' }), '--registry': { value: 'index' }, ...valued('-p --package -w') },
};

/** Subcommands that run a program in the environment of a project, or of a package that they fetch. */
export const WRAPPERS: WrapperTable = {
  'nix-shell --run': { class: 'execute', isJoined: true },
  'nix-shell --command': { class: 'execute', isJoined: true },
  'uv run': {
    class: 'execute',
    options: {
      ...each('--index --index-url --extra-index-url --default-index -i', { value: 'index' }),
      ...each('--find-links -f', { value: 'packages' }),
      ...each('--env-file', { value: 'settings' }),
      ...valued('--with --with-editable --with-requirements --extra --group --python -p --project --directory'),
    },
  },
  'conda run': { class: 'execute', options: valued('-n -p --name --prefix --cwd') },
  'poetry run': { class: 'execute', options: valued('-C -P --directory --project') },
  'pdm run': { class: 'execute', options: valued('-p --project') },
  'pipenv run': runner,
  'hatch run': runner,
  'pipx run': { class: 'network', options: valued('--spec --python --index-url --pip-args') },
  'rustup run': { class: 'execute', skips: 1 },
  'opam exec': { class: 'execute', options: valued('--switch --root') },
  'stack exec': { class: 'execute', options: valued('--package --stack-yaml --cwd') },
  'bundle exec': runner,
  'rbenv exec': runner,
  'pyenv exec': runner,
  'asdf exec': runner,
  'yarn exec': runner,
  'pnpm exec': runner,
  'direnv exec': { class: 'execute', skips: 1 },
  'composer exec': runner,
  'just -c': runner,
  'just --command': runner,
  'npm exec': npmExec,
  'npm x': npmExec,
  'pnpm dlx': npmExec,
  'yarn dlx': npmExec,
  'bun x': npmExec,
  'npm explore': { class: 'execute', skips: 1 },
  npx: npmExec,
  ...each('bunx pnpx uvx', {
    class: 'network',
    options: {
      ...each('--index --index-url --extra-index-url --default-index -i --registry', { value: 'index' }),
      ...each('--find-links -f', { value: 'packages' }),
      ...valued('--from --with -p'),
    },
  }),
  'cmake -E': { class: 'execute' },
};
