/** How much of the machine a shell may reach, the least strict first. docs/adr/0011 says what each holds. */
export const SANDBOX_PROFILES = ['none', 'workspace', 'strict'] as const;

/** Name of a sandbox profile. */
export type SandboxProfile = (typeof SANDBOX_PROFILES)[number];

/** A profile that needs bubblewrap. */
export type RealProfile = Exclude<SandboxProfile, 'none'>;

/** The profiles that are as strict as this one, or stricter. */
export const profilesFrom = (profile: SandboxProfile): readonly SandboxProfile[] =>
  SANDBOX_PROFILES.slice(SANDBOX_PROFILES.indexOf(profile));

/** The profiles that are less strict than this one, the strictest first. */
export const profilesBelow = (profile: SandboxProfile): readonly SandboxProfile[] =>
  SANDBOX_PROFILES.slice(0, SANDBOX_PROFILES.indexOf(profile)).reverse();
