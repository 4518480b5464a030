// A client of its own that follows a flood: `node flood-reader.mjs URL MEGABYTES`. It prints `begun` with the first output, and ends
// with the flood. In the process of the client that measures, it would take the time that is measured.
import { io } from 'socket.io-client';

const [url, megabytes] = process.argv.slice(2);
const socket = io(url, { transports: ['websocket'] });
socket.once('command_output', () => console.log('begun'));
const { session_id } = await socket.emitWithAck('open_session', {});
const command = `yes 0123456789 | head -c ${megabytes}000000`;
await socket.emitWithAck('execute_command', { session_id, command, stream: true });
socket.disconnect();
