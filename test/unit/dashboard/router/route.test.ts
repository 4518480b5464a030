import { describe, expect, it } from 'vitest';

import { hrefOf, parseRoute } from '../../../../src/dashboard/route.js';

describe('routes of the dashboard', () => {
  it.each([
    ['', { page: 'overview', segments: [], query: {} }],
    ['#/', { page: 'overview', segments: [], query: {} }],
    ['#/sessions/a%2Fb', { page: 'sessions', segments: ['a/b'], query: {} }],
    ['#/overview?state=busy&sort=-cpu', { page: 'overview', segments: [], query: { state: 'busy', sort: '-cpu' } }],
    ['#/sessions/100%', { page: 'sessions', segments: ['100%'], query: {} }],
  ])('parses %j', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  it('formats what it parses, without empty filters', () => {
    const href = hrefOf('sessions', ['a b/c?d'], { view: 'timeline', text: 'x&y', state: '' });
    expect(href).toBe('#/sessions/a%20b%2Fc%3Fd?view=timeline&text=x%26y');
    expect(parseRoute(href)).toEqual({
      page: 'sessions',
      segments: ['a b/c?d'],
      query: { view: 'timeline', text: 'x&y' },
    });
  });
});
