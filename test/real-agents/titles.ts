/** What is tried with every agent, as the tests and the table in `docs/develop/real-agents.md` call it. */
export const TITLES = {
  listed: 'the agent lists the server as the guide says',
  exact: 'run_command gives UTF-8, quotes, stderr and exit code',
  session: 'a session keeps its state over several calls',
  confirmation: 'a command is confirmed, then runs',
  typed: 'a question of a command is answered',
  long: 'a command of more than a minute reports progress',
  directory: "commands start in the agent's project",
  interruption: 'SIGINT leaves nothing running',
} as const;
