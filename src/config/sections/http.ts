import { restarting } from '../fields/facts.js';
import { flag } from '../fields/fields.js';

/** `http`: HTTP endpoints besides Socket.IO. */
export const httpSection = restarting({
  metrics: flag(true, 'Whether metrics are collected, and served at `/metrics` for Prometheus.'),
  openai: flag(true, 'Whether the tools of the section `llm` answer at `/v1/chat/completions`, as OpenAI does.'),
  rest: flag(
    true,
    'Whether the requests of the protocol are served at `/v1/requests`, and described at `/openapi.json` and `/asyncapi.json`.',
  ),
  mcp: flag(true, 'Whether the tools for models are served at `/mcp`, for clients of the Model Context Protocol.'),
  previews: flag(
    false,
    'Whether HTTP and WebSocket are passed on to ports on which sessions listen, at `/v1/sessions/ID/ports/PORT/`.',
  ),
  dashboard: flag(true, 'Whether the dashboard, a page for people, is served at `/`.'),
});
