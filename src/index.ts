export { type App, type AppOptions, startApp } from './app/app.js';
export type { Configuration } from './config/model/configuration.js';
export { loadConfiguration } from './config/read/load.js';
export { ConfigurationError } from './config/model/problems.js';
export type { ConfigurationRequest } from './config/read/read.js';
export { AdapterError, ERROR_CODES, type ErrorBody, type ErrorCode } from './core/errors.js';
export type { Log } from './core/log.js';
export { type AnthropicTool, anthropicTools, type OpenAiTool, openAiTools } from './core/tools/tools.js';
export { createLogging, type Logging } from './logging/logging.js';
export { type Answer, type Request, type RequestInput, type RequestName, requests } from './core/protocol/requests.js';
export {
  type CommandResult,
  type EventName,
  type EventPayload,
  events,
  type SessionInfo,
} from './core/protocol/results.js';
