/**
 * The files that `edgeplan init` writes. Every rule is one that a real site would have; the tests assert what the
 * comments state, and `test/journey/cli.test.ts` runs them.
 */

/** The text of `edge.yaml`: one rule of most types, each with a comment that explains its effect. */
export const STARTER_RULES = `# yaml-language-server: $schema=edge.schema.json
# Edge rules of one domain. Field names and values are those of the management API.
#   edgeplan simulate https://shop.example.com/    what a request would hit, and why
#   edgeplan test                                  runs edge.test.yaml
#   edgeplan lint                                  finds what looks wrong
#   edgeplan compile -o plan.edgeplan              the bytes an edge runs
domain: example.com

# DNS records. Only proxied ones pass through the edge, so only those have rules.
records:
  - { name: "@", type: A, destination: 198.51.100.10, proxied: true }
  - { name: www, type: CNAME, destination: example.com, proxied: true }
  - { name: shop, type: A, destination: 198.51.100.20, proxied: true }
  # A server of your own: remove the # of the next line, run \`edgeplan node --file edge.yaml\`, and ask for it with
  #   curl -H 'Host: dev.example.com' http://127.0.0.1:8080/
  # - { name: dev, type: A, destination: 127.0.0.1, port: 3000, scheme: Http, proxied: true }

# Rules run by type in a fixed order (drop, fingerprint, bot_route, rate_limit, waf, redirect, captcha, rewrite,
# cache, origin_route, origin_pool, error_page), inside a type by priority, lower first. \`key\` is a name of your own
# for a rule.
rules:
  # Only the office reaches the admin pages.
  - key: office-only
    type: drop
    path_includes: ["/admin", "/admin/*"]
    ip_match_type: exclude # everyone not listed is dropped
    ips: [203.0.113.0/24, "2001:db8:42::/48"]

  # dry_run: recorded as "would have blocked", and nobody is blocked. Try a rule out like this first.
  - key: embargo
    type: drop
    action_mode: dry_run
    country_match_type: include
    countries: [KP, "NO"] # quotes keep YAML's old readers from taking NO for false

  - key: ai-crawlers
    type: bot_route
    bot_kinds: [gptbot, claudebot, ccbot]
    action: block

  # 60 requests a minute for each address, 20 more tolerated in a burst.
  - key: api-limit
    type: rate_limit
    path_includes: ["/api", "/api/*"] # '/api/*' alone does not cover '/api' itself
    limit: 60
    window_sec: 60
    burst: 20

  - key: www-to-apex
    type: redirect
    host_includes: [www.example.com]
    target: https://example.com
    status_code: 301
    preserve_path: true

  - key: login-captcha
    type: captcha
    path_includes: ["/login", "/login/*"]
    ttl_sec: 1800

  # The visitor's URL stays; the origin gets /v2/… instead of /api/….
  - key: api-v2
    type: rewrite
    path_match_type: regex
    path_includes: ["^/api/(.*)$"]
    path_target: /v2/$1

  - key: static-files
    type: cache
    path_includes: ["/static/*"]
    mode: force
    edge_ttl_sec: 86400

  - key: api-origin
    type: origin_route
    records: [shop] # only for shop.example.com
    path_includes: ["/api", "/api/*"]
    address: 198.51.100.30

  - key: branded-errors
    type: error_page
    mode: custom
    codes: [502, 503, 504]
    content:
      # '0' is the page of every code above without one of its own, such as '503'. A page is a whole document.
      "0": |
        <!doctype html>
        <html lang="en">
          <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>We will be right back</title>
          </head>
          <body>
            <h1>We will be right back</h1>
            <p>Please try again in a minute.</p>
          </body>
        </html>
`;

/** The text of `edge.test.yaml`, which tests most rules of `STARTER_RULES`. */
export const STARTER_TESTS = `# yaml-language-server: $schema=edge.test.schema.json
# What edge.yaml is meant to do. \`edgeplan test\` runs every test against the compiled rules.
# A test of your own: edgeplan simulate <url> --as-test >> edge.test.yaml
tests:
  - name: only the office reaches the admin pages
    request: GET https://shop.example.com/admin/users
    cases:
      - { name: from the office, with: { ip: 203.0.113.7 }, expect: forward }
      - { name: from elsewhere, with: { ip: 192.0.2.1 }, expect: block 403 by drop/office-only }
      - { name: from nobody knows where, expect: block 403 by drop/office-only }

  - name: the admin pages cannot be reached by another spelling
    with: { ip: 192.0.2.1 }
    expect: block 403 by drop/office-only
    cases:
      - GET https://shop.example.com//admin/users
      - GET https://shop.example.com/x/..%2fadmin/users
      - GET https://shop.example.com/%61dmin/users

  - name: the embargo is only tried out
    request: GET https://shop.example.com/
    with: { country: KP }
    expect: forward
    would: block 403 by drop/embargo

  - name: the API is limited to 60 a minute and a burst of 20
    request: GET https://shop.example.com/api/orders
    with: { ip: 192.0.2.1 }
    repeat: { times: 81, every: 100ms, earlier: forward }
    expect: block 429 by rate_limit/api-limit

  - name: the API is served by its own origin under /v2
    request: GET https://shop.example.com/api/orders?id=7
    expect: forward to https://198.51.100.30/v2/orders?id=7 by origin_route/api-origin

  - name: www moves to the bare domain with path and query
    request: GET https://www.example.com/about?ref=mail
    expect: redirect 301 to https://example.com/about?ref=mail by redirect/www-to-apex

  - name: a solved challenge opens the login page
    request: GET https://shop.example.com/login
    cases:
      - { name: before, expect: challenge 403 by captcha/login-captcha }
      - { name: after, with: { cleared: [captcha/login-captcha] }, expect: forward }

  - name: a broken origin shows the branded page
    request: GET https://shop.example.com/
    response: { status: 502, by: origin }
    expect: page custom by error_page/branded-errors
`;
