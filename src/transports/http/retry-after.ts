import type { ErrorDetails } from '../../core/errors.js';

/**
 * Returns the value of the header `Retry-After` for an error that says when to try again; undefined for others. In whole
 * seconds, as RFC 9110, 10.2.3 has it.
 */
export function retryAfterOf({ details }: { readonly details?: ErrorDetails | undefined }): string | undefined {
  const ms = details?.['retry_after_ms'];
  return typeof ms === 'number' ? String(Math.max(1, Math.ceil(ms / 1000))) : undefined;
}
