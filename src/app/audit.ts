import type { Configuration } from '../config/configuration.js';
import { type AuditTrail, NO_AUDIT } from '../core/audit/event.js';
import type { Log } from '../core/log.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { AuditFile } from '../engine/audit/audit-file.js';

import type { Closers } from './closers.js';

/** The audit log. It is closed last but for the engine, so that every end is in it. */
export async function buildAudit(
  { audit: { enabled, filePath, maxFileBytes, backups } }: Configuration,
  mask: SecretMask,
  log: Log,
  closers: Closers,
): Promise<AuditTrail> {
  if (!enabled) return NO_AUDIT;
  const file = await AuditFile.open({
    path: filePath,
    maxBytes: maxFileBytes,
    backups,
    mask,
    onFailure: (error) => {
      log.error('the audit log cannot be written; what happens meanwhile waits, up to a bound', {
        error: String(error),
      });
    },
  });
  closers.push(() => file[Symbol.asyncDispose]());
  return file;
}
