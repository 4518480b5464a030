import { z } from 'zod';
import { flag } from './fields.js';

/** `http`: HTTP endpoints besides Socket.IO. */
export const httpSection = z.strictObject({
  metrics: flag(true, 'Whether figures about the daemon are kept, and shown at /metrics for Prometheus.'),
  openai: flag(true, 'Whether the tools of the section llm answer at /v1/chat/completions, as OpenAI does.'),
  mcp: flag(true, 'Whether the tools for models are at /mcp, for clients of the Model Context Protocol.'),
});
