import { describe, expect, it } from 'vitest';

import { startupText } from '../../../src/core/startup-text.js';

const NOTHING = { login: false };

describe('the text of a startup', () => {
  it('is none where nothing is asked for', () => {
    expect(startupText('bash', NOTHING)).toBeUndefined();
  });

  it('reads the first of the files that belong together', () => {
    expect(startupText('bash', { login: true })).toContain(
      'if [ -r ~/.bash_profile ]; then . ~/.bash_profile; elif [ -r ~/.bash_login ]; then . ~/.bash_login; elif [ -r ~/.profile ]; then . ~/.profile; fi',
    );
  });

  it('quotes the path of a file, and leaves the tilde to the shell', () => {
    expect(startupText('sh', { ...NOTHING, rcfile: "/a b/it's.sh" })).toContain(`. '/a b/it'\\''s.sh'\n`);
    expect(startupText('sh', { ...NOTHING, rcfile: '~/a b' })).toContain(`. ~/'a b'\n`);
  });

  it('runs an environment last', () => {
    const lines = startupText('zsh', { login: true, rcfile: '/rc', init: 'echo init' })?.split('\n') ?? [];
    expect(lines.indexOf('. /rc')).toBeLessThan(lines.indexOf('echo init'));
    expect(lines.at(-2)).toBe('echo init');
  });

  it('sources a file of any name in PowerShell, which has no files for a login shell here', () => {
    const read = (path: string) => `. ([scriptblock]::Create([System.IO.File]::ReadAllText(${path})))`;
    expect(startupText('pwsh', { login: true, rcfile: "/it's" })).toBe(read("'/it''s'"));
    expect(startupText('pwsh', { ...NOTHING, rcfile: '~/a b', init: '1' })).toBe(`${read("$HOME + '/a b'")}\n1`);
    expect(startupText('pwsh', { login: true })).toBeUndefined();
  });
});
