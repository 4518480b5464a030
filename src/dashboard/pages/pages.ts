import type { Page } from '../router/page.js';

/** All pages, in the order of the navigation. Each is a folder here, loaded when it is opened. */
export const pages: readonly Page[] = [
  {
    name: 'overview',
    title: 'Overview',
    icon: 'overview',
    key: 'o',
    load: async () => (await import('./overview/overview.js')).Overview,
  },
  {
    name: 'sessions',
    title: 'Session',
    icon: 'session',
    parent: 'overview',
    load: async () => (await import('./session/session.js')).Session,
  },
  {
    name: 'confirmations',
    title: 'Confirmations',
    icon: 'confirmations',
    key: 'c',
    needs: 'list_confirmations',
    load: async () => (await import('./confirmations/confirmations.js')).Confirmations,
  },
  {
    name: 'recordings',
    title: 'Recordings',
    icon: 'recordings',
    key: 'r',
    needs: 'list_recordings',
    load: async () => (await import('./recordings/recordings.js')).Recordings,
  },
];
