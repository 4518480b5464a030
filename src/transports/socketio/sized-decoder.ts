import { Decoder, type Packet, PacketType } from 'socket.io-parser';

/** Frames up to this size are read at least, in bytes, so that a message which is too large can be answered. */
const MIN_FRAME_BYTES = 8 * 1024 * 1024;

/** Largest frame that is read: well above the largest message. A client that sends a larger one is cut off. */
export const frameBytesFor = (maxMessageBytes: number): number => Math.max(MIN_FRAME_BYTES, 2 * maxMessageBytes);

/** Stands in the place of a payload that was larger than the configuration allows. */
export class OversizedPayload {
  /** Size of the message with its attachments, in bytes. */
  readonly bytes: number;
  /** The client's own `request_id`, which the answer echoes; undefined when there is none. */
  readonly requestId: unknown;

  constructor(bytes: number, requestId: unknown) {
    this.bytes = bytes;
    this.requestId = requestId;
  }
}

/**
 * A decoder of Socket.IO that measures each message. The payload of one that is too large is dropped, and an `OversizedPayload` takes
 * its place: the transport can answer it, where Engine.IO would cut the connection without a word. Attachments that go on beyond the
 * largest frame end the connection.
 */
export const sizedDecoder = (maxMessageBytes: number): typeof Decoder =>
  class SizedDecoder extends Decoder {
    /** Of the message that is being put together. */
    #bytes = 0;

    constructor(...options: ConstructorParameters<typeof Decoder>) {
      super(...options);
      // Before the server's own listener, which comes later.
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

/** The data of an event is its name, and what comes with it. */
function dropPayload(packet: Packet, bytes: number): void {
  if (packet.type !== PacketType.EVENT && packet.type !== PacketType.BINARY_EVENT) return;
  const [name, payload] = packet.data as [string, unknown];
  const requestId = (payload as { readonly request_id?: unknown } | null | undefined)?.request_id;
  packet.data = [name, new OversizedPayload(bytes, requestId)];
}
