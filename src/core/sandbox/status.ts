import { AdapterError } from '../errors.js';
import { profilesBelow, profilesFrom, type RealProfile, SANDBOX_PROFILES, type SandboxProfile } from './profiles.js';

/** Why profiles do not work on this machine; no entry for one that does. */
export type SandboxProblems = Readonly<Partial<Record<RealProfile, string>>>;

/** How it stands with the sandbox of a daemon. */
export interface SandboxStatus {
  readonly configured: SandboxProfile;
  /** What shells are started in, unless a client asks for something stricter. */
  readonly profile: SandboxProfile;
  /** What works on this machine. */
  readonly available: readonly SandboxProfile[];
  /** Why `profile` is less than what is configured; undefined when it is not. */
  readonly reason: string | undefined;
  readonly problems: SandboxProblems;
}

/** Falls back from what is configured to the next profile that works. */
export function resolveSandboxStatus(configured: SandboxProfile, problems: SandboxProblems): SandboxStatus {
  const works = (profile: SandboxProfile) => profile === 'none' || problems[profile] === undefined;
  const profile = [configured, ...profilesBelow(configured)].find(works) ?? 'none';
  const reason = configured === 'none' ? undefined : problems[configured];
  return { configured, profile, available: SANDBOX_PROFILES.filter(works), reason, problems };
}

/**
 * The profile that a client gets: what it asks for, as long as that is not less strict than what everybody gets.
 * @throws AdapterError INVALID_REQUEST, SANDBOX_UNAVAILABLE
 */
export function chooseProfile(wanted: SandboxProfile | undefined, standing: SandboxStatus): SandboxProfile {
  if (wanted === undefined) return standing.profile;
  const allowed = profilesFrom(standing.profile);
  if (!allowed.includes(wanted)) {
    throw new AdapterError(
      'INVALID_REQUEST',
      `sandbox ${wanted} is less strict than what is configured (sandbox.profile); allowed: ${allowed.join(', ')}`,
      { details: { field: 'sandbox', allowed } },
    );
  }
  if (standing.available.includes(wanted) || wanted === 'none') return wanted;
  throw new AdapterError(
    'SANDBOX_UNAVAILABLE',
    `the sandbox profile ${wanted} does not work on this machine: ${standing.problems[wanted] ?? 'it was not tested'}`,
    { details: { available: standing.available } },
  );
}
