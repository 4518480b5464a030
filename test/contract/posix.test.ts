import { shellContract, WITH_POSIX } from './shells/contract.js';

// One shell is enough.
shellContract('bash', WITH_POSIX);
