import { shellContract, WITH_POSIX } from '../shells/contract.js';

shellContract('bash', WITH_POSIX);
