import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync } from 'node:zlib';

import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { addPages, readDashboard } from '../../../src/transports/dashboard.js';

const PAGE = '<!doctype html><title>page</title>';
const SCRIPT = 'export const answer = 42;'.repeat(50);
const STYLE = 'body { color: red; }';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-dashboard-'));
  const assets = join(directory, 'assets');
  mkdirSync(assets);
  writeFileSync(join(directory, 'index.html'), PAGE);
  writeFileSync(join(assets, 'main-1.js'), SCRIPT);
  writeFileSync(join(assets, 'main-1.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(assets, 'main-1.css'), STYLE);
  writeFileSync(join(assets, 'secret.txt'), 'not for pages');
  writeFileSync(join(directory, 'manifest.json'), '{}');
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function ask(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const routes = fastify();
  addPages(routes, readDashboard(directory));
  return routes.inject({ method, url, headers });
}

describe('the dashboard is served', () => {
  it('with a strict policy, and is asked for again each time', async () => {
    const { statusCode, headers, body } = await ask('/');
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: PAGE });
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Accept-Encoding',
    });
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('as 304 while it has not changed, in the same coding', async () => {
    const { etag } = (await ask('/')).headers;
    expect((await ask('/', { 'if-none-match': `"other", W/${etag}` })).statusCode).toBe(304);
    expect((await ask('/', { 'if-none-match': '"other"' })).statusCode).toBe(200);
    expect((await ask('/', { 'if-none-match': etag!, 'accept-encoding': 'gzip' })).statusCode).toBe(200);
  });

  it('with assets for ever, compressed by the build', async () => {
    const { headers, rawPayload } = await ask('/assets/main-1.js', { 'accept-encoding': 'gzip, br' });
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
    expect(rawPayload).toEqual(brotliCompressSync(SCRIPT));
  });

  it('compressed when the build has not done so, and plain for those that accept nothing else', async () => {
    const { headers, rawPayload } = await ask('/assets/main-1.css', { 'accept-encoding': 'gzip, br' });
    expect(headers).toMatchObject({ 'content-type': 'text/css; charset=utf-8', 'content-encoding': 'gzip' });
    expect(gunzipSync(rawPayload).toString()).toBe(STYLE);
    const plain = await ask('/assets/main-1.css', { 'accept-encoding': 'zstd' });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.body).toBe(STYLE);
  });

  it('to HEAD without a body', async () => {
    const { statusCode, headers, body } = await ask('/', {}, 'HEAD');
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: '' });
    expect(headers['content-length']).toBe(String(PAGE.length));
  });

  it.each([
    '/assets/nothing.js',
    '/assets/secret.txt',
    '/assets/main-1.js.br',
    '/assets/',
    '/assets/..%2fmanifest.json',
    '/assets/%2e%2e/manifest.json',
    '/manifest.json',
    '/index.html',
  ])('without %s', async (path) => {
    expect((await ask(path)).statusCode).toBe(404);
  });
});

it('says what is missing when it is not built', async () => {
  expect(readDashboard(join(directory, 'assets'))).toBeUndefined();
  const routes = fastify();
  addPages(routes, undefined);
  const { statusCode, body } = await routes.inject('/');
  expect(statusCode).toBe(503);
  expect(body).toContain('npm run build');
});
