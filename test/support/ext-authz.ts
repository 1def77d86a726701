/**
 * The messages of `ext_authz` by `@bufbuild/protobuf`, which knows nothing of the door's own codec, and a gRPC client that
 * writes HTTP/2 itself. Names, numbers and types of fields are those of envoyproxy/data-plane-api at 84e8436, of
 * `google/rpc/status.proto`, `google/protobuf/struct.proto` and `grpc/health/v1/health.proto`.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MessageOptionsSchema,
  OneofDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';

/** A field: its number, its type (a scalar, or the name of a message), `*` for a list, `|` for a member of the oneof. */
type Field = `${'' | '*' | '|'}${number} ${string}`;

const PACKAGE = 'ext.authz.facts';

/** The messages by name; all in one package, which the wire format does not mention. */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  CheckRequest: { attributes: '1 AttributeContext' },
  AttributeContext: {
    source: '1 Peer',
    destination: '2 Peer',
    request: '4 Request',
    context_extensions: '*10 TextEntry',
    metadata_context: '11 Metadata',
    tls_session: '12 TlsSession',
    route_metadata_context: '13 Metadata',
  },
  Peer: {
    address: '1 Address',
    service: '2 string',
    labels: '*3 TextEntry',
    principal: '4 string',
    certificate: '5 string',
  },
  Address: { socket_address: '|1 SocketAddress', pipe: '|2 Pipe' },
  SocketAddress: {
    protocol: '1 uint32',
    address: '2 string',
    port_value: '3 uint32',
    resolver_name: '5 string',
    ipv4_compat: '6 bool',
  },
  Pipe: { path: '1 string', mode: '2 uint32' },
  Request: { time: '1 Timestamp', http: '2 HttpRequest' },
  Timestamp: { seconds: '1 int64', nanos: '2 int32' },
  HttpRequest: {
    id: '1 string',
    method: '2 string',
    headers: '*3 TextEntry',
    path: '4 string',
    host: '5 string',
    scheme: '6 string',
    query: '7 string',
    fragment: '8 string',
    size: '9 int64',
    protocol: '10 string',
    body: '11 string',
    raw_body: '12 bytes',
    header_map: '13 HeaderMap',
  },
  HeaderMap: { headers: '*1 HeaderValue' },
  HeaderValue: { key: '1 string', value: '2 string', raw_value: '3 bytes' },
  TlsSession: { sni: '1 string' },
  Metadata: { filter_metadata: '*1 StructEntry' },
  TextEntry: { key: '1 string', value: '2 string' },
  StructEntry: { key: '1 string', value: '2 Struct' },
  Struct: { fields: '*1 ValueEntry' },
  ValueEntry: { key: '1 string', value: '2 Value' },
  Value: {
    null_value: '|1 uint32',
    number_value: '|2 double',
    string_value: '|3 string',
    bool_value: '|4 bool',
    struct_value: '|5 Struct',
    list_value: '|6 ListValue',
  },
  ListValue: { values: '*1 Value' },
  CheckResponse: {
    status: '1 Status',
    denied_response: '|2 DeniedHttpResponse',
    ok_response: '|3 OkHttpResponse',
    dynamic_metadata: '4 Struct',
    error_response: '|5 DeniedHttpResponse',
  },
  Status: { code: '1 int32', message: '2 string' },
  DeniedHttpResponse: { status: '1 HttpStatus', headers: '*2 HeaderValueOption', body: '3 string' },
  OkHttpResponse: {
    headers: '*2 HeaderValueOption',
    headers_to_remove: '*5 string',
    response_headers_to_add: '*6 HeaderValueOption',
  },
  HttpStatus: { code: '1 uint32' },
  HeaderValueOption: { header: '1 HeaderValue', append_action: '3 uint32', keep_empty_value: '4 bool' },
  HealthCheckRequest: { service: '1 string' },
  HealthCheckResponse: { status: '1 uint32' },
};

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  bool: FieldDescriptorProto_Type.BOOL,
  double: FieldDescriptorProto_Type.DOUBLE,
  int32: FieldDescriptorProto_Type.INT32,
  int64: FieldDescriptorProto_Type.INT64,
  uint32: FieldDescriptorProto_Type.UINT32,
};

/** Messages that are entries of maps, with the type of their values. */
const ENTRIES = { TextEntry: 'string', StructEntry: 'Struct', ValueEntry: 'Value' } as const;

