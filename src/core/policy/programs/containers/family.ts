import type { ProgramFamily } from '../../family/program-family.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';
import { TYPING } from './typing.js';
import { WRAPPERS } from './wrappers.js';

/** Containers, virtual machines, clusters, and the infrastructure below them. */
export const CONTAINERS: ProgramFamily = {
  name: 'containers',
  programs: SPECS,
  wrappers: WRAPPERS,
  typing: TYPING,
  traits: { runnable: 'docker podman kubectl terraform' },
  equivalents: {
    'docker compose': 'docker-compose',
    'podman compose': 'docker-compose',
    'nerdctl compose': 'docker-compose',
    'docker container': 'docker',
    'podman container': 'podman',
    'nerdctl container': 'nerdctl',
  },
  startupPaths: ['~/.kube/**', '~/.docker/**'],
  examples: EXAMPLES,
};
