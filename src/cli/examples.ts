/**
 * The examples at the end of the help of every command. A command line here is one that works; `test/unit/cli/help.test.ts`
 * parses each with the command's own options.
 */
import type { Command } from 'commander';

/** Examples by the path of a command; groups of commands have those of their commands. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  try: ['edgeplan try', 'edgeplan try --keep ./try-data --port 9000'],
  play: ['edgeplan play', 'edgeplan play -f shop/edge.yaml --port 9000'],
  init: ['edgeplan init', 'edgeplan init shop && edgeplan test -f shop/edge.yaml'],
  simulate: [
    "edgeplan simulate https://shop.example.com/api/orders --ip 203.0.113.7 --country RU -A 'GPTBot/1.2'",
    'edgeplan simulate https://shop.example.com/api/orders --why office-only',
    'edgeplan simulate https://shop.example.com/login --as-test >> edge.test.yaml',
    'edgeplan simulate --fail-on block,challenge https://shop.example.com/ https://shop.example.com/api/orders',
    `edgeplan simulate 'curl https://shop.example.com/login -X POST --data-raw "user=a"'`,
  ],
  test: [
    'edgeplan test',
    'edgeplan test --coverage --fail-under 90',
    'edgeplan test --filter embargo --json',
    'edgeplan test --watch',
    'edgeplan test --reporter human --reporter junit=report.xml',
  ],
  diff: [
    'edgeplan diff old.yaml edge.yaml',
    'edgeplan export example.com --ids | edgeplan diff - edge.yaml --requests requests.jsonl',
  ],
  replay: [
    'edgeplan replay --log decisions.jsonl',
    'edgeplan replay --log decisions.jsonl -f edge.yaml --json',
    'edgeplan replay --log /var/log/nginx/access.log --host shop.example.com',
    'edgeplan replay --log one.log.gz --log two.log.gz --before old.yaml -f edge.yaml',
    'journalctl -u haproxy -o cat | edgeplan replay --log - --capture host,user-agent',
  ],
  explain: [
    'edgeplan explain 7c9e6679f5a94d9a --log decisions.jsonl',
    'edgeplan explain 7c9e6679f5a94d9a --log decisions.jsonl -f edge.yaml --all',
    'edgeplan explain 7c9e6679-f5a9-4d9a-8d5a-0f1e2d3c4b5a',
    'edgeplan explain 7c9e6679-f5a9-4d9a-8d5a-0f1e2d3c4b5a --domain example.com --json',
  ],
  prove: [
    'edgeplan prove',
    'edgeplan prove -f shop/edge.yaml --filter office',
    'edgeplan prove --reporter github',
  ],
  lint: [
    'edgeplan lint',
    'edgeplan lint -f shop/edge.yaml --fail-on error --json',
    'edgeplan lint --reporter github',
  ],
  fmt: [
    'edgeplan fmt',
    'edgeplan fmt --check shop/edge.yaml shop/edge.test.yaml',
    'edgeplan fmt - < edge.yaml',
  ],
  fields: ['edgeplan fields', 'edgeplan fields drop', 'edgeplan fields drop path_includes'],
  codes: ['edgeplan codes', 'edgeplan codes unknown_field'],
  schema: ['edgeplan schema > edge.schema.json', 'edgeplan schema test > edge.test.schema.json'],
  compile: ['edgeplan compile -o plan.edgeplan', 'edgeplan compile -f plan.edgeplan --print'],
  'waf compile': [
    'edgeplan waf compile ./coreruleset -o crs.bin',
    'edgeplan waf compile rules.conf --without 942100-942199 --print',
  ],
  'waf show': [
    'edgeplan waf show',
    'edgeplan waf show --crs ./coreruleset --json',
    'edgeplan waf show crs.bin',
  ],
  serve: [
    'edgeplan serve --data ./edgeplan-data --ns-set ns1.example.net,ns2.example.net',
    'edgeplan serve --database postgres://edgeplan@db.example.net/edgeplan --host 0.0.0.0 --port 8787',
    'edgeplan serve --trust-names --allow-private-names --allow-origins 127.0.0.0/8',
    'edgeplan serve --smtp smtp://edgeplan@mail.example.net --smtp-password-file smtp.password --mail-from alerts@example.net',
  ],
  node: [
    'edgeplan node --file edge.yaml',
    'edgeplan node --control https://control.example.net --token-file node.token --host 0.0.0.0 --port 80',
    'edgeplan node --file edge.yaml --certificates ./certificates --tls-port 8443 --ops-port 9090',
  ],
  doctor: [
    'edgeplan doctor --data ./edgeplan-data',
    'edgeplan doctor --database postgres://edgeplan@db.example.net/edgeplan --port 8787',
    'edgeplan doctor --control https://control.example.net --token-file node.token --certificates ./certificates --json',
  ],
  'account create': ['edgeplan account create acme', 'edgeplan account create acme --data ./edgeplan-data'],
  'account list': ['edgeplan account list', 'edgeplan account list --json'],
  'account contact': [
    'edgeplan account contact acme --email alerts@acme.example',
    'edgeplan account contact ops --email ops@example.net --operator',
    'edgeplan account contact acme --json',
  ],
  'account disable': ['edgeplan account disable acme'],
  'account enable': ['edgeplan account enable acme'],
  'key create': [
    'export EDGEPLAN_KEY=$(edgeplan key create acme)',
    'edgeplan key create acme --name dashboard --expires 90 --read-only',
  ],
  'key list': ['edgeplan key list', 'edgeplan key list acme --json'],
  'key revoke': ['edgeplan key revoke 7'],
  'domain show': ['edgeplan domain show shop.example', 'edgeplan domain show shop.example --json'],
  'domain group': ['edgeplan domain group shop.example eu,us'],
  'domain ban': ["edgeplan domain ban shop.example --reason 'phishing, ticket 4711'"],
  'domain unban': ["edgeplan domain unban shop.example --reason 'cleaned up, ticket 4711' --proven"],
  'domain disable': ["edgeplan domain disable shop.example --reason 'asked by its owner'"],
  'domain enable': ["edgeplan domain enable shop.example --reason 'asked by its owner'"],
  'subscription show': ['edgeplan subscription show shop.example --json'],
  'subscription set': [
    'edgeplan subscription set shop.example --tier pro --until 2027-01-31',
    'edgeplan subscription set shop.example --state suspended',
  ],
  'billing import': [
    'edgeplan billing import billing.jsonl --dry-run',
    'export-from-billing | edgeplan billing import - --database postgres://control@db.example.net/edgeplan',
  ],
  'billing wallet': ['edgeplan billing wallet', 'edgeplan billing wallet --json'],
  'billing invoices': ['edgeplan billing invoices', 'edgeplan billing invoices --status open --json'],
  'billing subscriptions': ['edgeplan billing subscriptions'],
  'subscription remove': ['edgeplan subscription remove shop.example'],
  'node-token create': ['edgeplan node-token create eu-1 --group eu > node.token'],
  'node-token list': ['edgeplan node-token list', 'edgeplan node-token list --json'],
  'node-token rotate': ['edgeplan node-token rotate eu-1 --overlap 12h > node.token'],
  'node-token revoke': ['edgeplan node-token revoke eu-1'],
  'node-group list': ['edgeplan node-group list', 'edgeplan node-group list --json'],
  'node-group set-node': ['edgeplan node-group set-node eu-1 eu,us'],
  'signing-key rotate': ['edgeplan signing-key rotate', 'edgeplan signing-key rotate --compromised'],
  'signing-key show': ['edgeplan signing-key show', 'edgeplan signing-key show --json'],
  'secrets-key rotate': [
    'edgeplan secrets-key rotate --data ./edgeplan-data',
    'edgeplan secrets-key rotate --database postgres://edgeplan@db.example.net/edgeplan --secrets-key /etc/edgeplan/secrets.key',
  ],
  'clearance rotate': ['edgeplan clearance rotate', 'edgeplan clearance rotate --overlap 0'],
  'clearance show': ['edgeplan clearance show', 'edgeplan clearance show --json'],
  backup: ['edgeplan backup --to edgeplan-backup.db --data ./edgeplan-data'],
  restore: [
    'edgeplan restore --from edgeplan-backup.db --data ./edgeplan-data --force',
    'edgeplan restore --database postgres://edgeplan@db.example.net/edgeplan',
  ],
  export: [
    'edgeplan export example.com -o edge.yaml',
    'edgeplan export example.com --ids | edgeplan simulate -f - https://example.com/',
  ],
  apply: [
    'edgeplan apply --dry-run',
    'edgeplan apply -f edge.yaml --prune',
    'edgeplan apply -f edge.yaml --json',
    'edgeplan apply --publish',
  ],
  'draft show': ['edgeplan draft show example.com', 'edgeplan draft show example.com --json'],
  'draft diff': ['edgeplan draft diff example.com', 'edgeplan draft diff example.com --no-proof --json'],
  'draft publish': [
    'edgeplan draft publish example.com',
    'edgeplan draft publish example.com --if-match \'"Gf1x8NGzbRhBqDLrXcYAiw"\'',
  ],
  'draft discard': ['edgeplan draft discard example.com'],
  'draft require': [
    'edgeplan draft require example.com edge.test.yaml',
    'edgeplan draft require example.com --none',
  ],
  'draft prove': ['edgeplan draft prove example.com'],
  'draft mode': ['edgeplan draft mode example.com manual', 'edgeplan draft mode example.com automatic'],
  'import zone': [
    'edgeplan import zone example.com --zone example.com.zone --dry-run',
    'dig @ns1.old.example AXFR example.com | edgeplan import zone example.com --zone - --json',
  ],
  'import nginx': [
    'edgeplan import nginx /etc/nginx/nginx.conf -o edge.yaml',
    'edgeplan import nginx /etc/nginx/sites-enabled/shop --domain example.com --json',
  ],
  'import cloudflare': [
    'edgeplan import cloudflare rulesets.json dns-records.json -o edge.yaml',
    'edgeplan import cloudflare rulesets.json --domain example.com --origin origin.example.net --json',
  ],
  'import bunny': [
    'edgeplan import bunny pull-zone.json -o edge.yaml',
    'edgeplan import bunny edge-rules.json --domain example.com --json',
  ],
  'import fastly': [
    'edgeplan import fastly service-details.json -o edge.yaml',
    'edgeplan import fastly version.json --domain example.com --json',
  ],
  audit: ['edgeplan audit example.com --since 24h', 'edgeplan audit example.com --limit 10 --json'],
  'ssl list': ['edgeplan ssl list example.com', 'edgeplan ssl list example.com --json'],
  'ssl parse': ['edgeplan ssl parse example.com --cert fullchain.pem --private-key key.pem'],
  'ssl upload': ['edgeplan ssl upload example.com --cert fullchain.pem --private-key key.pem'],
  'ssl issue': ['edgeplan ssl issue example.com', 'edgeplan ssl issue example.com www.example.com --wait'],
  'ssl delete': ['edgeplan ssl delete example.com 7'],
  'cache show': ['edgeplan cache show example.com', 'edgeplan cache show example.com --json'],
  'cache entries': [
    'edgeplan cache entries example.com --prefix example.com/assets/',
    'edgeplan cache entries example.com --limit 1000 --json',
  ],
  'cache purge': [
    'edgeplan cache purge example.com --url https://example.com/assets/app.css',
    'edgeplan cache purge example.com --prefix example.com/assets/ --tag product-17',
    'edgeplan cache purge example.com',
  ],
  'cache refresh': [
    'edgeplan cache refresh example.com https://example.com/prices https://example.com/stock',
  ],
  'zones show': ['edgeplan zones show example.com'],
  'zones check': ['edgeplan zones check example.com', 'edgeplan zones check example.com --json'],
  uptime: [
    'edgeplan uptime example.com',
    'edgeplan uptime example.com --last 7d --json',
    'edgeplan uptime example.com --last 6h --follow',
  ],
  logs: [
    'edgeplan logs example.com --last 24h --action block',
    'edgeplan logs example.com --rule waf/7 --ip 203.0.113.0/24 --follow',
    "edgeplan logs example.com --path '/api/*' --json",
  ],
  hits: [
    'edgeplan hits example.com',
    'edgeplan hits example.com --last 7d --type waf',
    'edgeplan hits example.com --from 2026-11-20 --to 2026-11-21 --json',
    'edgeplan hits example.com --last 2h --follow',
  ],
  traffic: [
    'edgeplan traffic example.com',
    'edgeplan traffic example.com --last 7d --by country --top path',
    'edgeplan traffic example.com --last 2h --by status --follow',
  ],
  recommend: [
    'edgeplan recommend example.com',
    'edgeplan recommend example.com --fix unused_rule:drop/57 | edgeplan apply -f -',
    'edgeplan recommend example.com --json',
  ],
  'notifications list': [
    'edgeplan notifications list --unread --read',
    'edgeplan notifications list --limit 100 --json',
  ],
  'notifications test': ['edgeplan notifications test'],
  'notifications contact': [
    'edgeplan notifications contact --email alerts@example.com',
    'edgeplan notifications contact --confirm-email 04711815',
  ],
  'notifications webhooks list': ['edgeplan notifications webhooks list --json'],
  'notifications webhooks add': ['edgeplan notifications webhooks add https://hooks.example.com/edgeplan'],
  'notifications webhooks remove': ['edgeplan notifications webhooks remove 7'],
  'notifications preferences': [
    'edgeplan notifications preferences',
    'edgeplan notifications preferences domain.activated --email off --webhook on',
  ],
  'member list': ['edgeplan member list example.com', 'edgeplan member list example.com --json'],
  'member invite': ['edgeplan member invite example.com acme --role editor'],
  'member role': ['edgeplan member role example.com acme viewer'],
  'member remove': ['edgeplan member remove example.com acme'],
  'invitation list': ['edgeplan invitation list', 'edgeplan invitation list --json'],
  'invitation accept': ['edgeplan invitation accept 7'],
  'invitation decline': ['edgeplan invitation decline 7'],
  'support list': ['edgeplan support list --status answered', 'edgeplan support list --json'],
  'support show': ['edgeplan support show 12'],
  'support open': [
    "edgeplan support open --subject 'Certificate of example.com' --domain example.com -m 'It has expired.'",
    "curl -sSv https://example.com/ 2>&1 | edgeplan support open --subject 'TLS fails' -m -",
  ],
  'support reply': ["edgeplan support reply 12 -m 'It works now, thank you.'"],
  'support close': ['edgeplan support close 12'],
  'ticket list': ['edgeplan ticket list --status open', 'edgeplan ticket list --limit 1000 --json'],
  'ticket show': ['edgeplan ticket show 12', 'edgeplan ticket show 12 --json'],
  'ticket answer': [
    "edgeplan ticket answer 12 -m 'A new certificate was issued.'",
    'cat answer.txt | edgeplan ticket answer 12 -m -',
  ],
  'ticket close': ['edgeplan ticket close 12'],
  publish: ['edgeplan publish example.com', 'edgeplan publish --all --wait 600 --data ./edgeplan-data'],
  rollback: ['edgeplan rollback example.com 41'],
  completion: ['source <(edgeplan completion bash)', 'edgeplan completion fish | source'],
};

/** Adds the examples of a command to the end of its help. `path` starts with the name of the program. */
export function addExamples(command: Command, path: string): void {
  const examples = EXAMPLES[path.slice(path.indexOf(' ') + 1)];
  if (examples === undefined) return;
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
}
