/** What the engine can know of the operating system: all that Linux shows, or what POSIX has. */
export const PLATFORM_NAMES = ['linux', 'posix'] as const;

export type PlatformName = (typeof PLATFORM_NAMES)[number];
