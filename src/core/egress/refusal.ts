import { type Destination, showDestination } from './destination.js';

/** Why a connection out of a sandbox was refused. */
type RefusalReason = 'not_listed' | 'not_public' | 'own_port' | 'other_name' | 'too_many' | 'not_understood';

/** A refused connection. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** `HOST:PORT`; undefined when the program did not get that far. */
  readonly destination: string | undefined;
  /** What was refused, why, and what would allow it. */
  readonly message: string;
}

const SETTING = 'sandbox.network.allow';

const refusal = (reason: RefusalReason, destination: Destination | undefined, why: string): Refusal => {
  const shown = destination && showDestination(destination);
  const what = shown === undefined ? 'A connection' : `The connection to ${shown}`;
  return { reason, destination: shown, message: `${what} was refused: ${why}` };
};

/** The sentences of all refusals. */
export const REFUSALS = {
  notListed: (destination: Destination) =>
    refusal('not_listed', destination, `it is not in ${SETTING}; "${showDestination(destination)}" would allow it.`),
  notPublic: (destination: Destination, address: string) => {
    const entry = showDestination({ host: address, port: destination.port });
    const why = `${address} is not a public address, and ${SETTING} does not list it; "${entry}" would allow it.`;
    return refusal('not_public', destination, why);
  },
  ownPort: (destination: Destination) =>
    refusal('own_port', destination, 'it is a port of the daemon, which no setting opens to a sandbox.'),
  otherName: (destination: Destination, where: 'TLS handshake' | 'Host header', name: string) =>
    refusal(
      'other_name',
      destination,
      `its ${where} names ${name || 'no host'}, which is another host than that of the connection.`,
    ),
  tooMany: (limit: number) =>
    refusal('too_many', undefined, `${limit} connections are open already (sandbox.network.max_connections).`),
  notUnderstood: (destination: Destination | undefined, why: string) => refusal('not_understood', destination, why),
} as const;

/** A connection was refused by a rule, as opposed to having failed. */
export class RefusedConnection extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
