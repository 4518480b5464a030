import type { CommandClass } from '../model/classes.js';
import type { PathKind } from './path-kinds.js';

/** Class and description of a write, by the kind of place. */
export const WRITING: Readonly<Record<PathKind, { readonly class: CommandClass; readonly what: string }>> = {
  harmless: { class: 'read', what: '' },
  network: { class: 'exfiltration', what: 'sends data over a network connection' },
  device: { class: 'destructive', what: 'writes to a device' },
  protected: { class: 'persistence', what: 'changes a file of shell-adapter itself' },
  startup: { class: 'persistence', what: 'changes a file that is executed or trusted later' },
  system: { class: 'persistence', what: 'changes a system file' },
  workspace: { class: 'write', what: 'writes in the workspace' },
  scratch: { class: 'write', what: 'writes in a scratch directory' },
  outside: { class: 'destructive', what: 'writes outside the workspace' },
  unknown: { class: 'obfuscated', what: 'writes to a path that is known only at run time' },
};
