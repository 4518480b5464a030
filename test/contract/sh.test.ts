import { shellContract } from './shells/contract.js';

shellContract('sh');
