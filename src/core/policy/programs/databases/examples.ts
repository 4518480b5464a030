import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['mysqladmin -h x status'],
  execute: ["psql -c 'select 1'", 'pg_dump -f x.sql db', 'pg_restore -d db x'],
  interactive: ['psql', 'sqlplus', 'mysql', 'sqlite3 x', 'mongosh', 'clickhouse-client', 'redis-cli'],
  destructive: ['dropdb x'],
};