function describeMessage(name: string, fields: Readonly<Record<string, Field>>): DescriptorProto {
  const nested: DescriptorProto[] = [];
  const hasOneof = Object.values(fields).some((field) => field.startsWith('|'));
  const described = Object.entries(fields).map(([fieldName, field]) => {
    const [, mark, number, type] = /^([*|]?)(\d+) (\w+)$/.exec(field)!;
    const base = { name: fieldName, number: Number(number), jsonName: fieldName };
    const label = mark === '*' ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL;
    const scalar = SCALARS[type!];
    if (scalar !== undefined) {
      return create(FieldDescriptorProtoSchema, {
        ...base,
        label,
        type: scalar,
        ...(mark === '|' ? { oneofIndex: 0 } : {}),
      });
    }
    let typeName = `.${PACKAGE}.${type}`;
    if (type! in ENTRIES) {
      // A map is a list of entries that are a message of their own within.
      const entry = `${fieldName.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Entry`;
      nested.push(entryMessage(entry, ENTRIES[type as keyof typeof ENTRIES]));
      typeName = `.${PACKAGE}.${name}.${entry}`;
    }
    return create(FieldDescriptorProtoSchema, {
      ...base,
      label,
      typeName,
      type: FieldDescriptorProto_Type.MESSAGE,
      ...(mark === '|' ? { oneofIndex: 0 } : {}),
    });
  });
  return create(DescriptorProtoSchema, {
    name,
    field: described,
    nestedType: nested,
    oneofDecl: hasOneof ? [create(OneofDescriptorProtoSchema, { name: 'either' })] : [],
  });
}

function entryMessage(name: string, value: string): DescriptorProto {
  const scalar = SCALARS[value];
  const label = FieldDescriptorProto_Label.OPTIONAL;
  return create(DescriptorProtoSchema, {
    name,
    options: create(MessageOptionsSchema, { mapEntry: true }),
    field: [
      { name: 'key', number: 1, label, jsonName: 'key', type: FieldDescriptorProto_Type.STRING },
      {
        ...{ name: 'value', number: 2, label, jsonName: 'value' },
        ...(scalar === undefined
          ? { type: FieldDescriptorProto_Type.MESSAGE, typeName: `.${PACKAGE}.${value}` }
          : { type: scalar }),
      },
    ],
  });
}

const REGISTRY = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      create(FileDescriptorProtoSchema, {
        name: 'facts.proto',
        package: PACKAGE,
        syntax: 'proto3',
        messageType: Object.entries(MESSAGES)
          .filter(([name]) => !(name in ENTRIES))
          .map(([name, fields]) => describeMessage(name, fields)),
      }),
    ],
  }),
);

function schema(name: string): DescMessage {
  const found = REGISTRY.getMessage(`${PACKAGE}.${name}`);
  if (found === undefined) throw new Error(`there is no message ${name}`);
  return found;
}

/** Encodes a message, given in the JSON form of Protocol Buffers with the names of the proto files; bytes are base64. */
export function oracleEncode(name: string, json: JsonObject): Buffer {
  const described = schema(name);
  return Buffer.from(toBinary(described, fromJson(described, json)));
}

/** Decodes a message into that form; fails on a malformed one, and on texts that are not UTF-8. */
export function oracleDecode(name: string, octets: Uint8Array): JsonObject {
  const described = schema(name);
  return toJson(described, fromBinary(described, octets), { useProtoFieldName: true }) as JsonObject;
}

// The client.

/** What came back of a call. */
export interface CallResult {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** `grpc-status`; `null`: none came. */
  readonly status: number | null;
}

export const CHECK_PATH = '/envoy.service.auth.v3.Authorization/Check';
export const HEALTH_PATH = '/grpc.health.v1.Health/Check';

/** Connects to a door by its address. */
export function connectDoor(address: string): ClientHttp2Session {
  const session = address.startsWith('unix:')
    ? connect('http://agent', { createConnection: () => connectSocket(address.slice(5)) })
    : connect(address.replace('tcp:', 'http:'));
  session.on('error', () => undefined);
  return session;
}

/** A message behind its prefix of five octets. */
export function framed(message: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Opens the stream of a call. */
export function openCall(
  session: ClientHttp2Session,
  path: string = CHECK_PATH,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  return session.request({
    ...{ ':method': 'POST', ':path': path, te: 'trailers', 'content-type': 'application/grpc' },
    ...headers,
  });
}

/** What comes back on a stream; rejects if it is reset. */
export async function resultOf(stream: ClientHttp2Stream): Promise<CallResult> {
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  stream.on('response', (received) => {
    headers = received;
  });
  stream.on('trailers', (received) => {
    trailers = received;
  });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const status = trailers['grpc-status'] ?? headers['grpc-status'];
  return {
    headers,
    trailers,
    body: Buffer.concat(chunks),
    status: status === undefined ? null : Number(status),
  };
}

/** Makes a unary call with octets as they are. */
export function call(
  session: ClientHttp2Session,
  octets: Uint8Array,
  {
    path = CHECK_PATH,
    headers = {},
  }: { readonly path?: string; readonly headers?: Record<string, string> } = {},
): Promise<CallResult> {
  const stream = openCall(session, path, headers);
  const result = resultOf(stream);
  stream.end(octets);
  return result;
}

/** Asks about a request; the response by the oracle. */
export async function askDoor(session: ClientHttp2Session, request: JsonObject): Promise<JsonObject> {
  const { body, status } = await call(session, framed(oracleEncode('CheckRequest', request)));
  if (status !== 0) throw new Error(`the call ended with the status ${status}`);
  if (body.readUInt32BE(1) !== body.length - 5) throw new Error('the response is not one message');
  return oracleDecode('CheckResponse', body.subarray(5));
}
