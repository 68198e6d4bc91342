function list(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

const keys = list(
  '.ssh .gnupg .local/share/gnupg .pki .password-store .local/share/password-store .local/share/gopass .config/gopass .age .config/age .sops',
  '.config/sops .minisign .signify .sigstore .cosign .local/share/keyrings .gnome2/keyrings .local/share/kwalletd .kde/share/apps/kwallet',
  '.config/keepassxc .cache/keepassxc .keepass .config/KeePass .config/Bitwarden .config/rbw .local/share/rbw .cache/rbw .lastpass .config/lpass',
  '.local/share/lpass .config/1Password .config/op .op .1password .config/keybase .local/share/keybase .vault-token .vault_pass .config/doppler .doppler',
  '.config/infisical .infisical .Xauthority .ICEauthority .electrum .bitcoin .ethereum .config/solana .near-credentials .wireguard .openvpn',
);

const registries = list(
  '.netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials .gitcookies .gcm .config/gh .config/hub .config/glab-cli .config/tea',
  '.config/jira .jira.d .config/stripe .pypirc .config/pypoetry/auth.toml .local/share/uv/credentials .cargo/credentials .cargo/credentials.toml',
  '.gem/credentials .local/share/gem/credentials .composer/auth.json .config/composer/auth.json .hex/hex.config .pub-cache/credentials.json',
  '.config/dart/pub-credentials.json .sbt/.credentials .ivy2/.credentials .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties',
  '.config/containers/auth.json .config/helm/registry .config/configstore .cache/huggingface/token .cache/huggingface/stored_tokens .huggingface',
  '.kaggle .config/kaggle .config/openai .openai .config/anthropic .anthropic .config/io.datasette.llm/keys.json .config/github-copilot .copilot',
  '.codex/auth.json .claude/.credentials.json .claude.json .gemini/oauth_creds.json .gemini/google_accounts.json .qwen/oauth_creds.json',
  '.local/share/opencode/auth.json .config/goose .config/crush .pi/agent/auth.json .config/berth .local/state/berth',
);

const clouds = list(
  '.aws .aws-vault .awsvault .saml2aws .granted .okta .azure .config/gcloud .boto .gsutil .s3cfg .passwd-s3fs .mc .config/rclone .rclone.conf',
  '.config/restic .config/borg .config/b2 .b2_account_info .oci .config/doctl .config/hcloud .config/scw .config/linode-cli .linode-cli .vultr-cli.yaml',
  '.config/exoscale .cloudflared .wrangler .config/.wrangler .config/wrangler .fly .config/netlify .netlify .vercel .config/com.vercel.cli',
  '.local/share/com.vercel.cli .railway .supabase .databrickscfg .databricks .snowflake .config/snowflake .snowsql .bluemix .aliyun .tccli',
  '.config/openstack .config/yandex-cloud .terraformrc .tofurc .terraform.d/credentials.tfrc.json .pulumi .chef .kube .minikube .talos .config/argocd',
  '.argocd .rancher .docker .config/lxc .config/incus .pgpass .my.cnf .mylogin.cnf .cassandra/cqlshrc .config/filezilla',
);

const people = list(
  '.mozilla .cache/mozilla .librewolf .waterfox .zen .floorp .config/google-chrome .config/google-chrome-beta .config/google-chrome-unstable',
  '.cache/google-chrome .config/chromium .cache/chromium .config/BraveSoftware .cache/BraveSoftware .config/microsoft-edge .config/microsoft-edge-dev',
  '.config/vivaldi .config/opera .config/qutebrowser .local/share/qutebrowser .local/share/epiphany .local/share/torbrowser snap/firefox',
  'snap/chromium snap/brave .var/app .thunderbird .config/evolution .local/share/evolution .claws-mail .config/neomutt .config/mutt .mutt .msmtprc',
  '.config/msmtp .mbsyncrc .offlineimaprc .fetchmailrc .config/himalaya .config/aerc .config/Signal .config/Slack .config/discord .config/Element',
  '.local/share/TelegramDesktop .purple .weechat .config/weechat .irssi',
);

/** History files of shells, REPLs, database consoles and editors. */
const histories = list(
  '.bash_history .bash_sessions .local/state/bash .zsh_history .zhistory .histfile .zsh_sessions .local/state/zsh .local/share/zsh/history .history',
  '.sh_history .ksh_history .mksh_history .local/share/fish .config/fish/fish_variables .config/nushell/history.txt .config/nushell/history.sqlite3',
  '.config/nushell/history.sqlite3-wal .local/share/xonsh .local/share/elvish .local/state/elvish .local/share/powershell .local/share/atuin',
  '.local/share/mcfly .python_history .local/state/python_history .ipython/profile_default/history.sqlite .local/share/jupyter/runtime',
  '.node_repl_history .ts_node_repl_history .bun_repl_history .cache/deno/deno_history.txt .irb_history .irb-history .local/share/irb',
  '.local/share/pry .pry_history .php_history .lua_history .Rhistory .octave_hist .julia/logs/repl_history.jl .ghc/ghci_history .local/share/ghc/ghci_history',
  '.scala_history .erlang-history .cache/erlang-history .gdb_history .lldb .psql_history .local/state/psql_history .pgcli .config/pgcli',
  '.mysql_history .mariadb_history .mycli-history .sqlite_history .duckdb_history .usql_history .rediscli_history .dbshell .mongodb .lesshst',
  '.local/state/less .local/state/lesshst .viminfo .local/state/nvim .local/share/nvim/shada .emacs.d/eshell .recentf .local/share/recently-used.xbel',
);

/** Directories with sockets that allow a sandbox escape: starting containers, running commands in an open terminal, using keys. */
const sockets = list(
  '.colima .config/colima .lima .config/lima .rd .local/share/rancher-desktop .orbstack .finch .local/share/docker .local/share/containers/podman',
  '.config/podman .local/share/multipass .bitwarden-ssh-agent.sock .git-credential-cache .cache/git/credential .local/share/wezterm .screen',
  '.emacs.d/server .config/emacs/server .config/Code .config/VSCodium .config/Cursor .config/Windsurf .local/state/watchman .local/var/run/watchman',
  '.sbt/1.0/server .bloop .local/share/bloop .dbus .config/pulse',
);

/** Secrets and sockets below the home directory. */
export const secretPaths = [
  ...keys,
  ...registries,
  ...clouds,
  ...people,
  ...histories,
  ...sockets,
  '.config/Bitwarden CLI',
  '.config/Code - OSS',
  '.config/Microsoft/Microsoft Teams',
];

export const systemSecrets = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/ssh',
  '/var/lib/systemd/credential.secret',
];

/** Config files that programs need, and that sometimes contain a token. */
export const tokenSettings = [
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.condarc',
  '.bundle/config',
  '.nuget/NuGet/NuGet.Config',
  '.config/NuGet/NuGet.Config',
  '.config/pip/pip.conf',
  '.pip/pip.conf',
];
export const holdsTokens = /_auth|password|token|BUNDLE_[A-Z\d_]+__COM|:\/\/[^/\s]+:[^/\s]+@/i;
