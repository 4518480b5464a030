import { baseName, normalizePath } from '../paths/paths.js';
import { UNKNOWN } from './argument.js';

/** A partly unknown path, as a pattern; undefined when too little of it is known. */
export function patternOf(shape: string): string | undefined {
  const pattern = shape.replaceAll(UNKNOWN, '*');
  if (shape.startsWith('/')) return normalizePath(pattern, '/');
  const isNamed = shape.startsWith(`${UNKNOWN}/`) && !baseName(pattern).includes('*') && baseName(pattern) !== '';
  // The unknown part may be a home directory, or one in it.
  return isNamed
    ? normalizePath(pattern.replace(/^\*\/(?:\.\.\/)*/, '~/'), '/').replace('/~/', '/home/any/')
    : undefined;
}
