import { ownUid } from '../engine/system/own-user.js';
import { DRIVERS_DIRECTORY } from '../engine/shells/list.js';
import { findUser } from '../engine/user/find-user.js';
import { UserLaunch } from '../engine/user/user-launch.js';
import { TokenFiles } from '../services/access/token-files.js';
import type { Finding } from './finding.js';

/** Where the tokens are, and what programs are found in. */
export interface UsersSurroundings {
  readonly stateDirectory: string;
  /** Search path for bash, setpriv(1) and keyctl(1). */
  readonly path: string;
  /** Whether processes of other users can be started. @default whether this process is root */
  readonly isRoot?: boolean | undefined;
}

const name = 'run_as';

/** Checks the users of tokens with `run_as`. Without such a token there is nothing to report. */
export async function examineUsers({
  stateDirectory,
  path,
  isRoot = ownUid() === 0,
}: UsersSurroundings): Promise<readonly Finding[]> {
  const { tokens } = new TokenFiles(stateDirectory).read();
  const users = [...new Set(tokens.flatMap(({ run_as: user }) => user ?? []))].sort();
  if (users.length === 0) return [];
  if (!isRoot) {
    const detail = `tokens of ${users.join(', ')} are refused: the daemon is not root`;
    return [{ name, status: 'warn', detail, fix: 'run the daemon as root, or revoke these tokens' }];
  }
  const problems = await Promise.all(users.map((user) => problemOf(user, path)));
  const broken = problems.flatMap((problem): Finding[] => (problem ? [{ name, status: 'warn', ...problem }] : []));
  const served = users.filter((_, index) => problems[index] === undefined);
  const ok: Finding = { name, status: 'ok', detail: `programs can be started as ${served.join(', ')}` };
  return served.length > 0 ? [ok, ...broken] : broken;
}

/** Returns why nothing can be started as a user, and what helps; undefined when that works. */
async function problemOf(wanted: string, path: string): Promise<Pick<Finding, 'detail' | 'fix'> | undefined> {
  try {
    const user = await findUser(wanted);
    if (!user) return problem(wanted, 'this machine has no such user', 'create the user, or revoke its tokens');
    if (user.uid === 0) return problem(wanted, 'it is root, as is the daemon', 'create a token without --run-as');
    const launch = await UserLaunch.find(user, path);
    if (await launch.canEnter(DRIVERS_DIRECTORY)) return undefined;
    return problem(wanted, `it cannot enter ${DRIVERS_DIRECTORY}`, 'install shell-adapter where all users can read it');
  } catch (error) {
    return problem(wanted, (error as Error).message, 'apt-get install util-linux bash keyutils (Debian, Ubuntu)');
  }
}

const problem = (user: string, why: string, fix: string) => ({
  detail: `nothing can be started as ${user}: ${why}`,
  fix,
});
