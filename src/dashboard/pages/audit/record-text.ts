import type { Answer } from '../../../client/index.js';
import type { Tone } from '../../components/tone.js';

/** A record of the audit log. */
export type AuditRecord = Answer<'read_audit'>['records'][number];

/** The name of the token that caused a record; empty for the daemon itself. */
export function principalOf(record: AuditRecord): string {
  const { name } = (record['principal'] ?? {}) as { readonly name?: string };
  return name ?? '';
}

/** A field of a record that is a text; empty otherwise. */
export const textOf = (record: AuditRecord, field: string): string => {
  const value = record[field];
  return typeof value === 'string' ? value : '';
};

/** The most telling of a record in one line: what was asked for, and what came of it. */
export function summaryOf(record: AuditRecord): string {
  const { reasons = [] } = (record['verdict'] ?? {}) as { readonly reasons?: readonly string[] };
  const args = Array.isArray(record['args']) ? record['args'].map(String) : [];
  const command = [textOf(record, 'command'), ...args].filter(Boolean).join(' ');
  const parts = [textOf(record, 'request'), command, reasons[0] ?? '', detailOf(record)];
  return parts.filter(Boolean).join(', ');
}

/** What a record says came of it: its outcome, or the action of a verdict. */
export function outcomeOf(record: AuditRecord): { readonly text: string; readonly tone: Tone } | undefined {
  const { action } = (record['verdict'] ?? {}) as { readonly action?: string };
  const text = textOf(record, 'outcome') || (action ?? '');
  return text === '' ? undefined : { text, tone: TONES[text] ?? (/^[A-Z_]+$/.test(text) ? 'bad' : 'neutral') };
}

const TONES: { readonly [text: string]: Tone } = {
  ok: 'good',
  approved: 'good',
  allow: 'good',
  checkpoint: 'info',
  confirm: 'warn',
  asked: 'warn',
  deny: 'bad',
  rejected: 'bad',
};

/** Details in a few words: those that are texts or numbers. */
function detailOf(record: AuditRecord): string {
  const details = Object.entries((record['details'] ?? {}) as Readonly<Record<string, unknown>>);
  return details
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
    .slice(0, 3)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}
