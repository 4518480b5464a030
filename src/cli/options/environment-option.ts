import { InvalidArgumentError } from 'commander';

import type { Context } from '../console/context.js';

type Variables = Readonly<Record<string, string>>;

/** Parses a repeatable `--env NAME=VALUE` for commander; `NAME` alone uses the value of the current environment. */
export const readVariable =
  ({ env }: Context) =>
  (text: string, previous: Variables = {}): Variables => {
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals);
    const value = equals === -1 ? env[name] : text.slice(equals + 1);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new InvalidArgumentError(
        'It must be NAME=VALUE; names are letters, digits and _, not starting with a digit.',
      );
    }
    if (value === undefined) throw new InvalidArgumentError(`${name} is not set here: give it as ${name}=VALUE.`);
    return { ...previous, [name]: value };
  };
