/**
 * Sandbox profiles, the least strict first: the part of the machine that a shell may reach. docs/develop/adr/0011 describes
 * each.
 */
export const SANDBOX_PROFILES = ['none', 'workspace', 'strict'] as const;

export type SandboxProfile = (typeof SANDBOX_PROFILES)[number];

/** A profile that needs bubblewrap. */
export type RealProfile = Exclude<SandboxProfile, 'none'>;

/** The profiles that are at least as strict as this one. */
export const profilesFrom = (profile: SandboxProfile): readonly SandboxProfile[] =>
  SANDBOX_PROFILES.slice(SANDBOX_PROFILES.indexOf(profile));

/** The profiles that are less strict than this one, the strictest first. */
export const profilesBelow = (profile: SandboxProfile): readonly SandboxProfile[] =>
  SANDBOX_PROFILES.slice(0, SANDBOX_PROFILES.indexOf(profile)).reverse();
