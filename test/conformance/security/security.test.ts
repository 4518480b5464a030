import { afterAll, beforeAll } from 'vitest';

import { access } from './access.js';
import { checkouts } from './checkouts.js';
import { confirmation } from './confirmation.js';
import { hostileInput } from './hostile-input.js';
import { isolation } from './isolation.js';
import { SecurityTarget } from './target.js';
import { verdicts } from './verdicts.js';

let target: SecurityTarget;
beforeAll(async () => {
  target = await SecurityTarget.find();
});
afterAll(() => target[Symbol.asyncDispose]());

for (const group of [verdicts, access, isolation, confirmation, checkouts, hostileInput]) group(() => target);
