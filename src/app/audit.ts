import { type AuditTrail, NO_AUDIT } from '../core/audit/event.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/logging/log.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { AuditFile } from '../engine/audit/audit-file.js';

import { AuditLog } from '../services/audit/audit-log.js';
import { RequestAudit } from '../services/audit/request-audit.js';

import type { EngineContext, RuntimeContext } from './runtime-context.js';

/** Most daemons that may share a state directory, each with its own audit log. */
const MAX_DAEMONS = 64;

/** What writes and reads the audit log of this daemon. */
type Recording = Pick<RuntimeContext, 'audit' | 'requestAudit' | 'auditLog'>;

/** @param file undefined when nothing is recorded */
const recording = (audit: AuditTrail, file?: AuditFile): Recording => ({
  audit,
  requestAudit: new RequestAudit(audit),
  auditLog: new AuditLog(file?.path, () => file?.lastSeq ?? 0),
});

/**
 * Opens the audit log. It is closed last except for the engine, so that it records every end.
 * @throws AdapterError RESOURCE_EXHAUSTED when another daemon writes the file that the configuration names
 */
export async function buildAudit(
  { configuration, closers, platform }: EngineContext,
  mask: SecretMask,
  log: Log,
): Promise<Recording> {
  const { audit } = configuration();
  if (!audit.enabled) return recording(NO_AUDIT);
  const open = (path: string) =>
    AuditFile.open({
      path,
      platform,
      maxBytes: audit.maxSizeBytes,
      backups: audit.backups,
      mask,
      onFailure: (error) => {
        log.error('the audit log cannot be written; what happens meanwhile waits, up to a bound', {
          error: String(error),
        });
      },
    });
  const file = audit.isFileChosen ? await open(audit.file) : await openFirstFree(audit.file, open);
  if (file.path !== audit.file) log.warn('another daemon has the audit log; this one has its own', { file: file.path });
  closers.push(() => file[Symbol.asyncDispose]());
  return recording(file, file);
}

/**
 * Two daemons in one hash chain would break it: opens `audit.jsonl`, or the first unlocked file of `audit-2.jsonl`, …
 */
async function openFirstFree(path: string, open: (path: string) => Promise<AuditFile>): Promise<AuditFile> {
  for (let number = 1; ; number += 1) {
    try {
      return await open(number === 1 ? path : path.replace(/(\.\w+)?$/, `-${number}$1`));
    } catch (error) {
      if (!(error instanceof AdapterError) || number === MAX_DAEMONS) throw error;
    }
  }
}
