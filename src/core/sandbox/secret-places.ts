/** Files and directories of a home directory that contain credentials or input history: no sandbox shows them. */
export const SECRETS_OF_HOME: readonly string[] = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.password-store', '.terraform.d', '.vault-token'],
  ...['.config/gcloud', '.config/gh', '.config/git/credentials', '.config/containers', '.config/doctl'],
  ...['.config/google-chrome', '.config/chromium', '.mozilla', '.local/share/keyrings'],
  ...['.git-credentials', '.netrc', '.pgpass', '.my.cnf', '.npmrc', '.pypirc', '.cargo/credentials', '.s3cfg'],
  ...['.cargo/credentials.toml', '.gem/credentials', '.m2/settings.xml', '.config/pip', '.config/rclone'],
  // Credentials of LLM command-line tools.
  ...['.claude/.credentials.json', '.claude.json', '.codex/auth.json', '.gemini/oauth_creds.json'],
  ...['.qwen/oauth_creds.json', '.local/share/opencode/auth.json', '.config/cursor/auth.json'],
  ...['.bash_history', '.zsh_history', '.python_history', '.psql_history', '.node_repl_history'],
];

/** Such files of the machine, where the daemon's user may read them. */
export const SECRETS_OF_MACHINE: readonly string[] = [
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d'],
  ...['/etc/ssl/private', '/etc/krb5.keytab', '/etc/ssh/ssh_host_rsa_key', '/etc/ssh/ssh_host_ecdsa_key'],
  '/etc/ssh/ssh_host_ed25519_key',
];
