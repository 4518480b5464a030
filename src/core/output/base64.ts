const COMMON = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const asCodes = (alphabet: string): Uint8Array => Uint8Array.from(alphabet, (digit) => digit.charCodeAt(0));

/** RFC 4648, section 4. */
const STANDARD = asCodes(`${COMMON}+/`);

/** RFC 4648, section 5. */
const URL_SAFE = asCodes(`${COMMON}-_`);

const decoder = new TextDecoder();

/**
 * Digits for all the bytes. Missing bytes of the last group of three give digits of zero bits, which the caller
 * replaces.
 */
function encodeDigits(bytes: Uint8Array, alphabet: Uint8Array): Uint8Array {
  const digits = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const triple = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    digits[at++] = alphabet[triple >> 18] ?? 0;
    digits[at++] = alphabet[(triple >> 12) & 63] ?? 0;
    digits[at++] = alphabet[(triple >> 6) & 63] ?? 0;
    digits[at++] = alphabet[triple & 63] ?? 0;
  }
  return digits;
}

const missingBytes = (bytes: Uint8Array): number => (3 - (bytes.length % 3)) % 3;

/** Base64 with padding. */
export function base64(bytes: Uint8Array): string {
  const digits = encodeDigits(bytes, STANDARD);
  return decoder.decode(digits.fill('='.charCodeAt(0), digits.length - missingBytes(bytes)));
}

/** Base64 with the alphabet for URLs and file names, without padding. */
export function base64Url(bytes: Uint8Array): string {
  const digits = encodeDigits(bytes, URL_SAFE);
  // Ids are short, and for short texts this is faster than a decoder.
  return String.fromCharCode(...digits.subarray(0, digits.length - missingBytes(bytes)));
}

/** Four digits each, the last ones with padding. */
const VALID = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of base64 with padding; undefined when the text is none. */
export function bytesOf(text: string): Uint8Array | undefined {
  return VALID.test(text) ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : undefined;
}
