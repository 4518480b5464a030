import type { JSX } from 'preact';

import type { IconName } from '../router.js';

/** Lines of the icons, on a grid of 24 by 24. */
const PATHS: { readonly [N in IconName]: string } = {
  overview: 'M4 13h6V4H4zm10 7h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  session: 'M3 5h18v14H3zM7 9l3 3-3 3m5 0h5',
  confirmations: 'M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6zM9 12l2 2 4-4',
  checkpoints: 'M4 12a8 8 0 1 0 3-6.200M4 4v4h4m4 0v4l3 2',
  audit: 'M6 3h9l4 4v14H6zM9 10h7m-7 4h7m-7 4h4',
  tokens: 'M14 10a4 4 0 1 0-3 3.900L13 16h2v2h2v2h3v-3l-6.100-6.100zM9 9h.01',
  policy: 'M12 3v18M5 7h14M5 7l-3 6h6zm14 0l-3 6h6zM8 21h8',
  doctor: 'M3 12h4l2-6 4 12 2-6h6',
  nodes: 'M4 4h16v6H4zM4 14h16v6H4zM7 7h.01M7 17h.01',
  recordings: 'M4 5h16v14H4zM10 9l5 3-5 3z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12l4 4',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2m0 16v2M4.900 4.900l1.400 1.400m11.400 11.400l1.400 1.400M2 12h2m16 0h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400',
  moon: 'M20 14A8.500 8.500 0 0 1 10 4a8 8 0 1 0 10 10z',
  warning: 'M12 4l9 16H3zM12 10v4m0 3h.01',
  download: 'M12 4v11m-4-4l4 4 4-4M5 20h14',
  play: 'M7 5l12 7-12 7z',
  stop: 'M6 6h12v12H6z',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M7 14h10',
  signOut: 'M14 4H5v16h9M10 12h11m-4-4l4 4-4 4',
  eye: 'M2 12c3-5 6-7 10-7s7 2 10 7c-3 5-6 7-10 7s-7-2-10-7zm10-3a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  chevron: 'M9 6l6 6-6 6',
};

/** An icon beside a text that says the same. */
export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
