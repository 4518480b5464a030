import type { Page } from '../router.js';
import { loadCode } from '../state/code.js';

/** All pages, in the order of the navigation. Each is a folder here, loaded when it is opened. */
export const pages: readonly Page[] = [
  {
    name: 'overview',
    title: 'Overview',
    icon: 'overview',
    key: 'o',
    load: async () => (await loadCode(() => import('./overview/overview.js'))).Overview,
  },
  {
    name: 'sessions',
    title: 'Session',
    icon: 'session',
    parent: 'overview',
    load: async () => (await loadCode(() => import('./session/session.js'))).Session,
  },
  {
    name: 'confirmations',
    title: 'Confirmations',
    icon: 'confirmations',
    key: 'c',
    needs: 'list_confirmations',
    load: async () => (await loadCode(() => import('./confirmations/confirmations.js'))).Confirmations,
  },
  {
    name: 'checkpoints',
    title: 'Checkpoints',
    icon: 'checkpoints',
    key: 'k',
    needs: 'list_checkpoints',
    load: async () => (await loadCode(() => import('./checkpoints.js'))).Checkpoints,
  },
  {
    name: 'audit',
    title: 'Audit',
    icon: 'audit',
    key: 'a',
    needs: 'read_audit',
    load: async () => (await loadCode(() => import('./audit.js'))).Audit,
  },
  {
    name: 'policy',
    title: 'Policy',
    icon: 'policy',
    key: 'p',
    needs: 'check_command',
    load: async () => (await loadCode(() => import('./policy.js'))).Policy,
  },
  {
    name: 'nodes',
    title: 'Nodes',
    icon: 'nodes',
    key: 'n',
    isOfCluster: true,
    needs: 'list_nodes',
    load: async () => (await loadCode(() => import('./nodes.js'))).Nodes,
  },
  {
    name: 'tokens',
    title: 'Tokens',
    icon: 'tokens',
    key: 't',
    needs: 'list_tokens',
    load: async () => (await loadCode(() => import('./tokens.js'))).Tokens,
  },
  {
    name: 'doctor',
    title: 'Doctor',
    icon: 'doctor',
    key: 'd',
    needs: 'examine_machine',
    load: async () => (await loadCode(() => import('./doctor.js'))).Doctor,
  },
  {
    name: 'recordings',
    title: 'Recordings',
    icon: 'recordings',
    key: 'r',
    needs: 'list_recordings',
    load: async () => (await loadCode(() => import('./recordings/recordings.js'))).Recordings,
  },
];

/** The pages that there are: those about a cluster only in one. */
export const pagesFor = (inCluster: boolean): readonly Page[] =>
  pages.filter(({ isOfCluster }) => inCluster || isOfCluster !== true);
