import { type SyntaxNode } from 'unbash';

/** Syntax nodes that the parser reads again at each nesting level. */
export type NestingNode = Extract<SyntaxNode, { type: (typeof NESTING)[number] }>;

const NESTING = [
  ...(['CommandExpansion', 'ProcessSubstitution', 'ArithmeticCommandExpansion'] as const),
  ...(['ArithmeticExpansion', 'ParameterExpansion'] as const),
] as const;

const NESTING_TYPES: ReadonlySet<string> = new Set(NESTING);

/** Whether the parser reads a node again at each nesting level. */
export const isNesting = (node: SyntaxNode): node is NestingNode => NESTING_TYPES.has(node.type);
