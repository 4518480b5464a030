import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: [
    'cat x',
    'pwd',
    'man ls',
    'bat x',
    'rg -l x src',
    'zgrep x y',
    'nm x',
    'fzf -q x',
    'ss -tlnp',
    'colordiff a b',
    'du -s x',
    'tree -L 2',
    'shuf x',
    'yq . x',
    'sdiff a b',
    'top -b',
    'dmesg',
    'fuser x',
    'date +%s',
    'base64 -d x',
    'uniq a',
  ],
  write: ['xxd -r a b'],
  interactive: ['bc -l', 'less x'],
  destructive: ["rg --pre 'rm x' y", 'journalctl --vacuum-size=1M'],
  privilege: ['hostname x'],
  persistence: ['sort -o /etc/passwd x'],
  obfuscated: ["dc -e '!rm x'"],
};
