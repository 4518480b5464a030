import type { Log } from '../core/log.js';

/** Result of one check of something that the daemon needs or can use. */
export interface Finding {
  readonly name: string;
  /** `missing`: the daemon does not work without it. `warn`: its lack costs speed or a feature. */
  readonly status: 'ok' | 'warn' | 'missing';
  readonly detail: string;
  readonly fix?: string;
}

/** The systems whose packages a fix names. */
export const APT = '(Debian, Ubuntu)';

/** How to get what the platform `posix` has not. */
export const ON_LINUX = 'run the daemon on Linux, with adapter.platform auto';

const noop = () => undefined;
/** Nothing is reported but what the examination finds. */
export const QUIET: Log = { debug: noop, info: noop, warn: noop, error: noop };
