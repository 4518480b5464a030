/** A text with its variables expanded, or the problem that prevents it. */
export type Expansion = { readonly text: string } | { readonly problem: string };

const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** True when the text contains `${`, escaped or not: {@link expandVariables} would change or reject it. */
export function hasVariables(text: string): boolean {
  return text.includes('${');
}

/**
 * Expands `${NAME}` and `${NAME:-default}` from `env`. As in a shell, the default replaces an unset or empty variable
 * and may contain variables. `$${` is a literal `${`. An unset variable without a default is a problem.
 */
export function expandVariables(text: string, env: NodeJS.ProcessEnv): Expansion {
  let expanded = '';
  let rest = text;
  for (;;) {
    const start = rest.indexOf('${');
    if (start === -1) return { text: expanded + rest };
    if (rest[start - 1] === '$') {
      expanded += `${rest.slice(0, start - 1)}\${`;
      rest = rest.slice(start + 2);
      continue;
    }
    const end = findClosingBrace(rest, start + 2);
    if (end === undefined) return { problem: 'has a "${" without its "}"; a literal "${" is written "$${"' };
    const value = resolveReference(rest.slice(start + 2, end), env);
    if ('problem' in value) return value;
    expanded += rest.slice(0, start) + value.text;
    rest = rest.slice(end + 1);
  }
}

function resolveReference(reference: string, env: NodeJS.ProcessEnv): Expansion {
  const match = REFERENCE.exec(reference);
  const name = match?.[1];
  if (name === undefined) {
    return { problem: `has "\${${reference}}", which is not \${NAME} or \${NAME:-default}` };
  }
  const fallback = match?.[2];
  const value = env[name];
  if (fallback !== undefined && (value === undefined || value === '')) return expandVariables(fallback, env);
  if (value === undefined) {
    return {
      problem: `needs the environment variable ${name}, which is not set; \${${name}:-default} would give a default`,
    };
  }
  return { text: value };
}

/** Index of the `}` that closes the reference around position `from`. */
function findClosingBrace(text: string, from: number): number | undefined {
  let depth = 1;
  for (let index = from; index < text.length; index += 1) {
    if (text.startsWith('$${', index)) index += 2;
    else if (text.startsWith('${', index)) depth += 1;
    else if (text[index] === '}') depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}
