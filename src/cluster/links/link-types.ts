import type { ErrorBody } from '../../core/errors.js';
import type { Answer, RequestName } from '../../core/protocol/requests.js';
import type { Caller, EventSink } from '../../services/registry/caller.js';

/** A reply of a node. */
export type LinkReply = Answer<RequestName> | { readonly error: ErrorBody };

/** A client that events can be sent to. */
export type LinkedCaller = Caller & { readonly sink: EventSink };
