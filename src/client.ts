export { AdapterClient, type ConnectionState } from './client/adapter-client.js';
export { ClientCommand } from './client/command.js';
export { connect } from './client/connect.js';
export {
  type AdmittedResult,
  CLIENT_ERROR_CODES,
  ClientError,
  type ClientErrorCode,
  ConfirmationRequiredError,
  type PendingConfirmation,
} from './client/errors.js';
export type { AcceptedInput, InputOptions } from './client/input.js';
export type { InputSource } from './client/input-source.js';
export type { EventListener } from './client/listeners.js';
export { type LlmMessages, type LlmOptions, LlmStream } from './client/llm.js';
export type {
  CheckOptions,
  ConnectOptions,
  Decision,
  ExecuteOptions,
  OpenSessionOptions,
  OutputOptions,
  RequestOptions,
} from './client/options.js';
export type { OutputChunk } from './client/output-queue.js';
export { ClientSession, type SessionEnd, type SessionEventName } from './client/session.js';
export type { ErrorCode, ErrorDetails } from './core/errors.js';
export type { ConfirmationInfo } from './core/protocol/confirmations.js';
export type { OutputStreamName, SignalName } from './core/protocol/fields.js';
export type { Answer, RequestInput, RequestName } from './core/protocol/requests.js';
export type { CommandResult, EventName, EventPayload, SessionInfo } from './core/protocol/results.js';
