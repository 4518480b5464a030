import { Decoder, type Packet, PacketType } from 'socket.io-parser';

/** Lower bound of the largest frame, in bytes, so that a message that is too large can be answered. */
const MIN_FRAME_BYTES = 8 * 1024 * 1024;

/**
 * Largest frame that is read, in bytes: well above the largest message. A client that sends a larger one is
 * disconnected.
 */
export const frameBytesFor = (maxMessageBytes: number): number => Math.max(MIN_FRAME_BYTES, 2 * maxMessageBytes);

/** Replaces a payload that is larger than the configuration allows. */
export class OversizedPayload {
  /** Size of the message with its attachments, in bytes. */
  readonly bytes: number;
  /** The client's own `request_id`, which the answer echoes; undefined when absent. */
  readonly requestId: unknown;

  constructor(bytes: number, requestId: unknown) {
    this.bytes = bytes;
    this.requestId = requestId;
  }
}

/**
 * A Socket.IO decoder that measures each message. The payload of a message that is too large is dropped and replaced by
 * an `OversizedPayload`: the transport can answer it, where Engine.IO would close the connection without an error.
 * Attachments beyond the largest frame end the connection.
 */
export const sizedDecoder = (maxMessageBytes: number): typeof Decoder =>
  class SizedDecoder extends Decoder {
    /** Bytes of the message that is being assembled. */
    #bytes = 0;

    constructor(...options: ConstructorParameters<typeof Decoder>) {
      super(...options);
      // Registered before the server's own listener.
      this.on('decoded', (packet) => {
        if (this.#bytes > maxMessageBytes) dropPayload(packet, this.#bytes);
        this.#bytes = 0;
      });
    }

    override add(message: unknown): void {
      this.#bytes += sizeOf(message);
      if (this.#bytes > frameBytesFor(maxMessageBytes)) throw new Error('the attachments of a message are too large');
      super.add(message);
    }
  };

const sizeOf = (message: unknown): number =>
  typeof message === 'string' ? Buffer.byteLength(message) : ArrayBuffer.isView(message) ? message.byteLength : 0;

/** The data of an event is an array of its name and its payload. */
function dropPayload(packet: Packet, bytes: number): void {
  if (packet.type !== PacketType.EVENT && packet.type !== PacketType.BINARY_EVENT) return;
  const [name, payload] = packet.data as [string, unknown];
  const requestId = (payload as { readonly request_id?: unknown } | null | undefined)?.request_id;
  packet.data = [name, new OversizedPayload(bytes, requestId)];
}
