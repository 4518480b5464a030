import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['docker ps'],
  execute: ['docker exec c ls', 'docker-compose up -d', 'docker-compose run -T c ls', 'podman unshare ls'],
  network: ['kubectl get pods', 'helm -n x list', 'k9s', 'terraform plan'],
  interactive: ['docker exec -it c sh', 'docker-compose exec c sh', 'kubectl exec pod -it -- sh', 'lxc shell x'],
  destructive: ['vagrant destroy', "vagrant ssh -c 'rm x'"],
};
