/**
 * Returns a function that computes its result again only when its argument is another object than at the last call: for what
 * is derived from the configuration, which is replaced as a whole.
 */
export function rememberLast<Argument extends object, Result>(
  compute: (argument: Argument) => Result,
): (argument: Argument) => Result {
  let last: { readonly argument: Argument; readonly result: Result } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}
