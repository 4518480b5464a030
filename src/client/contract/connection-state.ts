/**
 * State of the connection: `lost` while the client tries to reconnect, `closed` when it has given up or was closed.
 * `restarted` follows a reconnection to another run of the daemon: the sessions and commands of the earlier run no
 * longer exist.
 */
export type ConnectionState = 'connected' | 'lost' | 'restarted' | 'closed';
