import { expect, it } from 'vitest';

import { readCopy, readDockerfile, readList, readVariables } from '../../../scripts/image/dockerfile.mjs';

it('reads stages, with variables, comments and continued lines', () => {
  const text = `# comment
ARG BASE=debian:12
FROM \${BASE} AS build
RUN a \\
  && b

FROM \${BASE}
COPY --from=build /x/y ./
ENV A=1 \\
  B=two
USER 1:1`;
  expect(readDockerfile(text)).toEqual([
    { from: 'debian:12', name: 'build', steps: [{ instruction: 'RUN', text: 'a && b' }] },
    {
      from: 'debian:12',
      name: undefined,
      steps: [
        { instruction: 'COPY', text: '--from=build /x/y ./' },
        { instruction: 'ENV', text: 'A=1 B=two' },
        { instruction: 'USER', text: '1:1' },
      ],
    },
  ]);
});

it('refuses an instruction that it does not know', () => {
  expect(() => readDockerfile('FROM x\nADD a b')).toThrow('ADD');
});

it('reads the texts of instructions', () => {
  expect(readCopy('--from=build /a ./b')).toEqual({ from: 'build', sources: ['/a'], target: './b' });
  expect(readCopy('a b ./')).toEqual({ from: undefined, sources: ['a', 'b'], target: './' });
  expect(readList('--interval=30s CMD ["a", "b c"]')).toEqual(['a', 'b c']);
  expect(readVariables('A=1 B=two')).toEqual({ A: '1', B: 'two' });
});
