/** Places of one kind of credentials. */
interface CredentialPlaces {
  /** What is kept there, for documentation. */
  readonly of: string;
  /**
   * Patterns: `~` is a home directory, `**` any depth, `*` any characters of a name. A pattern without a slash is a name
   * in any directory.
   */
  readonly paths: readonly string[];
}

/** Splits a list of patterns without blanks. */
const places = (of: string, paths: string): CredentialPlaces => ({ of, paths: paths.trim().split(/\s+/) });

/**
 * Files that contain credentials, or what people have typed. The policy asks before a command reads one of them, and a
 * sandbox hides those in home directories and of the machine.
 */
export const CREDENTIAL_PLACES: readonly CredentialPlaces[] = [
  places(
    'SSH',
    `~/.ssh ~/.ssh/id_* ~/.ssh/*.pem ~/.ssh/*_key /**/.ssh/id_* /etc/ssh/*_key id_rsa id_dsa id_ecdsa id_ed25519
    id_ecdsa_sk id_ed25519_sk ~/.putty/** *.ppk`,
  ),
  places('keys and key stores', '*.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx'),
  places('variables of projects', '.env .env.* *.env .dev.vars .secrets secrets.toml'),
  places(
    'files of applications',
    `credentials.json application_default_credentials.json service-account*.json client_secret*.json .htpasswd
    secrets.yml secrets.yaml secrets.json wp-config.php
    appsettings.Production.json local.settings.json token.pickle`,
  ),
  places(
    'clouds',
    `~/.aws ~/.aws/credentials ~/.aws/sso/** ~/.aws/cli/** ~/.azure/** ~/.config/gcloud/** ~/.config/doctl/** ~/.oci/**
    ~/.boto ~/.s3cfg ~/.config/rclone/** ~/.rclone.conf ~/.databrickscfg ~/.kaggle/** ~/.fly/** ~/.config/netlify/**
    ~/.netlify/** ~/.wrangler/** ~/.config/.wrangler/** ~/.local/share/com.vercel.cli/** ~/.config/hcloud/**
    ~/.config/linode-cli ~/.aliyun/** ~/.bluemix/** ~/.config/scw/** ~/.config/openstack/** ~/.config/ngrok/** ~/.ngrok2/**
    ~/.cloudflared/** ~/.config/heroku/** ~/.supabase/access-token ~/.config/stripe/** ~/.twilio-cli/** ~/.config/fly/**`,
  ),
  places(
    'infrastructure tools',
    `~/.terraform.d/** ~/.terraformrc *.tfstate *.tfstate.backup terraform.tfvars ~/.pulumi/credentials.json
    ~/.vault-token ~/.vault_pass* ~/.ansible/vault_pass* ~/.config/sops/** ~/.config/age/**`,
  ),
  places(
    'containers',
    `~/.docker/config.json ~/.kube ~/.kube/config kubeconfig ~/.config/containers/** /run/secrets/** /var/run/secrets/**
    /etc/kubernetes/** /etc/rancher/k3s/k3s.yaml`,
  ),
  places(
    'code hosts',
    `~/.git-credentials ~/.config/git/credentials ~/.config/gh/hosts.yml ~/.config/hub ~/.config/glab-cli/**
    ~/.config/tea/** ~/.subversion/auth/** ~/.jira.d/**`,
  ),
  places(
    'package registries',
    `~/.npmrc ~/.yarnrc.yml ~/.pypirc ~/.config/pip/** ~/.cargo/credentials ~/.cargo/credentials.toml ~/.gem/credentials
    ~/.bundle/config ~/.m2/settings.xml ~/.m2/settings-security.xml ~/.gradle/gradle.properties ~/.composer/auth.json
    ~/.config/composer/auth.json ~/.nuget/NuGet/NuGet.Config`,
  ),
  places('databases', '~/.pgpass ~/.my.cnf ~/.mylogin.cnf'),
  places(
    'agents and models',
    `~/.claude/.credentials.json ~/.claude.json ~/.codex/auth.json ~/.gemini/oauth_creds.json ~/.gemini/.env
    ~/.qwen/oauth_creds.json ~/.qwen/.env ~/.local/share/opencode/auth.json ~/.config/cursor/auth.json ~/.cursor/auth.json
    ~/.config/github-copilot/** ~/.huggingface/token ~/.cache/huggingface/token ~/.cache/huggingface/stored_tokens
    ~/.config/io.datasette.llm/keys.json ~/.aider.conf.yml ~/.config/openai/** ~/.config/anthropic/** ~/.codeium/**
    ~/.local/share/amp/secrets.json ~/.local/share/crush/**`,
  ),
  places(
    'password stores and wallets',
    `~/.gnupg/** ~/.password-store/** ~/.local/share/keyrings/** *.keychain-db ~/.android/adbkey ~/.config/op/** ~/.op/** ~/.config/1Password/**
    ~/.config/Bitwarden*/** ~/.lastpass/** ~/.config/solana/** ~/.ethereum/keystore/**
    ~/.bitcoin/wallet.dat ~/.electrum/wallets/**`,
  ),
  places(
    'browsers and editors',
    `~/.mozilla/** ~/.config/google-chrome/** ~/.config/chromium/** ~/.config/BraveSoftware/** ~/.config/microsoft-edge/**
    ~/.config/Code/User/globalStorage/** ~/.config/Slack/** ~/.config/discord/** cookies.sqlite logins.json key4.db`,
  ),
  places(
    'networks',
    `~/.netrc ~/.msmtprc ~/.config/filezilla/** /etc/wireguard/** /etc/ppp/chap-secrets
    /etc/NetworkManager/system-connections/** /etc/krb5.keytab /tmp/krb5cc_*`,
  ),
  places(
    'histories of shells and clients',
    `~/.bash_history ~/.zsh_history ~/.python_history ~/.psql_history ~/.mysql_history ~/.sqlite_history
    ~/.node_repl_history ~/.rediscli_history ~/.dbshell ~/.local/share/fish/fish_history`,
  ),
  places(
    'the machine',
    '/run/credentials/** /etc/shadow* /etc/gshadow* /etc/sudoers* /etc/sudoers.d/** /etc/ssl/private/** /etc/pki/tls/private/**',
  ),
];

