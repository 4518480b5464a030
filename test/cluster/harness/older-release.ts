import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { transformSync } from 'rolldown/utils';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/**
 * The oldest commit with gateways, workers, equal nodes and Redis, of 2026-11-26. With another `LINK_VERSION`, take the first commit
 * that has it: older ones are refused then.
 */
const OLDER_COMMIT = 'c669a18';
/** Its version in lists of nodes: that of both commits is the same. */
export const OLDER_VERSION = '0.0.1';

const COMPILER = { target: ScriptTarget.ES2023, module: ModuleKind.ESNext, verbatimModuleSyntax: true };

/** A package that is gone since, and the one in its place: both give the width of a text. */
const [GONE, IN_PLACE] = ["from 'string-width'", "from 'fast-string-width'"];

/** False in a clone without the history, such as one with `--depth 1`, and in the package. */
export const hasHistory =
  spawnSync('git', ['cat-file', '-e', `${OLDER_COMMIT}^{tree}`], { cwd: ROOT, stdio: 'ignore' }).status === 0;

if (!hasHistory)
  process.stderr.write(
    `nodes of an older release are not tested: this clone does not have the commit ${OLDER_COMMIT}\n`,
  );

/**
 * Makes the daemon of an older commit in a folder; gives its command line. Only types are taken out of its sources, which need the
 * packages of today: a whole build would take ten times as long.
 */
export function makeOlderRelease(folder: string): readonly string[] {
  mkdirSync(folder);
  const parts = ['src', 'config', 'package.json'];
  const archive = execFileSync('git', ['archive', OLDER_COMMIT, ...parts], { cwd: ROOT, maxBuffer: Infinity });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, version: OLDER_VERSION }));
  for (const path of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || path.startsWith('dashboard')) continue;
    const output = join(folder, 'dist', path.replace(/\.ts$/, '.js'));
    const text = readFileSync(join(folder, 'src', path), 'utf8').replace(GONE, IN_PLACE);
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, withoutTypes(path, text));
  }
  const drivers = 'engine/shells/drivers';
  cpSync(join(folder, 'src', drivers), join(folder, 'dist', drivers), { recursive: true });
  return [process.execPath, join(folder, 'dist', 'main.js'), 'serve'];
}

/** A module in JavaScript. The compiler, which is slower, is asked for what Node.js 20 does not have. */
const withoutTypes = (path: string, text: string): string =>
  /\busing \w+ =/.test(text)
    ? transpileModule(text, { compilerOptions: COMPILER }).outputText
    : transformSync(path, text).code;
