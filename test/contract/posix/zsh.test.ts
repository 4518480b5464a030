import { shellContract, WITH_POSIX } from '../shells/contract.js';

shellContract('zsh', WITH_POSIX);
