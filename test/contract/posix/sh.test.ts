import { shellContract, WITH_POSIX } from '../shells/contract.js';

shellContract('sh', WITH_POSIX);
