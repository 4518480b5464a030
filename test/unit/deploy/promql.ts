import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A matcher of a selector, as in `state="active"`. */
export interface LabelMatcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** A metric that an expression reads, with its matchers. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly LabelMatcher[];
}

/** What an expression reads, and the labels by which it groups. */
export interface Query {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly string[];
}

/**
 * Reads an expression of PromQL with the grammar of Prometheus' own editor.
 * @throws when it is not valid
 */
export function readQuery(expression: string): Query {
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }) => expression.slice(from, to);
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`no PromQL at character ${String(node.from)}: ${expression}`);
      if (node.name === 'VectorSelector') selectors.push(readSelector(node.node, textOf));
      if (node.name === 'GroupingLabels') groupings.push(...node.node.getChildren('LabelName').map(textOf));
    },
  });
  return { selectors, groupings };
}

function readSelector(node: SyntaxNode, textOf: (node: SyntaxNode) => string): Selector {
  const metric = node.getChild('Identifier');
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return {
    metric: metric ? textOf(metric) : '',
    matchers: matchers.map((matcher) => {
      const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
        const child = matcher.getChild(name);
        return child ? textOf(child) : '';
      });
      return { label: label ?? '', operator: operator ?? '', value: (value ?? '').slice(1, -1) };
    }),
  };
}
