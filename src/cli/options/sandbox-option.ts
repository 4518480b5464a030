import { Option } from 'commander';
import { SANDBOX_PROFILES } from '../../core/sandbox/profiles.js';

/** `--sandbox`, for subcommands that start processes. */
export const sandboxOption = (): Option =>
  new Option('--sandbox <profile>', 'a stricter sandbox than the configured one').choices(SANDBOX_PROFILES);
