import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Command } from '../../engine/command/command.js';
import { assertKept } from '../registry/command-failures.js';
import { readLines, wantsLines } from './output-lines.js';

const DEFAULT_READ_BYTES = 65_536;

/**
 * Reads bytes or lines of the output of a command.
 * @throws AdapterError OUTPUT_EXPIRED
 */
export async function readOutput(command: Command, request: Request<'read_output'>): Promise<Answer<'read_output'>> {
  const output = command[request.stream ?? 'stdout'];
  const offset = request.offset ?? 0;
  if (wantsLines(request)) {
    const lines = await readLines(output, request);
    const eof = command.outcome !== undefined && lines.next_offset >= output.bytes;
    return { ...lines, size: output.bytes, eof };
  }
  assertKept(output, offset);
  const data = await output.spool.read(offset, request.length ?? DEFAULT_READ_BYTES);
  // The range may have been discarded meanwhile to make room for newer output.
  if (data.length === 0) assertKept(output, offset);
  const eof = command.outcome !== undefined && offset + data.length >= output.bytes;
  return { data, offset, size: output.bytes, eof };
}
