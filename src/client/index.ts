export { AdapterClient, connect } from './adapter-client.js';
export type { ConnectionState } from './options.js';
export { ClientCommand } from './command.js';
export type { ClientFiles } from './files.js';
export {
  type AdmittedResult,
  CLIENT_ERROR_CODES,
  ClientError,
  type ClientErrorCode,
  ConfirmationRequiredError,
  type PendingConfirmation,
} from './errors.js';
export type { AcceptedInput, InputOptions } from './command.js';
export type { InputSource } from './options.js';
export type { EventListener } from './runtime.js';
export { type LlmMessages, type LlmOptions, LlmStream } from './llm.js';
export type {
  AttachOptions,
  CheckOptions,
  ConnectOptions,
  Decision,
  ExecuteOptions,
  OpenSessionOptions,
  OutputOptions,
  RequestOptions,
} from './options.js';
export type { OutputChunk } from './output-queue.js';
export { ClientSession, type SessionEnd, type SessionEventName } from './session.js';
export { type PathChanges, PathWatch, type WatchOptions } from './watch.js';
export type { ErrorCode, ErrorDetails } from '../core/errors.js';
export type { ConfirmationInfo } from '../core/protocol/confirmations.js';
export type { RememberedInfo } from '../core/protocol/confirmations.js';
export type { OutputStreamName } from '../core/protocol/fields.js';
export type { SignalName } from '../core/signals.js';
export type { Answer, RequestInput, RequestName } from '../core/protocol/requests.js';
export type { CommandResult, EventName, EventPayload, SessionInfo } from '../core/protocol/results.js';
