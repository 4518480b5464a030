import { testAgent } from './suite.js';

testAgent('claude');
