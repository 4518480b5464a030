import { peerNamed } from './adapters.js';
import { install } from './install.js';
import { OURS } from './results.js';

/** Installs the peer that is asked for, before any test. */
export default function setUp(): void {
  const name = process.env['SHELL_ADAPTER_CONFORMANCE_PEER'];
  if (name !== undefined && name !== OURS) install(peerNamed(name));
}
