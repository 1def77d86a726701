/** Bodies as clients write them. */

export interface Body {
  readonly contentType: string;
  readonly body: string;
}

/** `application/x-www-form-urlencoded`, as browsers write it: a space is `+`. */
export function form(fields: Readonly<Record<string, string>>): Body {
  return { contentType: 'application/x-www-form-urlencoded', body: new URLSearchParams(fields).toString() };
}

export function json(value: unknown, contentType = 'application/json'): Body {
  return { contentType, body: JSON.stringify(value) };
}

export interface UploadedFile {
  readonly filename: string;
  readonly type: string;
  readonly content: string;
}

const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW';

/** `multipart/form-data` with fields and files. */
export function multipart(
  fields: Readonly<Record<string, string>>,
  files: Readonly<Record<string, UploadedFile>> = {},
): Body {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  for (const [name, { filename, type, content }] of Object.entries(files)) {
    const disposition = `form-data; name="${name}"; filename="${filename.replaceAll('"', '%22')}"`;
    parts.push(
      `--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`,
    );
  }
  return {
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
    body: `${parts.join('')}--${BOUNDARY}--\r\n`,
  };
}
