import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { followLinks } from '../../../../src/engine/system/local-files.js';

let place: string;

beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'shell-adapter-links-')));
  mkdirSync(join(place, 'real/inner'), { recursive: true });
  symlinkSync('real', join(place, 'link'));
  symlinkSync('../link/inner', join(place, 'real/again'));
  symlinkSync('b', join(place, 'a'));
  symlinkSync('a', join(place, 'b'));
});

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

it.each([
  ['real/inner', 'real/inner'],
  ['link/inner', 'real/inner'],
  ['link/again', 'real/inner'],
  ['link/again/missing/file', 'real/inner/missing/file'],
  ['missing', 'missing'],
])('follows %s to %s', (path, real) => {
  expect(followLinks(join(place, path), [])).toBe(join(place, real));
});

it('gives up on a circle of links', () => {
  expect(followLinks(join(place, 'a'), [])).toBeUndefined();
});

it('follows absolute links in another root directory', () => {
  symlinkSync('/real/inner', join(place, 'absolute'));
  symlinkSync('/../../absolute/x', join(place, 'real/far'));
  expect(followLinks('/absolute/y', [], place)).toBe('/real/inner/y');
  expect(followLinks('/real/far', [], place)).toBe('/real/inner/x');
});

it('does not touch a file system that may not answer', () => {
  expect(followLinks(join(place, 'link/inner'), [join(place, 'real')])).toBeUndefined();
  expect(followLinks(join(place, 'real-other'), [join(place, 'real')])).toBe(join(place, 'real-other'));
  expect(followLinks('/', [])).toBe('/');
});
