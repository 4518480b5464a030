import { networkInterfaces } from 'node:os';

/** Whether there is `::1`. Containers often have none, and let programs listen on `::` all the same. */
export const hasIpv6Loopback = (): boolean =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'));
