import { CREDENTIAL_PLACES } from '../../secrets.js';

/**
 * Patterns of paths: `~` is the home directory, `**` any depth, `*` any name. A pattern without a slash applies in any
 * directory.
 */
export type PathPatterns = readonly string[];

/** Files that run later, or that determine what runs later. Those of programs are in their families. */
export const STARTUP_PATHS: PathPatterns = [
  ...['.xinitrc', '.xprofile', '.xsessionrc', '.pam_environment'],
  '~/.local/bin/**',
  // Objects of git come from the places that it names.
  '/**/objects/info/alternates',
  '~/bin/**',
  '~/.config/autostart/**',
  '~/.local/share/applications/**',
];

/** Files on which the whole machine depends. */
export const SYSTEM_PATHS: PathPatterns = [
  '/etc/**',
  '/usr/**',
  '/bin/**',
  '/sbin/**',
  '/lib/**',
  '/lib32/**',
  '/lib64/**',
  '/libx32/**',
  '/boot/**',
  '/opt/**',
  '/var/spool/**',
  '/var/lib/**',
  '/var/log/**',
  '/run/**',
  '/proc/**',
  '/sys/**',
  '/Library/**',
  '/System/**',
];

/** Files that contain credentials, or the memory of processes. */
export const SECRET_PATHS: PathPatterns = [
  ...CREDENTIAL_PLACES.flatMap(({ paths }) => paths),
  ...['/proc/*/environ', '/proc/*/mem', '/proc/kcore', '/dev/mem', '/dev/kmem', '/dev/input/**'],
];

/** Directories without which the machine or the home directory is unusable. `~` is one of them. */
export const CRITICAL_DIRECTORIES: PathPatterns = [
  ...['/', '/bin', '/boot', '/dev', '/etc', '/home', '/lib', '/lib32', '/lib64', '/libx32', '/media', '/mnt', '/opt'],
  ...['/proc', '/root', '/run', '/sbin', '/srv', '/sys', '/usr', '/usr/bin', '/usr/lib', '/usr/local', '/usr/sbin'],
  ...['/var', '/var/lib', '/Applications', '/Library', '/System', '/Users', '~'],
];

/** Devices that may be written to: they store nothing, or belong to the terminal. */
export const HARMLESS_DEVICES: PathPatterns = [
  ...['/dev/null', '/dev/zero', '/dev/full', '/dev/stdin', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/ptmx'],
  ...['/dev/random', '/dev/urandom', '/dev/fd/*'],
  // The open files of a process were judged when it opened them.
  ...['/proc/self/fd/*', '/proc/self/fd/**'],
];

/** Paths that bash opens as network connections. */
export const NETWORK_PATHS: PathPatterns = ['/dev/tcp/**', '/dev/udp/**'];
