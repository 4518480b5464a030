import type { ProgramFamily } from '../program-catalog.js';
import { TRIVIAL_PROGRAM } from '../subject/assignments.js';
import {
  judgeCloud,
  judgeCurl,
  judgeRemoteCopy,
  judgeSender,
  judgeSocat,
  judgeWget,
  SENT_ROLES,
} from './network-fetch.js';

const ENTRIES = String.raw`
%ssh: read
  -b -B -c -D -e -i -J -l -L -m -O -p -P -Q = text
  -R = text ! exfiltration forwards a port of another machine to this one
  -S -w -W = text
  -o -F = text ! obfuscated may make ssh run programs on this machine unless \
      /^(?:(?:AddressFamily|BatchMode|Ciphers|Compression|Connect\w+|Host(?:Key|Name)\w*|IdentitiesOnly|Kex\w+|LogLevel|MACs|NumberOfPasswordPrompts|P(?:assword|ubkey)Authentication|Port|Preferred\w+|RequestTTY|ServerAlive\w+|StrictHostKeyChecking|TCPKeepAlive|User)[= ][\w.,@+:-]+|(?:Global|User)KnownHostsFile[= ]\/dev\/null)$/i
  -I = text ! obfuscated loads code
  -E = write
curl <address>: network
  -d --data --data-ascii --data-binary --json -F --form = data
  --data-urlencode --url-query --variable = named-data
  --data-raw --form-string = raw-data
  -T --upload-file = read ! exfiltration sends a file
  -o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --output-dir --hsts --alt-svc \
      --etag-save --libcurl = output
  -K --config = text ! obfuscated reads options from a file
  --engine = text ! obfuscated loads code
  -n --netrc --netrc-optional ! exfiltration sends a password of ~/.netrc
  -H --header = header
  -b --cookie = sent-file
  --proxy-header -A --user-agent -e --referer -u --user = sent
  --url = address
  --unix-socket = socket
  -E --cert --key --cacert --netrc-file = read
  -X --request = text
  when /^(?:-\w*X|--request=)?DELETE$/i ! destructive {it} deletes remote data
  -w --write-out = format
  -O -J --remote-name --remote-name-all --remote-header-name
  -x --proxy -m -Y -y -z -C -r -U --max-time --connect-timeout --retry --retry-delay --resolve --limit-rate --interface \
      --range --ciphers = text
  unknown words are operands
  rule curl
  is runnable fetches
  e.g. curl example.org: network
wget <text>: network
  -O --output-document = output
  -o -a --output-file --append-output -P --directory-prefix = write
  --post-file --body-file = read ! exfiltration sends a file
  -i --input-file = read
  --post-data --body-data = text
  --use-askpass -e --execute --config = text ! obfuscated
  when /^(?:--method=)?DELETE$/i ! destructive {it} deletes remote data
  --method -t -T -U -Q -w -l -A -R -D --tries --timeout --user-agent --header --user --password = text
  rule wget
  is runnable fetches
  e.g. wget example.org: network; wget --method=DELETE example.org: destructive
http https xh <text>: network
  -o --output = write
  when /^[^=:@\/]*(?::?=)?@./ ! exfiltration {it} sends a file
  when /^DELETE$/ ! destructive {it} deletes remote data
  rule sender
  is fetches
  e.g. http example.org: network
aria2c <text>: network
  -d -o --dir --out = write
  --on-download-complete = code
  is fetches
  e.g. aria2c example.org: network
ping ping6 dig nslookup host whois traceroute tracepath mtr arp arping ipcalc <text>: network
  rule sender
  e.g. dig example.org: network
nmap <text>: network
  --script --datadir = text ! obfuscated may run code
  --interactive ! obfuscated may run code
  rule sender
  e.g. nmap example.org: network
socat <text>: network
  rule socat
  is runnable fetches
  e.g. socat - EXEC:'rm x': obfuscated
nc ncat netcat telnet <text>: network
  -e -c --exec --sh-exec = shell ! obfuscated connects a program to another machine
  -l --listen ! exfiltration accepts connections from other machines
  rule sender
  typed code always of telnet
  is runnable of nc ncat
  is fetches of nc ncat netcat
  e.g. nc -l 80: exfiltration; telnet x: interactive
scp <text>: network
  -S -J -D = shell
  -o -F = text ! obfuscated may run programs
  -P -l -i -c -X = text
  rule remoteCopy
  is runnable fetches
  e.g. scp host:x .: network
rsync <text>: network
  -e --rsh = shell
  --rsync-path = text ! obfuscated may run programs
  -f -T -M -B --filter --exclude --include --exclude-from --include-from --files-from = text
  --backup-dir --log-file --partial-dir --temp-dir = write
  --delete --delete-before --delete-during --delete-after --delete-excluded --del --remove-source-files ! \
      destructive deletes files
  --daemon ! exfiltration serves files to other machines
  --bwlimit --port --timeout --contimeout --max-size --min-size --chmod --chown --usermap --groupmap \
      --compare-dest --copy-dest --link-dest --block-size --info --debug --out-format --password-file --iconv = \
      text
  rule remoteCopy
  is runnable fetches
  e.g. rsync host:x .: network
sftp <text>: network
  when input ! obfuscated {it} runs commands that cannot be judged
  -b -D = text ! obfuscated runs commands that cannot be judged
  -o -F -S = text ! obfuscated may run programs on this machine
  -B -c -i -J -l -P -R -s -X = text
  rule sender
  typed code unless /^-[bcf]/
  is fetches
  e.g. sftp host: interactive
ftp lftp ncftp tftp smbclient <text>: network
  -c -e -f = text ! obfuscated runs commands that cannot be judged
  when input ! obfuscated {it} runs commands that cannot be judged
  rule sender
  typed code always of ftp
  typed code unless /^-[bcf]/ of lftp
  is fetches of ftp lftp
  e.g. ftp host: interactive; lftp -e 'put x' host: obfuscated; ncftp x: network
mail mailx sendmail mutt msmtp swaks <text>: exfiltration sends mail
  e.g. mail x@example.org: exfiltration
gh glab hub <text>: network
  when /^(?:-X|--method=)?DELETE$/i ! destructive deletes remote data
  gist: exfiltration publishes files
  auth secret ssh-key gpg-key: exfiltration handles credentials
  repo release: network
    delete archive rename: destructive
    create: network
      --push --source ! exfiltration publishes files
  config: network
    set: persistence changes which programs it runs
  alias extension: obfuscated may run any program
  is runnable of gh
  e.g. gh pr list: network
aws gcloud gsutil az oci doctl flyctl fly heroku vercel netlify wrangler rclone vault consul etcdctl nomad <text>: \
    network
  when /^(?:rm|rb|del|delete|remove|destroy|purge|terminate|uninstall|deletefile|cleanup)(?:-|$)|:destroy$|-delete$/i ! destructive {it} {word} deletes remote data
  when /^(?:create|update|put|modify|set|attach|detach|add|start|stop|reboot|send|invoke|run|associate|authorize)-|^invoke$/ ! persistence {it} {word} changes remote data
  when /^(?:get-secret-value|get-login-password|get-password-data|print-access-token|print-identity-token|get-access-token|get-session-token|get-credentials|get-parameters?(?:-by-path)?)$/ ! \
      exfiltration {it} reads credentials
  when /^(?:(?:--(?:body|zip-file|file|f)|upload)$|fileb?:\/\/)/ ! exfiltration {it} sends files to another machine
  rule cloud
  is runnable of aws
  is fetches of aws gsutil
  e.g. aws s3 ls: network
%openssl: read
  -in -key -inkey -cert = read
  -out -keyout -writerand = output
  -WWW -HTTP ! exfiltration serves files to other machines
  -engine -provider -provider-path = text ! obfuscated loads code
openssl <text>: execute
  like %openssl
  unknown words are operands
  s_client s_server s_time: network
    like %openssl
    unknown words are operands
    rule sender
  e.g. openssl rand -hex 8: execute
ssh-copy-id: persistence grants access to another machine
  e.g. ssh-copy-id host: persistence
ssh-keygen <text>: write
  -f = write
  -D = text ! obfuscated loads code
  -t -b -C -N -P -m = text
  e.g. ssh-keygen -f key: write
ssh-add <text>: execute
  -s = text ! obfuscated loads code
  e.g. ssh-add x: execute
croc wormhole magic-wormhole ffsend transfer <text>: exfiltration sends files to others
  receive --help --version: network
  e.g. croc send x: exfiltration
wireshark tshark <text>: privilege records the network
  -X = text ! obfuscated loads code
  -w = write
  e.g. tshark -i any: privilege
httpd <text>: exfiltration serves files to other machines
  e.g. httpd -h .: exfiltration
serve http-server live-server ttyd gotty wetty <text>: exfiltration lets other machines reach this one
  e.g. ttyd bash: exfiltration
tailscale <text>: privilege changes the network of the machine
  status ip version ping netcheck whois: read
  funnel serve file ssh: exfiltration reaches other machines
  e.g. tailscale funnel 80: exfiltration
ngrok cloudflared localtunnel lt bore <text>: exfiltration makes this machine reachable for others
  e.g. ngrok http 80: exfiltration
ssh autossh: network runs commands on another machine
  runs after 1, joined, elsewhere, sends-input
  like %ssh
  typed code upto 1 unless /^-[A-Za-z0-9]*[NfWOVQG]/ of ssh
  is runnable of ssh
  e.g. ssh host ls: network; ssh host: interactive; autossh host ls: network
mosh: network runs commands on another machine
  runs after 1, joined, elsewhere, sends-input
  like %ssh
  --ssh --server = text
  typed code upto 1
  e.g. mosh: interactive; mosh host rm x: destructive
sshpass: network
  runs
  -p -f -d -P = text
  e.g. sshpass -p x ssh host ls: network
ssh-agent: execute
  runs bare execute
  -a -t -E -O -P = text
  e.g. ssh-agent ls: execute
msfconsole mosh-client:
  typed code always
  e.g. mosh-client: interactive
`;

export const NETWORK: ProgramFamily = {
  name: 'network',
  entries: ENTRIES,
  rules: {
    judges: {
      curl: judgeCurl,
      wget: judgeWget,
      sender: judgeSender,
      socat: judgeSocat,
      remoteCopy: judgeRemoteCopy,
      cloud: judgeCloud,
    },
    roles: SENT_ROLES,
  },
  variables: [
    {
      names: /^SSH_ASKPASS$/,
      class: 'obfuscated',
      what: 'sets a program that other programs run',
      harmless: TRIVIAL_PROGRAM,
    },
    { names: /^(?:RSYNC_RSH|CURL_HOME|WGETRC)$/, class: 'obfuscated', what: 'adds options to a program' },
  ],
  startupPaths: `
    authorized_keys authorized_keys2 known_hosts ~/.ssh/** /**/.ssh/** ~/.aws/** ~/.netrc .curlrc ~/.wgetrc
  `,
};
