import { each, type ProgramSpec, type ProgramTable, valued } from '../../subject/program-spec.js';

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };

/** Subcommands of `pass` that show no password. */
const PASS_COMMANDS = /^(?:init|ls|list|find|search|insert|add|edit|generate|rm|mv|cp|git|help|version|grep|-.*)$/;

/** Stores of passwords and keys, and what else shows the secrets of programs. */
export const CREDENTIAL_SPECS: ProgramTable = {
  ...each('security keyring secret-tool pass', {
    class: 'execute',
    ...text,
    judge: (subject) => {
      const [name] = subject.args;
      if (subject.program === 'pass' && name && /[/.\w]/.test(name.shape) && !PASS_COMMANDS.test(name.shape))
        subject.add('exfiltration', 'reads credentials');
    },
    subcommands: each('find-generic-password find-internet-password dump-keychain export get lookup show', {
      class: 'exfiltration',
      reason: 'reads credentials',
      ...text,
    }),
  }),
  ...each('op bw lpass gopass doppler infisical chamber', {
    class: 'network',
    ...text,
    options: valued('--account --vault --session --project --config --env'),
    subcommands: {
      ...each('whoami status version --version help --help', show),
      ...each('read get item inject run list export show ls secrets exec document', {
        class: 'exfiltration',
        reason: 'reads credentials',
        ...text,
      }),
    },
  }),
  sops: {
    class: 'execute',
    ...text,
    options: each('-d --decrypt', { class: 'exfiltration', reason: 'reads credentials' }),
    subcommands: each('decrypt exec-env exec-file edit', {
      class: 'exfiltration',
      reason: 'reads credentials',
      ...text,
    }),
  },
  'ansible-vault': {
    class: 'execute',
    ...text,
    subcommands: each('view decrypt edit', { class: 'exfiltration', reason: 'reads credentials', ...text }),
  },
  ...each('age rage', {
    class: 'execute',
    options: each('-d --decrypt', { class: 'exfiltration', reason: 'decrypts' }),
  }),
  ...each('credstash aws-vault envchain summon', { class: 'exfiltration', reason: 'reads credentials', ...text }),
  gcore: { class: 'exfiltration', reason: 'copies the memory of a process', ...text },
  ...each('logger', { class: 'execute', options: each('-f --file', { value: 'read' }), ...text }),
  ...each('logrotate', { class: 'execute', operands: 'read', options: each('-s --state', { value: 'write' }) }),
};
