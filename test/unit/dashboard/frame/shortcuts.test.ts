import { describe, expect, it } from 'vitest';

import { type KeyPress, Shortcuts } from '../../../../src/dashboard/frame/shortcuts.js';

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  isModified: false,
  isTyping: false,
  at: 0,
  ...more,
});

describe('keys of the dashboard', () => {
  it('opens a page by g and a letter, for a short time', () => {
    const shortcuts = new Shortcuts();
    expect(shortcuts.press(press('g'))).toBeUndefined();
    expect(shortcuts.press(press('o', { at: 1000 }))).toEqual({ kind: 'page', key: 'o' });
    expect(shortcuts.press(press('o', { at: 1001 }))).toBeUndefined();
    shortcuts.press(press('g', { at: 2000 }));
    expect(shortcuts.press(press('j', { at: 4000 }))).toEqual({ kind: 'next' });
  });

  it('takes nothing from fields, terminals and the browser', () => {
    const shortcuts = new Shortcuts();
    expect(shortcuts.press(press('?', { isTyping: true }))).toBeUndefined();
    expect(shortcuts.press(press('k', { isModified: true }))).toBeUndefined();
    expect(shortcuts.press(press('?'))).toEqual({ kind: 'help' });
  });
});
