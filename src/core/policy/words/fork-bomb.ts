import { forEachChild, type Function as FunctionNode, type SyntaxNode } from 'unbash';

import { isNesting } from './variables/nesting.js';

/** Longest syntax depth that is searched. */
const MAX_DEPTH = 40;

/**
 * Whether a function starts itself in separate processes, more than once or without waiting, as `:(){ :|:& };:` does:
 * their number grows until the machine cannot create any more.
 */
export function isForkBomb({ name, body }: FunctionNode): boolean {
  let calls = 0;
  let inBackground = 0;
  const visit = (node: SyntaxNode, isApart: boolean, isBackground: boolean, depth: number): void => {
    if (depth > MAX_DEPTH || isNesting(node)) return;
    const background = isBackground || isBackgroundJob(node);
    const isSeparate = isApart || background || isPipe(node);
    if (isCallOf(node, name.value)) {
      if (isSeparate) calls += 1;
      if (background) inBackground += 1;
    }
    forEachChild(node, (child) => {
      visit(child, isSeparate, background, depth + 1);
    });
  };
  visit(body, false, false, 0);
  return calls > 1 || inBackground > 0;
}

const isBackgroundJob = (node: SyntaxNode): boolean => node.type === 'Statement' && node.background === true;

const isPipe = (node: SyntaxNode): boolean => node.type === 'Pipeline' && node.commands.length > 1;

const isCallOf = (node: SyntaxNode, name: string): boolean => node.type === 'Command' && node.name?.value === name;
