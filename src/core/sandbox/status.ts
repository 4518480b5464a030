import { AdapterError } from '../errors.js';
import { profilesBelow, profilesFrom, type RealProfile, SANDBOX_PROFILES, type SandboxProfile } from './profiles.js';

/** Reasons why profiles do not work on this machine; a working profile has no entry. */
export type SandboxProblems = Readonly<Partial<Record<RealProfile, string>>>;

/** Sandbox status of a daemon. */
export interface SandboxStatus {
  readonly configured: SandboxProfile;
  /** Profile in which shells start, unless a client asks for a stricter one. */
  readonly profile: SandboxProfile;
  /** Profiles that work on this machine. */
  readonly available: readonly SandboxProfile[];
  /** Reason why `profile` is weaker than the configured one; undefined when it is not. */
  readonly reason: string | undefined;
  readonly problems: SandboxProblems;
}

/** Selects the configured profile, or falls back to the next one that works. */
export function resolveSandboxStatus(configured: SandboxProfile, problems: SandboxProblems): SandboxStatus {
  const works = (profile: SandboxProfile) => profile === 'none' || problems[profile] === undefined;
  const profile = [configured, ...profilesBelow(configured)].find(works) ?? 'none';
  const reason = configured === 'none' ? undefined : problems[configured];
  return { configured, profile, available: SANDBOX_PROFILES.filter(works), reason, problems };
}

/**
 * Selects the profile for a client: the requested one, unless it is less strict than the daemon's own.
 * @throws AdapterError INVALID_REQUEST, SANDBOX_UNAVAILABLE
 */
export function chooseProfile(wanted: SandboxProfile | undefined, status: SandboxStatus): SandboxProfile {
  if (wanted === undefined) return status.profile;
  const allowed = profilesFrom(status.profile);
  if (!allowed.includes(wanted)) {
    throw new AdapterError(
      'INVALID_REQUEST',
      `sandbox ${wanted} is less strict than what is configured (sandbox.profile); allowed: ${allowed.join(', ')}`,
      { details: { field: 'sandbox', allowed } },
    );
  }
  if (status.available.includes(wanted) || wanted === 'none') return wanted;
  throw new AdapterError(
    'SANDBOX_UNAVAILABLE',
    `the sandbox profile ${wanted} does not work on this machine: ${status.problems[wanted] ?? 'it was not tested'}`,
    { details: { available: status.available } },
  );
}