/** Names among them that any command may read: public keys, certificates and templates. */
export const PUBLIC_NAMES: readonly string[] = [
  ...['*.pub', '.env.example', '.env.sample', '.env.template', '.env.dist', '.env.defaults', '.env.schema'],
  ...['example.env', '*.example.env', 'cert.pem', 'fullchain.pem', 'chain.pem', 'ca.pem', '*-ca.pem', 'cacert.pem'],
];

/** A range of a text or of bytes, its end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A searchable sequence: a text, or bytes for bytes. */
interface Searchable<P> {
  indexOf(pattern: P, from?: number): number;
}

/**
 * Ranges of secrets, in order. Overlapping ones are merged, so that no part of either is left.
 * @param patterns none may be empty
 * @param known ranges already known to be secret
 */
export function findSecrets<P extends string | Uint8Array>(
  data: Searchable<P>,
  patterns: readonly P[],
  known: readonly Span[] = [],
): readonly Span[] {
  const found = [...known];
  for (const pattern of patterns) {
    for (let start = data.indexOf(pattern); start !== -1; start = data.indexOf(pattern, start + 1)) {
      found.push({ start, end: start + pattern.length });
    }
  }
  if (found.length < 2) return found;
  found.sort((a, b) => a.start - b.start);
  const merged: Span[] = [];
  for (const span of found) {
    const last = merged.at(-1);
    if (last && span.start < last.end) merged.splice(-1, 1, { start: last.start, end: Math.max(last.end, span.end) });
    else merged.push(span);
  }
  return merged;
}

export const MASK = '***';

/** Fewest characters of a secret: a shorter one would also match in unrelated words. */
export const MIN_SECRET_CHARACTERS = 8;

/**
 * Search patterns for secrets. A secret of several lines is searched line by line, because a terminal uses other line
 * ends than a file. Lines that are too short are omitted.
 */
export const patternsOf = (secrets: readonly string[]): readonly string[] => [
  ...new Set(
    secrets
      .flatMap((secret) => secret.split(/\r?\n/))
      .map((line) => line.trim())
      .filter((line) => Array.from(line).length >= MIN_SECRET_CHARACTERS),
  ),
];

/** Masks the configured secrets in texts. The set of secrets may change. */
export class SecretMask {
  #patterns: readonly string[] = [];
  /** Includes the JSON-escaped form of each secret. */
  #texts: readonly string[] = [];

  constructor(secrets: readonly string[] = []) {
    this.replace(secrets);
  }

  /** Patterns for command output: without duplicates, the longest first. */
  get patterns(): readonly string[] {
    return this.#patterns;
  }

  /** Patterns for texts: also includes the JSON-escaped form of each secret. */
  get textPatterns(): readonly string[] {
    return this.#texts;
  }

  replace(secrets: readonly string[]): void {
    const byLength = (a: string, b: string) => b.length - a.length;
    this.#patterns = [...patternsOf(secrets)].sort(byLength);
    const quoted = this.#patterns.map((pattern) => JSON.stringify(pattern).slice(1, -1));
    this.#texts = [...new Set([...this.#patterns, ...quoted])].sort(byLength);
  }

  readonly text = (text: string): string => {
    const spans = findSecrets(text, this.#texts);
    if (spans.length === 0) return text;
    const kept = spans.map(({ start }, index) => text.slice(spans[index - 1]?.end ?? 0, start));
    return [...kept, text.slice(spans.at(-1)?.end)].join(MASK);
  };

  /**
   * A value in wire format with all texts in it masked, including field names; bytes are unchanged. Returns the same
   * value when there are no secrets.
   */
  readonly value = <T>(value: T): T => (this.#texts.length === 0 ? value : (this.#maskDeep(value) as T));

  #maskDeep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((entry) => this.#maskDeep(entry));
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.text(key), this.#maskDeep(inner)]));
  }
}
