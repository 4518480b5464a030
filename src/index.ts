export { type App, type AppOptions, startApp } from './app.js';
export type { Configuration } from './config/configuration.js';
export { loadConfiguration } from './config/load.js';
export { ConfigurationError } from './config/problems.js';
export type { ConfigurationRequest } from './config/read.js';
export { AdapterError, ERROR_CODES, type ErrorBody, type ErrorCode } from './core/errors.js';
export type { Log } from './core/log.js';
export { type AnthropicTool, anthropicTools, type OpenAiTool, openAiTools } from './core/tools/definitions.js';
export { createLogging, type Logging } from './logging.js';
export { type Answer, type Request, type RequestInput, type RequestName, requests } from './core/protocol/requests.js';
export {
  type CommandResult,
  type EventName,
  type EventPayload,
  events,
  type SessionInfo,
} from './core/protocol/results.js';
