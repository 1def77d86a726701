/** Generates files of `.htaccess`. */
import fc from 'fast-check';

/** Files of a few directives, whose paths and conditions meet often. */
export const GENERATED = fc
  .array(
    fc.oneof(
      fc
        .record({
          conditions: fc.array(
            fc.tuple(
              fc.constantFrom(
                ...[
                  '%{HTTPS} off',
                  '%{HTTP_HOST} ^www\\. [NC]',
                  '%{HTTP_HOST} !^example',
                  '%{REQUEST_URI} ^/a',
                  '%{REQUEST_URI} !b$',
                ],
                ...[
                  '%{HTTP_USER_AGENT} evil [NC]',
                  '%{HTTP_USER_AGENT} !bot [NC]',
                  '%{REQUEST_METHOD} POST',
                  '%{REQUEST_METHOD} !^GET$',
                ],
                ...[
                  '%{REMOTE_ADDR} ^203\\.',
                  '%{REMOTE_ADDR} !=203.0.113.7',
                  '%{REQUEST_FILENAME} !-f',
                  '%{QUERY_STRING} (^|&)q=1',
                ],
              ),
              fc.boolean(),
            ),
            { maxLength: 3 },
          ),
          pattern: fc.constantFrom(
            '^',
            '^(.*)$',
            '.',
            '^a$',
            '^a/',
            '^a/(.*)$',
            'b$',
            '(^|/)b',
            '!^a',
            '^(a|b)/?$',
            '^b',
            'A',
            '^$',
            '\\.php$',
          ),
          action: fc.constantFrom(
            ...[
              '- [F]',
              '- [G]',
              '- [L]',
              '- [C]',
              '- [S=1]',
              '- [R=404]',
              '/c.txt [R=301,L]',
              'https://www.example.com/$1 [R=302,L]',
            ],
            ...[
              'https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]',
              '/b/$1 [R,L,NC]',
              '/b [L]',
              '/a/b',
              '- [F,NC]',
              '/c.txt? [R,L]',
              '- [E=mark:1]',
            ],
          ),
        })
        .map(({ conditions, pattern, action }) =>
          [
            ...conditions.map(([one, isOr], index) => {
              const flags = isOr && index < conditions.length - 1 ? ['OR'] : [];
              const own = one.endsWith(' [NC]') ? ['NC', ...flags] : flags;
              const test = one.replace(' [NC]', '');
              return `RewriteCond ${test}${own.length === 0 ? '' : ` [${own.join(',')}]`}`;
            }),
            `RewriteRule ${pattern} ${action}`,
          ].join('\n'),
        ),
      fc.constantFrom(
        ...[
          'Redirect 301 /a /b',
          'Redirect /a/ /c/',
          'Redirect gone /b',
          'RedirectMatch 302 ^/(a+)$ /x/$1',
          'RedirectMatch 404 b$',
        ],
        ...[
          'Redirect 301 /b https://www.example.com/b',
          'SetEnvIfNoCase User-Agent evil bad',
          'SetEnvIf Request_URI ^/a bad',
        ],
        ...[
          'SetEnvIf Remote_Addr ^203 !bad',
          'Order allow,deny\nAllow from all\nDeny from env=bad',
          'Require not env bad',
          'Require ip 203.0.113.7',
        ],
        ...[
          'Require all denied',
          'Require all granted',
          'Require env bad',
          'Order deny,allow\nDeny from all\nAllow from 203.0.113 env=bad',
          'Satisfy Any',
        ],
      ),
      fc
        .tuple(
          fc.constantFrom(
            ...[
              'Files "b"',
              'FilesMatch "^a"',
              'FilesMatch "\\.(php|txt)$"',
              'Files ".x"',
              'Files "*"',
              'FilesMatch "^(a|b)$"',
            ],
            ...[
              'If "%{REQUEST_URI} =~ /a/"',
              `If "%{HTTP_HOST} == 'www.example.com' || -R '203.0.113.0/24'"`,
              'Limit POST',
              'LimitExcept GET',
            ],
          ),
          fc.constantFrom(
            ...[
              'Require all denied',
              'Require all granted',
              'Require ip 203.0.113.0/24',
              'Require method POST',
              'Require not ip 203.0.113.7',
            ],
            ...[
              'Order deny,allow\nDeny from all',
              'Order allow,deny\nAllow from all\nSatisfy any',
              'Require env bad',
              'Deny from 203.0.113.7',
            ],
          ),
        )
        .map(([section, body]) => {
          const inner = body.startsWith('Require not')
            ? `<RequireAll>\nRequire all granted\n${body}\n</RequireAll>`
            : body;
          return `<${section}>\n${inner}\n</${section.split(' ')[0]}>`;
        }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((lines) => {
    const own = lines.map((line) =>
      line.startsWith('Require not') ? `<RequireAll>\nRequire all granted\n${line}\n</RequireAll>` : line,
    );
    return `RewriteEngine On\n${own.join('\n')}\n`;
  });
