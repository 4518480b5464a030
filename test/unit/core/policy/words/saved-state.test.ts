import { describe, expect, it } from 'vitest';

import { readSavedState } from '../../../../../src/core/policy/words/saved-state.js';

const BASH = `declare -x HOME="/home/ada"
declare -x MULTI="a
declare -x PATH=\\"/spoofed\\"
b"
declare -x PATH="/usr/bin:/bin"
declare -x UNSET
__sa_end () 
{ 
    builtin return
}
exit () 
{ 
    :
}
f () 
{ 
    rm x;
    cat <<E
}
E

}
alias ..='cd ..'
alias ll='ls -l'
alias q='it'\\''s'
#end
`;

const ZSH = `export HOME=/home/ada
export -rUT PATH path=( /usr/bin /bin )
export -T WORDS words=( one two ) ,
export TEXT=$'a\\nb'
__sa_tidy () {
	{ builtin true } always { builtin true }
}
f () {
	rm x
}
odd () {
	for x (a b) rm $x
}
alias ll='ls -l'
alias q='it'\\''s'
#end
`;

const SH = `:  <<'#types'
 ls is an alias for ls
 #types
 ll=none
#types
export HOME='/home/ada'
export PATH='/usr/bin:/bin'
__sa_take_aliases <<'#end'
 exit='__sa_exit'
 ll='ls -l
 #end
  x'
 q='it'"'"'s'
#end
`;

const entries = (map: ReadonlyMap<string, string>) => Object.fromEntries(map);

describe('the saved state', () => {
  it('of bash has variables, functions and aliases, but none of the adapter’s', () => {
    const { variables, functions, aliases, isIncomplete } = readSavedState(BASH, 'bash');
    expect(variables.get('PATH')).toBe('/usr/bin:/bin');
    expect(variables.get('HOME')).toBe('/home/ada');
    expect([...functions.keys()]).toEqual(['f']);
    expect(functions.get('f')).toContain('rm x;');
    expect(entries(aliases)).toEqual({ '..': 'cd ..', ll: 'ls -l', q: "it's" });
    expect(isIncomplete).toBe(false);
  });

  it('of zsh is incomplete where its own syntax cannot be read, and complete in the rest', () => {
    const { variables, functions, aliases, isIncomplete } = readSavedState(ZSH, 'zsh');
    expect(variables.get('PATH')).toBe('/usr/bin:/bin');
    expect(variables.get('WORDS')).toBe('one,two');
    expect(functions.get('f')).toContain('rm x');
    expect(entries(aliases)).toEqual({ ll: 'ls -l', q: "it's" });
    expect(isIncomplete).toBe(true);
  });

  it('of zsh is complete when nothing but the adapter’s own functions is in the way', () => {
    const own = '__sa_tidy () {\n\tstty -g < "$x" >>| "$y" || builtin true\n}\n';
    const { functions, aliases, isIncomplete } = readSavedState(
      `export PATH=/bin\n${own}f () {\n\trm x\n}\nalias ll='ls -l'\n`,
      'zsh',
    );
    expect([...functions.keys()]).toEqual(['f']);
    expect(entries(aliases)).toEqual({ ll: 'ls -l' });
    expect(isIncomplete).toBe(false);
  });

  it('of sh has no functions, so that names are not known', () => {
    const { variables, aliases, isIncomplete } = readSavedState(SH, 'sh');
    expect(variables.get('HOME')).toBe('/home/ada');
    expect(entries(aliases)).toEqual({ ll: 'ls -l\n#end\n x', q: "it's" });
    expect(isIncomplete).toBe(true);
  });

  it.each([
    ['global aliases', "alias -g G='| grep'\n", 'zsh' as const],
    ['what cannot be parsed', 'f () {\n', 'bash' as const],
    ['a lot of text', `#${'x'.repeat(600 * 1024)}\n`, 'bash' as const],
  ])('with %s is incomplete', (_what, text, shell) => {
    expect(readSavedState(text, shell).isIncomplete).toBe(true);
  });
});
