import type { CommandClass, PolicyAction } from '../model/classes.js';

/** Action for the commands of each class. */
export type ClassActions = Readonly<Record<CommandClass, PolicyAction>>;

/** Names of the presets, from the mildest to the strictest. */
export const PRESET_NAMES = ['permissive', 'balanced', 'strict'] as const;

/** Name of a preset. */
export type PresetName = (typeof PRESET_NAMES)[number];

/**
 * The presets. Unknown effects (`obfuscated`) are never treated more mildly than the strictest other class. A
 * catastrophe, such as deleting the system, is denied by all presets: see `Finding.isCatastrophe`.
 */
export const PRESETS: Readonly<Record<PresetName, ClassActions>> = {
  permissive: {
    read: 'allow',
    write: 'allow',
    execute: 'allow',
    network: 'allow',
    interactive: 'allow',
    destructive: 'checkpoint',
    privilege: 'allow',
    persistence: 'allow',
    exfiltration: 'confirm',
    obfuscated: 'confirm',
  },
  balanced: {
    read: 'allow',
    write: 'allow',
    execute: 'allow',
    network: 'allow',
    interactive: 'confirm',
    destructive: 'checkpoint',
    privilege: 'confirm',
    persistence: 'confirm',
    exfiltration: 'confirm',
    obfuscated: 'confirm',
  },
  strict: {
    read: 'allow',
    write: 'confirm',
    execute: 'confirm',
    network: 'confirm',
    interactive: 'confirm',
    destructive: 'confirm',
    privilege: 'confirm',
    persistence: 'confirm',
    exfiltration: 'confirm',
    obfuscated: 'confirm',
  },
};
