import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['hg status', 'npm ls', 'pip list'],
  write: ['copy a b', 'make_directory x'],
  execute: [
    'make',
    'nix run nixpkgs#hello',
    'pm2 list',
    'rustup run nightly ls',
    'opam exec -- ls',
    'stack exec ls',
    'cmake .',
    'mvn -q package',
    'nix-shell --command ls',
    'conda run -n env ls',
    'pdm run ls',
    'direnv exec . ls',
    'npm explore x ls',
    'pylint x',
    'prisma generate',
    'composer exec ls',
    'just -c ls',
    'black src',
  ],
  persistence: ['mise trust'],
  network: ['pipx run ls', 'bunx ls', 'npm x -- ls', 'npx ls'],
  interactive: ['make -f -', 'bun repl'],
  destructive: [
    'uv run rm x',
    'cmake -E rm x',
    "nix-shell --run 'rm x'",
    'poetry run rm x',
    'yarn exec rm x',
    'jj abandon',
  ],
  exfiltration: ['twine upload x'],
};
