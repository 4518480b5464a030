// The rules that only this project has, as a plugin of oxlint, which takes those of ESLint.
import { publicDocs } from './public-docs.mjs';

/** Reports every node of a type. */
const forbid = (type, message) => ({
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({ [type]: (node) => context.report({ node, message }) }),
});

export default {
  meta: { name: 'local' },
  rules: {
    'public-docs': publicDocs,
    'named-exports': forbid('ExportDefaultDeclaration', 'Named exports only.'),
    'no-enums': forbid('TSEnumDeclaration', 'Use a union of string literals.'),
  },
};
