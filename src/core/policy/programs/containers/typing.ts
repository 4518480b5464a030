import { splitOptions, typedCode, wordsOf } from '../../family/typing-rules.js';
import type { TypingProgram, TypingTable } from '../../model/typing.js';
import { each } from '../../subject/program-spec.js';

/** Options of `docker run` and `docker exec` that take a value, so that the next argument is not the image. */
const CONTAINER_OPTIONS = wordsOf(
  '-e -v -p -w -u -h -l -m -c --name --network --net --env --env-file --volume --publish --workdir --user --entrypoint --hostname --mount --label --memory --cpus --platform --add-host --device --restart --pull --gpus --ulimit --shm-size --tmpfs --security-opt --cap-add --cap-drop --detach-keys --pid --ipc',
);

/** `-i`, `-t`, `-it`, `--interactive`, `--stdin`, `--tty`. */
const ASKS_FOR_INPUT = /^(?:-[a-su-zA-Z]*[it][a-z]*|--(?:interactive|stdin|tty)(?:=true)?)$/;

/** Docker and similar tools: a container receives typed input only on request. */
const container: TypingProgram['takes'] = (args) => {
  const at = args.findIndex((arg) => /^(?:run|exec|attach|start)$/.test(arg));
  if (at === -1) return false;
  const { options, operands } = splitOptions(args.slice(at + 1), CONTAINER_OPTIONS);
  if (args[at] === 'attach') return true;
  // Compose allocates a terminal by default.
  if (args.slice(0, at).includes('compose')) return !options.some((option) => /^-[a-zA-Z]*[Td]/.test(option));
  return options.some((option) => ASKS_FOR_INPUT.test(option)) && !isInformation(operands.slice(1));
};

/** Whether the program in the container only prints its version, or how it is used. */
const isInformation = (words: readonly string[]): boolean =>
  words.length === 2 && /^(?:-v|-V|--version|-h|--help)$/.test(words[1] ?? '');

/** kubectl: `exec -it POD -- sh`, with its options before or after the operand. */
const cluster: TypingProgram['takes'] = (args) => {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  if (own.includes('edit')) return true;
  return own.some((arg) => /^(?:exec|run|attach|debug)$/.test(arg)) && own.some((arg) => ASKS_FOR_INPUT.test(arg));
};

/** Programs that pass typed input to a program in a container. */
export const TYPING: TypingTable = {
  ...each('docker podman nerdctl', typedCode(container)),
  ...each(
    'docker-compose podman-compose',
    typedCode((args) => container(['compose', ...args])),
  ),
  ...each('kubectl oc', typedCode(cluster)),
  ...each(
    'lxc incus',
    typedCode((args) => /^(?:shell|console|exec)$/.test(args[0] ?? '')),
  ),
};
