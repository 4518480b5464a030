import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Notices } from '../../../../src/dashboard/state/dashboard.js';

describe('what is said to screen readers', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is politely one notice in 5 s: the first at once, then the newest', () => {
    const notices = new Notices();
    const said: string[] = [];
    const stop = notices.polite.subscribe((text) => {
      if (text !== '') said.push(text);
    });
    notices.say('lost');
    for (const text of ['connected', 'lost again', 'connected again']) notices.say(text);
    expect(said).toEqual(['lost']);
    vi.advanceTimersByTime(4999);
    expect(said).toEqual(['lost']);
    vi.advanceTimersByTime(1);
    expect(said).toEqual(['lost', 'connected again']);
    notices.say('one more');
    vi.advanceTimersByTime(5000);
    expect(said).toEqual(['lost', 'connected again', 'one more']);
    vi.advanceTimersByTime(60_000);
    notices.say('much later');
    expect(said.at(-1)).toBe('much later');
    stop();
  });

  it('is at once what interrupts', () => {
    const notices = new Notices();
    notices.say('polite');
    notices.interrupt('first');
    notices.interrupt('second');
    expect(notices.assertive.value).toBe('second');
  });
});
