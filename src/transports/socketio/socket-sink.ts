import type { Socket } from 'socket.io';

import type { EventName, EventPayload } from '../../core/protocol/results.js';
import type { SecretMask } from '../../core/secrets/secret-mask.js';
import type { EventSink } from '../../services/registry/caller.js';

/** The parts of engine.io's socket that show unsent data; its own types omit some. */
interface Connection {
  readonly writeBuffer: readonly { readonly data?: string | { readonly length: number } | undefined }[];
  readonly transport: {
    readonly socket?: { readonly bufferedAmount?: number };
    once(event: 'drain', listener: () => void): void;
  };
}

/** A Socket.IO connection as a destination of events. */
export class SocketSink implements EventSink {
  readonly #socket: Socket;
  readonly #mask: SecretMask['value'];

  constructor(socket: Socket, mask: SecretMask['value']) {
    this.#socket = socket;
    this.#mask = mask;
  }

  get id(): string {
    return this.#socket.id;
  }

  send<N extends EventName>(event: N, payload: EventPayload<N>): void {
    // Output was masked when it was read.
    if (this.#socket.connected) this.#socket.emit(event, event === 'command_output' ? payload : this.#mask(payload));
  }

  pendingBytes(): number {
    return pendingBytesOf(this.#socket);
  }

  onDrained(listener: () => void): void {
    (this.#socket.conn as unknown as Connection).transport.once('drain', listener);
  }
}

/** Bytes in the queues of engine.io and of the WebSocket; TCP's own buffers are not visible. */
export function pendingBytesOf(socket: Socket): number {
  if (!socket.connected) return 0;
  const { writeBuffer, transport } = socket.conn as unknown as Connection;
  let bytes = transport.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) bytes += data?.length ?? 0;
  return bytes;
}
