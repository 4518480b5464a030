import { shellContract } from './shells/contract.js';

shellContract('bash');
