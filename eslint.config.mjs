import tseslint from 'typescript-eslint';

import { publicDocs } from './scripts/eslint-rules/public-docs.mjs';

/** The rules of this project, which oxlint (.oxlintrc.json) does not have; it has all others, and is much faster. */
export default tseslint.config(
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },
  {
    files: ['src/**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
    plugins: { local: { rules: { 'public-docs': publicDocs } } },
    rules: {
      'local/public-docs': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    // The last is the main file of a program of its own, whose input may still be open at its end.
    ignores: ['src/config/**', 'src/main.ts', 'src/cli/**', 'src/engine/files/worker/main.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'The environment is read in config/ alone.' },
        { object: 'process', property: 'exit', message: 'Exit codes belong to main.ts.' },
      ],
    },
  },
);
